"""Label arrays: what counts as one, and what can be seen in one without counting overlaps."""

from panmatch.labels.distance import edge_distances, inner_band
from panmatch.labels.geometry import Geometry, segment_geometry
from panmatch.labels.validation import LabelArray, as_labels, check_same_shape

__all__ = [
    "Geometry",
    "LabelArray",
    "as_labels",
    "check_same_shape",
    "edge_distances",
    "inner_band",
    "segment_geometry",
]
