"""Hypothesis draws the same examples on every run, and no core has to wait.

HYPOTHESIS_PROFILE=explore looks for new examples.
"""

import os
import sys

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=3000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Take one more than there are cores: tests wait for browsers, clusters and commands."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have panmatch find the stand-in for CuPy where there is no CUDA device."""
    from tests.device import MODULES

    for name, module in MODULES.items():
        monkeypatch.setitem(sys.modules, name, module)
