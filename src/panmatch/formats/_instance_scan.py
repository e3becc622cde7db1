"""COCO instances straight from the bytes of a file, where they look as COCO writes them.

A native scanner goes through the annotations once and fills columns, without an object per
annotation. It takes only what it understands completely; the `json` module reads all else, decides
what is an error, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from mmap import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.labels import Floats, Ints, Mask, Masks, WrittenMasks

# Bits of what an annotation has, and how its segmentation is written, as in instances.hpp.
AREA, SCORE, BOX, SEGMENTATION = 4, 16, 32, 64
RLE = (1, 2)

Bytes = npt.NDArray[np.uint8]
Content = bytes | mmap


@dataclass(frozen=True, slots=True, eq=False)
class InstanceScan:
    """The annotations of a file as columns, and the rest of it.

    Attributes
    ----------
    content
        The file without its annotations: a list in their place is empty.
    image, category, area, score, boxes, crowd
        Columns; what an annotation does not have is 0.
    given
        Bits of what each annotation has.
    """

    content: Any
    image: Ints
    category: Ints
    area: Floats
    score: Floats
    boxes: Floats
    crowd: Mask
    given: Bytes
    _text: Bytes
    _begin: Ints
    _end: Ints
    _stated: Ints
    _written: Bytes

    def has(self, what: int) -> Mask:
        """Return which annotations have something."""
        found: Mask = (self.given & what) != 0
        return found

    def written(
        self, sizes: Ints, carefully: Callable[[], Masks], check: Callable[[], None]
    ) -> WrittenMasks | None:
        """Return where the masks are; None if one states another size than that of its image.

        Parameters
        ----------
        sizes
            Height and width of the image of every annotation.
        carefully
            Returns the masks by another way, for those that are unusual.
        check
            Raises an error if the file was changed meanwhile.
        """
        encoded = np.isin(self._written, RLE)
        if (self._stated[encoded] != sizes[encoded]).any():
            return None
        columns = self._text, self._begin, self._end, self._written, sizes
        return WrittenMasks(*columns, carefully, check)


def scan_instances(data: Content) -> InstanceScan | None:
    """Return the annotations of a file; None if anything is unusual.

    Raises
    ------
    ValueError
        If what is around the annotations is not JSON.
    """
    text = np.frombuffer(data, np.uint8)
    found = native.instance_rows(text)
    span, image, category, begin, end, stated = found[:6]
    area, score, boxes, given, written, crowd = found[6:]
    if not len(span):
        return None
    if not span[2]:
        data[:].decode("utf-8")  # raises an error if it cannot
    rest = data[: span[0]] + b"[]" + data[span[1] :]
    return InstanceScan(
        json.loads(rest.decode("utf-8")),
        *(image, category, area, score, boxes, crowd.view(np.bool_), given),
        *(text, begin, end, stated, written),
    )
