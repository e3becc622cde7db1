"""Figures of statistics, with plotly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from panmatch.compat.panoptica._statistics import (
    FloatDistribution,
    Panoptica_Statistic,
    means_of,
)
from panmatch.errors import OptionError, needs_extra
from panmatch.spec import at_threshold

if TYPE_CHECKING:
    import plotly.graph_objects as go

Range = tuple[float, float] | None
Statistics = Mapping[Any, Panoptica_Statistic]


def _figure() -> go.Figure:
    with needs_extra("report", "Figures"):
        import plotly.graph_objects as go

    return go.Figure()


def summary_figure(
    statistic: Panoptica_Statistic,
    metric: str,
    groups: Sequence[str] | str | None = None,
    manual_metric_range: Range = None,
    name_method: str = "Structure",
    horizontal: bool = True,
    sort: bool = True,
    title: str = "",
    master_only: bool = True,
) -> go.Figure:
    """Return a box for every group."""
    chosen = statistic.groupnames if groups is None else [groups] if isinstance(groups, str) else (
        groups)  # fmt: skip
    values = {g: statistic.get_summary(g, metric, master_only).values for g in chosen}
    if sort:
        by_mean = sorted(values, key=lambda g: FloatDistribution(values[g]).avg)
        values = {g: values[g] for g in (by_mean if horizontal else by_mean[::-1])}
    fig = _figure()
    for name, column in values.items():
        axis = {"x" if horizontal else "y": column}
        fig.add_box(name=name.replace("_", " "), boxpoints="all", **axis)
    titles = (metric, name_method) if horizontal else (name_method, metric)
    fig.update_layout(
        width=850, height=1200, showlegend=False, title=title, xaxis_title=titles[0],
        yaxis_title=titles[1],
    )  # fmt: skip
    _set_range(fig, manual_metric_range, "x" if horizontal else "y", margin=0.01)
    return fig


def make_curve_over_setups(
    statistics_dict: Statistics,
    metric: str,
    groups: Sequence[str] | str | None = None,
    alternate_groupnames: Sequence[str] | str | None = None,
    fig: go.Figure | None = None,
    plot_as_barchart: bool = True,
    plot_std: bool = True,
    figure_title: str = "",
    width: int = 850,
    height: int = 1200,
    xaxis_title: str | None = None,
    yaxis_title: str | None = None,
    manual_metric_range: Range = None,
) -> go.Figure:
    """Return the means of a metric in several files, as bars or as one curve."""
    named = _named_groups(statistics_dict, groups, alternate_groupnames)
    if not plot_as_barchart and len(named) != 1:
        raise OptionError("plot_as_barchart=False shows one group: pass groups=NAME.")
    for setup, one in statistics_dict.items():
        if metric not in one.metricnames:
            raise OptionError(f"metric={metric!r} is not in the statistic {setup!r}.")
    setups = list(statistics_dict)
    numbers = all(str(one).isdigit() for one in setups)
    x = [float(one) for one in setups] if numbers else setups
    fig = fig or _figure()
    for group, name in named.items():
        found = means_of(statistics_dict, group, metric)
        spread = {"type": "data", "array": [one.std for one in found]} if plot_std else None
        trace = {"x": x, "y": [one.avg for one in found], "error_y": spread, "name": name}
        if plot_as_barchart:
            fig.add_bar(**trace)
        else:
            fig.add_scatter(mode="lines+markers", **trace)
    fig.update_layout(
        barmode="group", width=width, height=height, showlegend=True, title=figure_title,
        xaxis_title=xaxis_title or "Different setups and groups", yaxis_title=yaxis_title or metric,
    )  # fmt: skip
    _set_range(fig, manual_metric_range, "y")
    return fig


def make_autc_plots(
    statistics_dict: Statistics,
    metric: str,
    groups: Sequence[str] | str | None = None,
    alternate_groupnames: Sequence[str] | str | None = None,
    fig: go.Figure | None = None,
    plot_std: bool = True,
    figure_title: str = "",
    width: int = 850,
    height: int = 1200,
    xaxis_title: str | None = None,
    yaxis_title: str | None = None,
    manual_metric_range: Range = None,
) -> go.Figure:
    """Return the means of a metric over matching thresholds; nothing where a file has none."""
    named = _named_groups(statistics_dict, groups, alternate_groupnames)
    fig = fig or _figure()
    for setup, one in statistics_dict.items():
        thresholds = one.get_thresholds_for_metric(metric)
        for group, name in named.items() if thresholds else ():
            found = [
                FloatDistribution(one.get(group, at_threshold(at, metric), remove_nones=True))
                for at in thresholds
            ]
            spread = {"type": "data", "array": [d.std for d in found]} if plot_std else None
            several = len(named) > 1
            called = f"{setup} - {name}" if several else name if len(statistics_dict) == 1 else (
                str(setup))  # fmt: skip
            fig.add_scatter(
                x=thresholds, y=[d.avg for d in found], error_y=spread, name=called,
                mode="lines+markers",
            )  # fmt: skip
    fig.update_layout(
        width=width, height=height, showlegend=True, title=figure_title,
        xaxis_title=xaxis_title or "Matching Threshold", yaxis_title=yaxis_title or metric,
    )  # fmt: skip
    fig.update_xaxes(range=[-0.05, 1.05])
    _set_range(fig, manual_metric_range, "y")
    return fig


def _named_groups(
    statistics: Statistics, groups: Sequence[str] | str | None, names: Sequence[str] | str | None
) -> dict[str, str]:
    chosen = next(iter(statistics.values())).groupnames if groups is None else groups
    chosen = [chosen] if isinstance(chosen, str) else list(chosen)
    called = chosen if names is None else [names] if isinstance(names, str) else list(names)
    if len(called) != len(chosen):
        raise OptionError(
            f"alternate_groupnames has {len(called)} names for {len(chosen)} groups: pass one each."
        )
    return dict(zip(chosen, called, strict=True))


def _set_range(fig: go.Figure, limits: Range, axis: str, margin: float = 0.0) -> None:
    if limits is None:
        return
    low, high = limits
    if low >= high:
        raise OptionError(f"manual_metric_range={limits} must rise.")
    ends = [low - margin * (high - low), high + margin * (high - low)]
    (fig.update_xaxes if axis == "x" else fig.update_yaxes)(range=np.array(ends).tolist())
