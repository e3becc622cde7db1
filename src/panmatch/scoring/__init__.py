"""From matchings to numbers."""

from panmatch.scoring.curve import Curve, curve
from panmatch.scoring.measure import measure, measure_whole
from panmatch.scoring.measurements import Average, Measurements
from panmatch.scoring.metrics import Metric, all_metrics

__all__ = [
    "Average",
    "Curve",
    "Measurements",
    "Metric",
    "all_metrics",
    "curve",
    "measure",
    "measure_whole",
]
