"""From label images to the bipartite graph of overlapping segments."""

from panmatch.overlap._assembly import ClassOverlaps, assemble_labels
from panmatch.overlap._counting import (
    SideCounts,
    count_class_overlaps,
    count_overlaps,
    count_part_overlaps,
    count_region_overlaps,
    count_sides,
)
from panmatch.overlap.graph import Edges, Overlap, Score
from panmatch.overlap.parts import Background, Parts
from panmatch.overlap.pieces import Pieces, Predictions, unite_regions
from panmatch.overlap.sums import sum_by
from panmatch.overlap.threshold import check_threshold
from panmatch.overlap.types import Areas, Floats, Ints

__all__ = [
    "Areas",
    "Background",
    "ClassOverlaps",
    "Edges",
    "Floats",
    "Ints",
    "Overlap",
    "Parts",
    "Pieces",
    "Predictions",
    "Score",
    "SideCounts",
    "assemble_labels",
    "check_threshold",
    "count_class_overlaps",
    "count_overlaps",
    "count_part_overlaps",
    "count_region_overlaps",
    "count_sides",
    "sum_by",
    "unite_regions",
]
