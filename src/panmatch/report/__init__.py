"""How people see results: figures for papers, and an HTML report of a run.

Importing this package loads neither matplotlib nor plotly, jinja2 or Pillow.
"""

from panmatch.report._curve_figure import plot_curve
from panmatch.report._graph_figure import plot_matching
from panmatch.report._grid_figure import plot_grid
from panmatch.report._page import write_report
from panmatch.report._raters import write_rater_report
from panmatch.report._result_plots import ResultPlots
from panmatch.report._scene_figure import draw_comparison, plot_scene
from panmatch.report._sizes_figure import plot_sizes

__all__ = [
    "ResultPlots",
    "draw_comparison",
    "plot_curve",
    "plot_grid",
    "plot_matching",
    "plot_scene",
    "plot_sizes",
    "write_rater_report",
    "write_report",
]
