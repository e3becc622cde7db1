"""Files that panmatch reads and writes."""

from panmatch.formats.overlap_file import load_overlap, save_overlap

__all__ = ["load_overlap", "save_overlap"]
