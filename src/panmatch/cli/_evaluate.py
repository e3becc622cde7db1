"""`panmatch evaluate`: files or folders in, a folder of tables out."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from panmatch.cli._case_search import NO_PLACES, check_missing, find_cases
from panmatch.cli._console import ExitCode
from panmatch.cli._json import as_json, evaluation_document
from panmatch.cli._layout import screen_width, wrapped
from panmatch.cli._progress import LogLevel, show_progress
from panmatch.cli._screen import evaluation_screen
from panmatch.datasets import (
    OTHER_OUTPUTS,
    WIDE,
    Case,
    DatasetPaths,
    Job,
    Missing,
    RunOptions,
    ScorePlaces,
    Stopwatch,
    find_images,
    left_out_metrics,
    listed_cases,
    listed_notices,
    note_protocol,
    note_seconds,
    play_command,
    read_case_table,
    run_dataset,
    wide_files,
)
from panmatch.errors import Argument, OptionError, check_choice
from panmatch.evaluation import AverageScore, Json, Notice, Result, matcher_of, number, plural
from panmatch.spec import Spec

if TYPE_CHECKING:
    from panmatch.protocols import Protocol

MOST_WARNINGS = 5


@dataclass(frozen=True, slots=True)
class Limit:
    """The name of a score, and the value that a run must reach."""

    score: str
    value: float


def run_evaluate(
    paths: DatasetPaths,
    spec: Spec,
    out: Path,
    *,
    detail: Detail,
    log_level: LogLevel = "warning",
    options: RunOptions,
    allow_header_mismatch: bool,
    spacing: tuple[float, ...] | None,
    limits: Sequence[Limit],
    with_report: bool = False,
    images: Path | None = None,
    title: str | None = None,
    threads: int | None = None,
    missing: str | None = None,
    case_table: str | None = None,
    cluster: str | None = None,
    resample: bool = False,
    scores: ScorePlaces = NO_PLACES,
    protocol: Protocol | None = None,
    explained: bool = False,
) -> int:
    """Evaluate all cases, print the results, and return the exit code."""
    if cluster is not None:
        averaging = spec.averaging.model_copy(update={"cluster": cluster})
        spec = spec.model_copy(update={"averaging": averaging})
    if missing is not None:
        check_choice("--missing", missing, get_args(Missing))
        check_missing(missing, spec)
    for name in options.also:
        check_choice("--also", name, OTHER_OUTPUTS)
    if resample and allow_header_mismatch:
        raise OptionError("--resample and --allow-header-mismatch contradict each other: drop one.")
    if images is not None:
        if not with_report:
            raise OptionError("--images adds pictures to the report: pass --report as well.")
        find_images(images)  # fail now rather than after the run
    if title is not None and not with_report:
        raise OptionError("--title is the title of the report: pass --report as well.")
    report = None
    try:
        with show_progress(quiet=detail == "quiet", level=log_level) as shown:
            clock = Stopwatch(shown.enter)
            with clock.phase("search"):
                pairing = find_cases(paths, spec, scores)
                if case_table is not None:
                    named = [case.name for case in pairing.cases if case.reference is not None]
                    options = replace(options, table=read_case_table(case_table, named))
            shown.expect(len(pairing.cases))
            job = Job(
                spec.canonical(),
                allow_header_mismatch,
                spacing,
                threads or (None if options.workers == 1 and options.dask is None else 1),
                cast("Missing | None", missing),
                resample=resample,
            )
            result = run_dataset(
                pairing.cases, job, out, options, shown.finished, clock, pairing.notices
            )
            if with_report:
                with clock.phase("report"):
                    report = _write_report(out, title, images)
            notices = [] if log_level == "error" else listed_notices(out)
            with clock.phase("bootstrap"):
                wide = wide_files(result) if WIDE in options.also else ()
                if protocol is None:
                    text = result_text(result, detail, notices, out, report, tuple(wide))
                else:
                    cases = pairing.cases if explained else ()
                    text = _protocol_text(
                        protocol, result, detail, notices, out, report, cases, job
                    )
            note_seconds(out, clock.seconds)
    except KeyboardInterrupt:
        print(
            f"panmatch: interrupted. The tables in {str(out)!r} hold all finished cases; continue "
            f"with --resume.",
            file=sys.stderr,
        )
        return ExitCode.INTERRUPTED
    print(text, end="")
    print_warnings(notices)
    missed = missed_limits(result, limits)
    for line in missed:
        print(f"panmatch: {line}", file=sys.stderr)
    if result.failures:
        n, total = len(result.failures), len(result.with_status("ok", "failed"))
        print(
            f"panmatch: {n} of {total} cases failed; {out / 'scores.csv'} says why.",
            file=sys.stderr,
        )
        return ExitCode.SOME_FAILED
    return ExitCode.LIMIT_MISSED if missed else ExitCode.SUCCESS


Detail = Literal["short", "all", "quiet", "json"]


def choose_detail(*, everything: bool, quiet: bool, as_json: bool) -> Detail:
    """Return how much to print.

    Examples
    --------
    >>> choose_detail(everything=False, quiet=False, as_json=True)
    'json'
    """
    chosen: dict[Detail, bool] = {"all": everything, "quiet": quiet, "json": as_json}
    wanted = [detail for detail, given in chosen.items() if given]
    if len(wanted) > 1:
        flags = " and ".join(f"--{detail}" for detail in wanted)
        raise OptionError(f"{flags} are both given: pass only one of them.")
    return wanted[0] if wanted else "short"


def result_text(
    result: Result,
    detail: Detail,
    notices: Sequence[Notice],
    tables: Path | None,
    report: Path | None,
    wide: Sequence[str] = (),
) -> str:
    """Return a result for one screen, in full, or as JSON; nothing if `detail` is quiet.

    Parameters
    ----------
    tables, report
        Where they were written.
    wide
        Files in panoptica's columns, relative to the folder of tables.
    """
    if detail == "quiet":
        return ""
    places = _places(tables, report)
    if detail == "json":
        files = {"tables": tables, "report": report}
        named: Json = {name: None if path is None else str(path) for name, path in files.items()}
        if wide and tables is not None:
            named["wide"] = [str(tables / name) for name in wide]
        return f"{as_json(evaluation_document(result, notices, named))}\n"
    if wide and tables is not None:
        places += _wide_lines(tables, wide, left_out_metrics(result.spec))
    if detail == "all":
        return "\n".join([result.summary(), *([""] if places else []), *places, ""])
    width = screen_width()
    taken = sum(len(wrapped(line, width)) for line in warning_lines(notices))
    look_first: list[str] = []
    if tables is not None:
        folder = shlex.quote(str(tables))
        look_first = _look_first_lines(result, tables, width)
        places += [] if report else [f"Write a report: panmatch report {folder}"]
        places.append(f"See everything: panmatch show --all {folder}")
    return f"{evaluation_screen(result, width, places, taken, look_first)}\n"


def _best_model(result: Result) -> str | None:
    """Return the model with the highest pooled PQ on the screen."""
    scores = {
        one.model: one.value
        for one in result.average_scores
        if (one.score.name, one.averaging) == ("pq", "pooled")
        and (one.threshold, matcher_of(one.setting))
        == (result.spec.thresholds[0], result.spec.matching[0])
        and one.setting.class_name == result.headline_class
        and not math.isnan(one.value)
    }
    return max(scores, key=lambda model: scores[model], default=None)


def _look_first_lines(result: Result, folder: Path, width: int) -> list[str]:
    """Return the costliest mistake of the best model, and how to look at it."""
    worst = result.look_first(1, _best_model(result))
    if not worst:
        return []
    (one,) = worst
    who = f"{one.case} of {one.model}" if one.model else one.case
    lines = wrapped(f"Look first: {who}, {one.what} (costs {number(one.cost)} of PQ)", width)
    case = listed_cases(folder).get((one.model, one.case))
    command = None if case is None else play_command(folder, case, one.slice)
    return lines + ([] if command is None else [f"  {command}"])


def _protocol_text(
    protocol: Protocol,
    result: Result,
    detail: Detail,
    notices: Sequence[Notice],
    tables: Path,
    report: Path | None,
    cases: Sequence[Case],
    job: Job,
) -> str:
    """Write protocol.csv, and return the program's numbers as text.

    The numbers are explained for the given cases.
    """
    from panmatch.cli import _protocol as shown
    from panmatch.protocols import check_spacing, protocol_numbers

    check_spacing(result, protocol)
    numbers = protocol_numbers(result, protocol)
    shown.write_numbers(tables, numbers)
    note_protocol(tables, shown.protocol_facts(protocol))
    explanations = shown.explain_run(protocol, result, cases, job) if cases else []
    if detail == "quiet":
        return ""
    if detail == "json":
        files = {"tables": str(tables), "report": None if report is None else str(report)}
        document = evaluation_document(result, notices, files)
        reproduced = shown.numbers_document(protocol, numbers)
        if explanations:
            reproduced["explained"] = shown.explanation_document(explanations, result.models)
        return f"{as_json(document | {'protocol': reproduced})}\n"
    width = screen_width()
    most = None if detail == "all" else shown.MOST_LINES
    blocks = [shown.numbers_text(protocol, numbers, width, most)]
    if explanations:
        blocks.append(shown.explanation_text(explanations, result.models, width))
    if detail == "all":
        blocks.append(result_text(result, detail, notices, tables, report).rstrip("\n"))
    else:
        folder = shlex.quote(str(tables))
        ours = f"Our scores: panmatch show {folder}"
        blocks.append("\n".join([*_places(tables, report), ours]))
    return "\n\n".join(blocks) + "\n"


def _write_report(folder: Path, title: str | None, images: Path | None) -> Path:
    from panmatch.report import write_report

    return write_report(folder, title=title, images=images)


def _places(tables: Path | None, report: Path | None) -> list[str]:
    lines = [] if tables is None else [f"Tables: {tables}{os.sep}"]
    return lines if report is None else [*lines, f"Report: {report}"]


def _wide_lines(folder: Path, wide: Sequence[str], left_out: Sequence[str]) -> list[str]:
    """Return where the files in panoptica's columns are, and which metrics they lack.

    Examples
    --------
    >>> _wide_lines(Path("out"), ["wide.tsv"], ["hd95"])
    ['For panoptica: out/wide.tsv (without hd95)']
    >>> _wide_lines(Path("out"), ["wide/a.tsv", "wide/b.tsv"], [])
    ['For panoptica: out/wide/a.tsv and 1 more file there']
    """
    line = f"For panoptica: {folder / wide[0]}"
    more = len(wide) - 1
    line += f" and {plural(more, 'more file')} there" if more else ""
    without = f" (without {', '.join(left_out)})" if left_out else ""
    return [line + without]


def print_warnings(notices: Sequence[Notice]) -> None:
    """Print the first warnings to stderr; run.json and the report have all of them."""
    for line in warning_lines(notices):
        print(line, file=sys.stderr)


def warning_lines(notices: Sequence[Notice]) -> list[str]:
    """Return the first warnings as lines, and how many more there are."""
    lines = []
    for notice in notices[:MOST_WARNINGS]:
        lines.append(f"panmatch: {notice.word}: {notice.sentence}")
        lines += [f"    {line}" for line in notice.spec.splitlines()]
    more = len(notices) - MOST_WARNINGS
    return lines + ([f"panmatch: {plural(more, 'more warning')} in run.json"] if more > 0 else [])


def named_folders(option: str, given: Sequence[str]) -> Mapping[str, Path]:
    """Return folders by name from options such as ``unet=predictions/unet``.

    Examples
    --------
    >>> named_folders("--model", ["unet=out/unet"])
    {'unet': PosixPath('out/unet')}
    """
    found: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise OptionError(f"{option} {text!r} must be a name and a folder: unet=out/unet.")
        if name in found:
            raise OptionError(f"{option}: the name {name!r} is given twice.")
        found[name] = Path(path)
    return found


def read_log_level(text: str) -> LogLevel:
    """Read the log level.

    Examples
    --------
    >>> read_log_level("Info")
    'info'
    """
    level = text.lower()
    check_choice(Argument("log_level"), level, get_args(LogLevel))
    return cast(LogLevel, level)


def read_limits(given: Sequence[str]) -> list[Limit]:
    """Read limits such as ``pq=0.7``.

    Examples
    --------
    >>> read_limits(["pq=0.7"])
    [Limit(score='pq', value=0.7)]
    """
    limits = []
    for text in given:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or not math.isfinite(number):
            raise OptionError(f"--fail-under {text!r} must be a score and a number: pq=0.7.")
        limits.append(Limit(name.strip(), number))
    return limits


def missed_limits(result: Result, limits: Sequence[Limit]) -> list[str]:
    """Return a line for each limit that a model misses.

    Limits apply to the pooled score of the headline class, under the first matcher and the first
    threshold of the spec. If lower is better, as for ``sq_hd95``, a score above the limit misses
    it. An undefined score always misses.
    """
    pooled = [average for average in result.average_scores if average.averaging == "pooled"]
    lines = []
    for limit in limits:
        if pooled:
            check_choice("--fail-under", limit.score, result.known_scores)
        for model in result.models:
            average = _headline_score(pooled, model, result.headline_class, limit.score)
            value = math.nan if average is None else average.value
            up = average is None or average.score.higher_is_better
            if not (value >= limit.value if up else value <= limit.value):
                named = f"{model}: " if model else ""
                side = "below" if up else "above"
                lines.append(
                    f"{named}{limit.score} is {value:.4f}{_setting_text(average)}, {side} "
                    f"{limit.value:g}."
                )
    return lines


def _headline_score(
    pooled: Sequence[AverageScore], model: str, class_name: str, score: str
) -> AverageScore | None:
    """Return the first such score of the class, or of any class if this one has none."""
    fitting = [
        average for average in pooled if (average.model, average.score.name) == (model, score)
    ]
    own = [average for average in fitting if average.setting.class_name == class_name]
    return next(iter(own or fitting), None)


def _setting_text(average: AverageScore | None) -> str:
    if average is None:
        return ""
    at = "" if average.threshold is None else f" at {average.threshold:g}"
    setting = average.setting
    return f" ({setting.class_name}, {setting.label}{at}, pooled)"
