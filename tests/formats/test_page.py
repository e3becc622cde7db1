"""The page about file formats names every suffix that is read, and none that is not."""

from __future__ import annotations

import re
from pathlib import Path

from panmatch.formats._reading import READERS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "file-formats.md"
READ_BY = {
    "read_nifti": "nibabel",
    "read_itk": "SimpleITK",
    "read_tiff": "tifffile",
    "read_png": "Pillow",
    "read_array": "numpy",
    "read_archive": "numpy",
    "read_zarr": "zarr",
}


def rows() -> list[list[str]]:
    """Return the rows of the first table, cell by cell."""
    table = PAGE.read_text(encoding="utf-8").split("\n|---")[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[1:]]


def test_the_page_has_a_row_for_every_suffix_and_names_who_reads_it() -> None:
    listed = {suffix: cells[1] for cells in rows() for suffix in re.findall(r"`([^`]+)`", cells[0])}
    assert set(listed) == {*READERS, ".json"}  # COCO panoptic is read by a function of its own
    for suffix, reader in READERS.items():
        assert READ_BY[reader.__name__] in listed[suffix], suffix
