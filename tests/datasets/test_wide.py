"""One row per case in panoptica's columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panmatch.datasets import DatasetPaths, Job, compare_files
from panmatch.evaluation import Result
from panmatch.spec import as_spec, panoptica_columns
from tests.datasets.folders import make_folders, run

# Object 1 loses a voxel of four, object 2 is missed, prediction 3 is spurious.
REFERENCE = np.array([1, 1, 1, 1, 0, 2, 2, 0, 0, 0])
PREDICTION = np.array([1, 1, 1, 0, 0, 0, 0, 0, 3, 0])
NOTHING = np.zeros(10, np.int64)
ONE: dict[str, Any] = {"matching": ["one-to-one"], "thresholds": [0.5], "metrics": ["iou", "dice"]}


def evaluated(folder: Path, cases: dict[str, tuple[Any, Any]], **spec: Any) -> Result:
    """Evaluate arrays, and write ``wide.tsv`` to the folder ``out``."""
    for name, (reference, prediction) in cases.items():
        for side, labels in (("ref", reference), ("net", prediction)):
            (folder / side).mkdir(parents=True, exist_ok=True)
            np.save(folder / side / f"{name}.npy", labels)
    job = Job(as_spec({**ONE, **spec}).canonical())
    paths = DatasetPaths(folder / "ref", {"net": folder / "net"})
    return run(paths, folder / "out", job=job, also=("wide.tsv",), overwrite=True)


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, sep="\t", index_col="subject_name")


def test_values_by_hand_are_in_the_columns_of_panoptica(tmp_path: Path) -> None:
    evaluated(tmp_path, {"a": (REFERENCE, PREDICTION)}, whole=["dice"])
    found = read(tmp_path / "out" / "wide.tsv").loc["a"].to_dict()
    expected = {
        "n_ref_instances": 2, "n_pred_instances": 2, "tp": 1, "fp": 1, "fn": 1,
        "prec": 0.5, "rec": 0.5, "rq": 0.5, "sq": 0.75, "sq_std": 0, "pq": 0.375,
        "sq_dsc": 6 / 7, "sq_dsc_std": 0, "pq_dsc": 3 / 7,
        "instance_voxel_count_ref": 4, "instance_volume_ref": 4,
        "global_bin_volume_pred": 4, "global_bin_volume_ref": 6, "global_bin_dsc": 0.6,
    }  # fmt: skip
    assert list(found) == [f"ungrouped-{name}" for name in expected]
    assert list(found.values()) == pytest.approx(list(expected.values()), rel=1e-12)


def test_what_is_undefined_is_empty_and_whole_numbers_have_a_point(tmp_path: Path) -> None:
    evaluated(tmp_path, {"a": (NOTHING, NOTHING), "b": (REFERENCE, NOTHING)})
    header, first, second = (tmp_path / "out" / "wide.tsv").read_text().splitlines()
    rows = zip(first.split("\t"), second.split("\t"), strict=True)
    cells = dict(zip(header.split("\t"), rows, strict=True))
    assert cells["subject_name"] == ("a", "b")
    assert cells["ungrouped-n_ref_instances"] == ("0.0", "2.0")
    assert cells["ungrouped-pq"] == ("", "0.0")
    assert cells["ungrouped-prec"] == ("", "")
    assert cells["ungrouped-sq_std"] == ("", "")
    assert not {"nan", "inf"} & {value for pair in cells.values() for value in pair}


def test_every_group_has_the_same_columns(tmp_path: Path) -> None:
    classes = {"Left-1": {"labels": 1}, "right": {"labels": [2, 3]}, "never": {"labels": 7}}
    evaluated(tmp_path, {"a": (REFERENCE, PREDICTION)}, classes=classes, whole=["iou"])
    found = read(tmp_path / "out" / "wide.tsv")
    groups: dict[str, list[str]] = {}
    for name in found:
        group, _, metric = str(name).partition("-")
        groups.setdefault(group, []).append(metric)
    assert list(groups) == ["left_1", "right", "never"]
    assert groups["left_1"] == groups["right"] == groups["never"]
    assert found.loc["a", "left_1-pq"] == 0.75
    assert found.loc["a", "right-fp"] == 1
    assert np.isnan(found.loc["a", "never-pq"])


def test_metrics_that_panoptica_defines_otherwise_do_not_take_its_names(tmp_path: Path) -> None:
    cases = {"a": (np.pad(REFERENCE[None], 1), np.pad(PREDICTION[None], 1))}
    evaluated(tmp_path, cases, metrics=["hd95", "assd"])
    assert not [
        name for name in read(tmp_path / "out" / "wide.tsv") if "hd" in name or "ss" in name
    ]
    result = evaluated(tmp_path, cases, metrics=["hd95_pooled", "masd"])
    found = read(tmp_path / "out" / "wide.tsv").loc["a"]
    scores = result.scores.iloc[0]
    assert found["ungrouped-sq_hd95"] == scores.sq_hd95_pooled
    assert found["ungrouped-sq_assd"] == scores.sq_masd


def test_predictions_of_several_references_are_not_counted_as_panoptica_counts(
    tmp_path: Path,
) -> None:
    for matcher, there in (("one-to-many", False), ("many-to-one", True)):
        evaluated(tmp_path, {"a": (REFERENCE, PREDICTION)}, matching=[matcher])
        columns = read(tmp_path / "out" / "wide.tsv").columns
        assert ("ungrouped-n_pred_instances" in columns) == there


def test_names_are_no_formulas_and_are_read_back(tmp_path: Path) -> None:
    classes = {"=x": {"labels": "all"}, "y": {"labels": 1}}
    evaluated(tmp_path, {"=1+1": (REFERENCE, PREDICTION), "b": (REFERENCE, REFERENCE)},
              classes=classes)  # fmt: skip
    header, *rows = (tmp_path / "out" / "wide.tsv").read_text().splitlines()
    assert header.split("\t")[1].startswith("'=x-n_ref")
    assert rows[0].startswith("'=1+1\t")
    other = tmp_path / "other.tsv"
    other.write_text("subject_name\t=x-pq\n=1+1\t0.5\nb\t0.25\n")
    found = compare_files([tmp_path / "out" / "wide.tsv", other])
    assert found.cases == ("=1+1", "b")
    assert found.headline_class == "=x"


def test_several_files_are_named_after_their_differences(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 2, ("a", "b"))
    out = tmp_path / "out"

    def files(**spec: Any) -> set[str]:
        job = Job(as_spec({**ONE, **spec}).canonical())
        run(paths, out, job=job, also=("wide.tsv",), overwrite=True)
        return {path.relative_to(out).as_posix() for path in out.rglob("*.tsv")}

    assert files(thresholds=[0.25, 0.5]) == {
        "wide/a_at_25.tsv", "wide/a_at_50.tsv", "wide/b_at_25.tsv", "wide/b_at_50.tsv"
    }  # fmt: skip
    both = files(matching=["one-to-one", "many-to-one"])  # and those from before are gone
    assert both == {f"wide/{m}_{s}-to-one.tsv" for m in "ab" for s in ("one", "many")}
    assert files() == {"wide/a.tsv", "wide/b.tsv"}
    single = DatasetPaths(paths.reference, {"a": paths.predictions["a"]})
    job = Job(as_spec(ONE).canonical())
    result = run(single, out, job=job, also=("wide.tsv",), overwrite=True)
    assert [path.name for path in out.rglob("*.tsv")] == ["wide.tsv"]
    assert read(out / "wide.tsv")["ungrouped-pq"].tolist() == result.scores.pq.tolist()
    run(single, tmp_path / "plain", job=job)
    assert not list((tmp_path / "plain").rglob("*.tsv"))


def test_the_file_of_a_setting_has_the_scores_of_that_setting(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 3)
    job = Job(as_spec({"metrics": ["iou", "dice"]}).canonical())
    scores = run(paths, tmp_path / "out", job=job, also=("wide.tsv",)).scores
    for strategy in ("one-to-one", "many-to-one", "one-to-many"):
        for threshold, word in ((0.1, "at_10"), (0.25, "at_25"), (0.5, "at_50")):
            found = read(tmp_path / "out" / "wide" / f"{strategy}_{word}.tsv")
            mine = scores[(scores.strategy == strategy) & (scores.threshold == threshold)]
            for column in panoptica_columns().values():
                if column.ours in mine:
                    assert found[f"ungrouped-{column.name}"].tolist() == pytest.approx(
                        mine[column.ours].tolist(), nan_ok=True
                    )
