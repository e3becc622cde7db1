"""Make the pictures of the README from a fresh run of the demo: `make images`."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

IMAGES = Path(__file__).parents[1] / "images"
SIZE = {"width": 1280, "height": 1000}


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
    from PIL import Image
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "panmatch", "play", "--no-browser"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        address = server.stdout.readline().split()[1]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1440, "height": 1230})
        tab.goto(address)
        tab.wait_for_selector("#related .metric")
        picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        browser.close()
        server.terminate()
    picture.quantize(128).save(target, optimize=True)


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
