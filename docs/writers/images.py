"""Make the pictures of the README and the pages from a fresh run of the demo: `make images`."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

IMAGES = Path(__file__).parents[1] / "images"
SIZE = {"width": 1280, "height": 1000}
NARROW = {"viewport": {"width": 860, "height": 1400}, "device_scale_factor": 1.5}
SETTLED_MS = 1500
MARGIN = 12
START = "#figure-strategies"


def main() -> None:
    """Run the demo, keep its figure, and photograph its report."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "panmatch-demo"
        subprocess.run(
            [sys.executable, "-m", "panmatch", "demo", "-o", str(out)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        shutil.copy(out / "demo.png", IMAGES / "demo.png")
        photograph(out / "results" / "report.html", IMAGES / "report.png")
    photograph_playground(IMAGES / "playground.png")
    photograph_steps(IMAGES)


def photograph(page: Path, target: Path) -> None:
    """Take a picture of the report's curves, and below of who leads at which threshold."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport=SIZE)
        tab.goto(f"file://{page}")
        tab.add_style_tag(
            content="nav { position: static !important } #curves h2 { display: none }"
        )
        parts = [_part(tab, "#curves", 535), _part(tab, ".strips >> visible=true", 124)]
        browser.close()
    whole = Image.new("RGB", (parts[0].width, sum(part.height for part in parts)), "white")
    whole.paste(parts[0], (0, 0))
    whole.paste(parts[1], (0, parts[0].height))
    whole.save(target, optimize=True)


def photograph_playground(target: Path) -> None:
    """Take a picture of the playground with the scene that it begins with."""
    with _open_playground(viewport={"width": 1440, "height": 1230}) as tab:
        _save(tab.screenshot(), target)


def photograph_steps(folder: Path) -> None:
    """Take the pictures of the tutorial about the playground, in the order of its steps."""
    with _open_playground(**NARROW) as tab:
        tab.select_option("#preset", "many-to-one")
        _photograph_element(tab, ".stage", folder / "play-open.png")
        tab.select_option("#strategy", "one-to-one/optimal")
        _photograph_scores(tab, folder / "play-strategy.png")
        _photograph_element(tab, ".chart", folder / "play-threshold.png")
        _drag_piece_away(tab)
        _photograph_element(tab, "#scene", folder / "play-drag.png")
        _photograph_element(tab, ".card:has(#budget)", folder / "play-budget.png")
        _photograph_element(tab, ".derived", folder / "play-numbers.png")
        tab.select_option("#preset", "merge-or-optimal")
        _photograph_scores(tab, folder / "play-proof.png")
    with tempfile.TemporaryDirectory() as place:
        files = _write_pair(Path(place))
        with _open_playground(*map(str, files), **NARROW) as tab:
            _photograph_scores(tab, folder / "play-files.png")


def _write_pair(folder: Path) -> tuple[Path, Path]:
    """Write nuclei, and a prediction with a mistake of every kind."""
    from tifffile import imwrite

    from panmatch import phantoms

    nuclei = phantoms.blobs((120, 168), 22, radius=(7, 13), roughness=0.3, gap=2, seed=3)
    seen = phantoms.split(phantoms.shift(nuclei, (1, 2)), 2, ids=[1, 2, 3])
    seen = phantoms.merge_neighbours(phantoms.miss(seen, ids=[5, 8]), 2)
    files = folder / "nuclei.tif", folder / "mine.tif"
    for file, labels in zip(files, (nuclei, seen), strict=True):
        imwrite(file, labels.astype("uint16"))
    return files


@contextmanager
def _open_playground(*arguments: str, **options: Any) -> Iterator[Any]:
    """Yield a tab that shows the playground; arguments are those of `panmatch play`."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "panmatch", "play", *arguments, "--no-browser"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        address = server.stdout.readline().split()[1]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        try:
            tab = browser.new_page(**options)
            tab.goto(
                address if arguments else address + START
            )  # a first visit begins with the tour
            tab.wait_for_selector("#related .metric")
            yield tab
        finally:
            browser.close()
            server.terminate()


def _photograph_element(tab: Any, selector: str, target: Path) -> None:
    """Take a picture of one element, with nothing over it and after all numbers have come."""
    tab.locator("#strip").evaluate("strip => { strip.style.position = 'static'; }")
    tab.wait_for_timeout(SETTLED_MS)
    _save(tab.locator(selector).screenshot(), target)


def _photograph_scores(tab: Any, target: Path) -> None:
    """Take a picture of the strip with the scores, and of everything down to the proof."""
    tab.evaluate("scrollTo(0, 0)")
    tab.wait_for_timeout(SETTLED_MS)
    top, bottom = (tab.locator(one).bounding_box() for one in ("#strip", ".controls"))
    height = bottom["y"] + bottom["height"] + MARGIN - top["y"]
    clip = {"x": 0, "y": top["y"], "width": tab.viewport_size["width"], "height": height}
    _save(tab.screenshot(clip=clip, full_page=True), target)


def _drag_piece_away(tab: Any) -> None:
    """Drag the third prediction out of its object, as a reader would."""
    label = tab.locator("#scene text", has_text="P3").bounding_box()
    x, y = label["x"] + label["width"] / 2, label["y"] + label["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + 40, y + 55, steps=8)
    tab.mouse.up()
    tab.mouse.move(0, 0)  # what the pointer is on would be lit, and all else dimmed


def _save(picture: bytes, target: Path) -> None:
    """Write a picture with few colours, which is all that pages need."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(128).save(target, optimize=True)


def _part(tab: Any, selector: str, height: int) -> Image.Image:
    """Return the upper part of an element as an image."""
    from PIL import Image

    found = tab.locator(selector)
    found.scroll_into_view_if_needed()
    tab.wait_for_timeout(1500)
    image = Image.open(io.BytesIO(found.screenshot())).convert("RGB")
    return image.crop((0, 0, image.width, min(height, image.height)))


if __name__ == "__main__":
    main()
