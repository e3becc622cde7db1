"""Images with classes of their own: segments of COCO, ids of Cityscapes, uids of panoptic parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.evaluation import Result
from panmatch.spec import as_spec
from tests.evaluation.by_hand import assert_same, columns_of, only, rows_of

PERSON, CAR = pm.SegmentClass(24, "person"), pm.SegmentClass(26, "car")
ROAD = pm.SegmentClass(7, "road", thing=False)
KINDS = (PERSON, CAR, ROAD)

# Void at both ends; a group of persons that nobody told apart (24).
REFERENCE = np.array([[0, 24001, 24001, 24002, 24002, 24, 24, 26001, 26001, 7, 7, 0]])
PREDICTION = np.array([[24005, 24005, 24005, 24002, 7, 24009, 24009, 26002, 7, 7, 7, 7]])


def compared(result: Result, reference: pm.Panoptic, prediction: pm.Panoptic, spec: Any) -> None:
    overlaps = pm.count_class_overlaps(reference, prediction)
    for row in rows_of(result.cases[0]):
        kind = next(one for one in reference.classes if one.name == row["class"])
        for threshold in spec.thresholds:
            if row["threshold"] == threshold:
                tally = pm.match(overlaps[kind.id], row["strategy"], threshold).tally
                assert_same(
                    row, {n: getattr(tally, n) for n in ("tp", "fp", "fn", "quality", "pq")}
                )


def test_ids_of_cityscapes_as_arrays_and_as_panoptic_images() -> None:
    spec = as_spec("cityscapes")
    arrays = pm.evaluate(reference=REFERENCE, prediction=PREDICTION, spec=spec)
    kinds = [
        pm.SegmentClass(one.numbers[0], name, one.kind == "things")
        for name, one in spec.classes.items()
        if one.numbers
    ]
    sides = pm.from_cityscapes(REFERENCE, kinds), pm.from_cityscapes(PREDICTION, kinds)
    images = pm.evaluate(reference=sides[0], prediction=sides[1], spec=spec)
    assert arrays.to_json() == images.to_json()
    compared(images, *sides, spec)
    # Only what occurs has rows, in the order of the spec.
    assert columns_of(arrays.cases[0])["class"] == ["road", "person", "car"]
    person = only(arrays.cases[0], **{"class": "person"})
    # 5 lies on both voxels of 1, its third one in void; 9 lies in the crowd, and is dismissed.
    assert (person["tp"], person["fp"], person["fn"], person["quality"]) == (1, 1, 1, 1.0)
    road = only(arrays.cases[0], **{"class": "road"})
    assert (road["kind"], road["tp"], road["fp"], road["quality"]) == ("stuff", 0, 1, 0.0)


def test_segments_with_their_tables() -> None:
    reference = pm.from_segments(
        [[1, 1, 2, 2, 3, 3, 9, 0]],
        {1: (24, False), 2: (24, False), 3: (24, True), 9: (7, False)},
        KINDS,
    )
    prediction = pm.from_segments(
        [[5, 5, 5, 6, 6, 6, 9, 9]], {5: (24, False), 6: (24, False), 9: (7, False)}, KINDS
    )
    spec = as_spec("coco")
    result = pm.evaluate(reference=reference, prediction=prediction, spec=spec)
    compared(result, reference, prediction, spec)
    person = only(result.cases[0], **{"class": "person"})
    # 6 has one voxel of three in 2, and the other two in the crowd: dismissed.
    assert (person["tp"], person["fp"], person["fn"]) == (1, 0, 1)
    assert person["quality"] == 2 / 3
    assert only(result.cases[0], **{"class": "road"})["quality"] == 1.0
    rows = [row for row in rows_of(result.cases[0], "instances") if row["class"] == "person"]
    assert [(row["ref_id"], row["pred_ids"], row["status"]) for row in rows] == [
        (1, "5", "matched"),
        (2, "", "missed"),
    ]


def test_classes_without_a_name_are_called_by_their_number() -> None:
    side = pm.from_segments([[3, 3]], {3: (41, False)}, [pm.SegmentClass(41)])
    case = pm.evaluate(reference=side, prediction=side, spec="coco").cases[0]
    assert columns_of(case)["class"] == ["41"]


def test_uids_with_parts() -> None:
    spec = as_spec(
        {
            "encoding": "panoptic-parts",
            "classes": {
                "person": {"labels": 24, "parts": [1, 2]},
                "road": {"labels": 7, "kind": "stuff"},
            },
            "matching": "one-to-one",
            "thresholds": 0.3,
        }
    )
    reference = np.array([[2400101, 2400101, 2400102, 2400100, 7, 7, 0]])
    prediction = np.array([[2400301, 2400302, 2400302, 2400301, 7, 0, 7]])
    case = pm.evaluate(reference=reference, prediction=prediction, spec=spec).cases[0]
    kinds = [pm.SegmentClass(24, parts=(1, 2)), pm.SegmentClass(7, thing=False)]
    overlaps = pm.count_class_overlaps(
        pm.from_panoptic_parts(reference, kinds), pm.from_panoptic_parts(prediction, kinds)
    )
    for name, number in (("person", 24), ("road", 7)):
        matching = pm.match(overlaps[number], threshold=0.3)
        row = only(case, **{"class": name})
        assert_same(row, {"tp": 1, "quality": matching.tally.quality})
        if matching.part_tally is not None:
            assert row["part_quality"] == matching.part_tally.quality != row["quality"]
    # Parts 1 and 2 have IoU 1/2 each outside the unknown voxel. Of the six voxels that are not
    # void, the last two and no more are background on both sides.
    assert only(case, **{"class": "person"})["part_quality"] == pytest.approx(
        (1 / 2 + 1 / 2 + 1) / 3
    )


def test_panoptic_images_work_with_regions_and_metrics() -> None:
    kinds = [pm.SegmentClass(1, "cell", parts=(1, 2)), pm.SegmentClass(2, "vessel")]
    rng = np.random.default_rng(1)
    sides, maps = [], []
    for _ in range(2):
        classes = rng.integers(0, 3, (6, 7)).repeat(2, 0).repeat(2, 1)
        numbers = rng.integers(1, 4, (6, 7)).repeat(2, 0).repeat(2, 1)
        parts = np.where(classes == 1, rng.integers(0, 3, classes.shape), 0)
        sides.append(pm.from_maps(classes, numbers, kinds, part_map=parts, numbering="per class"))
        maps.append((classes, numbers, parts))
    spec = as_spec({"matching": ["union", "many-to-one"], "thresholds": 0.1, "metrics": ["hd95"]})
    case = pm.evaluate(reference=sides[0], prediction=sides[1], spec=spec, spacing=(1, 2)).cases[0]
    cells = [np.where(classes == 1, numbers, 0) for classes, numbers, _ in maps]
    overlap = pm.count_part_overlaps(
        cells[0], cells[1], maps[0][2], maps[1][2], parts=[1, 2], regions="voronoi", spacing=(1, 2)
    )
    tally = pm.match(overlap, pm.RegionUnion(), 0.1).tally
    row = only(case, **{"class": "cell"}, strategy="union")
    assert tally.tp > 0
    assert_same(row, {"tp": tally.tp, "fp": tally.fp, "fn": tally.fn, "quality": tally.quality})
    vessels = [np.where(classes == 2, numbers, 0) for classes, numbers, _ in maps]
    matching = pm.match(pm.count_overlaps(*vessels), "many-to-one", 0.1)
    measured = pm.measure(matching, vessels[0], vessels[1], "hd95", (1, 2))
    row = only(case, **{"class": "vessel"}, strategy="many-to-one")
    assert_same(row, {"quality": matching.tally.quality, "sq_hd95": measured.scores["sq_hd95"]})
