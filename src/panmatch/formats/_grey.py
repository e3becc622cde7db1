"""Images of numbers in every accepted format: grey levels to look at, and probabilities."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, needs_extra
from panmatch.formats._decoding import Decode, Origin, name_of, reading_as
from panmatch.formats._images import LabelImage
from panmatch.formats._medical import read_itk, read_nifti
from panmatch.formats._numpy_files import read_archive, read_array
from panmatch.formats._tiff import read_tiff
from panmatch.labels import LabelArray

WINDOW = (1, 99)  # percentiles that become black and white
MOST_SAMPLES = 2_000_000  # voxels to compute percentiles from
WHITE = 255
PICTURES = (".png", ".jpg", ".jpeg")  # have too few levels for probabilities


def read_grey(path: str | os.PathLike[str]) -> LabelImage:
    """Read an image as grey levels from 0 to 255.

    The 1st percentile of all values becomes black and the 99th white. Colours become their
    brightness. Axes, spacing and affine are those of `read_labels`.

    Raises
    ------
    FileError
        If the file cannot be read as an image; the message starts with the path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/case.npy", np.array([[-1000.0, 0.0], [500.0, 1000.0]]))
    ...     read_grey(f"{folder}/case.npy").labels.tolist()
    [[0, 127], [192, 255]]
    """
    source = Path(path)
    suffix = _known_suffix(source)
    if not suffix:
        raise FileError(
            f"path={str(source)!r} does not have the suffix of an image. Accepted: "
            f"{', '.join(READERS)}."
        )
    return READERS[suffix](source, decode=as_grey_levels)


def read_probabilities(path: str | os.PathLike[str]) -> LabelImage:
    """Read an image of numbers, as they are stored.

    Axes, spacing and affine are those of `read_labels`.

    Raises
    ------
    FileError
        If the file cannot be read as an image of numbers; the message starts with the path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/case.npy", np.array([[0.25, 0.5]]))
    ...     read_probabilities(f"{folder}/case.npy").labels.tolist()
    [[0.25, 0.5]]
    """
    source = Path(path)
    suffix = _known_suffix(source)
    if not suffix or suffix in PICTURES:
        accepted = [one for one in READERS if one not in PICTURES]
        raise FileError(
            f"path={str(source)!r} does not have the suffix of an image of probabilities. "
            f"Accepted: {', '.join(accepted)}."
        )
    return READERS[suffix](source, decode=as_probabilities)


def as_probabilities(values: npt.NDArray[Any], origin: Origin) -> LabelArray:
    """Return values as they are if they are numbers."""
    if values.dtype.kind not in "biuf":
        raise FileError(
            f"{name_of(origin)} stores values of dtype {values.dtype}; an image of probabilities "
            f"must have one number per voxel."
        )
    return values


def image_name(path: str | os.PathLike[str]) -> str | None:
    """Return the name of an image without its suffix; None for other files.

    Examples
    --------
    >>> image_name("folder/a_0000.nii.gz"), image_name("b.JPG"), image_name("notes.txt")
    ('a_0000', 'b', None)
    """
    source = Path(path)
    suffix = _known_suffix(source)
    return source.name[: -len(suffix)] if suffix else None


def as_grey_levels(values: npt.NDArray[Any], origin: Origin) -> LabelArray:
    """Return values as whole numbers from 0 to 255; values that are not finite become black."""
    if values.dtype.kind not in "biuf":
        raise FileError(
            f"{name_of(origin)} stores values of dtype {values.dtype}; an image to look at must "
            f"have one number per voxel."
        )
    low, high = _window(values)
    by_slab = values if values.flags.c_contiguous else values.T
    levels = np.empty(by_slab.shape, np.uint8)
    for at in range(len(by_slab)):  # slab by slab, to avoid a floating-point copy of the volume
        with np.errstate(invalid="ignore", over="ignore"):
            shares = (by_slab[at].astype(np.float64) - low) / (high - low)
        levels[at] = np.rint(np.clip(np.nan_to_num(shares, posinf=1), 0, 1) * WHITE)
    return levels if by_slab is values else levels.T


def _window(values: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the values that become black and white; a flat image is black."""
    some = values.ravel(order="K")[:: max(1, values.size // MOST_SAMPLES)]
    some = some[np.isfinite(some)] if values.dtype.kind == "f" else some
    if not some.size:
        return 0.0, 1.0
    low, high = np.percentile(some.astype(np.float64), WINDOW)
    if not low < high:  # less than 1 % differs from the rest
        low, high = float(some.min()), float(some.max())
    return float(low), float(high if low < high else low + 1)


def _read_picture(path: Path, *, decode: Decode) -> LabelImage:
    """Read a PNG or JPEG file."""
    with needs_extra("files", "PNG and JPEG files"):
        from PIL import Image

    with reading_as(path, "an image"), Image.open(path) as image:
        plain = image if image.mode in ("1", "L", "I", "I;16", "F") else image.convert("L")
        return LabelImage(decode(np.asarray(plain), path), None, None, path)


READERS: dict[str, Callable[..., LabelImage]] = {
    ".nii": read_nifti,
    ".nii.gz": read_nifti,
    ".nrrd": read_itk,
    ".nhdr": read_itk,
    ".mha": read_itk,
    ".mhd": read_itk,
    ".tif": partial(read_tiff, colours=True),
    ".tiff": partial(read_tiff, colours=True),
    ".ome.tif": partial(read_tiff, colours=True),
    ".ome.tiff": partial(read_tiff, colours=True),
    ".png": _read_picture,
    ".jpg": _read_picture,
    ".jpeg": _read_picture,
    ".npy": read_array,
    ".npz": read_archive,
}


def _known_suffix(path: Path) -> str:
    """Return the longest accepted suffix, in lower case; '' if there is none."""
    name = path.name.lower()
    known = [suffix for suffix in READERS if name.endswith(suffix) and name != suffix]
    return max(known, key=len, default="")
