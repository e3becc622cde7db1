"""Average symmetric surface distance, all distances pooled."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def assd(objects: ComparedObjects) -> Floats:
    """Return the mean of the distances of both directions together, per row.

    As Metrics Reloaded and MedPy 0.5.2. panoptica and MedPy 0.4.0 call the mean of the two
    directed means ASSD: that is masd.
    """
    there, back = objects.surface.from_ref, objects.surface.from_pred
    return objects.scatter((there.sums() + back.sums()) / (there.lengths + back.lengths))


METRIC = distance_metric(
    assd,
    "Average symmetric surface distance, all distances pooled",
    "(Σ d(∂g→∂p) + Σ d(∂p→∂g)) / (|∂g| + |∂p|)",
)
