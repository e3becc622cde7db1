"""Recall on voxels (sensitivity)."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison, share
from panmatch.scoring.metrics.metric import Metric


def recall(objects: Comparison) -> Floats:
    """Return |g ∩ p| / |g| per row.

    The same everywhere; without a reference it is 0/0.
    """
    return share(objects.shared, objects.ref_voxels)


METRIC = Metric(
    name="recall",
    title="Recall on voxels (sensitivity)",
    formula="|g ∩ p| / |g|",
    lowest=0.0,
    highest=1.0,
    better="higher",
    unit="",
    needs="overlap",
    missed="0",
    false_positive="NaN",
    penalised=False,
    compute=recall,
)
