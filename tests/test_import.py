"""Importing panmatch loads numpy and our own code, nothing heavier."""

import subprocess
import sys

HEAVY = ("scipy", "pandas", "matplotlib", "rich", "typer", "pydantic", "hypothesis")


def test_import_loads_nothing_heavy() -> None:
    code = "import sys, panmatch; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "numpy" in loaded
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]


def test_import_prints_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import panmatch"], capture_output=True, check=True
    )
    assert done.stdout == done.stderr == b""
