"""What each kind of mistake costs: PQ after repairs, and the share of every repair in 1 − PQ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from panmatch.errors import check_choice
from panmatch.labels import Mask
from panmatch.matching import Matching, Tally, match, to_units
from panmatch.overlap import Belonging, Ints, Overlap, Surroundings, cut_merged, join_split

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
    if joined is overlap:
        of_cut = _rematch(matching, cut)
        return ErrorBudget(tally, tally, of_cut, of_cut)
    of_joined = _rematch(matching, joined)
    of_mended = of_joined if mended is joined else _rematch(matching, mended)
    return ErrorBudget(tally, of_joined, _rematch(matching, cut), of_mended)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One object, or a few that are wrong together, and what it would bring to repair them alone.

    Attributes
    ----------
    kind
        As for `ErrorBudget`.
    ref_ids, pred_ids
        What is concerned: a split reference and its predictions, a merged prediction and its
        references, a missed reference, a spurious prediction, or a matched reference and its
        predictions, whose outline is not perfect.
    change
        What a tally gains by the repair; add it to that of a case, or of many.
    """

    kind: Repair
    ref_ids: tuple[int, ...]
    pred_ids: tuple[int, ...]
    change: Tally

    def cost(self, tally: Tally) -> float:
        """Return how much PQ would rise in the case, or the cases, with this tally."""
        after = tally + self.change
        return (1.0 if after.status == "empty" else after.pq) - tally.pq


def find_mistakes(matching: Matching) -> list[Mistake]:
    """Return all mistakes of a matching, those first that cost most.

    Where the repair of one object can change what is matched far away (optimal many-to-one and
    one-to-many), everything is matched again for each split and merged object.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> from panmatch.matching import match
    >>> ov = Overlap.from_dense([[4, 4, 0], [0, 0, 6]], ref_sizes=[10, 10], pred_sizes=[4, 4, 6])
    >>> matching = match(ov, "one-to-one", threshold=0.5)
    >>> for mistake in find_mistakes(matching)[:2]:
    ...     cost = round(mistake.cost(matching.tally), 3)
    ...     print(mistake.kind, mistake.ref_ids, mistake.pred_ids, cost)
    split (1,) (1, 2) 0.46
    missed (1,) () 0.293
    """
    tally = matching.tally
    found = [*_shapes(matching), *_presence(matching), *_outlines(matching)]
    places = range(len(found))
    costs = [mistake.cost(tally) for mistake in found]
    return [found[i] for i in sorted(places, key=lambda i: (-costs[i], i))]


def _shapes(matching: Matching) -> Iterator[Mistake]:
    """Yield split references and merged predictions."""
    if not matching.strategy.takes_repairs:
        return
    overlap = matching.overlap
    belonging, whole, repair = Belonging.of(overlap), overlap.predictions, _Repairer(matching)
    refs, owners = overlap.edges.ref, belonging.owner
    for ref, preds in _several(refs, owners, belonging.pred_in_ref):
        ids = tuple(whole.ids[preds].tolist())
        yield Mistake("split", (int(overlap.ref_ids[ref]),), ids, repair.change(join_split, ref))
    for pred, captives in _several(owners, refs, belonging.ref_in_pred):
        ids = tuple(overlap.ref_ids[captives].tolist())
        yield Mistake("merged", ids, (int(whole.ids[pred]),), repair.change(cut_merged, pred))


def _several(hosts: Ints, guests: Ints, related: Mask) -> Iterator[tuple[int, Ints]]:
    """Yield each host that has several guests, and these."""
    edges = np.flatnonzero(related)
    edges = edges[np.argsort(hosts[edges], kind="stable")]
    found, first, counts = np.unique(hosts[edges], return_index=True, return_counts=True)
    for host, start, n in zip(found.tolist(), first.tolist(), counts.tolist(), strict=True):
        if n > 1:
            yield host, guests[edges[start : start + n]]


class _Repairer:
    """Somebody who repairs one object, and matches again what that can change."""

    def __init__(self, matching: Matching) -> None:
        overlap = matching.overlap
        local = matching.strategy.is_local(overlap, matching.threshold)
        self._matching, self._surroundings = matching, Surroundings(overlap) if local else None

    def change(self, repair: Callable[[Overlap, Ints], Overlap], position: int) -> Tally:
        if self._surroundings is None:
            before, part = self._matching.tally, self._matching.overlap
        else:
            around = self._surroundings
            look = around.of_ref if repair is join_split else around.of_pred
            part, position = look(position)
            before = _rematch(self._matching, part)
        after = _rematch(self._matching, repair(part, np.array([position])))
        return Tally.from_units(
            after.tp - before.tp, after.fp - before.fp, after.fn - before.fn,
            after.units - before.units,
        )  # fmt: skip


def _presence(matching: Matching) -> Iterator[Mistake]:
    found, removed = Tally(1, 0, -1, 1.0), Tally(0, -1, 0, 0.0)
    for ref in matching.missed.tolist():
        yield Mistake("missed", (ref,), (), found)
    for pred in matching.false_positives.tolist():
        yield Mistake("spurious", (), (pred,), removed)


def _outlines(matching: Matching) -> Iterator[Mistake]:
    partners: dict[int, list[int]] = {}
    for ref, pred in matching.pairs.tolist():
        partners.setdefault(ref, []).append(pred)
    for ref, quality in zip(
        matching.overlap.ref_ids.tolist(), matching.ref_quality.tolist(), strict=True
    ):
        if ref in partners and quality < 1:
            lost = Tally.from_units(0, 0, 0, to_units(1.0) - to_units(quality))
            yield Mistake("outline", (ref,), tuple(partners[ref]), lost)


def _rematch(matching: Matching, overlap: Overlap) -> Tally:
    """Match another overlap in the same way."""
    if overlap is matching.overlap:
        return matching.tally
    return match(
        overlap, matching.strategy, matching.threshold,
        score=matching.score, strict=matching.strict,
    ).tally  # fmt: skip
