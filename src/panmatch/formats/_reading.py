"""Label files of every accepted format, recognised by their suffix."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from panmatch.errors import FileError, MissingFileError
from panmatch.formats._images import LabelImage, StoredImage
from panmatch.formats._medical import read_itk, read_nifti
from panmatch.formats._numpy_files import read_archive, read_array
from panmatch.formats._png import read_png
from panmatch.formats._tiff import read_tiff
from panmatch.formats._zarr import open_zarr, read_zarr

READERS: dict[str, Callable[[Path], LabelImage]] = {
    ".nii": read_nifti,
    ".nii.gz": read_nifti,
    ".nrrd": read_itk,
    ".nhdr": read_itk,
    ".mha": read_itk,
    ".mhd": read_itk,
    ".tif": read_tiff,
    ".tiff": read_tiff,
    ".ome.tif": read_tiff,
    ".ome.tiff": read_tiff,
    ".png": read_png,
    ".npy": read_array,
    ".npz": read_archive,
    ".zarr": read_zarr,
    ".ome.zarr": read_zarr,
}


def read_labels(path: str | os.PathLike[str], *, colour_ids: bool = False) -> LabelImage:
    """Read a label image.

    Parameters
    ----------
    path
        A file, or a Zarr folder, with one of the suffixes of `READERS` in any case. A folder
        inside a Zarr folder is accepted as well.
    colour_ids
        The colours of a PNG file are segment ids, R + 256 G + 256² B. Has no effect on other
        formats.

    Returns
    -------
    LabelImage
        Axes are in the order of the file. Medical formats have spacing and affine, TIFF,
        OME-Zarr and ``.npz`` a spacing if the file states one; `LabelImage` says in which unit.

    Raises
    ------
    FileError
        If there is no such file, or if it cannot be read as labels; the message starts with the
        path.
    MissingExtraError
        If the library that reads the format is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/case.npz", labels=np.eye(2, dtype=np.uint8), spacing=[2, 0.5])
    ...     read_labels(f"{folder}/case.npz").describe()
    'shape (2, 2), spacing (2, 0.5) voxel, orientation and origin unknown'
    """
    source = Path(path)
    suffix = _checked_suffix(source)
    if suffix == ".png":
        return read_png(source, colour_ids=colour_ids)
    return READERS[suffix](source)


def open_labels(path: str | os.PathLike[str], *, colour_ids: bool = False) -> StoredImage:
    """Read a label image as `read_labels` does, but leave Zarr images in their chunks.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, zarr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stored = zarr.array(np.eye(4, dtype=np.uint8), chunks=(2, 3), store=f"{folder}/a.zarr")
    ...     open_labels(f"{folder}/a.zarr").labels.chunks
    ((2, 2), (3, 1))
    """
    source = Path(path)
    if _checked_suffix(source).endswith(".zarr"):
        return open_zarr(source)
    return read_labels(source, colour_ids=colour_ids)


def is_label_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path has the suffix of a label file or a Zarr folder.

    Examples
    --------
    >>> is_label_file("case_1.NII.GZ"), is_label_file("notes.txt")
    (True, False)
    """
    return bool(_known_suffix(Path(path)))


def is_chunked_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a Zarr folder, or a folder inside one.

    Examples
    --------
    >>> is_chunked_file("a.ome.zarr/labels/cells"), is_chunked_file("a.nii.gz")
    (True, False)
    """
    source = Path(path)
    return (_known_suffix(source) or _inside_zarr(source)).endswith(".zarr")


def case_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a label file without its suffix; other names stay as they are.

    Examples
    --------
    >>> case_name("folder/a.b.nii.gz"), case_name("a.ome.tif"), case_name("a.txt")
    ('a.b', 'a', 'a.txt')
    """
    source = Path(path)
    return source.name[: len(source.name) - len(_known_suffix(source))]


def _known_suffix(path: Path) -> str:
    """Return the longest accepted suffix, in lower case; '' if there is none."""
    return _suffix_of(path.name.lower())


@lru_cache(64)  # it is asked for several times in a row
def _suffix_of(name: str) -> str:
    known = [suffix for suffix in READERS if name.endswith(suffix) and name != suffix]
    return max(known, key=len, default="")


def _checked_suffix(path: Path) -> str:
    """Return the suffix by which a file is read, or raise a `FileError`."""
    suffix = _known_suffix(path) or _inside_zarr(path)
    if not suffix:
        raise FileError(
            f"path={str(path)!r} does not have the suffix of a label file. Accepted: "
            f"{', '.join(READERS)}.{_remedy_for(path)}"
        )
    _check_kind(path, folder=suffix.endswith(".zarr"))
    return suffix


def _remedy_for(path: Path) -> str:
    """Return what to use instead for files that contain many cases."""
    if path.is_dir() or path.suffix.lower() in (".json", ".csv"):
        return " For folders, manifests and COCO files of many cases, use `panmatch evaluate`."
    return ""


def _inside_zarr(path: Path) -> str:
    return ".zarr" if any(_known_suffix(p).endswith(".zarr") for p in path.parents) else ""


def _check_kind(path: Path, *, folder: bool) -> None:
    if not folder and os.path.isfile(path):  # noqa: PTH113 (which is all there is to check)
        return
    try:
        is_folder, exists = path.is_dir(), path.exists()
        is_special = exists and not is_folder and not path.is_file()
    except OSError as error:
        raise FileError(f"path={str(path)!r} cannot be read: {error.strerror}.") from error
    if not exists:
        raise MissingFileError(f"path={str(path)!r} does not exist.")
    if is_special:
        raise FileError(f"path={str(path)!r} is a pipe or a device, not a file.")
    if is_folder != folder:
        problem = "is a file, not a Zarr folder" if folder else "is a folder, not a file"
        raise FileError(f"path={str(path)!r} {problem}.")
