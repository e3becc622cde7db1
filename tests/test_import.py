"""Importing panmatch loads numpy and our own code, nothing heavier."""

import subprocess
import sys

import pytest

import panmatch

HEAVY = (
    "scipy", "skimage", "cc3d", "PIL", "pandas", "matplotlib", "rich", "typer", "pydantic",
    "hypothesis", "torch", "zarr", "dask", "distributed",
)  # fmt: skip


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, panmatch; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "numpy" in loaded
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]


def test_every_public_name_is_there_and_listed() -> None:
    for name in panmatch.__all__:
        assert getattr(panmatch, name) is not None
        assert name in dir(panmatch)
    with pytest.raises(AttributeError, match="no attribute 'mesure'"):
        panmatch.mesure  # noqa: B018


def test_import_prints_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import panmatch"], capture_output=True, check=True
    )
    assert done.stdout == done.stderr == b""
