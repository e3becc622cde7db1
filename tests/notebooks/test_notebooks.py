"""The notebooks run from scratch, without a network, and give what is stored in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import nibabel
import numpy as np
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from notebooks.own_data import read_brats
from panmatch import phantoms
from panmatch.errors import FileError

NOTEBOOKS: Any = nbformat  # it has no types
FOLDER = Path(__file__).parents[2] / "notebooks"
NAMES = ("brain_metastases", "liver_lesions_parts")
LONGEST_S = 300
MOST_BYTES = 1_500_000
NO_NETWORK = """
import socket


def refuse(*arguments, **options):
    raise OSError("a notebook must not need the network")


socket.socket.connect = refuse
socket.create_connection = refuse
socket.getaddrinfo = refuse
"""

# Warnings of the machinery that runs notebooks are not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


def load(name: str) -> Any:
    return NOTEBOOKS.read(FOLDER / f"{name}.ipynb", as_version=4)


def executed(name: str, data: Path | None = None) -> Any:
    """Run a notebook in a fresh kernel; a cell that fails is a failure with its traceback."""
    notebook = load(name)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
        if data is not None and cell.source.startswith("DATA = None"):
            cell.source = f"DATA = {str(data)!r}"
    notebook.cells.insert(0, NOTEBOOKS.v4.new_code_cell(NO_NETWORK))
    where = {"metadata": {"path": str(FOLDER)}}
    try:
        NotebookClient(
            notebook, timeout=LONGEST_S, kernel_name="python3", resources=where
        ).execute()
    except CellExecutionError as error:
        pytest.fail(f"{name}.ipynb does not run:\n{error}")
    del notebook.cells[0]
    return notebook


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell: Any) -> list[str]:
    """Return what a cell shows as text; a figure is only named."""
    found = []
    for output in cell.outputs:
        data = output.get("data", {})
        found.append(
            "a figure" if "image/png" in data else data.get("text/plain", output.get("text"))
        )
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_from_scratch_and_gives_what_is_stored(name: str) -> None:
    fresh, stored = code_cells(executed(name)), code_cells(load(name))
    for new, old in zip(fresh, stored, strict=True):
        assert texts(new) == texts(old), old.source


@pytest.mark.parametrize("name", NAMES)
def test_stored_outputs_are_complete_and_free_of_noise(name: str) -> None:
    notebook = load(name)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [output.output_type for cell in cells for output in cell.outputs]
    assert set(kinds) == {"execute_result"}  # neither streams nor errors
    assert sum("a figure" in texts(cell) for cell in cells) >= 3
    assert sum(bool(texts(cell)) for cell in cells) >= len(cells) - 4
    assert all(cell.metadata == {} for cell in notebook.cells)
    assert notebook.metadata.language_info == {"name": "python"}
    content = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(content.encode()) < MOST_BYTES
    assert not re.search(r"/home/|/work/|/tmp/|/root/|/Users/|[A-Z]:\\\\", content)


@pytest.mark.parametrize("name", NAMES)
def test_the_path_of_own_data_is_the_first_line_of_code(name: str) -> None:
    assert code_cells(load(name))[0].source.startswith("DATA = None")


def save(labels: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = nibabel.Nifti1Image(labels.astype(np.uint8), np.diag([1.0, 1.0, 1.0, 1.0]))
    nibabel.save(image, path)


def test_metastases_of_your_own_need_one_path(tmp_path: Path) -> None:
    for seed in (1, 2):
        brain = phantoms.brain_metastases((40, 48, 40), 6, radius_mm=(2, 7), seed=seed)
        name = f"BraTS-MET-0000{seed}-000"
        save(brain.labels, tmp_path / name / f"{name}-seg.nii.gz")
        for model in ("redraws", "splits"):
            seen = phantoms.SIMULATED_MODELS[model].predict(brain, seed)
            save(seen.labels, tmp_path / "predictions" / model / f"{name}-seg.nii.gz")
    shown = str([texts(cell) for cell in code_cells(executed("brain_metastases", tmp_path))])
    assert "Result(4 cases of 2 models)" in shown
    assert "misses-small" not in shown


def test_livers_without_predictions_are_given_simulated_ones(tmp_path: Path) -> None:
    liver = phantoms.liver_lesions((40, 64, 72), 4, radius_mm=(3, 8), seed=1)
    save(liver.labels, tmp_path / "segmentation-0.nii")
    shown = str([texts(cell) for cell in code_cells(executed("liver_lesions_parts", tmp_path))])
    assert "['splits', 'redraws', 'no core']" in shown
    assert "segmentation-0" in shown


def test_a_folder_without_references_says_what_they_are_called(tmp_path: Path) -> None:
    save(np.zeros((2, 2, 2)), tmp_path / "predictions" / "unet" / "a-seg.nii.gz")
    save(np.zeros((2, 2, 2)), tmp_path / "image.nii.gz")
    with pytest.raises(FileError, match=r"has no reference: names must end in 'seg\.nii\.gz'"):
        read_brats(tmp_path)
