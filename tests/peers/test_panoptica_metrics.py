"""Live parity with panoptica on metrics of objects, where conventions coincide, with spacing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from tests.peers.asking import Labels, ask_peer
from tests.strategies import BY_NAME

SPACING = (3.0, 1.0, 0.5)
SCENES = 12
OURS = {
    "IOU": "iou",
    "DSC": "dice",
    "ASSD": "masd",
    "HD": "hd",
    "HD95": "hd95_pooled",
    "CEDI": "centre_distance",
    "RVD": "relative_volume_difference",
    "RVAE": "relative_volume_error",
}


def make_scene(seed: int) -> tuple[Labels, Labels]:
    """Return blobs, some at the border, and predictions shifted, cut in two, missed."""
    reference = phantoms.blobs((26, 30, 34), 6, radius=(3, 5), gap=1, seed=seed)
    reference = reference[3:-3]
    prediction = phantoms.shift(reference, (1, seed % 3 - 1, 2))
    prediction = phantoms.split(prediction, 2, ids=np.unique(prediction)[1:3].tolist())
    return reference.copy(), phantoms.miss(prediction, 1, seed=seed).copy()


@pytest.fixture(scope="module")
def parity(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[list[tuple[Labels, Labels]], dict[str, Any]]:
    scenes = [make_scene(seed) for seed in range(SCENES)]
    folder = tmp_path_factory.mktemp("panoptica")
    spacing = np.array(SPACING)
    return scenes, ask_peer("run_panoptica_metrics.py", folder, scenes, spacing=spacing)


@pytest.mark.parametrize("name", ["one-to-one/greedy", "many-to-one/merge/seed"])
def test_every_matched_object_has_panoptica_s_values(name: str, parity: Any) -> None:
    scenes, results = parity
    objects = 0
    for (reference, prediction), theirs in zip(scenes, results[name], strict=True):
        matching = pm.match(pm.count_overlaps(reference, prediction), BY_NAME[name], 0.1)
        found = pm.measure(matching, reference, prediction, OURS.values(), SPACING)
        matched = found.columns["status"] == "matched"
        ours = np.stack([found.columns[n][matched] for n in ("ref_volume", *OURS.values())], 1)
        other = np.stack([theirs["objects"][n] for n in ("volume", *OURS)], 1)
        np.testing.assert_allclose(by_row(ours), by_row(other), rtol=1e-9, atol=1e-12)
        objects += len(ours)
    assert objects > 40


def test_whole_classes_have_panoptica_s_values_in_voxels(parity: Any) -> None:
    """Its whole-class distances ignore the spacing they are given; ours without one are equal."""
    scenes, results = parity
    for (reference, prediction), theirs in zip(scenes, results["one-to-one/greedy"], strict=True):
        found = pm.measure_whole(reference, prediction, OURS.values())
        ours = {their: found.columns[our][0] for their, our in OURS.items()}
        assert ours == pytest.approx(theirs["whole"], rel=1e-9, abs=1e-12)


def by_row(table: Any) -> Any:
    """Sort by volume, then Dice: panoptica lists objects in the order of its matches."""
    return table[np.lexsort((table[:, 2].round(12), table[:, 0]))]
