"""Label images as PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError
from panmatch.formats.coco import read_segment_ids
from panmatch.formats.failures import reading_as
from panmatch.formats.label_image import LabelImage
from panmatch.formats.stored_labels import as_stored_labels

LABEL_MODES = ("1", "L", "P", "I;16", "I")
COLOUR_MODES = ("RGB", "RGBA", "P")

# The format compresses with deflate, whose best is 1032 to 1.
LARGEST_EXPANSION = 1032
MOST_PIXELS = 2**31
BIT_DEPTH_AT = 24


def read(path: Path, *, colour_ids: bool = False) -> LabelImage:
    """Read a PNG file; grey values and palette indices are labels, colours are not.

    Grey values of 1, 2 and 4 bits are returned as stored, not stretched to 255.

    Parameters
    ----------
    path
        The file.
    colour_ids
        The colours are segment ids of COCO panoptic: R + 256 G + 256² B.
    """
    from PIL.PngImagePlugin import PngImageFile

    # Image.open refuses images of more than 179 megapixels; label images may well be larger.
    with reading_as(path, "a PNG image"), PngImageFile(path) as image:
        depth = _bit_depth(path)
        _check_size(image, depth, path)
        if colour_ids:
            return LabelImage(_colour_ids(image.mode, path), None, None, path)
        if image.mode not in LABEL_MODES:
            raise FileError(
                f"path={str(path)!r} is a colour image (mode {image.mode}): colours are no "
                f"labels. Save one integer per pixel; if the colours are COCO segment ids, "
                f"read them with encoding: coco or colour_ids: true in the spec."
            )
        values = np.asarray(image)
        if image.mode in ("1", "L") and depth < 8:
            # Pillow stretches grey values to 0 … 255, even those that it calls booleans.
            values = values.view(np.uint8) // (255 // (2**depth - 1))
        return LabelImage(as_stored_labels(values, path), None, None, path)


def _bit_depth(path: Path) -> int:
    with path.open("rb") as file:
        return file.read(BIT_DEPTH_AT + 1)[BIT_DEPTH_AT]


def _check_size(image: Any, depth: int, path: Path) -> None:
    """Refuse sizes that the compressed file cannot hold, and those that no program wrote."""
    width, height = image.size
    stored = path.stat().st_size
    if width * height * depth > 8 * LARGEST_EXPANSION * stored:
        raise ValueError(f"{width} × {height} pixels do not fit in {stored} bytes")
    if width * height > MOST_PIXELS:
        raise ValueError(f"{width} × {height} pixels are too many; use TIFF, Zarr or .npy")


def _colour_ids(mode: str, path: Path) -> npt.NDArray[np.int32]:
    if mode not in COLOUR_MODES:
        raise FileError(
            f"path={str(path)!r} has no colours (mode {mode}), so that its ids are the values "
            f"themselves: read it without colour_ids."
        )
    return read_segment_ids(path)
