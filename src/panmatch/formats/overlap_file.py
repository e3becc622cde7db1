"""Overlap graphs as files: compressed arrays (``.npz``) or text (``.json``)."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, PanmatchError
from panmatch.formats.atomic import write_atomically
from panmatch.overlap import Overlap

SUFFIXES = (".npz", ".json")


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
        return Overlap.from_columns(_read_arrays(source))
    except (PanmatchError, OSError, ValueError) as error:
        raise FileError(f"path={str(source)!r} cannot be read as an overlap: {error}") from error


def _read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    from zipfile import BadZipFile

    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise ValueError("it is no .npz archive")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as columns:
                return dict(columns)
        except (BadZipFile, EOFError) as error:
            raise ValueError(f"the archive is damaged ({error})") from error


def _checked(path: str | os.PathLike[str]) -> Path:
    checked = Path(path)
    if checked.suffix not in SUFFIXES:
        raise FileError(f"path={str(checked)!r} must end in {' or '.join(SUFFIXES)}.")
    return checked
