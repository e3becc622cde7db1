"""How good each object is where masks may share voxels, so there is no label image (D16)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from panmatch.errors import OptionError
from panmatch.labels import Geometry, Masks, mask_geometry
from panmatch.matching import Matching
from panmatch.overlap import Ints, Unions, predictions_overlap
from panmatch.scoring._measure import Measurer, Metrics, need_voxels
from panmatch.scoring._metrics import resolve_metrics
from panmatch.scoring._objects import ComparedObjects
from panmatch.scoring._rows import ObjectRows, PieceImage, rows_of


@dataclass(frozen=True, eq=False)
class ComparedMasks(ComparedObjects):
    """Objects that are compared row by row; a voxel of several predictions counts once."""

    masks: Masks | None = None  # of all predictions
    ids: Ints | None = None  # of these masks

    @cached_property
    def pred_geometry(self) -> Geometry:
        """Voxels, centre and box of every row's union of predictions."""
        assert self.masks is not None
        assert self.ids is not None
        assert self.known is not None
        rows = self.rows
        found = self.known[1].unite(rows.pred_ids, self._pred_rows, len(self))
        for row in np.flatnonzero(np.diff(rows.pred_first) > 1).tolist():
            which = rows.pred_ids[rows.pred_first[row] : rows.pred_first[row + 1]]
            union = self.masks.take(np.searchsorted(self.ids, which)).union()
            one = mask_geometry(union, np.zeros(1, np.int64))
            found.voxels[row], found.coordinate_sums[row] = one.voxels[0], one.coordinate_sums[0]
        return found


class MaskMeasurer(Measurer):
    """Measures matchings of masks that may share voxels, by metrics of counts, centres and boxes.

    Parameters
    ----------
    reference, prediction
        All masks of either side.
    metrics
        As for `measure`.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch.labels import read_masks
    >>> whole, left, right = np.zeros((3, 1, 6), bool)
    >>> whole[:, :5], left[:, :3], right[:, 2:5] = True, True, True
    >>> masks = read_masks([whole], "masks"), read_masks([left, right], "masks")
    >>> matching = pm.match(pm.Overlap.from_masks([whole], [left, right]), "many-to-one")
    >>> MaskMeasurer(*masks, "dice").measure(matching).columns["pred_voxels"].tolist()
    [5]
    """

    def __init__(
        self, reference: Masks, prediction: Masks, metrics: Metrics = ("iou", "dice")
    ) -> None:
        if voxels := need_voxels(resolve_metrics(metrics)):
            raise OptionError(
                f"metrics: {', '.join(voxels)} need label images, but masks may share voxels. "
                f"Metrics of counts, centres and boxes can be used, such as iou and dice."
            )
        shape = prediction.shape if len(prediction) else reference.shape
        # A label image of the same shape that takes no memory.
        empty = np.broadcast_to(np.zeros((), np.uint8), shape)
        super().__init__(empty, empty, metrics)
        self._masks = reference, prediction

    @cached_property
    def _segments(self) -> tuple[Geometry, Geometry]:
        ref, pred = (mask_geometry(one, np.arange(1, len(one) + 1)) for one in self._masks)
        return ref, pred

    def _rows(self, matching: Matching, _: tuple[PieceImage, Geometry] | None) -> ObjectRows:
        rows, overlap = rows_of(matching), matching.overlap
        if not predictions_overlap(overlap):
            return rows
        voxels, shared = rows.pred_voxels.copy(), rows.shared.copy()
        unions, lengths = Unions(overlap), np.diff(rows.pred_first)
        for row in np.flatnonzero(lengths > 1).tolist():
            ids = rows.pred_ids[rows.pred_first[row] : rows.pred_first[row + 1]]
            twice = unions.excess(row, np.searchsorted(overlap.pred_ids, ids).tolist())
            shared[row] -= twice[0]
            voxels[row] -= twice[1]
        return replace(rows, pred_voxels=voxels, shared=shared)

    def _compared(self, rows: ObjectRows, _: tuple[PieceImage, Geometry] | None) -> ComparedObjects:
        preds = self._masks[1]
        return ComparedMasks(
            rows, *self._images, self._options, self._threads, self._segments,
            masks=preds, ids=np.arange(1, len(preds) + 1),
        )  # fmt: skip
