"""What others read: nnU-Net's summary, grand-challenge's metrics, and maps for viewers."""

from __future__ import annotations

import json
import math
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt
import pytest

from panmatch.datasets import DatasetPaths, Job, RunOptions, pair, run_dataset
from panmatch.datasets._other_outputs import file_words
from panmatch.evaluation import Images, evaluate_case, mistake_maps
from panmatch.formats import read_labels
from panmatch.spec import as_spec
from tests.datasets import folders
from tests.datasets.folders import make_folders, run, save_nifti
from tests.datasets.made_up import CASES, SPACING, make_nnunet, make_tiffs, organ

SPEC = as_spec(
    {
        "classes": {
            "liver": {"labels": 1, "instances": "components"},
            "lesion": {"labels": 2, "instances": "components"},
            "organ": {"labels": [1, 2], "instances": "components"},
        },
        "void": 9,
        "metrics": ["iou", "hd95"],
    }
)
JOB = Job(SPEC.canonical())
REGIONS = {"1": (1,), "2": (2,), "(1, 2)": (1, 2)}


def nnunet_paths(folder: Path) -> DatasetPaths:
    references, fold = make_nnunet(folder)
    reference = nibabel.load(references / f"{CASES[0]}.nii.gz").get_fdata().astype(np.uint8)  # type: ignore[attr-defined]
    reference[:, :3] = 9  # void
    save_nifti(references / f"{CASES[0]}.nii.gz", reference, SPACING)
    without = np.where(organ(1) == 2, 1, organ(1)).astype(np.uint8)
    save_nifti(references / f"{CASES[1]}.nii.gz", without, SPACING)
    save_nifti(fold / "validation" / f"{CASES[1]}.nii.gz", without, SPACING)
    return DatasetPaths(references, {"net": fold})


def expected_metrics(
    reference: npt.NDArray[np.integer], prediction: npt.NDArray[np.integer], region: tuple[int, ...]
) -> dict[str, float]:
    """Count voxel by voxel, as nnU-Net's evaluation does."""
    use = reference != 9
    ref, pred = np.isin(reference, region) & use, np.isin(prediction, region) & use
    tp, fp, fn = (ref & pred).sum(), (~ref & pred).sum(), (ref & ~pred).sum()
    either = tp + fp + fn
    return {
        "Dice": 2 * tp / (2 * tp + fp + fn) if either else math.nan,
        "IoU": tp / either if either else math.nan,
        "TP": tp, "FP": fp, "FN": fn, "TN": (~ref & ~pred & use).sum(),
        "n_pred": pred.sum(), "n_ref": ref.sum(),
    }  # fmt: skip


def test_the_summary_of_nnunet_counts_voxels_of_every_class_as_one_mask(tmp_path: Path) -> None:
    paths = nnunet_paths(tmp_path)
    run(paths, tmp_path / "out", job=JOB, also=("summary.json",))
    summary: dict[str, Any] = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert list(summary) == ["foreground_mean", "mean", "metric_per_case"]
    assert len(summary["metric_per_case"]) == 2
    values: dict[str, list[dict[str, float]]] = {key: [] for key in REGIONS}
    for one in summary["metric_per_case"]:
        images = [read_labels(one[name]).labels for name in ("reference_file", "prediction_file")]
        assert list(one["metrics"]) == list(REGIONS)
        for key, region in REGIONS.items():
            expected = expected_metrics(images[0], images[1], region)
            assert one["metrics"][key] == pytest.approx(expected, nan_ok=True, rel=1e-12)
            values[key].append(expected)
    assert math.isnan(summary["metric_per_case"][1]["metrics"]["2"]["Dice"])
    for key, rows in values.items():
        means = {name: np.nanmean([row[name] for row in rows]) for name in rows[0]}
        assert summary["mean"][key] == pytest.approx(means)
    for name, value in summary["foreground_mean"].items():
        assert value == pytest.approx(np.mean([one[name] for one in summary["mean"].values()]))


def test_the_worst_prediction_has_a_dice_of_zero_where_there_is_nothing(tmp_path: Path) -> None:
    paths = nnunet_paths(tmp_path)
    (tmp_path / "fewer").mkdir()
    for case in CASES[:2]:
        labels = organ(0) if case == CASES[0] else np.where(organ(1) == 2, 1, organ(1))
        save_nifti(tmp_path / "refs" / f"{case}.nii.gz", labels, SPACING)
    save_nifti(tmp_path / "fewer" / f"{CASES[0]}.nii.gz", organ(0), SPACING)
    paths = DatasetPaths(tmp_path / "refs", {"net": tmp_path / "fewer"})
    for missing, dice in (("empty", math.nan), ("worst", 0.0)):
        job = replace(JOB, missing=missing)  # type: ignore[arg-type]
        run(paths, tmp_path / missing, job=job, also=("summary.json",))
        summary = json.loads((tmp_path / missing / "summary.json").read_text())
        found = summary["metric_per_case"][1]
        assert found["metrics"]["2"]["Dice"] == pytest.approx(dice, nan_ok=True)
        assert found["metrics"]["1"]["Dice"] == 0
        assert found["prediction_file"] is None


def test_metrics_of_a_challenge_have_cases_and_aggregates_without_nan(tmp_path: Path) -> None:
    result = run(nnunet_paths(tmp_path), tmp_path / "out", job=JOB, also=("metrics.json",))
    text = (tmp_path / "out" / "metrics.json").read_text()
    assert "NaN" not in text
    metrics = json.loads(text)
    assert list(metrics) == ["case", "aggregates"]
    assert [one["case"] for one in metrics["case"]] == list(CASES)
    assert [one["status"] for one in metrics["case"]] == ["ok"] * 2 + ["skipped"] * 3
    averages = {
        (a.setting.class_name, a.setting.strategy, a.threshold, a.score.name, a.averaging): a
        for a in result.average_scores
    }
    lesion = metrics["aggregates"]["lesion"]["one-to-one"]
    pooled = averages["lesion", "one-to-one", 0.25, "pq", "pooled"].value
    assert lesion["at_25"]["pq"]["pooled"] == pooled
    mean = averages["lesion", "one-to-one", 0.25, "pq", "mean of cases"].value
    assert lesion["at_25"]["pq"]["mean_of_cases"] == mean
    area = averages["lesion", "one-to-one", None, "autc", "pooled"].value
    assert lesion["autc"]["pooled"] == area
    one = metrics["case"][0]["scores"]["lesion"]["one-to-one"]
    entry = next(e for e in result.cases[0].entries if e.setting.class_name == "lesion")
    assert one["at_10"]["fn"] == entry.level(0.1).tally.fn
    assert metrics["case"][1]["scores"]["lesion"]["one-to-one"]["at_10"]["pq"] is None


def test_several_models_have_a_file_each_and_none_is_written_unasked(tmp_path: Path) -> None:
    paths = nnunet_paths(tmp_path)
    both = replace(paths, predictions={"a": paths.predictions["net"], "b": paths.reference})
    run(both, tmp_path / "out", job=JOB, also=("summary.json", "metrics.json"))
    written = {path.name for path in (tmp_path / "out").glob("*.json")}
    assert written == {"run.json", "summary_a.json", "summary_b.json", "metrics_a.json",
                       "metrics_b.json"}  # fmt: skip
    run(paths, tmp_path / "plain", job=JOB)
    assert {path.name for path in (tmp_path / "plain").glob("*.json")} == {"run.json"}
    assert not (tmp_path / "plain" / "maps").exists()


REFERENCE = np.array([[1, 1, 1, 1, 0, 2, 2, 0, 3, 3, 4, 4, 0, 5, 5, 5, 5, 0, 0]])
PREDICTION = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 5, 5, 6, 6, 0, 7]])
CODES = np.array([[1, 1, 1, 1, 0, 2, 2, 0, 5, 5, 5, 5, 5, 4, 4, 4, 4, 0, 3]])


def test_a_map_has_the_codes_of_its_legend() -> None:
    spec = as_spec({"matching": "one-to-one", "thresholds": [0.6, 0.9]})
    sides = Images(REFERENCE), Images(PREDICTION)
    result = evaluate_case(*sides, spec)
    (found,) = mistake_maps(*sides, spec, result).values()
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, CODES)


def test_matched_is_what_the_first_matcher_matches_at_its_lowest_threshold() -> None:
    spec = as_spec({"matching": ["one-to-one", "many-to-one"], "thresholds": [0.75, 0.8]})
    sides = Images(REFERENCE[:, :8]), Images(PREDICTION[:, :8])
    (found,) = mistake_maps(*sides, spec, evaluate_case(*sides, spec)).values()
    assert found.tolist() == [[2, 2, 2, 2, 0, 2, 2, 0]]  # IoU is 3/4, which is not above 0.75


def test_maps_are_nifti_files_with_the_affine_of_the_reference_or_tiffs(tmp_path: Path) -> None:
    paths = nnunet_paths(tmp_path)
    reference = nibabel.load(paths.reference / f"{CASES[0]}.nii.gz")
    result = run(paths, tmp_path / "out", job=JOB, maps=True)
    folder = tmp_path / "out" / "maps"
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*")) == [
        "legend.txt",
        *(
            f"net/{case}.{name}.nii.gz"
            for case in CASES[:2]
            for name in ("lesion", "liver", "organ")
        ),
    ]
    image = nibabel.load(folder / "net" / f"{CASES[0]}.lesion.nii.gz")
    np.testing.assert_array_equal(image.affine, reference.affine)  # type: ignore[attr-defined]
    assert image.get_data_dtype() == np.uint8  # type: ignore[attr-defined]
    codes = np.asarray(image.dataobj)  # type: ignore[attr-defined]
    labels = np.asarray(reference.dataobj)  # type: ignore[attr-defined]
    entry = next(e for e in result.cases[0].entries if e.setting.class_name == "lesion")
    assert len(entry.diagnosis.missed) == 1
    assert np.count_nonzero(codes == 2) == np.count_nonzero(labels[3:6, 4:7, 2:4] == 2)
    legend = (folder / "legend.txt").read_text()
    for code, name in enumerate(("matched", "missed", "spurious", "split", "merged"), start=1):
        assert f'"{name}: ' in legend.splitlines()[code + 2]
        assert legend.splitlines()[code + 2].split()[0] == str(code)
    ref, pred = make_tiffs(tmp_path / "tiffs")
    cells = Job(as_spec("cells").canonical())
    run(DatasetPaths(ref, {"m": pred}), tmp_path / "cells", job=cells, maps=True)
    tiff = read_labels(tmp_path / "cells" / "maps" / "m" / "cells_0.tif").labels
    np.testing.assert_array_equal(tiff > 0, (organ(0) + organ(0, moved=1))[:, :, 2] > 0)


def test_maps_are_drawn_for_results_that_are_there_already(tmp_path: Path) -> None:
    paths = nnunet_paths(tmp_path)
    before = run(paths, tmp_path / "out", job=JOB)
    after = run(paths, tmp_path / "out", job=JOB, maps=True, resume=True)
    assert len(list((tmp_path / "out" / "maps" / "net").iterdir())) == 6
    assert after.to_json() == before.to_json()


NAMES = (
    "p7", "P7", "site 1/p7", "../p7", "/p7", "/etc/passwd", "a/./b", "a//b", "a/../b", "a/b", "",
    ".", "..", "...", " ", "a\nb", "a:b", "con|", "con", "NUL", "com1.left", "console", "x" * 300,
    "x" * 301, "名" * 200, "e\u0301", "\u00e9", "caf\udce9", "/" * 20, "a/" * 20 + "b",
)  # fmt: skip


@pytest.mark.parametrize("folders", [True, False])
def test_names_of_files_are_distinct_short_and_stay_in_their_folder(
    tmp_path: Path, folders: bool
) -> None:
    words = file_words(NAMES, folders=folders)
    assert list(words) == list(NAMES)
    places = [(tmp_path / f"{word}.nii.gz").resolve() for word in words.values()]
    assert all(place.is_relative_to(tmp_path.resolve()) for place in places)
    devices = {"con", "nul", "com1"}
    assert not [one for one in places if one.name.split(".")[0].casefold() in devices]
    alike = {unicodedata.normalize("NFC", str(place)).casefold() for place in places}
    assert len(alike) == len(NAMES)
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("the disk accepts it")
    assert words["p7"].startswith("p7-")  # its twin is P7
    assert words["a/b"] == ("a/b" if folders else words["a/b"])


def test_models_that_look_alike_in_files_have_maps_and_summaries_of_their_own(
    tmp_path: Path,
) -> None:
    paths = make_folders(tmp_path, 1, models=("a b", "a_b"))
    options = RunOptions(maps=True, also=("summary.json",))
    assert not run_dataset(pair(paths), folders.JOB, tmp_path / "out", options).failures
    assert len(list((tmp_path / "out" / "maps").rglob("*.nii.gz"))) == 2
    assert len(list((tmp_path / "out").glob("summary_*.json"))) == 2
