"""Which objects touch others of their own side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from panmatch.labels._arrays import Ints, LabelArray, as_labels
from panmatch.labels._geometry import segment_geometry


def touching_labels(labels: npt.ArrayLike, name: str = "labels") -> Ints:
    """Return the labels with a voxel that shares a face with a voxel of another label, rising.

    Background touches nothing. Every axis is compared with itself, one voxel on, so this costs
    about as much as a few copies of the image.

    Parameters
    ----------
    labels
        Label image in memory, of any dimension.
    name
        What to call the argument in an error message.

    Examples
    --------
    >>> touching_labels([[1, 1, 2, 0], [0, 0, 0, 3]])
    array([1, 2])
    """
    found = [np.zeros(0, np.int64), *_neighbours(cropped(as_labels(labels, name)))]
    return np.unique(np.concatenate(found))


def cropped(labels: LabelArray) -> LabelArray:
    """Return the part of a label image around all of its objects, as a view.

    Examples
    --------
    >>> cropped(np.array([[0, 0, 0, 0], [0, 5, 0, 0], [0, 0, 7, 0]]))
    array([[5, 0],
           [0, 7]])
    """
    found = segment_geometry(labels)
    if not len(found.ids):
        return labels[(slice(0, 0),) * labels.ndim]
    box = zip(found.start.min(axis=0).tolist(), found.stop.max(axis=0).tolist(), strict=True)
    return labels[tuple(slice(*ends) for ends in box)]


def _neighbours(image: LabelArray) -> Iterator[Ints]:
    """Yield the labels on either side of every face between two of them, axis by axis."""
    for axis in range(image.ndim):
        along = np.moveaxis(image, axis, 0)
        before, after = along[:-1], along[1:]
        meet = (before != after) & (before != 0) & (after != 0)
        for side in (before, after):
            yield np.unique(side[meet]).astype(np.int64)
