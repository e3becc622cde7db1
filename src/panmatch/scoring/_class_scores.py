"""Scores of many classes: per class, and averaged over those that occur (D10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np

from panmatch.errors import OverlapError, check_choice
from panmatch.labels import SegmentClass
from panmatch.matching import (
    QUALITIES,
    Matching,
    Quality,
    Strategy,
    Tally,
    are_false,
    limbs_to_units,
    match,
    part_sums,
    resolve_strategy,
    tally_edges,
    to_limbs,
    union_quality,
)
from panmatch.overlap import ClassOverlaps, Ints, Score
from panmatch.scoring._curve import Curve, curve
from panmatch.scoring._measurements import Average

Term = TypeVar("Term", Tally, Curve)


@dataclass(frozen=True, slots=True)
class GroupScore:
    """Mean scores over the classes of a group that occur.

    Examples
    --------
    >>> import panmatch as pm
    >>> kinds = (pm.SegmentClass(1, "cell"), pm.SegmentClass(2, "tissue", thing=False))
    >>> tallies = {1: pm.Tally(1, 1, 0, 0.9), 2: pm.Tally(1, 0, 0, 0.8)}
    >>> group = pm.ClassTallies(kinds, tallies).all
    >>> round(group.pq, 3), round(group.sq, 3), round(group.rq, 3), group.n
    (0.7, 0.85, 0.833, 2)
    """

    pq: float  # means over classes; NaN if none occurs
    sq: float
    rq: float
    classes: tuple[int, ...]  # ids of the classes that occur

    @property
    def n(self) -> int:
        """Number of classes that occur."""
        return len(self.classes)


@dataclass(frozen=True, eq=False)
class _ByClass(Mapping[int, Term]):
    """Something of every class, by class id; those of images add."""

    classes: tuple[SegmentClass, ...]  # all of them, whether they occur or not
    of_class: dict[int, Term]

    def __getitem__(self, class_id: int) -> Term:
        return self.of_class[class_id]

    def __iter__(self) -> Iterator[int]:
        return iter(self.of_class)

    def __len__(self) -> int:
        return len(self.of_class)

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.classes != other.classes:
            raise OverlapError("class scores can only be added if they have the same classes.")
        return type(self)(self.classes, {key: self[key] + other[key] for key in self})

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # sum() starts with 0


class ClassTallies(_ByClass[Tally]):
    """The tally of every class; add those of all images, then score the sum (D10).

    Examples
    --------
    >>> import panmatch as pm
    >>> kinds = (pm.SegmentClass(1, "person"), pm.SegmentClass(2, "sky", thing=False))
    >>> found = pm.ClassTallies(kinds, {1: pm.Tally(1, 1, 0, 0.9), 2: pm.Tally(0, 0, 0, 0.0)})
    >>> (found + found).all.pq, found.all.classes, found.stuff.n
    (0.6, (1,), 0)
    """

    @property
    def all(self) -> GroupScore:
        """Mean over all classes that occur."""
        return self._mean(lambda _: True)

    @property
    def things(self) -> GroupScore:
        """Mean over the things that occur."""
        return self._mean(lambda kind: kind.thing)

    @property
    def stuff(self) -> GroupScore:
        """Mean over the stuff that occurs."""
        return self._mean(lambda kind: not kind.thing)

    @property
    def with_parts(self) -> GroupScore:
        """Mean over the classes with parts that occur."""
        return self._mean(lambda kind: kind.has_parts)

    @property
    def without_parts(self) -> GroupScore:
        """Mean over the classes without parts that occur."""
        return self._mean(lambda kind: not kind.has_parts)

    def _mean(self, belongs: Callable[[SegmentClass], bool]) -> GroupScore:
        kinds = [kind for kind in self.classes if belongs(kind)]
        ids = tuple(kind.id for kind in kinds if self[kind.id].status == "ok")
        scores = np.array([[self[i].pq, self[i].sq, self[i].rq] for i in ids])
        pq, sq, rq = (scores.mean(0) if ids else np.full(3, np.nan)).tolist()
        return GroupScore(pq, sq, rq, ids)


class ClassCurves(_ByClass[Curve]):
    """The curve of every class; curves of several images add.

    Examples
    --------
    >>> import panmatch as pm
    >>> kinds = [pm.SegmentClass(1, "cell"), pm.SegmentClass(2, "tissue", thing=False)]
    >>> reference = pm.from_maps([[1, 1, 2, 2]], [[7, 7, 0, 0]], kinds)
    >>> prediction = pm.from_maps([[1, 2, 2, 2]], [[7, 0, 0, 0]], kinds)
    >>> overlaps = pm.count_class_overlaps(reference, prediction)
    >>> curves = pm.class_curves(overlaps)
    >>> round(curves.at(0.4).all.pq, 3), round(curves[1].autc, 3), round(curves[2].autc, 3)
    (0.583, 0.25, 0.444)
    """

    def at(self, threshold: float) -> ClassTallies:
        """Return the tallies of all classes at a threshold."""
        return ClassTallies(self.classes, {key: self[key].at(threshold) for key in self})


def match_classes(
    overlaps: ClassOverlaps,
    strategy: str | Strategy = "one-to-one",
    threshold: float = 0.5,
    *,
    score: Score = "iou",
) -> dict[int, Matching]:
    """Match every class separately; parameters are those of `match`.

    Examples
    --------
    >>> import panmatch as pm
    >>> kinds = [pm.SegmentClass(1, "cell"), pm.SegmentClass(2, "tissue", thing=False)]
    >>> reference = pm.from_maps([[1, 1, 2, 2]], [[7, 7, 0, 0]], kinds)
    >>> prediction = pm.from_maps([[1, 2, 2, 2]], [[7, 0, 0, 0]], kinds)
    >>> overlaps = pm.count_class_overlaps(reference, prediction)
    >>> pm.match_classes(overlaps, "one-to-one", threshold=0.4)[2]
    Matching(one-to-one, threshold=0.4: TP=1, FP=0, FN=0, PQ=0.6667)
    """
    chosen = resolve_strategy(strategy)
    return {
        key: match(overlap, chosen.suited_to(overlap), threshold, score=score)
        for key, overlap in overlaps.items()
    }


def tally_classes(
    overlaps: ClassOverlaps,
    strategy: str | Strategy = "one-to-one",
    threshold: float = 0.5,
    *,
    score: Score = "iou",
    quality: Quality = "iou",
) -> ClassTallies:
    """Match every class, and count; parameters are those of `match`.

    Strategies that decide object by object match all classes at once.

    Parameters
    ----------
    quality
        ``"iou"``, or ``"parts"`` for PartPQ: part quality in classes with parts, and IoU in all
        others (D9).

    Examples
    --------
    >>> import panmatch as pm
    >>> kinds = [pm.SegmentClass(1, "cell"), pm.SegmentClass(2, "tissue", thing=False)]
    >>> reference = pm.from_maps([[1, 1, 2, 2]], [[7, 7, 0, 0]], kinds)
    >>> prediction = pm.from_maps([[1, 2, 2, 2]], [[7, 0, 0, 0]], kinds)
    >>> overlaps = pm.count_class_overlaps(reference, prediction)
    >>> tallies = pm.tally_classes(overlaps, "one-to-one", threshold=0.4)
    >>> tallies[1], round(tallies.all.pq, 3)
    (Tally(tp=1, fp=0, fn=0, quality=0.5), 0.583)
    """
    check_choice("quality", quality, QUALITIES)
    chosen = resolve_strategy(strategy)
    cut = overlaps.graph.pieces is not None
    if cut or not chosen.is_local(overlaps.graph, threshold):
        matchings = match_classes(overlaps, chosen, threshold, score=score)
        tallies = {key: _tally(matching, quality) for key, matching in matchings.items()}
        return ClassTallies(overlaps.classes, tallies)
    edges = match(overlaps.graph, chosen, threshold, score=score).edges
    return ClassTallies(overlaps.classes, _tallies(overlaps, edges, quality))


def _tally(matching: Matching, quality: Quality) -> Tally:
    by_parts = matching.part_tally if quality == "parts" else None
    return matching.tally if by_parts is None else by_parts


def _tallies(overlaps: ClassOverlaps, edges: Ints, quality: Quality) -> dict[int, Tally]:
    """Count a matching of all classes, class by class."""
    graph, n = overlaps.graph, len(overlaps.classes)
    classes = overlaps.ref_classes
    matched = np.zeros(len(graph.ref_ids), np.bool_)
    matched[graph.edges.ref[edges]] = True
    tp = np.bincount(classes[matched], minlength=n)
    fn = np.bincount(classes[~matched], minlength=n)
    fp = np.bincount(overlaps.pred_classes[are_false(graph, edges)], minlength=n)
    limbs = to_limbs(union_quality(graph, edges))
    ends = np.searchsorted(classes, np.arange(n + 1)).tolist()
    found = {}
    for at, kind in enumerate(overlaps.classes):
        if quality == "parts" and at in overlaps.parts:
            ours = edges[classes[graph.edges.ref[edges]] == at]
            start = int(np.searchsorted(graph.edges.ref, ends[at]))
            found[kind.id] = tally_edges(overlaps[kind.id], ours - start, "parts")
        else:
            units = limbs_to_units(limbs[ends[at] : ends[at + 1]].sum(axis=0))
            found[kind.id] = Tally.from_units(int(tp[at]), int(fp[at]), int(fn[at]), units)
    return found


def class_curves(
    overlaps: ClassOverlaps,
    strategy: str | Strategy = "one-to-one",
    *,
    score: Score = "iou",
    quality: Quality = "iou",
) -> ClassCurves:
    """Return the curve of every class; parameters are those of `curve` and `tally_classes`.

    Examples
    --------
    >>> import panmatch as pm
    >>> kinds = [pm.SegmentClass(1, "cell"), pm.SegmentClass(2, "tissue", thing=False)]
    >>> reference = pm.from_maps([[1, 1, 2, 2]], [[7, 7, 0, 0]], kinds)
    >>> prediction = pm.from_maps([[1, 2, 2, 2]], [[7, 0, 0, 0]], kinds)
    >>> overlaps = pm.count_class_overlaps(reference, prediction)
    >>> {class_id: round(one.autc, 3) for class_id, one in pm.class_curves(overlaps).items()}
    {1: 0.25, 2: 0.444}
    """
    check_choice("quality", quality, QUALITIES)
    chosen, found = resolve_strategy(strategy), {}
    for key in overlaps:
        overlap = overlaps[key]
        own: Quality = "iou" if overlap.parts is None else quality
        found[key] = curve(overlap, chosen.suited_to(overlap), score=score, quality=own)
    return ClassCurves(overlaps.classes, found)


def part_averages(matching: Matching) -> dict[int, Average]:
    """Return, for every part label, the mean IoU over the matched objects on which it occurs.

    Averages of several images add. A class without parts has none.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_part_overlaps([1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 2, 2], [1, 1, 2, 0])
    >>> {part: average.value for part, average in pm.part_averages(pm.match(ov)).items()}
    {1: 1.0, 2: 0.5}
    """
    parts = matching.overlap.parts
    if parts is None:
        return {}
    matched = np.unique(matching.overlap.edges.ref[matching.edges])
    ious = parts.part_iou(matched, part_sums(matching.overlap, matching.edges)[matched])
    found = {}
    for label, column in zip(parts.labels.tolist(), ious.T, strict=True):
        found[label] = Average.of(column)
    return found
