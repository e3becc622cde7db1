"""Objects by how many raters saw them, and what models found of them (D18)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from panmatch.evaluation import Findings, Level, Row, Setting
from panmatch.matching import Tally
from panmatch.overlap import Ints

if TYPE_CHECKING:
    from panmatch.datasets._raters._comparison import RaterComparison

ALL = "all"  # raters together

Place = tuple[Setting, float]  # a setting at a threshold
Key = tuple[Setting, float, str, int, str]  # place, rater, seen by how many, model
Pair = tuple[str, str]  # a rater, and a model or other rater
Levels = dict[Pair, Level]


def agreement_rows(comparison: RaterComparison) -> list[Row]:
    """Return two kinds of rows: objects of raters, and predictions of models, by agreement."""
    raters, models = comparison.raters, comparison.models
    of_raters: dict[Key, Tally] = {}
    of_models: dict[Key, int] = {}
    for _, findings in comparison.findings():
        for place, levels in _levels(findings).items():
            if len(levels) < len(findings):
                continue
            for rater, seen_by, model, tally in _seen(levels, raters, models):
                for who in (rater, ALL):
                    key = (*place, who, seen_by, model)
                    of_raters[key] = of_raters.get(key, Tally(0, 0, 0, 0.0)) + tally
            for model, seen_by, n in _confirmed(levels, raters, models):
                key = (*place, ALL, seen_by, model)
                of_models[key] = of_models.get(key, 0) + n
    return [*_rater_rows(of_raters, raters, models), *_model_rows(of_models, raters, models)]


def _levels(
    findings: Mapping[tuple[str, str], Findings],
) -> dict[Place, dict[tuple[str, str], Level]]:
    found: dict[Place, Levels] = {}
    for pair, of_pair in findings.items():
        for entry in of_pair.entries:
            for level in entry.levels:
                found.setdefault((entry.setting, level.threshold), {})[pair] = level
    return found


def _found_references(level: Level) -> tuple[Ints, Ints]:
    """Return the ids of the references, in rising order, and 1 where each is matched."""
    columns = level.measurements.columns
    rows = columns["ref_id"] > 0
    ids, matched = columns["ref_id"][rows], columns["status"][rows] == "matched"
    order = np.argsort(ids)
    return ids[order].astype(np.int64), matched[order].astype(np.int64)


def _seen(
    levels: Levels, raters: Sequence[str], models: Sequence[str]
) -> Iterator[tuple[str, int, str, Tally]]:
    """Yield objects of each rater: how many raters saw them, a model or none, and its tally."""
    for rater in raters:
        others = [_found_references(levels[rater, other])[1] for other in raters if other != rater]
        seen = 1 + np.sum(others, axis=0)
        for seen_by in range(1, len(raters) + 1):
            here = seen == seen_by
            yield rater, seen_by, "", Tally(0, 0, int(np.count_nonzero(here)), 0.0)
            for model in models:
                yield rater, seen_by, model, _tally_of(levels[rater, model], here)


def _tally_of(level: Level, here: Ints) -> Tally:
    """Return the tally of some references: those found, and those missed."""
    columns = level.measurements.columns
    rows = columns["ref_id"] > 0
    order = np.argsort(columns["ref_id"][rows])
    qualities = level.quality[rows][order][here]
    matched = (columns["status"][rows] == "matched")[order][here]
    tp = int(np.count_nonzero(matched))
    tallies = (Tally(1, 0, 0, float(one)) for one in qualities[matched])
    return sum(tallies, Tally(0, 0, len(matched) - tp, 0.0))


def _confirmed(
    levels: Levels, raters: Sequence[str], models: Sequence[str]
) -> Iterator[tuple[str, int, int]]:
    """Yield how many predictions of each model match an object of 0, 1, 2 … raters."""
    for model in models:
        counts: dict[int, int] = {}
        for rater in raters:
            for number, matched in _found_predictions(levels[rater, model]):
                counts[number] = counts.get(number, 0) + matched
        for seen_by in range(len(raters) + 1):
            yield model, seen_by, sum(n == seen_by for n in counts.values())


def _found_predictions(level: Level) -> Iterator[tuple[int, int]]:
    """Yield each prediction once, and 1 if it is matched; dismissed ones are left out (D10)."""
    columns = level.measurements.columns
    found: dict[int, int] = {}
    for text, status in zip(columns["pred_ids"].tolist(), columns["status"].tolist(), strict=True):
        for number in str(text).split():
            found[int(number)] = max(found.get(int(number), 0), int(status == "matched"))
    yield from found.items()


def _row(key: Key, side: str, n_raters: int) -> Row:
    setting, threshold, rater, seen_by, model = key
    about: Row = {**setting.columns, "threshold": threshold, "side": side, "rater": rater}
    return about | {"seen_by": seen_by, "raters": n_raters, "model": model}


def _rater_rows(
    found: Mapping[Key, Tally], raters: Sequence[str], models: Sequence[str]
) -> Iterator[Row]:
    for key in _in_order(found, raters, models):
        tally, model = found[key], key[-1]
        row = _row(key, "reference", len(raters)) | {"objects": tally.tp + tally.fn}
        if model:
            row |= {"tp": tally.tp, "fn": tally.fn, "recall": tally.recall, "sq": tally.sq}
        yield row


def _model_rows(
    found: Mapping[Key, int], raters: Sequence[str], models: Sequence[str]
) -> Iterator[Row]:
    for key in _in_order(found, raters, models):
        yield _row(key, "prediction", len(raters)) | {"objects": found[key]}


def _in_order(
    found: Mapping[Key, object], raters: Sequence[str], models: Sequence[str]
) -> list[Key]:
    """Return the keys by setting as they came, then by rater, model and number of raters."""
    places = {place: i for i, place in enumerate(dict.fromkeys(key[:2] for key in found))}
    who = {name: i for i, name in enumerate((*raters, ALL))}
    what = {name: i for i, name in enumerate(("", *models))}
    return sorted(found, key=lambda key: (places[key[:2]], who[key[2]], what[key[4]], key[3]))
