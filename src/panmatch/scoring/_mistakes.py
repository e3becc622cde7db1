"""Single mistakes, and how much PQ would gain from repairing each of them alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from panmatch.errors import check_size
from panmatch.labels import Mask
from panmatch.matching import Matching, Tally, limbs_to_units, to_limbs, to_units
from panmatch.overlap import Belonging, Ints, Overlap, Surroundings, cut_merged, join_split
from panmatch.scoring._error_budget import Repair, check_matching, rematch


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake, of one object or a few, and what repairing it alone would gain.

    Attributes
    ----------
    kind
        As for `ErrorBudget`.
    ref_ids, pred_ids
        The objects concerned: a split reference and its predictions, a merged prediction and its
        references, a missed reference, a spurious prediction, or a matched reference and its
        predictions, whose outline is not perfect.
    change
        How the repair changes the tally; add it to the tally of a case, or of many.

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
        return self._repaired_pq(tally) - tally.pq

    def _repaired_pq(self, tally: Tally) -> float:
        """Return the PQ of these cases with this mistake repaired; 1 if nothing is left in them."""
        after = tally + self.change
        return 1.0 if after.status == "empty" else after.pq


def find_mistakes(matching: Matching, most: int | None = None) -> list[Mistake]:
    """Return the mistakes of a matching, the costliest first; ties go to larger objects.

    If repairing one object can change matches far away (optimal many-to-one and one-to-many),
    everything is matched again for each split or merged object.

    Parameters
    ----------
    matching
        From `match`.
    most
        How many to return; None for all. Only this many split and merged objects are examined, the
        largest ones, since each of them requires matching again.

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
    check_matching(matching)
    if most is not None:
        check_size("most", most, 0)
    tally = matching.tally
    found = [*_shapes(matching, most), *_presence(matching, most), *_outlines(matching, most)]
    before = tally.pq
    return sorted(found, key=lambda mistake: before - mistake._repaired_pq(tally))[:most]


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
    """Yield each host that has several guests, together with its guests."""
    edges = np.flatnonzero(related)
    if np.bincount(hosts[edges], minlength=1).max() < 2:
        return
    edges = edges[np.argsort(hosts[edges], kind="stable")]
    found, first, counts = np.unique(hosts[edges], return_index=True, return_counts=True)
    for host, start, n in zip(found.tolist(), first.tolist(), counts.tolist(), strict=True):
        if n > 1:
            yield host, guests[edges[start : start + n]]


class _Repairer:
    """Repairs one object, and matches again what that can change."""

    def __init__(self, matching: Matching) -> None:
        self._matching = matching

    @cached_property
    def _surroundings(self) -> Surroundings | None:
        overlap = self._matching.overlap
        local = self._matching.strategy.is_local(overlap, self._matching.threshold)
        return Surroundings(overlap) if local else None

    def change(self, repair: Callable[[Overlap, Ints], Overlap], position: int) -> Tally:
        if self._surroundings is None:
            before, part = self._matching.tally, self._matching.overlap
        else:
            around = self._surroundings
            look = around.of_ref if repair is join_split else around.of_pred
            part, position = look(position)
            before = rematch(self._matching, part)
        after = rematch(self._matching, repair(part, np.array([position])))
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
    """Return some of the ids, large objects first."""
    if not len(wanted):
        return []
    places = np.searchsorted(ids, wanted)  # both rise
    ordered: list[int] = ids[places[np.argsort(-sizes[places], kind="stable")]].tolist()
    return ordered


def _outlines(matching: Matching, most: int | None) -> Iterator[Mistake]:
    """Yield matched references that are not perfect, the worst first."""
    overlap, quality = matching.overlap, matching.ref_quality
    matched = np.zeros(len(overlap.ref_ids), np.bool_)
    matched[overlap.edges.ref[matching.edges]] = True
    places = np.flatnonzero(matched & (quality < 1))
    order = np.lexsort([-overlap.ref_sizes[places], quality[places]])
    places = places[order][:most]
    ids = overlap.ref_ids[places]
    partners: dict[int, list[int]] = {ref: [] for ref in ids.tolist()}
    pairs = matching.pairs
    for ref, pred in pairs.tolist():
        if ref in partners:
            partners[ref].append(pred)
    perfect, units = to_units(1.0), map(limbs_to_units, to_limbs(quality[places]))
    for ref, known in zip(ids.tolist(), units, strict=True):
        lost = Tally.from_units(0, 0, 0, perfect - known)
        yield Mistake("outline", (ref,), tuple(partners[ref]), lost)
