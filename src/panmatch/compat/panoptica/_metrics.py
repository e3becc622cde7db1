"""Metrics under panoptica's names, each computed by one of ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from panmatch.compat.panoptica._enums import MetricMode, NamedEnum
from panmatch.labels import LabelArray, mask_of
from panmatch.overlap import Floats
from panmatch.scoring import ComparedObjects, measure_whole, resolve_metrics
from panmatch.scoring import Metric as OurMetric
from panmatch.spec import PANOPTICA_METRICS, MetricTraits, PanopticaMetric, result_name


class MetricCouldNotBeComputedException(Exception):  # noqa: N818 (panoptica's name)
    """A number was asked for that has not been, and cannot be, computed."""


def nsd_of_directions(objects: ComparedObjects) -> Floats:
    """Return the mean of the two shares of boundary voxels within the tolerance, per row."""
    there, back = objects.surface.from_ref, objects.surface.from_pred
    near = [side.within(objects.tolerance) / side.lengths for side in (there, back)]
    return objects.scatter((near[0] + near[1]) / 2, otherwise=0.0)


_NSD = OurMetric(
    "nsd_of_directions", "Normalised surface Dice, mean of both directions",
    "½ (share of ∂g near ∂p + share of ∂p near ∂g)", 0.0, 1.0, "higher", "", "surface", "0", "0",
    False, nsd_of_directions,
)  # fmt: skip


def cldsc_of_thinning(objects: ComparedObjects) -> Floats:
    """Return panoptica's clDSC: NaN if a skeleton is empty, or neither meets the other object.

    Our skeletons are never empty: if thinning erases an object, one voxel is its skeleton.
    """
    from skimage import morphology

    thin: Callable[[npt.NDArray[np.bool_]], LabelArray] = morphology.skeletonize  # it has no types
    values, found, pairs = Metric.clDSC.ours.values(objects), objects.skeletons, objects.pairs
    images = np.asarray(objects.reference), np.asarray(objects.prediction)
    apart = (found.ref_inside == 0) & (found.pred_inside == 0)
    for i, row in enumerate(np.flatnonzero(objects.paired)):
        box = tuple(map(slice, pairs.start[i], pairs.stop[i]))
        preds = pairs.pred_ids[pairs.pred_first[i] : pairs.pred_first[i + 1]]
        sides = images[0][box] == pairs.ref_ids[i], np.isin(images[1][box], preds)
        lengths = found.ref_length[i], found.pred_length[i]
        gone = [n == 1 and not thin(np.pad(one, 1)).any() for one, n in zip(
            sides, lengths, strict=True)]  # fmt: skip
        if apart[i] or any(gone):
            values[row] = math.nan
    return values


class Metric(NamedEnum):
    """What two objects, or the two masks, are compared by.

    Examples
    --------
    >>> import numpy as np
    >>> Metric.DSC(np.array([1, 1, 0]), np.array([0, 1, 0]))
    0.6666666666666666
    >>> Metric.ASSD.get_result_key("sq", is_std=True), Metric.IOU.get_result_key("pq")
    ('sq_assd_std', 'pq')
    """

    DSC = PANOPTICA_METRICS["DSC"]
    IOU = PANOPTICA_METRICS["IOU"]
    ASSD = PANOPTICA_METRICS["ASSD"]
    clDSC = PANOPTICA_METRICS["clDSC"]  # noqa: N815
    RVD = PANOPTICA_METRICS["RVD"]
    RVAE = PANOPTICA_METRICS["RVAE"]
    CEDI = PANOPTICA_METRICS["CEDI"]
    HD = PANOPTICA_METRICS["HD"]
    HD95 = PANOPTICA_METRICS["HD95"]
    NSD = PANOPTICA_METRICS["NSD"]

    def __call__(
        self,
        reference_arr: npt.ArrayLike,
        prediction_arr: npt.ArrayLike,
        ref_instance_idx: int | None = None,
        pred_instance_idx: int | Sequence[int] | None = None,
        voxelspacing: Sequence[float] | None = None,
        threshold: float | None = None,
    ) -> float:
        """Return the value for two masks, or for objects of two label images.

        For metrics that only count voxels, two empty masks have the value 0, as in panoptica. The
        threshold is the tolerance of NSD: the smallest step by default, or half a voxel.
        """
        masks = np.asarray(reference_arr), np.asarray(prediction_arr)
        if ref_instance_idx is not None and pred_instance_idx is not None:
            several = isinstance(pred_instance_idx, Iterable)
            wanted = list(cast(Sequence[int], pred_instance_idx)) if several else [
                cast(int, pred_instance_idx)]  # fmt: skip
            masks = mask_of(masks[0], [ref_instance_idx]), mask_of(masks[1], wanted)
        if threshold is None:
            threshold = 0.5 if voxelspacing is None else min(voxelspacing)
        found = measure_whole(*masks, [self.ours], voxelspacing, tolerance=threshold)
        value = float(found.columns[self.ours.name][0])
        empty = found.columns["status"][0] == "empty" and self.ours.needs == "overlap"
        return 0.0 if empty and math.isnan(value) else value

    @property
    def ours(self) -> OurMetric:
        """The metric of panmatch that gives the same value."""
        return _NSD if self is Metric.NSD else resolve_metrics(self.traits.ours)[0]

    def values(self, objects: ComparedObjects, *, quirks: bool) -> Floats:
        """Return the value of every row."""
        skeletons = quirks and self is Metric.clDSC
        return cldsc_of_thinning(objects) if skeletons else self.ours.values(objects)

    @property
    def plain(self) -> PanopticaMetric:
        """The name as it is written in configurations."""
        return self.traits.name

    @property
    def traits(self) -> MetricTraits:
        """What is known of it."""
        return self.value

    @property
    def long_name(self) -> str:
        """Its full name."""
        return self.traits.long_name

    @property
    def decreasing(self) -> bool:
        """Whether lower is better."""
        return not self.increasing

    @property
    def increasing(self) -> bool:
        """Whether higher is better."""
        return self.traits.is_share

    @property
    def requires_spatial(self) -> bool:
        """Whether it depends on the distance between voxels."""
        return self.traits.is_length

    def score_beats_threshold(
        self, matching_score: float, matching_threshold: float, strict_comparison: bool = False
    ) -> bool:
        """Return whether a value reaches a threshold, or exceeds it if that is strict."""
        if matching_score == matching_threshold:
            return not strict_comparison
        return (matching_score < matching_threshold) == self.decreasing

    def get_result_key(self, prefix: str, is_std: bool = False) -> str:
        """Return the name of a result, such as ``"sq_dsc"``."""
        return result_name(prefix, self.plain, "_std" if is_std else "")


class Evaluation_List_Metric:  # noqa: N801 (panoptica's name)
    """Values of one metric for all matched objects, and their summary.

    Parameters
    ----------
    name_id
        The metric.
    empty_list_std
        Standard deviation of no values.
    value_list
        One value per matched object; None if the metric was not computed.
    is_edge_case, edge_case_result
        Whether nothing matched, and the value of everything but the standard deviation then.

    Examples
    --------
    >>> found = Evaluation_List_Metric(Metric.DSC, None, [0.5, 1.0])
    >>> found[MetricMode.AVG], found["STD"]
    (0.75, 0.25)
    """

    def __init__(
        self,
        name_id: Metric,
        empty_list_std: float | None,
        value_list: list[float] | None,
        is_edge_case: bool = False,
        edge_case_result: float | None = None,
    ) -> None:
        self.id, self.error, self.ALL = name_id, value_list is None, value_list
        values = np.array(value_list or [], np.float64)
        self.AVG, self.SUM, self.MIN, self.MAX = (
            edge_case_result if is_edge_case else (float(reduce(values)) if len(values) else None)
            for reduce in (np.average, np.sum, np.min, np.max)
        )
        self.STD = float(np.std(values)) if len(values) else empty_list_std
        if value_list is None:
            self.STD = None

    def __getitem__(self, mode: MetricMode | str) -> float | list[float] | None:
        name = mode.name if isinstance(mode, MetricMode) else mode
        if self.error:
            raise MetricCouldNotBeComputedException(
                f"{self.id} was not computed: add it to instance_metrics."
            )
        if name not in MetricMode.__members__:
            raise MetricCouldNotBeComputedException(f"{self.id} has no {name}.")
        value: float | list[float] | None = getattr(self, name)
        return value
