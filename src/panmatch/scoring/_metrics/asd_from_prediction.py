"""Average surface distance from the prediction to the reference: one direction only."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def asd_from_prediction(objects: ComparedObjects) -> Floats:
    """Return the mean distance from the boundary of the prediction to that of g, per row.

    As in MedPy (as ASD) and MONAI, whose SurfaceDistanceMetric is one-directional by default. A
    prediction that leaves out part of g may still score well: assd and masd look both ways.
    """
    back = objects.surface.from_pred
    return objects.scatter(back.sums() / back.lengths)


METRIC = distance_metric(
    asd_from_prediction,
    "Average surface distance from the prediction, one direction",
    "mean d(∂p→∂g)",
)
