"""Figures of the whole grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from panmatch.overlap import Floats
from studies.agreement import (
    agreement_at_zero,
    ambiguous_share,
    reversals,
    same_orders,
    same_scores,
)
from studies.cells import Grid, Unit
from studies.grid import RULES, THRESHOLDS
from studies.study import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHADES = "Blues"
DARKEST = 0.55  # of the shades: black text must be readable
SMALL = 8  # points, of everything but the numbers in cells
KINDS = {  # colour, marker and label of the points of a kind of data
    "phantom": ("#E69F00", "s", "phantoms"),
    "real": ("#0072B2", "o", "real images"),
}


def pictures(grid: Grid) -> Iterator[Picture]:
    """Yield all figures of the page."""
    scores, n_cells = same_scores(grid.of("PQ"))
    words = f"How often two settings have the same PQ: percent of {n_cells} cells"
    yield Picture("same-pq", words, matrix(scores, grid.settings))
    if grid.contests:
        orders, n_orders = same_orders(grid.contests)
        words = f"How often two settings order two models the same way: percent of {n_orders} cells"
        yield Picture("same-order", words, matrix(orders, grid.settings))
        words = "How often the order of two models is the reverse of one-to-one at τ = 0.5, percent"
        yield Picture("reversals", words, map_of_grid(reversals(grid), grid.settings))
    units = grid.of("PQ")
    clear = sum(ambiguous_share(unit.structure) == 0 for unit in units)
    words = (
        f"Agreement of the {len(RULES)} settings of whole predictions at τ = 0, a point per unit; "
        f"at the upper left are the {clear} of {len(units)} units without such a component"
    )
    yield Picture("components", words, scatter(units))


def matrix(shares: Floats, names: Sequence[str]) -> Figure:
    """Return a table of all pairs, shaded; lines separate whole predictions from regions."""
    figure, axes = _empty(7.2, 4.4)
    below = np.tri(len(names), k=-1, dtype=np.bool_)  # each pair once
    _shade(axes, np.where(below, shares, np.nan)[1:, :-1])
    named = [f"{i + 1}  {name}" for i, name in enumerate(names)]
    axes.set_yticks(range(len(names) - 1), named[1:])
    axes.set_xticks(range(len(names) - 1), [str(i + 1) for i in range(len(names) - 1)])
    axes.set_xlabel(f"1 is {names[0]}; the other numbers are those of the rows", fontsize=SMALL)
    axes.axhline(len(RULES) - 1.5, color="white", linewidth=2.5)
    axes.axvline(len(RULES) - 0.5, color="white", linewidth=2.5)
    return figure


def map_of_grid(shares: Floats, names: Sequence[str]) -> Figure:
    """Return a table of settings and thresholds, shaded."""
    figure, axes = _empty(7.2, 4.6)
    _shade(axes, shares)
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(THRESHOLDS)), [f"{tau:g}" for tau in THRESHOLDS])
    axes.set_xlabel("threshold τ", fontsize=SMALL)
    axes.axhline(len(RULES) - 0.5, color="white", linewidth=2)
    return figure


def scatter(units: Sequence[Unit]) -> Figure:
    """Return agreement over the share of objects in ambiguous components, a point per unit."""
    figure, axes = _empty(5.2, 3.2)
    ambiguous, agree = agreement_at_zero(units, len(RULES))
    phantom = np.array([unit.kind == "phantom" for unit in units])
    for kind, here in (("phantom", phantom), ("real", ~phantom)):
        colour, marker, label = KINDS[kind]
        axes.scatter(ambiguous[here], agree[here], s=22, marker=marker, label=label, alpha=0.7,
                     facecolor=colour, edgecolor="white", linewidth=0.4, clip_on=False,
                     zorder=3)  # fmt: skip
    axes.set(xlim=(-0.02, 1), ylim=(0, 1.02))
    axes.set_xlabel("share of objects in components that are 1–n, n–1 or n–m", fontsize=SMALL)
    axes.set_ylabel("pairs of settings with the same PQ", fontsize=SMALL)
    axes.grid(color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower left", fontsize=SMALL)
    return figure


def _empty(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.subplots()
    axes.tick_params(labelsize=SMALL)
    return figure, axes


def _shade(axes: Axes, shares: Floats) -> None:
    """Draw a table whose highest shares are darkest, light enough for black text."""
    low, high = float(np.nanmin(shares)), float(np.nanmax(shares))
    shades = DARKEST * (shares - low) / max(high - low, 1e-9)
    axes.imshow(shades, cmap=SHADES, vmin=0, vmax=1, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        if not np.isnan(share):
            axes.text(column, row, _percent(share), ha="center", va="center", fontsize=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _percent(share: float) -> str:
    """Return a whole number of percent; 0 and 100 mean exactly that.

    Examples
    --------
    >>> _percent(0.999), _percent(1.0), _percent(0.001), _percent(0.124)
    ('99', '100', '1', '12')
    """
    rounded = round(100 * share)
    return str(rounded if share in (0, 1) else min(max(rounded, 1), 99))
