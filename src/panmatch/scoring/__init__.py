"""From matchings to numbers: curves, scores of classes, and values of single objects."""

from typing import TYPE_CHECKING

from panmatch._later import import_later
from panmatch.scoring.curve import Curve, curve

if TYPE_CHECKING:
    from panmatch.scoring._measure import Measurer, measure, measure_whole, need_voxels
    from panmatch.scoring._measurements import Average, Measurements
    from panmatch.scoring._metrics import Metric, all_metrics, resolve_metrics
    from panmatch.scoring._objects import (
        ComparedObjects,
        MeasureOptions,
        Penalty,
        measure_options,
        share,
    )
    from panmatch.scoring._rows import ObjectRows
else:  # a first score needs none of these, and importing panmatch must be quick
    __getattr__ = import_later(
        __name__,
        {
            "panmatch.scoring._measure": ("Measurer", "measure", "measure_whole", "need_voxels"),
            "panmatch.scoring._measurements": ("Average", "Measurements"),
            "panmatch.scoring._metrics": ("Metric", "all_metrics", "resolve_metrics"),
            "panmatch.scoring._objects": (
                "ComparedObjects",
                "MeasureOptions",
                "Penalty",
                "measure_options",
                "share",
            ),
            "panmatch.scoring._rows": ("ObjectRows",),
        },
    )

__all__ = [
    "Average",
    "ComparedObjects",
    "Curve",
    "MeasureOptions",
    "Measurements",
    "Measurer",
    "Metric",
    "ObjectRows",
    "Penalty",
    "all_metrics",
    "curve",
    "measure",
    "measure_options",
    "measure_whole",
    "need_voxels",
    "resolve_metrics",
    "share",
]
