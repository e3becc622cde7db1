"""Boxes and distances of objects on a CUDA device are those of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from panmatch.labels import (
    Geometry,
    ObjectPairs,
    SurfaceDistances,
    paint_volumes,
    segment_geometry,
    surface_distances,
)
from panmatch.labels import _device_surfaces as device_surfaces
from panmatch.labels._counted_distances import CountedDistances
from panmatch.labels._object_pairs import DistanceLists
from tests.device import cupy, marks
from tests.device.emulator import EmulatedKernel

pytestmark = marks

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
SPACINGS: list[Any] = [None, (0.1, 0.5, 0.3), (0.742188, 1.25, 0.976562), (1e-9, 1 / 3, 123.456)]


def blocks(shape: tuple[int, ...], seed: int, most: int = 6) -> Any:
    """Labels in blocks of four voxels, so that objects have an inside."""
    coarse = np.random.default_rng(seed).integers(0, most, [-(-n // 4) for n in shape])
    for axis in range(len(shape)):
        coarse = coarse.repeat(4, axis=axis)
    return coarse[tuple(map(slice, shape))]


def random_pairs(reference: Any, prediction: Any, seed: int) -> ObjectPairs:
    """Every reference with one to three predictions, which other rows may have as well."""
    rng = np.random.default_rng(seed)
    sides = segment_geometry(reference), segment_geometry(prediction)
    some = [np.sort(rng.permutation(sides[1].ids)[: rng.integers(1, 4)]) for _ in sides[0].ids]
    first = np.concatenate([[0], np.cumsum([len(ids) for ids in some])])
    rows = np.repeat(np.arange(len(some)), np.diff(first))
    ids = np.concatenate(some)
    union = sides[1].unite(ids, rows, len(some))
    return ObjectPairs(
        sides[0].ids, first, ids, np.minimum(sides[0].start, union.start),
        np.maximum(sides[0].stop, union.stop),
    )  # fmt: skip


def written_out(counted: DistanceLists) -> DistanceLists:
    assert isinstance(counted, CountedDistances)
    lengths = np.concatenate([[0], np.cumsum(counted.lengths)])
    return DistanceLists(np.repeat(counted.values, counted.counts), lengths)


def assert_same(found: SurfaceDistances, want: SurfaceDistances, *, exact: bool = True) -> None:
    for mine, theirs in ((found.from_ref, want.from_ref), (found.from_pred, want.from_pred)):
        listed = written_out(mine)
        np.testing.assert_array_equal(listed.first, theirs.first)
        if exact:
            np.testing.assert_array_equal(listed.values, theirs.values)
        else:
            np.testing.assert_allclose(listed.values, theirs.values, rtol=1e-12)


def check(reference: Any, prediction: Any, spacing: Any = None, **options: Any) -> None:
    pairs = random_pairs(reference, prediction, 1)
    there = cupy.asarray(reference), cupy.asarray(prediction)
    want = surface_distances(reference, prediction, pairs, spacing)
    assert_same(surface_distances(*there, pairs, spacing), want, **options)


@pytest.mark.parametrize("spacing", SPACINGS, ids=str)
def test_distances_are_those_of_the_host(spacing: Any) -> None:
    exact = spacing is None or spacing[0] > 1e-6  # sums are rounded in the last case
    check(blocks((21, 30, 19), 1), blocks((21, 30, 19), 2), spacing, exact=exact)


@pytest.mark.parametrize("shape", [(5,), (70,), (1, 30), (23, 40), (9, 8, 7, 6), (3, 4, 5, 3, 4)])
def test_any_number_of_axes(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    reference, prediction = rng.integers(0, 3, (2, *shape))
    for image in (reference, prediction):
        image.flat[:2] = 1, 2
    check(reference, prediction, tuple(range(1, len(shape) + 1)))


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_every_dtype(dtype: str) -> None:
    reference, prediction = blocks((9, 12, 10), 4), blocks((9, 12, 10), 5)
    check(reference.astype(dtype), prediction)
    check(reference, prediction.astype(dtype))


def test_objects_far_apart() -> None:
    reference, prediction = np.zeros((2, 40, 33, 57), np.int32)
    reference[:3, :4, :5], reference[20:, 10:12, 50:] = 1, 2
    prediction[37:, 30:, 55:], prediction[0, 0, 0] = 7, 8
    for spacing in SPACINGS[:3]:
        check(reference, prediction, spacing)


def test_memory_orders() -> None:
    reference, prediction = blocks((13, 14, 15), 6), blocks((13, 14, 15), 7)
    pairs = random_pairs(reference, prediction, 2)
    for spacing in SPACINGS[:3]:
        want = surface_distances(reference, prediction, pairs, spacing)
        there = cupy.asarray(reference), cupy.asarray(prediction)
        fortran = [cupy.asfortranarray(image) for image in there]
        for ref, pred in (fortran, (fortran[0], there[1]), (there[0], fortran[1])):
            assert_same(surface_distances(ref, pred, pairs, spacing), want)


@pytest.mark.parametrize("most", [1, 2_000, 10_000])
def test_crops_in_batches(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_surfaces, "MOST_VOXELS", most)
    check(blocks((21, 30, 19), 8), blocks((21, 30, 19), 9))


def test_the_order_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmulatedKernel, "backwards", True)
    reference, prediction = blocks((21, 30, 19), 10), blocks((21, 30, 19), 11)
    check(reference, prediction)
    assert_same_geometry(segment_geometry(cupy.asarray(reference)), segment_geometry(reference))


def test_no_pairs_at_all() -> None:
    empty = np.zeros(0, np.int64)
    pairs = ObjectPairs(empty, np.zeros(1, np.int64), empty, *np.zeros((2, 0, 3), np.int64))
    image = cupy.asarray(np.ones((2, 3, 4), np.int32))
    found = surface_distances(image, image, pairs)
    assert found.from_ref.lengths.tolist() == found.from_pred.sums().tolist() == []
    assert found.from_ref.quantiles(0.95).tolist() == found.from_ref.maxima().tolist() == []
    assert found.from_ref.pooled(found.from_pred).within(1).tolist() == []


def test_counted_distances_are_lists_of_distances() -> None:
    rng = np.random.default_rng(12)
    sides = []
    for _ in range(2):
        rows = [np.sort(rng.integers(0, 9, n) / 7) for n in rng.integers(1, 50, 30)]
        listed = [np.unique(row, return_counts=True) for row in rows]
        first = np.concatenate([[0], np.cumsum([len(values) for values, _ in listed])])
        values, counts = (np.concatenate(column) for column in zip(*listed, strict=True))
        counted = CountedDistances(values, first, counts)
        plain = written_out(counted)
        np.testing.assert_array_equal(plain.values, np.concatenate(rows))
        sides.append((counted, plain))
    (here, plain_here), (there, plain_there) = sides
    for counted, plain in (*sides, (here.pooled(there), plain_here.pooled(plain_there))):
        np.testing.assert_array_equal(counted.lengths, plain.lengths)
        np.testing.assert_array_equal(counted.maxima(), plain.maxima())
        np.testing.assert_allclose(counted.sums(), plain.sums(), rtol=1e-14)
        for q in (0.0, 0.3, 0.5, 0.95, 1.0):
            np.testing.assert_array_equal(counted.quantiles(q), plain.quantiles(q))
        for tolerance in (0.0, 2 / 7, 0.5, 10.0):
            np.testing.assert_array_equal(counted.within(tolerance), plain.within(tolerance))


def assert_same_geometry(found: Geometry, want: Geometry) -> None:
    for name in ("ids", "voxels", "coordinate_sums", "start", "stop"):
        np.testing.assert_array_equal(getattr(found, name), getattr(want, name), err_msg=name)
        assert getattr(found, name).dtype == np.int64


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (1,), (50,), (0, 4), (12, 9), (8, 9, 10), (3, 4, 5, 6)])
def test_boxes_and_centres_of_segments(shape: tuple[int, ...], dtype: str) -> None:
    labels = np.random.default_rng(13).integers(0, 5, shape).astype(dtype)
    assert_same_geometry(segment_geometry(cupy.asarray(labels)), segment_geometry(labels))


def test_boxes_in_any_memory_order() -> None:
    labels = blocks((9, 14, 11), 14) * 2**40
    there = cupy.asarray(labels)
    assert_same_geometry(segment_geometry(cupy.asfortranarray(there)), segment_geometry(labels))
    turned = there.transpose((1, 2, 0))[::2]
    assert_same_geometry(segment_geometry(turned), segment_geometry(labels.transpose(1, 2, 0)[::2]))


def test_pairs_are_painted_as_on_the_host() -> None:
    first, second = blocks((9, 14, 11), 15), blocks((9, 14, 11), 16).astype(np.uint8)
    pairs = np.array([[3, 1, 1, 0, 2, 77], [2, 5, 0, 4, 2, 1]])
    numbers = np.array([10, 20, 30, 40, 50, 60])
    want = paint_volumes([first, second], pairs, numbers)
    for order in (cupy.ascontiguousarray, cupy.asfortranarray):
        there = order(cupy.asarray(first)), cupy.asarray(second)
        found: Any = paint_volumes(there, pairs, numbers)
        np.testing.assert_array_equal(cupy.asnumpy(found), want)
