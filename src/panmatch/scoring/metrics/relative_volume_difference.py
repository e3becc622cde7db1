"""Relative volume difference."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison, share
from panmatch.scoring.metrics.metric import Metric


def relative_volume_difference(objects: Comparison) -> Floats:
    """Return (|p| − |g|) / |g| per row.

    Signed: positive where too much was predicted. panoptica calls it RVD.
    """
    return share(objects.pred_voxels - objects.ref_voxels, objects.ref_voxels)


METRIC = Metric(
    name="relative_volume_difference",
    title="Relative volume difference",
    formula="(|p| − |g|) / |g|",
    lowest=-1.0,
    highest=float("inf"),
    better="zero",
    unit="",
    needs="overlap",
    missed="−1",
    false_positive="NaN",
    penalised=False,
    compute=relative_volume_difference,
)
