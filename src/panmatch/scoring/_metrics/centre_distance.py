"""Centre-of-mass distance."""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def centre_distance(objects: ComparedObjects) -> Floats:
    """Return the distance between the centres of mass per row.

    As in panoptica (centre distance), but with spacing: positions are index × spacing.
    """
    apart: Floats = np.linalg.norm(objects.ref_centroid - objects.pred_centroid, axis=1)
    return apart


METRIC = distance_metric(
    centre_distance,
    "Centre-of-mass distance",
    "‖mean position of g − mean position of p‖",
    needs="geometry",
)
