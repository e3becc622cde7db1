"""The metrics of matched objects: one small file each, found by name."""

from panmatch.scoring._metrics.metric import Metric
from panmatch.scoring._metrics.registry import all_metrics, resolve_metrics

__all__ = ["Metric", "all_metrics", "resolve_metrics"]
