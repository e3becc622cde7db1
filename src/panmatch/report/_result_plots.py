"""The figures of a result, as the methods of its attribute `plot`."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, Unpack, overload

import numpy.typing as npt

from panmatch.errors import named_only
from panmatch.evaluation import Result
from panmatch.report._curve_figure import plot_curve
from panmatch.report._graph_figure import plot_matching
from panmatch.report._grid_figure import plot_grid
from panmatch.report._matched_class import CaseImages, match_class
from panmatch.report._scene_figure import plot_scene
from panmatch.report._sizes_figure import plot_sizes
from panmatch.report._style import Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Options = ParamSpec("Options")


class _OfResult(Generic[Options]):
    """A plot function as a method: its first argument is the result that is drawn."""

    def __init__(self, plot: Callable[Concatenate[Result, Options], Figure]) -> None:
        self._plot = plot

    @overload
    def __get__(
        self, plots: None, owner: object
    ) -> Callable[Concatenate[Result, Options], Figure]: ...
    @overload
    def __get__(self, plots: ResultPlots, owner: object) -> Callable[Options, Figure]: ...
    def __get__(self, plots: ResultPlots | None, owner: object) -> Callable[..., Figure]:
        # The signature and the docstring are those of the function, for editors and help().
        return self._plot if plots is None else MethodType(self._plot, plots.result)


class ResultPlots:
    """Figures of a result for papers; each method returns a matplotlib figure.

    The methods `curve`, `grid` and `sizes` have the options of `plot_curve`, `plot_grid` and
    `plot_sizes`.

    Parameters
    ----------
    result
        What to draw.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> result.plot.curve(width="double").get_size_inches()[0].item()
    7.2
    """

    def __init__(self, result: Result) -> None:
        self.result = result

    curve = _OfResult(plot_curve)
    grid = _OfResult(plot_grid)
    sizes = _OfResult(plot_sizes)

    @named_only
    def matching(
        self, *, most: int = 40, width: Width = "single", **case: Unpack[CaseImages]
    ) -> Figure:
        """Draw the graph of one case: see `plot_matching`.

        A result does not keep images, so pass those that were evaluated, with the options of
        `evaluate`. If there are several classes, strategies or thresholds, choose with
        `class_name`, `strategy` and `threshold`.
        """
        found = match_class(self.result.spec, **case)
        return plot_matching(found.matching, most=most, width=width)

    @named_only
    def scene(
        self,
        *,
        image: npt.ArrayLike | None = None,
        slice_: tuple[int, int] | None = None,
        zoom: bool = True,
        width: Width = "single",
        **case: Unpack[CaseImages],
    ) -> Figure:
        """Draw the objects of one case, and whether they were matched: see `plot_scene`.

        The images and options of the case are those of `matching`.
        """
        found = match_class(self.result.spec, **case)
        return plot_scene(
            found.reference,
            found.prediction,
            found.matching,
            image=image,
            spacing=case.get("spacing"),
            slice_=slice_,
            zoom=zoom,
            width=width,
        )
