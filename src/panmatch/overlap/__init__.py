"""From label images to the bipartite graph of overlapping segments."""

from panmatch.labels import Floats, Ints
from panmatch.overlap._assembly import ClassOverlaps
from panmatch.overlap._columns import Areas, sum_by
from panmatch.overlap._confidence import check_cut, keep_predictions, needed_confidence
from panmatch.overlap._counting import (
    SideCounts,
    count_class_overlaps,
    count_overlaps,
    count_part_overlaps,
    count_region_overlaps,
    count_sides,
)
from panmatch.overlap._graph import Edges, Overlap, Score
from panmatch.overlap._joined_images import join_images
from panmatch.overlap._mask_counting import overlap_of
from panmatch.overlap._parts import BACKGROUNDS, Background, Parts
from panmatch.overlap._pieces import Pieces, Predictions, unite_regions
from panmatch.overlap._plain_labels import assemble_labels
from panmatch.overlap._repairs import Belonging, Surroundings, cut_merged, join_split
from panmatch.overlap._sharing import Sharing, Unions, check_disjoint, predictions_overlap
from panmatch.overlap._thresholds import check_threshold, lowest_above

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
    "Sharing",
    "SideCounts",
    "Surroundings",
    "Unions",
    "assemble_labels",
    "check_cut",
    "check_disjoint",
    "check_threshold",
    "count_class_overlaps",
    "count_overlaps",
    "count_part_overlaps",
    "count_region_overlaps",
    "count_sides",
    "cut_merged",
    "join_images",
    "join_split",
    "keep_predictions",
    "lowest_above",
    "needed_confidence",
    "overlap_of",
    "predictions_overlap",
    "sum_by",
    "unite_regions",
]
