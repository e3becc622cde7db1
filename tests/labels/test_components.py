"""Connected components by corners or by faces, in any dimension."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from panmatch.errors import LabelError, OptionError
from panmatch.labels import component_sizes, connected_components


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("connectivity", ["full", "faces"])
def test_components_equal_scipy_s(ndim: int, connectivity: str) -> None:
    """Thin and tiny images too: libraries take shortcuts there."""
    rng = np.random.default_rng(ndim)
    reach = ndim if connectivity == "full" else 1
    for number in range(300):
        mask = rng.random(rng.integers(1, 8, ndim)) < rng.random()
        mask = np.asarray(mask, order="F" if number % 2 else "C")
        found = connected_components(mask, connectivity)  # type: ignore[call-overload]
        want, count = ndimage.label(mask, ndimage.generate_binary_structure(ndim, reach))
        pairs = np.unique(np.stack([found.ravel(), want.ravel()]), axis=1)
        assert pairs.shape[1] == len(np.unique(want))  # one name each, on both sides
        assert found.max() == count


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
