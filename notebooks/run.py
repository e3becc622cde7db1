"""Run all notebooks, or those that are named, and store nothing but their outputs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
NAMES = (  # in the order to read them
    "your_folder",
    "cells_in_tiff",
    "classes_and_parts",
    "compare_models",
    "training_loop",
    "brain_metastases",
    "liver_lesions_parts",
)


def main(names: Sequence[str]) -> None:
    """Run some notebooks of this folder."""
    files: Any = nbformat  # it has no types
    for path in (FOLDER / f"{name}.ipynb" for name in names):
        notebook = files.read(path, as_version=4)
        NotebookClient(notebook, resources={"metadata": {"path": str(FOLDER)}}).execute()
        for cell in notebook.cells:
            cell.metadata = {}
        notebook.metadata.language_info = {"name": "python"}
        files.write(notebook, path)
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
