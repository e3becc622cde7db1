"""95th percentile Hausdorff distance, both directions pooled."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def hd95_pooled(objects: ComparedObjects) -> Floats:
    """Return the 95th percentile of the distances of both directions together, per row.

    As in MedPy and panoptica, which call it HD95.
    """
    found = objects.surface
    return objects.scatter(found.from_ref.pooled(found.from_pred).quantiles(0.95))


METRIC = distance_metric(
    hd95_pooled,
    "95th percentile Hausdorff distance, both directions pooled",
    "P95 of d(∂g→∂p) and d(∂p→∂g) together",
)
