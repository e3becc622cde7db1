"""The metrics of matched objects: one small file each, found by name."""

from panmatch.scoring._metrics.metric import Metric, all_metrics, resolve_metrics

__all__ = ["Metric", "all_metrics", "resolve_metrics"]
