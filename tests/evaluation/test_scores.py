"""Scores equal what every class gives when it is masked by hand and counted on its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import panmatch as pm
from panmatch.evaluation import Images, evaluate_case
from panmatch.spec import Spec, as_spec
from tests.brute_force import random_labels
from tests.evaluation.by_hand import (
    Labels,
    assert_same,
    columns_of,
    expected_scores,
    objects,
    only,
    rows_of,
)

NAN = float("nan")
AS_DRAWN = (Phase.explicit, Phase.generate)  # a smaller seed is no simpler scene

MATCHING: list[Any] = [
    "one-to-one",
    {"strategy": "one-to-one", "solver": "greedy", "score": "dice"},
    "many-to-one",
    {"strategy": "many-to-one", "gate": "edge"},
    {"strategy": "many-to-one", "solver": "optimal"},
    {"strategy": "one-to-many", "solver": "optimal", "regions": True},
    "same-id",
    "union",
]
SPEC = as_spec(
    {
        "classes": {
            "lesion": {"labels": [4, 5, 6], "instances": "components", "min_voxels": 3},
            "cell": {"labels": "1-3"},
            "body": {"labels": [1, 2, 3, 7], "kind": "stuff", "min_voxels": 2},
            "core": {"labels": [4, 6], "instances": "components", "connectivity": "faces"},
            "rest": {"labels": 8, "min_voxels": 10},
        },
        "void": 9,
        "matching": MATCHING,
        "thresholds": [0.0, 0.3, 0.5],
        "metrics": ["iou", "dice", "hd95"],
    }
)


def scene(seed: int, labels: int = 9) -> tuple[Labels, Labels]:
    """Return a reference, and a prediction that resembles it."""
    rng = np.random.default_rng(seed)
    shape = [(11, 13), (5, 6, 7), (40,)][seed % 3]
    reference = random_labels(rng, shape, labels)
    moved = np.roll(reference, int(rng.integers(0, 3)), int(rng.integers(len(shape))))
    other = random_labels(rng, shape, labels)
    return reference, np.where(rng.random(shape) < 0.85, moved, other)


@settings(max_examples=12, phases=AS_DRAWN)
@given(st.integers(0, 100_000))
def test_random_scenes_of_many_classes(seed: int) -> None:
    reference, prediction = scene(seed)
    spacing = (1.5, 0.5, 2.0)[: reference.ndim]
    found = pm.evaluate(reference=reference, prediction=prediction, spec=SPEC, spacing=spacing)
    rows = rows_of(found.cases[0])
    expected = list(expected_scores(SPEC, reference, prediction, spacing=spacing))
    assert len(rows) == len(expected) == 5 * 8 * 3
    for row, wanted in zip(rows, expected, strict=True):
        assert_same(row, wanted)


@settings(max_examples=6, phases=AS_DRAWN)
@given(st.integers(0, 100_000))
def test_random_scenes_with_a_void_mask_and_void_labels(seed: int) -> None:
    reference, prediction = scene(seed)
    void = np.random.default_rng(seed).random(reference.shape) < 0.3
    masked = np.ma.array(reference, mask=void)
    expected = list(expected_scores(SPEC, reference, prediction, void=void))
    for given_void, image in (
        (void, reference),
        (void.astype(np.int16) * 7, reference),
        (None, masked),
    ):
        case = pm.evaluate(reference=image, prediction=prediction, spec=SPEC, void=given_void)
        for row, wanted in zip(rows_of(case.cases[0]), expected, strict=True):
            assert_same(row, wanted)


def test_nested_tumours_are_layers_of_the_same_voxels() -> None:
    """Whole = 1, 2, 3; core = 1, 3; enhancing = 3, on a strip of two tumours."""
    shared: dict[str, Any] = {"instances": "components", "min_voxels": 2}
    classes = {
        name: {"labels": labels, **shared}
        for name, labels in (("metastasis", "1-3"), ("core", [1, 3]), ("enhancing", 3))
    }
    spec = as_spec({"classes": classes, "thresholds": 0.5})
    reference = np.array([[2, 2, 1, 3, 3, 2, 0, 0, 3, 3, 3, 0, 0, 0]])
    prediction = np.array([[0, 2, 1, 1, 3, 3, 0, 0, 3, 3, 0, 0, 2, 2]])
    case = pm.evaluate(reference=reference, prediction=prediction, spec=spec).cases[0]
    at: dict[str, Any] = {"strategy": "one-to-one", "threshold": 0.5}
    whole = only(case, **{"class": "metastasis"}, **at)
    assert (whole["tp"], whole["fp"], whole["fn"]) == (2, 1, 0)
    assert whole["quality"] == pytest.approx(5 / 6 + 2 / 3, abs=1e-15)
    core = only(case, **{"class": "core"}, **at)
    assert (core["tp"], core["fp"], core["fn"]) == (2, 0, 0)
    assert core["quality"] == pytest.approx(3 / 4 + 2 / 3, abs=1e-15)
    # One voxel of 3 agrees with [3, 3] of the first: 1/3, which is not above 0.5.
    enhancing = only(case, **{"class": "enhancing"}, **at)
    assert (enhancing["tp"], enhancing["fp"], enhancing["fn"]) == (1, 1, 1)
    assert enhancing["quality"] == 2 / 3
    assert [row["class"] for row in rows_of(case)[::3]] == ["metastasis", "core", "enhancing"]


def test_classes_are_listed_as_in_the_spec_whatever_layers_they_are_in() -> None:
    classes = {name: {"labels": labels} for name, labels in
               (("d", [1, 2]), ("a", [2]), ("c", [3]), ("b", [1, 3]))}  # fmt: skip
    spec = as_spec({"classes": classes, "matching": "one-to-one", "thresholds": 0.5})
    case = pm.evaluate(reference=[1, 2, 3], prediction=[1, 2, 3], spec=spec).cases[0]
    assert columns_of(case)["class"] == ["d", "a", "c", "b"]
    assert columns_of(case)["tp"] == [2, 1, 1, 2]
    assert columns_of(case, "diagnosis")["class"] == ["d", "a", "c", "b"]


def test_labels_of_other_classes_and_the_background_are_no_errors_and_others_are() -> None:
    content: dict[str, Any] = {"classes": {"a": {"labels": 1}, "b": {"labels": 2}}}
    images: dict[str, Any] = {"reference": [1, 2, 5], "prediction": [1, 2, 0]}
    with pytest.raises(
        pm.PanmatchError, match=r"reference holds 5 \(1 voxel\), which is in no class"
    ):
        pm.evaluate(**images, spec=content)
    with pytest.raises(pm.PanmatchError, match="prediction holds 5"):
        pm.evaluate(reference=[1, 2, 0], prediction=[1, 2, 5], spec=content)
    case = pm.evaluate(**images, spec={**content, "background": 5}).cases[0]
    assert columns_of(case)["tp"] == [1] * 18
    assert columns_of(case)["fn"] == [0] * 18


def test_stuff_is_one_segment_of_all_its_labels() -> None:
    spec = as_spec({"preset": "liver-lesions", "metrics": ["dice"]})
    reference = np.array([[1, 1, 2, 0, 1, 2, 2, 2]])
    prediction = np.array([[1, 2, 2, 0, 0, 0, 2, 2]])
    case = pm.evaluate(reference=reference, prediction=prediction, spec=spec).cases[0]
    liver = only(case, **{"class": "liver"}, strategy="many-to-one", threshold=0.5)
    assert (liver["kind"], liver["tp"], liver["fp"], liver["fn"]) == ("stuff", 1, 0, 0)
    assert liver["pq"] == 5 / 7
    assert liver["pq_dice"] == 10 / 12
    # Lesions below three voxels are background on both sides: one reference is left, and nothing
    # to match it.
    lesion = only(case, **{"class": "lesion"}, strategy="many-to-one", threshold=0.5)
    assert (lesion["kind"], lesion["tp"], lesion["fp"], lesion["fn"]) == ("things", 0, 0, 1)


@pytest.mark.parametrize("preset", ["instances", "binary-components", "cells", "vertebrae"])
def test_nothing_on_either_side_is_undefined_and_on_one_side_zero(preset: str) -> None:
    nothing, one = np.zeros((4, 5), int), np.zeros((4, 5), int)
    one[1:3, 1:4] = 1
    both = pm.evaluate(reference=nothing, prediction=nothing, spec=preset)
    assert set(both.scores["status"]) == {"empty"}
    undefined = ("pq", "sq", "rq", "precision", "recall", "autc", "autc_sq", "autc_rq", "sq_dice")
    for name in undefined:
        assert both.scores[name].isna().all()
    assert both.scores[["tp", "fp", "fn", "quality", "near_threshold"]].to_numpy().sum() == 0
    assert len(both.instances) == 0
    for reference, prediction, counts, ratio in (
        (one, nothing, (0, 0, 1), {"recall": 0.0, "precision": NAN}),
        (nothing, one, (0, 1, 0), {"recall": NAN, "precision": 0.0}),
    ):
        case = pm.evaluate(reference=reference, prediction=prediction, spec=preset).cases[0]
        for row in [row for row in rows_of(case) if row["class"] == columns_of(case)["class"][0]]:
            assert (row["tp"], row["fp"], row["fn"], row["status"]) == (*counts, "ok")
            zeros = ("pq", "sq", "rq", "autc", "autc_sq", "autc_rq", "sq_dice", "pq_dice")
            assert_same(row, dict.fromkeys(zeros, 0.0) | ratio)


def test_images_without_voxels_or_axes_are_evaluated() -> None:
    empty = np.zeros((0, 3), np.uint8)
    assert set(pm.evaluate(reference=empty, prediction=empty).scores["status"]) == {"empty"}
    found = pm.evaluate(reference=np.array(3), prediction=np.array(4), spec="cells")
    assert found.scores["pq"].tolist() == [1.0] * 9
    assert found.cases[0].shape == ()


def test_threads_change_nothing() -> None:
    reference, prediction = scene(7)
    one, many = (
        pm.evaluate(reference=reference, prediction=prediction, spec=SPEC, threads=threads)
        for threads in (1, 3)
    )
    assert one.to_json() == many.to_json()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
def test_dtypes_and_memory_orders_change_nothing(order: Any, dtype: Any) -> None:
    reference, prediction = scene(3)
    plain = pm.evaluate(reference=reference, prediction=prediction, spec=SPEC)
    other = pm.evaluate(
        reference=np.asarray(reference, dtype, order=order),
        prediction=np.asarray(prediction[::-1], dtype)[::-1],
        spec=SPEC,
    )
    assert other.to_json() == plain.to_json()


def test_the_case_remembers_its_shape_and_spacing() -> None:
    images = Images([[1, 1]]), Images([[1, 0]])
    case = evaluate_case(*images, Spec(), spacing=(2, 0.5), case="a", model="m")
    assert (case.case, case.model, case.status, case.reason) == ("a", "m", "ok", "")
    assert (case.shape, case.spacing) == ((1, 2), (2.0, 0.5))
    assert evaluate_case(*images, Spec()).spacing is None


def test_curves_are_left_out_where_they_are_not_wanted() -> None:
    case = pm.evaluate(reference=[1, 2], prediction=[1, 0], spec={"curve": False}).cases[0]
    assert columns_of(case, "curves") == {}
    assert not {"autc", "autc_sq", "autc_rq"} & set(columns_of(case))


def images_of_parts(seed: int) -> tuple[npt.NDArray[Any], ...]:
    """Return objects, and parts inside them: 0, 1, 2, 3, 50 (no part) and 255 (unknown)."""
    rng = np.random.default_rng(seed)
    reference, prediction = scene(3 * seed, labels=4)
    values = np.array([0, 1, 1, 2, 2, 3, 50, 255])
    sides = []
    for image in (reference, prediction):
        labels = values[random_labels(rng, image.shape, 7)]
        sides.append(np.where(image > 0, labels, 0))
    return reference, prediction, *sides


@pytest.mark.parametrize("background", ["image", "none"])
@pytest.mark.parametrize("with_void", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_parts_of_part_images(background: Any, with_void: bool, seed: int) -> None:
    reference, prediction, *parts = images_of_parts(seed)
    void = np.random.default_rng(seed).random(reference.shape) < 0.2 if with_void else None
    spec = as_spec(
        {
            "classes": {"body": {"labels": "1-4", "parts": [1, 2, 3]}},
            "matching": ["one-to-one", "many-to-one", "union",
                         {"strategy": "one-to-many", "regions": True}],
            "thresholds": [0.0, 0.3],
            "void_part": 255,
            "not_parts": 50,
            "part_background": background,
            "metrics": ["iou"],
        }
    )  # fmt: skip
    case = pm.evaluate(
        reference=reference,
        prediction=prediction,
        reference_parts=parts[0],
        prediction_parts=parts[1],
        spec=spec,
        void=void,
        spacing=(1.0, 3.0),
    ).cases[0]
    ref_parts, pred_parts = (np.where(part == 50, 0, part) for part in parts)
    for matcher in spec.matching:
        overlap = pm.count_part_overlaps(
            reference,
            prediction,
            ref_parts,
            pred_parts,
            255,
            parts=[1, 2, 3],
            background=background,
            void=void,
            regions="voronoi" if matcher.regions else None,
            spacing=(1.0, 3.0) if matcher.regions else None,
        )
        assert overlap.parts is not None
        steps = pm.curve(overlap, matcher.strategy)
        part_steps = pm.curve(overlap, matcher.strategy, quality="parts")
        for threshold in spec.thresholds:
            matching = pm.match(overlap, matcher.strategy, threshold)
            row = only(case, strategy=matcher.name, threshold=threshold)
            names = ("tp", "fp", "fn", "quality", "pq", "sq")
            assert_same(row, {name: getattr(matching.tally, name) for name in names})
            by_parts = {f"part_{name}": getattr(matching.part_tally, name) for name in names[3:]}
            assert_same(row, by_parts)
            assert (row["autc"], row["part_autc"]) == (steps.autc, part_steps.autc)
            rows = [
                one["part_quality"]
                for one in rows_of(case, "instances")
                if one["strategy"] == matcher.name and one["threshold"] == threshold
            ]
            assert matching.ref_part_quality is not None
            assert rows[: len(overlap.ref_ids)] == matching.ref_part_quality.tolist()


def test_parts_add_columns_and_change_nothing_else() -> None:
    reference, prediction, *parts = images_of_parts(1)
    content: dict[str, Any] = {"void_part": 255, "not_parts": 50, "metrics": ["iou"]}
    images: dict[str, Any] = {"reference": reference, "prediction": prediction}
    plain = pm.evaluate(**images, spec={**content, "classes": {"body": {"labels": "1-4"}}})
    with_parts = pm.evaluate(
        **images,
        reference_parts=parts[0],
        prediction_parts=parts[1],
        spec={**content, "classes": {"body": {"labels": "1-4", "parts": "1-3"}}},
    )
    same = list(plain.scores.columns)
    assert with_parts.scores[same].equals(plain.scores[same])
    more = set(with_parts.scores.columns) - set(same)
    assert more == {"part_quality", "part_pq", "part_sq", "part_autc", "part_autc_sq"}
    assert (with_parts.scores["part_quality"] != plain.scores["quality"]).all()


@pytest.mark.parametrize("regions", [False, True])
def test_parts_among_the_labels_of_the_image(regions: bool) -> None:
    """The parents are components of all parts; 4 belongs to the class and is no part."""
    rng = np.random.default_rng(4)
    classes = {"met": {"labels": "1-4", "instances": "components", "min_voxels": 3, "parts": "1-3"}}
    matching = {"strategy": "many-to-one", "regions": regions}
    spec = as_spec({"classes": classes, "matching": matching, "thresholds": 0.1})
    for _ in range(5):
        images = [random_labels(rng, (12, 14), 4) * (rng.random((12, 14)) < 0.6) for _ in range(2)]
        case = pm.evaluate(reference=images[0], prediction=images[1], spec=spec).cases[0]
        first, second = (objects(image, spec.classes["met"]) for image in images)
        overlap = pm.count_part_overlaps(
            first,
            second,
            np.where((first > 0) & (images[0] < 4), images[0], 0),
            np.where((second > 0) & (images[1] < 4), images[1], 0),
            parts=[1, 2, 3],
            regions="voronoi" if regions else None,
        )
        tally = pm.match(overlap, "many-to-one", 0.1).tally
        assert tally.tp > 0
        (row,) = rows_of(case)
        assert_same(row, {"tp": tally.tp, "fp": tally.fp, "fn": tally.fn, "quality": tally.quality})
