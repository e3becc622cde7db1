"""COCO panoptic scores: the official program's values, from arrays and from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import panmatch as pm
from panmatch import related
from panmatch.errors import FileError, LabelError

CASES = json.loads((Path(__file__).parents[1] / "data" / "coco_cases.json").read_text())["cases"]
NAMES = {case["name"]: case for case in CASES}
# Quirks of the official program that are not reproduced, see docs/explanation/related.md.
TWO_CROWDS, AREA_FROM_JSON = "c10_two_crowds_last_wins", "c15_gt_area_from_json"
ERRORS = {
    "c16_gt_id_not_in_json": r"holds 6 \(2 voxels\), which is not in the table",
    "c18_pred_id0_listed": "lists segment 0, which is void",
}
EXACT = [c for c in CASES if c["name"] not in (TWO_CROWDS, AREA_FROM_JSON, *ERRORS)]


def score(case: dict[str, Any]) -> pm.ClassTallies:
    kinds = [pm.SegmentClass(k["id"], k["name"], bool(k["isthing"])) for k in case["categories"]]

    def side(image: dict[str, Any], name: str) -> pm.Panoptic:
        table = {
            int(i): (one["category_id"], bool(one.get("iscrowd", 0)))
            for i, one in image[f"{name}_info"].items()
        }
        return pm.from_segments(np.array(image[name]), table, kinds, name=name)

    return related.coco_pq_of((side(i, "gt"), side(i, "pred")) for i in case["images"])


def check(found: pm.ClassTallies, official: dict[str, Any]) -> None:
    for class_id, values in official["per_class"].items():
        tally = found[int(class_id)]
        assert (tally.tp, tally.fp, tally.fn) == (values["tp"], values["fp"], values["fn"])
        assert tally.quality == pytest.approx(values["iou_sum"], abs=1e-9)
    groups = {"All": found.all, "Things": found.things, "Stuff": found.stuff}
    for name, group in groups.items():
        values = official["aggregate"][name]
        if values == "ZeroDivisionError":
            assert group.n == 0
            assert np.isnan(group.pq)
            continue
        scores = [group.pq, group.sq, group.rq, group.n]
        assert scores == pytest.approx([values[k] for k in ("pq", "sq", "rq", "n")], abs=1e-9)


@pytest.mark.parametrize("case", EXACT, ids=[case["name"] for case in EXACT])
def test_scores_equal_the_official_ones(case: dict[str, Any]) -> None:
    check(score(case), case["panopticapi"])


def test_all_crowds_of_a_class_dismiss_together() -> None:
    assert score(NAMES[TWO_CROWDS])[1] == pm.Tally(0, 0, 0, 0.0)


def test_areas_are_counted_and_not_read_from_json() -> None:
    assert score(NAMES[AREA_FROM_JSON])[1] == pm.Tally(1, 0, 0, 1.0)


@pytest.mark.parametrize("name", ERRORS)
def test_images_that_contradict_their_tables_are_errors(name: str) -> None:
    with pytest.raises(LabelError, match=ERRORS[name]):
        score(NAMES[name])


def test_no_image_no_class() -> None:
    assert len(related.coco_pq_of([])) == 0


def write(folder: Path, side: str, case: dict[str, Any]) -> tuple[Path, Path]:
    """Write a case as COCO files, ids spread over all three colours."""
    images = folder / side
    images.mkdir()
    annotations = []
    for number, image in enumerate(case["images"]):
        ids = np.array(image[side]) * 70_001
        colours = np.stack([ids % 256, ids // 256 % 256, ids // 65536], -1).astype(np.uint8)
        Image.fromarray(colours).save(images / f"{number}.png")
        info = [
            {"id": int(i) * 70_001, "area": 1, "iscrowd": 0, **one}
            for i, one in image[f"{side}_info"].items()
        ]
        annotations.append(
            {"image_id": number, "file_name": f"{number}.png", "segments_info": info}
        )
    path = folder / f"{side}.json"
    path.write_text(json.dumps({"annotations": annotations, "categories": case["categories"]}))
    return path, images


@pytest.mark.parametrize("case", EXACT, ids=[case["name"] for case in EXACT])
def test_files_give_the_same_scores(case: dict[str, Any], tmp_path: Path) -> None:
    reference, prediction = (write(tmp_path, side, case) for side in ("gt", "pred"))
    check(related.coco_pq(*reference, *prediction), case["panopticapi"])


def test_errors_name_the_file(tmp_path: Path) -> None:
    case = NAMES["c01_perfect"]
    reference, prediction = (write(tmp_path, side, case) for side in ("gt", "pred"))
    content = json.loads(prediction[0].read_text())
    content["annotations"][0]["segments_info"].pop()
    prediction[0].write_text(json.dumps(content))
    with pytest.raises(LabelError, match=r"pred.0\.png holds 630009 \(8 voxels\)"):
        related.coco_pq(*reference, *prediction)
    content["annotations"][0]["segments_info"] *= 2
    prediction[0].write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"pred\.json' lists segment 350005 of image 0 more than"):
        related.coco_pq(*reference, *prediction)
    content["annotations"] = []
    prediction[0].write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"pred\.json' has no annotation for image 0"):
        related.coco_pq(*reference, *prediction)
    (reference[1] / "0.png").write_bytes(b"no picture")
    with pytest.raises(FileError, match=r"0\.png' cannot be read as an image"):
        related.coco_pq(*reference, *reference)
    reference[0].write_text("{")
    with pytest.raises(FileError, match=r"gt\.json' cannot be read as COCO panoptic"):
        related.coco_pq(*reference, *prediction)


@pytest.mark.parametrize("kind", ["instances", "with isthing", "detections", "captions"])
def test_other_files_of_coco_are_told_from_panoptic_ones(tmp_path: Path, kind: str) -> None:
    outline = {"segmentation": [[0, 0, 2, 0, 2, 2]], "bbox": [0, 0, 2, 2], "category_id": 1}
    content: Any = {
        "images": [{"id": 1, "file_name": "1.jpg", "height": 4, "width": 4}],
        "annotations": [{"id": 1, "image_id": 1, "iscrowd": 0, "area": 2.0, **outline}],
        "categories": [{"id": 1, "name": "person"}],
    }
    if kind == "with isthing":
        content["categories"][0]["isthing"] = 1
    if kind == "detections":
        content = [{"image_id": 1, "score": 0.5, **outline}]
    if kind == "captions":
        content["annotations"] = [{"id": 1, "image_id": 1, "caption": "a person"}]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(content))
    found = "another" if kind == "captions" else "an instance"
    message = rf"annotations\.json' is {found} COCO file, not a panoptic one.*'segments_info'\. P"
    with pytest.raises(FileError, match=message):
        related.coco_pq(path, tmp_path, path, tmp_path)
