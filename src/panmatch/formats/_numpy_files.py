"""NumPy arrays: ``.npy`` and ``.npz``. Pickled objects are never loaded."""

from __future__ import annotations

import io
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from panmatch.errors import FileError, OptionError
from panmatch.formats._decoding import Decode, as_stored_labels, check_fits_in_memory, reading_as
from panmatch.formats._images import LabelImage
from panmatch.formats._units import micrometres_per
from panmatch.labels import Array, Unit, as_spacing
from panmatch.overlap import Overlap

SMALL_BYTES = 1 << 18  # a memory map takes longer to set up than this to read
VERSION_1 = b"\x93NUMPY\x01\x00"  # at the start of a file
UNITS: dict[float | None, Unit] = {1.0: "µm", 1e3: "mm"}


def read_array(path: Path, *, decode: Decode = as_stored_labels) -> LabelImage:
    """Read a ``.npy`` file: a large one through a memory map, a small one at once."""
    with reading_as(path, "a NumPy array"):
        if path.stat().st_size > SMALL_BYTES:
            values = np.asarray(np.lib.format.open_memmap(path, mode="r"))
        else:
            values = _array_in(path.read_bytes())
            values.flags.writeable = False  # as in a memory map
        return LabelImage(decode(values, path), None, None, path)


def _array_in(content: bytes) -> Array:
    """Return the array in the content of a small file."""
    if content[:8] == VERSION_1:
        end = 10 + int.from_bytes(content[8:10], "little")
        shape, fortran, dtype = _header(content[:end])
        n = math.prod(shape)
        if not (fortran or dtype.hasobject) and len(content) == end + n * dtype.itemsize > end:
            values = np.frombuffer(content, dtype, n, end).reshape(shape)
            if values.flags.aligned:
                return values
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


@lru_cache(64)  # it is a Python expression, and mostly that of the file before
def _header(content: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    return np.lib.format.read_array_header_1_0(io.BytesIO(content[8:]))


def read_archive(path: Path, *, decode: Decode = as_stored_labels) -> LabelImage:
    """Read the labels of an ``.npz`` archive.

    The archive must contain a single array, or one called ``labels``. An array called ``spacing``
    gives the distance between voxels along each axis, and the text ``unit`` its unit: mm, µm or
    voxel.
    """
    with reading_as(path, "a NumPy archive"), open_archive(path) as arrays:
        name = _name_of_labels(arrays.files, path)
        assert arrays.zip is not None
        check_fits_in_memory(sum(int(one.file_size) for one in arrays.zip.infolist()), path)
        labels = decode(arrays[name], path)
        if "spacing" not in arrays:
            return LabelImage(labels, None, None, path)
        spacing = _spacing(arrays["spacing"], labels.ndim, path)
        unit = _unit(arrays["unit"], path) if "unit" in arrays else "voxel"
        return LabelImage(labels, spacing, None, path, unit)


@contextmanager
def open_archive(path: Path) -> Iterator[np.lib.npyio.NpzFile]:
    """Open an ``.npz`` archive of arrays, without ever loading a pickled object."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise ValueError("it is not an .npz archive")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            yield arrays


def _name_of_labels(names: list[str], path: Path) -> str:
    candidates = [name for name in names if name not in ("spacing", "unit")]
    if "labels" in candidates:
        return "labels"
    if len(candidates) == 1:
        return candidates[0]
    raise FileError(
        f"path={str(path)!r} must contain a single array, or one called 'labels'; it contains "
        f"{', '.join(map(repr, names)) or 'none'}."
    )


def _spacing(stored: Array, ndim: int, path: Path) -> tuple[float, ...]:
    try:
        return tuple(as_spacing(stored, ndim).tolist())
    except OptionError as error:
        raise FileError(f"path={str(path)!r} has an unusable array 'spacing': {error}") from error


def _unit(stored: Array, path: Path) -> Unit:
    text = str(stored)
    if text == "voxel":
        return "voxel"
    unit = UNITS.get(micrometres_per(text))
    if unit is None:
        raise FileError(f"path={str(path)!r} has the unit {text!r}: write 'mm', 'µm' or 'voxel'.")
    return unit


SUFFIXES = (".npz", ".json")


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file next to its target, piece by piece, then move it into place in one step."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as stream:
            stream.writelines([content] if isinstance(content, bytes) else content)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise FileError(f"path={str(path)!r} cannot be written: {error}") from error


def save_overlap(overlap: Overlap, path: str | os.PathLike[str]) -> None:
    """Write `overlap` to a ``.npz`` or ``.json`` file, completely or not at all.

    Examples
    --------
    >>> import panmatch as pm
    >>> import tempfile
    >>> ov = pm.Overlap.from_dense([[6]], ref_sizes=[10], pred_sizes=[6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pm.save_overlap(ov, f"{folder}/case.npz")
    ...     pm.load_overlap(f"{folder}/case.npz") == ov
    True
    """
    target = _checked(path)
    if target.suffix == ".json":
        content = overlap.to_json().encode()
    else:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **overlap.columns())
        content = buffer.getvalue()
    write_atomically(target, content)


def load_overlap(path: str | os.PathLike[str]) -> Overlap:
    """Read what `save_overlap` wrote; anything else is a `FileError` that names the file.

    Examples
    --------
    >>> import tempfile
    >>> import panmatch as pm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pm.save_overlap(pm.count_overlaps([1, 1, 2], [1, 0, 2]), f"{folder}/case.json")
    ...     pm.load_overlap(f"{folder}/case.json")
    Overlap(2 references, 2 predictions, 2 edges)
    """
    source = _checked(path)
    try:
        if source.suffix == ".json":
            return Overlap.from_json(source.read_text(encoding="utf-8"))
        with open_archive(source) as columns:
            return Overlap.from_columns(dict(columns))
    except (BadZipFile, EOFError, OSError, ValueError, zlib.error) as error:
        raise FileError(f"path={str(source)!r} cannot be read as an overlap: {error}") from error


def _checked(path: str | os.PathLike[str]) -> Path:
    checked = Path(path)
    if checked.suffix not in SUFFIXES:
        raise FileError(f"path={str(checked)!r} must end in {' or '.join(SUFFIXES)}.")
    return checked
