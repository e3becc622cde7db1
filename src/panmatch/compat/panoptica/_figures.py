"""Figures of statistics, with plotly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from panmatch.compat.panoptica._statistics import FloatDistribution, Panoptica_Statistic, several
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
    chosen = several(groups, statistic.groupnames)
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
        raise OptionError("plot_as_barchart=False shows only one group: pass groups=NAME.")
    for setup, one in statistics_dict.items():
        if metric not in one.metricnames:
            raise OptionError(f"metric={metric!r} is not in the statistic {setup!r}.")
    setups = list(statistics_dict)
    numbers = all(str(one).isdigit() for one in setups)
    x = [float(one) for one in setups] if numbers else setups
    fig = fig or _figure()
    for group, name in named.items():
        values = [one.get(group, metric, remove_nones=True) for one in statistics_dict.values()]
        trace = _means(values, plot_std) | {"x": x, "name": name}
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
    """Return the means of a metric over matching thresholds; nothing if a file has none."""
    named = _named_groups(statistics_dict, groups, alternate_groupnames)
    fig = fig or _figure()
    for setup, one in statistics_dict.items():
        thresholds = one.get_thresholds_for_metric(metric)
        for group, name in named.items() if thresholds else ():
            values = [one.get(group, at_threshold(at, metric), True) for at in thresholds]
            called = f"{setup} - {name}" if len(named) > 1 else str(setup)
            if len(named) == len(statistics_dict) == 1:
                called = name
            fig.add_scatter(
                x=thresholds, name=called, mode="lines+markers", **_means(values, plot_std)
            )
    fig.update_layout(
        width=width, height=height, showlegend=True, title=figure_title,
        xaxis_title=xaxis_title or "Matching Threshold", yaxis_title=yaxis_title or metric,
    )  # fmt: skip
    fig.update_xaxes(range=[-0.05, 1.05])
    _set_range(fig, manual_metric_range, "y")
    return fig


def _means(values: Sequence[Sequence[float]], plot_std: bool) -> dict[str, Any]:
    """Return means and, if asked for, standard deviations as a trace shows them."""
    found = [FloatDistribution(one) for one in values]
    spread = {"type": "data", "array": [one.std for one in found]} if plot_std else None
    return {"y": [one.avg for one in found], "error_y": spread}


def _named_groups(
    statistics: Statistics, groups: Sequence[str] | str | None, names: Sequence[str] | str | None
) -> dict[str, str]:
    chosen = several(groups, next(iter(statistics.values())).groupnames)
    called = several(names, chosen)
    if len(called) != len(chosen):
        raise OptionError(
            f"alternate_groupnames has {len(called)} names for {len(chosen)} groups: pass as "
            f"many as groups."
        )
    return dict(zip(chosen, called, strict=True))


def _set_range(fig: go.Figure, limits: Range, axis: str, margin: float = 0.0) -> None:
    if limits is None:
        return
    low, high = limits
    if low >= high:
        raise OptionError(f"manual_metric_range={limits} must be (lowest, highest).")
    ends = [low - margin * (high - low), high + margin * (high - low)]
    (fig.update_xaxes if axis == "x" else fig.update_yaxes)(range=np.array(ends).tolist())
