"""Relative volume difference."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import Metric
from panmatch.scoring._objects import ComparedObjects, share


def relative_volume_difference(objects: ComparedObjects) -> Floats:
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
    dimension="",
    needs="overlap",
    missed="−1",
    false_positive="NaN",
    penalised=False,
    compute=relative_volume_difference,
)
