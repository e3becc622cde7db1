"""What all figures promise: sizes, fonts, files, and no trace in matplotlib's settings."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

import panmatch as pm
from panmatch import phantoms
from panmatch.report._scene_figure import comparison_figure
from panmatch.report._style import SMALLEST_PT
from tests.report.results import draw, made, two_classes, two_models, visible_texts

REFERENCE = phantoms.blobs((60, 90), 12, radius=(4, 7), gap=1, seed=2)
PREDICTION = phantoms.miss(phantoms.shift(REFERENCE, (1, 2)), ids=[3])
IMAGES: dict[str, Any] = {"reference": REFERENCE, "prediction": PREDICTION}
OVERLAP = pm.count_overlaps(REFERENCE, PREDICTION)
STRATEGIES = ("one-to-one", "many-to-one", "one-to-many")
LONG = {"thresholds": [0.1, 0.3, 0.5, 0.7, 0.9]}

FIGURES: dict[str, Callable[..., Figure]] = {
    "curve": lambda **width: made().plot.curve(**width),
    "curves of models": lambda **width: two_models().plot.curve(**width),
    "curves of a strategy": lambda **width: two_models().plot.curve(
        strategies="many-to-one", **width
    ),
    "curves of classes": lambda **width: two_classes().plot.curve(**width),
    "grid": lambda **width: made(LONG).plot.grid(**width),
    "grids of models": lambda **width: two_models(LONG).plot.grid(**width),
    "sizes": lambda **width: made().plot.sizes(**width),
    "sizes of models": lambda **width: two_models().plot.sizes(**width),
    "sizes of classes": lambda **width: two_classes().plot.sizes(bins=2, **width),
    "matching": lambda **width: made().plot.matching(**IMAGES, **width),
    "matching with void": lambda **width: made().plot.matching(
        **IMAGES, void=REFERENCE == 3, **width
    ),
    "matching with a dismissed prediction": lambda **width: made().plot.matching(
        reference=PREDICTION, prediction=REFERENCE, void=REFERENCE == 3, **width
    ),
    "long matching": lambda **width: made().plot.matching(**IMAGES, threshold=0.0, most=3, **width),
    "comparison": lambda **_: comparison_figure(
        REFERENCE,
        PREDICTION,
        [pm.match(OVERLAP, name, 0.3) for name in STRATEGIES],
        [pm.curve(OVERLAP, name) for name in STRATEGIES],
    ),
    "scene": lambda **width: made().plot.scene(**IMAGES, **width),
    "scene on an image": lambda **width: made().plot.scene(
        **IMAGES, image=1.0 * REFERENCE, zoom=False, spacing=(3, 1), **width
    ),
}


@dataclass(frozen=True)
class Drawn:
    """A figure, and the picture that became of it."""

    figure: Figure
    shape: tuple[int, ...]
    colours: int


@cache
def drawn(name: str, width: str) -> Drawn:
    figure = FIGURES[name](width=width)
    pixels = draw(figure)
    colours = pixels @ np.array([1, 1 << 8, 1 << 16])  # numbers, which are sorted faster than rows
    return Drawn(figure, pixels.shape, len(np.unique(colours)))


@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("name", FIGURES)
def test_texts_are_large_enough_inside_the_figure_and_apart(name: str, width: str) -> None:
    figure = drawn(name, width).figure
    shown = visible_texts(figure)
    assert min(float(text.get_fontsize()) for text in shown) >= SMALLEST_PT
    boxes = {text: text.get_window_extent() for text in shown}
    right, top = figure.bbox.width, figure.bbox.height
    for text, box in boxes.items():
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= right + 1 and box.y1 <= top + 1
        assert inside, f"{text.get_text()!r} is cut off"
    for at, (first, one) in enumerate(boxes.items()):
        for second, other in list(boxes.items())[:at]:
            overlap_x = min(one.x1, other.x1) - max(one.x0, other.x0)
            overlap_y = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert overlap_x < 2 or overlap_y < 2, (first.get_text(), second.get_text())


@pytest.mark.parametrize("name", FIGURES)
def test_pictures_have_the_size_in_inches_times_the_resolution(name: str) -> None:
    found = drawn(name, "single")
    assert found.figure.dpi == 300
    assert found.shape[1] == (2700 if name == "comparison" else 1050)
    assert found.shape[0] == int(found.figure.get_size_inches()[1] * 300)
    assert found.colours > 20


@pytest.mark.parametrize("name", FIGURES)
def test_pdf_has_text_as_text_and_lines_as_lines(name: str, tmp_path: Path) -> None:
    FIGURES[name](width="double").savefig(tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in content  # an embedded TrueType font
    assert b"/Type3" not in content
    assert (b"/Subtype /Image" in content) == (name == "scene on an image")
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    page = b"".join(_inflated(stream) for stream in streams)
    assert b" Tf" in page
    assert b"BT" in page


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_svg_has_text_as_text() -> None:
    file = BytesIO()
    made().plot.curve().savefig(file, format="svg")
    assert ">threshold τ</text>" in file.getvalue().decode()


def test_settings_of_matplotlib_are_left_alone() -> None:
    before = dict(mpl.rcParams)
    figure = made().plot.curve()
    draw(figure)
    assert dict(mpl.rcParams) == before


def test_settings_of_the_reader_change_nothing() -> None:
    expected = draw(two_models().plot.grid())
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "black", "xtick.labelsize": 3}):
        assert np.array_equal(draw(two_models().plot.grid()), expected)


def test_a_notebook_shows_it_with_two_pixels_for_one() -> None:
    figure = made().plot.curve()
    png, shown = figure._repr_png_()  # type: ignore[attr-defined]
    width, height = Image.open(BytesIO(png)).size
    assert (width, height) == (1050, int(figure.get_size_inches()[1] * 300))
    assert shown == {"width": 525, "height": round(figure.get_size_inches()[1] * 150)}
    assert abs(height - 2 * shown["height"]) <= 1


@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("name", FIGURES)
def test_no_legend_lies_on_what_is_drawn(name: str, width: str) -> None:
    figure = drawn(name, width).figure
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    boxes = [legend.get_window_extent() for legend in legends if legend is not None]
    for ax in figure.axes:
        for box in boxes:
            assert not box.overlaps(ax.get_window_extent())
        for line in ax.get_lines():
            for x, y in ax.transData.transform(_corners(line)):
                assert not any(box.contains(x, y) for box in boxes)


def _corners(line: Line2D) -> npt.NDArray[np.float64]:
    """Return the points through which a line is drawn, also those of its steps."""
    return np.asarray(line.get_path().vertices, np.float64)
