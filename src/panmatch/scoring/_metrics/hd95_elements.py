"""95th percentile Hausdorff distance over surface elements, the larger of the two directions."""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def hd95_elements(objects: ComparedObjects) -> Floats:
    """Return the larger of the two directed 95th percentiles by area per row.

    As in DeepMind's surface-distance, which BraTS uses: boundaries run between voxels, every
    element of a boundary is weighted by its area, and the percentile is one of the distances, never
    a value between two of them.
    """
    found = [
        max(from_ref.quantile(0.95), from_pred.quantile(0.95))
        for from_ref, from_pred in objects.elements
    ]
    return objects.scatter(np.array(found, np.float64))


METRIC = distance_metric(
    hd95_elements,
    "95th percentile Hausdorff distance over surface elements weighted by area",
    "max(P95 d(∂g→∂p), P95 d(∂p→∂g)) by area",
)
