"""What all figures share: the style while they are made, their size, and panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from panmatch.report.style import SMALLEST_PT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")

LETTER_IN = 0.55 * SMALLEST_PT / 72  # mean width of a letter of the smallest text
LINE_IN = 1.45 * SMALLEST_PT / 72


def in_paper_style(draw: Callable[Given, Drawn]) -> Callable[Given, Drawn]:
    """Make a function draw in the style of papers, whatever the settings of matplotlib are."""

    @wraps(draw)
    def drawn(*args: Given.args, **options: Given.kwargs) -> Drawn:
        from panmatch.report.plots.paper_figure import paper_style

        with paper_style():
            return draw(*args, **options)

    return drawn


def new_figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure of this size in inches, whose parts make room for each other."""
    from panmatch.report.plots.paper_figure import PaperFigure

    return PaperFigure(figsize=(width_in, height_in), layout="constrained")


def make_panels(figure: Figure, n: int, columns: int) -> list[Axes]:
    """Return n axes, row by row."""
    rows = -(-n // columns)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in axes[n:]:
        unused.remove()
    return axes[:n]


def text_width_in(texts: Sequence[str]) -> float:
    """Return about how wide the longest of small texts is."""
    return LETTER_IN * max(map(len, texts), default=0)
