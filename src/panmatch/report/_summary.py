"""The first part of a report: a card per model, a table of classes, the data, and all cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from panmatch.datasets import Case, Placing, play_command
from panmatch.evaluation import (
    MEANS,
    CaseSeries,
    CostlyMistake,
    Result,
    Score,
    Setting,
    metric_scores,
    unit_text,
)
from panmatch.matching import Tally
from panmatch.overlap import Floats
from panmatch.report._case_pictures import CasePicture
from panmatch.report._tables import Averages, Value, losses_of
from panmatch.scoring import LOSS_LOOKS, Repair

HEADLINE_SCORES = ("pq", "part_pq", "autc")
CASE_SCORES = ("pq", "part_pq", "sq", "rq")
MOST_FOLDERS = 3
MOST_MODELS = 8  # whose mistakes are listed
MOST_PLACES, FEW_PLACES = 10, 4  # of one model, and of each of several

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A score with its name and unit."""

    title: str
    unit: str
    value: Value


@dataclass(frozen=True, slots=True)
class Loss:
    """How much PQ a kind of mistake costs."""

    title: str
    value: float

    @property
    def style(self) -> str:
        """The name of its bar segments in the style sheet."""
        return self.title.split()[0]


@dataclass(frozen=True, slots=True)
class Card:
    """A model in a class, by the first matcher and threshold of the spec.

    Attributes
    ----------
    model
        Its name.
    scores
        PQ, PartPQ and AUTC, pooled, as far as the class has them.
    mean
        The mean PQ of cases.
    tally, rates
        Counts, and precision and recall; a mean over classes has no counts.
    metrics
        Means of the metrics over matched objects, with units.
    losses
        How much PQ each kind of mistake costs, the costliest first; none if that is not known.
    placing
        Its place by the mean PQ of cases; None where models are not compared.
    """

    model: str
    scores: list[NamedValue]
    mean: Value
    tally: Tally | None
    rates: list[NamedValue]
    metrics: list[NamedValue]
    losses: list[Loss]
    placing: Placing | None

    @property
    def pq(self) -> Value:
        """Pooled PQ."""
        return self.scores[0].value


def cards(
    result: Result, averages: Averages, class_name: str, placings: Sequence[Placing]
) -> list[Card]:
    """Return a card for every model that has a score in the class."""
    setting, threshold = _first_setting(result, averages, class_name), result.spec.thresholds[0]
    losses, places = losses_of(result, class_name), {one.model: one for one in placings}
    known = averages.scores(class_name)
    metrics = [metric_scores(metric)[0] for metric in result.spec.metric_objects]
    found = []
    for model in result.models:

        def values(scores: Sequence[Score], model: str = model) -> list[NamedValue]:
            return [
                NamedValue(
                    score.title,
                    unit_text(score, result.unit),
                    averages.find(model, setting, None if score.is_area else threshold, score.name),
                )
                for score in scores
            ]

        mean = averages.find(model, setting, threshold, "pq", "mean of cases")
        card = Card(
            model,
            values([known[name] for name in HEADLINE_SCORES if name in known]),
            mean,
            pooled_tally(result, model, setting),
            values([known["precision"], known["recall"]]),
            values([known[score.name] for score in metrics if score.name in known]),
            [
                Loss(LOSS_LOOKS[kind].title, loss)
                for kind, loss in _sorted(losses.get(model, {}))
                if loss
            ],
            places.get(model),
        )
        if result.evaluated(model):
            found.append(card)
    return found


def pooled_tally(result: Result, model: str, setting: Setting) -> Tally | None:
    """Return the counts of all cases at the first threshold; None for a mean over classes."""
    for one in result.series:
        if (one.model, one.setting) == (model, setting):
            return one.counts[result.spec.thresholds[0]].sum().tallies.tally()
    return None


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class in the table of classes and models: PQ, and PartPQ where it has parts."""

    name: str
    id: str
    references: int | None  # a mean over classes has none
    pq: list[Value]  # of every model
    part_pq: list[Value]

    @property
    def best(self) -> float:
        """The highest PQ; NaN with a single model, where nothing is best."""
        values = [one.value for one in self.pq if not math.isnan(one.value)]
        return max(values) if len(self.pq) > 1 and values else math.nan


@dataclass(frozen=True, slots=True)
class Place:
    """A mistake to look at, and how."""

    mistake: CostlyMistake
    command: str | None  # that opens it; None where its files are not a pair of their own

    @property
    def box(self) -> str:
        """The box around its objects, first and last voxel along every axis.

        Examples
        --------
        >>> from panmatch import evaluate
        >>> result = evaluate(reference=[[1, 1, 0, 2, 2]], prediction=[[3, 3, 0, 0, 0]])
        >>> Place(result.look_first()[0], None).box
        '0 × 3–4'
        """
        ends = zip(self.mistake.start, self.mistake.stop, strict=True)
        spans = [str(low) if high - low == 1 else f"{low}–{high - 1}" for low, high in ends]
        return " × ".join(spans)


def places_to_look(
    result: Result, cases: Mapping[tuple[str, str], Case], folder: Path | None
) -> list[Place]:
    """Return the costliest mistakes of every model, those of the first one first."""
    found = []
    for model in result.models[:MOST_MODELS]:
        for one in result.look_first(MOST_PLACES if len(result.models) == 1 else FEW_PLACES, model):
            case = cases.get((one.model, one.case))
            command = None
            if folder is not None and case is not None:
                command = play_command(folder, case, one.slice)
            found.append(Place(one, command))
    return found


def class_rows(result: Result, averages: Averages, ids: Mapping[str, str]) -> list[ClassRow]:
    """Return all classes, and means over classes, by the first matcher and threshold."""
    threshold, rows = result.spec.thresholds[0], []
    for name, page_id in ids.items():
        setting = _first_setting(result, averages, name)
        tally = next(
            (
                tally
                for model in result.models
                if (tally := pooled_tally(result, model, setting)) is not None
            ),
            None,
        )
        pq, part_pq = (
            [averages.find(model, setting, threshold, score) for model in result.models]
            for score in ("pq", "part_pq")
        )
        references = None if tally is None else tally.tp + tally.fn
        has_parts = "part_pq" in averages.scores(name)
        rows.append(ClassRow(name, page_id, references, pq, part_pq if has_parts else []))
    return rows


def data_folders(cases: Mapping[tuple[str, str], Case]) -> dict[str, list[str]]:
    """Return the folders of the references and of the predictions of every model."""
    found: dict[str, dict[Path, None]] = {}
    for case in cases.values():
        for role, image in (("references", case.reference), (case.model, case.prediction)):
            if image is not None:
                found.setdefault(role or "predictions", {})[image.path.parent] = None
    return {
        role: [str(folder) for folder in list(folders)[:MOST_FOLDERS]]
        + ([f"and {len(folders) - MOST_FOLDERS} more"] if len(folders) > MOST_FOLDERS else [])
        for role, folders in found.items()
    }


def case_data(
    result: Result, ids: Mapping[str, str], pictures: Mapping[str, Sequence[CasePicture]]
) -> Json:
    """Return the scores of all cases as compact data, column by column, for the script.

    It uses the first matcher and threshold of the spec. Values are rounded as they are shown: None
    is undefined, and infinities are words.

    Parameters
    ----------
    ids
        Of the classes on the page.
    pictures
        Of every class, in their order on the page.
    """
    names = sorted({case.case for model in result.models for case in result.evaluated(model)})
    metrics = [metric_scores(metric)[0] for metric in result.spec.metric_objects]
    known = result.known_scores
    scores = [known[name] for name in (*CASE_SCORES, "autc", "part_autc") if name in known]
    scores += [score for score in metrics if score not in scores]
    columns = [
        {"title": score.title, "unit": unit_text(score, result.unit), "share": score.is_share}
        for score in scores
    ]
    counts = [{"title": title, "unit": "", "whole": True} for title in ("TP", "FP", "FN")]
    classes = {
        ids[name]: _class_data(result, name, scores, {case: i for i, case in enumerate(names)})
        | {"name": name, "pictures": _picture_places(result, pictures.get(name, ()), names)}
        for name in ids
        if name not in MEANS
    }
    return {
        "cases": names,
        "models": list(result.models),
        "columns": columns[:1] + counts + columns[1:],
        "classes": classes,
    }


def _class_data(
    result: Result, class_name: str, scores: Sequence[Score], places: Mapping[str, int]
) -> Json:
    cases: list[int] = []
    models: list[int] = []
    kind, values = "things", [list[object]() for _ in range(len(scores) + 3)]
    for series in result.series:
        setting = series.setting
        if (setting.class_name, setting.matcher) != (class_name, result.spec.matching[0]):
            continue
        kind = setting.kind
        rows = np.flatnonzero(series.there).tolist()
        cases += [places[series.cases[i]] for i in rows]
        models += [result.models.index(series.model)] * len(rows)
        for column, more in zip(values, _columns(result, series, scores, rows), strict=True):
            column += more
    return {"kind": kind, "case": cases, "model": models, "values": values}


def _columns(
    result: Result, series: CaseSeries, scores: Sequence[Score], rows: Sequence[int]
) -> list[list[object]]:
    """Return PQ, the counts, and the other scores of some cases."""
    counts = series.counts[result.spec.thresholds[0]]
    found = counts.scores() | series.case_areas
    missing = np.full(len(series.cases), np.nan)
    first, *others = (_rounded(found.get(score, missing)[rows]) for score in scores)
    tallies = counts.tallies
    whole: list[list[object]] = [
        column[rows].tolist() for column in (tallies.tp, tallies.fp, tallies.fn)
    ]
    return [first, *whole, *others]


def _rounded(values: Floats) -> list[object]:
    """Return values with three digits.

    Examples
    --------
    >>> _rounded(np.array([0.12345, np.nan, np.inf]))
    [0.123, None, 'inf']
    """
    return [
        None if math.isnan(value) else round(value, 3) if math.isfinite(value) else f"{value}"
        for value in values.tolist()
    ]


def _picture_places(
    result: Result, pictures: Sequence[CasePicture], names: Sequence[str]
) -> list[list[int]]:
    """Return case and model of every picture."""
    return [[names.index(one.case), result.models.index(one.model)] for one in pictures]


def _first_setting(result: Result, averages: Averages, class_name: str) -> Setting:
    settings = averages.settings(class_name)
    return next((one for one in settings if one.matcher == result.spec.matching[0]), settings[0])


def _sorted(losses: Mapping[Repair, float]) -> list[tuple[Repair, float]]:
    return sorted(
        ((kind, round(loss, 3)) for kind, loss in losses.items()), key=lambda one: -one[1]
    )
