"""True positives, false positives, false negatives and summed quality: the basis of all scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from panmatch.errors import check_choice
from panmatch.matching._exact_sum import (
    LIMBS,
    carry,
    limbs_to_floats,
    limbs_to_units,
    sum_of_shares,
    to_units,
    units_to_float,
    units_to_limbs,
)
from panmatch.overlap import Areas, Floats, Ints, Overlap, Unions, predictions_overlap

Quality = Literal["iou", "parts"]
QUALITIES: tuple[Quality, ...] = ("iou", "parts")

Weights = npt.NDArray[np.int32] | Ints  # how often every case counts

COUNTS = 3 + LIMBS  # columns of an array of tallies: tp, fp, fn, quality in three limbs

Number = TypeVar("Number", float, Floats)
Whole = TypeVar("Whole", int, Ints)


class Scored(Generic[Number, Whole]):
    """What follows from counts and summed quality, for one tally or for arrays of them (D3, D11).

    A ratio without a denominator is undefined: NaN.
    """

    __slots__ = ()

    tp: Whole
    fp: Whole
    fn: Whole

    @property
    def quality(self) -> Number:
        """Summed quality of the true positives."""
        raise NotImplementedError

    @property
    def denominator(self) -> Number:
        """TP + ½FP + ½FN."""
        return self.tp + 0.5 * (self.fp + self.fn)  # type: ignore[return-value]

    @property
    def pq(self) -> Number:
        """Panoptic quality Σquality / (TP + ½FP + ½FN); NaN if both sides are empty."""
        return ratio(self.quality, self.denominator)

    @property
    def sq(self) -> Number:
        """Segmentation quality, the mean quality over TP; 0 without any TP, NaN if empty."""
        return ratio(self.quality, self.tp, self.rq)

    @property
    def rq(self) -> Number:
        """Recognition quality TP / (TP + ½FP + ½FN); NaN if both sides are empty."""
        return ratio(self.tp, self.denominator)

    @property
    def f1(self) -> Number:
        """The F1 score: another name for `rq`."""
        return self.rq

    @property
    def precision(self) -> Number:
        """TP / (TP + FP); NaN where there is neither."""
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Number:
        """TP / (TP + FN); NaN without references."""
        return ratio(self.tp, self.tp + self.fn)

    @property
    def accuracy(self) -> Number:
        """TP / (TP + FP + FN), also called average precision; NaN if both sides are empty."""
        return ratio(self.tp, self.tp + self.fp + self.fn)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Tally(Scored[float, int]):
    """Counts and summed quality of a matching (D3); tallies of several images add exactly.

    Two tallies are equal if they look equal: in their counts and in `quality` as a float.

    Attributes
    ----------
    tp
        References with at least one matched prediction.
    fp
        Predictions with no matched reference (dismissed ones aside, D10).
    fn
        References with no matched prediction.
    units
        Summed quality of the true positives, as a whole multiple of 2**-62 (D13); `quality` is
        the same as a float. The quality of a true positive is the IoU of the reference and the
        union of its matched predictions, or the mean IoU of the parts (D9).

    Examples
    --------
    >>> import panmatch as pm
    >>> tally = pm.Tally(tp=3, fp=1, fn=2, quality=2.4) + pm.Tally(tp=1, fp=0, fn=0, quality=0.6)
    >>> tally.sq, round(tally.rq, 4), round(tally.pq, 4)
    (0.75, 0.7273, 0.5455)
    """

    tp: int
    fp: int
    fn: int
    units: int

    def __init__(self, tp: int, fp: int, fn: int, quality: float) -> None:
        self._set(tp, fp, fn, to_units(quality))

    @classmethod
    def from_units(cls, tp: int, fp: int, fn: int, units: int) -> Tally:
        """Return a tally whose quality is a whole multiple of 2**-62."""
        tally = cls.__new__(cls)
        tally._set(tp, fp, fn, units)
        return tally

    @property
    def quality(self) -> float:
        """Summed quality of the true positives."""
        return units_to_float(self.units)

    @property
    def status(self) -> Literal["ok", "empty"]:
        """``"empty"`` where neither side has a segment: every score is NaN then (D11)."""
        return "ok" if self.tp + self.fp + self.fn else "empty"

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        return Tally.from_units(
            self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.units + other.units
        )

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Tally):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[int, int, int, float]:
        return self.tp, self.fp, self.fn, self.quality

    def __repr__(self) -> str:
        return f"Tally(tp={self.tp}, fp={self.fp}, fn={self.fn}, quality={self.quality})"

    def _set(self, tp: int, fp: int, fn: int, units: int) -> None:
        put = object.__setattr__
        put(self, "tp", tp)
        put(self, "fp", fp)
        put(self, "fn", fn)
        put(self, "units", units)


@dataclass(frozen=True, slots=True, eq=False)
class Tallies(Scored[Floats, Ints]):
    """Tallies of cases, classes or thresholds as one array of whole numbers.

    Attributes
    ----------
    counts
        Shape (…, 6): tp, fp, fn, and the summed quality in three limbs (D13).

    Examples
    --------
    >>> both = Tallies.of([Tally(1, 1, 0, 0.75), Tally(0, 0, 2, 0.0)])
    >>> both.pq, both.sum().tally()
    (array([0.5, 0. ]), Tally(tp=1, fp=1, fn=2, quality=0.75))
    >>> both.weighted(np.array([[2, 0], [1, 1]])).tp
    array([2, 1])
    """

    counts: Ints

    @classmethod
    def of(cls, tallies: Iterable[Tally]) -> Tallies:
        """Return tallies as an array of shape (n,)."""
        given = list(tallies)
        distinct = {id(one): one for one in given}  # budgets repeat theirs
        rows = [(one.tp, one.fp, one.fn, *units_to_limbs(one.units)) for one in distinct.values()]
        counts = np.array(rows, np.int64).reshape(-1, COUNTS)
        if len(rows) == len(given):
            return cls(counts)
        place = dict(zip(distinct, range(len(rows)), strict=True))
        return cls(counts[[place[id(one)] for one in given]])

    @classmethod
    def of_counts(cls, tp: Ints, fp: Ints, fn: Ints, limbs: Ints) -> Tallies:
        """Return tallies from arrays of counts, and the quality in limbs."""
        return cls(np.concatenate([np.stack([tp, fp, fn], axis=-1), carry(limbs)], axis=-1))

    @property
    def tp(self) -> Ints:  # type: ignore[override]
        """True positives."""
        return self.counts[..., 0]

    @property
    def fp(self) -> Ints:  # type: ignore[override]
        """False positives."""
        return self.counts[..., 1]

    @property
    def fn(self) -> Ints:  # type: ignore[override]
        """False negatives."""
        return self.counts[..., 2]

    @property
    def limbs(self) -> Ints:
        """Summed quality in whole numbers, shape (…, 3)."""
        return self.counts[..., 3:]

    @property
    def quality(self) -> Floats:
        """Summed quality of the true positives."""
        return limbs_to_floats(self.limbs)

    @property
    def occurs(self) -> npt.NDArray[np.bool_]:
        """Where either side has a segment."""
        return np.asarray(self.counts[..., :3].any(axis=-1))

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, index: int | slice | Ints | npt.NDArray[np.bool_]) -> Tallies:
        return Tallies(self.counts[index])

    def __add__(self, other: Tallies) -> Tallies:
        if not isinstance(other, Tallies):
            return NotImplemented
        return _carried(self.counts + other.counts)

    def sum(self) -> Tallies:
        """Return the sum over the first axis."""
        return _carried(self.counts.sum(axis=0))

    def cumulative(self) -> Tallies:
        """Return running sums along the first axis."""
        return _carried(np.cumsum(self.counts, axis=0))

    def weighted(self, weights: Weights) -> Tallies:
        """Return sums over the first axis in which case i counts ``weights[…, i]`` times."""
        return _carried(np.tensordot(weights, self.counts, axes=1))

    def tally(self, *index: int) -> Tally:
        """Return the tally at a position; the empty index returns the only one."""
        row = self.counts[index]
        tp, fp, fn = row[:3].tolist()
        return Tally.from_units(tp, fp, fn, limbs_to_units(row[3:]))


def ratio(
    part: Number | Whole, whole: Number | Whole, otherwise: Number | float = np.nan
) -> Number:
    """Divide; where the whole is 0 the ratio is `otherwise`, by default undefined: NaN.

    Examples
    --------
    >>> ratio(1, 4), ratio(0, 0), ratio(np.array([1.0, 0.0]), np.array([2, 0]))
    (0.25, nan, array([0.5, nan]))
    """
    if not isinstance(whole, np.ndarray):
        return part / whole if whole else otherwise  # type: ignore[return-value]
    shape = whole.shape
    if np.shape(part) != shape:
        shape = np.broadcast_shapes(np.shape(part), shape)
    quotient: Floats = np.empty(shape)
    quotient[...] = otherwise
    np.divide(part, whole, out=quotient, where=whole != 0)
    return quotient  # type: ignore[return-value]


def tally_edges(overlap: Overlap, edges: Ints, quality: Quality = "iou") -> Tally:
    """Count the matching that consists of the given edge positions.

    Parameters
    ----------
    quality
        Of a true positive: ``"iou"``, or ``"parts"`` for an overlap with parts (D9).
    """
    n = len(overlap.ref_ids)
    tp = int(np.count_nonzero(np.bincount(overlap.edges.ref[edges], minlength=n)))
    return Tally.from_units(
        tp=tp,
        fp=int(np.count_nonzero(are_false(overlap, edges))),
        fn=n - tp,
        units=sum_of_shares(union_quality(overlap, edges, quality)),
    )


def are_false(overlap: Overlap, edges: Ints) -> npt.NDArray[np.bool_]:
    """Return which predictions are false positives: no voxel matched, not dismissed (D8, D10)."""
    predictions, matched = overlap.predictions, overlap.edges.pred[edges]
    if overlap.pieces is not None:
        return ~predictions.dismissible & ~predictions.touched(matched)
    counted = ~predictions.dismissible
    counted[matched] = False  # the same, without a mask for those that are touched
    return counted


def union_areas(overlap: Overlap, edges: Ints) -> tuple[Areas, Areas]:
    """Return |u ∩ g| and |u ∪ g| for every reference g, u being its matched predictions (D3)."""
    n, ref = len(overlap.ref_ids), overlap.edges.ref[edges]
    shared = np.bincount(ref, overlap.edges.intersection[edges], n)
    covered = np.bincount(ref, overlap.pred_areas[overlap.edges.pred[edges]], n)
    if predictions_overlap(overlap):
        unions, preds = Unions(overlap), overlap.edges.pred[edges]
        for one in np.flatnonzero(np.bincount(ref, minlength=n) > 1).tolist():
            inside, known = unions.excess(one, preds[ref == one].tolist())
            shared[one] -= inside
            covered[one] -= known
    return shared, overlap.ref_sizes + covered - shared


def union_quality(overlap: Overlap, edges: Ints, quality: Quality = "iou") -> Floats:
    """Return the quality of every reference, 0 where none is matched: IoU, or by parts (D3, D9)."""
    check_choice("quality", quality, QUALITIES)
    shared, union = union_areas(overlap, edges)
    iou: Floats = shared / union
    if quality == "iou":
        return iou
    assert overlap.parts is not None
    sums = part_sums(overlap, edges)
    by_parts = overlap.parts.quality(np.arange(len(overlap.ref_ids)), sums, iou)
    matched = np.zeros(len(overlap.ref_ids), np.bool_)
    matched[overlap.edges.ref[edges]] = True
    return np.where(matched, by_parts, 0.0)


def part_sums(overlap: Overlap, edges: Ints) -> Floats:
    """Return what parts add up to over the matched predictions of every reference."""
    assert overlap.parts is not None
    per_edge = overlap.parts.per_edge(overlap.edges.pred)
    sums = np.zeros((len(overlap.ref_ids), per_edge.shape[1]))
    np.add.at(sums, overlap.edges.ref[edges], per_edge[edges])
    return sums


def _carried(counts: Ints) -> Tallies:
    return Tallies(np.concatenate([counts[..., :3], carry(counts[..., 3:])], axis=-1))
