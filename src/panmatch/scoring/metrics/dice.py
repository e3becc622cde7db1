"""Dice coefficient (F1 on voxels)."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison, share
from panmatch.scoring.metrics.metric import Metric


def dice(objects: Comparison) -> Floats:
    """Return 2 |g ∩ p| / (|g| + |p|) per row.

    The same everywhere; tools differ on two empty masks, where ours is NaN.
    """
    return share(2 * objects.shared, objects.ref_voxels + objects.pred_voxels)


METRIC = Metric(
    name="dice",
    title="Dice coefficient (F1 on voxels)",
    formula="2 |g ∩ p| / (|g| + |p|)",
    lowest=0.0,
    highest=1.0,
    better="higher",
    unit="",
    needs="overlap",
    missed="0",
    false_positive="0",
    penalised=False,
    compute=dice,
)
