"""`panmatch evaluate --reference`: several references per case."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import panmatch
from panmatch.cli._console import ExitCode
from panmatch.cli._evaluate import (
    Detail,
    choose_detail,
    named_folders,
    print_warnings,
    read_log_level,
)
from panmatch.cli._json import as_json
from panmatch.cli._layout import screen_width, wrapped
from panmatch.cli._options import read_spacing
from panmatch.cli._progress import LogLevel, show_progress
from panmatch.cli._protocol import SpecChoice, chosen_spec
from panmatch.datasets import (
    CHOOSABLE,
    FEWEST_CASES,
    WIDE,
    Interval,
    Job,
    Missing,
    RaterComparison,
    RaterPaths,
    RaterTable,
    RunOptions,
    Spread,
    Stopwatch,
    listed_notices,
    read_case_table,
    run_raters,
)
from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import Json, Row, Setting, number, plural, signed, table
from panmatch.spec import Spec

FORMAT = "panmatch-raters-1"
VERDICTS = {
    "inside": "inside the spread of the raters",
    "below": "below all raters",
    "above": "above all raters",
}


# Options of `panmatch evaluate` that need a single reference.
SINGLE = {
    "protocol": "--protocol",
    "explain": "--explain",
    "fail_under": "--fail-under",
    "reference_parts": "--reference-parts",
    "prediction_parts": "--prediction-parts",
    "images": "--images",
    "scores": "--scores",
    "cut": "--cut",
    "stop_when": "--stop-when",
}

Options = Mapping[str, Any]  # those of `panmatch evaluate`, by parameter


def evaluate_raters(references: Sequence[str], margin: float, given: Options) -> int:
    """Evaluate raters against each other and models against raters; return the exit code.

    Parameters
    ----------
    references
        Raters and their folders, such as ``ann=refs/ann``.
    margin
        Differences in PQ up to this do not matter for the verdict.
    given
        All other options of ``panmatch evaluate``.
    """
    if not references:
        raise OptionError(
            "REF is missing: name a file or folder, or several raters with --reference NAME=FOLDER."
        )
    for name, flag in SINGLE.items():
        if given[name]:
            raise OptionError(
                f"{flag} needs a single reference: drop it, or evaluate against each rater in turn."
            )
    if not 0.0 <= margin < 1.0:
        raise OptionError(f"--margin {margin:g} must be a difference in PQ from 0 to below 1.")
    if given["missing"] is not None:
        check_choice("--missing", given["missing"], get_args(Missing))
    paths, spec = rater_paths(references, given), _spec(given)
    detail = choose_detail(
        everything=given["everything"], quiet=given["quiet"], as_json=given["as_json"]
    )
    level, out = read_log_level(given["log_level"]), given["out"]
    try:
        found, report = _run(paths, spec, margin, given, quiet=detail == "quiet", level=level)
    except KeyboardInterrupt:
        print(
            f"panmatch: interrupted. The folders in {str(out)!r} hold all finished cases; continue "
            f"with --resume.",
            file=sys.stderr,
        )
        return ExitCode.INTERRUPTED
    print(raters_text(found, margin, detail, out, report), end="")
    if level != "error":
        every = (one for rater in found.raters for one in listed_notices(out / rater))
        print_warnings(list(dict.fromkeys(every)))
    if n_failed := sum(len(result.failures) for result in found.results.values()):
        print(
            f"panmatch: {plural(n_failed, 'comparison')} failed; scores.csv in the folders of "
            f"{str(out)!r} says why.",
            file=sys.stderr,
        )
        return ExitCode.SOME_FAILED
    return ExitCode.SUCCESS


def rater_paths(references: Sequence[str], given: Options) -> RaterPaths:
    """Return the folders of raters and models from the command line.

    Examples
    --------
    >>> given = {"model": None, "pattern": None, "ref": Path("unet"), "pred": None}
    >>> paths = rater_paths(["a=out/a", "b=out/b"], given)
    >>> list(paths.references), list(paths.predictions)
    (['a', 'b'], ['prediction'])
    """
    models = dict(named_folders("--model", given["model"] or []))
    prediction, other = given["ref"], given["pred"]
    if other is not None:
        raise OptionError(
            f"{str(prediction)!r} and {str(other)!r}: with --reference, name only PRED, or several "
            f"models with --model."
        )
    if prediction is not None:
        if models:
            raise OptionError("PRED and --model are both given: name all models with --model.")
        name = prediction.name if prediction.is_dir() and prediction.name else "prediction"
        models = {name: prediction}
    patterns = tuple(given["pattern"] or ())
    return RaterPaths(named_folders("--reference", references), models, patterns)


def _spec(given: Options) -> Spec:
    lists = (tuple(given[name] or ()) for name in ("strategy", "threshold", "metric", "class_",
                                                   "whole", "related"))  # fmt: skip
    choice = SpecChoice(given["spec"], given["dataset_json"], *lists)
    spec, _ = chosen_spec(choice, None, "instances", explain=False)
    if given["cluster"] is None:
        return spec
    averaging = spec.averaging.model_copy(update={"cluster": given["cluster"]})
    return spec.model_copy(update={"averaging": averaging})


def _run(
    paths: RaterPaths, spec: Spec, margin: float, given: Options, *, quiet: bool, level: LogLevel
) -> tuple[RaterComparison, Path | None]:
    workers, dask = given["workers"], given["dask"]
    also = tuple(dict.fromkeys([*(given["also"] or ()), *([WIDE] if given["wide"] else [])]))
    options = RunOptions(
        workers, dask, given["resume"], given["overwrite"], also, maps=given["maps"]
    )
    alone = workers == 1 and dask is None
    job = Job(
        spec.canonical(),
        given["allow_header_mismatch"],
        read_spacing(given["spacing"]),
        given["threads"] or (None if alone else 1),
        given["missing"],
        resample=given["resample"],
    )
    report = None
    with show_progress(quiet=quiet, level=level) as shown:
        clock = Stopwatch(shown.enter)
        with clock.phase("search"):
            pairings = paths.pairings()
            if given["cases"] is not None:
                named = [case.name for one in pairings.values() for case in one.cases]
                table = read_case_table(given["cases"], list(dict.fromkeys(named)))
                options = replace(options, table=table)
        shown.expect(sum(len(one.cases) for one in pairings.values()))
        models = tuple(paths.predictions)
        found = run_raters(
            pairings, models, job, given["out"], options, shown.finished, clock, margin=margin
        )
        if given["with_report"]:
            from panmatch.report import write_rater_report

            with clock.phase("report"):
                report = write_rater_report(given["out"], title=given["title"])
    return found, report


def raters_text(
    found: RaterComparison, margin: float, detail: Detail, folder: Path, report: Path | None
) -> str:
    """Return the comparison for the terminal, or as JSON; nothing if `detail` is quiet."""
    if detail == "quiet":
        return ""
    if detail == "json":
        document = raters_document(found, margin)
        files = {"tables": str(folder), "report": None if report is None else str(report)}
        return f"{as_json(document | {'files': files})}\n"
    headline = None if detail == "all" else found.spec.headline
    shown = [one for one in found.first_settings if headline in (None, one.class_name)]
    blocks = [
        "\n".join(block)
        for setting in shown
        for block in _class_blocks(found, setting, margin)
        if block
    ]
    if hidden := len(found.first_settings) - len(shown):
        blocks.append(f"({hidden} more class{'es' if hidden > 1 else ''} with --all)")
    places = [f"Tables: {folder}{os.sep}", *([] if report is None else [f"Report: {report}"])]
    places.append(f"Each rater as the reference: panmatch show {folder / found.raters[0]}, …")
    return "\n\n".join([*blocks, "\n".join(places)]) + "\n"


def raters_document(found: RaterComparison, margin: float) -> Json:
    """Return all tables as one document."""
    tables: dict[str, list[Row]] = {
        name: found.plain(name, margin=margin).rows() for name in get_args(RaterTable)
    }
    return {
        "format": FORMAT,
        "panmatch": panmatch.__version__,
        "raters": list(found.raters),
        "models": list(found.models),
        "cases": len(found.cases),
        "margin": margin,
        **tables,
    }


def _class_blocks(found: RaterComparison, setting: Setting, margin: float) -> list[list[str]]:
    threshold, unit = found.spec.thresholds[0], found.spec.averaging.cluster or "case"
    where = f"{setting.class_name}, {setting.label} at τ = {threshold:g}"
    spreads = [one for one in found.spreads if (one.setting, one.threshold) == (setting, threshold)]
    return [
        pq_lines(found, setting, where),
        [line for one in spreads for line in spread_lines(one, margin, unit)],
        _agreement_lines(found, setting, where),
        _bound_lines(found, setting.class_name, threshold),
    ]


def pq_lines(found: RaterComparison, setting: Setting, where: str) -> list[str]:
    """Return the mean PQ of every rater and model against every rater as a table."""
    others = (*found.raters, *found.models)
    rows = [["reference", *others]]
    for rater in found.raters:
        values = found.mean_pq(rater, setting)
        cells = (number(values.get(other, math.nan)) for other in others)
        rows.append([rater, *("" if o == rater else c for o, c in zip(others, cells, strict=True))])
    n = plural(len(found.cases), "case")
    return [*_head(f"Mean PQ of cases against each rater ({where}, {n}):"), *table(rows, left=1)]


def spread_lines(spread: Spread, margin: float, unit: str = "case") -> list[str]:
    """Return the verdict on a model, and its intervals."""

    def between(ends: Interval) -> str:
        return f"{signed(ends.low)} to {signed(ends.high)}" if ends.is_defined else "no interval"

    verdict = spread.verdict(margin)
    where = (
        f"It is unclear whether {spread.model} is {VERDICTS['inside']}"
        if verdict == "unclear"
        else f"{spread.model} is {VERDICTS[verdict]}"
    )
    text = (
        f"{where}: mean PQ {signed(spread.over_worst)} compared with "
        f"the worst rater ({between(spread.over_worst_interval)}), {signed(spread.over_best)} with "
        f"the best ({between(spread.over_best_interval)}), each against the other raters."
    )
    if not spread.over_worst_interval.is_defined:
        text += f" Intervals need {FEWEST_CASES} {unit}s."
    elif margin:
        text += f" Differences up to {margin:g} do not count."
    return wrapped(text, screen_width())


def _agreement_lines(found: RaterComparison, setting: Setting, where: str) -> list[str]:
    """Return objects by how many raters saw them, with the recall of each model."""
    threshold = found.spec.thresholds[0]
    counted = found.seen.recall(setting, threshold, "")
    recalls = [found.seen.recall(setting, threshold, model) for model in found.models]
    rows = [["seen by", "objects", *(f"recall of {model}" for model in found.models)]]
    for seen_by, tally in counted.items():
        shown = (one[seen_by].recall for one in recalls)
        cells = ["–" if math.isnan(one) else number(one) for one in shown]
        rows.append([f"{seen_by} of {len(found.raters)}", str(tally.fn), *cells])
    if len(rows) == 1:
        return []
    return [*_head(f"Objects of all raters by how many saw them ({where}):"), *table(rows, left=1)]


def _bound_lines(found: RaterComparison, name: str, threshold: float) -> list[str]:
    rows = [["model", *CHOOSABLE]]
    known = found.choices.bounds()
    for model in found.models:
        cells = []
        for chosen in CHOOSABLE:
            match = [bounds for key, bounds in known.items()
                     if (key.class_name, key.threshold, key.model, key.chosen)
                     == (name, threshold, model, chosen)]  # fmt: skip
            ends = (match[0].proven_lower, match[0].proven_upper) if match else (math.nan,) * 2
            cells.append("–" if math.isnan(ends[0]) else f"{number(ends[0])} to {number(ends[1])}")
        rows.append([model, *cells])
    if len(rows) == 1:
        return []
    what = "Pooled PQ over all ways to choose a rater per object"
    return [*_head(f"{what} ({name}, one-to-one at τ = {threshold:g}):"), *table(rows, left=1)]


def _head(text: str) -> list[str]:
    return wrapped(text, screen_width())
