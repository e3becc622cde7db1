"""Objects on a CUDA device are measured there, with the values of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.errors import LabelError, OptionError, OverlapError
from tests.device import cupy, marks

pytestmark = marks

METRICS = (
    "iou", "dice", "precision", "centre_distance", "relative_volume_error",
    "hd", "hd95", "hd95_pooled", "assd", "masd", "asd_from_prediction", "nsd",
)  # fmt: skip
MEANS = ("assd", "masd", "asd_from_prediction")  # the last bits of sums may differ
OPTIONS: dict[str, Any] = {"tolerance": 1.5, "penalty": "diagonal"}


def scene(shape: tuple[int, ...], seed: int) -> tuple[Any, Any]:
    reference = phantoms.tissue(shape, 9, seed=seed)
    by = tuple(range(1, len(shape) + 1))
    prediction = phantoms.split(phantoms.shift(reference, by), 3, ids=[2, 4, 5])
    prediction[tuple(slice(4) for _ in shape)] = 70
    rng = np.random.default_rng(seed)
    gaps = rng.random(shape) < 0.1
    return np.asarray(reference, np.int32), np.where(gaps, 0, prediction).astype(np.int64)


def on_device(reference: Any, prediction: Any) -> tuple[Any, Any]:
    return cupy.asarray(reference), cupy.asarray(prediction)


def assert_same(found: pm.Measurements, want: pm.Measurements) -> None:
    assert list(found.columns) == list(want.columns)
    for name, column in want.columns.items():
        if name in MEANS:
            np.testing.assert_allclose(found.columns[name], column, rtol=1e-13, err_msg=name)
        else:
            np.testing.assert_array_equal(found.columns[name], column, err_msg=name)
    assert found.tally == want.tally


@pytest.mark.parametrize("strategy", ["one-to-one", "many-to-one", "one-to-many"])
@pytest.mark.parametrize("shape", [(28, 30), (14, 16, 18)])
def test_every_metric_of_surfaces_and_counts(shape: tuple[int, ...], strategy: Any) -> None:
    images, spacing = scene(shape, 1), (1.5, 0.7, 0.3)[: len(shape)]
    matching = pm.match(pm.count_overlaps(*on_device(*images)), strategy, 0.2)
    assert matching.tally.tp > 3
    want = pm.measure(matching, *images, METRICS, spacing, **OPTIONS)
    assert_same(pm.measure(matching, *on_device(*images), METRICS, spacing, **OPTIONS), want)


def test_pieces_in_regions() -> None:
    reference, prediction = scene((14, 16, 18), 2)
    reference[np.random.default_rng(3).random(reference.shape) < 0.3] = 0
    images, spacing = (reference, prediction), (0.742188, 1.25, 1)
    for strategy in ("union", "one-to-one"):
        matching = pm.match(pm.count_region_overlaps(*images, spacing), strategy, 0.1)
        assert matching.tally.tp > 3
        want = pm.measure(matching, *images, METRICS, spacing, **OPTIONS)
        assert_same(pm.measure(matching, *on_device(*images), METRICS, spacing, **OPTIONS), want)


def test_void() -> None:
    reference, prediction = scene((28, 30), 4)
    mask = np.random.default_rng(5).random(reference.shape) < 0.2
    images = reference, prediction
    for here, there in ((3, 3), (mask, cupy.asarray(mask))):
        matching = pm.match(pm.count_overlaps(*images, void=here), threshold=0.2)
        want = pm.measure(matching, *images, METRICS, void=here)
        assert_same(pm.measure(matching, *on_device(*images), METRICS, void=there), want)


@pytest.mark.parametrize("shape", [(14, 16, 18), (30,)])
def test_everything_as_one_object(shape: tuple[int, ...]) -> None:
    reference, prediction = (
        blob * 3 for blob in np.random.default_rng(6).random((2, *shape)) < 0.1
    )
    want = pm.measure_whole(reference, prediction, METRICS, **OPTIONS)
    assert_same(pm.measure_whole(*on_device(reference, prediction), METRICS, **OPTIONS), want)
    nothing = np.zeros_like(reference)
    want = pm.measure_whole(reference, nothing, METRICS, **OPTIONS)
    assert_same(pm.measure_whole(*on_device(reference, nothing), METRICS, **OPTIONS), want)


def test_one_voxel_without_axes() -> None:
    found = pm.measure_whole(cupy.asarray(1), cupy.asarray(1), ("dice", "hd"))
    assert [found.columns[name].tolist() for name in ("dice", "hd")] == [[1.0], [0.0]]


def test_empty_images() -> None:
    nothing = np.zeros((3, 4), np.int32)
    matching = pm.match(pm.count_overlaps(*on_device(nothing, nothing)))
    assert len(pm.measure(matching, *on_device(nothing, nothing), METRICS).columns["hd"]) == 0


def test_what_runs_on_the_host_says_so() -> None:
    images = scene((28, 30), 7)
    matching = pm.match(pm.count_overlaps(*images), threshold=0.2)
    for metric in ("boundary_iou", "cldice", "hd95_elements"):
        with pytest.raises(OptionError, match="reference is on a CUDA device, but this step runs"):
            pm.measure(matching, *on_device(*images), metric)
    with pytest.raises(OverlapError, match="prediction is not what was matched"):
        pm.measure(matching, *on_device(images[0], images[0]), "hd")
    with pytest.raises(OptionError, match="prediction is in host memory, but other images"):
        pm.measure(matching, cupy.asarray(images[0]), images[1], "hd")
    with pytest.raises(LabelError, match="reference holds the negative label -2"):
        pm.measure_whole(cupy.asarray([-2, 1]), cupy.asarray([1, 1]))
