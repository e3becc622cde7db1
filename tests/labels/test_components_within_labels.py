"""Components of every label by itself: labels that touch stay apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import zarr
from scipy import ndimage

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.labels import Connectivity, components_within_labels, connected_components


def by_hand(image: npt.NDArray[Any], connectivity: Connectivity) -> list[int]:
    """Label by label with scipy, then numbered by the first voxel."""
    reach = image.ndim if connectivity == "full" else 1
    structure = ndimage.generate_binary_structure(image.ndim, reach)
    pieces = np.zeros(image.shape, object)
    for label in np.unique(image[image != 0]).tolist():
        numbers = ndimage.label(image == label, structure)[0]
        for at in np.argwhere(numbers):
            pieces[tuple(at)] = (label, int(numbers[tuple(at)]))
    order: dict[object, int] = {0: 0}
    return [order.setdefault(piece, len(order)) for piece in pieces.ravel().tolist()]


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("connectivity", ["full", "faces"])
def test_they_are_those_of_each_label_numbered_by_first_voxels(
    ndim: int, connectivity: Connectivity
) -> None:
    rng = np.random.default_rng(ndim)
    for _ in range(60):
        image = rng.integers(0, 4, rng.integers(1, 6, ndim)).astype(rng.choice(["u1", ">i4"]))
        want = by_hand(image, connectivity)
        for laid_out in (image, np.asfortranarray(image)):
            assert components_within_labels(laid_out, connectivity).ravel().tolist() == want


def test_of_a_mask_they_are_the_components() -> None:
    mask = np.random.default_rng(0).random((9, 8, 7)) < 0.3
    assert (components_within_labels(mask) == connected_components(mask)).all()


def test_a_spec_can_ask_for_them() -> None:
    touching = np.array([[1, 1, 2, 2, 0, 1]])
    counts = {
        instances: pm.evaluate(
            reference=touching,
            prediction=touching,
            spec={
                "classes": {"lesion": {"labels": [1, 2], "instances": instances}},
                "matching": "one-to-one",
                "thresholds": 0.5,
            },
        ).scores.tp.tolist()
        for instances in ("ids", "components", "label-components")
    }
    assert counts == {"ids": [2], "components": [2], "label-components": [3]}


def test_chunked_images_are_refused_with_the_remedy() -> None:
    image: Any = zarr.array(np.ones((4, 4), np.uint8), chunks=(2, 2))
    with pytest.raises(OptionError, match="components within labels are only found in images in"):
        components_within_labels(image)
