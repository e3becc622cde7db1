"""The columns of panoptica's tables: their names and order, and what panmatch calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from panmatch.scoring import all_metrics
from panmatch.spec._panoptica import MetricName
from panmatch.spec._panoptica_metrics import PANOPTICA_METRICS, result_name

Better = Literal["higher", "lower", ""]
ColumnKind = Literal["count", "rate", "sq", "std", "pq", "size", "voxels", "whole", "region", "row"]

SUBJECT = "subject_name"
UNGROUPED = "ungrouped"
AREA = "autc_"
AT_THRESHOLD = re.compile(r"t((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)_(.+)")
INSTANCE_ROW = re.compile(r"(.+)-(.+)_inst_([0-9]+)", re.DOTALL)
# The order of metrics of objects; metrics of the whole mask follow `PANOPTICA_METRICS`.
OF_OBJECTS: tuple[MetricName, ...] = (
    "IOU", "DSC", "clDSC", "ASSD", "RVD", "RVAE", "CEDI", "HD", "HD95", "NSD",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PanopticaColumn:
    """A column, without the leading group.

    Attributes
    ----------
    name
        As panoptica writes it, such as ``"sq_dsc"`` or ``"t0.5_sq_dsc"``.
    ours
        Its name in panmatch, such as ``"sq_dice"``; empty if panmatch has no such number.
    kind
        What it is about: counts and rates based on them; means, deviations and qualities of matched
        objects; their sizes; voxels and metrics of the whole masks; means over regions; or the row
        itself.
    better
        Which values are better; empty for counts of objects and signed errors.
    of
        Panoptica's name of the metric behind it; None for counts and rates.
    threshold
        The threshold in the name, as in files for AUTC; None without one.
    is_area
        Whether it is an area under panoptica's threshold curve.
    """

    name: str
    ours: str
    kind: ColumnKind
    better: Better = ""
    of: MetricName | None = None
    threshold: float | None = None
    is_area: bool = False

    @property
    def metric(self) -> str:
        """Name of the metric in panmatch; empty for counts and rates."""
        return "" if self.of is None else PANOPTICA_METRICS[self.of].ours

    @property
    def base(self) -> str:
        """Its name without the threshold."""
        return self.name if self.threshold is None else split_threshold(self.name)[1]

    @property
    def has_area(self) -> bool:
        """Whether panoptica computes the area under its curve, from 0 to 1."""
        of_objects = self.of is not None and PANOPTICA_METRICS[self.of].has_pq
        return self.name == "rq" or (of_objects and self.kind in ("sq", "pq"))


@cache
def panoptica_columns() -> dict[str, PanopticaColumn]:
    """Return all columns without a prefix, by name, in the order of panoptica's files.

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
        PanopticaColumn("n_ref_instances", "n_ref", "count"),
        PanopticaColumn("n_pred_instances", "n_pred", "count"),
        PanopticaColumn("tp", "tp", "count", "higher"),
        PanopticaColumn("fp", "fp", "rate", "lower"),
        PanopticaColumn("fn", "fn", "rate", "lower"),
        PanopticaColumn("prec", "precision", "rate", "higher"),
        PanopticaColumn("rec", "recall", "rate", "higher"),
        PanopticaColumn("rq", "rq", "rate", "higher"),
        *(column for name in OF_OBJECTS for column in _of_objects(name)),
        PanopticaColumn("instance_voxel_count_ref", "matched_ref_voxels", "size"),
        PanopticaColumn("instance_volume_ref", "matched_ref_volume", "size"),
        PanopticaColumn("global_bin_volume_pred", "mask_voxels_pred", "voxels"),
        PanopticaColumn("global_bin_volume_ref", "mask_voxels_ref", "voxels"),
        *(column for name in PANOPTICA_METRICS for column in _of_masks(name)),
        PanopticaColumn("computation_time", "", "row"),
        PanopticaColumn("is_matched", "", "row"),
    ]
    return {column.name: column for column in plain}


def panoptica_column(name: str) -> PanopticaColumn | None:
    """Return the column with a name, which may have a threshold or an AUTC prefix; else None.

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
    threshold, base = split_threshold(name)
    if threshold is not None and base in known:
        return replace(known[base], name=name, threshold=threshold)
    area = known.get(name.removeprefix(AREA)) if name.startswith(AREA) else None
    return None if area is None else replace(area, name=name, ours="", is_area=True)


def at_threshold(threshold: float, name: str) -> str:
    """Return the name of a number at a threshold.

    Examples
    --------
    >>> at_threshold(0.5, "pq"), split_threshold("t0.5_pq"), split_threshold("tp")
    ('t0.5_pq', (0.5, 'pq'), (None, 'tp'))
    """
    return f"t{threshold:g}_{name}"


def split_threshold(name: str) -> tuple[float | None, str]:
    """Return the threshold in a name, or None, and the rest of the name."""
    found = AT_THRESHOLD.fullmatch(name)
    return (None, name) if found is None else (float(found[1]), found[2])


def split_column(name: str) -> tuple[str, str]:
    """Return the group and the metric of a column in a TSV file.

    Examples
    --------
    >>> split_column("bone-pq"), split_column("pq")
    (('bone', 'pq'), ('ungrouped', 'pq'))
    """
    group, hyphen, number = name.partition("-")
    return (group, number) if hyphen else (UNGROUPED, name)


def split_instance(subject: str) -> tuple[str, str, int] | None:
    """Return subject, group and number of a row about one object; None for any other row.

    Examples
    --------
    >>> split_instance("patient-7-bone_inst_2")
    ('patient-7', 'bone', 2)
    """
    found = INSTANCE_ROW.fullmatch(subject)
    return None if found is None else (found[1], found[2], int(found[3]))


def _of_objects(name: MetricName) -> Iterator[PanopticaColumn]:
    traits = PANOPTICA_METRICS[name]
    end = "" if name == "IOU" else f"_{traits.ours}"
    yield PanopticaColumn(result_name("sq", name), f"sq{end}", "sq", _better(name), name)
    yield PanopticaColumn(result_name("sq", name, "_std"), f"sq{end}_std", "std", "", name)
    if traits.has_pq:
        yield PanopticaColumn(result_name("pq", name), f"pq{end}", "pq", "higher", name)


def _of_masks(name: MetricName) -> Iterator[PanopticaColumn]:
    whole = f"whole_{PANOPTICA_METRICS[name].ours}"
    yield PanopticaColumn(f"global_bin_{name.lower()}", whole, "whole", _better(name), name)
    yield PanopticaColumn(f"region_avg_{name.lower()}", "", "region", _better(name), name)


def _better(name: MetricName) -> Better:
    """Return the direction of a metric as panmatch defines it; signed errors have none."""
    better = all_metrics()[PANOPTICA_METRICS[name].ours].better
    return "" if better == "zero" else better
