"""What the choice of a strategy, a threshold and regions depends on, in the data themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from panmatch.evaluation._diagnosis import diagnose
from panmatch.evaluation._notices import partner_ids
from panmatch.matching import ManyToOne, Matcher, OneToMany, OneToOne, RegionUnion, Strategy
from panmatch.overlap import Belonging, Floats, Ints, Overlap
from panmatch.scoring import Curve, GraphStructure, curve, graph_structure

# What strategies make of the data; the last one works in regions.
WHOLE: tuple[Strategy, ...] = (OneToOne(), ManyToOne(), OneToMany(solver="optimal"))
IN_REGIONS = Matcher(RegionUnion(), regions="voronoi")
STRUCTURE_AT = 0.1  # of the graph: below that, outlines that touch connect everything


@dataclass(frozen=True, slots=True)
class SeenObjects:
    """What only the voxels of a class know about its objects; None where nobody looked.

    Attributes
    ----------
    touching_refs, touching_preds
        How many references, and predictions, share a face with another one of their side.
    components
        Connected components of all references.
    """

    touching_refs: int | None = None
    touching_preds: int | None = None
    components: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DataFacts:
    """What was seen of the objects of a class; facts of cases, and of classes, add.

    All come from the overlap graph but `touching_refs`, `touching_preds` and `components`, which
    are None where nobody looked at voxels. Split, merged, missed and spurious are as for
    `Diagnosis`.

    Attributes
    ----------
    n_predictions, n_cases, n_empty_cases
        Predictions; cases; cases without an object on either side.
    refs_per_case
        References of every case that is not empty, rising.
    ref_sizes
        Voxels of every reference, rising.
    outline_ious
        For every reference, the IoU of `iou_one_voxel_wider`, rising.
    best_ious
        The highest IoU of every reference with any prediction, rising; 0 where nothing overlaps.
    n_split, n_pieces
        References that are split, and the predictions that belong to them.
    n_merged, n_covered
        Predictions that are merged, and the references that belong to them.
    n_reaching
        Predictions that overlap two or more references: all of these are cut by regions.
    n_missed, n_spurious
        Objects of one side that belong to none of the other.
    n_partners, n_same_id
        Pairs with an IoU above ½, and those of them with equal ids.
    n_voxels
        All voxels that are not void.
    touching_refs, touching_preds, components
        As for `SeenObjects`.
    curves
        By the label of a strategy.
    part_curve
        PartPQ under one-to-one; None without parts.
    structure
        Components of the graph of overlaps with an IoU above 0.1.
    """

    n_predictions: int
    n_cases: int
    n_empty_cases: int
    refs_per_case: Ints
    ref_sizes: Ints
    outline_ious: Floats
    best_ious: Floats
    n_split: int
    n_pieces: int
    n_merged: int
    n_covered: int
    n_reaching: int
    n_missed: int
    n_spurious: int
    n_partners: int
    n_same_id: int
    n_voxels: int
    touching_refs: int | None
    touching_preds: int | None
    components: int | None
    curves: Mapping[str, Curve]
    part_curve: Curve | None
    structure: GraphStructure

    @property
    def n_references(self) -> int:
        """How many references there are."""
        return len(self.ref_sizes)

    @property
    def filled(self) -> float:
        """Share of the voxels that belong to a reference; 0 without voxels."""
        return float(self.ref_sizes.sum()) / self.n_voxels if self.n_voxels else 0.0

    def pq(self, strategy: str, threshold: float) -> float:
        """Return PQ under a strategy of `curves` at a threshold."""
        return self.curves[strategy].at(threshold).pq

    def without_ids(self) -> DataFacts:
        """Return the facts without pairs of equal ids, where ids only number components."""
        return replace(self, n_partners=0, n_same_id=0)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: counts, quartiles of sizes and IoUs, and areas."""
        found: dict[str, Any] = {"n_references": self.n_references, "filled": self.filled}
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                found[one.name] = _quartiles(value)
            elif value is None or isinstance(value, int):
                found[one.name] = value
        return found | {"components_by_kind": self.structure.to_dict()}

    def __add__(self, other: DataFacts) -> DataFacts:
        if not isinstance(other, DataFacts):
            return NotImplemented
        names = [one.name for one in fields(self)]
        return DataFacts(
            **{name: _sum(getattr(self, name), getattr(other, name)) for name in names}
        )

    def __radd__(self, other: object) -> DataFacts:
        return self if other == 0 else NotImplemented  # sum() begins with 0


def _quartiles(values: Ints | Floats) -> dict[str, float]:
    names = ("least", "lower_quartile", "median", "upper_quartile", "most")
    found = np.quantile(values, np.linspace(0, 1, 5)).tolist() if len(values) else [math.nan] * 5
    return dict(zip(names, found, strict=True))


def _sum(one: Any, other: Any) -> Any:
    """Return two counts, lists or curves as one; what one side does not know, nobody does."""
    if one is None or other is None:
        return None
    if isinstance(one, Mapping):
        return {name: one[name] + other[name] for name in one if name in other}
    if isinstance(one, np.ndarray):
        return np.sort(np.concatenate([one, other]))
    return one + other


def find_facts(
    overlap: Overlap,
    in_regions: Overlap | None = None,
    *,
    n_voxels: int = 0,
    n_axes: int = 3,
    seen: SeenObjects | None = None,
) -> DataFacts:
    """Return what one case says about one class.

    Parameters
    ----------
    overlap
        Of whole predictions.
    in_regions
        Of predictions that are cut by the regions of the references; None to leave regions out.
    n_voxels, n_axes
        Voxels of the image that are not void, and axes along which it has more than one.
    seen
        What only voxels know.

    Examples
    --------
    >>> from panmatch.overlap import count_overlaps
    >>> facts = find_facts(count_overlaps([1, 1, 1, 1, 0, 2, 2], [3, 3, 0, 4, 0, 5, 5]))
    >>> facts.n_split, facts.n_pieces, facts.best_ious.tolist()
    (1, 2, [0.5, 1.0])
    >>> round(facts.pq("one-to-one (optimal)", 0.4), 3), facts.pq("many-to-one (merge, seed)", 0.4)
    (0.6, 0.875)
    """
    found, belonging = diagnose(overlap), Belonging.of(overlap)
    ref, n_refs = overlap.edges.ref, len(overlap.ref_ids)
    split, merged = np.isin(overlap.ref_ids, found.split), np.isin(overlap.pred_ids, found.merged)
    best = np.zeros(n_refs)
    np.maximum.at(best, ref, overlap.iou)
    partners, n_preds = partner_ids(overlap), len(overlap.pred_ids)
    is_empty, seen = n_refs + n_preds == 0, seen or SeenObjects()
    return DataFacts(
        n_predictions=n_preds,
        n_cases=1,
        n_empty_cases=int(is_empty),
        refs_per_case=np.array([] if is_empty else [n_refs], np.int64),
        ref_sizes=np.sort(overlap.ref_sizes).astype(np.int64),
        outline_ious=np.sort(iou_one_voxel_wider(overlap.ref_sizes, n_axes)),
        best_ious=np.sort(best),
        n_split=len(found.split),
        n_pieces=int(np.count_nonzero(split[ref] & belonging.pred_in_ref)),
        n_merged=len(found.merged),
        n_covered=int(np.count_nonzero(merged[overlap.edges.pred] & belonging.ref_in_pred)),
        n_reaching=int(np.count_nonzero(np.bincount(overlap.edges.pred, minlength=n_preds) > 1)),
        n_missed=len(found.missed),
        n_spurious=len(found.spurious),
        n_partners=len(partners[0]),
        n_same_id=int(np.count_nonzero(partners[0] == partners[1])),
        n_voxels=n_voxels,
        touching_refs=seen.touching_refs,
        touching_preds=seen.touching_preds,
        components=seen.components,
        curves=_curves(overlap, in_regions),
        part_curve=None if overlap.parts is None else curve(overlap, WHOLE[0], quality="parts"),
        structure=graph_structure(overlap, STRUCTURE_AT),
    )


def _curves(overlap: Overlap, in_regions: Overlap | None) -> dict[str, Curve]:
    found = {strategy.label: curve(overlap, strategy) for strategy in WHOLE}
    if in_regions is not None:
        found[IN_REGIONS.label] = curve(in_regions, IN_REGIONS.strategy)
    return found


def iou_one_voxel_wider(sizes: Ints, n_axes: int) -> Floats:
    """Return the IoU of balls of these sizes with themselves, drawn one voxel wider all around.

    A ball with radius r has the IoU (r / (r + 1))ⁿ in n dimensions. In 3-D that is above ½ from
    239 voxels on, in 2-D from 19.

    Examples
    --------
    >>> iou_one_voxel_wider(np.array([10, 238, 239, 10_000]), 3).round(3).tolist()
    [0.187, 0.5, 0.5, 0.805]
    >>> iou_one_voxel_wider(np.array([18, 19]), 2).round(2).tolist()
    [0.5, 0.51]
    """
    n = max(n_axes, 1)
    unit = math.pi ** (n / 2) / math.gamma(n / 2 + 1)
    radius = (np.asarray(sizes, np.float64) / unit) ** (1 / n)
    wider: Floats = (radius / (radius + 1)) ** n
    return wider
