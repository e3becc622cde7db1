"""`panmatch evaluate` on folders as other programs leave them."""

from __future__ import annotations

import json
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from tests.commands import panmatch
from tests.datasets.folders import SPACING, make_folders, scene
from tests.datasets.made_up import make_brats, make_nnunet, make_tiffs


@pytest.mark.parametrize("inside", ["", "validation"])
def test_a_fold_of_nnunet_is_evaluated_with_its_dataset_json(tmp_path: Path, inside: str) -> None:
    references, fold = make_nnunet(tmp_path)
    done = panmatch(
        "evaluate", references, fold / inside,
        "--dataset-json", references.parent / "dataset.json", "-o", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 cases, 3 skipped: ")
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert scores.groupby("case").status.first().to_dict() == {
        "liver_000": "ok",
        "liver_001": "ok",
        "liver_002": "skipped",
        "liver_003": "skipped",
        "liver_004": "skipped",
    }
    one = scores[(scores.strategy == "one-to-one") & (scores.threshold == 0.5)]
    counts = one.groupby("class")[["tp", "fp", "fn"]].sum()
    assert counts.loc["lesion"].tolist() == [2, 0, 2]  # the first of two lesions is missed
    assert counts.loc["organ"].tolist() == [2, 0, 0]
    assert "3 of 5 references have no prediction" in done.stderr
    assert "an nnU-Net fold predicts only its own cases" in done.stderr
    assert "liver_000.npz, liver_001.npz next to label images of the same name" in done.stderr
    assert "panmatch: note: " in done.stderr


def test_cases_of_brats_are_found_with_one_pattern_for_each_side(tmp_path: Path) -> None:
    reference, prediction = make_brats(tmp_path)
    done = panmatch(
        "evaluate", reference, prediction, "--spec", "binary-components",
        "--pattern", "{case}/{case}-seg.nii.gz", "--pattern", "{case}.nii.gz",
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert list(scores.case.unique()) == ["BraTS-MET-00000-000", "BraTS-MET-00001-000"]
    assert "8 *.nii.gz that do not fit the pattern" in done.stderr


def test_a_folder_of_tiffs_with_leftovers_is_evaluated(tmp_path: Path) -> None:
    reference, prediction = make_tiffs(tmp_path)
    done = panmatch("evaluate", reference, prediction, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert list(scores.case.unique()) == ["cells_0", "cells_1"]
    assert "4 files in " in done.stderr
    assert "were ignored: README, Thumbs.db, notes.txt, sizes.csv." in done.stderr


@pytest.mark.parametrize(
    ("decision", "code", "said"),
    [
        (None, 1, "use --missing to skip it"),
        ("fail", 1, "use --missing to skip it"),
        ("skip", 0, "left out (--missing skip)"),
        ("empty", 0, "counted as an empty one (--missing empty)"),
        ("worst", 0, "counted as the worst one (--missing worst)"),
        ("none", 2, "--missing"),
    ],
)
def test_missing_predictions_are_a_decision(
    tmp_path: Path, decision: str | None, code: int, said: str
) -> None:
    make_folders(tmp_path, 2)
    (tmp_path / "model" / "case01.nii.gz").unlink()
    options = [] if decision is None else ["--missing", decision]
    done = panmatch("evaluate", tmp_path / "ref", tmp_path / "model", *options, "-o",
                    tmp_path / "out")  # fmt: skip
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr


def test_another_grid_is_resampled_on_request_and_never_silently(tmp_path: Path) -> None:
    """A flipped, cropped and upsampled copy of the reference is the reference again."""
    make_folders(tmp_path, 2)
    labels = np.kron(scene(0), np.ones((2, 2, 1), np.uint8))[::-1, :, 2:]
    affine = np.diag([-SPACING[0] / 2, SPACING[1] / 2, SPACING[2], 1.0])
    affine[:3, 3] = 0.25 * SPACING[0] + SPACING[0] * 17, -0.25 * SPACING[1], 2 * SPACING[2]
    nibabel.save(
        nibabel.Nifti1Image(labels.astype(np.uint8), affine),
        tmp_path / "model" / "case00.nii.gz",
    )
    arguments = ["evaluate", tmp_path / "ref", tmp_path / "model", "-o", tmp_path / "out"]
    refused = panmatch(*arguments)
    assert refused.returncode == 1
    said = " ".join(refused.stdout.split())
    assert "--resample resamples the prediction to the grid of the reference." in said
    done = panmatch(*arguments, "--resample", "--resume", "--report")
    assert done.returncode == 0, done.stderr
    assert (
        "panmatch: note: model: predictions were resampled to the grid of their references, by "
        "nearest label (1 of 2 cases: case00)" in done.stderr
    )
    scores = pd.read_csv(tmp_path / "out" / "scores.csv", keep_default_na=False).set_index("case")
    (reason,) = set(scores.reason["case00"])
    assert reason.startswith(
        "prediction resampled to the grid of the reference, from shape (36, 40, 12), spacing "
        "(0.25, 0.5, 2) mm, orientation LAS, "
    )
    assert reason.endswith("; it covers 85.7% of the reference (--resample)")
    assert set(scores.reason["case01"]) == {""}
    cropped = scene(0).copy()
    cropped[:, :, :2] = 0
    expected = pm.evaluate(reference=scene(0), prediction=cropped, spacing=SPACING).scores
    assert scores.loc["case00"].pq.astype(float).tolist() == expected.pq.tolist()
    both = panmatch(*arguments, "--resample", "--allow-header-mismatch", "--resume")
    assert both.returncode == 2
    assert "contradict each other" in both.stderr


def test_files_without_a_place_are_not_resampled(tmp_path: Path) -> None:
    for side, n in (("ref", 8), ("pred", 4)):
        (tmp_path / side).mkdir()
        np.save(tmp_path / side / "a.npy", np.ones((n, n), np.uint8))
    arguments = ["evaluate", tmp_path / "ref", tmp_path / "pred", "-o", tmp_path / "out"]
    plain = panmatch(*arguments)
    assert "--resample" not in plain.stdout
    done = panmatch(*arguments, "--resample")
    assert done.returncode == 1
    assert "does not say where its voxels are" in done.stdout


def test_outputs_for_others_and_maps_are_written_on_request(tmp_path: Path) -> None:
    references, fold = make_nnunet(tmp_path)
    arguments = ["evaluate", references, fold, "-o", tmp_path / "out", "-j", 2,
                 "--dataset-json", references.parent / "dataset.json"]  # fmt: skip
    done = panmatch(*arguments, "--also", "summary.json", "--also", "metrics.json", "--maps")
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert list(summary["mean"]) == ["1", "2", "(1, 2)"]
    assert len(summary["metric_per_case"]) == 2
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert set(metrics["aggregates"]) >= {"liver", "lesion", "organ", "mean_of_classes"}
    assert (tmp_path / "out" / "maps" / "fold_0" / "liver_001.lesion.nii.gz").exists()
    unknown = panmatch(*arguments, "--also", "summary", "--resume")
    assert unknown.returncode == 2
    assert "--also" in unknown.stderr


def test_a_command_whose_cases_all_failed_is_simply_repeated(tmp_path: Path) -> None:
    make_folders(tmp_path, 1)
    arguments = ["evaluate", tmp_path / "ref", tmp_path / "model", "-o", tmp_path / "out"]
    prediction = tmp_path / "model" / "case00.nii.gz"
    good = prediction.read_bytes()
    prediction.write_bytes(b"broken")
    assert panmatch(*arguments).returncode == 1
    prediction.write_bytes(good)
    assert panmatch(*arguments).returncode == 0
    again = panmatch(*arguments)
    assert again.returncode == 2
    assert "--resume" in again.stderr
