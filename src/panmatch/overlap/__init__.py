"""From label images to the bipartite graph of overlapping segments."""

from panmatch.labels import Floats, Ints
from panmatch.overlap._assembly import ClassOverlaps, assemble_labels
from panmatch.overlap._columns import Areas, sum_by
from panmatch.overlap._counting import (
    SideCounts,
    count_class_overlaps,
    count_overlaps,
    count_part_overlaps,
    count_region_overlaps,
    count_sides,
)
from panmatch.overlap._graph import Edges, Overlap, Score, check_threshold, lowest_above
from panmatch.overlap._parts import BACKGROUNDS, Background, Parts
from panmatch.overlap._pieces import Pieces, Predictions, unite_regions
from panmatch.overlap._repairs import Belonging, Surroundings, cut_merged, join_split

__all__ = [
    "BACKGROUNDS",
    "Areas",
    "Background",
    "Belonging",
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
    "Surroundings",
    "assemble_labels",
    "check_threshold",
    "count_class_overlaps",
    "count_overlaps",
    "count_part_overlaps",
    "count_region_overlaps",
    "count_sides",
    "cut_merged",
    "join_split",
    "lowest_above",
    "sum_by",
    "unite_regions",
]
