"""A plugin that skips tests of what an installation without extras cannot do.

Loaded only where there are no extras on purpose: ``pytest -p tests.without_extras``.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from panmatch.errors import MissingExtraError


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, None, None]:
    """Skip if a fixture needs an extra."""
    yield from _skipping()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """Skip if the test itself needs an extra."""
    yield from _skipping()


def _skipping() -> Generator[None, None, None]:
    try:
        return (yield)
    except (ModuleNotFoundError, MissingExtraError) as error:
        pytest.skip(f"needs an extra: {error}")
