"""What each kind of mistake costs: PQ after repairs, and the share of every repair in 1 − PQ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from panmatch.errors import CallError, check_choice, check_size
from panmatch.labels import Mask
from panmatch.matching import Matching, Tallies, Tally, match, ratio, to_units
from panmatch.overlap import (
    Belonging,
    Floats,
    Ints,
    Overlap,
    Surroundings,
    cut_merged,
    join_split,
)

Repair = Literal["class", "split", "merged", "missed", "spurious", "outline"]
REPAIRS: tuple[Repair, ...] = ("class", "split", "merged", "missed", "spurious", "outline")
REMATCHED: tuple[Repair, ...] = ("class", "split", "merged")  # after which all is matched again
# Every choice of those, in the order in which a budget holds their tallies.
CHOICES = [frozenset(chosen) for n in range(4) for chosen in combinations(REMATCHED, n)]


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """PQ after repairing mistakes of some kinds; budgets of images add exactly.

    The repairs, in the order in which they are made:

    - ``"class"``: predictions of the wrong class move to that of the object they show, where it is
      known which those are.
    - ``"split"``: predictions that belong to the same reference are joined. A prediction belongs to
      a reference if more than half of it lies there.
    - ``"merged"``: a prediction to which several references belong is cut. What lies in a reference
      becomes a prediction; the rest stays with the one that shares most. After each of these three
      everything is matched again.
    - ``"missed"``: every false negative is found, with quality 1.
    - ``"spurious"``: every false positive is removed.
    - ``"outline"``: every true positive has quality 1.

    After all of them PQ is 1.

    Attributes
    ----------
    tallies
        As it is, and after all choices of the first three repairs, in the order of `CHOICES`.

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
        """Counts and summed IoU as they are."""
        return self.tallies[0]

    @property
    def pq(self) -> float:
        """PQ as it is; NaN if both sides are empty, and so is everything else then."""
        return self.tally.pq

    @property
    def repaired(self) -> dict[Repair, float]:
        """PQ after each repair alone."""
        return _floats(self._gains.repaired)

    @property
    def last(self) -> dict[Repair, float]:
        """What each repair brings when all others are done already."""
        return _floats(self._gains.last)

    @property
    def shares(self) -> dict[Repair, float]:
        """What each repair brings, averaged over all orders of the repairs (Shapley).

        They add up to 1 − PQ. One is negative where a repair does harm, as cutting a prediction can
        under a strategy that lets several references share it.
        """
        return _floats(self._gains.shares)

    def tally_after(self, repairs: Collection[Repair]) -> Tally:
        """Return the tally after some of the repairs after which all is matched again."""
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

    def __add__(self, other: ErrorBudget) -> ErrorBudget:
        if not isinstance(other, ErrorBudget):
            return NotImplemented
        pairs = zip(self.tallies, other.tallies, strict=True)
        return ErrorBudget(tuple(one + another for one, another in pairs))

    def __radd__(self, other: object) -> ErrorBudget:
        return self if other == 0 else NotImplemented  # sum() begins with 0


@dataclass(frozen=True, eq=False)
class RepairGains:
    """What repairs bring, for one budget or for many: the arithmetic behind `ErrorBudget`.

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
        """What each repair brings when all others are done already."""
        every = self.pq_after(REPAIRS)
        return {repair: every - self.pq_after(_without(repair)) for repair in REPAIRS}

    @property
    def shares(self) -> dict[Repair, Floats]:
        """What each repair brings, averaged over all orders of the repairs (Shapley)."""
        return {repair: self._share(repair) for repair in REPAIRS}

    def pq_after(self, repairs: Iterable[Repair]) -> Floats:
        """Return PQ after some repairs; 1 if they leave nothing on either side."""
        return self._after(frozenset(repairs))

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
        return {}

    def _after(self, repairs: frozenset[Repair]) -> Floats:
        if repairs not in self._known:
            self._known[repairs] = self._computed(repairs)
        return self._known[repairs]

    def _computed(self, repairs: frozenset[Repair]) -> Floats:
        place = CHOICES.index(repairs.intersection(REMATCHED))
        tallies = Tallies(self.tallies.counts[..., place, :])
        tp, fp, fn, quality = tallies.tp, tallies.fp, tallies.fn, tallies.quality
        if "missed" in repairs:
            tp, fn, quality = tp + fn, np.zeros_like(fn), quality + fn
        if "spurious" in repairs:
            fp = np.zeros_like(fp)
        if "outline" in repairs:
            quality = tp.astype(np.float64)
        before = Tallies(self.tallies.counts[..., 0, :]).occurs
        return ratio(quality, np.asarray(tp + 0.5 * (fp + fn)), np.where(before, 1.0, np.nan))


def _without(repair: Repair) -> tuple[Repair, ...]:
    return tuple(other for other in REPAIRS if other != repair)


def _floats(values: Mapping[Repair, Floats]) -> dict[Repair, float]:
    return {repair: float(value) for repair, value in values.items()}


def error_budget(matching: Matching, relabelled: Overlap | None = None) -> ErrorBudget:
    """Return what each kind of mistake costs a matching, exactly and from the graph alone.

    Under ``"same-id"`` and ``"union"`` nothing counts as split or merged: the input, or the
    regions, say what belongs together.

    Parameters
    ----------
    matching
        From `match`.
    relabelled
        The overlap of the class after predictions of the wrong class moved to the right one; None
        where all are of the right class, or there is but one.

    Examples
    --------
    >>> import panmatch as pm
    >>> merged = pm.Overlap.from_dense([[9], [5]], ref_sizes=[10, 6], pred_sizes=[15])
    >>> budget = pm.error_budget(pm.match(merged, threshold=0.5))
    >>> {kind: round(pq, 3) for kind, pq in budget.repaired.items() if pq > budget.pq}
    {'merged': 0.826, 'missed': 0.781, 'outline': 0.667}
    """
    _check_matching(matching)
    tallies = _mended(matching, matching.overlap)
    moved = tallies if relabelled is None else _mended(matching, relabelled)
    after = {"class": moved, "": tallies}
    return ErrorBudget(
        tuple(after["class" if "class" in chosen else ""][chosen - {"class"}] for chosen in CHOICES)
    )


def _check_matching(matching: object) -> None:
    if not isinstance(matching, Matching):
        raise CallError(
            f"matching is a {type(matching).__name__}, not a Matching: pass "
            f"match(count_overlaps(reference, prediction), strategy, threshold)."
        )


def _mended(matching: Matching, overlap: Overlap) -> dict[frozenset[Repair], Tally]:
    """Return the tallies of an overlap as it is, with splits joined, merges cut, and both."""
    join, cut = frozenset[Repair](["split"]), frozenset[Repair](["merged"])
    plain = _rematch(matching, overlap)
    found = dict.fromkeys((frozenset[Repair](), join, cut, join | cut), plain)
    if not matching.strategy.takes_repairs:
        return found
    joined = join_split(overlap)
    mended = cut_merged(joined)
    if joined is not overlap:
        found[join] = found[join | cut] = _rematch(matching, joined)
        found[cut] = _rematch(matching, cut_merged(overlap))
    if mended is not joined:
        found[join | cut] = _rematch(matching, mended)
        if joined is overlap:
            found[cut] = found[join | cut]
    return found


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

    Examples
    --------
    >>> import panmatch as pm
    >>> matching = pm.match(pm.count_overlaps([1, 1, 1, 0, 2, 0], [4, 4, 0, 0, 0, 5]))
    >>> worst = pm.find_mistakes(matching)[0]
    >>> worst.kind, worst.ref_ids, round(worst.cost(matching.tally), 3)
    ('missed', (2,), 0.333)
    """

    kind: Repair
    ref_ids: tuple[int, ...]
    pred_ids: tuple[int, ...]
    change: Tally

    def cost(self, tally: Tally) -> float:
        """Return how much PQ would rise in the case, or the cases, with this tally."""
        after = tally + self.change
        return (1.0 if after.status == "empty" else after.pq) - tally.pq


def find_mistakes(matching: Matching, most: int | None = None) -> list[Mistake]:
    """Return the mistakes of a matching, those first that cost most; of equal cost, large objects.

    Where the repair of one object can change what is matched far away (optimal many-to-one and
    one-to-many), everything is matched again for each split and merged object.

    Parameters
    ----------
    matching
        From `match`.
    most
        How many to return; None for all. Of split and merged objects only so many are looked at,
        the largest ones, since each is matched again.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[4, 4, 0], [0, 0, 6]], ref_sizes=[10, 10], pred_sizes=[4, 4, 6])
    >>> matching = pm.match(ov, "one-to-one", threshold=0.5)
    >>> for mistake in pm.find_mistakes(matching, most=2):
    ...     cost = round(mistake.cost(matching.tally), 3)
    ...     print(mistake.kind, mistake.ref_ids, mistake.pred_ids, cost)
    split (1,) (1, 2) 0.46
    missed (1,) () 0.293
    """
    _check_matching(matching)
    if most is not None:
        check_size("most", most, 0)
    tally = matching.tally
    found = [*_shapes(matching, most), *_presence(matching, most), *_outlines(matching, most)]
    places = range(len(found))
    costs = [mistake.cost(tally) for mistake in found]
    return [found[i] for i in sorted(places, key=lambda i: (-costs[i], i))][:most]


def _shapes(matching: Matching, most: int | None) -> Iterator[Mistake]:
    """Yield split references and merged predictions, large ones first."""
    if not matching.strategy.takes_repairs:
        return
    overlap = matching.overlap
    belonging, whole, repair = Belonging.of(overlap), overlap.predictions, _Repairer(matching)
    refs, owners = overlap.edges.ref, belonging.owner
    split = _several(refs, owners, belonging.pred_in_ref)
    for ref, preds in _largest(split, overlap.ref_sizes, most):
        ids = tuple(whole.ids[preds].tolist())
        yield Mistake("split", (int(overlap.ref_ids[ref]),), ids, repair.change(join_split, ref))
    merged = _several(owners, refs, belonging.ref_in_pred)
    for pred, captives in _largest(merged, whole.sizes, most):
        ids = tuple(overlap.ref_ids[captives].tolist())
        yield Mistake("merged", ids, (int(whole.ids[pred]),), repair.change(cut_merged, pred))


def _largest(
    found: Iterable[tuple[int, Ints]], sizes: Ints, most: int | None
) -> list[tuple[int, Ints]]:
    return sorted(found, key=lambda one: -int(sizes[one[0]]))[:most]


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


def _presence(matching: Matching, most: int | None) -> Iterator[Mistake]:
    """Yield missed references and spurious predictions, large ones first."""
    found, removed = Tally(1, 0, -1, 1.0), Tally(0, -1, 0, 0.0)
    overlap, whole = matching.overlap, matching.overlap.predictions
    for ref in _by_size(matching.missed, overlap.ref_ids, overlap.ref_sizes)[:most]:
        yield Mistake("missed", (ref,), (), found)
    for pred in _by_size(matching.false_positives, whole.ids, whole.sizes)[:most]:
        yield Mistake("spurious", (), (pred,), removed)


def _by_size(wanted: Ints, ids: Ints, sizes: Ints) -> list[int]:
    """Return some of the ids, those of large objects first."""
    places = np.flatnonzero(np.isin(ids, wanted))
    ordered: list[int] = ids[places[np.argsort(-sizes[places], kind="stable")]].tolist()
    return ordered


def _outlines(matching: Matching, most: int | None) -> Iterator[Mistake]:
    """Yield matched references that are not perfect, those first that are worst."""
    quality, matched = matching.ref_quality, ~np.isin(matching.overlap.ref_ids, matching.missed)
    places = np.flatnonzero(matched & (quality < 1))
    order = np.lexsort([-matching.overlap.ref_sizes[places], quality[places]])
    places = places[order][:most]
    ids = matching.overlap.ref_ids[places]
    partners: dict[int, list[int]] = {ref: [] for ref in ids.tolist()}
    for ref, pred in matching.pairs[np.isin(matching.pairs[:, 0], ids)].tolist():
        partners[ref].append(pred)
    for ref, value in zip(ids.tolist(), quality[places].tolist(), strict=True):
        lost = Tally.from_units(0, 0, 0, to_units(1.0) - to_units(value))
        yield Mistake("outline", (ref,), tuple(partners[ref]), lost)


def _rematch(matching: Matching, overlap: Overlap) -> Tally:
    """Match another overlap in the same way."""
    if overlap is matching.overlap:
        return matching.tally
    return match(
        overlap, matching.strategy, matching.threshold,
        score=matching.score, strict=matching.strict,
    ).tally  # fmt: skip
