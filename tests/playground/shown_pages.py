"""A playground as users run it, and what its page shows in a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import panmatch as pm
from panmatch.playground import exact_overlap, read_link


@contextmanager
def served(*arguments: object) -> Iterator[str]:
    """Yield the address of a playground that runs as users run it."""
    with crashing(*arguments) as (address, _):
        yield address


@contextmanager
def crashing(*arguments: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the address of a playground, and its process."""
    command = [sys.executable, "-m", "panmatch", "play", "--no-browser", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        try:
            assert found, line
            yield found[0], process
        finally:
            process.terminate()


def link_of(reference: list[Any], prediction: list[Any], **view: Any) -> str:
    discs = [[{"kind": "disc", "x": x, "y": y, "r": r} for x, y, r in side]
             for side in (reference, prediction)]  # fmt: skip
    scene = {"width": 600, "height": 362, "reference": discs[0], "prediction": discs[1]}
    return "#" + quote(json.dumps({"format": 1, "scene": scene, "view": view}))


TWO = link_of([[150, 180, 60], [400, 180, 70]], [[170, 180, 60], [400, 190, 50]])


def settle(page: Any) -> None:
    """Wait until everything that was asked for is answered and drawn."""
    page.wait_for_selector("main[aria-busy=false]", state="attached")
    page.wait_for_selector("#round-trip[data-seq]", state="attached")


def show(page: Any, url: str) -> None:
    page.goto("about:blank")
    page.goto(url)
    settle(page)


def wait_until(page: Any, expression: str) -> None:
    """Wait until an expression holds; the page's policy forbids to wait for it inside the page."""
    for _ in range(100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{expression} does not hold")


def number(page: Any, name: str) -> float:
    """Return one of the large numbers, with all its digits."""
    box = page.locator("#headline > div", has=page.locator(f"#big-{name}"))
    return float(box.get_attribute("title").split(": ")[1])


def state(page: Any) -> dict[str, Any]:
    """Return what the address says."""
    return read_link(page.evaluate("location.hash"))[0].to_dict()


def drag(page: Any, side: str, at: int, dx: float, dy: float) -> None:
    box = page.locator(f"#scene .layer.{side} .shape").nth(at).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()
    settle(page)


def library(link: str, strategy: Any = None, threshold: float = 0.5) -> pm.Tally:
    found, _ = read_link(link)
    assert found.scene is not None
    exact = found.view.areas == "analytic"
    overlap = (
        exact_overlap(found.scene) if exact else pm.count_overlaps(*found.scene.label_images())
    )
    return pm.match(overlap, strategy or pm.OneToOne(), threshold).tally
