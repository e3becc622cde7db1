"""The playground while an object is dragged: from a move until its numbers are drawn."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import numpy as np

from benchmarks.browser import open_tab
from benchmarks.timing import Row, below, not_measured
from tests.playground.static_site import SITE, file_server

MOVES, REST_MS = 150, 20
STATIC_BOUND = 30.0  # milliseconds
ROUNDS = 3  # the best of them counts, as everywhere
WIDTH, HEIGHT = 600, 362
WINDOW = {"width": 1440, "height": 900}
TALL_WINDOW = {"width": 1440, "height": 1700}  # with all panels in sight


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    scenes = {
        "10 × 10 shapes": (10, {}, WINDOW, 16.0),
        "10 × 10 shapes, all panels in sight": (10, {}, TALL_WINDOW, 16.0),
        "10 × 10 shapes in Voronoi regions": (10, {"regions": True, "voronoi": True}, WINDOW, None),
        "100 × 100 shapes": (100, {}, WINDOW, None),
        "100 × 100 shapes, all panels in sight": (100, {}, TALL_WINDOW, None),
    }
    with open_tab() as tab, served() as address:
        for scene, (number, view, window, bound) in scenes.items():
            what = f"playground, median round trip while dragging, {scene}"
            if tab is None:
                yield not_measured(
                    what, "no Chromium here", "" if bound is None else f"< {bound} ms"
                )
                continue
            tab.set_viewport_size(window)
            yield below(what, median_round_trip(tab, address, number, view), "ms", bound)
    yield static_row()


def static_row() -> Row:
    """Return how long the page without a server takes."""
    what = "playground without a server, median round trip while dragging, 10 × 10 shapes"
    with open_tab() as tab:
        if tab is None:
            return not_measured(what, "no Chromium here", f"< {STATIC_BOUND} ms")
        if not (SITE / "index.html").exists():
            return not_measured(what, "no site here: `make site`", f"< {STATIC_BOUND} ms")
        tab.set_viewport_size(WINDOW)
        with file_server(SITE) as address:
            return below(what, median_round_trip(tab, address, 10, {}), "ms", STATIC_BOUND)


def median_round_trip(tab: Any, address: str, number: int, view: Mapping[str, object]) -> float:
    link = address + scene_link(number, view)
    return min(statistics.median(round_trips(tab, link, number // 2)) for _ in range(ROUNDS))


@contextmanager
def served() -> Iterator[str]:
    command = [sys.executable, "-m", "panmatch", "play", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            found = re.search(r"http://\S+?/", process.stdout.readline())
            assert found is not None
            yield found[0]
        finally:
            process.terminate()


def round_trips(tab: Any, address: str, dragged: int) -> list[float]:
    """Return what the page measured, in milliseconds: asked, computed, answered and drawn."""
    tab.goto("about:blank")
    tab.goto(address)
    tab.wait_for_selector("#round-trip[data-seq]", state="attached", timeout=120_000)
    tab.wait_for_timeout(1500)
    before = len(measured(tab))
    box = tab.locator("#scene .layer.prediction .shape").nth(dragged).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    for turn in np.linspace(0, 6 * np.pi, MOVES):
        tab.mouse.move(x + 15 * np.sin(turn), y + 10 * np.sin(2 * turn))
        tab.wait_for_timeout(REST_MS)
    tab.mouse.up()
    tab.wait_for_timeout(500)
    return measured(tab)[before:]


def measured(tab: Any) -> list[float]:
    found: list[float] = tab.evaluate("document.querySelector('#round-trip').milliseconds")
    return found


def scene_link(number: int, view: Mapping[str, object]) -> str:
    """Return a link to discs in rows, each with a prediction somewhat beside it."""
    rng = np.random.default_rng(1)
    columns = round((number * WIDTH / HEIGHT) ** 0.5)
    step_x, step_y = WIDTH / columns, HEIGHT / -(-number // columns)
    radius = 0.36 * min(step_x, step_y)
    sides: dict[str, list[dict[str, object]]] = {"reference": [], "prediction": []}
    for at in range(number):
        x, y = (at % columns + 0.5) * step_x, (at // columns + 0.5) * step_y
        dx, dy = rng.uniform(-0.4, 0.4, 2) * radius
        sides["reference"].append({"kind": "disc", "x": x, "y": y, "r": radius})
        moved = {"kind": "disc", "x": x + dx, "y": y + dy, "r": radius * rng.uniform(0.7, 1.1)}
        sides["prediction"].append(moved)
    state = {"format": 1, "scene": {"width": WIDTH, "height": HEIGHT, **sides}, "view": view}
    return "#" + quote(json.dumps(state))
