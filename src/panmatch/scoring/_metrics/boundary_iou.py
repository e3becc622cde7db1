"""Boundary IoU."""

from __future__ import annotations

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import share_metric
from panmatch.scoring._objects import ComparedObjects


def boundary_iou(objects: ComparedObjects) -> Floats:
    """Return the IoU of the inner bands per row.

    After Cheng et al. (2021), whose default width we keep: 2 % of the image diagonal,
    and at least one voxel.
    Distances are Euclidean and take the spacing into account; the published code counts erosions
    with a 3 × 3 square.
    """
    bands = objects.bands
    return ratio(bands.shared, bands.ref_voxels + bands.pred_voxels - bands.shared)


METRIC = share_metric(
    boundary_iou,
    "Boundary IoU",
    "IoU of the inner bands: voxels at most boundary_width from outside their object",
    needs="band",
)
