"""Agreement per connected component: of the reference in its region, or of both masks united."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from panmatch.errors import check_choice, named_only
from panmatch.labels import (
    Connectivity,
    LabelArray,
    Unit,
    as_mask,
    check_same_shape,
    connected_components,
    nearest_labels,
)
from panmatch.overlap import Floats, Ints, count_overlaps, sum_by
from panmatch.scoring import (
    ComparedObjects,
    Metric,
    ObjectRows,
    Penalty,
    measure_options,
    resolve_metrics,
)

# Which component gets a voxel that is equally near to several.
Ties = Literal["id", "scipy"]


@dataclass(frozen=True, slots=True, eq=False)
class CCMetric:
    """Values per component of the reference; results of several cases add.

    Attributes
    ----------
    per_component
        One value per component, in the order of their labels, case after case.
    cases
        Number of components of every case.
    """

    per_component: Floats
    cases: tuple[int, ...]

    @property
    def per_case(self) -> Floats:
        """Mean of every case; NaN for one without components, or without any defined value."""
        stops = np.cumsum(self.cases)
        return np.array(
            [
                _mean(self.per_component[stop - count : stop])
                for stop, count in zip(stops, self.cases, strict=True)
            ]
        )

    @property
    def mean(self) -> float:
        """Mean over cases of the mean over components, undefined ones skipped (D11)."""
        return _mean(self.per_case)

    @property
    def pooled(self) -> float:
        """Mean over all components of all cases, undefined ones skipped (D11)."""
        return _mean(self.per_component)

    @property
    def skipped(self) -> int:
        """Components without a defined value."""
        return int(np.count_nonzero(np.isnan(self.per_component)))

    def __add__(self, other: CCMetric) -> CCMetric:
        if not isinstance(other, CCMetric):
            return NotImplemented
        return CCMetric(
            np.concatenate([self.per_component, other.per_component]), self.cases + other.cases
        )

    def __radd__(self, other: object) -> CCMetric:
        return self if other == 0 else NotImplemented  # sum() starts with 0


@named_only
def cc_metric(
    *,
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    metric: str | Metric = "dice",
    spacing: npt.ArrayLike | None = None,
    unit: Unit | None = None,
    tolerance: float = 1.0,
    penalty: Penalty = None,
    ties: Ties = "id",
    threads: int | None = None,
) -> CCMetric:
    """Return metric(prediction ∩ V(g), g) for every component g of the reference (D12).

    V(g) is the Voronoi region of g: everything that is nearer to g than to any other component, in
    physical units. Ties go to the component with the smaller label.

    Parameters
    ----------
    reference, prediction
        Masks, or label images whose labels are taken together. Voxels that share a corner are
        connected (26 neighbours in 3-D).
    metric
        ``"dice"``, ``"iou"``, ``"nsd"``, ``"hd95"``, ``"assd"`` or any other of
        ``docs/reference/metrics.md``.
    spacing, unit, tolerance, penalty, threads
        As for `measure`.
    ties
        ``"id"``: as above. ``"scipy"``: the nearest voxel is the one that scipy's distance
        transform returns, as in CCMetrics 0.0.3; this depends on the order of the axes.

    Returns
    -------
    CCMetric
        ``.per_component``, ``.mean`` and, over several cases, ``.pooled``. If nothing is predicted
        in the region of a component, its value is 0 for Dice and similar metrics, and NaN or the
        penalty for distances. Without any component there is no value, and the mean is NaN.

    References
    ----------
    Jaus et al.: Every component counts, rethinking the measure of success for medical semantic
    segmentation in multi-instance segmentation tasks (2024).

    Examples
    --------
    >>> from panmatch import related
    >>> found = related.cc_metric(reference=[1, 1, 0, 0, 1, 1], prediction=[1, 1, 1, 0, 0, 0])
    >>> found.per_component, found.mean
    (array([0.8, 0. ]), 0.4)
    """
    (chosen,) = resolve_metrics(metric)
    ref, pred = _masks(reference, prediction)
    options = measure_options(ref.shape, spacing, unit=unit, tolerance=tolerance, penalty=penalty)
    components = np.atleast_1d(connected_components(ref))
    predicted = np.atleast_1d(pred)
    check_choice("ties", ties, get_args(Ties))
    if ties == "id":
        inside = nearest_labels(components, options.spacing, where=predicted, threads=threads)
    else:
        inside = _nearest_by_scipy(components, options.spacing) * (predicted != 0)
    rows = _rows(components, inside, threads)
    values = chosen.values(ComparedObjects(rows, components, inside, options, threads))
    return CCMetric(values, (len(values),))


def _nearest_by_scipy(components: LabelArray, spacing: tuple[float, ...]) -> LabelArray:
    from scipy import ndimage

    places = ndimage.distance_transform_edt(
        components == 0, sampling=spacing, return_distances=False, return_indices=True
    )
    nearest: LabelArray = components[tuple(places)]
    return nearest


def _rows(components: LabelArray, inside: LabelArray, threads: int | None) -> ObjectRows:
    """Return one row per component; label g of `inside` is what is predicted in V(g)."""
    found = count_overlaps(components, inside, threads=threads)
    n = len(found.ref_ids)
    predicted = sum_by(np.searchsorted(found.ref_ids, found.pred_ids), found.pred_sizes, n)
    first: Ints = np.concatenate([[0], np.cumsum(predicted > 0)])
    return ObjectRows(
        ref_ids=found.ref_ids,
        pred_first=first,
        pred_ids=found.pred_ids,
        names=[""] * n,
        ref_voxels=found.ref_sizes.astype(np.float64),
        pred_voxels=predicted.astype(np.float64),
        shared=sum_by(found.edges.ref, found.edges.intersection, n).astype(np.float64),
    )


@named_only
def cluster_dice(
    *, reference: npt.ArrayLike, prediction: npt.ArrayLike, connectivity: Connectivity = "full"
) -> float:
    """Return the mean Dice over the components of the union of both masks (D12).

    Everything that touches is one cluster, so no object has to be matched. This is the closest
    meaningful alternative to many-to-many matching. NaN if both sides are empty.

    Parameters
    ----------
    reference, prediction
        Masks, or label images whose labels are taken together.
    connectivity
        As for `connected_components`.

    Examples
    --------
    >>> from panmatch import related
    >>> related.cluster_dice(reference=[1, 1, 0, 1], prediction=[0, 1, 0, 0])
    0.3333333333333333
    """
    return _mean(cluster_values(reference, prediction, connectivity)[0])


@named_only
def cluster_iou(
    *, reference: npt.ArrayLike, prediction: npt.ArrayLike, connectivity: Connectivity = "full"
) -> float:
    """Return the mean IoU over the components of the union of both masks.

    Parameters and return value are those of `cluster_dice`.

    Examples
    --------
    >>> from panmatch import related
    >>> related.cluster_iou(reference=[1, 1, 0, 1], prediction=[0, 1, 0, 0])
    0.25
    """
    return _mean(cluster_values(reference, prediction, connectivity)[1])


def cluster_values(
    reference: npt.ArrayLike, prediction: npt.ArrayLike, connectivity: Connectivity
) -> tuple[Floats, Floats]:
    """Return the Dice and the IoU of every cluster."""
    in_ref, in_pred = _masks(reference, prediction)
    clusters = connected_components(in_ref | in_pred, connectivity)
    sides = in_ref + 2 * in_pred  # 1: only the reference, 2: only the prediction, 3: both
    found = count_overlaps(clusters, sides)
    sizes = found.edges.intersection.astype(np.float64)
    side, n = found.pred_ids[found.edges.pred], len(found.ref_ids)
    ref, pred, shared = (
        sum_by(found.edges.ref, np.where(has, sizes, 0.0), n)
        for has in (side != 2, side != 1, side == 3)
    )
    return 2 * shared / (ref + pred), shared / (ref + pred - shared)


def _masks(reference: npt.ArrayLike, prediction: npt.ArrayLike) -> tuple[LabelArray, LabelArray]:
    ref = as_mask(reference, "reference").view(np.uint8)
    pred = as_mask(prediction, "prediction").view(np.uint8)
    check_same_shape({"reference": ref, "prediction": pred})
    return ref, pred


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    # Rounded once: the order in which cases were added does not show.
    return math.fsum(defined) / len(defined) if len(defined) else math.nan
