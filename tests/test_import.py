"""Importing panmatch loads next to nothing, and a first score numpy and our own code."""

import subprocess
import sys

import pytest

import panmatch

HEAVY = (
    "scipy", "skimage", "cc3d", "PIL", "pandas", "matplotlib", "rich", "typer", "pydantic",
    "hypothesis", "torch", "zarr", "dask", "distributed",
)  # fmt: skip


SCORE = (
    "import panmatch as pm; ov = pm.Overlap.from_dense([[4]], [5], [5]); "
    "pm.match(ov).tally.pq; pm.curve(ov).autc"
)
HELP = "from panmatch.cli._app import app; import typer; typer.main.get_command(app)"


def loaded_by(code: str) -> set[str]:
    """Return the packages that a program has imported in the end."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_loads_nothing_heavy() -> None:
    assert loaded_by("import panmatch").isdisjoint({"numpy", *HEAVY})


def test_a_first_score_loads_numpy_alone() -> None:
    loaded = loaded_by(SCORE)
    assert "numpy" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_help_computes_nothing() -> None:
    loaded = loaded_by(HELP)
    assert "typer" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "pandas", "pydantic"})


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
