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
from panmatch.overlap import Overlap, count_overlaps, count_region_overlaps
from panmatch.scoring import (
    Average,
    Curve,
    Measurements,
    Metric,
    all_metrics,
    curve,
    measure,
    measure_whole,
)

__version__ = "0.1.0"

__all__ = [
    "Average",
    "Budget",
    "Certificate",
    "Curve",
    "ManyToOne",
    "Matching",
    "Measurements",
    "Metric",
    "OneToMany",
    "OneToOne",
    "Overlap",
    "PanmatchError",
    "RegionUnion",
    "SameId",
    "Strategy",
    "Tally",
    "__version__",
    "all_metrics",
    "count_overlaps",
    "count_region_overlaps",
    "curve",
    "load_overlap",
    "match",
    "measure",
    "measure_whole",
    "save_overlap",
]
