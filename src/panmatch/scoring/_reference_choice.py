"""The lowest and the highest PQ over all ways to choose a rater for each object (D18).

A choice takes one rater's version of every group of objects. PQ = N/D is a ratio, so Dinkelbach's
method reduces its extremes to those of N − λD, which add up over the components of the graph of
groups and predictions. Inside a component every choice is tried. What a component contributes does
not depend on λ: it is the least and the greatest N for each number of chosen references.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from scipy.optimize import linear_sum_assignment

from panmatch.errors import OptionError
from panmatch.matching import Tally
from panmatch.overlap import Overlap
from panmatch.scoring._aligned_objects import ObjectGroup, joined

MOST_CHOICES = 4096  # tried in one component; a larger component is cut into blocks

Edge = tuple[int, int, float]  # object of the version, prediction, IoU


@dataclass(frozen=True, slots=True)
class Version:
    """What one rater, or several alike, drew in a group: how many objects, and their edges."""

    n_objects: int
    edges: tuple[Edge, ...]


Group = tuple[Version, ...]  # the different versions of a group


@dataclass(frozen=True, slots=True)
class Contribution:
    """What some groups add to the counts under one choice."""

    n_objects: int
    tp: int
    units: int  # summed quality, as in `Tally`
    choice: tuple[int, ...] = ()  # version of each group


@dataclass(frozen=True, slots=True)
class Block:
    """Groups whose choices are tried together.

    Attributes
    ----------
    low, high
        For each number of references, a choice of least and one of greatest summed quality. If
        the block is only a part of its component, they are bounds: `low` may not use predictions
        that belong to other blocks, and `high` may use all of them.
    """

    low: tuple[Contribution, ...]
    high: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True)
class Component:
    """Groups that compete for predictions, in blocks: a single one if all choices were tried."""

    groups: tuple[Group, ...]
    blocks: tuple[Block, ...]

    def attained(self, contributions: Sequence[Contribution]) -> Contribution:
        """Return what the choices of the blocks add up to."""
        if len(self.blocks) == 1:
            return contributions[0]
        chosen = [place for one in contributions for place in one.choice]
        return _contribution(self.groups, tuple(chosen))


@dataclass(frozen=True, slots=True)
class ChoiceBounds:
    """The lowest and the highest PQ over all choices of a rater per group (D18).

    Attributes
    ----------
    lower, upper
        Tallies of two choices: of the lowest and of the highest PQ that was found.
    proven_lower, proven_upper
        No choice has a PQ outside these. They equal those of the tallies unless some component had
        too many choices to try all.

    Examples
    --------
    >>> from panmatch.matching import Tally
    >>> ChoiceBounds(Tally(1, 0, 2, 0.5), Tally(1, 0, 0, 0.8), 0.25, 0.8).is_exact
    True
    """

    lower: Tally
    upper: Tally
    proven_lower: float
    proven_upper: float

    @property
    def is_exact(self) -> bool:
        """Whether the bounds are attained; undefined ones are (D11)."""
        found = self.lower.pq, self.upper.pq
        return self.lower.status == "empty" or found == (self.proven_lower, self.proven_upper)


@dataclass(frozen=True, slots=True)
class ReferenceChoices:
    """All ways to choose a rater per group; those of several images add up.

    Attributes
    ----------
    components
        Groups that compete for predictions.
    n_predictions
        How many predictions there are.
    n_groups, n_consistent
        How many groups there are, and how many of them are consistent.
    """

    components: tuple[Component, ...] = ()
    n_predictions: int = 0
    n_groups: int = 0
    n_consistent: int = 0

    def __add__(self, other: ReferenceChoices) -> ReferenceChoices:
        if not isinstance(other, ReferenceChoices):
            return NotImplemented
        return ReferenceChoices(
            self.components + other.components,
            self.n_predictions + other.n_predictions,
            self.n_groups + other.n_groups,
            self.n_consistent + other.n_consistent,
        )

    def bounds(self) -> ChoiceBounds:
        """Return the lowest and the highest PQ of all choices with a defined PQ."""
        low = self._extreme([[block.low for block in one.blocks] for one in self.components], -1)
        high = self._extreme([[block.high for block in one.blocks] for one in self.components], 1)
        lower, upper = (self._tally(self._attained(picks)) for picks in (low, high))
        proven = [self._tally([one for picks in found for one in picks]) for found in (low, high)]
        return ChoiceBounds(lower, upper, proven[0].pq, proven[1].pq)

    def _extreme(
        self, options: list[list[tuple[Contribution, ...]]], sign: int
    ) -> list[list[Contribution]]:
        """Return the contributions of the lowest (−1) or highest (+1) ratio, by Dinkelbach."""
        if not self.n_predictions:  # PQ is 0 whatever is chosen, unless nothing is
            return [[max(block, key=lambda one: one.n_objects) for block in one] for one in options]
        picks = [[block[0] for block in one] for one in options]
        while True:
            total, size = self._ratio(picks)
            picks = [[_best(block, total, size, sign) for block in one] for one in options]
            found, new_size = self._ratio(picks)
            if found * size == total * new_size:
                return picks

    def _ratio(self, picks: list[list[Contribution]]) -> tuple[int, int]:
        """Return the summed quality in units, and references plus predictions."""
        every = [one for block in picks for one in block]
        n_objects = sum(one.n_objects for one in every)
        return sum(one.units for one in every), n_objects + self.n_predictions

    def _attained(self, picks: list[list[Contribution]]) -> list[Contribution]:
        return [one.attained(mine) for one, mine in zip(self.components, picks, strict=True)]

    def _tally(self, contributions: Iterable[Contribution]) -> Tally:
        every = list(contributions)
        tp, n = sum(one.tp for one in every), sum(one.n_objects for one in every)
        # Bounds of blocks may match a prediction twice: the sum TP + ½FP + ½FN is right even so.
        return Tally.from_units(
            tp, self.n_predictions - tp, n - tp, sum(one.units for one in every)
        )


def _best(block: Sequence[Contribution], total: int, size: int, sign: int) -> Contribution:
    return max(block, key=lambda one: sign * (one.units * size - total * one.n_objects))


def choose_references(
    groups: Sequence[ObjectGroup],
    overlaps: Mapping[str, Overlap],
    threshold: float,
    *,
    absent: bool = True,
    most_choices: int = MOST_CHOICES,
) -> ReferenceChoices:
    """Return all ways to choose one rater's version of each group, for bounds of one-to-one PQ.

    Parameters
    ----------
    groups
        What `align_raters` returns.
    overlaps
        The overlap of each rater with the model, without void and crowd.
    threshold
        Pairs match only if their IoU is above it.
    absent
        Whether a rater who drew nothing in a group can be chosen there: the object is then absent.
    most_choices
        How many choices to try in one component at most.

    Examples
    --------
    >>> from panmatch.overlap import count_overlaps
    >>> from panmatch.scoring import align_raters
    >>> ann, bob, model = [1, 1, 1, 1, 0], [4, 4, 4, 4, 4], [9, 9, 9, 0, 0]
    >>> groups = align_raters({("ann", "bob"): count_overlaps(ann, bob)}, 0.5)
    >>> overlaps = {"ann": count_overlaps(ann, model), "bob": count_overlaps(bob, model)}
    >>> bounds = choose_references(groups, overlaps, 0.5).bounds()
    >>> bounds.lower.pq, bounds.upper.pq
    (0.6, 0.75)
    """
    if any(not one.ignores_nothing for one in overlaps.values()):
        raise OptionError(
            "overlaps contain void or crowd: bounds over raters need predictions that count with "
            "all their voxels."
        )
    predictions = sorted({number for one in overlaps.values() for number in one.pred_ids.tolist()})
    edges = {who: _edges_above(one, threshold) for who, one in overlaps.items()}
    versions = [tuple(_versions(group, edges, absent=absent)) for group in groups]
    return ReferenceChoices(
        tuple(_component(one, most_choices) for one in _split_by_predictions(versions)),
        len(predictions),
        len(groups),
        sum(group.is_consistent for group in groups),
    )


def _edges_above(overlap: Overlap, threshold: float) -> dict[int, list[tuple[int, float]]]:
    found: dict[int, list[tuple[int, float]]] = {}
    kept = overlap.above(threshold)
    refs, preds = kept.ref_ids[kept.edges.ref], kept.pred_ids[kept.edges.pred]
    for ref, pred, iou in zip(refs.tolist(), preds.tolist(), kept.iou.tolist(), strict=True):
        found.setdefault(ref, []).append((pred, iou))
    return found


def _versions(
    group: ObjectGroup, edges: Mapping[str, dict[int, list[tuple[int, float]]]], *, absent: bool
) -> Iterator[Version]:
    """Yield the different versions of a group."""
    seen: set[Version] = set()
    for rater, ids in group.ids.items():
        found = tuple(
            (i, pred, iou)
            for i, number in enumerate(ids)
            for pred, iou in edges[rater].get(number, ())
        )
        version = Version(len(ids), found)
        if (ids or absent) and version not in seen:
            seen.add(version)
            yield version


def _predictions_of(group: Group) -> set[int]:
    return {pred for version in group for _, pred, _ in version.edges}


def _split_by_predictions(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Yield groups that share predictions, directly or through others."""
    users: dict[int, list[int]] = {}
    for i, group in enumerate(groups):
        for pred in _predictions_of(group):
            users.setdefault(pred, []).append(i)
    links = [(using[0], other) for using in users.values() for other in using[1:]]
    together: dict[int, list[Group]] = {}
    for group, component in zip(groups, joined(len(groups), links), strict=True):
        together.setdefault(component, []).append(group)
    yield from together.values()


def _component(groups: list[Group], most_choices: int) -> Component:
    parts = list(_blocks(groups, most_choices))
    if len(parts) == 1:
        return Component(tuple(groups), (_block(parts[0], parts[0]),))
    owners: dict[int, int] = {}
    best: dict[int, float] = {}
    for i, part in enumerate(parts):
        for group in part:
            for version in group:
                for _, pred, iou in version.edges:
                    if iou > best.get(pred, 0.0):
                        best[pred], owners[pred] = iou, i
    blocks = [
        _block([_owned(one, owners, i) for one in part], part) for i, part in enumerate(parts)
    ]
    return Component(tuple(groups), tuple(blocks))


def _blocks(groups: list[Group], most_choices: int) -> Iterator[list[Group]]:
    """Yield as few runs of groups as the number of choices allows."""
    block: list[Group] = []
    for group in groups:
        if block and prod(map(len, [*block, group])) > most_choices:
            yield block
            block = []
        block.append(group)
    yield block


def _owned(group: Group, owners: Mapping[int, int], block: int) -> Group:
    """Return a group without the predictions that belong to other blocks."""
    return tuple(
        Version(one.n_objects, tuple(edge for edge in one.edges if owners[edge[1]] == block))
        for one in group
    )


def _block(cautious: Sequence[Group], generous: Sequence[Group]) -> Block:
    low: dict[int, Contribution] = {}
    high: dict[int, Contribution] = {}
    for choice in product(*(range(len(group)) for group in generous)):
        most = _contribution(generous, choice)
        least = most if cautious is generous else _contribution(cautious, choice)
        n = most.n_objects
        if n not in low or least.units < low[n].units:
            low[n] = least
        if n not in high or most.units > high[n].units:
            high[n] = most
    return Block(tuple(low.values()), tuple(high.values()))


def _contribution(groups: Sequence[Group], choice: tuple[int, ...]) -> Contribution:
    """Match what was chosen one-to-one, for maximum total IoU."""
    n_objects, edges = 0, list[Edge]()
    for group, place in zip(groups, choice, strict=True):
        edges += [(n_objects + i, pred, iou) for i, pred, iou in group[place].edges]
        n_objects += group[place].n_objects
    matched = _best_assignment(edges)
    units = sum(Tally(1, 0, 0, iou).units for iou in matched)
    return Contribution(n_objects, len(matched), units, choice)


def _best_assignment(edges: Sequence[Edge]) -> list[float]:
    """Return the IoUs of a one-to-one matching of maximum total IoU."""
    objects = {one: i for i, one in enumerate(dict.fromkeys(edge[0] for edge in edges))}
    predictions = {one: i for i, one in enumerate(dict.fromkeys(edge[1] for edge in edges))}
    if len(edges) == len(objects) == len(predictions):  # nothing is contested
        return [iou for _, _, iou in edges]
    if len(objects) == 1 or len(predictions) == 1:
        return [max(iou for _, _, iou in edges)]
    weights = np.zeros((len(objects), len(predictions)))
    for one, pred, iou in edges:
        weights[objects[one], predictions[pred]] = iou
    found = weights[linear_sum_assignment(weights, maximize=True)]
    return [iou for iou in found.tolist() if iou > 0]
