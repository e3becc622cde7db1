"""Connected components by native code are those of scipy and cc3d, in order of first members."""

from __future__ import annotations

from typing import Any, Literal

import cc3d
import numpy as np
import pytest
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as by_scipy

from panmatch import native
from panmatch.labels import connected_components
from panmatch.labels._components import NEIGHBOURS


@pytest.mark.parametrize("seed", range(20))
def test_a_graph_has_the_components_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, edges = int(rng.integers(1, 60)), int(rng.integers(0, 60))
    start, stop = rng.integers(0, n, (2, edges))
    found = native.graph_components(start, stop, n)
    links = coo_array((np.ones(edges), (start, stop)), shape=(n, n))
    expected = by_scipy(links, directed=False)[1]
    first = {number: position for position, number in reversed(list(enumerate(expected)))}
    order = sorted(first.values())
    assert found.tolist() == [order.index(first[number]) for number in expected.tolist()]


def test_a_graph_without_vertices_has_no_components() -> None:
    none = np.zeros(0, np.int64)
    assert native.graph_components(none, none, 0).tolist() == []


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize(
    "shape", [(17,), (9, 14), (1, 30), (30, 1), (5, 6, 7), (3, 1, 8), (2, 3, 4, 5)]
)
def test_a_mask_has_the_components_of_scipy(dtype: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    for density in (0.2, 0.5, 0.8):
        mask = rng.uniform(size=shape) < density
        for reach in range(1, len(shape) + 1):
            neighbours = ndimage.generate_binary_structure(len(shape), reach)
            expected = ndimage.label(mask, neighbours)[0]
            for threads in (1, 3):
                found, count = _found(mask.astype(dtype), reach, threads)
                np.testing.assert_array_equal(found, _by_first(expected))
                assert count == expected.max()


def test_labels_that_touch_are_components_of_their_own() -> None:
    labels = np.array([[1, 1, 2, 0, 1], [0, 1, 2, 1, 0]], np.uint16)
    assert _found(labels, 2)[0].tolist() == [[1, 1, 2, 0, 3], [0, 1, 2, 3, 0]]


@pytest.mark.parametrize("shape", [(40, 200), (9, 10, 70)])
@pytest.mark.parametrize("reach", [1, 2])
def test_components_of_touching_labels_are_those_of_every_label(
    shape: tuple[int, ...], reach: int
) -> None:
    """Also where runs of labels end at the same place and meet at a corner alone."""
    rng = np.random.default_rng(reach)
    labels = rng.integers(0, 4, shape).astype(np.uint8)
    expected, neighbours = (
        np.zeros(shape, np.int64),
        ndimage.generate_binary_structure(len(shape), reach),
    )
    for label in (1, 2, 3):
        components = ndimage.label(labels == label, neighbours)[0]
        expected[labels == label] = expected.max() + components[labels == label]
    np.testing.assert_array_equal(_found(labels, reach)[0], _by_first(expected))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_mask_has_the_components_of_cc3d(order: Literal["C", "F"]) -> None:
    rng = np.random.default_rng(4)
    for shape in ((40, 150), (9, 10, 80)):
        mask = rng.uniform(size=shape) < 0.3
        for connectivity in ("full", "edges", "faces"):
            neighbours = NEIGHBOURS[connectivity, mask.ndim]
            expected = cc3d.connected_components(mask.astype(np.uint8), connectivity=neighbours)
            found = connected_components(np.asarray(mask, order=order), connectivity)
            np.testing.assert_array_equal(found, expected)


def _found(labels: Any, reach: int, threads: int = 1) -> tuple[Any, int]:
    numbers = np.zeros(labels.shape, np.uint32)
    return numbers, native.label_components(labels, reach, numbers, threads)


def _by_first(components: Any) -> Any:
    """Return components numbered by their first voxels in C order."""
    ids, first = np.unique(components, return_index=True)
    order = [number for number, _ in sorted(zip(ids, first, strict=True), key=lambda one: one[1])]
    rank = {number: place for place, number in enumerate((n for n in order if n), start=1)}
    return np.vectorize(lambda number: rank.get(number, 0))(components)
