"""`panmatch advise`: the same files as `evaluate`, advice on the screen and as JSON."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import nibabel
import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch import phantoms
from tests.cli.terminals import in_terminal
from tests.commands import panmatch
from tests.datasets.folders import make_folders, save_nifti

SPACING, SIDES = (1.0, 1.0, 1.0), ("ref", "pred")


def make_splits(folder: Path, n: int = 3) -> None:
    """Write n cases of six balls, of which two are in two pieces."""
    for at in range(n):
        reference = phantoms.balls((40, 40, 12), 6, radius=(4, 5), gap=2, seed=at)
        save_nifti(folder / "ref" / f"case{at}.nii.gz", reference, SPACING)
        prediction = phantoms.split(reference, 2, ids=[1, 4])
        save_nifti(folder / "pred" / f"case{at}.nii.gz", prediction, SPACING)


def read(path: Path) -> npt.NDArray[np.int64]:
    return np.asarray(nibabel.load(path).dataobj).astype(np.int64)  # type: ignore[attr-defined]


def test_folders_are_looked_at_together(tmp_path: Path) -> None:
    make_splits(tmp_path)
    done = panmatch("advise", tmp_path / "ref", tmp_path / "pred")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 cases, class object: 18 references, 24 predictions\n")
    said = " ".join(done.stdout.split())
    assert "6 of 18 references are split over 12 predictions." in said
    assert "3 cases are too few for an interval" in said
    assert "→ #when-a-fragment-is-one-object" in said
    assert "The reasons: docs/choosing/index.md" in said


def test_the_command_to_go_on_with_runs_on_the_same_data(tmp_path: Path) -> None:
    make_splits(tmp_path, 1)
    done = panmatch(
        "advise", tmp_path / "ref" / "case0.nii.gz", tmp_path / "pred" / "case0.nii.gz",
        "--spec", "instances", "--class", "object", "--allow-header-mismatch",
    )  # fmt: skip
    command = shlex.split(done.stdout.rstrip().splitlines()[-1])
    assert command[:2] == ["panmatch", "evaluate"]
    assert command[4:9] == ["--spec", "instances", "--class", "object", "--allow-header-mismatch"]
    assert command[9:] == ["-s", "one-to-one", "-s", "many-to-one", "-t", "0.5", "-t", "0.1"]
    again = panmatch(*command[1:], "-o", tmp_path / "out")
    assert again.returncode == 0, again.stderr


def test_the_document_has_the_numbers_of_the_library(tmp_path: Path) -> None:
    make_splits(tmp_path, 2)
    done = panmatch("advise", tmp_path / "ref", tmp_path / "pred", "--json")
    document = json.loads(done.stdout)
    assert document["format"] == "panmatch-advice-1"
    (model,) = document["models"]
    assert (model["model"], model["failed"], model["left_out"]) == ("pred", [], [])
    assert model["facts"]["object"]["n_split"] == 4
    assert model["facts"]["object"]["n_pieces"] == 8
    curves = [
        pm.curve(pm.count_overlaps(*images), "many-to-one")
        for images in (
            [read(tmp_path / side / f"case{at}.nii.gz") for side in SIDES] for at in range(2)
        )
    ]
    (row,) = [one for one in model["scores"] if one["strategy"] == "many-to-one (merge, seed)"]
    assert row["autc"] == (curves[0] + curves[1]).autc
    assert row["pq"]["0.25"] == (curves[0] + curves[1]).at(0.25).pq
    assert {point["topic"] for point in model["points"]} >= {"Strategy", "Threshold", "Report"}
    assert model["strategies"] == ["one-to-one", "many-to-one"]


def test_a_damaged_file_does_not_lose_the_other_cases(tmp_path: Path) -> None:
    make_splits(tmp_path)
    (tmp_path / "pred" / "case1.nii.gz").write_bytes(b"not an image")
    done = panmatch("advise", tmp_path / "ref", tmp_path / "pred")
    assert done.returncode == 1
    assert done.stdout.startswith("2 cases, class object: 12 references, 16 predictions\n")
    assert "panmatch: case1 failed:" in done.stderr


def test_files_without_a_partner_are_left_out_with_a_note(tmp_path: Path) -> None:
    make_folders(tmp_path, 3)
    (tmp_path / "model" / "case01.nii.gz").unlink()
    done = panmatch("advise", tmp_path / "ref", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 cases, ")
    assert "panmatch: note: 1 case without a partner left out: case01." in done.stderr


def test_if_no_case_can_be_read_the_first_reason_is_the_error(tmp_path: Path) -> None:
    make_splits(tmp_path, 2)
    for at in range(2):
        (tmp_path / "pred" / f"case{at}.nii.gz").write_bytes(b"not an image")
    several = panmatch("advise", tmp_path / "ref", tmp_path / "pred")
    assert several.returncode == 2
    assert several.stderr.startswith("panmatch: none of 2 cases could be read. The first, case0: ")
    one = panmatch("advise", tmp_path / "ref" / "case0.nii.gz", tmp_path / "pred" / "case0.nii.gz")
    assert one.returncode == 2
    assert "none of" not in one.stderr


def test_a_manifest_with_two_models_gives_advice_on_each(tmp_path: Path) -> None:
    make_folders(tmp_path, 1, ("a", "b"))
    lines = [f"case00,ref/case00.nii.gz,{model}/case00.nii.gz,{model}" for model in "ab"]
    manifest = tmp_path / "cases.csv"
    manifest.write_text("\n".join(["case,reference,prediction,model", *lines]) + "\n")
    done = panmatch("advise", manifest)
    assert done.returncode == 0, done.stderr
    assert "Model a\n1 case" in done.stdout
    assert "Model b\n1 case" in done.stdout
    assert panmatch("advise", manifest, tmp_path / "a").returncode == 2


def test_labels_of_other_classes_are_an_error_as_in_evaluate(tmp_path: Path) -> None:
    make_splits(tmp_path, 1)
    done = panmatch("advise", tmp_path / "ref", tmp_path / "pred", "--class", "ball=1")
    assert done.returncode == 2
    assert "which are in no class" in done.stderr


def test_the_screen_fits_on_80_columns(tmp_path: Path) -> None:
    make_splits(tmp_path, 2)
    shown = in_terminal(80, "advise", "ref", "pred", cwd=tmp_path)
    assert shown.code == 0
    assert max(map(len, shown.lines)) <= 80
    assert not shown.errors


def test_empty_cases_say_that_there_is_nothing_to_choose(tmp_path: Path) -> None:
    empty = np.zeros((8, 8, 4), np.uint8)
    for side in ("ref", "pred"):
        save_nifti(tmp_path / side / "case0.nii.gz", empty, SPACING)
    done = panmatch("advise", tmp_path / "ref", tmp_path / "pred")
    assert done.returncode == 0, done.stderr
    assert "nothing to choose yet" in done.stdout
