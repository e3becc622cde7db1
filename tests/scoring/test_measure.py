"""Rows per object: who is compared with whom, and what becomes of objects without partner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.errors import LabelError, OptionError, OverlapError, ShapeError
from panmatch.scoring import all_metrics

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


def measured(metrics: Any, strategy: Any = "many-to-one", **options: Any) -> pm.Measurements:
    matching = pm.match(pm.count_overlaps(REFERENCE, PREDICTION), strategy, 0.3)
    return pm.measure(matching, REFERENCE, PREDICTION, metrics, **options)


def test_a_row_per_reference_and_then_per_false_positive() -> None:
    found = measured(("iou",))
    assert found.columns["ref_id"].tolist() == [1, 2, 4, 0]
    assert found.columns["pred_ids"].tolist() == ["7 8", "", "5", "9"]
    assert found.columns["status"].tolist() == ["matched", "missed", "matched", "false positive"]
    assert len(found) == 4


def test_what_is_merged_is_compared_as_one_object() -> None:
    found = measured(
        (
            "iou",
            "dice",
            "precision",
            "recall",
            "relative_volume_difference",
            "relative_volume_error",
            "absolute_volume_difference",
            "centre_distance",
        ),
        spacing=(2, 0.5),
    )
    want: dict[str, list[float]] = {
        "iou": [6 / 8, 0, 2 / 3, 0],
        "dice": [12 / 14, 0, 4 / 5, 0],
        "precision": [1, NAN, 2 / 3, 0],
        "recall": [6 / 8, 0, 1, NAN],
        "relative_volume_difference": [-2 / 8, -1, 1 / 2, NAN],
        "relative_volume_error": [2 / 8, 1, 1 / 2, NAN],
        "absolute_volume_difference": [2, 4, 1, 2],
        "centre_distance": [0.25, NAN, 0.25, NAN],
    }
    for name, values in want.items():
        np.testing.assert_allclose(found.columns[name], values, rtol=1e-14, err_msg=name)


def test_sizes_and_places_of_both_sides() -> None:
    columns = measured("iou", spacing=(2, 0.5)).columns
    assert columns["ref_voxels"].tolist() == [8, 4, 2, 0]
    assert columns["pred_voxels"].tolist() == [6, 0, 3, 2]
    assert columns["ref_volume"].tolist() == [8, 4, 2, 0]
    assert columns["pred_volume"].tolist() == [6, 0, 3, 2]
    centre = [[1, 0.75], [1, 2.75], [6, 0.25], [NAN, NAN]]
    np.testing.assert_array_equal(columns["ref_centroid"], centre)
    np.testing.assert_array_equal(columns["pred_centroid"][3], [4, 3.25])
    assert columns["ref_start"].tolist() == [[0, 0], [0, 5], [3, 0], [0, 0]]
    assert columns["ref_stop"].tolist() == [[2, 4], [2, 7], [4, 2], [0, 0]]
    assert columns["pred_start"].tolist() == [[0, 0], [0, 0], [3, 0], [2, 6]]
    assert columns["pred_stop"].tolist() == [[2, 3], [0, 0], [4, 3], [3, 8]]


def test_the_inner_edge_between_merged_fragments_is_no_boundary() -> None:
    """7 and 8 touch: joined, they are a 2 × 3 block, all of it boundary only by its outer edge."""
    tall = np.repeat(REFERENCE, 3, 0), np.repeat(PREDICTION, 3, 0)
    matching = pm.match(pm.count_overlaps(*tall), "many-to-one", 0.3)
    assert measured("iou").columns["pred_ids"][:1].tolist() == ["7 8"]
    found = pm.measure(matching, *tall, ("hd", "boundary_iou"), boundary_width=1.0)
    joined = np.where(tall[1] == 8, 7, tall[1])
    same = pm.measure(
        pm.match(pm.count_overlaps(tall[0], joined), "one-to-one", 0.3),
        tall[0],
        joined,
        ("hd", "boundary_iou"),
        boundary_width=1.0,
    )
    for name in ("hd", "boundary_iou"):
        np.testing.assert_array_equal(found.columns[name], same.columns[name])


def test_one_prediction_may_serve_several_references() -> None:
    reference, prediction = np.array([1, 1, 2, 2]), np.array([3, 3, 3, 3])
    matching = pm.match(pm.count_overlaps(reference, prediction), "one-to-many", 0.4)
    found = pm.measure(matching, reference, prediction, ("dice", "hd", "boundary_iou"))
    assert found.columns["pred_ids"].tolist() == ["3", "3"]
    assert found.columns["dice"].tolist() == pytest.approx([2 / 3, 2 / 3])
    assert found.columns["hd"].tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("penalty", "value"), [(None, NAN), (30, 30.0), ("diagonal", np.hypot(4 * 3, 8 * 0.5))]
)
def test_distances_without_partner_are_nan_or_the_stated_penalty(penalty: Any, value: Any) -> None:
    found = measured(("hd", "centre_distance", "dice"), spacing=(3, 0.5), penalty=penalty)
    for name in ("hd", "centre_distance"):
        np.testing.assert_array_equal(found.columns[name][[1, 3]], [value, value])
        assert np.isfinite(found.columns[name][[0, 2]]).all()
    assert found.columns["dice"][[1, 3]].tolist() == [0, 0]


def test_nan_has_a_reason() -> None:
    found = measured(("hd", "recall"))
    missed = "missed: no prediction to compare with"
    false = "false positive: no reference to compare with"
    assert found.reasons("hd").tolist() == ["", missed, "", false]
    assert found.reasons("recall").tolist() == ["", "", "", false]


def test_averages_say_what_they_skip_and_add_up() -> None:
    found = measured(("hd", "dice"))
    dice = found.average("dice")
    assert (dice.total, dice.count, dice.skipped) == (12 / 14 + 4 / 5, 2, 0)
    assert found.average("dice", over="references").count == 3
    assert found.average("dice", over="all").value == pytest.approx((12 / 14 + 4 / 5) / 4)
    distances = found.average("hd", over="all")
    assert (distances.count, distances.skipped) == (2, 2)
    assert sum([distances, distances]) == pm.Average(2 * distances.units, 4, 4)
    assert np.isnan(pm.Average(0, 0, 3).value)


def test_sq_and_pq_follow_for_every_metric() -> None:
    found = measured(("iou", "dice", "assd"))
    tally = found.tally
    assert found.scores["pq_iou"] == pytest.approx(tally.pq, abs=1e-15)
    assert found.scores["sq_iou"] == pytest.approx(tally.sq, abs=1e-15)
    assert found.scores["sq_dice"] == pytest.approx((12 / 14 + 4 / 5) / 2)
    assert found.scores["pq_dice"] == pytest.approx((12 / 14 + 4 / 5) / (2 + 0.5 + 0.5))
    assert found.score("sq_assd") == np.mean(found.columns["assd"][[0, 2]])
    assert set(found.scores) == {"rq", "sq_iou", "pq_iou", "sq_dice", "pq_dice", "sq_assd"}
    assert found.tally_of("dice") == pm.Tally(2, 1, 1, 12 / 14 + 4 / 5)


def test_pq_of_a_distance_is_refused() -> None:
    found = measured("assd")
    with pytest.raises(OptionError, match="'pq_assd' is not defined: assd is not a quality from"):
        found.score("pq_assd")
    with pytest.raises(OptionError, match=r"name='assd' is not a quality.*average\('assd'\)"):
        found.tally_of("assd")


def test_without_a_match_sq_is_zero_for_shares_and_undefined_for_distances() -> None:
    matching = pm.match(pm.count_overlaps(REFERENCE, np.zeros_like(PREDICTION)))
    found = pm.measure(matching, REFERENCE, np.zeros_like(PREDICTION), ("dice", "assd"))
    assert found.scores["sq_dice"] == 0
    assert np.isnan(found.scores["sq_assd"])


@pytest.mark.parametrize("name", list(pm.all_metrics()))
def test_empty_images_give_no_rows(name: str) -> None:
    nothing = np.zeros((4, 4), int)
    matching = pm.match(pm.count_overlaps(nothing, nothing))
    found = pm.measure(matching, nothing, nothing, name)
    assert len(found) == len(found.columns[name]) == 0
    assert np.isnan(found.scores[f"sq_{name}"])


@pytest.mark.parametrize("strategy", ["one-to-one", "many-to-one", "one-to-many", "same-id"])
def test_quality_equals_the_matching_s_for_every_strategy(strategy: str) -> None:
    reference = phantoms.tissue((40, 40), 12, seed=3)
    prediction = phantoms.split(phantoms.shift(reference, (2, 1)), 2, ids=[3, 5, 7])
    matching = pm.match(pm.count_overlaps(reference, prediction), strategy, 0.2)
    found = pm.measure(matching, reference, prediction, "iou")
    n = len(matching.overlap.ref_ids)
    np.testing.assert_allclose(found.columns["iou"][:n], matching.ref_quality, rtol=1e-15)
    assert found.columns["status"].tolist().count("false positive") == matching.tally.fp
    assert found.scores["pq_iou"] == pytest.approx(matching.tally.pq, abs=1e-14)


def test_void_is_left_out_on_both_sides() -> None:
    reference = np.array([[1, 1, 255, 255], [0, 0, 0, 0]])
    prediction = np.array([[3, 3, 3, 3], [0, 0, 0, 0]])
    matching = pm.match(pm.count_overlaps(reference, prediction, void=255))
    found = pm.measure(matching, reference, prediction, ("dice", "hd"), void=255)
    assert found.columns["dice"].tolist() == [1.0]
    assert found.columns["hd"].tolist() == [0.0]
    masked = np.ma.masked_equal(reference, 255)
    again = pm.measure(matching, masked, prediction, ("dice", "hd"))
    assert again.columns["hd"].tolist() == [0.0]


def test_other_images_than_the_matched_ones_are_refused() -> None:
    matching = pm.match(pm.count_overlaps(REFERENCE, PREDICTION))
    with pytest.raises(OverlapError, match="reference is not what was matched: label 1 has 0 vox"):
        pm.measure(matching, PREDICTION, REFERENCE)
    with pytest.raises(OverlapError, match="prediction is not what was matched: label 5 has 2 v"):
        pm.measure(matching, REFERENCE, np.where(REFERENCE == 4, 5, PREDICTION * (PREDICTION != 5)))
    with pytest.raises(ShapeError, match=r"\(4, 8\).*\(3, 8\)"):
        pm.measure(matching, REFERENCE, PREDICTION[:3])
    unknown = np.zeros_like(REFERENCE)
    unknown[2, 6] = 1
    with_void = pm.match(pm.count_overlaps(REFERENCE, PREDICTION, void=unknown))
    with pytest.raises(OverlapError, match="has void voxels: pass the same void"):
        pm.measure(with_void, REFERENCE, PREDICTION)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "dce"}, "metrics='dce' is not known; did you mean 'dice'"),
        ({"metrics": ("dice", "dice")}, "names 'dice' more than once"),
        ({"metrics": "iou", "tolerance": -1}, "tolerance=-1 must be a distance"),
        ({"metrics": "iou", "boundary_width": "2"}, "boundary_width='2' must be a distance"),
        ({"metrics": "iou", "boundary_width": 0.5}, "less than the distance between voxels"),
        ({"metrics": "iou", "penalty": "image"}, "penalty='image'.*or 'diagonal'"),
        ({"metrics": "iou", "penalty": NAN}, "penalty=nan must be"),
        ({"metrics": "iou", "spacing": (1,)}, r"spacing=\(1,\) has 1 numbers.* 2 axes"),
        ({"metrics": "iou", "threads": 0}, "threads=0 must be"),
        ({"metrics": "iou", "unit": "cm"}, "unit='cm' is not known"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        measured(**options)


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ({}, "voxel"),
        ({"spacing": (3, 0.5)}, "mm"),
        ({"spacing": (3, 0.5), "unit": "µm"}, "µm"),
    ],
)
def test_distances_have_the_unit_of_the_spacing(options: dict[str, Any], unit: Any) -> None:
    found = measured(("hd", "dice", "absolute_volume_difference"), **options)
    assert found.options is not None
    assert found.options.unit == unit
    assert [metric.unit(unit) for metric in found.metrics] == [unit, "", f"{unit}³"]
    assert found.options.penalty is None


def test_results_do_not_depend_on_threads() -> None:
    reference = phantoms.balls((40, 40, 40), 9, radius=(4, 6), seed=1)
    prediction = phantoms.shift(reference, (1, 1, 0))
    matching = pm.match(pm.count_overlaps(reference, prediction), threshold=0.1)
    one, many = (
        pm.measure(matching, reference, prediction, ("hd95", "assd"), (1, 0.7, 2), threads=threads)
        for threads in (1, 4)
    )
    for name in ("hd95", "assd"):
        np.testing.assert_array_equal(one.columns[name], many.columns[name])


def test_a_whole_class_is_one_object() -> None:
    found = pm.measure_whole(REFERENCE, PREDICTION, ("dice", "hd"), spacing=(2, 1))
    assert found.columns["dice"].tolist() == [2 * 8 / (14 + 11)]
    assert found.columns["hd"].tolist() == [4.0]  # 2's upper right voxel: as far from 8 as from 9
    assert found.columns["status"].tolist() == ["matched"]


def test_a_whole_class_that_shares_nothing_still_has_distances() -> None:
    found = pm.measure_whole([[1, 0, 0, 0]], [[0, 0, 0, 2]], ("dice", "hd", "iou"))
    assert found.columns["hd"].tolist() == [3.0]
    assert found.columns["dice"].tolist() == found.columns["iou"].tolist() == [0.0]


def test_a_whole_class_missing_on_one_side_or_both() -> None:
    some, none = np.ones((3, 3), int), np.zeros((3, 3), int)
    missed = pm.measure_whole(some, none, ("dice", "hd"), penalty="diagonal")
    assert missed.columns["status"].tolist() == ["missed"]
    assert missed.columns["dice"].tolist() == [0.0]
    assert missed.columns["hd"].tolist() == [np.hypot(3, 3)]
    false = pm.measure_whole(none, some, ("dice", "hd"))
    assert false.columns["status"].tolist() == ["false positive"]
    assert np.isnan(false.columns["hd"]).all()
    empty = pm.measure_whole(none, none, all_metrics(), penalty=9)
    assert empty.columns["status"].tolist() == ["empty"]
    assert np.isnan([empty.columns[name][0] for name in all_metrics()]).all()
    assert empty.reasons("hd").tolist() == ["empty: neither side has a voxel"]
    assert empty.tally.status == "empty"


def test_a_whole_class_with_a_negative_label_is_refused_unless_it_is_void() -> None:
    image = np.array([[1, -1, -1]])
    with pytest.raises(LabelError, match=r"reference holds the negative label -1 \(2 voxels"):
        pm.measure_whole(image, np.abs(image))
    assert pm.measure_whole(image, np.abs(image), "dice", void=-1).columns["dice"].tolist() == [1.0]
