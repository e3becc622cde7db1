"""Where masks lie, from their runs: the same as from a label image."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panmatch.errors import ShapeError
from panmatch.labels import mask_geometry, read_masks, segment_geometry


@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 7), st.sampled_from(["C", "F"]))
def test_voxels_sums_and_boxes_are_those_of_a_label_image(
    seed: int, height: int, width: int, order: str
) -> None:
    labels = np.random.default_rng(seed).integers(0, 4, (height, width))
    expected = segment_geometry(labels)
    masks = read_masks([labels == one for one in expected.ids.tolist()], "masks",
                       size=labels.shape, order=order)  # type: ignore[arg-type]  # fmt: skip
    found = mask_geometry(masks, expected.ids)
    for name in ("ids", "voxels", "coordinate_sums", "start", "stop"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


def test_a_mask_without_voxels_has_the_box_from_0_to_0() -> None:
    masks = read_masks([np.zeros((3, 4), bool), np.ones((3, 4), bool)], "masks")
    found = mask_geometry(masks, np.array([1, 2]))
    assert found.start.tolist() == [[0, 0], [0, 0]]
    assert found.stop.tolist() == [[0, 0], [3, 4]]


def test_masks_of_volumes_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"shape \(2, 2, 2\); their image must have two axes"):
        mask_geometry(read_masks([np.ones((2, 2, 2), bool)], "masks"), np.array([1]))
