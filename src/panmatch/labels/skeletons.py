"""Centre lines of objects that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels.surfaces import Floats, ObjectPairs
from panmatch.labels.validation import LabelArray


@dataclass(frozen=True, slots=True, eq=False)
class SkeletonOverlaps:
    """One row per pair.

    Attributes
    ----------
    ref_length, pred_length
        Voxels of the skeleton of the reference, and of the prediction.
    ref_inside, pred_inside
        How many of those lie in the other object.
    """

    ref_length: Floats
    ref_inside: Floats
    pred_length: Floats
    pred_inside: Floats


def skeleton_overlaps(
    reference: LabelArray, prediction: LabelArray, pairs: ObjectPairs
) -> SkeletonOverlaps:
    """Thin both objects of every pair to their skeletons, with scikit-image, on a crop.

    Thinning in 3-D can leave nothing of a small block of even thickness; its most central voxel
    stands in for the skeleton then, so that the skeleton of an object is never empty.

    Parameters
    ----------
    reference, prediction
        Label images of one shape, 2-D or 3-D.
    pairs
        What belongs to what.
    """
    if reference.ndim not in (2, 3):
        raise OptionError(
            f"metrics: cldice needs a skeleton, which is defined in 2-D and 3-D, but the images "
            f"have {reference.ndim} axes: leave cldice out."
        )
    found = np.zeros((len(pairs.ref_ids), 4))
    for row, ref_id in enumerate(pairs.ref_ids):
        box = tuple(map(slice, pairs.start[row], pairs.stop[row]))
        ids = pairs.pred_ids[pairs.pred_first[row] : pairs.pred_first[row + 1]]
        ref, pred = reference[box] == ref_id, np.isin(prediction[box], ids)
        ref_line, pred_line = _skeleton(ref), _skeleton(pred)
        found[row] = ref_line.sum(), ref_line[pred].sum(), pred_line.sum(), pred_line[ref].sum()
    return SkeletonOverlaps(*found.T)


def _skeleton(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    from skimage import morphology

    thin: Any = morphology.skeletonize  # it has no types
    line: npt.NDArray[Any] = thin(np.pad(mask, 1)) > 0
    line = line[(slice(1, -1),) * mask.ndim]
    if not line.any():
        line[_central_voxel(mask)] = True
    return line


def _central_voxel(mask: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the voxel nearest to the centre of mass, the first of several."""
    voxels = np.argwhere(mask)
    nearest = int(((voxels - voxels.mean(0)) ** 2).sum(1).argmin())
    return tuple(voxels[nearest].tolist())
