"""Overlaps of all classes of an image from one pass over its voxels (D10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, OptionError, OverlapError, check_choice
from panmatch.labels import check_same_shape
from panmatch.labels.chunked.volumes import as_volume, map_labels
from panmatch.labels.classes import SegmentClass
from panmatch.labels.combinations import Counted, distinct_labels
from panmatch.labels.panoptic import Meaning, Panoptic
from panmatch.labels.void import is_set
from panmatch.overlap.counting import Assembled
from panmatch.overlap.graph import Edges, Overlap
from panmatch.overlap.part_counting import check_part_labels, part_counts
from panmatch.overlap.parts import BACKGROUNDS, Background, Parts
from panmatch.overlap.sums import sum_by
from panmatch.overlap.types import Ints

Mask = npt.NDArray[np.bool_]


ID_SPAN = 1 << 44  # ids of one class lie between a multiple of this and the next


@dataclass(frozen=True, slots=True, eq=False)
class ClassOverlaps(Mapping[int, Overlap]):
    """The overlap of every class, by class id; those of disjoint chunks of one image add.

    Attributes
    ----------
    classes
        All classes, whether they occur or not.
    graph
        All classes in one graph: edges never join two classes. Ids are class position × 2⁴⁴ + id.
    parts
        Of the classes that have parts, by class position.
    """

    classes: tuple[SegmentClass, ...]
    graph: Overlap
    parts: dict[int, Parts]

    @property
    def ref_classes(self) -> Ints:
        """Class position of every reference of the graph."""
        return self.graph.ref_ids // ID_SPAN

    @property
    def pred_classes(self) -> Ints:
        """Class position of every prediction of the graph."""
        return self.graph.pred_ids // ID_SPAN

    def __getitem__(self, class_id: int) -> Overlap:
        places = {kind.id: at for at, kind in enumerate(self.classes)}
        return overlap_of(self.graph, places[class_id], self.parts.get(places[class_id]))

    def __iter__(self) -> Iterator[int]:
        return (kind.id for kind in self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def __add__(self, other: ClassOverlaps) -> ClassOverlaps:
        if not isinstance(other, ClassOverlaps):
            return NotImplemented
        if self.classes != other.classes:
            raise OverlapError("overlaps of classes add only if they have the same classes.")
        sums = {at: self[kind.id] + other[kind.id] for at, kind in enumerate(self.classes)
                if kind.has_parts}  # fmt: skip
        parts = {at: total.parts for at, total in sums.items() if total.parts is not None}
        return ClassOverlaps(self.classes, self.graph + other.graph, parts)


def overlap_of(graph: Overlap, at: int, parts: Parts | None = None) -> Overlap:
    """Return the overlap of one class of a graph, with its own ids."""
    ref_ends, pred_ends = (
        np.searchsorted(ids, [at * ID_SPAN, (at + 1) * ID_SPAN]).tolist()
        for ids in (graph.ref_ids, graph.pred_ids)
    )
    refs, preds = slice(*ref_ends), slice(*pred_ends)
    edges = slice(*np.searchsorted(graph.edges.ref, ref_ends).tolist())
    crowd = graph.pred_crowd
    return Overlap(
        ref_ids=graph.ref_ids[refs] - at * ID_SPAN,
        ref_sizes=graph.ref_sizes[refs],
        pred_ids=graph.pred_ids[preds] - at * ID_SPAN,
        pred_sizes=graph.pred_sizes[preds],
        edges=Edges(
            graph.edges.ref[edges] - refs.start,
            graph.edges.pred[edges] - preds.start,
            graph.edges.intersection[edges],
        ),
        pred_void=graph.pred_void[preds],
        pred_crowd=None if crowd is None else crowd[preds],
        parts=parts,
    )


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
    >>> from panmatch.labels.coded_ids import from_cityscapes
    >>> kinds = [SegmentClass(24, "person"), SegmentClass(7, "road", thing=False)]
    >>> reference = from_cityscapes([[24000, 24000, 24001, 7]], kinds)
    >>> prediction = from_cityscapes([[24005, 24005, 7, 7]], kinds)
    >>> found = count_class_overlaps(reference, prediction)
    >>> found[24].iou, found[7].iou
    (array([1.]), array([0.5]))
    """
    check_choice("background", background, BACKGROUNDS)
    counted = count_class_labels(reference, prediction, void=void, threads=threads)
    return counted.overlaps(background)


def count_class_labels(
    reference: Panoptic,
    prediction: Panoptic,
    *,
    void: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> ClassLabels:
    """Count all combinations of labels of both sides; parameters as for `count_class_overlaps`."""
    if reference.classes != prediction.classes:
        raise OptionError("reference and prediction must have the same classes.")
    arrays = [*reference.arrays, *prediction.arrays]
    if void is not None:
        arrays.append(map_labels(is_set, as_volume(void, "void")))
    shapes = {"reference": arrays[0], "prediction": prediction.arrays[0], "void": arrays[-1]}
    check_same_shape(shapes if void is not None else dict(list(shapes.items())[:2]))
    columns, counts = distinct_labels(arrays, threads=threads)
    return ClassLabels(reference, prediction, columns, counts)


@dataclass(frozen=True, slots=True, eq=False)
class ClassLabels:
    """How many voxels carry each combination of labels of two sides, before it is given a meaning.

    Attributes
    ----------
    reference, prediction
        The two sides.
    columns, counts
        Labels of both sides and, if there is a mask of void voxels, its values; and the voxels.
    """

    reference: Panoptic
    prediction: Panoptic
    columns: Ints
    counts: Ints

    def distinct(self) -> tuple[Counted, Counted]:
        """Return the combinations of labels of either side alone, and their voxels."""
        return self._of_side(*self._ends[0])[0], self._of_side(*self._ends[1])[0]

    def overlaps(self, background: Background = "image") -> ClassOverlaps:
        """Return the overlaps of all classes; `background` is that of `count_class_overlaps`."""
        kinds = self.reference.classes
        ref = self._decoded(self.reference, *self._ends[0])
        pred = self._decoded(self.prediction, *self._ends[1])
        has_mask = len(self.columns) > self._ends[1][1]
        lost = ref.void | (self.columns[-1] != 0) if has_mask else ref.void
        rows = _Rows(ref, pred, self.counts, lost)
        built = rows.assembled()
        parts = {
            at: rows.parts(at, kind, built, background)
            for at, kind in enumerate(kinds)
            if kind.has_parts
        }
        return ClassOverlaps(kinds, built.overlap, parts)

    @property
    def _ends(self) -> tuple[tuple[int, int], tuple[int, int]]:
        middle = len(self.reference.arrays)
        return (0, middle), (middle, middle + len(self.prediction.arrays))

    def _of_side(self, start: int, stop: int) -> tuple[Counted, Ints]:
        """Return the distinct combinations of some columns, and the one of every row."""
        distinct, at = _distinct(self.columns[start:stop])
        return (distinct, sum_by(at, self.counts, distinct.shape[1])), at

    def _decoded(self, side: Panoptic, start: int, stop: int) -> Meaning:
        """Return the meaning of every row, found once for each distinct combination."""
        (distinct, counts), at = self._of_side(start, stop)
        found = side.decode(tuple(distinct), counts)
        return Meaning(
            found.classes[at], found.instances[at], found.parts[at], found.crowd[at], found.void[at]
        )


def _distinct(columns: Ints) -> tuple[Ints, Ints]:
    """Return the distinct combinations, and the one of every row."""
    _, at = np.unique(columns[0], return_inverse=True)
    for column in columns[1:]:
        values, place = np.unique(column, return_inverse=True)
        _, at = np.unique(at * len(values) + place, return_inverse=True)
    _, first = np.unique(at, return_index=True)
    return columns[:, first], at


class _Rows:
    """Counted combinations with their meaning on both sides."""

    def __init__(self, ref: Meaning, pred: Meaning, counts: Ints, void: Mask) -> None:
        self._ref, self._pred, self._counts, self._void = ref, pred, counts, void
        self._is_ref = (ref.classes >= 0) & ~ref.crowd & ~void
        self._is_pred = (pred.classes >= 0) & ~pred.void
        self._same = ref.classes == pred.classes

    def assembled(self) -> Assembled:
        """Build the graph of all classes."""
        counts, is_ref, is_pred = self._counts, self._is_ref, self._is_pred
        ref_ids, ref = _numbered(self._ref, is_ref)
        pred_ids, pred = _numbered(self._pred, is_pred)
        both = is_ref & is_pred & self._same
        width, n = max(len(pred_ids), 1), len(pred_ids)
        pairs, at = np.unique(ref[both] * width + pred[both], return_inverse=True)
        edge = np.full(len(ref), -1)
        edge[both] = at
        void = is_pred & self._void
        crowd = is_pred & self._ref.crowd & self._same & ~self._void
        overlap = Overlap(
            ref_ids=ref_ids,
            ref_sizes=sum_by(ref[is_ref], counts[is_ref], len(ref_ids)),
            pred_ids=pred_ids,
            pred_sizes=sum_by(pred[is_pred], counts[is_pred], n),
            edges=Edges(*np.divmod(pairs, width), sum_by(at, counts[both], len(pairs))),
            pred_void=sum_by(pred[void], counts[void], n),
            pred_crowd=sum_by(pred[crowd], counts[crowd], n),
        )
        return Assembled(overlap, ref, pred, edge)

    def parts(self, at: int, kind: SegmentClass, built: Assembled, background: Background) -> Parts:
        """Count the parts of one class; what lies in its crowd is left out, as void is."""
        is_ref = self._is_ref & (self._ref.classes == at)
        is_pred = self._is_pred & (self._pred.classes == at)
        crowd = self._ref.crowd & (self._ref.classes == at)
        some = is_ref | is_pred
        labels = np.array(sorted(kind.parts), np.int64)
        ref_part = np.where(is_ref, self._ref.parts, 0)[some]
        pred_part = np.where(is_pred, self._pred.parts, 0)[some]
        for part, name in ((ref_part, "reference"), (pred_part, "prediction")):
            check_part_labels(part, self._counts[some], labels, f"{name} of class {kind.id}")
        overlap = overlap_of(built.overlap, at)
        starts = [_first(ids, at) for ids in (built.overlap.ref_ids, built.overlap.pred_ids)]
        edge_start = int(np.searchsorted(built.overlap.edges.ref, starts[0]))
        one = Assembled(
            overlap,
            np.where(is_ref, built.ref - starts[0], -1)[some],
            np.where(is_pred, built.pred - starts[1], -1)[some],
            np.where(is_ref & is_pred, built.edge - edge_start, -1)[some],
        )
        seen = np.where(self._void | crowd, 0, self._counts)
        found = part_counts(one, ref_part, pred_part, seen[some], labels, background)
        return replace(found, voxels=int(seen.sum()))


def _numbered(side: Meaning, present: Mask) -> tuple[Ints, Ints]:
    """Return ids of segments, and the segment of every row; −1 for none.

    Things without a number have instance 0, and get the highest id there is.
    """
    instances = side.instances[present]
    if len(instances) and instances.max() >= ID_SPAN - 1:
        raise LabelError(
            f"instance {instances.max()} is too large: with classes, ids must be below 2**44 - 1."
        )
    numbers = np.where(instances == 0, ID_SPAN - 1, instances)
    ids, at = np.unique(side.classes[present] * ID_SPAN + numbers, return_inverse=True)
    places = np.full(len(side.instances), -1)
    places[present] = at
    return ids, places


def _first(ids: Ints, at: int) -> int:
    return int(np.searchsorted(ids, at * ID_SPAN))
