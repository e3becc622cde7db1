"""Normalised surface Dice (surface Dice at a tolerance)."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison
from panmatch.scoring.metrics.metric import share_metric


def nsd(objects: Comparison) -> Floats:
    """Return the share of both boundaries that lies within the tolerance, per row.

    Both boundaries pooled, as Metrics Reloaded. panoptica takes the mean of the two shares;
    surface-distance weighs surface elements by their area.
    """
    there, back = objects.surface.from_ref, objects.surface.from_pred
    tolerance = objects.tolerance_mm
    near = there.within(tolerance) + back.within(tolerance)
    return objects.scatter(near / (there.lengths + back.lengths), otherwise=0.0)


METRIC = share_metric(
    name="nsd",
    title="Normalised surface Dice (surface Dice at a tolerance)",
    formula="share of the voxels of ∂g and ∂p within tolerance_mm of the other boundary",
    compute=nsd,
    needs="surface",
)
