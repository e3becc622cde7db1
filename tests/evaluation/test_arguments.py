"""Arguments that cannot be meant are refused with the remedy."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import related
from panmatch.errors import LabelError, OptionError, ShapeError, SpecError
from panmatch.evaluation._sides import split_classes
from panmatch.spec import ClassSpec, as_spec
from tests.evaluation.by_hand import columns_of

PARTS: dict[str, Any] = {"classes": {"body": {"labels": 1, "parts": [1, 2]}}}
ONE = np.array([1, 1, 0])
ROAD = pm.from_cityscapes([[7, 7]], [pm.SegmentClass(7, thing=False)])


def test_all_arguments_are_named() -> None:
    kinds = {p.kind for p in inspect.signature(pm.evaluate).parameters.values()}
    kinds |= {p.kind for p in list(inspect.signature(pm.Evaluator.update).parameters.values())[1:]}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize(
    "function",
    [
        pm.evaluate,
        pm.Evaluator().update,
        related.cc_metric,
        related.cluster_dice,
        related.cluster_iou,
        related.lesionwise_dice,
    ],
)
def test_sides_by_position_are_refused_with_the_call_to_write(function: Any) -> None:
    with pytest.raises(OptionError) as caught:
        function(ONE, ONE)
    assert isinstance(caught.value, TypeError)
    assert str(caught.value).endswith(f": write {function.__name__}(reference=…, prediction=…).")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"spec": PARTS, "reference_parts": ONE},
            OptionError,
            "prediction_parts is missing: pass part images on both sides, or on neither",
        ),
        (
            {"spec": PARTS, "prediction_parts": ONE},
            OptionError,
            "reference_parts is missing: pass part images on both sides, or on neither",
        ),
        (
            {"reference_parts": ONE, "prediction_parts": ONE},
            OptionError,
            "reference_parts is given, but no class of the spec has parts to read from it: add `pa",
        ),
        (
            {"spec": "cityscapes", "reference_parts": ONE, "prediction_parts": ONE},
            OptionError,
            "reference_parts is given, but no class of the spec has parts",
        ),
        (
            {"spec": PARTS},
            OptionError,
            r"classes\.body: the parts \[2\] are not labels of the class, so they must be in part",
        ),
        ({"spec": "coco"}, OptionError, r"encoding 'coco' needs a table of segments .* from_segm"),
        (
            {"reference": ROAD},
            OptionError,
            "reference and prediction must both be Panoptic, or both label images",
        ),
        ({"spec": "cels"}, SpecError, "did you mean 'cells'"),
        ({"spec": {"treshold": 1}}, SpecError, "did you mean 'thresholds'"),
        (
            {"prediction": [1, 1]},
            ShapeError,
            r"reference has shape \(3,\) but prediction has shape",
        ),
        ({"void": [0, 1]}, ShapeError, r"reference has shape \(3,\) but void has shape \(2,\)"),
        ({"prediction": [0.5, 1, 0]}, LabelError, "prediction has dtype float64"),
        ({"reference": [1, -2, 0]}, LabelError, r"reference holds the negative label -2 \(1 voxel"),
        ({"prediction": [1, -2, 0]}, LabelError, "prediction holds the negative label -2"),
        ({"spacing": (1, 1)}, OptionError, r"spacing=\(1, 1\) has 2 numbers"),
        ({"threads": 0}, OptionError, "threads=0 must be"),
        (
            {"reference": np.ma.masked_equal(ONE, 0), "void": [0, 0, 1]},
            OptionError,
            "void is given twice: reference is a masked array",
        ),
        (
            {"spec": PARTS, "reference_parts": [1, 8, 0], "prediction_parts": [1, 2, 0]},
            LabelError,
            r"holds part 8 \(1 voxel\), which is not among the parts of its class: \[1, 2\]\..*"
            r"write `not_parts: \[8\]` in the spec",
        ),
    ],
)
def test_mistakes_are_explained(options: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        pm.evaluate(**{"reference": ONE, "prediction": ONE, **options})


def test_classes_must_agree() -> None:
    other = pm.from_cityscapes([[7, 7]], [pm.SegmentClass(8)])
    with pytest.raises(OptionError, match="must have the same classes"):
        pm.evaluate(reference=ROAD, prediction=other)


def test_a_class_of_all_labels_may_have_parts_among_them() -> None:
    spec = as_spec({"classes": {"body": {"instances": "components", "parts": [1, 2]}}})
    case = pm.evaluate(reference=[1, 2, 3], prediction=[1, 2, 2], spec=spec).cases[0]
    # The label 3 is no part: parts 1 and 2 have IoU 1 and 1/2, and nothing is background on
    # both sides of three voxels.
    assert columns_of(case)["part_quality"][0] == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_classes_share_a_layer_only_if_they_share_no_label() -> None:
    classes = {
        name: ClassSpec.model_validate({"labels": labels})
        for name, labels in {
            "whole": "1-3",
            "core": [1, 3],
            "all": "all",
            "vessel": 7,
            "necrosis": 1,
            "oedema": 2,
            "rest": "all",
        }.items()
    }
    assert split_classes(classes) == [
        ["whole", "vessel"],
        ["core", "oedema"],
        ["all"],
        ["necrosis"],
        ["rest"],
    ]
    assert split_classes({}) == []


def test_keywords_that_do_not_exist_are_errors() -> None:
    for call in (pm.evaluate, pm.Evaluator().update):
        with pytest.raises(TypeError, match="unexpected keyword argument 'spacings'"):
            call(reference=ONE, prediction=ONE, spacings=2.0)  # type: ignore[call-arg]
    matching = pm.match(pm.count_overlaps(ONE, ONE))
    with pytest.raises(TypeError, match="unexpected keyword argument 'tolerance_mm'"):
        pm.measure(matching, ONE, ONE, tolerance_mm=2.0)  # type: ignore[call-arg]


def test_the_unit_of_an_array_is_that_of_the_spec() -> None:
    options: dict[str, Any] = {"reference": ONE, "prediction": ONE}
    units = [
        pm.evaluate(**options, **more).cases[0].unit
        for more in (
            {},
            {"spacing": 2.0},
            {"spacing": 2.0, "unit": "µm"},
            {"spacing": 2.0, "spec": {"unit": "µm"}},
        )
    ]
    assert units == ["voxel", "mm", "µm", "µm"]
    with pytest.raises(OptionError, match="unit='mm' differs from the spec's unit, 'µm'"):
        pm.evaluate(**options, spacing=2.0, unit="mm", spec={"unit": "µm"})
