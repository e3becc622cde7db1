"""One look for everything people see: figures, pictures and the HTML report.

These are plain values, so that matplotlib, Pillow and a browser can all use them. The colours are
those of Okabe and Ito, which colour-blind readers can distinguish. Nothing is shown by colour
alone: lines also differ in dash and marker, areas in hatch, and neighbouring colours in lightness,
for printing in grey.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from panmatch.errors import OptionError, check_choice, needs_extra
from panmatch.matching import Dash
from panmatch.overlap import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")
Width = Literal["single", "double"] | float

BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
ORANGE, GREEN, SKY, BLACK = "#E69F00", "#009E73", "#56B4E9", "#000000"
GREY = "#767676"

SOLID: Dash = ()
DASHED: Dash = (4.0, 1.6)
DOTTED: Dash = (1.0, 1.4)


@dataclass(frozen=True, slots=True)
class Look:
    """How a thing is drawn; marker and hatch as matplotlib spells them, ``""`` for none."""

    color: str  # as "#RRGGBB"
    dash: Dash = SOLID  # lengths of strokes and gaps, in line widths
    marker: str = "o"
    hatch: str = ""


# By the words of the instance table. On white, all have a contrast above 3 : 1.
STATUSES: MappingProxyType[str, Look] = MappingProxyType(
    {
        "matched": Look(BLUE),
        "missed": Look(PURPLE, SOLID, "s", "//////"),
        "false positive": Look(VERMILLION, DASHED, "D"),
    }
)
OTHER = Look(GREY, DOTTED)  # neither matched nor an error: dismissed (D10)

SERIES_COLORS = (BLUE, ORANGE, BLACK, PURPLE, GREEN, VERMILLION, SKY)
SERIES_MARKERS = ("o", "s", "^", "D", "v", "P", "X")

WIDTHS_IN = MappingProxyType({"single": 3.5, "double": 7.2})  # columns of a journal's page
LEAST_WIDTH_IN = 2.0
SMALLEST_PT = 7.0
LETTER_IN = 0.55 * SMALLEST_PT / 72  # mean width of a letter of the smallest text
LINE_IN = 1.45 * SMALLEST_PT / 72
PIXELS_PER_IN = 300  # of pictures; notebooks show them at half their size, for dense screens
LEAST_SPAN, TICK = 0.2, 0.1  # of an axis of scores
TICKS = ((0.31, 0.05), (0.61, 0.1), (1.0, 0.2))  # distances of ticks, by the span that they suit

# For matplotlib. Type 42 keeps text as text in PDF and PostScript, as journals ask for.
SETTINGS: MappingProxyType[str, object] = MappingProxyType(
    {
        "font.size": 8.0,
        "axes.titlesize": 8.0,
        "axes.labelsize": 8.0,
        "xtick.labelsize": SMALLEST_PT,
        "ytick.labelsize": SMALLEST_PT,
        "legend.fontsize": SMALLEST_PT,
        "legend.title_fontsize": SMALLEST_PT,
        "legend.frameon": False,
        "legend.handlelength": 3.0,
        "lines.linewidth": 1.2,
        "lines.markersize": 4.0,
        "hatch.linewidth": 0.5,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "grid.linewidth": 0.5,
        "grid.alpha": 0.4,
        "figure.dpi": float(PIXELS_PER_IN),
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.fonttype": "none",
    }
)


def series_look(i: int, dash: Dash = SOLID) -> Look:
    """Return the look of series `i`, counted from 0: by model, or by strategy of a single model.

    The first 49 differ in colour or marker. Dashes tell strategies apart (`Matcher.dash`).

    Examples
    --------
    >>> series_look(1)
    Look(color='#E69F00', dash=(), marker='s', hatch='')
    """
    n = len(SERIES_COLORS)
    return Look(SERIES_COLORS[i % n], dash, SERIES_MARKERS[(i + i // n) % n])


def line_style(dash: Dash) -> Literal["-"] | tuple[float, Dash]:
    """Return a dash as matplotlib spells it."""
    return (0.0, dash) if dash else "-"


def luminance(rgb: tuple[float, float, float]) -> float:
    """Return the relative luminance of a colour whose components lie in [0, 1] (WCAG).

    Examples
    --------
    >>> luminance((0, 0, 0)), luminance((1, 1, 1)), round(luminance((1, 0, 0)), 4)
    (0.0, 1.0, 0.2126)
    """
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in rgb
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def score_limits(values: Sequence[float] | Floats) -> tuple[float, float]:
    """Return the ends of an axis on which scores fill at least half of the space.

    It starts at 0 if that is possible, and never ends above 1.

    Examples
    --------
    >>> score_limits([0.1, 0.33]), score_limits([0.52, 0.81]), score_limits([math.nan])
    ((0.0, 0.4), (0.5, 0.9), (0.0, 1.0))
    """
    defined = [value for value in map(float, values) if not math.isnan(value)]
    if not any(defined):
        return 0.0, 1.0
    low, high = min(defined), max(defined)
    margin = TICK / 10
    top = min(1.0, TICK * math.ceil((high + margin) / TICK))
    if low < top / 2:
        if top > TICKS[1][0]:  # ends at a tick
            top = TICKS[2][1] * math.ceil(top / TICKS[2][1] - margin)
        return 0.0, round(top, 6)
    bottom = TICK * math.floor((low - margin) / TICK)
    return round(max(0.0, min(bottom, top - LEAST_SPAN)), 6), round(top, 6)


def set_score_axis(ax: Axes, limits: tuple[float, float]) -> None:
    """Set the ends of the score axis, and ticks at round numbers."""
    span = limits[1] - limits[0]
    step = next((step for most, step in TICKS if span <= most), TICKS[-1][1])
    first, last = math.ceil(limits[0] / step - 1e-9), math.floor(limits[1] / step + 1e-9)
    ax.set_yticks([round(step * i, 6) for i in range(first, last + 1)])
    ax.set_ylim(limits)


def width_in(width: Width) -> float:
    """Return the width of a figure in inches.

    Examples
    --------
    >>> width_in("single"), width_in(5)
    (3.5, 5.0)
    """
    if isinstance(width, str):
        check_choice("width", width, WIDTHS_IN)
        return WIDTHS_IN[width]
    if isinstance(width, bool) or not isinstance(width, int | float):
        raise OptionError(f"width={width!r} must be 'single', 'double' or a number of inches.")
    if not (LEAST_WIDTH_IN <= width < math.inf):
        raise OptionError(
            f"width={width!r} inches is not a valid figure width: pass 'single' "
            f"({WIDTHS_IN['single']} in), 'double' ({WIDTHS_IN['double']} in), or "
            f"{LEAST_WIDTH_IN} or more."
        )
    return float(width)


def in_paper_style(draw: Callable[Given, Drawn]) -> Callable[Given, Drawn]:
    """Make a function draw in the style of papers, whatever the settings of matplotlib are.

    If matplotlib is not installed, calling such a function raises an error that says how to
    install it.
    """

    @wraps(draw)
    def drawn(*args: Given.args, **options: Given.kwargs) -> Drawn:
        with needs_extra("report", "Figures"):
            from panmatch.report._paper_figure import paper_style

        with paper_style():
            return draw(*args, **options)

    return drawn


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, with a constrained layout."""
    from panmatch.report._paper_figure import PaperFigure, show_in_notebooks

    show_in_notebooks()
    return PaperFigure(figsize=(width, height), layout="constrained")


def make_panels(figure: Figure, n: int, columns: int) -> list[Axes]:
    """Return n axes, row by row."""
    rows = -(-n // columns)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in axes[n:]:
        unused.remove()
    return axes[:n]


def text_width_in(texts: Sequence[str]) -> float:
    """Return about how wide the longest line of small texts is, in inches."""
    lines = [line for text in texts for line in text.split("\n")]
    return LETTER_IN * max(map(len, lines), default=0)
