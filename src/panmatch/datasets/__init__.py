"""Evaluate cases, one by one or in folders, and compare and write the results.

Names are imported on first use, so a worker pool can start before anything else is loaded.
"""

from typing import TYPE_CHECKING

from panmatch._lazy import lazy_face

if TYPE_CHECKING:
    from panmatch.datasets._advice import Advice
    from panmatch.datasets._advice_points import Point
    from panmatch.datasets._advise import CasesAdvice, advise, advise_on_cases
    from panmatch.datasets._case_table import (
        CaseDescription,
        CaseTable,
        describe_cases,
        read_case_table,
    )
    from panmatch.datasets._cases import Case, ImageFile, coco_cases, read_manifest
    from panmatch.datasets._citations import CITATIONS, Citation, citations_of
    from panmatch.datasets._comparison import (
        Comparison,
        compare,
        compare_runs,
        order_text,
    )
    from panmatch.datasets._criteria import Criterion, Difference, Placing
    from panmatch.datasets._detection_tables import detections_with_intervals
    from panmatch.datasets._draft_spec import draft_spec
    from panmatch.datasets._file_comparison import compare_files
    from panmatch.datasets._folders import evaluate_folders
    from panmatch.datasets._instance_cases import instance_cases, is_panoptic
    from panmatch.datasets._label_files import find_images
    from panmatch.datasets._loading import load_case
    from panmatch.datasets._missing import Missing
    from panmatch.datasets._other_outputs import OTHER_OUTPUTS, WIDE, wide_files
    from panmatch.datasets._outputs import (
        RESAMPLES,
        averages_with_samples,
        note_protocol,
        note_seconds,
        read_run,
        resampling_of,
        spread,
        summary_table,
    )
    from panmatch.datasets._pairing import DatasetPaths, Pairing, find_pairs, pair
    from panmatch.datasets._paper_sentences import methods_sentence, results_sentence
    from panmatch.datasets._paper_text import PaperFormat, PaperText, paper_text, run_text
    from panmatch.datasets._phases import Phase, Stopwatch
    from panmatch.datasets._result_table import result_html, result_table
    from panmatch.datasets._run import (
        RunOptions,
        listed_cases,
        listed_notices,
        load_run,
        play_command,
        run_dataset,
    )
    from panmatch.datasets._score_files import (
        ScoreRow,
        open_scores,
        original_text,
        plain_text,
    )
    from panmatch.datasets._score_sources import (
        ScorePlaces,
        expect_scores,
        score_places,
        with_scores,
    )
    from panmatch.datasets._single_case import Evaluator, evaluate
    from panmatch.datasets._statistics import (
        FEWEST_CASES,
        Interval,
        IntervalMethod,
        RankInterval,
        RankStability,
        ResampledScores,
        Resampling,
        interval_ends,
        ranking_over_threshold,
        resample,
        surface_interval,
    )
    from panmatch.datasets._subgroups import (
        SIZE,
        SubgroupFamily,
        Subgroups,
        subgroup_columns,
    )
    from panmatch.datasets._table_files import write_table
    from panmatch.datasets._verdict import (
        headline_rankings,
        verdict,
        verdict_on_models,
        what_would_change,
        what_would_change_between,
    )
    from panmatch.datasets._wide import left_out_metrics
    from panmatch.datasets._worker import Job, Outcome, run_case
    from panmatch.datasets._worker_pool import start_early

__getattr__, __dir__ = lazy_face(
    __name__,
    {
        "panmatch.datasets._advice": ("Advice",),
        "panmatch.datasets._advice_points": ("Point",),
        "panmatch.datasets._advise": ("CasesAdvice", "advise", "advise_on_cases"),
        "panmatch.datasets._case_table": (
            "CaseDescription",
            "CaseTable",
            "describe_cases",
            "read_case_table",
        ),
        "panmatch.datasets._cases": ("Case", "ImageFile", "coco_cases", "read_manifest"),
        "panmatch.datasets._citations": ("CITATIONS", "Citation", "citations_of"),
        "panmatch.datasets._comparison": (
            "Comparison",
            "compare",
            "compare_runs",
            "order_text",
        ),
        "panmatch.datasets._criteria": ("Criterion", "Difference", "Placing"),
        "panmatch.datasets._file_comparison": ("compare_files",),
        "panmatch.datasets._folders": ("evaluate_folders",),
        "panmatch.datasets._instance_cases": ("instance_cases", "is_panoptic"),
        "panmatch.datasets._label_files": ("find_images",),
        "panmatch.datasets._loading": ("load_case",),
        "panmatch.datasets._detection_tables": ("detections_with_intervals",),
        "panmatch.datasets._draft_spec": ("draft_spec",),
        "panmatch.datasets._missing": ("Missing",),
        "panmatch.datasets._pairing": ("DatasetPaths", "Pairing", "find_pairs", "pair"),
        "panmatch.datasets._phases": ("Phase", "Stopwatch"),
        "panmatch.datasets._result_table": ("result_html", "result_table"),
        "panmatch.datasets._run": (
            "RunOptions",
            "listed_cases",
            "listed_notices",
            "load_run",
            "play_command",
            "run_dataset",
        ),
        "panmatch.datasets._score_files": (
            "ScoreRow",
            "open_scores",
            "original_text",
            "plain_text",
        ),
        "panmatch.datasets._score_sources": (
            "ScorePlaces",
            "expect_scores",
            "score_places",
            "with_scores",
        ),
        "panmatch.datasets._single_case": ("Evaluator", "evaluate"),
        "panmatch.datasets._statistics": (
            "FEWEST_CASES",
            "Interval",
            "IntervalMethod",
            "RankInterval",
            "RankStability",
            "ResampledScores",
            "Resampling",
            "interval_ends",
            "ranking_over_threshold",
            "resample",
            "surface_interval",
        ),
        "panmatch.datasets._other_outputs": ("OTHER_OUTPUTS", "WIDE", "wide_files"),
        "panmatch.datasets._outputs": (
            "RESAMPLES",
            "averages_with_samples",
            "note_protocol",
            "note_seconds",
            "read_run",
            "resampling_of",
            "spread",
            "summary_table",
        ),
        "panmatch.datasets._paper_sentences": ("methods_sentence", "results_sentence"),
        "panmatch.datasets._paper_text": ("PaperFormat", "PaperText", "paper_text", "run_text"),
        "panmatch.datasets._subgroups": (
            "SIZE",
            "SubgroupFamily",
            "Subgroups",
            "subgroup_columns",
        ),
        "panmatch.datasets._table_files": ("write_table",),
        "panmatch.datasets._verdict": (
            "headline_rankings",
            "verdict",
            "verdict_on_models",
            "what_would_change",
            "what_would_change_between",
        ),
        "panmatch.datasets._worker": ("Job", "Outcome", "run_case"),
        "panmatch.datasets._wide": ("left_out_metrics",),
        "panmatch.datasets._worker_pool": ("start_early",),
    },
)

__all__ = [
    "CITATIONS",
    "FEWEST_CASES",
    "OTHER_OUTPUTS",
    "RESAMPLES",
    "SIZE",
    "WIDE",
    "Advice",
    "Case",
    "CaseDescription",
    "CaseTable",
    "CasesAdvice",
    "Citation",
    "Comparison",
    "Criterion",
    "DatasetPaths",
    "Difference",
    "Evaluator",
    "ImageFile",
    "Interval",
    "IntervalMethod",
    "Job",
    "Missing",
    "Outcome",
    "Pairing",
    "PaperFormat",
    "PaperText",
    "Phase",
    "Placing",
    "Point",
    "RankInterval",
    "RankStability",
    "ResampledScores",
    "Resampling",
    "RunOptions",
    "ScorePlaces",
    "ScoreRow",
    "Stopwatch",
    "SubgroupFamily",
    "Subgroups",
    "advise",
    "advise_on_cases",
    "averages_with_samples",
    "citations_of",
    "coco_cases",
    "compare",
    "compare_files",
    "compare_runs",
    "describe_cases",
    "detections_with_intervals",
    "draft_spec",
    "evaluate",
    "evaluate_folders",
    "expect_scores",
    "find_images",
    "find_pairs",
    "headline_rankings",
    "instance_cases",
    "interval_ends",
    "is_panoptic",
    "left_out_metrics",
    "listed_cases",
    "listed_notices",
    "load_case",
    "load_run",
    "methods_sentence",
    "note_protocol",
    "note_seconds",
    "open_scores",
    "order_text",
    "original_text",
    "pair",
    "paper_text",
    "plain_text",
    "play_command",
    "ranking_over_threshold",
    "read_case_table",
    "read_manifest",
    "read_run",
    "resample",
    "resampling_of",
    "result_html",
    "result_table",
    "results_sentence",
    "run_case",
    "run_dataset",
    "run_text",
    "score_places",
    "spread",
    "start_early",
    "subgroup_columns",
    "summary_table",
    "surface_interval",
    "verdict",
    "verdict_on_models",
    "what_would_change",
    "what_would_change_between",
    "wide_files",
    "with_scores",
    "write_table",
]
