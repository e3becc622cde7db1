"""One look for everything people see: figures, pictures and the HTML report.

Plain values only, so that whoever draws (matplotlib, Pillow, a browser) can use them. Colours are
Okabe and Ito's, which colour-blind readers tell apart. Nothing is told by colour alone: lines also
differ in dash and marker, areas in hatch, and colours that stand together in lightness, for print
in grey.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from panmatch.errors import OptionError, check_choice

Dash = Literal["solid", "dash", "dashdot", "dot", "longdash"]
Width = Literal["single", "double"] | float

BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
ORANGE, GREEN, SKY, BLACK = "#E69F00", "#009E73", "#56B4E9", "#000000"
GREY = "#767676"

# On and off, in line widths; the names are those of Plotly.
DASHES: MappingProxyType[Dash, tuple[float, ...]] = MappingProxyType(
    {
        "solid": (),
        "dash": (4.0, 1.6),
        "dashdot": (5.0, 1.5, 1.0, 1.5),
        "dot": (1.0, 1.4),
        "longdash": (9.0, 2.0),
    }
)


@dataclass(frozen=True, slots=True)
class Look:
    """How a thing is drawn.

    Attributes
    ----------
    color
        As ``"#RRGGBB"``.
    dash
        A key of `DASHES`.
    marker, hatch
        As matplotlib spells them; no hatch is ``""``.
    """

    color: str
    dash: Dash = "solid"
    marker: str = "o"
    hatch: str = ""


# By the words of the instance table. On white, all have a contrast above 3 : 1.
STATUSES: MappingProxyType[str, Look] = MappingProxyType(
    {
        "matched": Look(BLUE, "solid", "o"),
        "missed": Look(PURPLE, "solid", "s", "//////"),
        "false positive": Look(VERMILLION, "dash", "D"),
    }
)
OTHER = Look(GREY, "dot", "o")  # neither matched nor an error: dismissed (D10)

SERIES_COLORS = (BLUE, ORANGE, BLACK, PURPLE, GREEN, VERMILLION, SKY)
SERIES_MARKERS = ("o", "s", "^", "D", "v", "P", "X")

WIDTHS_IN = MappingProxyType({"single": 3.5, "double": 7.2})  # columns of a journal's page
LEAST_WIDTH_IN = 2.0
SMALLEST_PT = 7.0

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
        "figure.dpi": 200.0,
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.fonttype": "none",
    }
)


def series_look(at: int) -> Look:
    """Return the look of the model or strategy number `at`, counted from 0.

    The first 35 differ in colour or dash.

    Examples
    --------
    >>> series_look(1)
    Look(color='#E69F00', dash='dash', marker='s', hatch='')
    """
    dashes = tuple(DASHES)
    return Look(
        SERIES_COLORS[at % len(SERIES_COLORS)],
        dashes[at % len(dashes)],
        SERIES_MARKERS[at % len(SERIES_MARKERS)],
    )


def line_style(dash: Dash) -> Literal["-"] | tuple[float, tuple[float, ...]]:
    """Return a dash as matplotlib spells it."""
    return (0.0, DASHES[dash]) if DASHES[dash] else "-"


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
        raise OptionError(f"width={width!r} is neither 'single' nor 'double' nor inches.")
    if not (LEAST_WIDTH_IN <= width < math.inf):
        raise OptionError(
            f"width={width!r} inches is no width for a figure: pass 'single' "
            f"({WIDTHS_IN['single']} in), 'double' ({WIDTHS_IN['double']} in), or "
            f"{LEAST_WIDTH_IN} or more."
        )
    return float(width)
