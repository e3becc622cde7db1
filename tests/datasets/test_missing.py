"""References without prediction, and predictions without reference."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from panmatch import phantoms
from panmatch.datasets import (
    Job,
    Missing,
    Outcome,
    coco_cases,
    compare,
    find_pairs,
    read_manifest,
    summary_table,
)
from panmatch.datasets import run_case as run_one
from panmatch.evaluation import CaseResult, Result
from panmatch.spec import as_spec
from tests.datasets.folders import SPACING, make_folders, paths_in, run, save_nifti, scene
from tests.datasets.made_up import make_nnunet

SPEC = as_spec(
    {
        "classes": {"cell": {"labels": "1-9"}, "vessel": {"labels": 10, "instances": "components"}},
        "metrics": ["dice", "hd95"],
        "matching": ["one-to-one", "union"],
    }
)
JOB = Job(SPEC.canonical())


def make_incomplete(folder: Path, n: int = 3) -> None:
    """Write n cases, of which case01 has no prediction, and an extra prediction."""
    make_folders(folder, n)
    (folder / "model" / "case01.nii.gz").rename(folder / "model" / "other.nii.gz")


def statuses(result: Result) -> dict[str, str]:
    return {case.case: case.status for case in result.cases}


def by_name(result: Result) -> dict[str, CaseResult]:
    return {case.case: case for case in result.cases}


def test_by_default_a_missing_prediction_fails_its_case_and_names_the_option(
    tmp_path: Path,
) -> None:
    make_incomplete(tmp_path)
    result = run(paths_in(tmp_path), tmp_path / "out", job=JOB)
    assert statuses(result) == {
        "case00": "ok", "case01": "failed", "case02": "ok", "other": "extra"
    }  # fmt: skip
    reason = by_name(result)["case01"].reason
    assert reason.startswith("there is no prediction for '")
    assert reason.endswith(
        "use --missing to skip it, or to count it as empty or as the worst prediction"
    )


def test_a_skipped_case_and_an_extra_prediction_are_rows_without_scores(tmp_path: Path) -> None:
    make_incomplete(tmp_path)
    result = run(paths_in(tmp_path), tmp_path / "out", job=replace(JOB, missing="skip"))
    assert not result.failures
    scores = result.scores.set_index("case")
    for case, status in (("case01", "skipped"), ("other", "extra")):
        assert scores.loc[case, "status"] == status
        assert np.isnan(scores.loc[case, "pq"])
        assert scores.loc[case, "model"] == "model"
    assert scores.loc["case01", "reason"].startswith("there is no prediction for ")
    assert scores.loc["other", "reason"].startswith("there is no reference for ")
    cells = result.averages[result.averages["class"] == "cell"]
    assert set(cells.cases + cells.skipped) == {2}
    assert result.summary().startswith("2 cases ")
    assert repr(result) == "Result(2 cases)"


def test_an_empty_prediction_misses_every_object(tmp_path: Path) -> None:
    make_incomplete(tmp_path)
    result = run(paths_in(tmp_path), tmp_path / "out", job=replace(JOB, missing="empty"))
    save_nifti(tmp_path / "model" / "case01.nii.gz", np.zeros_like(scene(1)), SPACING)
    expected = run(paths_in(tmp_path), tmp_path / "expected", job=JOB)
    found, wanted = by_name(result)["case01"], by_name(expected)["case01"]
    assert found.to_dict() == wanted.to_dict() | {
        "reason": "no prediction: counted as an empty one (--missing empty)"
    }
    rows = result.scores[result.scores.case == "case01"]
    assert set(rows.reason) == {found.reason}
    assert rows[rows["class"] == "vessel"].status.eq("empty").all()


def test_the_worst_prediction_is_never_undefined_nor_good(tmp_path: Path) -> None:
    """The vessel is nowhere: an empty prediction of it is undefined, and could be right."""
    make_incomplete(tmp_path)
    result = run(paths_in(tmp_path), tmp_path / "out", job=replace(JOB, missing="worst"))
    found = by_name(result)["case01"]
    n_cells = len(np.unique(scene(1))) - 1
    for entry in found.entries:
        cell = entry.setting.class_name == "cell"
        for level in entry.levels:
            tally = level.tally
            assert (tally.tp, tally.fp, tally.fn) == ((0, 0, n_cells) if cell else (0, 1, 0))
            assert (tally.pq, tally.precision if not cell else tally.recall) == (0, 0)
            diagonal = float(np.linalg.norm(np.multiply(scene(1).shape, SPACING)))
            assert np.allclose(level.measurements.columns["hd95"], diagonal)
            assert set(level.measurements.columns["dice"]) == {0.0}
        assert entry.curve is not None
        assert entry.curve.autc == 0
        assert entry.curve.at(0.0) == entry.levels[0].tally
    settings = [entry.setting for entry in by_name(result)["case00"].entries]
    assert [entry.setting for entry in found.entries] == settings
    again = CaseResult.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.to_dict() == found.to_dict()
    added = result.series[-1].counts[0.5].sum().tallies.tally()
    assert added == sum(
        (case.entries[-1].level(0.5).tally for case in result.evaluated("model")),
    )


def test_the_worst_prediction_ignores_void_and_small_objects(tmp_path: Path) -> None:
    """Most of the image is void, and a class keeps large objects only: both forgive nothing."""
    make_folders(tmp_path, 2)
    labels = np.zeros((18, 20, 14), np.uint8)
    labels[1:] = 99
    save_nifti(tmp_path / "ref" / "case01.nii.gz", labels, SPACING)
    (tmp_path / "model" / "case01.nii.gz").unlink()
    spec = as_spec({"classes": {"cell": {"labels": "1-9", "min_voxels": 50}}, "void": 99})
    job = Job(spec.canonical(), missing="worst")
    found = by_name(run(paths_in(tmp_path), tmp_path / "out", job=job))["case01"]
    assert {level.tally.fp for entry in found.entries for level in entry.levels} == {1}


@pytest.mark.parametrize("shape", [(18, 20, 14), (5, 5)])
def test_the_worst_prediction_of_any_label_is_one_object(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    for name, labels in {"ref/a": np.zeros(shape), "ref/b": np.ones(shape), "model/b": np.ones(
        shape)}.items():  # fmt: skip
        path = tmp_path / f"{name}.npy"
        path.parent.mkdir(exist_ok=True)
        np.save(path, labels.astype(np.uint8))
    spec = as_spec({"void": 1, "background": 2, "thresholds": 0.5})
    found = by_name(
        run(paths_in(tmp_path), tmp_path / "o", job=Job(spec.canonical(), missing="worst"))
    )
    (level,) = found["a"].entries[0].levels
    assert (level.tally.fp, level.measurements.columns["pred_ids"].tolist()) == (1, ["3"])


def test_another_decision_evaluates_only_what_is_missing(tmp_path: Path) -> None:
    make_incomplete(tmp_path)
    paths, out = paths_in(tmp_path), tmp_path / "out"
    run(paths, out, job=replace(JOB, missing="skip"))
    for decision, n_new in (("empty", 1), ("worst", 1), ("worst", 0)):
        seen = list[Outcome]()
        job = replace(JOB, missing=decision)  # type: ignore[arg-type]
        run(paths, out, job=job, resume=True, seen=seen)
        new = [one.case.name for one in seen if one.result and one.result.status == "ok"]
        assert new == ["case01"] * n_new


def test_a_fold_of_nnunet_skips_the_cases_of_other_folds_unless_told_otherwise(
    tmp_path: Path,
) -> None:
    references, fold = make_nnunet(tmp_path)
    paths = replace(paths_in(tmp_path), reference=references, predictions={"net": fold})
    job = Job(as_spec("binary-components").canonical())
    result = run(paths, tmp_path / "out", job=job)
    assert list(statuses(result).values()) == ["ok"] * 2 + ["skipped"] * 3
    result = run(paths, tmp_path / "strict", job=replace(job, missing="fail"))
    assert list(statuses(result).values()) == ["ok"] * 2 + ["failed"] * 3


def test_notices_name_who_is_missing_and_what_is_extra(tmp_path: Path) -> None:
    from panmatch.datasets import listed_notices

    make_incomplete(tmp_path)
    run(paths_in(tmp_path), tmp_path / "out", job=replace(JOB, missing="skip"))
    texts = {notice.kind: notice for notice in listed_notices(tmp_path / "out")}
    missing, extra = texts["missing-predictions"], texts["extra-predictions"]
    assert missing.text == (
        "1 of 3 references has no prediction (case01): left out (--missing skip)."
    )
    assert (missing.cases, missing.model) == (("case01",), "model")
    assert extra.text == "1 prediction without a reference was left out (other)."
    run(paths_in(tmp_path), tmp_path / "worst", job=replace(JOB, missing="worst"))
    (missing,) = [one for one in listed_notices(tmp_path / "worst") if "missing" in one.kind]
    assert missing.text.endswith("(case01): counted as the worst one (--missing worst).")


def test_a_comparison_names_skipped_cases_but_not_extra_predictions(tmp_path: Path) -> None:
    make_folders(tmp_path, 3, models=("a", "b"))
    (tmp_path / "a" / "case01.nii.gz").rename(tmp_path / "a" / "other.nii.gz")
    paths = paths_in(tmp_path, ("a", "b"))
    result = run(paths, tmp_path / "out", job=replace(JOB, missing="skip"))
    assert compare(result).left_out == {"a": ("case01",), "b": ()}


def test_a_manifest_may_leave_a_prediction_empty(tmp_path: Path) -> None:
    make_folders(tmp_path, 1)
    manifest = tmp_path / "cases.csv"
    manifest.write_text("case,reference,prediction\na,ref/case00.nii.gz,\n")
    (case,) = read_manifest(manifest)
    assert run_one(JOB, case).result.reason.startswith(  # type: ignore[union-attr]
        f"{str(manifest)!r}, line 2, names no prediction: use --missing"
    )
    found = run_one(replace(JOB, missing="empty"), case).result
    assert found is not None
    assert found.entries[0].levels[0].tally.fn == len(np.unique(scene(0))) - 1


def test_coco_files_have_missing_and_extra_images_too(tmp_path: Path) -> None:
    ids = np.zeros((4, 6, 3), np.uint8)
    ids[1:3, 1:4, 0] = 7
    for side, images in (("ref", (1, 2)), ("pred", (2, 3))):
        (tmp_path / side).mkdir()
        for image in images:
            Image.fromarray(ids).save(tmp_path / side / f"{image}.png")
        segments = [{"id": 7, "category_id": 1, "iscrowd": 0}]
        content = {
            "annotations": [
                {"image_id": image, "file_name": f"{image}.png", "segments_info": segments}
                for image in images
            ],
            "categories": [{"id": 1, "name": "cell", "isthing": 1}],
        }
        (tmp_path / f"{side}.json").write_text(json.dumps(content))
    cases = coco_cases(tmp_path / "ref.json", {"net": tmp_path / "pred.json"})
    job = Job(as_spec("coco").canonical(), missing="empty")
    found = {case.name: run_one(job, case).result for case in cases}
    assert {name: one.status for name, one in found.items() if one} == {
        "1": "ok", "2": "ok", "3": "extra"
    }  # fmt: skip
    assert found["1"] is not None
    tally = found["1"].entries[0].levels[0].tally
    assert (tally.tp, tally.fp, tally.fn) == (0, 0, 1)


def test_pairing_says_nothing_of_clean_folders(tmp_path: Path) -> None:
    make_folders(tmp_path, 1)
    assert find_pairs(paths_in(tmp_path)).notices == ()


@pytest.mark.parametrize("missing", ["skip", "empty", "worst"])
def test_missing_predictions_count_in_means_ranks_and_tests(
    tmp_path: Path, missing: Missing
) -> None:
    """Model b has no prediction for its worst cases, and so looks better if they are skipped."""
    models = ("a", "b")
    for at in range(8):
        reference = scene(at)
        save_nifti(tmp_path / "ref" / f"case{at:02}.nii.gz", reference, SPACING)
        for model in models:
            prediction = phantoms.miss(reference, ids=[1, 2] if model == "a" else [1])
            if model == "a" or at > 1:
                save_nifti(tmp_path / model / f"case{at:02}.nii.gz", prediction, SPACING)
    job = replace(JOB, missing=missing)
    result = run(paths_in(tmp_path, models), tmp_path / "out", job=job)
    found = compare(result, ["pq", "sq_hd95"])
    pq, hd95 = (
        next(key for key in found.values
             if (key.setting.class_name, key.score.name, key.threshold) == ("cell", name, 0.5))
        for name in ("pq", "sq_hd95")
    )  # fmt: skip
    test = next(one.test for one in found.differences if one.criterion == pq)
    means = {one.model: one.value for one in found.rankings[pq]}
    scores = result.scores.query("threshold == 0.5 and strategy == 'one-to-one'")
    cells = scores[scores["class"] == "cell"].set_index(["model", "case"]).pq
    assert means["a"] > 0
    if missing == "skip":
        assert found.left_out == {"a": (), "b": ("case00", "case01")}
        assert (test.n, test.losses) == (6, 6)
        assert found.rankings[pq][0].model == "b"
        return
    assert test.n == len(found.cases) == 8
    assert (test.wins, test.losses) == (2, 6)
    assert found.values[pq][:2, 1].tolist() == [0.0, 0.0]
    assert means["b"] == pytest.approx(cells["b"].sum() / 8)
    assert cells["b"].iloc[:2].tolist() == [0.0, 0.0]
    diagonal = float(np.linalg.norm(np.multiply(scene(0).shape, SPACING)))
    if missing == "empty":
        assert np.isnan(found.values[hd95][:2, 1]).all()
    else:
        assert found.values[hd95][:2, 1].tolist() == pytest.approx([diagonal] * 2)
        row = summary_table(result).frame().query(
            "measure == 'sq_hd95' and model == 'b' and averaging == 'mean of cases' "
            "and strategy == 'one-to-one' and threshold == 0.5"
        ).set_index("class")  # fmt: skip
        assert row.value["cell"] == pytest.approx(2 * diagonal / 8)
        assert found.rankings[hd95][0].model == "a"
