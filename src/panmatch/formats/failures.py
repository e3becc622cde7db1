"""Whatever goes wrong while a library reads a file becomes one `FileError` that names the file."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from panmatch.errors import FileError, PanmatchError

LONGEST_CAUSE = 200


@contextmanager
def reading_as(path: Path, kind: str) -> Iterator[None]:
    """Turn every exception of the block into a `FileError`, and keep its warnings quiet.

    Parameters
    ----------
    path
        The file that is read in the block.
    kind
        What it is read as, with its article.

    Examples
    --------
    >>> with reading_as(Path("a.nii"), "a NIfTI image"):
    ...     raise EOFError("no header")
    Traceback (most recent call last):
        ...
    panmatch.errors.FileError: path='a.nii' cannot be read as a NIfTI image: no header.
    """
    try:
        with _no_warnings:
            yield
    except PanmatchError:
        raise
    # Libraries meet damaged files with almost any exception, from struct.error to IndexError.
    except Exception as error:
        cause = _cause(error).replace(str(path), path.name)
        raise FileError(f"path={str(path)!r} cannot be read as {kind}: {cause}.") from error


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, LookupError):
        return repr(error)
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].strip().rstrip(".:")[:LONGEST_CAUSE]


class _NoWarnings:
    """Ignore warnings for as long as any thread reads.

    Blocks of `warnings.catch_warnings` that overlap in several threads restore the filters in
    the wrong order, and warnings stay off for good; one that all readers share does not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers = 0
        self._block = warnings.catch_warnings(action="ignore")

    def __enter__(self) -> None:
        with self._lock:
            if self._readers == 0:
                self._block = warnings.catch_warnings(action="ignore")
                self._block.__enter__()
            self._readers += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._readers -= 1
            if self._readers == 0:
                self._block.__exit__(None, None, None)


_no_warnings = _NoWarnings()
