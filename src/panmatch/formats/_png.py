"""PNG: grey values and palette indices as labels, and colours as segment ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, needs_extra
from panmatch.formats._decoding import as_stored_labels, check_fits_in_memory, reading_as
from panmatch.formats._images import LabelImage
from panmatch.formats._png_pixels import LARGEST_EXPANSION, decode_pixels

if TYPE_CHECKING:
    from PIL import Image

LABEL_MODES = ("1", "L", "P", "I;16", "I")
COLOUR_MODES = ("RGB", "RGBA", "P")

MOST_PIXELS = 2**31
BIT_DEPTH_OFFSET = 24


def read_png(path: Path, *, colour_ids: bool = False) -> LabelImage:
    """Read a PNG file; grey values and palette indices are labels, colours are not.

    Grey values of 1, 2 and 4 bits are returned as stored, not stretched to 255. With `colour_ids`,
    colours are segment ids of COCO panoptic: R + 256 G + 256² B.
    """
    pixels = decode_pixels(path)
    if pixels is not None and pixels.coloured == colour_ids:
        labels = pixels.numbers.view(np.int32) if colour_ids else pixels.numbers
        return LabelImage(labels, None, None, path)
    with needs_extra("files", "PNG files"):
        from PIL import PngImagePlugin

    # Image.open refuses images of more than 179 megapixels; label images may well be larger.
    with reading_as(path, "a PNG image"), PngImagePlugin.PngImageFile(path) as image:
        depth = _bit_depth(path)
        _check_size(image, depth, path)
        _check_mode(image.mode, colour_ids, path)
        if colour_ids:
            return LabelImage(_segment_ids(image), None, None, path)
        values = np.asarray(image)
        if image.mode in ("1", "L") and depth < 8:
            # Pillow stretches grey values to 0 … 255, even those that it calls booleans.
            values = values.view(np.uint8) // (255 // (2**depth - 1))
        return LabelImage(as_stored_labels(values, path), None, None, path)


def read_segment_ids(path: Path) -> npt.NDArray[np.int32]:
    """Read an image whose colours are segment ids: R + 256 G + 256² B."""
    pixels = decode_pixels(path)
    if pixels is not None and pixels.coloured:
        return pixels.numbers.view(np.int32)
    with needs_extra("files", "PNG files"):
        from PIL import Image

    with reading_as(path, "an image"), Image.open(path) as image:
        return _segment_ids(image)


def _segment_ids(image: Image.Image) -> npt.NDArray[np.int32]:
    red, green, blue = np.moveaxis(np.asarray(image.convert("RGB"), np.int32), -1, 0)
    ids: npt.NDArray[np.int32] = red + 256 * green + 65536 * blue
    return ids


def _bit_depth(path: Path) -> int:
    with path.open("rb") as file:
        return file.read(BIT_DEPTH_OFFSET + 1)[BIT_DEPTH_OFFSET]


def _check_size(image: Image.Image, depth: int, path: Path) -> None:
    """Refuse sizes that the compressed file cannot contain, or that no program writes."""
    width, height = image.size
    stored = path.stat().st_size
    if width * height * depth > 8 * LARGEST_EXPANSION * stored:
        raise ValueError(f"{width} × {height} pixels do not fit in {stored} bytes")
    if width * height > MOST_PIXELS:
        raise ValueError(f"{width} × {height} pixels are too many; use TIFF, Zarr or .npy")
    check_fits_in_memory(width * height, path)


def _check_mode(mode: str, colour_ids: bool, path: Path) -> None:
    if colour_ids and mode not in COLOUR_MODES:
        raise FileError(
            f"path={str(path)!r} has no colours (mode {mode}), so its values are the ids: read it "
            f"without colour_ids."
        )
    if not colour_ids and mode not in LABEL_MODES:
        raise FileError(
            f"path={str(path)!r} is a colour image (mode {mode}): colours are not labels. Save "
            f"one integer per pixel; if the colours are COCO segment ids, read them with "
            f"encoding: coco or colour_ids: true in the spec."
        )
