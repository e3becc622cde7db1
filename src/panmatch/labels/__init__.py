"""Label arrays: which arrays are accepted, and everything measured on one image alone."""

from typing import TYPE_CHECKING

from panmatch._lazy import lazy_face
from panmatch.labels._arrays import (
    Array,
    Floats,
    Ints,
    LabelArray,
    Mask,
    as_labels,
    as_mask,
    bytes_of,
    check_is_label_tensor,
    check_same_shape,
    fits,
    free_bytes,
    in_gigabytes,
    is_chunked,
    is_on_device,
    library_of,
    memory_bytes,
    refuse_beyond_int64,
    refuse_labels,
    thread_count,
)
from panmatch.labels._combinations import (
    Counted,
    as_images,
    distinct_labels,
    mask_of,
    paint_volumes,
)
from panmatch.labels._components import (
    Connectivity,
    Instances,
    component_sizes,
    components_within_labels,
    connected_components,
)
from panmatch.labels._panoptic import (
    UNKNOWN_PART,
    UNNUMBERED,
    Meaning,
    Panoptic,
    SegmentClass,
    SegmentImages,
    check_classes,
    drop_segments,
    segment_ids,
)
from panmatch.labels._regions import REGION_RULES, Regions, find_regions, nearest_labels
from panmatch.labels._spacing import Unit, as_spacing, shortest_decimal
from panmatch.labels._void import Void, is_masked
from panmatch.labels._volumes import ChunkedLabels, Stored, Volume, as_volume, map_labels

if TYPE_CHECKING:
    from panmatch.labels._confidences import Reduction, confidences_from_image
    from panmatch.labels._contacts import cropped, touching_labels
    from panmatch.labels._encodings import (
        from_cityscapes,
        from_maps,
        from_panoptic_parts,
        from_segments,
    )
    from panmatch.labels._folding import as_dask
    from panmatch.labels._geometry import Geometry, edge_distances, inner_band, segment_geometry
    from panmatch.labels._label_groups import LabelGroup, from_labels
    from panmatch.labels._mask_geometry import mask_geometry
    from panmatch.labels._mask_table import (
        MaskTable,
        WrittenMasks,
        read_boxes,
        read_segmentations,
    )
    from panmatch.labels._masks import (
        Masks,
        as_list,
        length_masks,
        order_of,
        polygon_masks,
        read_masks,
        text_masks,
    )
    from panmatch.labels._object_pairs import (
        ObjectPairs,
        SkeletonOverlaps,
        SurfaceDistances,
        skeleton_overlaps,
        surface_distances,
    )
    from panmatch.labels._surface_elements import ElementDistances, element_distances
else:  # few need these, and importing panmatch must be quick
    __getattr__, __dir__ = lazy_face(
        __name__,
        {
            "panmatch.labels._confidences": ("Reduction", "confidences_from_image"),
            "panmatch.labels._contacts": ("cropped", "touching_labels"),
            "panmatch.labels._encodings": (
                "from_cityscapes",
                "from_maps",
                "from_panoptic_parts",
                "from_segments",
            ),
            "panmatch.labels._folding": ("as_dask",),
            "panmatch.labels._geometry": (
                "Geometry",
                "edge_distances",
                "inner_band",
                "segment_geometry",
            ),
            "panmatch.labels._label_groups": ("LabelGroup", "from_labels"),
            "panmatch.labels._mask_geometry": ("mask_geometry",),
            "panmatch.labels._mask_table": (
                "MaskTable",
                "WrittenMasks",
                "read_boxes",
                "read_segmentations",
            ),
            "panmatch.labels._masks": (
                "Masks",
                "as_list",
                "length_masks",
                "order_of",
                "polygon_masks",
                "read_masks",
                "text_masks",
            ),
            "panmatch.labels._object_pairs": (
                "ObjectPairs",
                "SkeletonOverlaps",
                "SurfaceDistances",
                "skeleton_overlaps",
                "surface_distances",
            ),
            "panmatch.labels._surface_elements": ("ElementDistances", "element_distances"),
        },
    )

__all__ = [
    "REGION_RULES",
    "UNKNOWN_PART",
    "UNNUMBERED",
    "Array",
    "ChunkedLabels",
    "Connectivity",
    "Counted",
    "ElementDistances",
    "Floats",
    "Geometry",
    "Instances",
    "Ints",
    "LabelArray",
    "LabelGroup",
    "Mask",
    "MaskTable",
    "Masks",
    "Meaning",
    "ObjectPairs",
    "Panoptic",
    "Reduction",
    "Regions",
    "SegmentClass",
    "SegmentImages",
    "SkeletonOverlaps",
    "Stored",
    "SurfaceDistances",
    "Unit",
    "Void",
    "Volume",
    "WrittenMasks",
    "as_dask",
    "as_images",
    "as_labels",
    "as_list",
    "as_mask",
    "as_spacing",
    "as_volume",
    "bytes_of",
    "check_classes",
    "check_is_label_tensor",
    "check_same_shape",
    "component_sizes",
    "components_within_labels",
    "confidences_from_image",
    "connected_components",
    "cropped",
    "distinct_labels",
    "drop_segments",
    "edge_distances",
    "element_distances",
    "find_regions",
    "fits",
    "free_bytes",
    "from_cityscapes",
    "from_labels",
    "from_maps",
    "from_panoptic_parts",
    "from_segments",
    "in_gigabytes",
    "inner_band",
    "is_chunked",
    "is_masked",
    "is_on_device",
    "length_masks",
    "library_of",
    "map_labels",
    "mask_geometry",
    "mask_of",
    "memory_bytes",
    "nearest_labels",
    "order_of",
    "paint_volumes",
    "polygon_masks",
    "read_boxes",
    "read_masks",
    "read_segmentations",
    "refuse_beyond_int64",
    "refuse_labels",
    "segment_geometry",
    "segment_ids",
    "shortest_decimal",
    "skeleton_overlaps",
    "surface_distances",
    "text_masks",
    "thread_count",
    "touching_labels",
]
