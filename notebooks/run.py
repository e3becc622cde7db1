"""Run all notebooks in place, and store nothing but their outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
NAMES = ("your_folder", "brain_metastases", "liver_lesions_parts")  # in the order to read them


def main() -> None:
    """Run every notebook of this folder."""
    files: Any = nbformat  # it has no types
    for path in (FOLDER / f"{name}.ipynb" for name in NAMES):
        notebook = files.read(path, as_version=4)
        NotebookClient(notebook, resources={"metadata": {"path": str(FOLDER)}}).execute()
        for cell in notebook.cells:
            cell.metadata = {}
        notebook.metadata.language_info = {"name": "python"}
        files.write(notebook, path)
        print(path.name)


if __name__ == "__main__":
    main()
