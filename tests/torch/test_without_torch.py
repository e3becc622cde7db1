"""torch is an extra: everything else works without it, and its absence is explained."""

from __future__ import annotations

import subprocess
import sys

import pytest

IMPORT_WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, *_):
        if name == {missing!r}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
import panmatch.torch
"""


def said_without(missing: str) -> str:
    """Return what an import of the metric says if some module cannot be found."""
    code = IMPORT_WITHOUT.format(missing=missing)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    if missing != "torch" and "need torch," in done.stderr:
        pytest.skip("torch itself is missing: pip install 'panmatch[torch]'")
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("missing", ["torch", "torchmetrics"])
def test_importing_without_torch_says_what_to_install(missing: str) -> None:
    assert said_without(missing) == (
        f"panmatch.errors.MissingExtraError: Metrics of training loops need {missing}, which is "
        f"not installed: pip install 'panmatch[torch]'."
    )


def test_other_failures_of_an_import_are_not_disguised() -> None:
    assert said_without("panmatch.torch._states") == "ModuleNotFoundError: panmatch.torch._states"
