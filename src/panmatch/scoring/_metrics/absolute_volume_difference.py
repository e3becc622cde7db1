"""Absolute volume difference."""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import Metric
from panmatch.scoring._objects import ComparedObjects


def absolute_volume_difference(objects: ComparedObjects) -> Floats:
    """Return | |p| − |g| | in physical units per row.

    In physical units. Some tools use this name for the absolute value of the relative difference.
    """
    return np.abs(objects.pred_voxels - objects.ref_voxels) * objects.voxel_volume


METRIC = Metric(
    "absolute_volume_difference", "Absolute volume difference",
    "| |p| − |g| | · volume of a voxel",
    0.0, float("inf"), "lower", "volume", "overlap", "its volume", "its volume", False,
    absolute_volume_difference,
)  # fmt: skip
