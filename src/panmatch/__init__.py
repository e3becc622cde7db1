"""Panoptic Quality under every matching strategy, at every threshold, exactly.

>>> import numpy as np
>>> import panmatch as pm
>>> reference = np.array([[1, 1, 0, 2, 2], [1, 1, 0, 2, 2]])
>>> prediction = np.array([[5, 5, 0, 7, 8], [5, 0, 0, 7, 8]])
>>> ov = pm.count_overlaps(reference, prediction)
>>> pm.match(ov, "many-to-one", threshold=0.4).tally
Tally(tp=2, fp=0, fn=0, quality=1.75)
>>> round(pm.curve(ov, "many-to-one").autc, 6)
0.5125
"""

from panmatch.errors import PanmatchError
from panmatch.formats import load_overlap, save_overlap
from panmatch.labels import SegmentClass
from panmatch.labels.coded_ids import from_cityscapes, from_panoptic_parts
from panmatch.labels.panoptic import LabelGroup, Panoptic, from_labels, from_maps, from_segments
from panmatch.matching import (
    Budget,
    Certificate,
    ManyToOne,
    Matching,
    OneToMany,
    OneToOne,
    RegionUnion,
    SameId,
    Strategy,
    Tally,
    match,
)
from panmatch.overlap import (
    ClassOverlaps,
    Overlap,
    count_class_overlaps,
    count_overlaps,
    count_part_overlaps,
    count_region_overlaps,
)
from panmatch.scoring import (
    Average,
    ClassCurves,
    ClassTallies,
    Curve,
    GroupScore,
    Measurements,
    Metric,
    all_metrics,
    class_curves,
    curve,
    match_classes,
    measure,
    measure_whole,
    part_averages,
    tally_classes,
)

__version__ = "0.1.0"

__all__ = [
    "Average",
    "Budget",
    "Certificate",
    "ClassCurves",
    "ClassOverlaps",
    "ClassTallies",
    "Curve",
    "GroupScore",
    "LabelGroup",
    "ManyToOne",
    "Matching",
    "Measurements",
    "Metric",
    "OneToMany",
    "OneToOne",
    "Overlap",
    "PanmatchError",
    "Panoptic",
    "RegionUnion",
    "SameId",
    "SegmentClass",
    "Strategy",
    "Tally",
    "__version__",
    "all_metrics",
    "class_curves",
    "count_class_overlaps",
    "count_overlaps",
    "count_part_overlaps",
    "count_region_overlaps",
    "curve",
    "from_cityscapes",
    "from_labels",
    "from_maps",
    "from_panoptic_parts",
    "from_segments",
    "load_overlap",
    "match",
    "match_classes",
    "measure",
    "measure_whole",
    "part_averages",
    "save_overlap",
    "tally_classes",
]
