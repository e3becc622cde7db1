"""From a `Panoptic` back to one label image per class, for what needs to see voxels."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from panmatch.labels.chunked.volumes import Volume
from panmatch.labels.combinations import Counted, distinct_labels
from panmatch.labels.painting import paint_volumes
from panmatch.labels.panoptic import UNKNOWN_PART, Ints, Meaning, Panoptic


class SegmentImages:
    """The segments of one side, class by class.

    Parameters
    ----------
    side
        The label arrays, and what they mean.
    unnumbered
        Id of things without a number.
    threads
        Number of threads; by default as many as pay.
    distinct
        All combinations of its labels and their voxels, as `distinct_labels` has them, if they
        are known already.

    Examples
    --------
    >>> from panmatch.labels.classes import SegmentClass
    >>> from panmatch.labels.coded_ids import from_cityscapes
    >>> side = from_cityscapes([[24000, 24001, 7, 0]], [SegmentClass(24), SegmentClass(7)])
    >>> images = SegmentImages(side, unnumbered=99)
    >>> images.of_class(0).tolist(), images.void.tolist()
    ([[1, 2, 0, 0]], [[0, 0, 0, 1]])
    """

    def __init__(
        self,
        side: Panoptic,
        *,
        unnumbered: int,
        crowd: bool = False,
        threads: int | None = None,
        distinct: Counted | None = None,
    ) -> None:
        self._side, self._unnumbered, self._threads = side, unnumbered, threads
        self._crowd, self._known = crowd, distinct

    def of_class(self, at: int) -> Volume:
        """Return the ids of the segments of a class, by its position; 0 elsewhere."""
        meaning = self._meaning
        ours = (meaning.classes == at) & (self._crowd | ~meaning.crowd) & ~meaning.void
        ids = np.where(meaning.instances == 0, self._unnumbered, meaning.instances)
        return self._painted(np.where(ours, ids, 0))

    def parts_of_class(self, at: int, unknown: int) -> Volume:
        """Return the part labels on the segments of a class, `unknown` for unknown ones."""
        meaning = self._meaning
        ours = (meaning.classes == at) & (self._crowd | ~meaning.crowd) & ~meaning.void
        parts = np.where(meaning.parts == UNKNOWN_PART, unknown, meaning.parts)
        return self._painted(np.where(ours, parts, 0))

    @cached_property
    def void(self) -> Volume:
        """Voxels about which nothing is known: not 0."""
        return self._painted(self._meaning.void.astype(np.int64))

    @cached_property
    def has_void(self) -> bool:
        """Whether there is any such voxel."""
        return bool(self._meaning.void.any())

    @cached_property
    def _distinct(self) -> Counted:
        if self._known is not None:
            return self._known
        return distinct_labels(self._side.arrays, threads=self._threads)

    @cached_property
    def _meaning(self) -> Meaning:
        columns, counts = self._distinct
        return self._side.decode(tuple(columns), counts)

    def _painted(self, numbers: Ints) -> Volume:
        """Return an image with the number of its combination on every voxel."""
        arrays, values = self._side.arrays, self._distinct[0]
        for array, column in zip(arrays, values, strict=True):
            if np.array_equal(numbers, column):
                return array
        return paint_volumes(arrays, values, numbers, threads=self._threads)
