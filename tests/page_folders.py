"""The files that pages of the documentation start with: ``<!-- folder: NAME -->`` names one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from panmatch.cli._demo import make_dataset


def write_demo(folder: Path) -> None:
    """Write what `panmatch demo` leaves behind for its reader to evaluate."""
    make_dataset(folder / "panmatch-demo" / "data", seed=7)


FOLDERS: dict[str, Callable[[Path], None]] = {
    "demo": write_demo,
}
