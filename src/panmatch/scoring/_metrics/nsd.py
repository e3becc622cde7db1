"""Normalised surface Dice (surface Dice at a tolerance)."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import share_metric
from panmatch.scoring._objects import ComparedObjects


def nsd(objects: ComparedObjects) -> Floats:
    """Return the share of both boundaries that lies within the tolerance, per row.

    Both boundaries are pooled, as in Metrics Reloaded. panoptica takes the mean of the two shares;
    surface-distance weights surface elements by their area.
    """
    there, back = objects.surface.from_ref, objects.surface.from_pred
    tolerance = objects.tolerance
    near = there.within(tolerance) + back.within(tolerance)
    return objects.scatter(near / (there.lengths + back.lengths), otherwise=0.0)


METRIC = share_metric(
    nsd,
    "Normalised surface Dice (surface Dice at a tolerance)",
    "share of the voxels of ∂g and ∂p within the tolerance of the other boundary",
    needs="surface",
)
