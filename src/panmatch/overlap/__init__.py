"""From label images to the bipartite graph of overlapping segments."""

from panmatch.overlap.counting import count_overlaps
from panmatch.overlap.graph import Edges, Overlap, Score
from panmatch.overlap.parts import Background, Parts
from panmatch.overlap.pieces import Pieces, Predictions
from panmatch.overlap.regions import count_region_overlaps, unite_cells
from panmatch.overlap.threshold import check_threshold
from panmatch.overlap.types import Areas, Floats, Ints

__all__ = [
    "Areas",
    "Background",
    "Edges",
    "Floats",
    "Ints",
    "Overlap",
    "Parts",
    "Pieces",
    "Predictions",
    "Score",
    "check_threshold",
    "count_overlaps",
    "count_region_overlaps",
    "unite_cells",
]
