"""Label arrays: what counts as one, and what can be seen in one without counting overlaps."""

from panmatch.labels.cells import nearest_labels
from panmatch.labels.classes import SegmentClass
from panmatch.labels.components import connected_components
from panmatch.labels.distance import edge_distances, inner_band
from panmatch.labels.geometry import Geometry, segment_geometry
from panmatch.labels.validation import LabelArray, as_labels, check_same_shape

REGION_RULES = {"voronoi": nearest_labels}

__all__ = [
    "REGION_RULES",
    "Geometry",
    "LabelArray",
    "SegmentClass",
    "as_labels",
    "check_same_shape",
    "connected_components",
    "edge_distances",
    "inner_band",
    "nearest_labels",
    "segment_geometry",
]
