"""What each kind of mistake costs: PQ after repairs, and the share of every repair in 1 − PQ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

from panmatch.errors import check_choice
from panmatch.matching import Matching, Tally, match, to_units
from panmatch.overlap import Overlap, cut_merged, join_split

Repair = Literal["split", "merged", "missed", "spurious", "outline"]
REPAIRS: tuple[Repair, ...] = ("split", "merged", "missed", "spurious", "outline")


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """PQ after repairing mistakes of some kinds; budgets of images add exactly.

    The repairs, in the order in which they are made:

    - ``"split"``: predictions that belong to the same reference are joined. A prediction belongs to
      a reference if more than half of it lies there.
    - ``"merged"``: a prediction to which several references belong is cut. What lies in a reference
      becomes a prediction; the rest stays with the one that shares most. After either repair
      everything is matched again.
    - ``"missed"``: every false negative is found, with quality 1.
    - ``"spurious"``: every false positive is removed.
    - ``"outline"``: every true positive has quality 1.

    After all of them PQ is 1.

    Attributes
    ----------
    tally
        As it is.
    joined, cut, mended
        With splits joined, with merged predictions cut, and with both.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> from panmatch.matching import match
    >>> ov = Overlap.from_dense([[4, 4, 0], [0, 0, 6]], ref_sizes=[10, 10], pred_sizes=[4, 4, 6])
    >>> budget = error_budget(match(ov, "one-to-one", threshold=0.5))
    >>> budget.pq, budget.repaired["split"], round(sum(budget.shares.values()), 12)
    (0.24, 0.7, 0.76)
    """

    tally: Tally
    joined: Tally
    cut: Tally
    mended: Tally

    @property
    def pq(self) -> float:
        """PQ as it is; NaN if both sides are empty, and so is everything else then."""
        return self.tally.pq

    @property
    def repaired(self) -> dict[Repair, float]:
        """PQ after each repair alone."""
        return {repair: self.pq_after([repair]) for repair in REPAIRS}

    @property
    def last(self) -> dict[Repair, float]:
        """What each repair brings when all others are done already."""
        return {
            repair: self.pq_after(REPAIRS)
            - self.pq_after([other for other in REPAIRS if other != repair])
            for repair in REPAIRS
        }

    @property
    def shares(self) -> dict[Repair, float]:
        """What each repair brings, averaged over all orders of the repairs (Shapley).

        They add up to 1 − PQ. One is negative where a repair does harm, as cutting a prediction can
        under a strategy that lets several references share it.
        """
        return {repair: self._share(repair) for repair in REPAIRS}

    def pq_after(self, repairs: Collection[Repair]) -> float:
        """Return PQ after some repairs; 1 if nothing is left on either side."""
        for repair in repairs:
            check_choice("repair", repair, REPAIRS)
        graphs = {
            (False, False): self.tally,
            (True, False): self.joined,
            (False, True): self.cut,
            (True, True): self.mended,
        }
        tally = graphs["split" in repairs, "merged" in repairs]
        tp, fp, fn, units = tally.tp, tally.fp, tally.fn, tally.units
        if "missed" in repairs:
            tp, fn, units = tp + fn, 0, units + to_units(float(fn))
        if "spurious" in repairs:
            fp = 0
        if "outline" in repairs:
            units = to_units(float(tp))
        after = Tally.from_units(tp, fp, fn, units)
        return 1.0 if after.status == "empty" and tally.status == "ok" else after.pq

    def __add__(self, other: ErrorBudget) -> ErrorBudget:
        if not isinstance(other, ErrorBudget):
            return NotImplemented
        return ErrorBudget(
            self.tally + other.tally,
            self.joined + other.joined,
            self.cut + other.cut,
            self.mended + other.mended,
        )

    def __radd__(self, other: object) -> ErrorBudget:
        return self if other == 0 else NotImplemented  # sum() begins with 0

    def _share(self, repair: Repair) -> float:
        others = [other for other in REPAIRS if other != repair]
        gain = 0.0
        for size in range(len(REPAIRS)):
            weight = 1 / (len(REPAIRS) * comb(len(others), size))
            for before in combinations(others, size):
                gain += weight * (self.pq_after([*before, repair]) - self.pq_after(before))
        return gain


def error_budget(matching: Matching) -> ErrorBudget:
    """Return what each kind of mistake costs a matching, exactly and from the graph alone.

    Under ``"same-id"`` and ``"union"`` nothing counts as split or merged: the input, or the
    regions, say what belongs together.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> from panmatch.matching import match
    >>> merged = Overlap.from_dense([[9], [5]], ref_sizes=[10, 6], pred_sizes=[15])
    >>> budget = error_budget(match(merged, threshold=0.5))
    >>> {kind: round(pq, 3) for kind, pq in budget.repaired.items()}
    {'split': 0.375, 'merged': 0.826, 'missed': 0.781, 'spurious': 0.375, 'outline': 0.667}
    """
    tally, overlap = matching.tally, matching.overlap
    if not matching.strategy.takes_repairs:
        return ErrorBudget(tally, tally, tally, tally)
    joined, cut = join_split(overlap), cut_merged(overlap)
    mended = cut_merged(joined)

    def rematch(repaired: Overlap) -> Tally:
        if repaired is overlap:
            return tally
        return match(
            repaired, matching.strategy, matching.threshold,
            score=matching.score, strict=matching.strict,
        ).tally  # fmt: skip

    if joined is overlap:
        of_cut = rematch(cut)
        return ErrorBudget(tally, tally, of_cut, of_cut)
    of_joined = rematch(joined)
    of_mended = of_joined if mended is joined else rematch(mended)
    return ErrorBudget(tally, of_joined, rematch(cut), of_mended)
