"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from panmatch.errors import FileError


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file beside its target, then move it there in one step."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise FileError(f"path={str(path)!r} cannot be written: {error}") from error
