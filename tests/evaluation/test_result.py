"""Results and evaluators: any order gives the same, and JSON gives back what it took."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch.errors import FileError, OptionError, OverlapError
from panmatch.evaluation import CaseResult, Result
from panmatch.spec import Spec, as_spec
from tests.evaluation.by_hand import Labels
from tests.scenes import strip

SPEC = as_spec({"thresholds": [0.2, 0.5], "metrics": ["iou", "hd95"]})
SCENES: dict[str, tuple[Labels, Labels]] = {
    "good": (strip("aaaa..bbbb"), strip("aaaa...bbb")),
    "split": (strip("aaaaaaaaaa"), strip("aaaaabbbcc")),
    "empty": (strip(".........."), strip("..........")),
    "false": (strip(".........."), strip("aaa...bbb.")),
}
FAILED = CaseResult("broken", status="failed", reason="reference.nii.gz cannot be read")


def evaluated(*names: str, spec: Any = SPEC, model: str = "") -> pm.Evaluator:
    evaluator = pm.Evaluator(spec)
    for name in names:
        reference, prediction = SCENES[name]
        evaluator.update(reference=reference, prediction=prediction, case=name, model=model)
    return evaluator


def all_tables(result: Result) -> dict[str, pd.DataFrame]:
    names = ("scores", "instances", "curves", "diagnosis", "averages")
    return {name: getattr(result, name) for name in names}


def test_the_order_of_cases_changes_nothing() -> None:
    whole = evaluated(*SCENES).compute()
    for names in permutations(SCENES):
        other = evaluated(*names).compute()
        assert other.to_json() == whole.to_json()
        assert other.summary() == whole.summary()
    for name, table in all_tables(whole).items():
        pd.testing.assert_frame_equal(
            table, all_tables(evaluated(*reversed(SCENES)).compute())[name]
        )
    assert [one.case for one in whole.cases] == sorted(SCENES)


@pytest.mark.parametrize("cut", range(5))
def test_merging_evaluators_and_adding_results_gives_the_same(cut: int) -> None:
    names = list(SCENES)
    whole = evaluated(*names).compute()
    first, second = evaluated(*names[cut:]), evaluated(*names[:cut])
    total = first.compute() + second.compute()
    first.merge(second)
    assert first.compute().to_json() == total.to_json() == whole.to_json()
    assert len(second.compute().cases) == cut  # the other evaluator is left as it is


def test_single_evaluations_add_with_sum() -> None:
    parts = [
        pm.evaluate(reference=reference, prediction=prediction, spec=SPEC, case=name)
        for name, (reference, prediction) in SCENES.items()
    ]
    total = sum(parts)
    assert isinstance(total, Result)
    assert total.to_json() == evaluated(*SCENES).compute().to_json()
    with pytest.raises(TypeError):
        total + 3  # type: ignore[operator]
    with pytest.raises(TypeError):
        3 + total


def test_cases_without_a_name_are_numbered() -> None:
    evaluator = pm.Evaluator()
    for _ in range(3):
        evaluator.update(reference=[1, 0], prediction=[1, 1])
    assert [one.case for one in evaluator.compute().cases] == ["0000", "0001", "0002"]
    assert len(evaluator.compute().cases) == 3  # computing does not end the collection
    assert pm.Evaluator().spec == Spec()


def test_an_evaluator_passes_on_everything_that_evaluate_takes() -> None:
    spec = {"classes": {"a": {"labels": 1, "parts": [1, 2]}}, "metrics": ["hd"]}
    options: dict[str, Any] = {
        "reference": [[1, 1, 1, 1]],
        "prediction": [[1, 1, 1, 0]],
        "reference_parts": [[1, 1, 2, 2]],
        "prediction_parts": [[1, 2, 2, 0]],
        "spacing": (1, 2.5),
        "void": [[0, 1, 0, 0]],
        "threads": 1,
        "case": "x",
    }
    evaluator = pm.Evaluator(spec)
    evaluator.update(**options)
    assert evaluator.compute().to_json() == pm.evaluate(**options, spec=spec).to_json()
    plain = pm.evaluate(**{**options, "void": None, "spacing": None}, spec=spec)
    assert plain.to_json() != evaluator.compute().to_json()


def test_a_case_twice_is_an_error_unless_models_differ() -> None:
    with pytest.raises(OverlapError, match=r"^case 'good' appears more than once: give each"):
        evaluated("good", "split", "good").compute()
    with pytest.raises(OverlapError, match="case 'good' of model 'a' appears more than once"):
        evaluated("good", "good", model="a").compute()
    both = evaluated("good", "false", model="b").compute() + evaluated("good", model="a").compute()
    assert [(one.model, one.case) for one in both.cases] == [
        ("a", "good"),
        ("b", "false"),
        ("b", "good"),
    ]
    assert both.models == ("a", "b")
    assert both.scores["model"].tolist() == ["a"] * 6 + ["b"] * 12
    assert repr(both) == "Result(3 cases of 2 models)"


def test_different_specs_do_not_add_or_merge() -> None:
    other = evaluated("split", spec="cells")
    with pytest.raises(
        OverlapError, match="results can be added only if they were made with the same"
    ):
        evaluated("good").compute() + other.compute()
    with pytest.raises(OptionError, match="other must be an Evaluator with the same spec"):
        evaluated("good").merge(other)
    with pytest.raises(OptionError, match="other must be an Evaluator"):
        evaluated("good").merge(other.compute())  # type: ignore[arg-type]


def everything() -> Result:
    spaced = pm.evaluate(
        reference=[[1, 1, 0]], prediction=[[1, 0, 2]], spec=SPEC, spacing=(1, 0.1), case="spaced"
    )
    return evaluated(*SCENES).compute() + spaced + Result(SPEC, (FAILED,))


def test_json_gives_back_the_same_to_the_byte() -> None:
    result = everything()
    text = result.to_json()
    again = Result.from_json(text)
    assert again.to_json() == text
    assert again.spec == result.spec
    spaced = next(one for one in again.cases if one.case == "spaced")
    assert (spaced.spacing, spaced.shape) == ((1.0, 0.1), (1, 3))
    assert [case.reason for case in again.failures] == [FAILED.reason]
    assert again.summary() == result.summary()
    for name, table in all_tables(again).items():
        pd.testing.assert_frame_equal(table, all_tables(result)[name])


def test_json_is_strict_and_undefined_is_null() -> None:
    text = everything().to_json()
    assert "NaN" not in text
    assert "Infinity" not in text
    content = json.loads(text)
    assert content["format"] == "panmatch-result-6"
    assert content["panmatch"] == pm.__version__
    empty = next(one for one in content["cases"] if one["case"] == "empty")
    assert empty["objects"][0]["hd95"] == []
    false = next(case for case in content["cases"] if case["case"] == "false")
    assert false["objects"][0]["hd95"] == [None, None]
    assert empty["format"] == "panmatch-case-6"


def test_a_loaded_result_adds_to_a_fresh_one() -> None:
    old = Result.from_json(evaluated("good", "empty").compute().to_json())
    total = old + evaluated("split", "false").compute()
    whole = evaluated(*SCENES).compute()
    assert total.to_json() == whole.to_json()
    for name, table in all_tables(total).items():
        pd.testing.assert_frame_equal(table, all_tables(whole)[name])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "null",
        "3",
        "{}",
        '{"format": "panmatch-result-6"}',
        '{"format": "panmatch-result-6", "spec": {}, "cases": [3]}',
        '{"format": "panmatch-result-6", "spec": {"nonsense": 1}, "cases": []}',
        '{"format": "panmatch-result-6", "spec": {}, "cases": [{"format": "panmatch-case-6"}]}',
    ],
)
def test_anything_else_is_not_a_result(text: str) -> None:
    with pytest.raises(FileError, match="this is not a result of panmatch: "):
        Result.from_json(text)


def test_other_formats_are_named() -> None:
    content = json.loads(evaluated("good").compute().to_json())
    with pytest.raises(
        FileError, match="its format is 'panmatch-result-9', not 'panmatch-result-6'"
    ):
        Result.from_json(json.dumps({**content, "format": "panmatch-result-9"}))
    case = {**content["cases"][0], "format": "panmatch-case-0"}
    with pytest.raises(FileError, match="format='panmatch-case-0' is not 'panmatch-case-6': this"):
        CaseResult.from_dict(case)
    with pytest.raises(FileError, match="panmatch-case-0"):
        Result.from_json(json.dumps({**content, "cases": [case]}))
    with pytest.raises(FileError, match="format=None is not"):
        CaseResult.from_dict({"case": "a"})


def test_results_are_loaded_from_files(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(everything().to_json(), encoding="utf-8")
    assert Result.load(file).to_json() == everything().to_json()
    assert Result.load(str(file)).spec == SPEC
    with pytest.raises(FileError, match=r"path='.*absent' cannot be read as a result: .*No such"):
        Result.load(tmp_path / "absent")
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match=r"path='.*json' cannot be read as a result: .*utf-8"):
        Result.load(file)
    file.write_text("nonsense")
    with pytest.raises(
        FileError, match=r"path='.*json' cannot be read.*this is not a result of panm"
    ):
        Result.load(file)


def test_failed_cases_have_one_row_and_count_for_nothing() -> None:
    good = evaluated("good").compute()
    result = good + Result(SPEC, (FAILED,))
    assert repr(result) == "Result(2 cases, 1 failed)"
    table = result.scores
    assert table["case"].tolist() == ["broken", *["good"] * 6]
    assert table.loc[0, ["status", "reason"]].tolist() == ["failed", FAILED.reason]
    assert table.loc[0].drop(["case", "status", "reason"]).isna().all()
    assert table["reason"].tolist()[1:] == [""] * 6
    assert str(table["tp"].dtype) == "Int64"
    assert table["tp"][1:].tolist() == good.scores["tp"].tolist()
    pd.testing.assert_frame_equal(result.averages, good.averages)
    pd.testing.assert_frame_equal(result.instances, good.instances)
    last = (good + Result(SPEC, (replace(FAILED, case="zebra"),))).scores
    assert last["case"].tolist() == [*["good"] * 6, "zebra"]
    assert last.loc[6].drop(["case", "status", "reason"]).isna().all()
    assert last["tp"][:6].tolist() == good.scores["tp"].tolist()


@pytest.mark.parametrize("cases", [(), (FAILED,)])
def test_nothing_evaluated_gives_empty_tables(cases: tuple[CaseResult, ...]) -> None:
    result = Result(SPEC, cases)
    assert len(result.scores) == len(cases)
    for table in (result.instances, result.curves, result.diagnosis):
        assert len(table) == 0
    assert result.average_scores == []
    assert Result.from_json(result.to_json()).to_json() == result.to_json()
    assert "case" in result.scores.columns


def test_a_case_in_which_no_category_occurs_has_no_rows() -> None:
    nothing = pm.from_segments(np.zeros((2, 3), int), {}, [pm.SegmentClass(1, "person")])
    result = pm.evaluate(reference=nothing, prediction=nothing, spec="coco")
    assert len(result.scores) == len(result.instances) == 0
    assert result.average_scores == []
    assert result.summary().startswith("1 case (panmatch ")


def test_results_of_coco_survive_json() -> None:
    side = pm.from_segments([[4, 4, 0]], {4: (1, False)}, [pm.SegmentClass(1, "person")])
    result = pm.evaluate(reference=side, prediction=side, spec="coco")
    assert Result.from_json(result.to_json()).to_json() == result.to_json()


def test_a_column_that_is_undefined_everywhere_survives_json() -> None:
    result = evaluated("empty", spec={"matching": "many-to-one"}).compute()
    again = Result.from_json(result.to_json())
    assert str(again.scores["gap"].dtype) == "float64"
    for name, table in all_tables(again).items():
        pd.testing.assert_frame_equal(table, all_tables(result)[name])


def test_objects_are_stored_once_for_all_strategies_and_thresholds() -> None:
    (case,) = evaluated("split").compute().cases
    levels = [level for entry in case.entries for level in entry.levels]
    assert len(levels) == 6
    assert len({level.measurements.columns.table for level in levels}) == 1
    (objects,) = case.to_dict()["objects"]
    listed = list(zip(objects["ref_id"], objects["pred_ids"], strict=True))
    assert len(listed) == len(set(listed))
    again = CaseResult.from_dict(json.loads(json.dumps(case.to_dict())))
    assert again.to_dict() == case.to_dict()


def test_regions_share_objects_with_whole_predictions_and_differ_where_they_cut() -> None:
    matching = ["one-to-one", {"strategy": "one-to-one", "regions": True}]
    spec = as_spec({"matching": matching, "thresholds": 0.1, "metrics": ["iou", "hd"]})
    reference, prediction = strip("aaaa....bbbb..cc"), strip("aaaaaaaaaaaa..cc")
    evaluator = pm.Evaluator(spec)
    evaluator.update(reference=reference, prediction=prediction)
    (case,) = evaluator.compute().cases
    whole, cut = (entry.levels[0].measurements.columns for entry in case.entries)
    assert whole.table is cut.table
    assert whole["pred_voxels"].tolist() == [12, 0, 2]
    assert cut["pred_voxels"].tolist() == [6, 6, 2]
    assert cut["hd"].tolist() == [2.0, 2.0, 0.0]
    assert whole.rows[2] == cut.rows[2]


def test_a_long_list_of_predictions_does_not_take_room_in_every_row() -> None:
    reference = np.concatenate([np.ones(3000), np.arange(2, 502)]).astype(np.int64)
    prediction = np.arange(1, 3501)
    spec = as_spec({"matching": "one-to-many", "thresholds": 0.0, "curve": False})
    evaluator = pm.Evaluator(spec)
    evaluator.update(reference=prediction, prediction=reference)
    evaluator.update(reference=reference, prediction=prediction, case="other")
    for case in evaluator.compute().cases:
        column = case.entries[0].levels[0].measurements.columns["pred_ids"]
        assert column.dtype == np.object_
