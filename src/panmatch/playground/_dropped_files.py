"""Files that come through the page: read once from a temporary folder, which is removed.

Nothing but the end of a file's name decides where it is written and how it is read. The rest of the
name is only shown.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np

from panmatch.errors import FileError, OptionError, PanmatchError
from panmatch.formats import (
    LabelImage,
    case_name,
    grid_difference,
    image_name,
    is_label_file,
    read_grey,
    read_labels,
)
from panmatch.playground._file_pair import FilePair

Role = Literal["reference", "prediction", "image", "scores"]

LARGEST_FILE = 2 << 30  # bytes
MOST_WAITING = 6  # files that were sent, but not opened
LONGEST_NAME = 120  # characters that are shown
LONGEST_HEADER = 1 << 16  # bytes of NRRD and MetaImage files in which to look for other files
SCORES = ".csv"  # of confidences
BEYOND = (".nhdr", ".mhd", ".zarr")  # formats of several files
# Fields that say in which file the voxels are, and what they say if it is this one.
OTHER_FILE = {
    ".nrrd": re.compile(rb"^\s*data ?file\s*:", re.I | re.M),
    ".mha": re.compile(rb"^\s*ElementDataFile\s*=(?!\s*LOCAL\s*$)", re.I | re.M),
    ".tif": re.compile(rb'<(?:\w+:)?UUID\b[^>]*\bFileName="[^"]*[/\\]', re.I),
}


class HeaderMismatchError(FileError):
    """The headers of two files disagree about the grid, which the user may decide to ignore."""

    details: ClassVar[dict[str, object]] = {"headers": True}  # for the page


@dataclass(frozen=True, slots=True, eq=False)
class NamedBytes:
    """The content of a file, and what it is called."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class DroppedFile:
    """A file in a temporary folder, and what the user calls it."""

    name: str
    path: Path


def open_bytes(
    files: Mapping[Role, NamedBytes], *, allow_header_mismatch: bool = False
) -> FilePair:
    """Read a pair from the contents of files, without leaving anything on disk.

    Parameters
    ----------
    files
        A reference and a prediction; and an image and a CSV file of confidences, if there are any.
    allow_header_mismatch
        Compare only the shapes, not what the headers say about the grid.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> file = io.BytesIO()
    >>> np.save(file, np.eye(3, dtype=np.uint8))
    >>> one = NamedBytes("a.npy", file.getvalue())
    >>> open_bytes({"reference": one, "prediction": one}).shape
    (3, 3)
    """
    with tempfile.TemporaryDirectory(prefix="panmatch-") as folder:
        written = {}
        for role, file in files.items():
            check_size(file.name, len(file.content))
            path = Path(folder, role + checked_suffix(file.name))
            path.write_bytes(file.content)
            written[role] = DroppedFile(file.name, path)
        return open_dropped(written, allow_header_mismatch=allow_header_mismatch)


def open_dropped(
    files: Mapping[Role, DroppedFile], *, allow_header_mismatch: bool = False
) -> FilePair:
    """Read a pair into memory; its files may be removed afterwards."""
    missing = [role for role in get_args(Role)[:2] if role not in files]
    if missing:
        raise OptionError(f"the {missing[0]} is missing: choose two label files.")
    reference, prediction = (_read(files[role], read_labels) for role in get_args(Role)[:2])
    image = _read(files["image"], read_grey) if "image" in files else None
    if reference.labels.shape == prediction.labels.shape and not allow_header_mismatch:
        _check_headers(reference, prediction)
    scores = files.get("scores")
    try:
        pair = FilePair(
            reference,
            prediction,
            image=image,
            allow_header_mismatch=allow_header_mismatch,
            dropped=True,
            scores=None if scores is None else scores.path,
        )
    except PanmatchError as error:
        if scores is None or str(scores.path) not in str(error):
            raise
        raise type(error)(_renamed(str(error), scores.path, shown_name(scores.name))) from error
    pair.scores = None if scores is None else Path(shown_name(scores.name))
    return pair


def shown_name(name: str) -> str:
    r"""Return a name as it is shown: without folders, control characters and excess length.

    Examples
    --------
    >>> shown_name("../../etc/pass\nwd.npy"), len(shown_name("a" * 999 + ".npy"))
    ('passwd.npy', 120)
    """
    last = re.split(r"[/\\]", name)[-1]
    clean = "".join(letter for letter in last if letter.isprintable())
    return clean if len(clean) <= LONGEST_NAME else "…" + clean[1 - LONGEST_NAME :]


def checked_suffix(name: str) -> str:
    """Return the suffix by which a file is read, or raise a `FileError`.

    Examples
    --------
    >>> checked_suffix("case 7.NII.GZ"), checked_suffix("scan.jpg")
    ('.nii.gz', '.jpg')
    """
    shown = shown_name(name)
    if shown.lower().endswith(SCORES):
        return SCORES
    stem = case_name(shown) if is_label_file(shown) else image_name(shown)
    suffix = "" if stem is None else shown[len(stem) :].lower()
    if suffix.endswith(BEYOND):
        raise FileError(
            f"{shown!r} is only one of the files of its image. Open it with `panmatch play REF "
            f"PRED`, or save it as one file, such as .nii.gz or .mha."
        )
    if not suffix:
        raise FileError(
            f"{shown!r} is not an image that can be opened here. Choose NIfTI (.nii.gz), NRRD, "
            f"MHA, TIFF, PNG, .npy or .npz files, and CSV files for confidences."
        )
    return suffix


def check_size(name: str, n_bytes: int) -> None:
    """Raise a `FileError` for a file that is too large to be sent."""
    if n_bytes > LARGEST_FILE:
        raise FileError(
            f"{shown_name(name)!r} is too large to be sent from the page, which takes files of at "
            f"most {LARGEST_FILE >> 30} GB. Open it with `panmatch play REF PRED`."
        )


class DropFolder:
    """A temporary folder for files that were sent by a page, but not opened yet."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._waiting: dict[str, DroppedFile] = {}

    def new_file(self, name: str) -> tuple[str, Path]:
        """Return a key for a file, and an unused path for its content."""
        suffix = checked_suffix(name)
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="panmatch-"))
        key = secrets.token_urlsafe(24)
        return key, self._folder / f"{secrets.token_hex(16)}{suffix}"

    def keep(self, key: str, name: str, path: Path) -> None:
        """Keep a file that has arrived; of too many, the oldest is removed."""
        self._waiting[key] = DroppedFile(name, path)
        while len(self._waiting) > MOST_WAITING:
            oldest = next(iter(self._waiting))
            self._waiting.pop(oldest).path.unlink(missing_ok=True)

    @contextmanager
    def take(self, keys: Mapping[Role, str]) -> Iterator[dict[Role, DroppedFile]]:
        """Yield files by their keys, and remove them at the end of the block."""
        unknown = [role for role, key in keys.items() if key not in self._waiting]
        if unknown:
            raise OptionError(f"the {unknown[0]} has not arrived. Choose the files again.")
        files = {role: self._waiting[key] for role, key in keys.items()}
        try:
            yield files
        finally:
            for key in keys.values():
                self._waiting.pop(key, None)
            for file in files.values():
                file.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder and everything in it."""
        self._waiting.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _read(file: DroppedFile, read: Callable[[Path], LabelImage]) -> LabelImage:
    """Read a file into memory; errors and the image itself have the name that the user knows."""
    name = shown_name(file.name)
    try:
        _check_alone(file)
        image = read(file.path)
    except PanmatchError as error:
        raise type(error)(_renamed(str(error), file.path, name)) from error
    except MemoryError as error:
        raise FileError(f"{name!r} does not fit into memory.") from error
    # A mapped file must not be removed, so its voxels are copied.
    labels = np.array(image.labels, order="K")
    return replace(image, labels=labels, path=Path(name), name=repr(name))


def _renamed(message: str, path: Path, name: str) -> str:
    """Return a message with the name that the user knows instead of the temporary file."""
    message = message.replace(f"path={str(path)!r}", repr(name))
    return message.replace(str(path), name).replace(path.name, name)


def _check_alone(file: DroppedFile) -> None:
    """Refuse a file that names another file on this machine to be read in its place."""
    for suffix, names_another in OTHER_FILE.items():
        if suffix not in file.path.suffix:
            continue
        if names_another.search(_header(file.path)):
            raise FileError(
                f"{shown_name(file.name)!r} names another file that contains its voxels. Open it "
                f"with `panmatch play REF PRED`, or save it as one file."
            )


def _header(path: Path) -> bytes:
    """Return the part of a file that may name other files."""
    if not path.suffix.startswith(".tif"):
        with path.open("rb") as file:
            start = file.read(LONGEST_HEADER)
        return re.split(rb"\r?\n\r?\n", start, maxsplit=1)[0] if path.suffix == ".nrrd" else start
    from tifffile import TiffFile

    try:
        with TiffFile(path) as tiff:
            return (tiff.pages.first.description or "").encode(errors="replace")
    except Exception:  # the reader says what is wrong with it
        return b""


def _check_headers(reference: LabelImage, prediction: LabelImage) -> None:
    problem = grid_difference(reference, prediction)
    if problem is not None:
        raise HeaderMismatchError(
            f"{prediction.path.name!r} and {reference.path.name!r} {problem}\nYou can compare them "
            f"voxel by voxel as stored, if you know that this is only a matter of headers."
        )
