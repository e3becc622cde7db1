"""Relative volume error."""

from __future__ import annotations

import numpy as np

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import Metric
from panmatch.scoring._objects import ComparedObjects


def relative_volume_error(objects: ComparedObjects) -> Floats:
    """Return | |p| − |g| | / |g| per row.

    The size of relative_volume_difference without its sign, so that too much in one object does
    not make up for too little in another when values are averaged. panoptica calls it RVAE; for
    two empty masks its value is 0, ours is NaN.
    """
    return ratio(np.abs(objects.pred_voxels - objects.ref_voxels), objects.ref_voxels)


METRIC = Metric(
    "relative_volume_error", "Relative volume error",
    "| |p| − |g| | / |g|",
    0.0, float("inf"), "lower", "", "overlap", "1", "NaN", False,
    relative_volume_error,
)  # fmt: skip
