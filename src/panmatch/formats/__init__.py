"""Files that panmatch reads and writes.

The libraries behind the formats are imported when the first file of their kind is read.
"""

from panmatch.formats._coco import CocoPanoptic, pair_images, read_coco_panoptic
from panmatch.formats._coco_instances import (
    CocoInstances,
    coco_overlaps,
    read_coco_instances,
    rows_by_group,
)
from panmatch.formats._confidence_files import ConfidenceTable, open_confidences, read_confidences
from panmatch.formats._grey import image_name, read_grey, read_probabilities
from panmatch.formats._images import (
    LabelImage,
    StoredImage,
    check_same_grid,
    grid_difference,
    turned_like,
)
from panmatch.formats._locking import lock_file, locked
from panmatch.formats._numpy_files import load_overlap, save_overlap, write_atomically
from panmatch.formats._objects import ImageLike, as_stored_image
from panmatch.formats._reading import (
    case_name,
    is_chunked_file,
    is_label_file,
    open_labels,
    read_labels,
)
from panmatch.formats._resampling import (
    Resampled,
    can_resample,
    is_on_grid_of,
    resample_like,
)
from panmatch.formats._units import convert_spacing
from panmatch.formats._writing import write_like

__all__ = [
    "CocoInstances",
    "CocoPanoptic",
    "ConfidenceTable",
    "ImageLike",
    "LabelImage",
    "Resampled",
    "StoredImage",
    "as_stored_image",
    "can_resample",
    "case_name",
    "check_same_grid",
    "coco_overlaps",
    "convert_spacing",
    "grid_difference",
    "image_name",
    "is_chunked_file",
    "is_label_file",
    "is_on_grid_of",
    "load_overlap",
    "lock_file",
    "locked",
    "open_confidences",
    "open_labels",
    "pair_images",
    "read_coco_instances",
    "read_coco_panoptic",
    "read_confidences",
    "read_grey",
    "read_labels",
    "read_probabilities",
    "resample_like",
    "rows_by_group",
    "save_overlap",
    "turned_like",
    "write_atomically",
    "write_like",
]
