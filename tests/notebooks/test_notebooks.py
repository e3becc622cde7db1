"""The notebooks run from scratch, without a network, and give what is stored in them."""

from __future__ import annotations

import ast
import importlib
import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat
import nibabel
import numpy as np
import pandas as pd
import pytest
import tifffile
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

import panmatch as pm
from notebooks.own_data import read_brats
from notebooks.run import NAMES
from panmatch import phantoms
from panmatch.errors import FileError

NOTEBOOKS: Any = nbformat  # it has no types
FOLDER = Path(__file__).parents[2] / "notebooks"
FIGURES = {  # at least
    "your_folder": 2,
    "cells_in_tiff": 3,
    "classes_and_parts": 1,
    "compare_models": 2,
    "training_loop": 1,
    "brain_metastases": 3,
    "liver_lesions_parts": 3,
}
MODULES = ("panmatch.phantoms", "panmatch.related")  # packages that are named by themselves
LONGEST_S = 300
MOST_BYTES = 1_500_000
LINK = re.compile(r"\]\(([^)#:\s]+\.(?:md|ipynb))(?=[#)])")
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


def executed(name: str) -> Any:
    """Run a notebook in a fresh kernel; a cell that fails is a failure with its traceback."""
    notebook = load(name)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
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


def shown_for(name: str, data: Path) -> list[Any]:
    """Run the cells of a notebook on a folder, and return what each of them shows.

    They run in this process, which is quicker than a kernel of their own.
    """
    names: dict[str, Any] = {}
    shown = []
    for cell in code_cells(load(name)):
        source = re.sub(r"^(DATA|FOLDER) = None.*", rf"\1 = {str(data)!r}", cell.source)
        *statements, last = ast.parse(source).body
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(statements, []), name, "exec"), names)
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), names))
        else:
            exec(source, names)
    return shown


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell: Any) -> list[str]:
    """Return what a cell shows as text, and as HTML; a figure is only named."""
    found = []
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            found.append("a figure")
            continue
        found += [data[kind] for kind in ("text/markdown", "text/html") if kind in data]
        found.append(data.get("text/plain", output.get("text")))
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
    assert sum("a figure" in texts(cell) for cell in cells) >= FIGURES[name]
    assert sum(bool(texts(cell)) for cell in cells) >= len(cells) - 5  # which set the scene
    assert all(cell.metadata == {} for cell in notebook.cells)
    assert notebook.metadata.language_info == {"name": "python"}
    content = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(content.encode()) < MOST_BYTES
    assert not re.search(r"/home/|/work/|/tmp/|/root/|/Users/|[A-Z]:\\\\", content)


@pytest.mark.parametrize("name", NAMES)
def test_the_path_of_own_data_is_the_first_line_of_code(name: str) -> None:
    assert re.match("(DATA|FOLDER) = None  # ", code_cells(load(name))[0].source)


@pytest.mark.parametrize("name", NAMES)
def test_figures_have_two_pixels_for_one(name: str) -> None:
    for cell in code_cells(load(name)):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                picture = Image.open(BytesIO(b64decode(output.data["image/png"])))
                shown = output.metadata["image/png"]
                assert abs(picture.width - 2 * shown["width"]) <= 1
                assert abs(picture.height - 2 * shown["height"]) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_use_public_names_only(name: str) -> None:
    source = "\n".join(cell.source for cell in code_cells(load(name)))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("panmatch"):
            face = importlib.import_module(str(node.module))
            for alias in node.names:
                place = f"{node.module}.{alias.name}"
                assert alias.name in face.__all__ or place in MODULES, place
        if isinstance(node, ast.Import):
            assert not [one.name for one in node.names if one.name.startswith("panmatch.")]


def test_all_notebooks_are_listed() -> None:
    assert set(NAMES) == {path.stem for path in FOLDER.glob("*.ipynb")} == set(FIGURES)
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\((\w+)\.ipynb\)", page) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_begin_with_what_they_teach_and_end_with_links_that_work(name: str) -> None:
    first, *_, last = [cell.source for cell in load(name).cells if cell.cell_type == "markdown"]
    title = next(line for line in first.splitlines() if line)
    assert title.startswith("# ")
    assert "**You will learn** " in first
    assert "**You need** " in first
    assert "## Where next" in last
    targets = [target for cell in load(name).cells for target in LINK.findall(cell.source)]
    assert targets
    for target in targets:
        assert (FOLDER / target).is_file(), target


def test_from_a_folder_to_a_sentence_takes_ten_cells_at_most() -> None:
    cells = code_cells(load("your_folder"))
    assert len(cells) <= 10
    (sentence,) = [text for text in texts(cells[-1]) if text.startswith("> ")]
    table = next(texts(cell)[-1] for cell in cells if cell.source.startswith("result.table"))
    for model, pq in re.findall(r"\d  (\S+) +one-to-one \(optimal\)  (\d\.\d\d) \[", table):
        said = re.search(rf"(\d\.\d{{3}}) \([^)]*\) for {model}\b", sentence)
        assert said is not None
        assert f"{float(said[1]):.2f}" == pq
    assert len(re.findall(r"\) for ", sentence)) == 3


def save(labels: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = nibabel.Nifti1Image(labels.astype(np.uint8), np.diag([1.0, 1.0, 1.0, 1.0]))
    nibabel.save(image, path)


def save_tiff(labels: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"axes": "YX", "PhysicalSizeX": 0.25, "PhysicalSizeY": 0.25}
    tifffile.imwrite(path, labels.astype(np.uint16), ome=True, metadata=metadata)


def test_metastases_of_your_own_need_one_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    for seed in (1, 2):
        brain = phantoms.brain_metastases((40, 48, 40), 6, radius_mm=(2, 7), seed=seed)
        name = f"BraTS-MET-0000{seed}-000"
        save(brain.labels, tmp_path / name / f"{name}-seg.nii.gz")
        for model in ("redraws", "splits"):
            seen = phantoms.SIMULATED_MODELS[model].predict(brain, seed)
            save(seen.labels, tmp_path / "predictions" / model / f"{name}-seg.nii.gz")
    shown = str(shown_for("brain_metastases", tmp_path))
    assert "Result(4 cases of 2 models)" in shown
    assert "misses-small" not in shown


def test_a_folder_of_your_own_needs_one_path(tmp_path: Path) -> None:
    for seed in (1, 2):
        brain = phantoms.brain_metastases((40, 48, 40), 6, radius_mm=(2, 7), seed=seed)
        save(brain.labels, tmp_path / "reference" / f"{seed}.nii.gz")
        save(brain.labels, tmp_path / "predictions" / "mine" / f"{seed}.nii.gz")
    shown = shown_for("your_folder", tmp_path)
    assert (tmp_path / "results" / "scores.csv").exists()
    assert (tmp_path / "results" / "curve.pdf").exists()
    assert "There are no mistakes." in map(str, shown)
    assert shown[-1].data.endswith(
        "On 2 cases, PQ (lesion, one-to-one (optimal) at τ = 0.1, pooled) was 1.000 (SQ 1.000, "
        "RQ 1.000) for mine."
    )


def test_cells_of_your_own_are_measured_in_their_unit(tmp_path: Path) -> None:
    slide = phantoms.cells((80, 80), 20, seed=1)
    save_tiff(slide.labels, tmp_path / "reference" / "a.tif")
    seen = phantoms.SIMULATED_MODELS["merges"].predict(slide)
    save_tiff(seen.labels, tmp_path / "predictions" / "mine" / "a.tif")
    shown = shown_for("cells_in_tiff", tmp_path)
    (files,) = [one for one in shown if isinstance(one, pd.DataFrame) and "spacing" in one]
    assert files.loc["a.tif"].tolist() == ["80 × 80", 20, (0.25, 0.25), "µm"]
    assert "Result(1 case)" in str(shown)


def test_classes_of_your_own_need_one_path(tmp_path: Path) -> None:
    slide = phantoms.cells((64, 64), 16, seed=1)
    labels = np.where(slide.labels > 0, 1000 + slide.labels, 1)  # tumour cells on stroma
    labels[slide.labels > 12] += 1000  # immune cells
    for side in ("reference", "predictions/mine"):
        save_tiff(labels, tmp_path / side / "a.tif")
    for side in ("reference_parts", "prediction_parts/mine"):
        save_tiff(slide.parts, tmp_path / side / "a.tif")
    (result, *_) = [one for one in shown_for("classes_and_parts", tmp_path)
                    if isinstance(one, pm.Result)]  # fmt: skip
    rows = result.table(["pq", "part_pq", "tp"], digits=1).set_index("class")
    assert rows.loc["tumour cell"].tolist() == ["1.0", "1.0", "12"]
    assert rows.loc["immune cell"].tolist() == ["1.0", "1.0", "4"]


def test_models_of_your_own_are_compared(tmp_path: Path) -> None:
    for seed in range(2):
        liver = phantoms.liver_lesions((24, 40, 40), 3, radius_mm=(2, 5), seed=seed)
        save(liver.labels, tmp_path / "reference" / f"{seed}.nii.gz")
        for model, labels in {"a": liver.labels, "b": np.minimum(liver.labels, 1)}.items():
            save(labels, tmp_path / "predictions" / model / f"{seed}.nii.gz")
    shown = shown_for("compare_models", tmp_path)
    assert "Comparison(a, b on 2 cases by PQ, AUTC)" in str(shown)
    assert "a has the highest mean PQ of cases (lesion: 1.000)" in shown[-1].data


def test_a_model_is_trained_on_images_of_your_own(tmp_path: Path) -> None:
    for seed in range(6):
        labels = phantoms.balls((48, 48), 4, radius=(4, 6), gap=3, seed=seed)
        save_tiff(labels, tmp_path / "labels" / f"{seed}.tif")
        save_tiff(60 + 120 * (labels > 0), tmp_path / "images" / f"{seed}.tif")
    shown = shown_for("training_loop", tmp_path)
    assert (4, 2) in shown  # training and validation images
    (history, *_) = [one for one in shown if isinstance(one, pm.Result)]
    assert history.table(["tp", "fn"]).tail(1)[["tp", "fn"]].to_numpy().tolist() == [[8, 0]]


def test_livers_without_predictions_are_given_simulated_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    liver = phantoms.liver_lesions((40, 64, 72), 4, radius_mm=(3, 8), seed=1)
    save(liver.labels, tmp_path / "segmentation-0.nii")
    shown = str(shown_for("liver_lesions_parts", tmp_path))
    assert "['splits', 'redraws', 'no core']" in shown
    assert "segmentation-0" in shown


def test_a_folder_without_references_says_what_they_are_called(tmp_path: Path) -> None:
    save(np.zeros((2, 2, 2)), tmp_path / "predictions" / "unet" / "a-seg.nii.gz")
    save(np.zeros((2, 2, 2)), tmp_path / "image.nii.gz")
    with pytest.raises(FileError, match=r"has no reference: names must end in 'seg\.nii\.gz'"):
        read_brats(tmp_path)
