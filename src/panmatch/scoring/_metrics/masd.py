"""Mean average surface distance."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import distance_metric
from panmatch.scoring._objects import ComparedObjects


def masd(objects: ComparedObjects) -> Floats:
    """Return the mean of the two directed mean distances, per row.

    As in Metrics Reloaded. panoptica and MedPy 0.4.0 call it ASSD; in MedPy 0.5.2, ASSD is assd.
    """
    there, back = objects.surface.from_ref, objects.surface.from_pred
    return objects.scatter((there.sums() / there.lengths + back.sums() / back.lengths) / 2)


METRIC = distance_metric(masd, "Mean average surface distance", "½ (mean d(∂g→∂p) + mean d(∂p→∂g))")
