"""Overlaps of all classes of an image from one pass over its voxels (D10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import OptionError, OverlapError, check_choice
from panmatch.labels import as_labels, check_same_shape
from panmatch.labels.classes import SegmentClass
from panmatch.labels.panoptic import Meaning, Panoptic
from panmatch.labels.threads import thread_count
from panmatch.overlap.counting import VOXELS_PER_THREAD, Assembled
from panmatch.overlap.graph import Edges, Overlap
from panmatch.overlap.part_counting import check_part_labels, part_counts
from panmatch.overlap.parts import BACKGROUNDS, Background
from panmatch.overlap.sums import sum_by
from panmatch.overlap.types import Ints

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ClassOverlaps(Mapping[int, Overlap]):
    """The overlap of every class, by class id; those of disjoint chunks of one image add.

    Attributes
    ----------
    classes
        All classes, whether they occur or not.
    overlaps
        By class id.
    """

    classes: tuple[SegmentClass, ...]
    overlaps: dict[int, Overlap]

    def __getitem__(self, class_id: int) -> Overlap:
        return self.overlaps[class_id]

    def __iter__(self) -> Iterator[int]:
        return iter(self.overlaps)

    def __len__(self) -> int:
        return len(self.overlaps)

    def __add__(self, other: ClassOverlaps) -> ClassOverlaps:
        if not isinstance(other, ClassOverlaps):
            return NotImplemented
        if self.classes != other.classes:
            raise OverlapError("overlaps of classes add only if they have the same classes.")
        return ClassOverlaps(self.classes, {key: self[key] + other[key] for key in self})


def count_class_overlaps(
    reference: Panoptic,
    prediction: Panoptic,
    *,
    void: npt.ArrayLike | None = None,
    background: Background = "image",
    threads: int | None = None,
) -> ClassOverlaps:
    """Count the overlaps of all classes together, in one pass (D1, D9, D10).

    Segments overlap only with segments of their own class. Void voxels of the reference leave
    every union; crowd is no segment, and dismisses unmatched predictions of its class.

    Parameters
    ----------
    reference, prediction
        From `from_maps`, `from_labels`, `from_segments`, `from_cityscapes` or
        `from_panoptic_parts`, with the same classes.
    void
        Mask of further void voxels.
    background
        As for `count_part_overlaps`, for classes with parts.
    threads
        As for `count_overlaps`.

    Examples
    --------
    >>> from panmatch.labels.panoptic import from_cityscapes
    >>> kinds = [SegmentClass(24, "person"), SegmentClass(7, "road", thing=False)]
    >>> reference = from_cityscapes([[24000, 24000, 24001, 7]], kinds)
    >>> prediction = from_cityscapes([[24005, 24005, 7, 7]], kinds)
    >>> found = count_class_overlaps(reference, prediction)
    >>> found[24].iou, found[7].iou
    (array([1.]), array([0.5]))
    """
    check_choice("background", background, BACKGROUNDS)
    if reference.classes != prediction.classes:
        raise OptionError("reference and prediction must have the same classes.")
    arrays = [*reference.arrays, *prediction.arrays]
    if void is not None:
        arrays.append((as_labels(void, "void") != 0).view(np.uint8))
    shapes = {"reference": arrays[0], "prediction": prediction.arrays[0], "void": arrays[-1]}
    check_same_shape(shapes if void is not None else dict(list(shapes.items())[:2]))
    workers = thread_count(threads, arrays[0].size, voxels_per_thread=VOXELS_PER_THREAD)
    keys, counts = native.joint_counts(arrays, workers)
    columns, counts = np.ascontiguousarray(keys.T).view(np.int64), counts.view(np.int64)
    middle = len(reference.arrays)
    ref = _decoded(reference, columns[:middle], counts)
    pred = _decoded(prediction, columns[middle : middle + len(prediction.arrays)], counts)
    rows = _Rows(ref, pred, counts, ref.void | (columns[-1] != 0 if void is not None else False))
    return rows.split(reference.classes, background)


def _decoded(side: Panoptic, columns: Ints, counts: Ints) -> Meaning:
    """Return the meaning of every row, found once for each distinct combination of its labels."""
    distinct, at = np.unique(columns, axis=1, return_inverse=True)
    at = at.ravel()
    voxels = sum_by(at, counts, distinct.shape[1])
    found = side.decode(tuple(distinct), voxels)
    return Meaning(
        found.classes[at], found.instances[at], found.parts[at], found.crowd[at], found.void[at]
    )


class _Rows:
    """Counted combinations with their meaning on both sides."""

    def __init__(self, ref: Meaning, pred: Meaning, counts: Ints, void: Mask) -> None:
        self._ref, self._pred, self._counts, self._void = ref, pred, counts, void
        self._is_ref = (ref.classes >= 0) & ~ref.crowd & ~void
        self._is_pred = (pred.classes >= 0) & ~pred.void

    def split(self, classes: tuple[SegmentClass, ...], background: Background) -> ClassOverlaps:
        """Sort the rows by class once, and build the overlap of each."""
        found = {}
        of_ref = _by_class(np.where(self._ref.void, -1, self._ref.classes), len(classes))
        of_pred = _by_class(self._pred.classes, len(classes))
        image = int(self._counts[~self._void].sum())
        for at, kind in enumerate(classes):
            rows = np.union1d(of_ref[at], of_pred[at])
            found[kind.id] = self._one(at, kind, rows, background, image)
        return ClassOverlaps(classes, found)

    def _one(
        self, at: int, kind: SegmentClass, rows: Ints, background: Background, image: int
    ) -> Overlap:
        counts, void = self._counts[rows], self._void[rows]
        is_ref = self._is_ref[rows] & (self._ref.classes[rows] == at)
        is_pred = self._is_pred[rows] & (self._pred.classes[rows] == at)
        crowd = self._ref.crowd[rows] & (self._ref.classes[rows] == at) & ~void
        ref_ids, ref = _numbered(self._ref.instances[rows], is_ref)
        pred_ids, pred = _numbered(self._pred.instances[rows], is_pred)
        built = _assembled(ref_ids, ref, pred_ids, pred, counts, (void, crowd))
        if not kind.has_parts:
            return built.overlap
        seen = np.where(void | crowd, 0, counts)
        parts = [
            np.where(here, side.parts[rows], 0)
            for here, side in ((is_ref, self._ref), (is_pred, self._pred))
        ]
        labels = np.array(sorted(kind.parts), np.int64)
        for part, name in zip(parts, ("reference", "prediction"), strict=True):
            check_part_labels(part, counts, labels, f"{name} of class {kind.id}")
        counted = part_counts(built, parts[0], parts[1], seen, labels, background)
        left_out = int(counts[crowd].sum())
        return replace(built.overlap, parts=replace(counted, voxels=image - left_out))


def _by_class(classes: Ints, n: int) -> list[Ints]:
    order = np.argsort(classes, kind="stable")
    ends = np.searchsorted(classes[order], np.arange(n + 1))
    return [order[ends[at] : ends[at + 1]] for at in range(n)]


def _numbered(instances: Ints, present: Mask) -> tuple[Ints, Ints]:
    """Return ids of segments, and the segment of every row; −1 for none.

    Stuff, or a thing without a number, has instance 0 and gets the next free id.
    """
    ids, at = np.unique(instances[present], return_inverse=True)
    places = np.full(len(instances), -1)
    places[present] = at
    if len(ids) and ids[0] == 0:
        ids, last = np.append(ids[1:], ids[-1] + 1), len(ids) - 1
        places = np.where(places == 0, last, places - 1)
        places[~present] = -1
    return ids, places


def _assembled(
    ref_ids: Ints, ref: Ints, pred_ids: Ints, pred: Ints, counts: Ints, lost: tuple[Mask, Mask]
) -> Assembled:
    is_ref, is_pred = ref >= 0, pred >= 0
    both = is_ref & is_pred
    width = max(len(pred_ids), 1)
    pairs, at = np.unique(ref[both] * width + pred[both], return_inverse=True)
    edge = np.full(len(ref), -1)
    edge[both] = at
    void, crowd = (is_pred & mask for mask in lost)
    overlap = Overlap(
        ref_ids=ref_ids,
        ref_sizes=sum_by(ref[is_ref], counts[is_ref], len(ref_ids)),
        pred_ids=pred_ids,
        pred_sizes=sum_by(pred[is_pred], counts[is_pred], len(pred_ids)),
        edges=Edges(*np.divmod(pairs, width), sum_by(at, counts[both], len(pairs))),
        pred_void=sum_by(pred[void], counts[void], len(pred_ids)),
        pred_crowd=sum_by(pred[crowd], counts[crowd], len(pred_ids)),
    )
    return Assembled(overlap, ref, pred, edge)
