"""Average surface distance from the prediction to the reference: one direction only."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def asd_from_prediction(objects: ComparedObjects) -> Floats:
    """Return the mean distance from the boundary of the prediction to that of g, per row.

    As MedPy (there: ASD) and MONAI, whose SurfaceDistanceMetric has one direction unless it is
    told otherwise. What a prediction leaves out of g need not show: assd and masd look both ways.
    """
    back = objects.surface.from_pred
    return objects.scatter(back.sums() / back.lengths)


METRIC = distance_metric(
    asd_from_prediction,
    "Average surface distance from the prediction, one direction",
    "mean d(∂p→∂g)",
)
