"""Label arrays: what counts as one, and what can be seen in one without counting overlaps."""

from panmatch.labels._regions import REGION_RULES, Regions, find_regions, nearest_labels
from panmatch.labels._void import Void
from panmatch.labels.classes import SegmentClass
from panmatch.labels.components import connected_components
from panmatch.labels.distance import edge_distances, inner_band
from panmatch.labels.geometry import Geometry, segment_geometry
from panmatch.labels.validation import LabelArray, as_labels, check_same_shape

__all__ = [
    "REGION_RULES",
    "Geometry",
    "LabelArray",
    "Regions",
    "SegmentClass",
    "Void",
    "as_labels",
    "check_same_shape",
    "connected_components",
    "edge_distances",
    "find_regions",
    "inner_band",
    "nearest_labels",
    "segment_geometry",
]
