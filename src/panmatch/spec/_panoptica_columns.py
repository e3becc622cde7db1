"""The columns of panoptica's TSV files: their names and order, and what panmatch calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from panmatch.scoring import all_metrics
from panmatch.spec._panoptica import MetricName
from panmatch.spec._panoptica_edge_cases import METRICS
from panmatch.spec._remarks import HIGHER

Better = Literal["higher", "lower", ""]

SUBJECT = "subject_name"
UNGROUPED = "ungrouped"
AREA = "autc_"
AT_THRESHOLD = re.compile(r"t([0-9.]+(?:e[+-]?[0-9]+)?)_(.+)")
# Metrics of objects stand in this order, those of the whole mask in the order of `METRICS`.
OF_OBJECTS: tuple[MetricName, ...] = (
    "IOU", "DSC", "clDSC", "ASSD", "RVD", "RVAE", "CEDI", "HD", "HD95", "NSD",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PanopticaColumn:
    """A column, without the group in front.

    Attributes
    ----------
    name
        As panoptica writes it, such as ``"sq_dsc"`` or ``"t0.5_sq_dsc"``.
    ours
        The same in panmatch, such as ``"sq_dice"``; empty where panmatch has no such number.
    better
        Which values are better; empty where neither is, as of counts of objects or signed errors.
    metric
        Name of the metric in panmatch; empty for counts and what follows from them.
    threshold
        Where the name has one, as in files that were made for AUTC.
    is_area
        Whether it is an area under panoptica's threshold curve.
    """

    name: str
    ours: str
    better: Better = ""
    metric: str = ""
    threshold: float | None = None
    is_area: bool = False


@cache
def panoptica_columns() -> dict[str, PanopticaColumn]:
    """Return all columns that need no prefix by name, in the order of panoptica's files.

    Examples
    --------
    >>> columns = panoptica_columns()
    >>> columns["sq_assd"].ours, columns["sq_assd"].better
    ('sq_masd', 'lower')
    >>> list(columns)[:11]  # doctest: +NORMALIZE_WHITESPACE
    ['n_ref_instances', 'n_pred_instances', 'tp', 'fp', 'fn', 'prec', 'rec', 'rq', 'sq', 'sq_std',
     'pq']
    """
    plain = [
        PanopticaColumn("n_ref_instances", "n_ref"),
        PanopticaColumn("n_pred_instances", "n_pred"),
        PanopticaColumn("tp", "tp", "higher"),
        PanopticaColumn("fp", "fp", "lower"),
        PanopticaColumn("fn", "fn", "lower"),
        PanopticaColumn("prec", "precision", "higher"),
        PanopticaColumn("rec", "recall", "higher"),
        PanopticaColumn("rq", "rq", "higher"),
        *(column for name in OF_OBJECTS for column in _of_objects(name)),
        PanopticaColumn("instance_voxel_count_ref", "matched_ref_voxels"),
        PanopticaColumn("instance_volume_ref", "matched_ref_volume"),
        PanopticaColumn("global_bin_volume_pred", "mask_voxels_pred"),
        PanopticaColumn("global_bin_volume_ref", "mask_voxels_ref"),
        *(_of_masks("global_bin", name, "whole") for name in METRICS),
        *(_of_masks("region_avg", name, "") for name in METRICS),
        PanopticaColumn("computation_time", ""),
        PanopticaColumn("is_matched", ""),
    ]
    return {column.name: column for column in plain}


def panoptica_column(name: str) -> PanopticaColumn | None:
    """Return the column of a name, also of one with a threshold or for AUTC; None for others.

    Examples
    --------
    >>> found = panoptica_column("t0.25_pq_dsc")
    >>> found.threshold, found.ours, found.better
    (0.25, 'pq_dice', 'higher')
    >>> panoptica_column("autc_sq").is_area, panoptica_column("age")
    (True, None)
    """
    known = panoptica_columns()
    if name in known:
        return known[name]
    if (at := AT_THRESHOLD.fullmatch(name)) and at[2] in known:
        return replace(known[at[2]], name=name, threshold=float(at[1]))
    base = known.get(name.removeprefix(AREA)) if name.startswith(AREA) else None
    return None if base is None else replace(base, name=name, ours="", is_area=True)


def _of_objects(name: MetricName) -> Iterator[PanopticaColumn]:
    ours, suffix = METRICS[name], "" if name == "IOU" else f"_{name.lower()}"
    end = "" if name == "IOU" else f"_{ours}"
    yield PanopticaColumn(f"sq{suffix}", f"sq{end}", _better(name), ours)
    yield PanopticaColumn(f"sq{suffix}_std", f"sq{end}_std", "", ours)
    if name in HIGHER:
        yield PanopticaColumn(f"pq{suffix}", f"pq{end}", "higher", ours)


def _of_masks(prefix: str, name: MetricName, ours: str) -> PanopticaColumn:
    metric = METRICS[name]
    known = f"{ours}_{metric}" if ours else ""
    return PanopticaColumn(f"{prefix}_{name.lower()}", known, _better(name), metric)


def _better(name: MetricName) -> Better:
    """Return the direction of a metric as panmatch defines it; signed errors have none."""
    better = all_metrics()[METRICS[name]].better
    return "" if better == "zero" else better
