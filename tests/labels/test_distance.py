"""The exact distance transform, for one object and for many."""

from __future__ import annotations

from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

from panmatch import phantoms
from panmatch.errors import OptionError
from panmatch.labels import edge_distances, inner_band

DTYPES = (np.uint8, np.int16, np.int32, np.uint64)
SPACINGS = (0.5, 0.7, 1.0, 3.0)


def by_scipy(labels: npt.NDArray[Any], spacing: Any, *, border: bool) -> npt.NDArray[Any]:
    """One transform per object, as everybody else does it."""
    frame = np.pad(labels, 1) if border else labels
    core = (slice(1, -1),) * labels.ndim if border else ...
    found = np.zeros(labels.shape)
    for label in np.unique(labels[labels != 0]):
        mask = frame == label
        apart = ndimage.distance_transform_edt(mask, sampling=spacing)
        apart = np.full(mask.shape, np.inf) if mask.all() else apart
        found[labels == label] = apart[core][labels == label]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_many_objects_at_once_equal_scipy_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 5))
    shape = tuple(rng.integers(1, 20 if ndim < 4 else 6, ndim).tolist())
    blocks = rng.integers(0, 4, [-(-n // 3) for n in shape])
    for axis in range(ndim):
        blocks = np.repeat(blocks, 3, axis)
    labels = blocks[tuple(map(slice, shape))].astype(rng.choice(DTYPES))  # type: ignore[arg-type]
    spacing = rng.choice(SPACINGS, ndim)
    for border in (False, True):
        found = edge_distances(labels, spacing, border=border, threads=1 + seed % 3)
        np.testing.assert_allclose(found, by_scipy(labels, spacing, border=border), rtol=1e-13)


def test_whole_distances_are_exact_and_independent_of_threads_and_memory_order() -> None:
    mask = phantoms.balls((40, 37, 33), 6, radius=(4, 9), seed=2) == 0
    squares = edge_distances(mask) ** 2
    assert np.array_equal(edge_distances(mask), np.sqrt(np.rint(squares)))
    for other in (
        mask.copy(order="F"),
        np.asfortranarray(mask.transpose(1, 0, 2)).transpose(1, 0, 2),
    ):
        assert np.array_equal(edge_distances(other, threads=3), edge_distances(mask, threads=1))
    assert np.array_equal(
        edge_distances(mask[::-1, :, ::2]), edge_distances(mask[::-1, :, ::2].copy())
    )


@pytest.mark.parametrize("length", [4096, 6000])
def test_float32_is_rounded_once_even_where_squares_outgrow_it(length: int) -> None:
    mask = np.ones((3, length), np.uint8)
    mask[1, 0] = 0
    found = edge_distances(mask, dtype=np.float32)
    y, x = np.mgrid[-1:2, :length]
    assert found.dtype == np.float32
    assert np.array_equal(found, np.sqrt(x.astype(np.float64) ** 2 + y**2).astype(np.float32))


def test_uneven_spacing_is_rounded_once_in_float32() -> None:
    mask = phantoms.blobs((30, 30, 30), 4, radius=(4, 5), seed=1) == 0
    spacing = (0.7, 1.1, 3.3)
    fine = edge_distances(mask, spacing)
    assert np.array_equal(edge_distances(mask, spacing, dtype=np.float32), fine.astype(np.float32))


@pytest.mark.parametrize("step", [0.1, 0.3, 0.7, 1.2, 0.742188, 3e-4, 2500.0])
def test_whole_steps_are_the_decimals_that_they_are(step: float) -> None:
    """Three steps of 0.1 are 0.3: the float64 of the decimal, and not a sum of rounded squares."""
    mask = np.ones((3, 60), np.uint8)
    mask[:, 0] = 0
    exact = [float(Decimal(repr(step)) * n) for n in range(60)]
    for laid_out in (mask, mask.copy(order="F")):
        assert edge_distances(laid_out, (1.7, step))[1].tolist() == exact


@pytest.mark.parametrize(
    "spacing", [(0.1, 0.5, 0.3), (0.742188, 0.742188, 5), (0.123456789, 0.98765432, 1 / 3)]
)
def test_distances_do_not_depend_on_the_memory_order(spacing: Any) -> None:
    """Exact sums, and otherwise sums in the order of the axes, are rounded alike."""
    labels = phantoms.blobs((30, 28, 26), 6, radius=(4, 6), seed=5)
    want = edge_distances(labels, spacing)
    for axes in permutations(range(3)):
        laid_out = np.ascontiguousarray(labels.transpose(axes)).transpose(np.argsort(axes))
        assert np.array_equal(edge_distances(laid_out, spacing), want)


def test_a_voxel_that_meets_no_other_label_is_infinitely_far() -> None:
    assert np.isinf(edge_distances(np.ones((3, 4)).astype(int))).all()
    assert edge_distances(np.ones((1, 4), int), border=True).tolist() == [[1, 1, 1, 1]]
    assert edge_distances(np.zeros((2, 2), int)).tolist() == [[0, 0], [0, 0]]


def test_empty_and_zero_dimensional_images_are_fine() -> None:
    assert edge_distances(np.zeros((0, 3), int)).shape == (0, 3)
    assert edge_distances(np.array(4)).tolist() == float("inf")


@pytest.mark.parametrize(
    ("spacing", "message"),
    [
        ((1, 1, 1), r"spacing=\(1, 1, 1\) has 3 numbers, but the image has 2 axes"),
        ((1, 0), r"spacing=\(1, 0\) must be positive and finite"),
        ((1, float("nan")), "must be positive and finite"),
        ("wide", "spacing='wide' is not a list of numbers"),
    ],
)
def test_bad_spacing_is_named(spacing: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        edge_distances(np.zeros((2, 2), int), spacing)


def test_other_dtypes_are_refused() -> None:
    with pytest.raises(OptionError, match=r"dtype=.* float32 or float64"):
        edge_distances(np.zeros((2, 2), int), dtype=np.float16)


def test_a_band_of_one_voxel_is_the_boundary() -> None:
    disc = np.hypot(*np.mgrid[-6:7, -6:7]) < 5.5
    eroded = ndimage.binary_erosion(disc)
    assert np.array_equal(inner_band(disc, 1) != 0, disc & ~eroded)


def test_touching_objects_have_bands_of_their_own() -> None:
    labels = np.repeat([[1, 2]], 5, 1).repeat(9, 0)
    found = inner_band(labels, 1)
    assert np.array_equal(found[4], [1, 0, 0, 0, 1, 2, 0, 0, 0, 2])


def test_a_width_that_equals_a_rounded_distance_keeps_the_voxel() -> None:
    labels = np.ones(9, int)
    assert inner_band(labels, 0.3, 0.1).tolist() == [1, 1, 1, 0, 0, 0, 1, 1, 1]
