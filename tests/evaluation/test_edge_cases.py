"""Input at the edges of what is accepted: nothing is dropped, guessed or taken for another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import LabelError, OptionError, OverlapError, ShapeError, SpecError
from panmatch.evaluation import CaseResult, Result
from panmatch.scoring import Measurer
from panmatch.spec import Spec, as_spec, read_spec
from tests.evaluation.by_hand import columns_of

KINDS = [pm.SegmentClass(24, "person"), pm.SegmentClass(7, "road", thing=False)]


def test_a_predicted_thing_without_a_number_is_an_object() -> None:
    reference = pm.from_cityscapes([[24001, 24001, 7, 7]], KINDS)
    prediction = pm.from_cityscapes([[24, 24, 7, 7]], KINDS)
    case = pm.evaluate(reference=reference, prediction=prediction, spec="cityscapes").cases[0]
    assert columns_of(case)["tp"] == [1, 1]


def test_all_labels_are_all_even_if_another_class_has_some() -> None:
    spec = as_spec(
        {
            "classes": {"whole": {"labels": "all"}, "core": {"labels": 2}},
            "matching": "one-to-one",
            "thresholds": 0.5,
        }
    )
    case = pm.evaluate(reference=[1, 1, 0, 2], prediction=[1, 1, 0, 2], spec=spec).cases[0]
    assert columns_of(case)["tp"] == [2, 1]


def test_background_is_background_where_two_classes_take_all() -> None:
    classes = {"ids": {"labels": "all"}, "parts": {"labels": "all", "instances": "components"}}
    spec = as_spec(
        {"classes": classes, "background": 5, "matching": "one-to-one", "thresholds": 0.5}
    )
    case = pm.evaluate(reference=[1, 0, 5], prediction=[1, 0, 5], spec=spec).cases[0]
    assert columns_of(case)["tp"] == [1, 1]


def test_a_masked_prediction_is_refused() -> None:
    with pytest.raises(OptionError, match="prediction is a masked array"):
        pm.evaluate(reference=[1, 2], prediction=np.ma.masked_equal([1, 2], 2))


def test_void_as_a_label_is_never_dropped() -> None:
    image = np.array([1, 1, 2])
    for reference in (image, np.ma.array(image)):
        with pytest.raises(OptionError, match=r"void=2 must be a mask of void voxels\."):
            pm.evaluate(reference=reference, prediction=image, void=2)


def test_averages_of_nothing_are_an_empty_table() -> None:
    assert len(Result(Spec(), ()).averages) == 0
    assert len(Result(Spec(), (CaseResult("a", status="failed", reason="x"),)).averages) == 0


def test_a_model_without_any_category_has_a_summary() -> None:
    nothing = pm.from_segments([[0, 0]], {}, KINDS)
    one = pm.from_segments([[4, 4]], {4: (24, False)}, KINDS)
    a, b = pm.Evaluator("coco"), pm.Evaluator("coco")
    a.update(reference=nothing, prediction=nothing, case="x", model="a")
    b.update(reference=one, prediction=one, case="x", model="b")
    assert "Model b" in (a.compute() + b.compute()).summary()


def test_empty_cases_are_skipped_in_pooled_areas_as_in_pooled_scores() -> None:
    evaluator = pm.Evaluator({"matching": "one-to-one"})
    evaluator.update(reference=[1, 0], prediction=[1, 0])
    evaluator.update(reference=[0, 0], prediction=[0, 0])
    rows = [r for r in evaluator.compute().average_scores if r.averaging == "pooled"]
    assert {
        r.score.name: (r.cases, r.skipped)
        for r in rows
        if r.score.name in ("pq", "autc", "autc_sq")
    } == {"pq": (1, 1), "autc": (1, 1), "autc_sq": (1, 1)}


def test_negative_parts_are_refused() -> None:
    spec = {"classes": {"o": {"labels": 1, "parts": [1, 2]}}}
    with pytest.raises(LabelError, match="negative part -5"):
        pm.evaluate(
            reference=[[1, 1, 1]],
            prediction=[[1, 1, 1]],
            spec=spec,
            reference_parts=[[1, -5, 2]],
            prediction_parts=[[1, 2, 2]],
        )


def test_part_images_beside_panoptic_images_are_refused() -> None:
    side = pm.from_segments([[4, 4]], {4: (24, False)}, KINDS)
    with pytest.raises(OptionError, match="already contain their parts"):
        pm.evaluate(
            reference=side, prediction=side, reference_parts=[[1, 2]], prediction_parts=[[1, 2]]
        )


def test_a_changed_class_of_a_preset_keeps_its_place() -> None:
    spec = as_spec({"preset": "brats-mets", "classes": {"metastasis": {"min_voxels": 5}}})
    assert list(spec.classes) == ["metastasis", "core", "enhancing"]


@pytest.mark.parametrize("text", ["void: 2001-99-99", "void: !!int foo"])
def test_values_that_yaml_cannot_build_are_spec_errors(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(SpecError, match="is not YAML"):
        read_spec(tmp_path / "a.yaml")


@pytest.mark.parametrize("labels", [0, "0-3", [0, 1]])
def test_the_background_is_not_a_label_of_a_class(labels: Any) -> None:
    with pytest.raises(SpecError, match="label 0 is always background"):
        as_spec({"classes": {"a": {"labels": labels}}})


def test_a_label_is_not_both_void_and_of_a_class() -> None:
    with pytest.raises(SpecError, match="label 1 is also listed under void or background"):
        as_spec({"classes": {"a": {"labels": [1, 2]}}, "void": 1})


def test_a_negative_penalty_is_a_spec_error() -> None:
    with pytest.raises(SpecError, match="penalty"):
        as_spec({"metric_options": {"penalty": -3}})


def test_a_shape_error_names_the_argument() -> None:
    spec = {"classes": {"o": {"labels": 1, "parts": [1, 2]}}}
    with pytest.raises(ShapeError, match="reference_parts has shape"):
        pm.evaluate(
            reference=[[1, 1, 1]],
            prediction=[[1, 1, 1]],
            spec=spec,
            reference_parts=[[1, 2]],
            prediction_parts=[[1, 2, 2]],
        )


def test_a_cached_row_is_still_checked() -> None:
    image = np.array([1, 1, 0, 0])
    measurer = Measurer(image, image)
    measurer.measure(pm.match(pm.count_overlaps(image, image)))
    other = np.array([1, 1, 1, 0])
    with pytest.raises(OverlapError, match="is not what was matched"):
        measurer.measure(pm.match(pm.count_overlaps(other, other)))


@pytest.mark.parametrize("instances", ["ids", "components"])
@pytest.mark.parametrize("labels", ["all", [1, 2, 3]])
def test_a_negative_marker_of_the_spec_is_void(instances: str, labels: object) -> None:
    reference, prediction = np.array([[1, 1, 0, 2, 2, -1, -1]]), np.array([[1, 1, 0, 0, 0, 3, 3]])
    classes = {"cell": {"labels": labels, "instances": instances}}
    scores = pm.evaluate(
        reference=reference, prediction=prediction, spec={"void": -1, "classes": classes}
    ).scores
    assert scores[["tp", "fp", "fn"]].values.tolist() == [[1, 0, 1]] * 9  # 3 lies in void
