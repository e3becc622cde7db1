"""Evaluating chunked images: the same result as in memory, and what needs whole images says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.errors import OptionError
from panmatch.evaluation import _class_case as in_memory
from panmatch.labels import _arrays
from tests.chunked_arrays import Array, Watched, boxes_up_to, stored

SHAPE = (18, 20, 15)
COUNTED = ["iou", "dice", "precision", "recall", "centre_distance"]

SPECS: dict[str, dict[str, Any]] = {
    "instances": {"metrics": COUNTED, "thresholds": [0.1, 0.5]},
    "regions": {
        "matching": ["union", {"strategy": "many-to-one", "regions": True}, "one-to-one"],
        "metrics": COUNTED,
        "thresholds": [0.1, 0.5],
    },
    "void and small objects": {
        "classes": {"object": {"min_voxels": 30}},
        "void": [2],
        "matching": ["one-to-one", "union"],
    },
    "components": {
        "classes": {
            "lesion": {"labels": [1, 2, 3], "instances": "components"},
            "core": {"labels": [3, 4], "instances": "components", "connectivity": "faces"},
            "tissue": {"labels": "5-99", "kind": "stuff"},
        },
        "matching": ["one-to-one", "union"],
        "background": [100],
    },
    "parts in the image": {
        "classes": {"lesion": {"labels": "1-9", "instances": "components", "parts": [1, 2]}},
        "background": "10-99",
        "matching": ["one-to-one", {"strategy": "many-to-one", "regions": True}],
    },
    "cityscapes": {
        "encoding": "cityscapes",
        "classes": {"low": {"labels": 3}, "high": {"labels": 4, "kind": "stuff"}},
    },
}


def scene() -> tuple[Array, Array]:
    reference = phantoms.blobs(SHAPE, 7, radius=(2, 3), gap=1, seed=3)
    prediction = phantoms.shift(reference, (1, 2, 0), ids=[1, 2, 5])
    prediction = phantoms.split(phantoms.miss(prediction, ids=[4]), 2, ids=[6])
    prediction[:3, :3, :3] = 9
    return np.asarray(reference, np.int32), np.asarray(prediction, np.int16)


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "SMALL_BYTES", -1)


@pytest.mark.parametrize("kind", ["zarr", "dask"])
@pytest.mark.parametrize("name", SPECS)
def test_results_are_equal_to_the_last_digit(name: str, kind: str) -> None:
    images = scene()
    if name == "cityscapes":
        images = images[0] * 500 + 3000, np.where(images[1] > 4, 4000, images[1] * 700 + 2500)
    want = pm.evaluate(
        reference=images[0], prediction=images[1], spec=SPECS[name], spacing=(2, 1, 0.5)
    )
    with boxes_up_to(1):
        found = pm.evaluate(
            reference=stored(images[0], (7, 9, 8), kind),
            prediction=stored(images[1], (6, 20, 5), kind),
            spec=SPECS[name],
            spacing=(2, 1, 0.5),
        )
    assert found.to_json() == want.to_json()


@pytest.mark.parametrize("regions", [False, True])
def test_part_images_and_void_masks(regions: bool) -> None:
    images = scene()
    halves = [np.where(image > 0, 1 + (np.indices(SHAPE)[2] % 3), 0) for image in images]
    void = np.zeros(SHAPE, bool)
    void[5:9] = True
    spec = {
        "classes": {"cell": {"parts": [1, 2]}},
        "void_part": 3,
        "matching": [{"strategy": "one-to-one", "regions": regions}],
        "thresholds": 0.2,
    }
    names = "reference", "prediction", "reference_parts", "prediction_parts", "void"
    arrays = dict(zip(names, [*images, *halves, void], strict=True))
    chunks = [(7, 9, 8), (6, 20, 5), (18, 3, 4), (5, 5, 5), (4, 4, 4)]
    in_store: dict[str, Any] = {
        name: stored(array, lengths)
        for (name, array), lengths in zip(arrays.items(), chunks, strict=True)
    }
    want = pm.evaluate(**arrays, spec=spec)  # type: ignore[arg-type]
    with boxes_up_to(1):
        assert pm.evaluate(**in_store, spec=spec).to_json() == want.to_json()


def watched_pair(chunks: tuple[int, ...] = (6, 7, 5)) -> list[Watched]:
    return [Watched(image, chunks) for image in scene()]


def test_without_regions_every_chunk_is_decoded_twice() -> None:
    """Once to count, and once to find the boxes and centres of objects."""
    images = watched_pair()
    with boxes_up_to(1):
        pm.evaluate(reference=images[0], prediction=images[1])
    assert [set(one.decoded.values()) for one in images] == [{2}, {2}]


def test_small_images_are_read_once_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "SMALL_BYTES", 1 << 20)
    images = watched_pair()
    with boxes_up_to(1):
        sides: dict[str, Any] = {"reference": images[0], "prediction": images[1]}
        found = pm.evaluate(**sides, spec=SPECS["regions"])
    want = pm.evaluate(reference=images[0].array, prediction=images[1].array, spec=SPECS["regions"])
    assert found.to_json() == want.to_json()
    assert [set(one.decoded.values()) for one in images] == [{1}, {1}]


@pytest.mark.parametrize("kind", ["zarr", "dask"])
def test_metrics_of_voxels_read_whole_images_if_they_fit(kind: str) -> None:
    images = scene()
    spec = {"metrics": ["dice", "hd95", "boundary_iou"], "matching": ["one-to-one", "union"]}
    want = pm.evaluate(reference=images[0], prediction=images[1], spec=spec)
    in_store = [stored(image, (7, 9, 8), kind) for image in images]
    found = pm.evaluate(reference=in_store[0], prediction=in_store[1], spec=spec)
    assert found.to_json() == want.to_json()


def test_metrics_of_voxels_name_themselves_if_images_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_arrays, "memory_bytes", lambda: 4000)
    monkeypatch.setattr(in_memory, "memory_bytes", lambda: 4000)
    images = [stored(image, (7, 9, 8)) for image in scene()]
    spec = {"metrics": ["dice", "hd95", "boundary_iou"]}
    with pytest.raises(OptionError) as caught:
        pm.evaluate(reference=images[0], prediction=images[1], spec=spec)
    assert str(caught.value) == (
        "metrics: hd95, boundary_iou need whole images in memory, but these take 0.0 GB, more than "
        "a quarter of this machine's 0.0 GB. Leave them out of the spec: metrics of counts, "
        "centres and boxes, such as iou, dice, precision and recall, are computed chunk by chunk."
    )
    found = pm.evaluate(reference=images[0], prediction=images[1], spec={"thresholds": 0.5})
    assert found.scores.tp.tolist() == [2, 2, 2]


@pytest.mark.parametrize("regions", [False, True])
def test_matchings_of_chunked_images_are_measured_chunk_by_chunk(regions: bool) -> None:
    images, count = scene(), pm.count_region_overlaps if regions else pm.count_overlaps
    matching = pm.match(count(*images), threshold=0.1)
    want = pm.measure(matching, *images, COUNTED)
    first, second = (stored(image, (7, 9, 8)) for image in images)
    with boxes_up_to(1):
        found = pm.measure(matching, first, second, COUNTED)
    for name, column in want.columns.items():
        np.testing.assert_array_equal(found.columns[name], column, err_msg=name)
