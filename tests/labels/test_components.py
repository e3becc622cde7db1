"""Connected components by corners or by faces, in any dimension."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

import panmatch as pm
from panmatch.errors import LabelError, OptionError
from panmatch.labels import Connectivity, component_sizes, connected_components

Array = npt.NDArray[Any]
CONNECTIVITIES: tuple[Connectivity, ...] = ("full", "faces")


def test_axes_of_length_one_do_not_count_and_too_many_axes_are_refused() -> None:
    row = np.array([1, 0, 1], bool)
    found = connected_components(row.reshape((1,) * 20 + (3,) + (1,) * 11))
    assert found.shape == (1,) * 20 + (3,) + (1,) * 11
    assert found.ravel().tolist() == [1, 0, 2]
    with pytest.raises(LabelError, match="components can be found in images with up to 8"):
        connected_components(np.ones((2,) * 9, bool))


def test_distances_are_refused_where_a_border_of_voxels_would_fill_the_memory() -> None:
    image = np.ones((2,) * 10 + (1,) * 22, int)
    with pytest.raises(LabelError, match="up to 8 axes, but this one has 32"):
        pm.evaluate(reference=image, prediction=image, spec={"metrics": "hd95"})
    found = pm.evaluate(reference=image, prediction=image, spec={"metrics": "dice"})
    assert found.scores.pq.tolist() == [1.0] * 9


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("connectivity", ["full", "edges", "faces"])
def test_components_equal_scipy_s(ndim: int, connectivity: str) -> None:
    """Thin and tiny images too: libraries take shortcuts there."""
    rng = np.random.default_rng(ndim)
    reach = {"full": ndim, "edges": min(2, ndim), "faces": 1}[connectivity]
    for number in range(300):
        mask = rng.random(rng.integers(1, 8, ndim)) < rng.random()
        mask = np.asarray(mask, order="F" if number % 2 else "C")
        found = connected_components(mask, connectivity)  # type: ignore[call-overload]
        want, count = ndimage.label(mask, ndimage.generate_binary_structure(ndim, reach))
        pairs = np.unique(np.stack([found.ravel(), want.ravel()]), axis=1)
        assert pairs.shape[1] == len(np.unique(want))  # one name each, on both sides
        assert found.max() == count


def in_order_of_first_voxels(components: Array) -> Array:
    """Numbers 1, 2, … by the first voxel in C order of the axes, whatever the memory order."""
    names, firsts = np.unique(components.ravel(order="C"), return_index=True)
    order = np.argsort(firsts[names > 0])
    numbers = np.zeros(int(components.max()) + 1, np.int64)
    numbers[names[names > 0][order]] = np.arange(1, len(order) + 1)
    return numbers[components]


def layouts(array: Array) -> Iterator[Array]:
    """The same image in every order of its axes in memory, turned round, and with gaps."""
    for axes in permutations(range(array.ndim)):
        back = np.argsort(axes)
        yield np.ascontiguousarray(array.transpose(axes)).transpose(back)
        yield np.ascontiguousarray(np.flip(array.transpose(axes))).transpose(back)[
            (slice(None, None, -1),) * array.ndim
        ]
    wide = np.zeros([3 * n for n in array.shape], array.dtype)
    wide[(slice(1, None, 3),) * array.ndim] = array
    yield wide[(slice(1, None, 3),) * array.ndim]


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("connectivity", CONNECTIVITIES)
def test_numbers_follow_the_first_voxels_in_any_layout(
    ndim: int, connectivity: Connectivity
) -> None:
    rng = np.random.default_rng(10 + ndim)
    reach = ndim if connectivity == "full" else 1
    for number in range(40 if ndim < 4 else 8):
        longest = (200, 30, 14, 5)[ndim - 1]
        mask = rng.random(rng.integers(1, longest, ndim)) < rng.uniform(0.05, 0.7)
        found, _ = ndimage.label(mask, ndimage.generate_binary_structure(ndim, reach))
        want = in_order_of_first_voxels(np.asarray(found))
        for laid_out in layouts(mask):
            assert np.array_equal(laid_out, mask)
            components = connected_components(laid_out, connectivity, threads=1 + number % 3)
            np.testing.assert_array_equal(components, want)


@pytest.mark.parametrize("connectivity", CONNECTIVITIES)
def test_components_by_the_thousand_are_numbered_alike(connectivity: Connectivity) -> None:
    """More than a byte can count."""
    rng = np.random.default_rng(3)
    for shape, density in (((90, 80, 70), 0.1), ((700, 800), 0.12)):
        mask = rng.random(shape) < density
        want = connected_components(mask, connectivity)
        np.testing.assert_array_equal(want, in_order_of_first_voxels(want))
        found = connected_components(mask.copy(order="F"), connectivity, threads=3)
        assert found.flags.f_contiguous  # the memory order of the image stays
        np.testing.assert_array_equal(found, want)
    assert want.max() > 1 << 15


def test_touching_labels_are_one_component() -> None:
    assert connected_components(np.array([[1, 2, 0, 3]])).tolist() == [[1, 1, 0, 2]]


def test_empty_images_have_no_component() -> None:
    for empty in (np.zeros((0, 3), int), np.zeros((2, 3, 4), int)):
        assert not connected_components(empty).any()


def test_mistakes_are_named() -> None:
    with pytest.raises(OptionError, match="connectivity='26' is not known"):
        connected_components([1], "26")  # type: ignore[call-overload]
    with pytest.raises(LabelError, match="reference has dtype float64"):
        connected_components([0.5], name="reference")


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", ">u2", "int64", "uint64"])
def test_component_sizes_are_those_of_each_label_alone(ndim: int, dtype: str) -> None:
    rng = np.random.default_rng(ndim)
    corners = ndimage.generate_binary_structure(ndim, ndim)
    for number in range(20):
        labels = (rng.integers(0, 4, rng.integers(1, 8, ndim)) * rng.integers(0, 2)).astype(dtype)
        labels = np.asarray(labels, order="F" if number % 2 else "C")
        labels.flags.writeable = number % 3 > 0
        want = sorted(
            (int(label), int(voxels))
            for label in np.unique(labels[labels != 0])
            for voxels in np.bincount(ndimage.label(labels == label, corners)[0].ravel())[1:]
        )
        label, voxels = component_sizes(labels)
        assert sorted(zip(label.tolist(), voxels.tolist(), strict=True)) == want
        assert label.tolist() == sorted(label.tolist())
    assert component_sizes(np.zeros((0,) * ndim, dtype))[0].tolist() == []


def test_chunked_components_by_edges_are_refused() -> None:
    import zarr

    image: Any = zarr.array(np.ones((4, 4, 4), np.uint8), chunks=(2, 2, 2))
    with pytest.raises(OptionError, match=r"stored in chunks, .* to use 'edges', read the image"):
        connected_components(image, "edges")
