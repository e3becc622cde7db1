"""Pixels of a slice on the page: where they are, and which colour they have."""

from __future__ import annotations

from typing import Any

COLOUR = """([x, y]) => {
  const canvas = document.querySelector("#volume");
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, -Math.floor(x * ratio), -Math.floor(y * ratio));
  return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""


def place_of(
    page: Any, row: int, column: int, shape: tuple[int, ...], aspect: float = 1.0
) -> tuple[float, float]:
    """Return where the middle of a pixel of a slice is on the canvas, if all of it is seen."""
    box = page.locator("#volume").bounding_box()
    scale = min(box["width"] / shape[1], box["height"] / (shape[0] * aspect))
    left = (box["width"] - shape[1] * scale) / 2
    top = (box["height"] - shape[0] * scale * aspect) / 2
    return left + (column + 0.5) * scale, top + (row + 0.5) * scale * aspect


def click_pixel(page: Any, row: int, column: int, shape: tuple[int, ...]) -> None:
    box = page.locator("#volume").bounding_box()
    x, y = place_of(page, row, column, shape)
    page.mouse.click(box["x"] + x, box["y"] + y)


def colour_at(page: Any, row: int, column: int, shape: tuple[int, ...]) -> list[int]:
    """Return the red, green and blue of a pixel of a slice of which all is seen."""
    found: list[int] = page.evaluate(COLOUR, place_of(page, row, column, shape))
    return found


def blended(ground: str, colour: str, share: float) -> list[int]:
    """Return a colour laid over a ground; both are given as hex."""
    pairs = zip(bytes.fromhex(ground[1:]), bytes.fromhex(colour[1:]), strict=True)
    return [round(below + (above - below) * share) for below, above in pairs]
