"""Tests that need something not every operating system has."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

needs_posix = pytest.mark.skipif(
    os.name != "posix", reason="needs the signals, pipes or terminals of a POSIX system"
)


def _links_allowed() -> bool:
    """Return whether this account may make symbolic links; on Windows few may."""
    with TemporaryDirectory() as folder:
        try:
            Path(folder, "link").symlink_to(folder)
        except OSError:
            return False
    return True


needs_links = pytest.mark.skipif(
    not _links_allowed(), reason="needs the right to make symbolic links"
)
