"""A browser, a playground, and tabs that may not complain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import open_browser
from tests.playground.shown_pages import served


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Yield an empty tab; whatever it complains about fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    complaints: list[str] = []
    loud = ("error", "warning")
    tab.on("console", lambda m: complaints.append(m.text) if m.type in loud else None)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    yield tab
    context.close()
    assert complaints == []
