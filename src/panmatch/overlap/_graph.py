"""The bipartite graph of overlapping segments: all that later stages know about the voxels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import OverlapError, check_choice
from panmatch.labels import Floats, Ints
from panmatch.overlap._addition import add_overlaps
from panmatch.overlap._columns import Areas, as_areas, check_consistency
from panmatch.overlap._confidence import (
    check_cut,
    keep_predictions,
    needed_confidence,
    read_confidence,
)
from panmatch.overlap._parts import Parts
from panmatch.overlap._pieces import Pieces, Predictions
from panmatch.overlap._sharing import Sharing
from panmatch.overlap._shown import counts_text, overlap_html
from panmatch.overlap._storage import columns_of, fields_of, json_columns
from panmatch.overlap._thresholds import check_threshold

Score = Literal["iou", "dice", "prediction-share", "reference-share"]

JSON_FORMAT = "panmatch-overlap-1"


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Pairs of segments that share at least one voxel, sorted by reference, then prediction.

    Columns are attributes or items: ``edges.ref`` and ``edges["ref"]`` are the same array.

    Attributes
    ----------
    ref, pred
        Positions in `Overlap.ref_ids` and `Overlap.pred_ids`, int64.
    intersection
        Shared voxels I(g, p), int64, or float64 for areas from geometry.
    """

    ref: Ints
    pred: Ints
    intersection: Areas

    def __len__(self) -> int:
        return len(self.ref)

    def __getitem__(self, column: str) -> Areas:
        check_choice("column", column, ("ref", "pred", "intersection"))
        values: Areas = getattr(self, column)
        return values


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """Sizes of all segments of two label images and of every intersection (D1, D2).

    Build one with `count_overlaps` or `Overlap.from_dense`. You can add the overlaps of disjoint
    chunks of one image: ``a + b`` sums all counts by id.

    Where predictions are cut by the regions of the references (`count_region_overlaps`), the
    vertices of the prediction side are pieces: `pred_ids` then repeats the id of a prediction for
    each of its pieces, and `predictions` lists the whole predictions.

    Attributes
    ----------
    ref_ids, pred_ids
        Segment ids, rising, int64 (pieces of one prediction share its id).
    ref_sizes, pred_sizes
        Voxels per segment, int64 (float64 for areas from geometry). `ref_sizes` counts voxels
        outside void, `pred_sizes` all voxels.
    edges
        The pairs that share a voxel.
    pred_void
        Voxels of each prediction that lie in void; they are left out of the union (D1, D10).
    pred_crowd
        Voxels of each prediction in crowd of its own class: they stay in the union, but a
        prediction more than half in void and crowd is dismissed (D10). None for no crowd.
    pieces
        How predictions are cut; None where they are whole.
    parts
        Voxels of the parts of segments; None where quality is plain IoU (D9).
    voxels
        All voxels outside void, background included; None where nobody has said. Only scores that
        count background as a segment need it.
    sharing
        Voxels that several masks of one side share (D16); None where the segments of each side
        are disjoint.
    confidence
        Confidence of every prediction, in the order of ``predictions.ids``; None if unknown.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[6, 2], [0, 5]], ref_sizes=[10, 5], pred_sizes=[6, 9])
    >>> ov.edges.ref, ov.edges.pred, ov.edges.intersection
    (array([0, 0, 1]), array([0, 1, 1]), array([6, 2, 5]))
    >>> ov.iou
    array([0.6       , 0.11764706, 0.55555556])
    """

    ref_ids: Ints
    ref_sizes: Areas
    pred_ids: Ints
    pred_sizes: Areas
    edges: Edges
    pred_void: Areas
    pred_crowd: Areas | None = None
    pieces: Pieces | None = None
    parts: Parts | None = None
    voxels: float | None = None
    sharing: Sharing | None = None
    confidence: Floats | None = None

    def __post_init__(self) -> None:
        columns = self.columns()
        check_consistency(columns)
        for column in columns.values():
            column.flags.writeable = False

    @classmethod
    def of_counts(
        cls,
        ref: tuple[Ints, Ints],
        pred: tuple[Ints, Ints, Ints],
        edges: Edges,
        voxels: int,
    ) -> Overlap:
        """Build the overlap of two whole images from read-only counts that fit together, unchecked.

        Parameters
        ----------
        ref, pred
            Ids and sizes of the segments of either side, and the voxels of predictions in void.
        """
        made = object.__new__(cls)
        rest = (None, None, None, voxels, None, None)
        for name, value in zip(
            cls.__slots__, (*ref, *pred[:2], edges, pred[2], *rest), strict=True
        ):
            object.__setattr__(made, name, value)
        return made

    @classmethod
    def from_dense(
        cls,
        intersections: npt.ArrayLike,
        ref_sizes: npt.ArrayLike,
        pred_sizes: npt.ArrayLike,
        *,
        voxels: float | None = None,
    ) -> Overlap:
        """Build an overlap from a table of intersections; ids are 1 … n.

        Parameters
        ----------
        intersections
            Shape (references, predictions), always [ref, pred]. Zero means no edge.
        ref_sizes, pred_sizes
            Size of every segment. Integers stay int64; floats (areas) become float64.
        voxels
            All voxels of the image, background included; None if they do not matter.

        Raises
        ------
        OverlapError
            If the table does not fit the sizes, or a segment is smaller than its intersections.
        """
        refs, preds = as_areas(ref_sizes, "ref_sizes"), as_areas(pred_sizes, "pred_sizes")
        table = as_areas(intersections, "intersections")
        if table.size == 0:
            table = table.reshape(len(refs), len(preds))
        if table.shape != (len(refs), len(preds)):
            raise OverlapError(
                f"intersections has shape {table.shape}, but there are {len(refs)} ref_sizes and "
                f"{len(preds)} pred_sizes; the table must be [ref, pred]."
            )
        if (table < 0).any():
            raise OverlapError(f"intersections holds {table.min()}; areas cannot be negative.")
        ref, pred = np.nonzero(table)
        return cls(
            ref_ids=np.arange(1, len(refs) + 1),
            ref_sizes=refs,
            pred_ids=np.arange(1, len(preds) + 1),
            pred_sizes=preds,
            edges=Edges(ref, pred, table[ref, pred]),
            pred_void=np.zeros_like(preds),
            voxels=voxels,
        )

    @classmethod
    def from_masks(
        cls,
        reference_masks: Iterable[object],
        prediction_masks: Iterable[object],
        *,
        confidence: npt.ArrayLike | None = None,
        crowd: Iterable[bool] | None = None,
        size: Sequence[int] | None = None,
    ) -> Overlap:
        """Build an overlap from masks that may share voxels (D16); ids are 1 … n.

        Masks become runs of voxels, one after the other, so memory grows with their outlines, not
        with their number times the image. A mask without voxels is not a segment: it is left out,
        and the others keep their ids.

        Parameters
        ----------
        reference_masks, prediction_masks
            Masks of one image. Each is a boolean array, a run-length encoding of COCO (a mapping
            with ``size`` and ``counts``, compressed or not), or a list of polygons.
        confidence
            Of every prediction, in the order of `prediction_masks`.
        crowd
            Which references are crowd: never false negatives, and an unmatched prediction more than
            half in crowd is dismissed (D10).
        size
            Shape of the image, if there are polygons.

        Raises
        ------
        LabelError, ShapeError
            If a mask cannot be read, or masks differ in shape.

        Examples
        --------
        >>> import numpy as np
        >>> import panmatch as pm
        >>> whole, left, right = np.zeros((3, 1, 6), bool)
        >>> whole[:, :5], left[:, :3], right[:, 2:5] = True, True, True
        >>> ov = pm.Overlap.from_masks([whole], [left, right])
        >>> ov.iou
        array([0.6, 0.6])
        >>> pm.match(ov, "many-to-one").tally
        Tally(tp=1, fp=0, fn=0, quality=1.0)
        """
        from panmatch.overlap._mask_counting import count_masks

        return count_masks(reference_masks, prediction_masks, confidence, crowd, size)

    def with_confidence(self, values: npt.ArrayLike | Mapping[int, float]) -> Overlap:
        """Return the same overlap with a confidence for every prediction.

        Parameters
        ----------
        values
            One finite number per prediction, in the order of ``predictions.ids`` (which is that of
            `pred_ids` unless predictions are cut by regions), or a mapping from id to number.

        Raises
        ------
        OverlapError
            If a prediction has none, an id is unknown, or a value is not a finite number.

        Examples
        --------
        >>> import panmatch as pm
        >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 7, 7])
        >>> ov.with_confidence({7: 0.3, 4: 0.9}).confidence
        array([0.9, 0.3])
        """
        return replace(self, confidence=read_confidence(values, self.predictions.ids))

    def above_cut(self, cut: float) -> Overlap:
        """Keep all references, and the predictions with a confidence of at least `cut`.

        Examples
        --------
        >>> import panmatch as pm
        >>> ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 7, 7]).with_confidence([0.9, 0.3])
        >>> ov.above_cut(0.5).pred_ids
        array([4])
        """
        return keep_predictions(self, needed_confidence(self) >= check_cut(cut))

    @property
    def pred_areas(self) -> Areas:
        """Size of each prediction outside void: what counts in a union."""
        return self.pred_sizes - self.pred_void

    @property
    def pred_ignored(self) -> Areas:
        """Voxels of each prediction in void, or in crowd of its own class."""
        return self.pred_void if self.pred_crowd is None else self.pred_void + self.pred_crowd

    @property
    def ignores_nothing(self) -> bool:
        """Whether no prediction has a voxel in void or crowd."""
        return self.pred_crowd is None and not self.pred_void.any()

    @property
    def predictions(self) -> Predictions:
        """The whole predictions behind the vertices of that side: what false positives are."""
        if self.pieces is not None:
            return self.pieces.predictions
        every = np.arange(len(self.pred_ids))
        return Predictions(self.pred_ids, self.pred_sizes, self.pred_ignored, every, every)

    @property
    def dismissible(self) -> npt.NDArray[np.bool_]:
        """Vertices of predictions more than half in void or crowd: never a false positive (D10)."""
        whole = self.predictions
        counted = np.zeros(len(self.pred_ids), np.bool_)
        counted[whole.vertex[~whole.dismissible[whole.owner]]] = True
        return ~counted

    @property
    def iou(self) -> Floats:
        """IoU of every edge: I / (|g| + |p| − I − |p∩void|) (D1)."""
        shared = self.edges.intersection
        iou: Floats = shared / (self._edge_refs() + self._edge_preds() - shared)
        return iou

    @property
    def dice(self) -> Floats:
        """Dice of every edge: 2 I / (|g| + |p| − |p∩void|)."""
        dice: Floats = 2 * self.edges.intersection / (self._edge_refs() + self._edge_preds())
        return dice

    def score(self, name: Score = "iou") -> Floats:
        """Score of every edge by name (D2).

        Parameters
        ----------
        name
            ``"iou"``, ``"dice"``, ``"prediction-share"`` (I/|p|) or ``"reference-share"``
            (I/|g|).
        """
        check_choice("score", name, get_args(Score))
        if name == "iou":
            return self.iou
        if name == "dice":
            return self.dice
        whole = self._edge_preds() if name == "prediction-share" else self._edge_refs()
        return self.edges.intersection / whole

    def above(self, threshold: float, score: Score = "iou") -> Overlap:
        """Keep all segments, and the edges with a score strictly above `threshold` (D2)."""
        keep = self.score(score) > check_threshold(threshold)
        edges = Edges(self.edges.ref[keep], self.edges.pred[keep], self.edges.intersection[keep])
        parts = None if self.parts is None else self.parts.of_edges(keep)
        return replace(self, edges=edges, parts=parts)

    def without_parts(self) -> Overlap:
        """Return the overlap of the parents alone: matching never looks at parts (D9)."""
        return self if self.parts is None else replace(self, parts=None)

    def components(self) -> tuple[Ints, Ints]:
        """Find the connected components of the graph.

        Returns
        -------
        refs, preds
            The component of every reference and of every prediction, numbered from 0 in the
            order of their first vertex. A segment without an edge is a component of its own.

        Examples
        --------
        >>> Overlap.from_dense([[1, 1, 0], [0, 0, 1]], [2, 2], [2, 2, 2]).components()
        (array([0, 1]), array([0, 0, 1]))
        """
        n_ref, n = len(self.ref_ids), len(self.ref_ids) + len(self.pred_ids)
        found = native.graph_components(self.edges.ref, n_ref + self.edges.pred, n)
        numbers = found.astype(np.intp)  # 32 bits in a browser, where NumPy counts nothing wider
        return numbers[:n_ref], numbers[n_ref:]

    def __add__(self, other: Overlap) -> Overlap:
        if not isinstance(other, Overlap):
            return NotImplemented
        return add_overlaps(self, other)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Overlap):
            return NotImplemented
        mine, theirs = self.columns(), other.columns()
        mine.pop("voxels", None), theirs.pop("voxels", None)  # a larger image, the same segments
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[name], theirs[name]) for name in mine
        )

    def columns(self) -> dict[str, Areas]:
        """Return everything as named 1-D arrays, for writing to files and for comparing.

        `Overlap.from_columns` turns them back into an overlap.
        """
        return columns_of(self)

    @classmethod
    def from_columns(cls, columns: Mapping[str, npt.ArrayLike]) -> Overlap:
        """Build an overlap from the arrays that `columns` returns, after checking them."""
        fields = fields_of(columns)
        return cls(edges=Edges(*fields.pop("edges")), **fields)

    def to_json(self) -> str:
        """Return the overlap as JSON text; numbers survive exactly.

        Examples
        --------
        >>> ov = Overlap.from_dense([[6]], ref_sizes=[10], pred_sizes=[6])
        >>> Overlap.from_json(ov.to_json()) == ov
        True
        """
        import json

        lists = {name: column.tolist() for name, column in self.columns().items()}
        return json.dumps({"format": JSON_FORMAT, **lists})

    @classmethod
    def from_json(cls, text: str) -> Overlap:
        """Read what `to_json` wrote."""
        return cls.from_columns(json_columns(text, JSON_FORMAT))

    def __repr__(self) -> str:
        return f"Overlap({counts_text(self)})"

    def _repr_html_(self) -> str:
        """Show the counts and the edges with the highest IoU in a notebook."""
        return overlap_html(self)

    def _edge_refs(self) -> Areas:
        return self.ref_sizes[self.edges.ref]

    def _edge_preds(self) -> Areas:
        return self.pred_areas[self.edges.pred]
