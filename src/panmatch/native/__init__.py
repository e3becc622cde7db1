"""The native core, compiled from ``src/native``: the loops over voxels and edges.

Everything here takes plain arrays and trusts its callers to have checked their meaning.
"""

from panmatch.native._core import (
    assign,
    assign_sweep,
    cover,
    cover_sweep,
    distances_fit_float,
    edge_distances,
    graph_components,
    grouped_cumsum,
    improve,
    joint_counts,
    label_components,
    merge,
    merge_sweep,
    nearest_labels,
    nearest_sites,
    nearest_where,
    number_components,
    pack,
    paint_numbers,
    segment_geometry,
    surface_distances,
)

__all__ = [
    "assign",
    "assign_sweep",
    "cover",
    "cover_sweep",
    "distances_fit_float",
    "edge_distances",
    "graph_components",
    "grouped_cumsum",
    "improve",
    "joint_counts",
    "label_components",
    "merge",
    "merge_sweep",
    "nearest_labels",
    "nearest_sites",
    "nearest_where",
    "number_components",
    "pack",
    "paint_numbers",
    "segment_geometry",
    "surface_distances",
]
