"""Figures for papers, each a function from data to a matplotlib figure.

`Result.plot` offers them all; importing this package does not load matplotlib.
"""

from panmatch.report.plots.curve import plot_curve
from panmatch.report.plots.grid import plot_grid
from panmatch.report.plots.matching import plot_matching
from panmatch.report.plots.of_result import ResultPlots
from panmatch.report.plots.scene import plot_scene
from panmatch.report.plots.sizes import plot_sizes

__all__ = [
    "ResultPlots",
    "plot_curve",
    "plot_grid",
    "plot_matching",
    "plot_scene",
    "plot_sizes",
]
