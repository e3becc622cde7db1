"""Nearest labels on a CUDA device are those of the host, ties included (D8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from panmatch.errors import OptionError, ShapeError
from panmatch.labels import _device_regions as device_regions
from panmatch.labels import find_regions, nearest_labels
from panmatch.labels._device_regions import kind_of_squares
from panmatch.labels._whole_steps import comparison_weights
from tests.device import cupy, marks
from tests.device.emulator import EmulatedKernel
from tests.labels.tied_sites import SPACINGS, by_fractions, numbers, sparse_labels

pytestmark = marks

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
SHAPES = [
    (0,),
    (1,),
    (7,),
    (300,),
    (1, 1),
    (0, 4),
    (9, 1),
    (1, 9),
    (6, 5, 4),
    (1, 3, 40),
    (2, 3, 2, 5),
]


def on_host(labels: Any, spacing: Any = None, where: Any = None) -> Any:
    there = None if where is None else cupy.asarray(where)
    found = nearest_labels(cupy.asarray(labels), spacing, where=there)
    assert isinstance(found, cupy.ndarray)
    return cupy.asnumpy(found)


@pytest.mark.parametrize("spacing", SPACINGS, ids="×".join)
def test_every_voxel_has_the_label_that_whole_numbers_give(spacing: Any) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        labels = sparse_labels(rng, len(spacing))
        renamed = np.where(labels, labels.max() + 1 - labels, 0)
        for image in (labels, renamed):
            np.testing.assert_array_equal(
                on_host(image, numbers(spacing)), by_fractions(image, spacing)
            )
        where = rng.random(labels.shape) < 0.5
        found = on_host(labels, numbers(spacing), where)
        np.testing.assert_array_equal(found, nearest_labels(labels, numbers(spacing), where=where))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
def test_every_dtype_and_density(dtype: str, share: float) -> None:
    rng = np.random.default_rng(4)
    shape = (11, 9, 33)
    labels = (rng.integers(1, 128, shape) * (rng.random(shape) < share)).astype(dtype)
    found = on_host(labels, (1, 2, 3))
    assert found.dtype == labels.dtype
    np.testing.assert_array_equal(found, nearest_labels(labels, (1, 2, 3)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(1, 9, shape, dtype=np.int32) * (rng.random(shape) < 0.3)
    np.testing.assert_array_equal(on_host(labels), nearest_labels(labels))
    assert on_host(labels).shape == shape


def test_an_image_without_axes() -> None:
    assert on_host(np.array(7)).tolist() == 7
    assert on_host(np.array(7)).shape == ()


def test_labels_beyond_32_bits() -> None:
    rng = np.random.default_rng(6)
    labels = (rng.integers(1, 9, (12, 13)) + 2**40) * (rng.random((12, 13)) < 0.1)
    np.testing.assert_array_equal(on_host(labels), nearest_labels(labels))


def test_memory_orders_and_views() -> None:
    rng = np.random.default_rng(7)
    labels = rng.integers(1, 99, (14, 15, 16), dtype=np.int32) * (rng.random((14, 15, 16)) < 0.02)
    there = cupy.asarray(labels)
    for spacing in (None, (0.742188, 1.25, 0.976562)):
        want = nearest_labels(labels, spacing)
        views = (there, there), (cupy.asfortranarray(there), there)
        for view, where in views:
            found = cupy.asnumpy(nearest_labels(view, spacing, where=where))
            np.testing.assert_array_equal(found, np.where(labels, want, 0))
        turned = cupy.asnumpy(
            nearest_labels(there.transpose((2, 0, 1)), spacing and spacing[2:] + spacing[:2])
        )
        np.testing.assert_array_equal(turned, want.transpose(2, 0, 1))
        sliced = cupy.asnumpy(nearest_labels(there[::2, 1:, ::-1], spacing))
        np.testing.assert_array_equal(sliced, nearest_labels(labels[::2, 1:, ::-1], spacing))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_lines_of_any_sites(data: st.DataObject) -> None:
    """Sites at any height above any line: the second axis gives them."""
    shape = data.draw(st.tuples(st.integers(1, 40), st.integers(1, 25)))
    sites = data.draw(st.lists(st.tuples(*(st.integers(0, n - 1) for n in shape)), max_size=60))
    labels = np.zeros(shape, np.int32)
    for place in sites:
        labels[place] = data.draw(st.integers(1, 5))
    spacing = data.draw(st.sampled_from([(1, 1), (1, 7), (5, 1), (0.742188, 1.25), (3.1, 2.7)]))
    np.testing.assert_array_equal(on_host(labels, spacing), nearest_labels(labels, spacing))


@pytest.mark.parametrize("kind", ["uint32", "float64"])
def test_squares_of_either_kind_give_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_regions, "kind_of_squares", lambda *_: kind)
    rng = np.random.default_rng(8)
    labels = rng.integers(1, 9, (20, 21, 22), dtype=np.uint8) * (rng.random((20, 21, 22)) < 0.01)
    np.testing.assert_array_equal(on_host(labels, (3, 2, 4)), nearest_labels(labels, (3, 2, 4)))


def test_a_line_longer_than_16_bits() -> None:
    labels = np.zeros((70_000, 2), np.uint8)
    labels[[0, 5_000, 65_535, 65_536, 69_999], [0, 1, 0, 1, 1]] = 5, 1, 3, 2, 4
    np.testing.assert_array_equal(on_host(labels), nearest_labels(labels))


def test_which_squares_need_64_bits() -> None:
    assert kind_of_squares([1.0, 1.0, 1.0], (512, 512, 512)) == "uint32"
    assert kind_of_squares([2.0**32 - 2], (0,)) == "uint32"
    assert kind_of_squares([2.0**32 - 1], (0,)) == "float64"
    assert kind_of_squares([1.0], (65_534,)) == "uint32"  # places fit into 16 bits
    assert kind_of_squares([1.0], (65_535,)) == "float64"
    assert kind_of_squares([0.5], (4,)) == "float64"
    weights = comparison_weights((512,) * 3, np.array([0.742188, 0.742188, 1.25]))
    assert kind_of_squares(weights.tolist(), (512,) * 3) == "float64"


def test_the_order_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmulatedKernel, "backwards", True)
    rng = np.random.default_rng(9)
    labels = rng.integers(1, 9, (12, 20, 30), dtype=np.uint8) * (rng.random((12, 20, 30)) < 0.02)
    np.testing.assert_array_equal(on_host(labels), nearest_labels(labels))


def test_regions_stay_on_the_device() -> None:
    reference, prediction = np.array([1, 1, 0, 0, 0, 2]), np.array([0, 7, 7, 7, 7, 0])
    found = find_regions(cupy.asarray(reference), cupy.asarray(prediction), 0.5)
    assert cupy.asnumpy(found.image).tolist() == [0, 1, 1, 1, 2, 0]
    assert found.spacing == (0.5,)


def test_images_must_be_in_one_place_and_of_one_shape() -> None:
    labels = cupy.asarray([1, 0, 2])
    with pytest.raises(OptionError, match="where is in host memory, but other images are on"):
        nearest_labels(labels, where=[1, 1, 1])
    with pytest.raises(OptionError, match="prediction is in host memory, but other images are"):
        find_regions(labels, [1, 1, 1])
    with pytest.raises(ShapeError, match=r"labels has shape \(3,\) but where has shape \(2,\)"):
        nearest_labels(labels, where=labels[:2])
