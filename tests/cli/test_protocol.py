"""`panmatch evaluate --protocol` and `panmatch protocol` as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch.protocols import DETECTION_PROTOCOLS, protocol_names, protocol_text
from tests.cli.terminals import in_terminal
from tests.commands import panmatch
from tests.datasets.folders import make_folders, save_nifti


def save_lesions(folder: Path) -> tuple[Path, Path]:
    """Write a case with a lesion of 64 mm³ and one of 20 mm³, both found, and a spurious one."""
    reference, prediction = np.zeros((2, 40, 20, 20), np.uint8)
    reference[2:6, :4, :4] = reference[20:25, :2, :2] = 3
    prediction[2:6, :4, :4] = prediction[20:24, :2, :2] = 3
    prediction[35:37, 15:17, 15:17] = 3
    for name, labels in (("ref", reference), ("pred", prediction)):
        save_nifti(folder / f"{name}.nii.gz", labels, (1.0, 1.0, 1.0))
    return folder / "ref.nii.gz", folder / "pred.nii.gz"


def test_numbers_of_the_program_are_printed_and_written(tmp_path: Path) -> None:
    make_folders(tmp_path, 2)
    folders = tmp_path / "ref", tmp_path / "model"
    done = panmatch("evaluate", *folders, "--protocol", "stardist", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "out" / "protocol.csv", keep_default_na=False)
    assert list(table.columns) == ["model", "case", "name", "value"]
    assert set(table.case) == {"case00", "case01", ""}
    of_cases = table[(table.name == "tp") & (table.case != "")].value.astype(float)
    together = table[(table.name == "tp") & (table.case == "")].value.astype(float)
    assert together.tolist() == [of_cases.sum()]
    first, *lines = done.stdout.splitlines()
    assert first.startswith("stardist: stardist (matching.matching, matching_dataset) 0.9.2")
    assert f"tp                  {together.iloc[0]:10.0f}" in lines
    assert f"Our scores: panmatch show {tmp_path / 'out'}" in lines
    assert (tmp_path / "out" / "scores.csv").exists()


def test_resuming_and_workers_change_nothing(tmp_path: Path) -> None:
    make_folders(tmp_path, 3, models=("near", "far"))
    models = [f"--model={name}={tmp_path / name}" for name in ("near", "far")]
    command = ("evaluate", tmp_path / "ref", *models, "--protocol", "cellpose")
    assert panmatch(*command, "-o", tmp_path / "one").returncode == 0
    assert panmatch(*command, "-j", 2, "-o", tmp_path / "two").returncode == 0
    again = panmatch(*command, "--resume", "-o", tmp_path / "two")
    assert again.returncode == 0
    texts = [(tmp_path / name / "protocol.csv").read_text() for name in ("one", "two")]
    assert texts[0] == texts[1]
    heads = [line.split() for line in again.stdout.splitlines()]
    assert ["far", "near"] in heads
    assert [len(line) for line in heads if line[:1] == ["ap/0.5"]] == [3]


def test_explain_prints_numbers_beside_ours_and_the_objects(tmp_path: Path) -> None:
    files = save_lesions(tmp_path)
    command = ("evaluate", *files, "--protocol", "brats-2023-lesionwise", "--explain")
    done = panmatch(*command, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    said = " ".join(done.stdout.split())
    assert "WT/Num_TP 1 2 TP at 0.5" in said
    assert "ET/LesionWise_Score_Dice 0.5 0.72 PQ at 0.5" in said
    assert (
        "ref, WT, TC, ET, reference 2 (20 mm³, IoU 0.8): left out, ours matched. 20 mm³: lesions "
        "up to 50 mm³ do not count." in said
    )
    assert done.stdout.count("reference 2") == 1


def test_json_holds_the_numbers_and_the_explanation(tmp_path: Path) -> None:
    files = save_lesions(tmp_path)
    done = panmatch(
        "evaluate", *files, "--protocol", "isles-2022", "--explain", "--json", "-o", tmp_path / "o"
    )
    found = json.loads(done.stdout)["protocol"]
    assert (found["name"], found["version"]) == ("isles-2022", "2022")
    together = {one["name"]: one["value"] for one in found["numbers"] if one["case"] is None}
    alone = pm.protocols.run("isles-2022", reference=files[0], prediction=files[1])
    assert together == pytest.approx(alone)
    (explained,) = found["explained"]
    assert {one["name"] for one in explained["numbers"]} == {"dice", "lesion_f1_score"}
    assert explained["objects"] == []


def test_classes_come_from_the_spec_where_the_program_has_none(tmp_path: Path) -> None:
    files = save_lesions(tmp_path)
    out = ("-o", tmp_path / "out", "--overwrite")
    command = ("evaluate", *files, "--protocol", "nnunet-summary", *out)
    done = panmatch(*command, "--class", "tumour=3", "--class", "oedema=2")
    assert "mean/3/Dice" in done.stdout
    assert "mean/2/Dice" in done.stdout
    labels = {"labels": {"background": 0, "tumour": 3, "core": [1, 3]}}
    (tmp_path / "dataset.json").write_text(json.dumps(labels))
    done = panmatch(*command, "--dataset-json", tmp_path / "dataset.json", "--all")
    assert "mean/(1, 3)/Dice" in done.stdout
    (tmp_path / "spec.yaml").write_text("classes: {tumour: {labels: 3}}\nthresholds: 0.9\n")
    done = panmatch(*command, "--spec", tmp_path / "spec.yaml")
    assert "mean/3/Dice" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--protocol", "stardits"],
            "--protocol 'stardits' is not known; did you mean 'stardist'?",
        ),
        (["--protocol", "autopet/4"], "variant of autopet='4' is not known"),
        (["--protocol", "stardist", "-t", "0.3"], "--protocol sets what --threshold would change"),
        (
            ["--protocol", "stardist", "-s", "union"],
            "--protocol sets what --strategy would change",
        ),
        (
            ["--protocol", "brats-mets", "--spec", "cells"],
            "uses the classes of its program: leave out --spec",
        ),
        (["--explain"], "--explain needs a protocol to compare: name one with --protocol."),
    ],
)
def test_what_contradicts_a_protocol_is_an_error(
    tmp_path: Path, options: list[str], message: str
) -> None:
    make_folders(tmp_path, 1)
    done = panmatch("evaluate", tmp_path / "ref", tmp_path / "model", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_images_without_a_spacing_are_an_error_where_numbers_are_in_mm(tmp_path: Path) -> None:
    image = np.ones((4, 4, 4), np.uint8)
    for name in ("ref", "pred"):
        np.save(tmp_path / f"{name}.npy", image)
    files = tmp_path / "ref.npy", tmp_path / "pred.npy"
    done = panmatch("evaluate", *files, "--protocol", "autopet", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "has no spacing, but autopet reports numbers in mm: pass" in done.stderr
    out = ("-o", tmp_path / "out", "--overwrite")
    done = panmatch("evaluate", *files, "--protocol", "autopet", "--spacing", "1,1,1", *out)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_fits_and_says_what_was_verified(tmp_path: Path, width: int) -> None:
    shown = in_terminal(width, "protocol", "list", cwd=tmp_path)
    assert shown.code == 0
    assert max(map(len, shown.lines)) <= width
    heads = [line.split(":")[0] for line in shown.lines if line and not line.startswith(" ")]
    assert heads == [*protocol_names(), *DETECTION_PROTOCOLS]
    for word in ("Program:", "Reproduces:", "Verified:"):
        assert sum(line.startswith(f"  {word}") for line in shown.lines) == len(heads)
    assert sum(line.startswith("  Note:") for line in shown.lines) >= len(heads)


def test_a_file_is_shown_as_it_is(tmp_path: Path) -> None:
    shown = panmatch("protocol", "show", "stardist", cwd=tmp_path)
    assert shown.stdout == protocol_text("stardist")
    wrong = panmatch("protocol", "show", "star", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'stardist'?" in wrong.stderr
