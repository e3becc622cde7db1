"""Bounds of PQ over all ways to choose a rater per object, for every class and model (D18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from panmatch.evaluation import Findings, Row
from panmatch.overlap import Overlap
from panmatch.scoring import ChoiceBounds, ReferenceChoices, align_raters, choose_references

# Who can be chosen where some raters drew nothing.
CHOOSABLE = {"any rater": True, "raters who drew it": False}

ClassOverlaps = dict[tuple[str, str], Overlap]  # by rater, and by model or other rater


@dataclass(frozen=True, slots=True)
class ChoiceKey:
    """What bounds are about."""

    class_name: str
    kind: str
    threshold: float
    model: str
    chosen: str  # one of `CHOOSABLE`


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceTable:
    """All ways to choose a rater per object, pooled over cases.

    Attributes
    ----------
    choices
        By class, threshold, model, and who can be chosen.
    skipped
        How many cases were left out, by class: their overlaps were not kept, or contain void or
        crowd, which change IoU from one rater to the next.
    """

    choices: Mapping[ChoiceKey, ReferenceChoices]
    skipped: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        cases: Iterable[tuple[str, Mapping[tuple[str, str], Findings]]],
        raters: Sequence[str],
        models: Sequence[str],
        thresholds: Sequence[float],
    ) -> ChoiceTable:
        """Collect the choices of all cases."""
        found: dict[ChoiceKey, ReferenceChoices] = {}
        skipped: dict[str, int] = {}
        for _, findings in cases:
            for (name, kind), overlaps in _by_class(findings).items():
                complete = len(overlaps) == len(findings)
                if not complete or any(not one.ignores_nothing for one in overlaps.values()):
                    skipped[name] = skipped.get(name, 0) + 1
                    continue
                for threshold in thresholds:
                    here = _of_class(overlaps, raters, models, threshold)
                    for (model, chosen), choices in here.items():
                        key = ChoiceKey(name, kind, threshold, model, chosen)
                        found[key] = found.get(key, ReferenceChoices()) + choices
        return cls(found, skipped)

    def bounds(self) -> dict[ChoiceKey, ChoiceBounds]:
        """Return the bounds of pooled PQ."""
        return {key: choices.bounds() for key, choices in self.choices.items()}


def _by_class(
    findings: Mapping[tuple[str, str], Findings],
) -> dict[tuple[str, str], ClassOverlaps]:
    found: dict[tuple[str, str], ClassOverlaps] = {}
    for pair, of_pair in findings.items():
        for one in of_pair.overlaps:
            found.setdefault((one.class_name, one.kind), {})[pair] = one.overlap
    return found


def _of_class(
    overlaps: ClassOverlaps, raters: Sequence[str], models: Sequence[str], threshold: float
) -> dict[tuple[str, str], ReferenceChoices]:
    between = {pair: overlaps[pair] for pair in combinations(raters, 2)}
    groups = align_raters(between, threshold)
    return {
        (model, chosen): choose_references(
            groups, {rater: overlaps[rater, model] for rater in raters}, threshold, absent=absent
        )
        for model in models
        for chosen, absent in CHOOSABLE.items()
    }


def choice_rows(table: ChoiceTable, cases: Sequence[str]) -> list[Row]:
    """Return the bounds as rows of a table."""
    rows: list[Row] = []
    for key, bounds in table.bounds().items():
        choices, skipped = table.choices[key], table.skipped.get(key.class_name, 0)
        rows.append(
            {
                "model": key.model,
                "class": key.class_name,
                "kind": key.kind,
                "strategy": "one-to-one",
                "threshold": key.threshold,
                "measure": "pq",
                "averaging": "pooled",
                "chosen": key.chosen,
                "lower": bounds.lower.pq,
                "upper": bounds.upper.pq,
                "proven_lower": bounds.proven_lower,
                "proven_upper": bounds.proven_upper,
                "exact": "yes" if bounds.is_exact else "no",
                "groups": choices.n_groups,
                "consistent_groups": choices.n_consistent,
                "cases": len(cases) - skipped,
                "skipped": skipped,
            }
        )
    return rows
