"""Which objects of several raters are the same object (D18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from panmatch.errors import OptionError
from panmatch.matching import OneToOne, match
from panmatch.overlap import Overlap

RaterObject = tuple[str, int]  # a rater, and the id of an object


@dataclass(frozen=True, slots=True)
class ObjectGroup:
    """Objects of several raters that one-to-one matching links, directly or through others (D18).

    Attributes
    ----------
    ids
        The ids of the objects in the group by rater; empty for raters who drew nothing there.
    is_consistent
        Whether no rater has two objects in the group, and every two objects are partners.
    """

    ids: Mapping[str, tuple[int, ...]]
    is_consistent: bool

    @property
    def n_raters(self) -> int:
        """How many raters drew something in the group."""
        return sum(bool(ids) for ids in self.ids.values())


def align_raters(
    overlaps: Mapping[tuple[str, str], Overlap], threshold: float
) -> tuple[ObjectGroup, ...]:
    """Group the objects of several raters by one-to-one matching at a threshold.

    Parameters
    ----------
    overlaps
        The overlap of every two raters, by their names; the first of them plays the reference.
    threshold
        Objects are partners only if their IoU is above it.

    Returns
    -------
    tuple of ObjectGroup
        In the order of raters and ids. An object without a partner is a group of its own.

    Examples
    --------
    >>> from panmatch.overlap import count_overlaps
    >>> ann, bob, eve = [1, 1, 1, 0, 0], [4, 4, 4, 4, 0], [0, 0, 0, 0, 7]
    >>> pairs = {("ann", "bob"): (ann, bob), ("ann", "eve"): (ann, eve), ("bob", "eve"): (bob, eve)}
    >>> groups = align_raters({who: count_overlaps(*two) for who, two in pairs.items()}, 0.5)
    >>> [dict(group.ids) for group in groups]
    [{'ann': (1,), 'bob': (4,), 'eve': ()}, {'ann': (), 'bob': (), 'eve': (7,)}]
    """
    raters = tuple(dict.fromkeys(name for pair in overlaps for name in pair))
    if missing := [pair for pair in combinations(raters, 2) if pair not in overlaps]:
        raise OptionError(
            f"overlaps has no {missing[0]!r}: pass the overlap of every two raters, in one order."
        )
    objects = _objects_of(overlaps, raters)
    place = {one: i for i, one in enumerate(objects)}
    links = [
        (place[first, int(ref)], place[second, int(pred)])
        for (first, second), overlap in overlaps.items()
        for ref, pred in match(overlap, OneToOne(), threshold).pairs
    ]
    group_of = joined(len(objects), links)
    members: dict[int, list[RaterObject]] = {}
    for one, group in zip(objects, group_of, strict=True):
        members.setdefault(group, []).append(one)
    linked = np.bincount([group_of[i] for i, _ in links], minlength=len(members))
    return tuple(_group(raters, inside, int(linked[group])) for group, inside in members.items())


def joined(n: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """Return the number of the connected component of each of n vertices.

    Examples
    --------
    >>> joined(4, [(0, 2), (2, 3)])
    [0, 1, 0, 0]
    """
    ends = np.array(list(links), np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return [int(one) for one in connected_components(graph, directed=False)[1]] if n else []


def _objects_of(
    overlaps: Mapping[tuple[str, str], Overlap], raters: tuple[str, ...]
) -> list[RaterObject]:
    ids: dict[str, list[int]] = {}
    for (first, second), overlap in overlaps.items():
        ids.setdefault(first, overlap.ref_ids.tolist())
        ids.setdefault(second, overlap.pred_ids.tolist())
    return [(rater, number) for rater in raters for number in ids[rater]]


def _group(raters: tuple[str, ...], members: list[RaterObject], n_links: int) -> ObjectGroup:
    ids = {rater: tuple(number for who, number in members if who == rater) for rater in raters}
    one_each = all(len(found) <= 1 for found in ids.values())
    n = len(members)
    return ObjectGroup(ids, one_each and n_links == n * (n - 1) // 2)
