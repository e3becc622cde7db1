"""From matchings to numbers."""

from panmatch.scoring.class_scores import (
    ClassCurves,
    ClassTallies,
    GroupScore,
    class_curves,
    match_classes,
    part_averages,
    tally_classes,
)
from panmatch.scoring.curve import Curve, curve
from panmatch.scoring.measure import measure, measure_whole
from panmatch.scoring.measurements import Average, Measurements
from panmatch.scoring.metrics import Metric, all_metrics

__all__ = [
    "Average",
    "ClassCurves",
    "ClassTallies",
    "Curve",
    "GroupScore",
    "Measurements",
    "Metric",
    "all_metrics",
    "class_curves",
    "curve",
    "match_classes",
    "measure",
    "measure_whole",
    "part_averages",
    "tally_classes",
]
