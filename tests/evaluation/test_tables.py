"""The instance and curve tables, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.spec import as_spec
from tests.evaluation.by_hand import Row, assert_same, rows_of

NAN = float("nan")

REFERENCE = np.array(
    [
        [1, 1, 1, 1, 0, 2, 2, 0],
        [1, 1, 1, 1, 0, 2, 2, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [4, 4, 0, 0, 0, 0, 0, 0],
    ]
)
PREDICTION = np.array(
    [
        [7, 7, 8, 0, 0, 0, 0, 0],
        [7, 7, 8, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 9, 9],
        [5, 5, 5, 0, 0, 0, 0, 0],
    ]
)


def instances(**content: Any) -> list[Row]:
    spec = as_spec({"thresholds": 0.3, **content})
    found = pm.evaluate(reference=REFERENCE, prediction=PREDICTION, spec=spec, spacing=(2, 0.5))
    return rows_of(found.cases[0], "instances")


def test_a_row_per_reference_and_then_per_false_positive() -> None:
    rows = instances(matching="many-to-one", metrics=["iou", "hd"])
    matched, missed, other, false = rows
    assert_same(
        matched,
        {
            "class": "object",
            "kind": "things",
            "strategy": "many-to-one",
            "solver": "merge",
            "gate": "seed",
            "edge_score": "iou",
            "regions": "",
            "threshold": 0.3,
            "status": "matched",
            "ref_id": 1,
            "pred_ids": "7 8",
            "iou": 0.75,
            "ref_voxels": 8,
            "ref_volume": 8.0,
            "pred_voxels": 6,
            "pred_volume": 6.0,
            "hd": 0.5,
            "ref_centre_0": 1.0,
            "ref_centre_1": 0.75,
            "ref_start_0": 0,
            "ref_start_1": 0,
            "ref_stop_0": 2,
            "ref_stop_1": 4,
            "pred_centre_0": 1.0,
            "pred_centre_1": 0.5,
            "pred_start_0": 0,
            "pred_start_1": 0,
            "pred_stop_0": 2,
            "pred_stop_1": 3,
        },
    )
    assert_same(
        missed,
        {
            "status": "missed",
            "ref_id": 2,
            "pred_ids": "",
            "iou": 0.0,
            "ref_voxels": 4,
            "pred_voxels": 0,
            "hd": NAN,
            "ref_start_1": 5,
            "ref_stop_1": 7,
            "pred_centre_0": NAN,
            "pred_start_0": pd.NA,
            "pred_stop_0": pd.NA,
        },
    )
    assert_same(other, {"status": "matched", "ref_id": 4, "pred_ids": "5", "iou": 2 / 3})
    assert_same(
        false,
        {
            "status": "false positive",
            "ref_id": 0,
            "pred_ids": "9",
            "iou": 0.0,
            "ref_voxels": 0,
            "pred_voxels": 2,
            "hd": NAN,
            "ref_centre_1": NAN,
            "ref_stop_1": pd.NA,
            "pred_centre_0": 4.0,
            "pred_centre_1": 3.25,
            "pred_start_0": 2,
            "pred_stop_1": 8,
        },
    )
    assert list(matched)[:8] == [
        "class", "kind", "strategy", "solver", "gate", "edge_score", "regions", "threshold",
    ]  # fmt: skip


def test_every_matching_has_its_own_rows() -> None:
    rows = instances(matching=["one-to-one", "many-to-one", "same-id"], thresholds=[0.3, 0.7])
    counts: dict[tuple[str, float], list[str]] = {}
    for row in rows:
        counts.setdefault((row["strategy"], row["threshold"]), []).append(row["pred_ids"])
    assert counts == {
        ("one-to-one", 0.3): ["7", "", "5", "8", "9"],
        ("one-to-one", 0.7): ["", "", "", "5", "7", "8", "9"],
        ("many-to-one", 0.3): ["7 8", "", "5", "9"],
        ("many-to-one", 0.7): ["", "", "", "5", "7", "8", "9"],
        ("same-id", 0.3): ["", "", "", "5", "7", "8", "9"],
        ("same-id", 0.7): ["", "", "", "5", "7", "8", "9"],
    }


EVERY_KIND: list[Any] = [
    "one-to-one",
    "many-to-one",
    "one-to-many",
    "same-id",
    "union",
    {"strategy": "many-to-one", "regions": True},
    {"strategy": "one-to-one", "score": "dice"},
]


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_objects_say_under_which_settings_they_hold(seed: int) -> None:
    """Written out for every setting, the short table is the long one."""
    reference = phantoms.tissue((40, 40), 14, seed=seed)
    prediction = phantoms.split(phantoms.shift(reference, (2, 3)), 2, ids=[2, 3, 5])
    prediction = phantoms.miss(phantoms.merge_neighbours(prediction, 3, seed=seed), ids=[7])
    found = pm.evaluate(
        reference=reference,
        prediction=prediction,
        spec={"matching": EVERY_KIND, "thresholds": [0.1, 0.3, 0.6], "metrics": ["dice", "hd"]},
    )
    short, long = found.instances, found.instances_by_setting
    assert len(short) < len(long) / 5
    names = [name for name in found.spec.matching[0].columns if name in long.columns]
    labels = {
        tuple(matcher.columns[name] for name in names): matcher.label
        for matcher in found.spec.matching
    }
    measured = list(long.columns[long.columns.get_loc("status") : -1])
    for key, rows in long.groupby([*names, "threshold"], dropna=False):
        setting = f"{labels[key[:-1]]} at {key[-1]:g}"
        mine = short[[text == "all" or setting in text.split("; ") for text in short.settings]]
        pd.testing.assert_frame_equal(
            mine[measured].reset_index(drop=True), rows[measured].reset_index(drop=True)
        )
    assert not short.duplicated(["ref_id", "pred_ids", "pred_voxels"]).any()


def test_rows_of_objects_name_the_mistake_whatever_the_setting() -> None:
    found = pm.evaluate(reference=REFERENCE, prediction=PREDICTION, spec={"thresholds": [0.3, 0.7]})
    rows = found.instances
    first = rows[rows.ref_id == 1]
    assert list(first.mistake) == ["split"] * len(first)
    assert [*first.status, *first.pred_ids] == ["matched", "missed", "matched", "7", "", "7 8"]
    assert list(rows[rows.ref_id == 2][["mistake", "settings"]].iloc[0]) == ["missed", "all"]
    assert list(rows.iloc[-1][["status", "mistake", "pred_ids", "settings"]]) == [
        "false positive", "spurious", "9", "all",
    ]  # fmt: skip


def test_no_table_holds_a_number_twice() -> None:
    found = pm.evaluate(reference=REFERENCE, prediction=PREDICTION)
    assert not {"sq_iou", "pq_iou"} & {*found.scores.columns, *found.averages.measure}
    assert "quality" not in found.instances
    assert {"pq", "sq", "pq_dice", "sq_dice"} <= set(found.averages.measure)
    assert {"pred_centre_0", "ref_stop_1"} <= set(found.instances.select_dtypes("number"))


def test_options_of_metrics_reach_every_value() -> None:
    options: dict[str, Any] = {"tolerance": 0.5, "boundary_width": 2.0, "penalty": 30.0}
    rows = instances(
        matching="one-to-one", metrics=["nsd", "boundary_iou", "hd"], metric_options=options
    )
    matching = pm.match(pm.count_overlaps(REFERENCE, PREDICTION), threshold=0.3)
    expected = pm.measure(
        matching, REFERENCE, PREDICTION, ("nsd", "boundary_iou", "hd"), (2, 0.5), **options
    )
    for name in ("nsd", "boundary_iou", "hd"):
        column = np.array([row[name] for row in rows])
        np.testing.assert_array_equal(column, expected.columns[name])
    assert [row["hd"] for row in rows if row["status"] != "matched"] == [30.0] * 3


def test_quality_sums_to_that_of_the_score_table() -> None:
    reference = phantoms.tissue((30, 30), 10, seed=1)
    prediction = phantoms.split(phantoms.shift(reference, (1, 2)), 2, ids=[2, 3])
    spec = as_spec({"preset": "binary-components", "classes": {"foreground": {"instances": "ids"}}})
    case = pm.evaluate(reference=reference, prediction=prediction, spec=spec).cases[0]
    rows = rows_of(case, "instances")
    for score in rows_of(case):
        key = {name: score[name] for name in ("strategy", "threshold")}
        mine = [row for row in rows if key.items() <= row.items()]
        statuses = [row["status"] for row in mine]
        assert statuses.count("matched") == score["tp"]
        assert statuses.count("missed") == score["fn"]
        assert statuses.count("false positive") == score["fp"]
        assert sum(row["iou"] for row in mine) == pytest.approx(score["quality"], abs=1e-12)
        dice = [row["dice"] for row in mine if row["status"] == "matched"]
        assert score["sq_dice"] == pytest.approx(np.mean(dice))


@pytest.mark.parametrize("seed", range(3))
def test_the_curve_table_holds_the_exact_steps(seed: int) -> None:
    reference = phantoms.tissue((30, 30), 8, seed=seed)
    prediction = phantoms.split(phantoms.shift(reference, (2, 1)), 3, ids=[1, 5])
    spec = as_spec(
        {
            "matching": ["one-to-one", {"strategy": "many-to-one", "score": "dice"}, "union"],
            "thresholds": [0.25, 0.5],
        }
    )
    case = pm.evaluate(reference=reference, prediction=prediction, spec=spec).cases[0]
    rows, at = rows_of(case, "curves"), 0
    for matcher in spec.matching:
        count = pm.count_region_overlaps if matcher.regions else pm.count_overlaps
        steps = pm.curve(count(reference, prediction), matcher.strategy, score=matcher.score)
        mine = rows[at : at + len(steps.thresholds)]
        at += len(mine)
        assert {row["strategy"] for row in mine} == {matcher.name}
        assert [row["threshold"] for row in mine] == steps.thresholds.tolist()
        for name in ("tp", "fp", "fn", "quality", "pq", "sq", "rq"):
            assert [row[name] for row in mine] == getattr(steps, name).tolist()
        widths = np.diff([*(row["threshold"] for row in mine), 1.0])
        for score in [row for row in rows_of(case) if row["strategy"] == matcher.name]:
            for area, height in (("autc", "pq"), ("autc_sq", "sq"), ("autc_rq", "rq")):
                sums = float(np.array([row[height] for row in mine]) @ widths)
                assert score[area] == pytest.approx(sums, abs=1e-12)
            assert_same(score, {
                name: getattr(steps.at(score["threshold"]), name) for name in ("tp", "fp", "pq")
            })  # fmt: skip
    assert at == len(rows)


def test_tables_for_people_have_case_and_whole_numbers() -> None:
    found = pm.evaluate(reference=REFERENCE, prediction=PREDICTION, spec="cells", case="p1")
    for table in (found.scores, found.instances, found.curves, found.diagnosis):
        assert table.columns[0] == "case"
        assert set(table["case"]) == {"p1"}
        assert "model" not in table
        assert list(table.index) == list(range(len(table)))
    assert found.scores.columns[-3:].tolist() == ["unit", "status", "reason"]
    whole = ["tp", "fp", "fn", "split", "merged", "missed", "spurious", "near_threshold"]
    assert {str(found.scores[name].dtype) for name in whole} == {"int64"}
    assert str(found.instances["ref_id"].dtype) == "int64"
    assert str(found.curves["tp"].dtype) == "int64"


def test_the_certificate_s_gap_is_a_column() -> None:
    strategies: list[Any] = [{"strategy": "many-to-one", "solver": "optimal"}, "many-to-one"]
    found = pm.evaluate(
        reference=REFERENCE,
        prediction=PREDICTION,
        spec=as_spec({"matching": strategies, "thresholds": 0.5}),
    )
    proven, heuristic = found.scores["gap"].tolist()
    matching = pm.match(pm.count_overlaps(REFERENCE, PREDICTION), pm.ManyToOne(solver="optimal"))
    assert matching.certificate is not None
    assert proven == matching.certificate.gap
    assert np.isnan(heuristic)
