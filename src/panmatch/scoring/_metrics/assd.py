"""Average symmetric surface distance, all distances pooled."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def assd(objects: ComparedObjects) -> Floats:
    """Return the mean of the distances of both directions together, per row.

    As in Metrics Reloaded and MedPy 0.5.2. panoptica and MedPy 0.4.0 use the name ASSD for the
    mean of the two directed means, which is masd here.
    """
    there, back = objects.surface.from_ref, objects.surface.from_pred
    return objects.scatter((there.sums() + back.sums()) / (there.lengths + back.lengths))


METRIC = distance_metric(
    assd,
    "Average symmetric surface distance, all distances pooled",
    "(Σ d(∂g→∂p) + Σ d(∂p→∂g)) / (|∂g| + |∂p|)",
)
