"""From a `Panoptic` back to one label image per class, for what needs to see voxels."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from panmatch.labels.chunked.volumes import Volume
from panmatch.labels.combinations import Counted, distinct_labels
from panmatch.labels.painting import paint_volumes
from panmatch.labels.panoptic import UNKNOWN_PART, Ints, Mask, Meaning, Panoptic


class SegmentImages:
    """The segments of one side, class by class.

    Parameters
    ----------
    side
        The label arrays, and what they mean.
    crowd
        Whether crowd is a segment as well, as it is in a prediction.
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
    >>> images = SegmentImages(side)
    >>> images.of_class(0).tolist(), images.void.tolist()
    ([[1, 2, 0, 0]], [[0, 0, 0, 1]])
    """

    def __init__(
        self,
        side: Panoptic,
        *,
        crowd: bool = False,
        threads: int | None = None,
        distinct: Counted | None = None,
    ) -> None:
        self._side, self._threads = side, threads
        self._crowd, self._known = crowd, distinct

    def of_class(self, at: int) -> Volume:
        """Return the ids of the segments of a class, by its position; 0 elsewhere."""
        return self._painted(np.where(self._belong_to(at), self._meaning.ids, 0))

    def parts_of_class(self, at: int, unknown: int) -> Volume:
        """Return the part labels on the segments of a class, `unknown` for unknown ones."""
        parts = self._meaning.parts
        parts = np.where(parts == UNKNOWN_PART, unknown, parts)
        return self._painted(np.where(self._belong_to(at), parts, 0))

    @cached_property
    def void(self) -> Volume | None:
        """Voxels about which nothing is known, not 0; None if there are none."""
        void = self._meaning.void
        return self._painted(void.astype(np.int64)) if void.any() else None

    def _belong_to(self, at: int) -> Mask:
        meaning = self._meaning
        ours: Mask = (meaning.classes == at) & (self._crowd | ~meaning.crowd) & ~meaning.void
        return ours

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
