"""Surface metrics by definition: every boundary voxel against every other one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def boundary(mask: Mask) -> Mask:
    """Voxels of the object with a face neighbour that is not of it, or beyond the image."""
    edge = np.zeros_like(mask)
    for index in np.argwhere(mask):
        for axis in range(mask.ndim):
            for step in (-1, 1):
                neighbour = index.copy()
                neighbour[axis] += step
                inside = 0 <= neighbour[axis] < mask.shape[axis]
                if not inside or not mask[tuple(neighbour)]:
                    edge[tuple(index)] = True
    return edge


def directed(first: Mask, second: Mask, spacing: Any) -> Floats:
    """Distance from each boundary voxel of `first` to the nearest one of `second`."""
    here, there = (np.argwhere(boundary(mask)) * np.asarray(spacing) for mask in (first, second))
    apart: Floats = np.linalg.norm(here[:, np.newaxis] - there[np.newaxis], axis=2)
    nearest: Floats = apart.min(1)
    return nearest


def surface_metrics(
    reference: Mask, prediction: Mask, spacing: Any, tolerance: float
) -> dict[str, float]:
    """Return every surface metric of one pair."""
    there = directed(reference, prediction, spacing)
    back = directed(prediction, reference, spacing)
    both = np.concatenate([there, back])
    return {
        "hd": both.max(),
        "hd95": max(np.percentile(there, 95), np.percentile(back, 95)),
        "hd95_pooled": np.percentile(both, 95),
        "assd": both.mean(),
        "masd": (there.mean() + back.mean()) / 2,
        "asd_from_prediction": back.mean(),
        "nsd": float(np.mean(both <= tolerance + 1e-9)),
    }


def band(mask: Mask, width: float, spacing: Any) -> Mask:
    """Voxels of the object at most `width` from a voxel outside it, beyond the image included."""
    padded = np.pad(mask, 1)
    outside = np.argwhere(~padded) * np.asarray(spacing)
    kept = np.zeros_like(mask)
    for index in np.argwhere(mask):
        place = (index + 1) * np.asarray(spacing)
        kept[tuple(index)] = np.linalg.norm(outside - place, axis=1).min() <= width + 1e-9
    return kept
