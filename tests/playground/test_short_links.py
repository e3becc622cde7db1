"""Links are short, exact, and the same from Python and from the page."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panmatch.errors import LinkError
from panmatch.playground import Disc, Scene, State, Stroke, View, read_link, write_link
from panmatch.playground._short_links import HOSTED, read_number, write_number
from panmatch.playground._validation import Message
from tests.browser import needs_chromium
from tests.playground.random_states import random_state
from tests.playground.shown_pages import TWO, drag, show


def long_link(state: State) -> str:
    """Return the link that earlier versions wrote."""
    return "#" + quote(json.dumps(state.to_dict(), separators=(",", ":")), safe=",:")


def test_thirteen_discs_fit_into_300_characters() -> None:
    rng = np.random.default_rng(1)
    lengths = []
    for _ in range(100):
        sides = rng.uniform((0, 0, 5), (600, 362, 90), (13, 3)).round(2).tolist()
        discs = tuple(Disc(*row) for row in sides)
        view = View("many-to-one/optimal/seed", threshold=0.123, voronoi=True)
        lengths.append(len(write_link(State(Scene(discs[:6], discs[6:]), view), hosted=True)))
    assert max(lengths) < 300


@given(st.floats(-2000, 2000) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_of_a_link_has_all_its_digits(value: float) -> None:
    assert read_number(write_number(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (300.0, "n5c"), (-0.01, "-1"), (0.005, "~0.005"), (1e-5, "~0.00001"),
     (1.5e-7, "~1.5e-7"), (2000.0, "4abk"), (1 / 3, "~0.3333333333333333")],
)  # fmt: skip
def test_a_number_is_written_as_hundredths_where_that_is_exact(value: float, text: str) -> None:
    assert write_number(value) == text


def test_the_long_links_of_earlier_versions_still_open() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        state = random_state(rng)
        assert read_link(long_link(state)) == (state, [])
        assert read_link(write_link(state, hosted=True)) == (state, [])


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("#2:::", r"^the link is of format 2, and this version of panmatch reads format 1\. Upd"),
        ("#1:1_2", r"^'1_2' of the link's view is not known"),
        ("#1:1_2_3:4", r"^'1:1_2_3:4' has 2 sections after its version; .* It may have been cut"),
        ("#1:1_2:1_2_3:", r"^the 1st shape of reference, '1_2': it has 2 numbers\. It may"),
        ("#1:1_2_3,A:1_2_3:", r"^the 2nd shape of reference, 'A': 'A' is not a number of a link"),
        ("#1::1_2_~x:", r"^the 1st shape of prediction, '1_2_~x': '~x' is not a number"),
        ("#1::1_2_-3:", r"^scene\.prediction\[0\]\.r=-0\.03 must be greater than or equal to 0"),
        (
            "#1:::treshold=0.5",
            r"^'treshold=0\.5' of the link's view is not known; did you mean 'th",
        ),
        ("#1:::threshold=a", r"^threshold='a' of the link is not a number"),
        ("#1:::regions=1", r"^'regions=1' of the link's view is not known"),
        ("#1:::strategy=best", r"^view\.strategy='best' is not known"),
    ],
)
def test_a_link_that_cannot_be_read_says_why(link: str, message: str) -> None:
    with pytest.raises(LinkError, match=message):
        read_link(link)


ENCODE = """async states => {
  const links = await import(new URL("static/js/links.js", document.baseURI));
  links.learn({ hosted: "", defaults: %s });
  return states.map(links.encode);
}"""


@needs_chromium
def test_the_page_writes_the_links_that_python_writes(page: Any, address: str) -> None:
    show(page, address + TWO)
    rng = np.random.default_rng(3)
    states = [random_state(rng) for _ in range(60)]
    states += [State(None, View(axis=1, slice=7)), State(Scene((Stroke(((1e-7, -0.005),), 1e-3),)))]
    given: list[Message] = [state.to_dict() for state in states]
    found = page.evaluate(ENCODE % json.dumps(View().to_dict()), given)
    assert found == [write_link(state) for state in states]


@needs_chromium
def test_a_scene_that_was_dragged_has_a_short_link(page: Any, address: str) -> None:
    show(page, address + TWO)
    drag(page, "prediction", 0, 33.3, 17.7)
    link = page.evaluate("location.hash")
    assert "~" not in link
    assert len(link) < 80
    page.click("[data-export=link]")
    fields = [field.input_value() for field in page.locator("#share input").all()]
    assert fields == [HOSTED + link, address + link, f"panmatch play --link '{link}'"]
    assert page.evaluate("navigator.clipboard.readText()") == fields[0]
