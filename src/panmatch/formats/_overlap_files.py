"""Files that are written whole or not at all, and overlap graphs as such files."""

from __future__ import annotations

import io
import os
import zlib
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from panmatch.errors import FileError
from panmatch.formats._numpy_files import open_archive
from panmatch.overlap import Overlap

SUFFIXES = (".npz", ".json")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its target, then move it there in one step."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise FileError(f"path={str(path)!r} cannot be written: {error}") from error


def save_overlap(overlap: Overlap, path: str | os.PathLike[str]) -> None:
    """Write `overlap` to a ``.npz`` or ``.json`` file, whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> ov = Overlap.from_dense([[6]], ref_sizes=[10], pred_sizes=[6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_overlap(ov, f"{folder}/case.npz")
    ...     load_overlap(f"{folder}/case.npz") == ov
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
    """Read what `save_overlap` wrote; anything else is a `FileError` that names the file."""
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
