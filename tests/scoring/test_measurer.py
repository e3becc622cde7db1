"""Many matchings through one `Measurer` equal `measure` on each, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.errors import OverlapError
from panmatch.scoring import Measurer

Labels = npt.NDArray[np.int64]

METRICS = ("iou", "dice", "hd95", "assd", "nsd", "boundary_iou", "centre_distance", "cldice")
STRATEGIES: tuple[str | pm.Strategy, ...] = (
    "one-to-one",
    "many-to-one",
    "one-to-many",
    "same-id",
    pm.ManyToOne(gate="edge"),
)


def scene(seed: int) -> tuple[Labels, Labels]:
    reference = phantoms.tissue((28, 30), 9, seed=seed)
    prediction = phantoms.split(phantoms.shift(reference, (2, 1)), 3, ids=[2, 4, 5])
    prediction[:4, :4] = 70
    return np.asarray(reference, np.int64), np.asarray(prediction, np.int64)


def assert_same(one: pm.Measurements, other: pm.Measurements) -> None:
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column, other.columns[name], err_msg=name)
    assert one.tally == other.tally
    # As text, so that NaN equals NaN.
    assert repr(one.options) == repr(other.options)
    assert repr(one.scores) == repr(other.scores)


OPTIONS: dict[str, Any] = {"tolerance": 1.5, "boundary_width": 2.0, "penalty": "diagonal"}


@pytest.mark.parametrize("seed", [1, 2])
def test_whole_predictions(seed: int) -> None:
    images, spacing = scene(seed), (1.5, 0.7)
    overlap = pm.count_overlaps(*images)
    measurer = Measurer(*images, METRICS, spacing, **OPTIONS)
    for threshold in (0.7, 0.0, 0.3, 0.5, 0.7):
        for strategy in STRATEGIES:
            matching = pm.match(overlap, strategy, threshold)
            expected = pm.measure(matching, *images, METRICS, spacing, **OPTIONS)
            assert_same(measurer.measure(matching), expected)


def test_predictions_that_are_cut_by_cells() -> None:
    images, spacing = scene(3), (1.0, 2.0)
    overlap = pm.count_region_overlaps(*images, spacing)
    measurer = Measurer(*images, METRICS, spacing)
    strategies: list[Any] = ["one-to-one", "many-to-one", "one-to-many", pm.RegionUnion()]
    for threshold in (0.0, 0.4, 0.6):
        for strategy in strategies:
            matching = pm.match(overlap, strategy, threshold)
            assert_same(measurer.measure(matching), pm.measure(matching, *images, METRICS, spacing))


def test_whole_and_cut_predictions_through_one_measurer_in_turn() -> None:
    images = scene(4)
    whole, cut = pm.count_overlaps(*images), pm.count_region_overlaps(*images)
    measurer = Measurer(*images, METRICS)
    for threshold in (0.5, 0.2):
        for matching in (pm.match(whole, threshold=threshold), pm.match(cut, "union", threshold)):
            assert_same(measurer.measure(matching), pm.measure(matching, *images, METRICS))


@pytest.mark.parametrize("regions", [False, True])
def test_void(regions: bool) -> None:
    images = scene(5)
    void = np.random.default_rng(0).random(images[0].shape) < 0.2
    count = pm.count_region_overlaps if regions else pm.count_overlaps
    overlap = count(*images, void=void)
    measurer = Measurer(*images, METRICS, void=void)
    for strategy in ("one-to-one", "many-to-one", "one-to-many"):
        for threshold in (0.5, 0.1):
            matching = pm.match(overlap, strategy, threshold)
            expected = pm.measure(matching, *images, METRICS, void=void)
            assert_same(measurer.measure(matching), expected)


def test_empty_matchings_first_and_last() -> None:
    reference, prediction = np.array([[1, 1, 0, 2]]), np.array([[5, 5, 5, 0]])
    overlap, nothing = pm.count_overlaps(reference, prediction), np.zeros((1, 4), int)
    measurer = Measurer(reference, prediction, METRICS)
    for threshold in (0.9, 0.5, 0.9):
        matching = pm.match(overlap, threshold=threshold)
        assert_same(
            measurer.measure(matching), pm.measure(matching, reference, prediction, METRICS)
        )
    empty = Measurer(nothing, nothing, METRICS)
    matching = pm.match(pm.count_overlaps(nothing, nothing))
    for _ in range(2):
        assert_same(empty.measure(matching), pm.measure(matching, nothing, nothing, METRICS))
        assert len(empty.measure(matching)) == 0


def test_every_pair_is_measured_once() -> None:
    calls: list[int] = []

    def counted(objects: Any) -> npt.NDArray[np.float64]:
        calls.append(len(objects))
        return np.zeros(len(objects))

    metric = replace(pm.all_metrics()["dice"], name="counted", compute=counted)
    reference, prediction = np.array([1, 1, 1, 0, 2]), np.array([5, 5, 0, 0, 6])
    overlap = pm.count_overlaps(reference, prediction)
    measurer = Measurer(reference, prediction, (metric,))
    for threshold in (0.0, 0.5, 0.8, 0.5, 0.8):
        measurer.measure(pm.match(overlap, threshold=threshold))
    # Both pairs at once; then, at 0.8, reference 1 and prediction 5 alone; then nothing new.
    assert calls == [2, 2]


def test_other_images_than_the_matched_ones_are_refused() -> None:
    reference, prediction = np.array([1, 1, 0, 2]), np.array([5, 5, 5, 0])
    matching = pm.match(pm.count_overlaps(reference, prediction))
    with pytest.raises(OverlapError, match="reference is not what was matched: label 1 has 0 vox"):
        Measurer(prediction, reference).measure(matching)
    with_void = pm.match(pm.count_overlaps(reference, prediction, void=[0, 0, 1, 0]))
    with pytest.raises(OverlapError, match="has void voxels: pass the same void here"):
        Measurer(reference, prediction).measure(with_void)
