"""From label images to the bipartite graph of overlapping segments."""

from panmatch.overlap.counting import count_overlaps
from panmatch.overlap.graph import Edges, Overlap, Score
from panmatch.overlap.threshold import check_threshold
from panmatch.overlap.types import Areas, Floats, Ints

__all__ = [
    "Areas",
    "Edges",
    "Floats",
    "Ints",
    "Overlap",
    "Score",
    "check_threshold",
    "count_overlaps",
]
