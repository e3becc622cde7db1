"""95th percentile Hausdorff distance, the larger of the two directions."""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def hd95(objects: ComparedObjects) -> Floats:
    """Return the larger of the two directed 95th percentiles per row.

    As in MONAI and Metrics Reloaded. MedPy and panoptica take one percentile of both directions
    together, which is hd95_pooled here.
    """
    found = objects.surface
    return objects.scatter(
        np.maximum(found.from_ref.quantiles(0.95), found.from_pred.quantiles(0.95))
    )


METRIC = distance_metric(
    hd95,
    "95th percentile Hausdorff distance, the larger of the two directions",
    "max(P95 d(∂g→∂p), P95 d(∂p→∂g))",
)
