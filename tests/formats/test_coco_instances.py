"""Files of COCO instances: masks, classes, crowd and scores."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import FileError, LabelError, PanmatchError
from panmatch.related import coco_precision
from tests.instance_scenes import random_dataset
from tests.mask_scenes import random_masks, runs_of, text_of

SIZE = [7, 6]


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(content))
    return path


def reference(annotations: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "images": [{"id": 5, "height": 7, "width": 6}, {"id": 8, "height": 7, "width": 6}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 3}],
        "annotations": annotations,
    }


def instance(mask: Any, **more: Any) -> dict[str, Any]:
    return {"image_id": 5, "category_id": 1, "segmentation": mask, **more}


def test_every_image_and_class_has_its_overlap(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    masks = random_masks(rng, 6)
    masks = masks[masks.any(axis=(1, 2))]
    rles = [runs_of(mask) for mask in masks]
    refs = write(tmp_path, "a.json", reference([
        instance(rles[0]), instance(rles[1], category_id=3), instance(rles[2]),
        instance(rles[3], iscrowd=1),
    ]))  # fmt: skip
    texts = [{**one, "counts": text_of(one["counts"])} for one in rles]  # type: ignore[arg-type]
    preds = write(tmp_path, "b.json", [
        instance(texts[2], score=0.5), instance(texts[1], score=0.75, image_id=8),
        instance(texts[0], score=0.25),
    ])  # fmt: skip
    first = pm.read_coco_instances(refs)
    assert first.categories == {1: "cat", 3: "3"}
    found = pm.coco_overlaps(first, pm.read_coco_instances(preds, first))
    assert list(found) == [(5, 1), (5, 3), (8, 1)]
    expected = pm.Overlap.from_masks(
        [masks[0], masks[2], masks[3]],
        [masks[2], masks[0]],
        crowd=[False, False, True],
        confidence=[0.5, 0.25],
    )
    assert found[5, 1] == expected
    assert len(found[5, 3].pred_ids) == 0
    assert len(found[5, 3].ref_ids) == 1
    assert len(found[8, 1].ref_ids) == 0
    assert found[8, 1].confidence is not None


def test_boxes_alone_become_masks(tmp_path: Path) -> None:
    square = instance([[1.0, 2, 4, 2, 4, 5, 1, 5]])
    first = pm.read_coco_instances(write(tmp_path, "a.json", reference([square])))
    box = {"image_id": 5, "category_id": 1, "bbox": [1, 2, 3, 3], "score": 0.5}
    found = pm.coco_overlaps(first, pm.read_coco_instances(write(tmp_path, "b.json", [box]), first))
    assert found[5, 1].iou.tolist() == [1.0]


def test_no_detections_at_all_are_a_result(tmp_path: Path) -> None:
    first = pm.read_coco_instances(
        write(tmp_path, "a.json", reference([instance([[1.0, 2, 4, 2, 4, 5]])]))
    )
    none = pm.read_coco_instances(write(tmp_path, "b.json", []), first)
    found = coco_precision(
        first.table, none.table, images=list(first.sizes), categories=list(first.categories)
    )
    assert found.average_precision() == 0
    assert found.average_recall() == 0
    assert np.isnan(found.average_precision(category=3))
    assert np.isnan(found.average_precision(area="large"))
    with pytest.raises(PanmatchError, match=re.escape("threshold=0.42 is not among")):
        found.average_precision(0.42)
    with pytest.raises(PanmatchError, match=re.escape("category=9 is not among [1, 3]")):
        found.average_precision(category=9)


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ([instance({"size": SIZE, "counts": [3, 4]})], "encoding of instance 0 of a.json covers 7"),
        ([instance({"size": SIZE, "counts": "~"})], "is damaged"),
        ([instance({"size": [6, 7], "counts": [42]})], "has size [6, 7], but its image [7, 6]"),
        ([instance({"size": SIZE, "counts": [0.5]})], "list of whole numbers"),
        ([instance([[1.0, 2, 3]])], "instance 0 of a.json has a polygon of 3 numbers"),
        ([instance(None)], "run-length encoding or a list of polygons"),
        ([instance([[1.0, 2, 4, 2, 4, 5]], image_id=6)], "image_id 6, which the file of"),
        ([instance([[1.0, 2, 4, 2, 4, 5]], category_id=2)], "category_id 2"),
        ([instance([[1.0, 2, 4, 2, 4, 5]], image_id=2**63)], "OverflowError"),
        (
            [{"image_id": 5, "category_id": 1, "bbox": [0, 0, 1, 2e9]}],
            "of a.json has the box",
        ),
        ([{"image_id": 5}], "cannot be read as COCO instances: KeyError('category_id')"),
    ],
)
def test_errors_name_the_instance(
    annotations: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    with pytest.raises((FileError, LabelError), match=re.escape(message)):
        pm.read_coco_instances(write(tmp_path, "a.json", reference(annotations)))


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ({}, "has no 'score'"),
        ({"score": float("nan")}, "score nan"),
        ({"score": None}, "score nan"),
    ],
)
def test_every_detection_needs_a_score(score: dict[str, Any], message: str, tmp_path: Path) -> None:
    first = pm.read_coco_instances(write(tmp_path, "a.json", reference([])))
    rows = [instance([[1.0, 2, 4, 2, 4, 5]], score=0.5), instance([[1.0, 2, 4, 2, 4, 5]], **score)]
    with pytest.raises(FileError, match=message) as caught:
        pm.read_coco_instances(write(tmp_path, "b.json", rows), first)
    assert "detection 1 of" in str(caught.value)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(FileError, match="cannot be read as COCO instances"):
        pm.read_coco_instances(tmp_path / "a.json")


@pytest.mark.parametrize("size", [(-1, 6), (7, 2**31)])
def test_an_image_that_cannot_be_is_named(size: tuple[int, int], tmp_path: Path) -> None:
    content = reference([])
    content["images"][1] |= {"height": size[0], "width": size[1]}
    with pytest.raises(FileError, match=re.escape(f"has height and width {list(size)}: both")):
        pm.read_coco_instances(write(tmp_path, "a.json", content))


def test_files_that_are_read_in_different_ways_go_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rles = [runs_of(mask) for mask in random_masks(rng, 8)]
    rows = [instance(one, score=0.5, bbox=[0, 0, 1, 1]) for one in rles]
    others = [{**row, "image_id": 5.0} for row in rows]
    paths = [write(tmp_path, "scanned.json", rows), write(tmp_path, "parsed.json", others)]
    first = pm.read_coco_instances(write(tmp_path, "a.json", reference(rows)))
    scanned, parsed = (pm.read_coco_instances(path, first) for path in paths)
    assert scanned.table.masks.start.dtype != parsed.table.masks.start.dtype
    assert pm.coco_overlaps(first, scanned) == pm.coco_overlaps(first, parsed)
    images, categories = list(first.sizes), list(first.categories)
    found = [
        coco_precision(first.table, one.table, images=images, categories=categories)
        for one in (scanned, parsed)
    ]
    assert found[0].average_precision() == found[1].average_precision() > 0


def test_references_have_no_scores(tmp_path: Path) -> None:
    first = pm.read_coco_instances(write(tmp_path, "a.json", reference([])))
    with pytest.raises(PanmatchError, match="prediction has no scores"):
        coco_precision(first.table, first.table, images=[5], categories=[1])


def test_the_surface_of_a_dataset_pools_images(tmp_path: Path) -> None:
    question = random_dataset(4)
    first = pm.read_coco_instances(write(tmp_path, "a.json", question["reference"]))
    second = pm.read_coco_instances(write(tmp_path, "b.json", question["prediction"]), first)
    cases = [one for (_, kind), one in pm.coco_overlaps(first, second).items() if kind == 1]
    pooled = pm.add_surfaces([pm.surface(one) for one in cases])
    for cut in (0.0, 0.3, 0.8):
        each = [pm.match(one.above_cut(cut), threshold=0.5).tally for one in cases]
        assert pooled.at(0.5, cut) == sum(each)
