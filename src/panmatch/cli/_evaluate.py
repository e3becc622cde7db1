"""`panmatch evaluate`: files or folders in, a folder of tables out."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from panmatch.datasets import (
    OTHER_OUTPUTS,
    DatasetPaths,
    Job,
    Missing,
    Outcome,
    Pairing,
    RunOptions,
    coco_cases,
    find_pairs,
    listed_notices,
    read_manifest,
    run_dataset,
)
from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import AverageScore, Notice, Result, plural
from panmatch.spec import Spec, as_spec, spec_for_dataset

FINE, SOME_FAILED, LIMIT_MISSED, INTERRUPTED = 0, 1, 3, 130
MOST_WARNINGS = 5


@dataclass(frozen=True, slots=True)
class Limit:
    """A score by name, and the value that a run must reach."""

    score: str
    value: float


def run_evaluate(
    paths: DatasetPaths,
    spec_name: str | None,
    out: Path,
    *,
    options: RunOptions,
    allow_header_mismatch: bool,
    spacing: tuple[float, ...] | None,
    limits: Sequence[Limit],
    with_report: bool = False,
    threads: int | None = None,
    dataset_json: Path | None = None,
    missing: str | None = None,
    resample: bool = False,
) -> int:
    """Evaluate all cases, print the summary, and return the exit code."""
    if missing is not None:
        check_choice("--missing", missing, get_args(Missing))
    for name in options.also:
        check_choice("--also", name, OTHER_OUTPUTS)
    if resample and allow_header_mismatch:
        raise OptionError("--resample and --allow-header-mismatch contradict each other: drop one.")
    name = spec_name or default_spec(paths)
    spec = as_spec(name) if dataset_json is None else spec_for_dataset(dataset_json, name)
    pairing = find_cases(paths, spec)
    cases = pairing.cases
    job = Job(
        spec.canonical(),
        allow_header_mismatch,
        spacing,
        threads or (None if options.workers == 1 and options.dask is None else 1),
        cast("Missing | None", missing),
        resample=resample,
    )
    try:
        with progress(len(cases)) as watch:
            result = run_dataset(cases, job, out, options, watch, pairing.notices)
    except KeyboardInterrupt:
        print(
            f"panmatch: interrupted. The tables in {str(out)!r} hold what is finished; go on with "
            f"--resume.",
            file=sys.stderr,
        )
        return INTERRUPTED
    print(result.summary())
    print(f"\nTables: {out}{os.sep}")
    if with_report:
        from panmatch.report import write_report

        print(f"Report: {write_report(out)}")
    print_warnings(listed_notices(out))
    missed = missed_limits(result, limits)
    for line in missed:
        print(f"panmatch: {line}", file=sys.stderr)
    if result.failures:
        n, total = len(result.failures), len(result.with_status("ok", "failed"))
        print(f"panmatch: {n} of {total} cases failed, see above.", file=sys.stderr)
        return SOME_FAILED
    return LIMIT_MISSED if missed else FINE


def print_warnings(notices: Sequence[Notice]) -> None:
    """Print what makes the numbers plausible but wrong; run.json and the report have it all."""
    for notice in notices[:MOST_WARNINGS]:
        print(f"panmatch: {notice.word}: {notice.sentence}", file=sys.stderr)
        for line in notice.spec.splitlines():
            print(f"    {line}", file=sys.stderr)
    more = len(notices) - MOST_WARNINGS
    if more > 0:
        print(f"panmatch: {plural(more, 'more warning')} in run.json", file=sys.stderr)


def default_spec(paths: DatasetPaths) -> str:
    """Return the preset for COCO files, or the usual one."""
    return "coco" if paths.reference.suffix.lower() == ".json" else "instances"


def find_cases(paths: DatasetPaths, spec: Spec) -> Pairing:
    """Return all cases of a manifest, of COCO files, of two files or of folders."""
    if paths.reference.suffix.lower() == ".csv":
        if paths.predictions:
            raise OptionError("PRED: a manifest names the predictions itself; drop PRED.")
        return Pairing(read_manifest(paths.reference))
    if spec.encoding == "coco":
        return Pairing(coco_cases(paths.reference, paths.predictions))
    return find_pairs(paths)


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
    """Return a line for every limit and model that misses it.

    What counts is the pooled score of the headline class under the first matcher of the spec, at
    its first threshold. A score where less is better, such as ``sq_hd95``, misses when it is above
    the limit, and one that is not defined always does.
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
    """Return the first one of the class, or of any class where this one does not have it."""
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
    return f" ({setting.class_name}, {setting.matcher.label}{at}, pooled)"


QUIET_SECONDS = 10.0  # between two lines where there is no terminal


@contextmanager
def progress(total: int) -> Iterator[Callable[[Outcome], None]]:
    """Yield what to call with every finished case: a bar, or lines where there is no terminal."""
    if sys.stderr.isatty():
        with _bar(total) as watch:
            yield watch
    else:
        yield _lines(total)


@contextmanager
def _bar(total: int) -> Iterator[Callable[[Outcome], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    failed = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("cases", total=total)

        def watch(outcome: Outcome) -> None:
            nonlocal failed
            failed += outcome.result is not None and outcome.result.status == "failed"
            bar.update(
                task, advance=1, description=f"cases, {failed} failed" if failed else "cases"
            )

        yield watch


def _lines(total: int) -> Callable[[Outcome], None]:
    start = last = time.monotonic()
    done = 0

    def watch(_: Outcome) -> None:
        nonlocal done, last
        done += 1
        now = time.monotonic()
        if now - last >= QUIET_SECONDS and done < total:
            last = now
            left = (now - start) / done * (total - done)
            print(f"{done} of {total} cases, about {left:.0f} s left", file=sys.stderr, flush=True)

    return watch
