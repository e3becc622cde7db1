"""Folders of label files in one call: the numbers of a run, and errors that name the argument."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import load_run
from panmatch.errors import CallError, OptionError
from tests.datasets.folders import make_folders, run, tables

SPEC = {"preset": "cells", "metrics": ["dice", "hd95"]}  # that of `folders.JOB`


def test_one_call_writes_the_tables_of_a_run(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 3, ("a", "b"))
    run(paths, tmp_path / "expected")
    result = pm.evaluate_folders(
        reference=str(paths.reference),
        prediction=paths.predictions,
        spec=SPEC,
        out=tmp_path / "out",
        workers=2,
    )
    assert result.models == ("a", "b")
    assert tables(tmp_path / "out") == tables(tmp_path / "expected")


def test_a_second_call_evaluates_what_changed_and_forgets_what_is_gone(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 3)
    folders: dict[str, Any] = {
        "reference": paths.reference,
        "prediction": paths.predictions["model"],
        "out": tmp_path / "out",
    }
    before = pm.evaluate_folders(**folders).scores
    first, second, third = sorted(paths.predictions["model"].iterdir())
    first.write_bytes((paths.reference / first.name).read_bytes())  # now without mistakes
    third.unlink()
    (paths.reference / third.name).unlink()
    after = pm.evaluate_folders(**folders).scores
    pq = {name: rows.pq.tolist() for name, rows in after.groupby("case")}
    assert pq["case00"] == [1.0] * 9
    assert pq["case01"] == before[before.case == "case01"].pq.tolist()
    assert list(pq) == ["case00", "case01"]
    assert [case.case for case in load_run(tmp_path / "out").cases] == ["case00", "case01"]
    assert second.exists()


def test_a_folder_names_the_model_and_a_file_does_not(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 1)
    folder = paths.predictions["model"]
    both: dict[str, Any] = {
        "reference": paths.reference,
        "prediction": folder,
        "out": tmp_path / "out",
    }
    assert pm.evaluate_folders(**both).models == ("model",)
    files: dict[str, Any] = {
        "reference": paths.reference / "case00.nii.gz",
        "prediction": folder / "case00.nii.gz",
    }
    assert pm.evaluate_folders(**files, out=tmp_path / "other").models == ("prediction",)


def test_patterns_pair_names_that_differ(tmp_path: Path) -> None:
    for name, side in {"a_ref.npy": "ref", "a_pred.npy": "pred"}.items():
        (tmp_path / side).mkdir()
        np.save(tmp_path / side / name, np.array([[1, 0, 2]]))
    result = pm.evaluate_folders(
        reference=tmp_path / "ref",
        prediction=tmp_path / "pred",
        patterns=("{case}_ref.npy", "{case}_pred.npy"),
        out=tmp_path / "out",
    )
    assert [(case.case, case.status) for case in result.cases] == [("a", "ok")]


def test_parts_lie_in_folders_of_their_own(tmp_path: Path) -> None:
    images = {
        "ref": [[1, 1, 0, 2]],
        "pred": [[1, 1, 0, 2]],
        "ref_parts": [[1, 2, 0, 1]],
        "pred_parts": [[1, 1, 0, 1]],
    }
    for side, labels in images.items():
        (tmp_path / side).mkdir()
        np.save(tmp_path / side / "a.npy", np.array(labels))
    given: dict[str, Any] = {
        "reference": tmp_path / "ref",
        "prediction": tmp_path / "pred",
        "reference_parts": tmp_path / "ref_parts",
        "spec": {
            "classes": {"cell": {"parts": [1, 2]}},
            "part_background": "none",
            "matching": "one-to-one",
            "thresholds": 0.5,
        },
        "out": tmp_path / "out",
    }
    result = pm.evaluate_folders(**given, prediction_parts=tmp_path / "pred_parts")
    # Of the first cell, part 1 has IoU 1/2 and part 2 none; the second is right.
    assert result.table(["pq", "part_pq"])[["pq", "part_pq"]].to_numpy().tolist() == [[1.0, 0.625]]
    named = pm.evaluate_folders(**given, prediction_parts={"pred": tmp_path / "pred_parts"})
    assert named.table(["part_pq"]).part_pq.tolist() == [0.625]


def test_one_folder_of_parts_cannot_serve_two_models(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 1, ("a", "b"))
    with pytest.raises(OptionError, match="is one folder for the models a, b: pass a mapping"):
        pm.evaluate_folders(
            reference=paths.reference,
            prediction=paths.predictions,
            prediction_parts=tmp_path / "parts",
            out=tmp_path / "out",
        )


def test_sides_are_named_and_workers_counted(tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"write evaluate_folders\(reference=…, prediction=…\)"):
        pm.evaluate_folders(tmp_path, tmp_path)  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="workers=0 is too small: pass 1 or more"):
        pm.evaluate_folders(reference=tmp_path, prediction=tmp_path, out=tmp_path, workers=0)
