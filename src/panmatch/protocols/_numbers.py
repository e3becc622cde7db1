"""From a result to the numbers of a program, under the program's own names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from panmatch.evaluation import CaseSeries, ClassSeries, Entry, Result, matcher_of
from panmatch.overlap import Floats
from panmatch.protocols._models import Number, OverCases, Protocol, template_fields
from panmatch.spec import Spec

COUNTS = ("tp", "fp", "fn", "quality")
PART_QUALITY = "part_quality"
SIZES = ("mean_ref_voxels", "mean_ref_volume")
GROUPS = ("classes", "things", "stuff", "classes with parts", "classes without parts")
EVERY_CLASS = "mean of every class"


@dataclass(frozen=True, slots=True)
class ProtocolNumber:
    """A number of the program, for one case of a model or for all cases."""

    model: str
    case: str | None  # None for all cases together
    name: str
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A score of one class: a value per case, and one for all cases together."""

    groups: tuple[str, ...]
    cases: Floats
    together: float


Columns = Mapping[str, _Column]  # by class


def protocol_numbers(
    result: Result, protocol: Protocol, classes: Sequence[str] | None = None
) -> list[ProtocolNumber]:
    """Return the numbers of each case of each model, and of all cases of a model together.

    Parameters
    ----------
    result
        A result for the spec of the protocol.
    protocol
        The numbers and their names.
    classes
        The classes of the images, if the spec does not list them; by default those that occur.

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
        for name, values in _model_numbers(result, protocol, model, classes):
            named = zip([*cases, None], values, strict=True)
            found += [ProtocolNumber(model, case, name, float(value)) for case, value in named]
    order = {
        name: i for i, name in enumerate(dict.fromkeys((one.model, one.case) for one in found))
    }
    return sorted(found, key=lambda one: order[one.model, one.case])


def class_labels(spec: Spec) -> dict[str, str]:
    """Return the labels of each class as nnU-Net writes them, or its name if it has all labels."""
    found = {}
    for name, kind in spec.classes.items():
        numbers = kind.numbers or ()
        found[name] = str(numbers) if len(numbers) > 1 else str(numbers[0]) if numbers else name
    return found


def _model_numbers(
    result: Result, protocol: Protocol, model: str, classes: Sequence[str] | None
) -> Iterator[tuple[str, list[float]]]:
    series = [one for one in result.all_series if one.model == model]
    labels = class_labels(result.spec)
    occurring = sorted({one.setting.class_name for one in series})
    names = list(result.spec.classes) or list(classes or occurring)
    n_cases = len(result.evaluated(model))
    numbers = {
        name
        if len(names) == 1 or number.of or template_fields(name)
        else f"{{class}}/{name}": number
        for name, number in protocol.numbers.items()
    }
    found: dict[str, dict[str, _Column]] = {
        template: _ratios(series, number, result.spec, number.over_cases or protocol.over_cases)
        for template, number in numbers.items()
    }
    nothing = _Column((), np.full(n_cases, np.nan), math.nan)
    for per_class, templates in groupby(found, lambda name: bool(template_fields(name))):
        together = list(templates)
        for name in names if per_class else [""]:
            words = {"class": name, "label": labels.get(name, name)}
            for template in together:
                number, columns = numbers[template], found[template]
                if per_class:
                    column = columns.get(name, nothing)
                else:
                    column = _of_class(columns, number, names, n_cases)
                yield template.format(**words), _finish(column, number)


def case_number(
    result: Result, score: str, threshold: float | None, of: str, over_cases: OverCases = "mean"
) -> float:
    """Return one of our scores over all cases of the first model."""
    number = Number(score=score, threshold=threshold, of=of)
    series = [one for one in result.all_series if one.model == result.models[0]]
    columns = _columns(series, number, result.spec, over_cases)
    names = list(result.spec.classes) or [one.setting.class_name for one in series]
    n_cases = len(result.evaluated(result.models[0]))
    return _of_class(columns, number, names, n_cases).together


def _of_class(columns: Columns, number: Number, names: Sequence[str], n_cases: int) -> _Column:
    nothing = _Column((), np.full(n_cases, np.nan), math.nan)
    if not number.of:
        return columns.get(names[0], nothing) if len(names) == 1 else nothing
    what, _, kinds = number.of.partition(" of ")
    if number.of == EVERY_CLASS:
        every = [columns.get(name, nothing) for name in names]
        return _over_classes(every, _plain_mean, n_cases)
    if what in ("mean", "number") and kinds in GROUPS:
        some = [one for one in columns.values() if kinds in one.groups]
        how = _mean_of_defined if what == "mean" else _number_of_defined
        return _over_classes(some, how, n_cases)
    return columns.get(number.of, nothing)


def _over_classes(
    columns: Sequence[_Column], how: Callable[[Floats], float], n_cases: int
) -> _Column:
    rows = np.array([[*one.cases, one.together] for one in columns]).reshape(-1, n_cases + 1)
    values = np.array([how(column) for column in rows.T])
    return _Column((), values[:-1], float(values[-1]))


def _mean_of_defined(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return math.fsum(defined) / len(defined) if len(defined) else math.nan


def _plain_mean(values: Floats) -> float:
    return math.nan if np.isnan(values).any() else _mean_of_defined(values)


def _number_of_defined(values: Floats) -> float:
    return float(np.count_nonzero(~np.isnan(values)))


def _finish(column: _Column, number: Number) -> list[float]:
    values = np.append(column.cases, column.together) * number.scale
    if number.value is not None:
        values = np.full(len(values), number.value)
    if number.undefined is not None:
        values = np.where(np.isnan(values), number.undefined, values)
    return [float(value) for value in values]


def _ratios(
    series: Sequence[CaseSeries | ClassSeries],
    number: Number,
    spec: Spec,
    over_cases: OverCases,
) -> dict[str, _Column]:
    """Return a score of each class that has it, divided by others if the number says so."""
    found = _columns(series, number, spec, over_cases)
    if not number.per:
        return found
    others = [number.model_copy(update={"score": score}) for score in number.per]
    below = [_columns(series, other, spec, over_cases) for other in others]
    ratios = {}
    for name, column in found.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            cases = column.cases / np.sum([one[name].cases for one in below], axis=0)
            pooled = np.float64(column.together) / math.fsum(one[name].together for one in below)
        ratios[name] = _Column(column.groups, cases, _together(cases, float(pooled), over_cases))
    return ratios


def _columns(
    series: Sequence[CaseSeries | ClassSeries],
    number: Number,
    spec: Spec,
    over_cases: OverCases,
) -> dict[str, _Column]:
    """Return a score of each class that has it."""
    found = {}
    for one in series:
        for score in filter(None, (number.score, number.otherwise)):
            values = None
            if isinstance(one, ClassSeries):
                values = _class_score(one, score, over_cases)
            elif matcher_of(one.setting) == spec.matching[number.matcher]:
                values = _matched_score(one, score, number.threshold, over_cases)
            if values is not None:
                found[one.setting.class_name] = _Column(_groups(one, spec), *values)
                break
    return found


def _groups(series: CaseSeries | ClassSeries, spec: Spec) -> tuple[str, ...]:
    known = spec.classes.get(series.setting.class_name)
    parts = "with" if known is not None and known.parts else "without"
    return "classes", str(series.setting.kind), f"classes {parts} parts"


def _class_score(
    series: ClassSeries, score: str, over_cases: OverCases
) -> tuple[Floats, float] | None:
    cases = {known.name: values for (_, known), values in series.case_scores().items()}
    pooled = {known.name: value for known, value in series.counts[None].sum().scores().items()}
    if score not in cases:
        return None
    return cases[score], _together(cases[score], float(pooled[score]), over_cases)


def _matched_score(
    series: CaseSeries, score: str, threshold: float | None, over_cases: OverCases
) -> tuple[Floats, float] | None:
    if threshold is None:
        areas = {known.name: values for known, values in series.case_areas.items()}
        if score not in areas:
            return None
        pooled = getattr(series.pooled_curve, score, math.nan)
        return areas[score], _together(areas[score], pooled, over_cases)
    counts = series.counts[threshold]
    if score in COUNTS or (score == PART_QUALITY and counts.has_parts):
        tallies = counts.part_tallies if score == PART_QUALITY else counts.tallies
        values = getattr(tallies, score.removeprefix("part_")).astype(np.float64)
        return values, _together(values, math.fsum(values), over_cases)
    if score in SIZES:
        sizes = np.array([_mean_size(entry, threshold, score) for entry in series.entries])
        return sizes, _together(sizes, math.nan, over_cases)
    if score.endswith("_std"):
        metric = score.removesuffix("_std").removeprefix("sq").removeprefix("_") or "iou"
        spread = series.levels[threshold].deviations[metric]
        return spread, _together(spread, math.nan, over_cases)
    found = {known.name: values for known, values in counts.scores().items()}
    if score not in found:
        return None
    together = {known.name: float(value) for known, value in counts.sum().scores().items()}
    return found[score], _together(found[score], together[score], over_cases)


def _mean_size(entry: Entry | None, threshold: float, score: str) -> float:
    """Return the mean size of the matched references of a case."""
    if entry is None:
        return math.nan
    measured = entry.level(threshold).measurements
    voxels = measured.columns["ref_voxels"][measured.columns["status"] == "matched"]
    spacing = () if measured.options is None else measured.options.spacing
    size = math.prod(spacing) if score == "mean_ref_volume" else 1.0
    return float(np.mean(voxels)) * size if len(voxels) else math.nan


def _together(cases: Floats, pooled: float, over_cases: OverCases) -> float:
    if over_cases == "pooled":
        return pooled
    return _mean_of_defined(cases) if over_cases == "mean" else math.fsum(cases[~np.isnan(cases)])
