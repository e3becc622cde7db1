"""What each kind of mistake costs: PQ after each repair, and its share of 1 − PQ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from panmatch._html import block, number, table
from panmatch.errors import CallError, check_choice
from panmatch.matching import (
    Matching,
    Tallies,
    Tally,
    match,
    ratio,
)
from panmatch.overlap import (
    Floats,
    Ints,
    Overlap,
    check_disjoint,
    cut_merged,
    join_split,
)

Repair = Literal["class", "split", "merged", "missed", "spurious", "outline"]
REPAIRS: tuple[Repair, ...] = ("class", "split", "merged", "missed", "spurious", "outline")
REMATCHED: tuple[Repair, ...] = ("class", "split", "merged")  # after which all is matched again
# Every choice of those, in the order in which a budget holds their tallies.
CHOICES = [frozenset(chosen) for n in range(4) for chosen in combinations(REMATCHED, n)]
_DIRECT = [frozenset(chosen) for n in range(4) for chosen in combinations(REPAIRS[3:], n)]


@dataclass(frozen=True, slots=True)
class LossLook:
    """How the loss to one kind of mistake is named and drawn.

    Attributes
    ----------
    title
        In a chart or a table.
    colour
        As ``"#RRGGBB"``; dark text is readable on it.
    pattern
        As plotly spells it, so that neighbours also differ in print; ``""`` for none.
    """

    title: str
    colour: str
    pattern: str


LOSS_LOOKS: dict[Repair, LossLook] = {
    "class": LossLook("wrong classes", "#b8b8b8", "-"),
    "split": LossLook("splits", "#E69F00", "."),
    "merged": LossLook("merges", "#009E73", "x"),
    "missed": LossLook("missed objects", "#CC79A7", "/"),
    "spurious": LossLook("spurious objects", "#e8904f", "\\"),
    "outline": LossLook("outlines", "#56B4E9", ""),
}


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """PQ after repairing mistakes of some kinds; budgets of images add exactly.

    The repairs, in the order in which they are made:

    - ``"class"``: predictions of the wrong class move to the class of the object they show, where
      that is known.
    - ``"split"``: predictions that belong to the same reference are joined. A prediction belongs to
      a reference if more than half of it lies there.
    - ``"merged"``: a prediction that several references belong to is cut. The part inside each
      reference becomes a prediction; the rest stays with the one that shares most. After each of
      these three repairs, everything is matched again.
    - ``"missed"``: every false negative is found, with quality 1.
    - ``"spurious"``: every false positive is removed.
    - ``"outline"``: every true positive has quality 1.

    After all of them PQ is 1.

    Attributes
    ----------
    tallies
        The tally without repairs, and after every combination of the first three repairs, in the
        order of `CHOICES`.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[4, 4, 0], [0, 0, 6]], ref_sizes=[10, 10], pred_sizes=[4, 4, 6])
    >>> budget = pm.error_budget(pm.match(ov, "one-to-one", threshold=0.5))
    >>> budget.pq, budget.repaired["split"], round(sum(budget.shares.values()), 12)
    (0.24, 0.7, 0.76)
    """

    tallies: tuple[Tally, ...]

    @property
    def tally(self) -> Tally:
        """Counts and summed IoU without any repair."""
        return self.tallies[0]

    @property
    def pq(self) -> float:
        """PQ without any repair; if both sides are empty, it is NaN, and so is everything else."""
        return self.tally.pq

    @property
    def repaired(self) -> dict[Repair, float]:
        """PQ after each repair alone."""
        return _floats(self._gains.repaired)

    @property
    def last(self) -> dict[Repair, float]:
        """How much each repair gains when all others are done already."""
        return _floats(self._gains.last)

    @property
    def shares(self) -> dict[Repair, float]:
        """How much each repair gains, averaged over all orders of the repairs (Shapley).

        The shares add up to 1 − PQ. A share is negative if the repair does harm. Cutting a
        prediction can do that under a strategy that lets several references share it.
        """
        return _floats(self._gains.shares)

    def tally_after(self, repairs: Collection[Repair]) -> Tally:
        """Return the tally after some of the repairs that require matching again."""
        for repair in repairs:
            check_choice("repair", repair, REMATCHED)
        return self.tallies[CHOICES.index(frozenset(repairs))]

    def pq_after(self, repairs: Collection[Repair]) -> float:
        """Return PQ after some repairs; 1 if they leave nothing on either side."""
        for repair in repairs:
            check_choice("repair", repair, REPAIRS)
        return float(self._gains.pq_after(repairs))

    @property
    def _gains(self) -> RepairGains:
        return RepairGains(Tallies.of(self.tallies))

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{kind} {share:.4f}" for kind, share in self.shares.items() if abs(share) > 0
        )
        return f"ErrorBudget(PQ={self.pq:.4f}{f', lost to {shares}' if shares else ''})"

    def _repr_html_(self) -> str:
        """Show what each kind of mistake costs in a notebook."""
        shares = self.shares
        rows = [[kind, number(pq), number(shares[kind])] for kind, pq in self.repaired.items()]
        head = ["repair", "PQ after it alone", "share of 1 − PQ"]
        return block(f"Error budget: PQ {number(self.pq)}", table(head, rows))

    def __add__(self, other: ErrorBudget) -> ErrorBudget:
        if not isinstance(other, ErrorBudget):
            return NotImplemented
        pairs = zip(self.tallies, other.tallies, strict=True)
        return ErrorBudget(tuple(one + another for one, another in pairs))

    def __radd__(self, other: object) -> ErrorBudget:
        return self if other == 0 else NotImplemented  # sum() starts with 0


@dataclass(frozen=True, eq=False)
class RepairGains:
    """How much repairs gain, for one budget or for many: the arithmetic behind `ErrorBudget`.

    Attributes
    ----------
    tallies
        Shape (…, 8): those of each budget.
    """

    tallies: Tallies

    @property
    def repaired(self) -> dict[Repair, Floats]:
        """PQ after each repair alone."""
        return {repair: self.pq_after([repair]) for repair in REPAIRS}

    @property
    def last(self) -> dict[Repair, Floats]:
        """How much each repair gains when all others are done already."""
        every = self.pq_after(REPAIRS)
        return {repair: every - self.pq_after(_without(repair)) for repair in REPAIRS}

    @property
    def shares(self) -> dict[Repair, Floats]:
        """How much each repair gains, averaged over all orders of the repairs (Shapley)."""
        return {repair: self._share(repair) for repair in REPAIRS}

    def pq_after(self, repairs: Iterable[Repair]) -> Floats:
        """Return PQ after some repairs; 1 if they leave nothing on either side."""
        return self._known[frozenset(repairs)]

    def _share(self, repair: Repair) -> Floats:
        others = _without(repair)
        gain = np.zeros(self.tallies.counts.shape[:-2])
        for size in range(len(REPAIRS)):
            weight = 1 / (len(REPAIRS) * comb(len(others), size))
            for before in combinations(others, size):
                gain += weight * (self.pq_after([*before, repair]) - self.pq_after(before))
        return gain

    @cached_property
    def _known(self) -> dict[frozenset[Repair], Floats]:
        return {
            chosen | direct: values[..., place]
            for direct, values in ((direct, self._computed(direct)) for direct in _DIRECT)
            for place, chosen in enumerate(CHOICES)
        }

    def _computed(self, repairs: frozenset[Repair]) -> Floats:
        """Return PQ after some repairs that need no new matching, for all `CHOICES` at once."""
        tp, fp, fn, quality = self._counts
        if "missed" in repairs:
            tp, fn, quality = tp + fn, np.zeros_like(fn), quality + fn
        if "spurious" in repairs:
            fp = np.zeros_like(fp)
        if "outline" in repairs:
            quality = tp.astype(np.float64)
        before = self.tallies.occurs[..., :1]
        return ratio(quality, np.asarray(tp + 0.5 * (fp + fn)), np.where(before, 1.0, np.nan))

    @cached_property
    def _counts(self) -> tuple[Ints, Ints, Ints, Floats]:
        return self.tallies.tp, self.tallies.fp, self.tallies.fn, self.tallies.quality


def _without(repair: Repair) -> tuple[Repair, ...]:
    return tuple(other for other in REPAIRS if other != repair)


def _floats(values: Mapping[Repair, Floats]) -> dict[Repair, float]:
    return {repair: float(value) for repair, value in values.items()}


def error_budget(matching: Matching, relabelled: Overlap | None = None) -> ErrorBudget:
    """Return what each kind of mistake costs a matching, exactly and from the graph alone.

    Under ``"same-id"`` and ``"union"`` nothing counts as split or merged: the ids, or the regions,
    already say which objects belong together.

    Parameters
    ----------
    matching
        From `match`.
    relabelled
        The overlap of the class after predictions of the wrong class moved to the right one; None
        if all have the right class, or there is only one class.

    Examples
    --------
    >>> import panmatch as pm
    >>> merged = pm.Overlap.from_dense([[9], [5]], ref_sizes=[10, 6], pred_sizes=[15])
    >>> budget = pm.error_budget(pm.match(merged, threshold=0.5))
    >>> {kind: round(pq, 3) for kind, pq in budget.repaired.items() if pq > budget.pq}
    {'merged': 0.826, 'missed': 0.781, 'outline': 0.667}
    """
    check_matching(matching)
    return budget_after_repairs(
        matching,
        RepairedOverlaps(matching.overlap),
        None if relabelled is None else RepairedOverlaps(relabelled),
    )


class RepairedOverlaps:
    """An overlap as it is, with splits joined, merges cut, and both.

    They do not depend on the strategy or the threshold, so budgets of one overlap can share them.

    Parameters
    ----------
    overlap
        Overlap of objects that share no voxels.
    """

    def __init__(self, overlap: Overlap) -> None:
        check_disjoint(overlap, "An error budget")
        self.overlap = overlap

    @cached_property
    def joined(self) -> Overlap:
        """With splits joined; the same overlap if there are none."""
        return join_split(self.overlap)

    @cached_property
    def cut(self) -> Overlap:
        """With merges cut; the same overlap if there are none."""
        return cut_merged(self.overlap)

    @cached_property
    def repaired(self) -> Overlap:
        """With splits joined, then merges cut."""
        return cut_merged(self.joined)

    @property
    def nothing_to_repair(self) -> bool:
        """Whether nothing is split or merged."""
        return self.repaired is self.overlap


def budget_after_repairs(
    matching: Matching, repaired: RepairedOverlaps, relabelled: RepairedOverlaps | None = None
) -> ErrorBudget:
    """Return the error budget of a matching, given its overlap after repairs."""
    if relabelled is None and (not matching.strategy.takes_repairs or repaired.nothing_to_repair):
        return ErrorBudget((rematch(matching, repaired.overlap),) * len(CHOICES))
    tallies = _repaired_tallies(matching, repaired)
    moved = tallies if relabelled is None else _repaired_tallies(matching, relabelled)
    after = {"class": moved, "": tallies}
    return ErrorBudget(
        tuple(after["class" if "class" in chosen else ""][chosen - {"class"}] for chosen in CHOICES)
    )


def check_matching(matching: object) -> None:
    """Raise a `CallError` for anything that is not a matching."""
    if not isinstance(matching, Matching):
        raise CallError(
            f"matching is a {type(matching).__name__}, not a Matching: pass "
            f"match(count_overlaps(reference, prediction), strategy, threshold)."
        )


def _repaired_tallies(
    matching: Matching, overlaps: RepairedOverlaps
) -> dict[frozenset[Repair], Tally]:
    """Return the tallies of an overlap as it is, with splits joined, merges cut, and both."""
    join, cut = frozenset[Repair](["split"]), frozenset[Repair](["merged"])
    plain = rematch(matching, overlaps.overlap)
    found = dict.fromkeys((frozenset[Repair](), join, cut, join | cut), plain)
    if not matching.strategy.takes_repairs:
        return found
    joined, repaired = overlaps.joined, overlaps.repaired
    if joined is not overlaps.overlap:
        found[join] = found[join | cut] = rematch(matching, joined)
        found[cut] = rematch(matching, overlaps.cut)
    if repaired is not joined:
        found[join | cut] = rematch(matching, repaired)
        if joined is overlaps.overlap:
            found[cut] = found[join | cut]
    return found


def rematch(matching: Matching, overlap: Overlap) -> Tally:
    """Match another overlap in the same way."""
    if overlap is matching.overlap:
        return matching.tally
    strategy = matching.strategy.suited_to(overlap)  # repairs lose parts
    return match(
        overlap, strategy, matching.threshold,
        score=matching.score, strict=matching.strict,
    ).tally  # fmt: skip
