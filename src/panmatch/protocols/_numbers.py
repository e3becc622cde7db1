"""From a result to the numbers of a program, under the program's own names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from panmatch.evaluation import CaseSeries, ClassSeries, Result, matcher_of
from panmatch.matching import Matcher
from panmatch.overlap import Floats
from panmatch.protocols._models import Number, OverCases, Protocol, template_fields
from panmatch.spec import Spec

COUNTS = ("tp", "fp", "fn")
KINDS = {"classes": ("things", "stuff"), "things": ("things",), "stuff": ("stuff",)}
EVERY_CLASS = "mean of every class"


@dataclass(frozen=True, slots=True)
class ProtocolNumber:
    """A number of the program: of one case of a model, or of all of them."""

    model: str
    case: str | None  # None for all cases together
    name: str
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A score of one class: a value per case, and that of all cases together."""

    kind: str
    cases: Floats
    together: float


Columns = Mapping[str, _Column]  # by class


def protocol_numbers(result: Result, protocol: Protocol) -> list[ProtocolNumber]:
    """Return the numbers of every case of every model, and of all cases of each together.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> from panmatch.protocols import find_protocol
    >>> stardist = find_protocol("stardist")
    >>> images = {"reference": [[1, 1, 0, 2]], "prediction": [[1, 1, 0, 0]]}
    >>> found = protocol_numbers(evaluate(**images, spec=stardist.as_spec), stardist)
    >>> [(one.case, one.value) for one in found if one.name == "tp"]
    [('case', 1.0), (None, 1.0)]
    """
    found = []
    for model in result.models:
        cases = [case.case for case in result.evaluated(model)]
        for name, values in _model_numbers(result, protocol, model):
            named = zip([*cases, None], values, strict=True)
            found += [ProtocolNumber(model, case, name, float(value)) for case, value in named]
    order = {
        name: i for i, name in enumerate(dict.fromkeys((one.model, one.case) for one in found))
    }
    return sorted(found, key=lambda one: order[one.model, one.case])


def class_labels(spec: Spec) -> dict[str, str]:
    """Return the labels of every class as nnU-Net writes them; its name where it has all labels."""
    found = {}
    for name, kind in spec.classes.items():
        numbers = kind.numbers or ()
        found[name] = str(numbers) if len(numbers) > 1 else str(numbers[0]) if numbers else name
    return found


def _model_numbers(
    result: Result, protocol: Protocol, model: str
) -> Iterator[tuple[str, list[float]]]:
    series = [one for one in result.all_series if one.model == model]
    kinds = {one.setting.class_name: str(one.setting.kind) for one in series}
    labels = class_labels(result.spec)
    names = list(result.spec.classes) or sorted(kinds)
    n_cases = len(result.evaluated(model))
    found: dict[str, dict[str, _Column]] = {
        template: _columns(
            series,
            number,
            result.spec.matching[number.matcher],
            number.over_cases or protocol.over_cases,
        )
        for template, number in protocol.numbers.items()
    }
    nothing = _Column("", np.full(n_cases, np.nan), math.nan)
    for per_class, templates in groupby(found, lambda name: bool(template_fields(name))):
        together = list(templates)
        for name in names if per_class else [""]:
            words = {"class": name, "label": labels.get(name, name)}
            for template in together:
                number, columns = protocol.numbers[template], found[template]
                if per_class:
                    column = columns.get(name, nothing)
                else:
                    column = _of_class(columns, number, names, n_cases)
                yield template.format(**words), _finish(column, number)


def case_number(
    result: Result, score: str, threshold: float | None, of: str, over_cases: OverCases = "mean"
) -> float:
    """Return a score of ours over all cases of the first model."""
    number = Number(score=score, threshold=threshold, of=of)
    series = [one for one in result.all_series if one.model == result.models[0]]
    columns = _columns(series, number, result.spec.matching[0], over_cases)
    names = list(result.spec.classes) or [one.setting.class_name for one in series]
    n_cases = len(result.evaluated(result.models[0]))
    return _of_class(columns, number, names, n_cases).together


def _of_class(columns: Columns, number: Number, names: Sequence[str], n_cases: int) -> _Column:
    nothing = _Column("", np.full(n_cases, np.nan), math.nan)
    if not number.of:
        return columns.get(names[0], nothing) if len(names) == 1 else nothing
    what, _, kinds = number.of.partition(" of ")
    if number.of == EVERY_CLASS:
        every = [columns.get(name, nothing) for name in names]
        return _over_classes(every, _plain_mean, n_cases)
    if what in ("mean", "number") and kinds in KINDS:
        some = [one for one in columns.values() if one.kind in KINDS[kinds]]
        how = _mean_of_defined if what == "mean" else _number_of_defined
        return _over_classes(some, how, n_cases)
    return columns.get(number.of, nothing)


def _over_classes(
    columns: Sequence[_Column], how: Callable[[Floats], float], n_cases: int
) -> _Column:
    rows = np.array([[*one.cases, one.together] for one in columns]).reshape(-1, n_cases + 1)
    values = np.array([how(column) for column in rows.T])
    return _Column("", values[:-1], float(values[-1]))


def _mean_of_defined(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return math.fsum(defined) / len(defined) if len(defined) else math.nan


def _plain_mean(values: Floats) -> float:
    return math.nan if np.isnan(values).any() else _mean_of_defined(values)


def _number_of_defined(values: Floats) -> float:
    return float(np.count_nonzero(~np.isnan(values)))


def _finish(column: _Column, number: Number) -> list[float]:
    values = np.append(column.cases, column.together) * number.scale
    if number.undefined is not None:
        values = np.where(np.isnan(values), number.undefined, values)
    return [float(value) for value in values]


def _columns(
    series: Sequence[CaseSeries | ClassSeries],
    number: Number,
    matcher: Matcher,
    over_cases: OverCases,
) -> dict[str, _Column]:
    """Return a score of every class that has it."""
    found = {}
    for one in series:
        values = None
        if isinstance(one, ClassSeries):
            values = _class_score(one, number.score, over_cases)
        elif matcher_of(one.setting) == matcher:
            values = _matched_score(one, number, over_cases)
        if values is not None:
            found[one.setting.class_name] = _Column(str(one.setting.kind), *values)
    return found


def _class_score(
    series: ClassSeries, score: str, over_cases: OverCases
) -> tuple[Floats, float] | None:
    cases = {known.name: values for (_, known), values in series.case_scores().items()}
    pooled = {known.name: value for known, value in series.counts[None].sum().scores().items()}
    if score not in cases:
        return None
    return cases[score], _together(cases[score], float(pooled[score]), over_cases)


def _matched_score(
    series: CaseSeries, number: Number, over_cases: OverCases
) -> tuple[Floats, float] | None:
    threshold = number.threshold
    if threshold is None:
        areas = {score.name: values for score, values in series.case_areas.items()}
        if number.score not in areas:
            return None
        pooled = getattr(series.pooled_curve, number.score, math.nan)
        return areas[number.score], _together(areas[number.score], pooled, over_cases)
    counts = series.counts[threshold]
    if number.score in COUNTS:
        values = getattr(counts.tallies, number.score).astype(np.float64)
        return values, _together(values, float(values.sum()), over_cases)
    if number.score.endswith("_std"):
        metric = number.score.removesuffix("_std").removeprefix("sq").removeprefix("_") or "iou"
        spread = series.deviations(threshold)[metric]
        return spread, _together(spread, math.nan, over_cases)
    found = {score.name: values for score, values in counts.scores().items()}
    if number.score not in found:
        return None
    together = {score.name: float(value) for score, value in counts.sum().scores().items()}
    cases = found[number.score]
    return cases, _together(cases, together[number.score], over_cases)


def _together(cases: Floats, pooled: float, over_cases: OverCases) -> float:
    if over_cases == "pooled":
        return pooled
    return _mean_of_defined(cases) if over_cases == "mean" else math.fsum(cases[~np.isnan(cases)])
