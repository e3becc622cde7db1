"""Objects of masks that may share voxels: each voxel of a union counts once (D16)."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.labels import read_masks
from panmatch.scoring import MaskMeasurer

METRICS = ("iou", "dice", "precision", "recall", "centre_distance")


@pytest.mark.parametrize("seed", range(5))
def test_masks_that_share_nothing_are_measured_as_a_label_image(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = first, second = rng.integers(0, 5, (2, 8, 9))
    masks = [[side == one for one in range(1, 5)] for side in sides]
    measurer = MaskMeasurer(read_masks(masks[0], "a"), read_masks(masks[1], "b"), METRICS)
    for strategy in ("one-to-one", "many-to-one", "one-to-many"):
        for threshold in (0.05, 0.15):
            expected = pm.measure(
                pm.match(pm.count_overlaps(first, second), strategy, threshold),
                first,
                second,
                METRICS,
            )
            matching = pm.match(pm.Overlap.from_masks(*masks), strategy, threshold)
            found = measurer.measure(matching)
            for name in expected.columns:
                np.testing.assert_array_equal(found.columns[name], expected.columns[name], name)


@pytest.mark.parametrize("seed", range(20))
def test_a_voxel_of_several_predictions_counts_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    reference = np.zeros((2, 10, 12), bool)
    reference[0, :5], reference[1, 5:] = True, True
    prediction = [np.zeros((10, 12), bool) for _ in range(7)]
    for mask in prediction:
        y, x = rng.integers(0, 7, 2)
        mask[y : y + 4, x : x + 5] = True
    overlap = pm.Overlap.from_masks(reference, prediction)
    matching = pm.match(overlap, "many-to-one", threshold=0.05)
    sides = read_masks(reference, "masks"), read_masks(prediction, "masks")
    found = MaskMeasurer(*sides, ("iou", "dice")).measure(matching)
    for row, mask in enumerate(reference):
        ids = [int(one) for one in found.columns["pred_ids"][row].split()]
        union = np.any([prediction[one - 1] for one in ids], axis=0) if ids else mask & False
        assert found.columns["pred_voxels"][row] == union.sum()
        assert found.columns["dice"][row] == 2 * (union & mask).sum() / (union.sum() + mask.sum())
        if ids:
            centre = np.argwhere(union).mean(axis=0)
            assert found.columns["pred_centroid"][row] == pytest.approx(centre)
            assert found.columns["pred_stop"][row].tolist() == [
                1 + place.max() for place in np.nonzero(union)
            ]


def test_metrics_that_need_label_images_are_refused() -> None:
    masks = read_masks([np.ones((2, 2), bool)], "masks")
    with pytest.raises(OptionError, match="hd95 need label images, but masks may share voxels"):
        MaskMeasurer(masks, masks, ("dice", "hd95"))
