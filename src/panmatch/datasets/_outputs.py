"""Averages over cases with bootstrap intervals."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from panmatch.datasets._case_table import cluster_of
from panmatch.datasets._case_tables import write_case_tables
from panmatch.datasets._detection_tables import write_detections
from panmatch.datasets._phases import Stopwatch
from panmatch.datasets._statistics import (
    FEWEST_CASES,
    Bounds,
    Interval,
    Resampling,
)
from panmatch.datasets._table_files import write_table
from panmatch.errors import FileError
from panmatch.evaluation import (
    AverageScore,
    CaseResult,
    Each,
    Json,
    Result,
    Row,
    Score,
    Table,
    average_all,
    average_row,
    matcher_of,
    one_by_one,
)
from panmatch.formats import write_atomically
from panmatch.labels import Unit
from panmatch.matching import Matcher
from panmatch.spec import Spec

RESAMPLES = 2000
MANY_CASES = 500  # whose resampling is worth a thread
EVERY = "every matcher"
SEED = 0


def summary_table(result: Result) -> Table:
    """Return pooled scores and means of cases with 95 % bootstrap intervals over cases.

    Every model is resampled with the same seed, so models with the same cases see the same
    resamples. Fewer than 5 cases get no interval: it would promise too much.
    """
    # One matcher at a time: samples of all scores of hundreds of classes would take gigabytes.
    rows = []
    for model in result.models:
        resampling = resampling_of(result, model)
        for matcher in (*result.spec.matching, None):
            averages = averages_with_samples(result, model, matcher, resampling=resampling)
            rows += [_row(one, spread(one, resampling), result.unit) for one in averages]
    return Table.of_rows(rows)


def resampling_of(result: Result, model: str) -> Resampling:
    """Return how the cases of a model are resampled: one by one, or in clusters.

    A case without a known cluster is drawn alone.
    """
    return resampling_of_cases(result.evaluated(model), result.spec)


def resampling_of_cases(cases: Sequence[CaseResult], spec: Spec) -> Resampling:
    """Return how cases are resampled: one by one, or in the clusters of the spec."""
    cluster = spec.averaging.cluster
    if cluster is None:
        units: int | list[str] = len(cases)
    else:
        units = [cluster_of(case.case, case.about, cluster) for case in cases]
    return Resampling.of(units, spec.averaging.interval, n_resamples=RESAMPLES, seed=SEED)


def averages_with_samples(
    result: Result,
    model: str,
    matcher: Matcher | str | None = EVERY,
    *,
    areas: bool = True,
    resampling: Resampling | None = None,
) -> list[AverageScore]:
    """Return the averages of a model with their resamples: for one matcher, for none, or all.

    Parameters
    ----------
    resampling
        What `resampling_of` returns for the model, if it is known already.
    """
    resampling = resampling or resampling_of(result, model)
    weights = resampling.weights if resampling.n_units >= FEWEST_CASES else None
    series = [
        one
        for one in result.all_series
        if one.model == model and matcher in (EVERY, matcher_of(one.setting))
    ]
    clusters = None if result.spec.averaging.cluster is None else resampling.unit_of
    return average_all(
        series, result.spec.averaging.undefined, weights, areas=areas, clusters=clusters
    )


def spread(average: AverageScore, resampling: Resampling) -> Interval:
    """Return the interval of an average, which is undefined for fewer than 5 cases.

    Parameters
    ----------
    average
        What `averages_with_samples` returned.
    resampling
        What `resampling_of` returns for the same model.
    """
    n_units = min(average.cases, resampling.n_units)
    return resampling.interval(average.samples, n_units, bounds=bounds_of(average.score))


def bounds_of(score: Score) -> Bounds:
    """Return the lowest and highest possible value of a score.

    Examples
    --------
    >>> bounds_of(Score("pq")), bounds_of(Score("sq_hd95", "hd95", "lower", "length"))
    ((0.0, 1.0), (0.0, inf))
    """
    if score.is_share:
        return 0.0, 1.0
    return (0.0 if score.direction == "lower" else -math.inf), math.inf


def _row(average: AverageScore, ends: Interval, unit: Unit | None) -> Row:
    row: Row = {}
    for name, value in average_row(average, unit).items():
        row[name] = value
        if name == "value":
            row |= {"low": ends.low, "high": ends.high}
    return row


FORMAT = "panmatch-run-3"
LIBRARIES = ("panmatch", "numpy", "scipy", "pandas", "connected-components-3d", "nibabel")


def write_tables(folder: Path, result: Result, clock: Stopwatch, each: Each = one_by_one) -> None:
    """Write all tables: those with rows for each case, and the summary.

    Resampling many cases is mostly matrix products, so it runs in a thread of its own while the
    other tables are made.

    Parameters
    ----------
    each
        Calls a function with every block of cases.
    """
    with ExitStack() as background:
        summarise: Callable[[], Table] = partial(summary_table, result)
        with clock.phase("tables"):
            result.collect_series(each)
            if result.series and len(result.cases) > MANY_CASES:
                from concurrent.futures import ThreadPoolExecutor

                pool = background.enter_context(ThreadPoolExecutor(1))
                summarise = pool.submit(summarise).result
            write_case_tables(folder, result, each)
        with clock.phase("bootstrap"):
            summary = summarise()
            if result.spec.confidence is not None:
                resamplings = {model: resampling_of(result, model) for model in result.models}
                write_detections(folder, result, resamplings)
    write_table(folder, "summary", summary)


def write_run(folder: Path, spec: Spec, **facts: object) -> None:
    """Write run.json: the spec, the versions, and other facts about the run."""
    content = {
        "format": FORMAT,
        "spec": spec.model_dump(mode="json"),
        "versions": _versions() | {"python": platform.python_version()},
        "bootstrap": {
            "resamples": RESAMPLES,
            "seed": SEED,
            "level": 0.95,
            "interval": spec.averaging.interval,
            "cluster": spec.averaging.cluster,
            "fewest_cases": FEWEST_CASES,
        },
        **facts,
    }
    text = json.dumps(content, indent=2, allow_nan=False, default=str)
    write_atomically(folder / "run.json", f"{text}\n".encode())


def note_seconds(folder: Path, seconds: Mapping[str, float]) -> None:
    """Replace the times in run.json."""
    _note(folder, {"seconds": dict(seconds)})


def note_protocol(folder: Path, facts: Mapping[str, str]) -> None:
    """Write into run.json which program's numbers the run reproduces."""
    _note(folder, {"protocol": dict(facts)})


def _note(folder: Path, facts: Json) -> None:
    content = read_run(folder) | facts
    text = json.dumps(content, indent=2, allow_nan=False)
    write_atomically(folder / "run.json", f"{text}\n".encode())


@cache
def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def read_run(folder: Path) -> Json:
    """Read run.json."""
    path = folder / "run.json"
    try:
        content: Json = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
    except FileNotFoundError as error:
        why = "it has no run.json" if folder.exists() else "there is no such folder"
        if (folder / "raters.json").is_file():
            why = "it has one for each rater: name the folder of a rater in it"
        raise FileError(
            f"path={str(folder)!r} is not an output folder of `panmatch evaluate`: {why}."
        ) from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(
            f"path={str(folder)!r} is not an output folder of `panmatch evaluate`: {error}."
        ) from error
    return content
