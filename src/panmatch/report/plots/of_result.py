"""The figures of a result, as its attribute `plot` offers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy.typing as npt

from panmatch.evaluation import Images, Result
from panmatch.evaluation.sides import Image
from panmatch.report.plots.curve import Quantity, plot_curve
from panmatch.report.plots.grid import plot_grid
from panmatch.report.plots.matching import plot_matching
from panmatch.report.plots.one_class import match_class
from panmatch.report.plots.scene import plot_scene
from panmatch.report.plots.selection import Names
from panmatch.report.plots.sizes import plot_sizes
from panmatch.report.style import Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ResultPlots:
    """Figures of a result for papers; each method returns a matplotlib figure.

    Parameters
    ----------
    result
        What to draw.

    Examples
    --------
    >>> from panmatch.evaluation import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> result.plot.curve(width="double").get_size_inches()[0].item()
    7.2
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def curve(
        self,
        *,
        quantity: Quantity = "pq",
        classes: Names = None,
        models: Names = None,
        strategies: Names = None,
        width: Width = "single",
    ) -> Figure:
        """Draw scores over all thresholds as exact steps: see `plot_curve`."""
        return plot_curve(
            self._result,
            quantity=quantity,
            classes=classes,
            models=models,
            strategies=strategies,
            width=width,
        )

    def grid(
        self,
        *,
        quantity: Quantity = "pq",
        classes: Names = None,
        models: Names = None,
        strategies: Names = None,
        thresholds: float | Sequence[float] | None = None,
        width: Width = "single",
    ) -> Figure:
        """Draw pooled scores, strategy by threshold: see `plot_grid`."""
        return plot_grid(
            self._result,
            quantity=quantity,
            classes=classes,
            models=models,
            strategies=strategies,
            thresholds=thresholds,
            width=width,
        )

    def sizes(
        self,
        *,
        classes: Names = None,
        models: Names = None,
        strategy: str | None = None,
        threshold: float | None = None,
        bins: int | Sequence[float] = 5,
        unit: str | None = None,
        width: Width = "single",
    ) -> Figure:
        """Draw recall by the size of references: see `plot_sizes`."""
        return plot_sizes(
            self._result,
            classes=classes,
            models=models,
            strategy=strategy,
            threshold=threshold,
            bins=bins,
            unit=unit,
            width=width,
        )

    def matching(
        self,
        *,
        reference: Image,
        prediction: Image,
        class_name: str | None = None,
        strategy: str | None = None,
        threshold: float | None = None,
        spacing: npt.ArrayLike | None = None,
        reference_parts: npt.ArrayLike | None = None,
        prediction_parts: npt.ArrayLike | None = None,
        void: npt.ArrayLike | None = None,
        most: int = 40,
        width: Width = "single",
    ) -> Figure:
        """Draw the graph of one case: see `plot_matching`.

        A result keeps no images, so pass those that were evaluated, with the options of
        `evaluate`. Class, way to match and threshold are as for `match_class`.
        """
        found = match_class(
            self._result.spec,
            Images(reference, reference_parts),
            Images(prediction, prediction_parts),
            class_name=class_name,
            strategy=strategy,
            threshold=threshold,
            spacing=spacing,
            void=void,
        )
        return plot_matching(found.matching, most=most, width=width)

    def scene(
        self,
        *,
        reference: Image,
        prediction: Image,
        image: npt.ArrayLike | None = None,
        class_name: str | None = None,
        strategy: str | None = None,
        threshold: float | None = None,
        spacing: npt.ArrayLike | None = None,
        reference_parts: npt.ArrayLike | None = None,
        prediction_parts: npt.ArrayLike | None = None,
        void: npt.ArrayLike | None = None,
        slice_: tuple[int, int] | None = None,
        zoom: bool = True,
        width: Width = "single",
    ) -> Figure:
        """Draw the objects of one case with what became of them: see `plot_scene`.

        The images and options are those of `evaluate`, as for `matching`.
        """
        found = match_class(
            self._result.spec,
            Images(reference, reference_parts),
            Images(prediction, prediction_parts),
            class_name=class_name,
            strategy=strategy,
            threshold=threshold,
            spacing=spacing,
            void=void,
        )
        return plot_scene(
            found.reference,
            found.prediction,
            found.matching,
            image=image,
            spacing=spacing,
            slice_=slice_,
            zoom=zoom,
            width=width,
        )
