"""Build the overlap graph from counted combinations of labels; nothing else builds it.

Images in memory, in chunks and on a device all give the same rows: what a combination of labels
means on either side, and how many voxels carry it. A plain label image is an image with one class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from panmatch.errors import OverlapError
from panmatch.labels import Ints, Mask, Meaning, SegmentClass, segment_ids
from panmatch.overlap._columns import Areas, sum_by
from panmatch.overlap._graph import Edges, Overlap
from panmatch.overlap._parts import Background, PartRows, Parts, check_part_labels, count_parts
from panmatch.overlap._pieces import Pieces, Predictions

LARGEST_KEY = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Counted combinations of labels, one row each, and what they mean."""

    ref: Meaning
    pred: Meaning
    counts: Ints  # number of voxels
    void: Mask  # whether they lie in void of the reference
    regions: Ints | None = None  # ids of the references that predictions are cut by (D8)


@dataclass(frozen=True, slots=True, eq=False)
class Vertices:
    """Vertices of one side of the graph, sorted by class, id and region."""

    classes: Ints  # position of the class of each
    ids: Ints
    regions: Ints | None  # where segments are cut into pieces
    of_row: Ints  # the vertex of every row; −1 for none

    @classmethod
    def find(cls, side: Meaning, present: Mask, regions: Ints | None = None) -> Vertices:
        """Return the vertices of all rows that are present on a side."""
        columns = [side.classes[present], segment_ids(side.instances[present])]
        if regions is not None:
            columns.append(regions[present])
        (classes, ids, *cut), place = distinct_rows(columns)
        of_row = np.full(len(present), -1)
        of_row[present] = place
        return cls(classes, ids, cut[0] if cut else None, of_row)

    def sum(self, chosen: Mask, counts: Ints) -> Ints:
        """Return the voxels of each in the chosen rows, all of which must have a vertex."""
        return sum_by(self.of_row[chosen], counts[chosen], len(self.ids))

    def span(self, place: int) -> slice:
        """Return the vertices of the class at a position."""
        return slice(*np.searchsorted(self.classes, [place, place + 1]).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """The graph of all classes, before segments get their ids, and the rows it was built from."""

    rows: Rows
    refs: Vertices
    preds: Vertices
    edges: Edges  # between segments of one class
    edge_of_row: Ints  # −1 for none

    def overlap(self) -> Overlap:
        """Return the graph of images with one class, with the ids of their segments."""
        return self._graph(self.refs.ids, self.preds.ids)

    def class_overlaps(
        self, classes: tuple[SegmentClass, ...], background: Background
    ) -> ClassOverlaps:
        """Return the graph of all classes, with the parts of those that have some."""
        refs, preds = self.refs, self.preds
        numbers, _ = number_segments((refs.classes, refs.ids), (preds.classes, preds.ids))
        parts = {
            place: self.parts(place, kind.parts, background, f" of class {kind.id}")
            for place, kind in enumerate(classes)
            if kind.has_parts
        }
        own = refs.classes, refs.ids, preds.classes, preds.ids
        return ClassOverlaps(classes, self._graph(*numbers), *own, parts, self._across())

    def parts(
        self, place: int, labels: Sequence[int], background: Background, suffix: str = ""
    ) -> Parts:
        """Count the parts of the class at a position; its crowd is left out, as void is (D9).

        A part that is not among the labels is an error; its message puts `suffix` after the side.
        """
        rows, refs, preds = self.rows, self.refs, self.preds
        on_ref = (refs.of_row >= 0) & (rows.ref.classes == place)
        on_pred = (preds.of_row >= 0) & (rows.pred.classes == place)
        on_edge = on_ref & (self.edge_of_row >= 0)
        hidden = rows.void | (rows.ref.crowd & (rows.ref.classes == place))
        seen, present_rows = np.where(hidden, 0, rows.counts), on_ref | on_pred
        known = np.array(sorted(labels), np.int64)
        for side, present, name in (
            (rows.ref, on_ref, "reference"),
            (rows.pred, on_pred, "prediction"),
        ):
            among = present & ~rows.void
            check_part_labels(side.parts[among], rows.counts[among], known, name + suffix)
        ref_span, pred_span = refs.span(place), preds.span(place)
        edge_span = slice(
            *np.searchsorted(self.edges.ref, [ref_span.start, ref_span.stop]).tolist()
        )
        parts = count_parts(
            PartRows(
                np.where(on_ref, refs.of_row - ref_span.start, -1)[present_rows],
                np.where(on_pred, preds.of_row - pred_span.start, -1)[present_rows],
                np.where(on_edge, self.edge_of_row - edge_span.start, -1)[present_rows],
                np.where(on_ref, rows.ref.parts, 0)[present_rows],
                np.where(on_pred, rows.pred.parts, 0)[present_rows],
                seen[present_rows],
            ),
            tuple(span.stop - span.start for span in (ref_span, pred_span, edge_span)),
            known,
            background,
        )
        return replace(parts, voxels=int(seen.sum()))

    def _across(self) -> Edges:
        """Return the edges between segments of different classes."""
        rows, refs, preds = self.rows, self.refs, self.preds
        both = (refs.of_row >= 0) & (preds.of_row >= 0) & (rows.ref.classes != rows.pred.classes)
        return summed_edges(
            refs.of_row[both], preds.of_row[both], rows.counts[both], len(preds.ids)
        )

    def _graph(self, ref_ids: Ints, pred_ids: Ints) -> Overlap:
        rows, refs, preds = self.rows, self.refs, self.preds
        on_ref, on_pred = refs.of_row >= 0, preds.of_row >= 0
        sizes = preds.sum(on_pred, rows.counts)
        void = preds.sum(on_pred & rows.void, rows.counts)
        crowd = None
        if rows.ref.crowd.any():
            same = rows.ref.classes == rows.pred.classes
            in_crowd = on_pred & rows.ref.crowd & ~rows.void & same
            crowd = preds.sum(in_crowd, rows.counts) if in_crowd.any() else None
        pieces = None
        if preds.regions is not None:
            ignored = void if crowd is None else void + crowd
            pieces = Pieces(preds.regions, _whole_predictions(pred_ids, sizes, ignored))
        return Overlap(
            ref_ids=ref_ids,
            ref_sizes=refs.sum(on_ref, rows.counts),
            pred_ids=pred_ids,
            pred_sizes=sizes,
            edges=self.edges,
            pred_void=void,
            pred_crowd=crowd,
            pieces=pieces,
            voxels=int(rows.counts[~rows.void].sum()),
        )


def assemble(rows: Rows) -> Assembly:
    """Build the graph from counted combinations.

    Crowd and void of the reference are not segments, nor is void of the prediction.
    """
    ref, pred = rows.ref, rows.pred
    refs = Vertices.find(ref, (ref.classes >= 0) & ~ref.crowd & ~rows.void)
    preds = Vertices.find(pred, (pred.classes >= 0) & ~pred.void, rows.regions)
    both = (refs.of_row >= 0) & (preds.of_row >= 0) & (ref.classes == pred.classes)
    if rows.regions is not None:
        both &= ref.instances == rows.regions  # a piece has no other partner
    width = max(len(preds.ids), 1)
    keys = refs.of_row[both] * width + preds.of_row[both]
    pairs, place = np.unique(keys, return_inverse=True)
    edge_of_row = np.full(len(both), -1)
    edge_of_row[both] = place
    shared = sum_by(place, rows.counts[both], len(pairs))
    return Assembly(rows, refs, preds, Edges(*np.divmod(pairs, width), shared), edge_of_row)


def distinct_rows(columns: Sequence[Ints]) -> tuple[list[Ints], Ints]:
    """Return the distinct combinations of some columns, sorted, and the place of every row.

    Examples
    --------
    >>> distinct_rows([np.array([2, 1, 2]), np.array([9, 5, 9])])
    ([array([1, 2]), array([5, 9])], array([1, 0, 1]))
    """
    if not len(columns[0]):
        return [*columns], np.zeros(0, np.int64)
    # A column of zeros distinguishes nothing: plain images have one class, at position 0.
    key, *others = [column for column in columns if column.any()] or columns[:1]
    if others:
        key = _packed([key, *others])
    keys, place = np.unique(key, return_inverse=True)
    row = np.empty(len(keys), np.int64)
    row[place] = np.arange(len(key))  # any row of a combination will do
    return [column[row] for column in columns], place


def _packed(columns: Sequence[Ints]) -> Ints:
    """Return one number per row that sorts as the columns do, and is equal for equal rows."""
    key, span = _from_zero(columns[0])
    for column in columns[1:]:
        digit, width = _from_zero(column)
        if span * width > LARGEST_KEY:
            (key, span), (digit, width) = _numbered(key), _numbered(digit)
        key, span = key * width + digit, span * width
    return key


def _from_zero(column: Ints) -> tuple[Ints, int]:
    """Return numbers in the same order that start at 0, and an upper bound on them."""
    low, high = int(column.min()), int(column.max())
    return (column - low, high - low + 1) if high - low < LARGEST_KEY else _numbered(column)


def _numbered(column: Ints) -> tuple[Ints, int]:
    values, place = np.unique(column, return_inverse=True)
    return place, len(values)


def _whole_predictions(pred_ids: Ints, sizes: Areas, ignored: Areas) -> Predictions:
    ids, owner = np.unique(pred_ids, return_inverse=True)
    whole_sizes, whole_ignored = (sum_by(owner, v, len(ids)) for v in (sizes, ignored))
    return Predictions(ids, whole_sizes, whole_ignored, np.arange(len(pred_ids)), owner)


@dataclass(frozen=True, slots=True, eq=False)
class ClassOverlaps(Mapping[int, Overlap]):
    """The overlap of every class, by class id; those of disjoint chunks of one image add.

    Attributes
    ----------
    classes, parts
        All classes, whether they occur or not; and the parts of those that have some, by position.
    graph
        All classes in one graph: edges never join two classes. Its ids are numbers 1 … n of all
        segments of both sides; a reference and a prediction with the same class and id share one.
        The graph of one class whose predictions are cut by regions keeps its own ids.
    ref_classes, ref_ids, pred_classes, pred_ids
        Class position and own id of every reference and every prediction of the graph.
    across
        Edges of the graph between segments of different classes, which never match.

    Examples
    --------
    >>> import panmatch as pm
    >>> kinds = [pm.SegmentClass(1, "cell"), pm.SegmentClass(2, "tissue", thing=False)]
    >>> reference = pm.from_maps([[1, 1, 2, 2]], [[7, 7, 0, 0]], kinds)
    >>> prediction = pm.from_maps([[1, 2, 2, 2]], [[7, 0, 0, 0]], kinds)
    >>> overlaps = pm.count_class_overlaps(reference, prediction)
    >>> list(overlaps), overlaps[1]
    ([1, 2], Overlap(1 reference, 1 prediction, 1 edge))
    >>> overlaps[2].iou.round(3).tolist()
    [0.667]
    """

    classes: tuple[SegmentClass, ...]
    graph: Overlap
    ref_classes: Ints
    ref_ids: Ints
    pred_classes: Ints
    pred_ids: Ints
    parts: dict[int, Parts]
    across: Edges

    @classmethod
    def of_one(cls, kind: SegmentClass, overlap: Overlap) -> ClassOverlaps:
        """Return the overlap of plain label images as that of images with one class."""
        refs, preds = ((np.zeros_like(ids), ids) for ids in (overlap.ref_ids, overlap.pred_ids))
        none = np.zeros(0, np.int64)
        if overlap.pieces is not None:  # regions have the ids of references
            return cls((kind,), overlap, *refs, *preds, {}, Edges(none, none, none))
        (ref_numbers, pred_numbers), _ = number_segments(refs, preds)
        graph = _with_ids(overlap.without_parts(), ref_numbers, pred_numbers)
        parts = {} if overlap.parts is None else {0: overlap.parts}
        return cls((kind,), graph, *refs, *preds, parts, Edges(none, none, none))

    def __getitem__(self, class_id: int) -> Overlap:
        place = next(
            (place for place, kind in enumerate(self.classes) if kind.id == class_id), None
        )
        if place is None:
            raise KeyError(class_id)
        if self.graph.pieces is not None:  # there is only one class
            return self.graph
        refs, preds = (
            slice(*np.searchsorted(classes, [place, place + 1]).tolist())
            for classes in (self.ref_classes, self.pred_classes)
        )
        graph = self.graph
        edges = slice(*np.searchsorted(graph.edges.ref, [refs.start, refs.stop]).tolist())
        return Overlap(
            ref_ids=self.ref_ids[refs],
            ref_sizes=graph.ref_sizes[refs],
            pred_ids=self.pred_ids[preds],
            pred_sizes=graph.pred_sizes[preds],
            edges=Edges(
                graph.edges.ref[edges] - refs.start,
                graph.edges.pred[edges] - preds.start,
                graph.edges.intersection[edges],
            ),
            pred_void=graph.pred_void[preds],
            pred_crowd=None if graph.pred_crowd is None else graph.pred_crowd[preds],
            parts=self.parts.get(place),
            voxels=graph.voxels,
        )

    def __iter__(self) -> Iterator[int]:
        return (kind.id for kind in self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def __add__(self, other: ClassOverlaps) -> ClassOverlaps:
        if not isinstance(other, ClassOverlaps):
            return NotImplemented
        if self.classes != other.classes:
            raise OverlapError("class overlaps can only be added if they have the same classes.")
        sums = {place: self[kind.id] + other[kind.id] for place, kind in enumerate(self.classes)
                if kind.has_parts}  # fmt: skip
        parts = {place: total.parts for place, total in sums.items() if total.parts is not None}
        sides = [
            side
            for overlaps in (self, other)
            for side in (
                (overlaps.ref_classes, overlaps.ref_ids),
                (overlaps.pred_classes, overlaps.pred_ids),
            )
        ]
        numbers, (classes, ids) = number_segments(*sides)
        graph = _with_ids(self.graph, *numbers[:2]) + _with_ids(other.graph, *numbers[2:])
        refs, preds = graph.ref_ids - 1, graph.pred_ids - 1
        own = classes[refs], ids[refs], classes[preds], ids[preds]
        one, two = self.across, other.across
        across = summed_edges(
            np.searchsorted(graph.ref_ids, np.append(numbers[0][one.ref], numbers[2][two.ref])),
            np.searchsorted(graph.pred_ids, np.append(numbers[1][one.pred], numbers[3][two.pred])),
            np.append(one.intersection, two.intersection),
            len(graph.pred_ids),
        )
        return ClassOverlaps(self.classes, graph, *own, parts, across)

    def moved(self, preds: Ints, to: Ints) -> dict[int, Overlap]:
        """Return the overlaps of all classes that change when predictions move to other classes.

        Predictions get new ids there, with those that moved at the end; parts are dropped.

        Parameters
        ----------
        preds, to
            Positions of the predictions in the graph, and of their new classes.
        """
        graph, n = self.graph, len(self.graph.pred_ids)
        classes = self.pred_classes.copy()
        classes[preds] = to
        has_moved = classes != self.pred_classes
        edges = summed_edges(
            np.concatenate([graph.edges.ref, self.across.ref]),
            np.concatenate([graph.edges.pred, self.across.pred]),
            np.concatenate([graph.edges.intersection, self.across.intersection]),
            n,
        )
        found = {}
        for place in np.unique(np.concatenate([self.pred_classes[preds], to])).tolist():
            refs = slice(*np.searchsorted(self.ref_classes, [place, place + 1]).tolist())
            members = np.flatnonzero(classes == place)
            members = members[np.argsort(has_moved[members], kind="stable")]
            position = np.full(n, -1)
            position[members] = np.arange(len(members))
            here = (self.ref_classes[edges.ref] == place) & (position[edges.pred] >= 0)
            crowd = graph.pred_crowd
            found[self.classes[place].id] = Overlap(
                ref_ids=self.ref_ids[refs],
                ref_sizes=graph.ref_sizes[refs],
                pred_ids=np.arange(1, len(members) + 1),
                pred_sizes=graph.pred_sizes[members],
                edges=summed_edges(
                    edges.ref[here] - refs.start,
                    position[edges.pred[here]],
                    edges.intersection[here],
                    len(members),
                ),
                pred_void=graph.pred_void[members],
                pred_crowd=None if crowd is None else np.where(has_moved, 0, crowd)[members],
                voxels=graph.voxels,
            )
        return found


def summed_edges(ref: Ints, pred: Ints, shared: Areas, n_preds: int) -> Edges:
    """Return edges in their order, those between the same two segments added up.

    Examples
    --------
    >>> edges = summed_edges(np.array([1, 0, 1]), np.array([0, 1, 0]), np.array([2, 5, 3]), 2)
    >>> edges.ref, edges.pred, edges.intersection
    (array([0, 1]), array([1, 0]), array([5, 5]))
    """
    keys, at = np.unique(ref * max(n_preds, 1) + pred, return_inverse=True)
    return Edges(*np.divmod(keys, max(n_preds, 1)), sum_by(at, shared, len(keys)))


def number_segments(*sides: tuple[Ints, Ints]) -> tuple[list[Ints], list[Ints]]:
    """Give all segments of some sides a number from 1 on, by class, then id.

    A side is given by the class positions and ids of its segments. Return the numbers of the
    segments of every side, equal for equal segments, and the class and id of every number.
    """
    segments, place = distinct_rows([np.concatenate(column) for column in zip(*sides, strict=True)])
    ends = np.cumsum([len(ids) for _, ids in sides])[:-1]
    return np.split(place + 1, ends), segments


def _with_ids(graph: Overlap, ref_ids: Ints, pred_ids: Ints) -> Overlap:
    return replace(graph, ref_ids=ref_ids, pred_ids=pred_ids)
