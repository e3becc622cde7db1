"""Absolute volume difference."""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison
from panmatch.scoring.metrics.metric import Metric


def absolute_volume_difference(objects: Comparison) -> Floats:
    """Return | |p| − |g| | in physical units per row.

    In physical units; some tools give this name to the absolute value of the relative
    difference.
    """
    return np.abs(objects.pred_voxels - objects.ref_voxels) * objects.voxel_volume


METRIC = Metric(
    name="absolute_volume_difference",
    title="Absolute volume difference",
    formula="| |p| − |g| | · volume of a voxel",
    lowest=0.0,
    highest=float("inf"),
    better="lower",
    unit="mm³",
    needs="overlap",
    missed="its volume",
    false_positive="its volume",
    penalised=False,
    compute=absolute_volume_difference,
)
