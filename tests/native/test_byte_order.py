"""Arrays in the byte order of another machine are converted, wherever they enter."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch.labels import connected_components
from tests.chunked_arrays import stored

Array = npt.NDArray[Any]
SHAPE = (6, 7, 8)


def foreign(array: Array) -> Array:
    """Return the same values in the other byte order."""
    return array.astype(array.dtype.newbyteorder("S"))


def labels(seed: int, code: str) -> Array:
    return np.random.default_rng(seed).integers(0, 4, SHAPE).astype(code)


def assert_same(found: pm.Overlap, expected: pm.Overlap) -> None:
    for name, column in expected.columns().items():
        np.testing.assert_array_equal(found.columns()[name], column)


@pytest.mark.parametrize("code", ["h", "H", "i", "I", "q", "Q"])
def test_label_images(code: str) -> None:
    reference, prediction = labels(1, code), labels(2, code)
    swapped = foreign(reference), foreign(prediction)
    void = np.random.default_rng(3).integers(0, 2, SHAPE).astype(np.uint16)
    assert not swapped[0].dtype.isnative
    assert_same(
        pm.count_overlaps(*swapped, void=foreign(void)),
        pm.count_overlaps(reference, prediction, void=void),
    )
    spacing = np.array([1, 0.5, 2])
    assert_same(
        pm.count_region_overlaps(*swapped, foreign(spacing)),
        pm.count_region_overlaps(reference, prediction, spacing),
    )
    np.testing.assert_array_equal(connected_components(swapped[0]), connected_components(reference))


def test_images_in_chunks() -> None:
    reference, prediction = labels(1, "i"), labels(2, "i")
    chunked = (stored(foreign(image), (3, 4, 5)) for image in (reference, prediction))
    assert_same(pm.count_overlaps(*chunked), pm.count_overlaps(reference, prediction))


def test_surfaces() -> None:
    reference, prediction = labels(1, "i"), labels(2, "i")
    matching = pm.match(pm.count_overlaps(reference, prediction), threshold=0.0)
    for metric in ("dice", "hd95", "boundary_iou"):
        found = pm.measure(matching, foreign(reference), foreign(prediction), metric)
        expected = pm.measure(matching, reference, prediction, metric)
        np.testing.assert_array_equal(found.columns[metric], expected.columns[metric])


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("strategy", [pm.OneToOne(), pm.ManyToOne(solver="optimal")])
def test_tables_of_counts_and_areas(dtype: type, strategy: pm.Strategy) -> None:
    table: Array = np.random.default_rng(4).integers(0, 5, (3, 4)).astype(dtype)
    sizes = table.sum(1) + 2, table.sum(0) + 3
    swapped = pm.Overlap.from_dense(foreign(table), *map(foreign, sizes))
    expected = pm.Overlap.from_dense(table, *sizes)
    assert pm.curve(swapped, strategy).autc == pm.curve(expected, strategy).autc
