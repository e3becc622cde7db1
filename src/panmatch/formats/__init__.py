"""Files that panmatch reads and writes.

The libraries behind the formats are imported when the first file of their kind is read.
"""

from panmatch.formats.label_image import LabelImage, StoredImage, check_same_grid
from panmatch.formats.overlap_file import load_overlap, save_overlap
from panmatch.formats.reading import (
    case_name,
    is_chunked_file,
    is_label_file,
    open_labels,
    read_labels,
)

__all__ = [
    "LabelImage",
    "StoredImage",
    "case_name",
    "check_same_grid",
    "is_chunked_file",
    "is_label_file",
    "load_overlap",
    "open_labels",
    "read_labels",
    "save_overlap",
]
