"""Relative volume error."""

from __future__ import annotations

import numpy as np

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import Metric
from panmatch.scoring._objects import ComparedObjects


def relative_volume_error(objects: ComparedObjects) -> Floats:
    """Return | |p| − |g| | / |g| per row.

    The absolute value of relative_volume_difference: in an average, too much in one object cannot
    make up for too little in another. panoptica calls it RVAE; for two empty masks panoptica
    returns 0, and panmatch NaN.
    """
    return ratio(np.abs(objects.pred_voxels - objects.ref_voxels), objects.ref_voxels)


METRIC = Metric(
    name="relative_volume_error",
    title="Relative volume error",
    formula="| |p| − |g| | / |g|",
    lowest=0.0,
    highest=float("inf"),
    better="lower",
    dimension="",
    needs="overlap",
    missed="1",
    false_positive="NaN",
    penalised=False,
    compute=relative_volume_error,
)
