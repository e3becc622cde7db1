"""One row per case in the columns of panoptica's TSV files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from panmatch.datasets._score_files import plain_text
from panmatch.datasets._table_files import csv_text
from panmatch.evaluation import CaseSeries, Cell, MaskCounts, Result, Table
from panmatch.matching import Matcher
from panmatch.overlap import Floats
from panmatch.spec import SUBJECT, UNGROUPED, Spec, panoptica_columns

Columns = dict[str, Floats]  # by what panmatch calls them, one value per case


def wide_text(result: Result, model: str, matcher: Matcher, threshold: float) -> str:
    """Return the cases of a model as panoptica writes them: separated by tabs, undefined is empty.

    Every group has the same columns, because panoptica reads no other files.
    """
    cases = result.evaluated(model)
    groups = _class_columns(result, model, matcher, threshold)
    names = group_names(groups, result.spec)
    content: dict[str, list[Cell]] = {SUBJECT: [case.case for case in cases]}
    kept = [
        column
        for column in panoptica_columns().values()
        if any(column.ours in columns for columns in groups.values())
    ]
    for name, columns in groups.items():
        for column in kept:
            values = columns.get(column.ours, np.full(len(cases), math.nan))
            key = plain_text(f"{names[name]}-{column.name}")
            content[key] = np.where(np.isfinite(values), values, math.nan).tolist()
    return csv_text(Table(content), delimiter="\t", head=True)


def left_out_metrics(spec: Spec) -> list[str]:
    """Return the metrics of a spec that panoptica has no column for."""
    known = {column.metric for column in panoptica_columns().values()}
    return [name for name in dict.fromkeys((*spec.metrics, *spec.whole)) if name not in known]


def group_names(classes: Iterable[str], spec: Spec) -> dict[str, str]:
    """Return what panoptica would call the groups of these classes.

    Panoptica writes lower case, and takes everything before the first hyphen as the group. It
    calls a single class of all labels ungrouped.

    Examples
    --------
    >>> from panmatch.spec import as_spec
    >>> spec = as_spec({"classes": {"L-node": {"labels": 1}, "l_node": {"labels": 2}}})
    >>> group_names(spec.classes, spec)
    {'L-node': 'l_node', 'l_node': 'l_node_2'}
    """
    names = list(classes)
    if len(names) == 1 and names[0] in spec.classes and spec.classes[names[0]].numbers is None:
        return {names[0]: UNGROUPED}
    found: dict[str, str] = {}
    for name in names:
        group = name.lower().replace("-", "_").replace("_inst_", "_instance_")
        times = 1 + sum(other == group for other in found.values())
        while (numbered := group if times == 1 else f"{group}_{times}") in found.values():
            times += 1
        found[name] = numbered
    return found


def _class_names(result: Result) -> list[str]:
    """Return the classes that occur in any model, so the files of all models have equal columns."""
    there = dict.fromkeys(series.setting.class_name for series in result.all_series)
    return [*(name for name in result.spec.classes if name in there)] + [
        name for name in there if name not in result.spec.classes
    ]


def _class_columns(
    result: Result, model: str, matcher: Matcher, threshold: float
) -> dict[str, Columns]:
    """Return all columns of each class, including those that panoptica lacks."""
    found: dict[str, Columns] = {name: {} for name in _class_names(result)}
    for series in result.series:
        if (series.model, series.setting.matcher) == (model, matcher):
            found[series.setting.class_name] |= _matched_columns(series, threshold)
    for one in result.class_series:
        if one.model == model:
            values = {score.name: values for (_, score), values in one.case_scores().items()}
            found[one.setting.class_name] |= values
    masks = [{one.class_name: one for one in case.masks} for case in result.evaluated(model)]
    for name, columns in found.items():
        columns |= _mask_columns([case.get(name) for case in masks])
    return found


def _matched_columns(series: CaseSeries, threshold: float) -> Columns:
    counts = series.counts[threshold]
    tallies = counts.tallies
    whole = {"n_ref": tallies.tp + tallies.fn, "tp": tallies.tp, "fp": tallies.fp, "fn": tallies.fn}
    if series.setting.matcher.strategy.max_refs_per_pred == 1:
        whole["n_pred"] = tallies.tp + tallies.fp  # panoptica merges predictions before counting
    found = {name: np.where(series.there, values, math.nan) for name, values in whole.items()}
    found |= {score.name: values for score, values in counts.scores().items()}
    for name, values in series.levels[threshold].deviations.items():
        found["sq_std" if name == "iou" else f"sq_{name}_std"] = values
    for name in ("ref_voxels", "ref_volume"):
        found[f"matched_{name}"] = _matched_means(series, threshold, name)
    return found


def _matched_means(series: CaseSeries, threshold: float, column: str) -> Floats:
    """Return the mean of a column over the matched references of each case."""
    means = np.full(len(series.results), math.nan)
    for i, entry in enumerate(series.entries):
        if entry is not None:
            rows = entry.level(threshold).measurements.columns
            values = rows[column][rows["status"] == "matched"]
            means[i] = values.mean() if len(values) else math.nan
    return means


def _mask_columns(masks: Sequence[MaskCounts | None]) -> Columns:
    voxels = np.array(
        [
            (math.nan, math.nan) if one is None else (one.tp + one.fp, one.tp + one.fn)
            for one in masks
        ],
        np.float64,
    ).reshape(-1, 2)
    return {"mask_voxels_pred": voxels[:, 0], "mask_voxels_ref": voxels[:, 1]}
