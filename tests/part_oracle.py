"""Part quality voxel by voxel, as D9 says it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[Any]
VOID = -1


def part_quality(
    reference: npt.NDArray[np.bool_],
    prediction: npt.NDArray[np.bool_],
    reference_parts: Labels,
    prediction_parts: Labels,
    *,
    labels: list[int],
    background: str,
    left_out: npt.NDArray[np.bool_],
) -> float:
    """Return the mean IoU over labels of one matched pair.

    Parts are 0 for none and −1 for void; `left_out` are void voxels of the scene.
    """
    ref = np.where(reference, reference_parts, 0)
    pred = np.where(prediction, prediction_parts, 0)
    seen = ~left_out & (ref != VOID)
    ref, pred = ref[seen], pred[seen]
    ious = []
    for label in [*labels, *([0] if background == "image" else [])]:
        hits = int(((ref == label) & (pred == label)).sum())
        union = int(((ref == label) | (pred == label)).sum())
        if union:
            ious.append(hits / union)
    if ious:
        return float(np.mean(ious))
    both = reference & prediction & ~left_out
    return float(both.sum() / ((reference | prediction) & ~left_out).sum())
