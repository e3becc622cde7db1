"""Panoptica's metrics: their names there and here, and their properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from panmatch.spec._panoptica import MetricName


@dataclass(frozen=True, slots=True)
class MetricTraits:
    """The properties of a panoptica metric.

    Attributes
    ----------
    name, long_name
        Its short and full name in panoptica.
    ours
        The panmatch metric with the same definition, or for NSD the nearest one.
    is_share
        Whether it ranges from 0 to 1, and higher is better.
    is_length
        Whether it depends on the distance between voxels.
    has_pq
        Whether panoptica multiplies its mean by RQ.
    """

    name: MetricName
    long_name: str
    ours: str
    is_share: bool = False
    is_length: bool = False
    has_pq: bool = False

    @property
    def better_is_higher(self) -> bool:
        """Whether panoptica considers higher values better; for NSD it does not."""
        return self.has_pq


# In the order of panoptica's enumeration, which columns about whole masks follow.
_ALL = (
    MetricTraits("DSC", "Dice", "dice", is_share=True, has_pq=True),
    MetricTraits("IOU", "Intersection over Union", "iou", is_share=True, has_pq=True),
    MetricTraits("ASSD", "Average Symmetric Surface Distance", "masd", is_length=True),
    MetricTraits("clDSC", "Centerline Dice", "cldice", is_share=True, has_pq=True),
    MetricTraits("RVD", "Relative Volume Difference", "relative_volume_difference"),
    MetricTraits("RVAE", "Relative Volume Absolute Error", "relative_volume_error"),
    MetricTraits("CEDI", "Center Distance", "centre_distance", is_length=True),
    MetricTraits("HD", "Hausdorff Distance", "hd", is_length=True),
    MetricTraits("HD95", "Hausdorff Distance 95", "hd95_pooled", is_length=True),
    MetricTraits("NSD", "Normalized Surface Dice", "nsd", is_share=True, is_length=True),
)
PANOPTICA_METRICS: Mapping[MetricName, MetricTraits] = MappingProxyType(
    {one.name: one for one in _ALL}
)


def result_name(prefix: str, metric: MetricName, suffix: str = "") -> str:
    """Return panoptica's name of a number based on a metric of objects.

    Examples
    --------
    >>> result_name("sq", "ASSD", "_std"), result_name("pq", "IOU")
    ('sq_assd_std', 'pq')
    """
    return f"{prefix}{'' if metric == 'IOU' else f'_{metric.lower()}'}{suffix}"
