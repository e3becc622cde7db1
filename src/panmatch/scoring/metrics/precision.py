"""Precision on voxels (positive predictive value)."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison, share
from panmatch.scoring.metrics.metric import Metric


def precision(objects: Comparison) -> Floats:
    """Return |g ∩ p| / |p| per row.

    The same everywhere; without a prediction it is 0/0.
    """
    return share(objects.shared, objects.pred_voxels)


METRIC = Metric(
    name="precision",
    title="Precision on voxels (positive predictive value)",
    formula="|g ∩ p| / |p|",
    lowest=0.0,
    highest=1.0,
    better="higher",
    unit="",
    needs="overlap",
    missed="NaN",
    false_positive="0",
    penalised=False,
    compute=precision,
)
