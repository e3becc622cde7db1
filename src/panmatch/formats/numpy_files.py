"""NumPy arrays: ``.npy`` and ``.npz``. Pickled objects are never loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, OptionError
from panmatch.formats.failures import reading_as
from panmatch.formats.label_image import LabelImage
from panmatch.formats.stored_labels import as_stored_labels
from panmatch.labels import as_spacing


def read(path: Path) -> LabelImage:
    """Read ``.npy`` by a memory map, or the labels of an ``.npz`` archive.

    An archive holds one array, or one called ``labels``. One called ``spacing`` is taken as the
    distance between voxels, per axis.
    """
    if path.suffix.lower() == ".npz":
        return _read_archive(path)
    with reading_as(path, "a NumPy array"):
        values = np.lib.format.open_memmap(path, mode="r")
        return LabelImage(as_stored_labels(np.asarray(values), path), None, None, path)


def _read_archive(path: Path) -> LabelImage:
    with reading_as(path, "a NumPy archive"), path.open("rb") as file:
        if file.read(2) != b"PK":
            raise ValueError("it is no .npz archive")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            labels = as_stored_labels(arrays[_name_of_labels(arrays.files, path)], path)
            spacing = (
                _spacing(arrays["spacing"], labels.ndim, path) if "spacing" in arrays else None
            )
        return LabelImage(labels, spacing, None, path)


def _name_of_labels(names: list[str], path: Path) -> str:
    candidates = [name for name in names if name != "spacing"]
    if "labels" in candidates:
        return "labels"
    if len(candidates) == 1:
        return candidates[0]
    raise FileError(
        f"path={str(path)!r} must hold one array, or one called 'labels'; it holds "
        f"{', '.join(map(repr, names)) or 'none'}."
    )


def _spacing(stored: npt.NDArray[Any], ndim: int, path: Path) -> tuple[float, ...]:
    try:
        return tuple(as_spacing(stored, ndim).tolist())
    except OptionError as error:
        raise FileError(f"path={str(path)!r} has an array 'spacing' of no use: {error}") from error
