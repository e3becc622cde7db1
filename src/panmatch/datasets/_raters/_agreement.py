"""Objects by how many raters saw them, and what models found of them (D18)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from panmatch.evaluation import Findings, Level, Row, Setting
from panmatch.matching import Tally
from panmatch.overlap import Ints

ALL = "all"  # raters together

Place = tuple[Setting, float]  # a setting at a threshold
Pair = tuple[str, str]  # a rater, and a model or other rater
Levels = dict[Pair, Level]


class AgreementKey(NamedTuple):
    """Objects that are counted together."""

    setting: Setting
    threshold: float
    rater: str  # whose objects they are, or `ALL`
    seen_by: int  # how many raters saw them
    model: str  # what looked for them; empty for the objects alone


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Objects by how many raters saw them (D18).

    Attributes
    ----------
    raters, models
        In the order of tables.
    references
        Objects of raters: found and missed by each model. Without a model, all are missed.
    predictions
        How many predictions of each model match an object of 0, 1, 2 … raters.
    """

    raters: tuple[str, ...]
    models: tuple[str, ...]
    references: Mapping[AgreementKey, Tally]
    predictions: Mapping[AgreementKey, int]

    @classmethod
    def of(
        cls,
        cases: Iterable[tuple[str, Mapping[Pair, Findings]]],
        raters: tuple[str, ...],
        models: tuple[str, ...],
    ) -> Agreement:
        """Count the objects of all cases."""
        references: dict[AgreementKey, Tally] = {}
        predictions: dict[AgreementKey, int] = {}
        for _, findings in cases:
            for (setting, threshold), levels in _levels(findings).items():
                if len(levels) < len(findings):
                    continue
                for rater, seen_by, model, tally in _seen(levels, raters, models):
                    for who in (rater, ALL):
                        key = AgreementKey(setting, threshold, who, seen_by, model)
                        references[key] = references.get(key, Tally(0, 0, 0, 0.0)) + tally
                for model, seen_by, n in _confirmed(levels, raters, models):
                    key = AgreementKey(setting, threshold, ALL, seen_by, model)
                    predictions[key] = predictions.get(key, 0) + n
        return cls(raters, models, references, predictions)

    def recall(
        self, setting: Setting, threshold: float, model: str, rater: str = ALL
    ) -> dict[int, Tally]:
        """Return the objects of a rater, or of all, by how many saw them."""
        keys = (
            AgreementKey(setting, threshold, rater, seen_by, model)
            for seen_by in range(1, len(self.raters) + 1)
        )
        return {key.seen_by: self.references[key] for key in keys if key in self.references}

    def rows(self) -> list[Row]:
        """Return rows of objects of raters, then rows of predictions of models."""
        rows = []
        for key in self._in_order(self.references):
            tally = self.references[key]
            row = self._row(key, "reference") | {"objects": tally.tp + tally.fn}
            if key.model:
                row |= {"tp": tally.tp, "fn": tally.fn, "recall": tally.recall, "sq": tally.sq}
            rows.append(row)
        for key in self._in_order(self.predictions):
            rows.append(self._row(key, "prediction") | {"objects": self.predictions[key]})
        return rows

    def _row(self, key: AgreementKey, side: str) -> Row:
        about: Row = {**key.setting.columns, "threshold": key.threshold, "side": side}
        return about | {"rater": key.rater, "seen_by": key.seen_by, "raters": len(self.raters),
                        "model": key.model}  # fmt: skip

    def _in_order(self, found: Iterable[AgreementKey]) -> list[AgreementKey]:
        """Return the keys by setting as they came, then by rater, model and number of raters."""
        given = list(found)
        places = {key: i for i, key in enumerate(dict.fromkeys(one[:2] for one in given))}
        who = {name: i for i, name in enumerate((*self.raters, ALL))}
        what = {name: i for i, name in enumerate(("", *self.models))}
        return sorted(
            given,
            key=lambda one: (places[one[:2]], who[one.rater], what[one.model], one.seen_by),
        )


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
