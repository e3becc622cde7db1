"""`coco-panoptic` on the images for which panopticapi itself gave its numbers, arrays and files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import related
from panmatch.protocols import find_protocol, protocol_numbers
from tests.commands import panmatch
from tests.related.test_coco import EXACT, write

GROUPS = ("All", "Things", "Stuff")
ALIKE = [case for case in EXACT if case["categories"] == EXACT[0]["categories"]]
SEVERAL = {**EXACT[0], "images": [image for case in ALIKE for image in case["images"]]}


def numbers_of(case: dict[str, Any]) -> dict[str, float]:
    kinds = [pm.SegmentClass(k["id"], "", bool(k["isthing"])) for k in case["categories"]]
    protocol = find_protocol("coco-panoptic")
    evaluator = pm.Evaluator(protocol.as_spec)
    for image in case["images"]:
        sides = {}
        for side, name in (("reference", "gt"), ("prediction", "pred")):
            table = {
                int(i): (one["category_id"], bool(one.get("iscrowd", 0)))
                for i, one in image[f"{name}_info"].items()
            }
            sides[side] = pm.from_segments(np.array(image[name]), table, kinds)
        evaluator.update(reference=sides["reference"], prediction=sides["prediction"])
    names = [str(kind.id) for kind in kinds]
    found = protocol_numbers(evaluator.compute(), protocol, names)
    return {number.name: number.value for number in found if number.case is None}


def check_groups(found: dict[str, float], official: dict[str, Any]) -> None:
    for name in GROUPS:
        values = official["aggregate"][name]
        if values == "ZeroDivisionError":
            assert found[f"{name}/n"] == 0
            continue
        for score in ("pq", "sq", "rq", "n"):
            assert found[f"{name}/{score}"] == pytest.approx(values[score], abs=1e-9)


@pytest.mark.parametrize("case", EXACT, ids=[case["name"] for case in EXACT])
def test_numbers_equal_those_of_panopticapi(case: dict[str, Any]) -> None:
    found = numbers_of(case)
    check_groups(found, case["panopticapi"])
    for id_, values in case["panopticapi"]["per_class"].items():
        whole = values["tp"] + values["fp"] / 2 + values["fn"] / 2
        expected = values["iou_sum"] / whole if whole else 0.0
        assert found[f"per_class/{id_}/pq"] == pytest.approx(expected, abs=1e-9)


def test_files_of_several_images_are_pooled(tmp_path: Path) -> None:
    assert len(SEVERAL["images"]) > 3
    reference = write(tmp_path, "gt", SEVERAL)
    prediction = write(tmp_path, "pred", SEVERAL)
    files = reference[0], prediction[0]
    command = ("evaluate", *files, "--protocol", "coco-panoptic", "--explain")
    done = panmatch(*command, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "protocol.csv").open() as file:
        rows = list(csv.DictReader(file))
    together = {row["name"]: float(row["value"] or "nan") for row in rows if not row["case"]}
    expected = related.coco_pq(*reference, *prediction)
    assert together["All/pq"] == pytest.approx(expected.all.pq, abs=1e-12)
    assert together["Things/sq"] == pytest.approx(expected.things.sq, abs=1e-12)
    assert together["Stuff/n"] == expected.stuff.n
    assert "Both judge every object alike." in done.stdout
