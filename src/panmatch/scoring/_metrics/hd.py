"""Hausdorff distance."""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def hd(objects: ComparedObjects) -> Floats:
    """Return the largest distance from one boundary to the other per row.

    As in MedPy, panoptica, MONAI and Metrics Reloaded. surface-distance measures between surface
    elements instead of voxel centres.
    """
    found = objects.surface
    return objects.scatter(np.maximum(found.from_ref.maxima(), found.from_pred.maxima()))


METRIC = distance_metric(hd, "Hausdorff distance", "max(max d(∂g→∂p), max d(∂p→∂g))")
