"""Live parity with panoptica 2.1.7 where it is wrong: with ``quirks=True`` so is the drop-in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.compat.test_parity import (
    ALL,
    CHEAP,
    EDGES,
    MATCHERS,
    assert_same,
    compare,
    crowd,
    pick,
)
from tests.peers.asking import Labels
from tests.peers.run_panoptica_jobs import Job

# Labels of reference and prediction that add up to 256 or 65,536, or stay below.
SUMS = ((200, 56), (128, 128), (100, 155), (40_000, 25_536), (300, 256))


def far_objects(seed: int) -> tuple[Labels, Labels]:
    """Return objects in a row; those whose labels add up to a power of two may be the outermost."""
    rng = np.random.default_rng(seed)
    reference, prediction = np.zeros((2, 9, 64), np.uint16)
    sums = SUMS if seed % 3 == 0 else SUMS[:3]
    for i in range(8):
        first, second = (3 + i, 4 + i) if 2 < i < 5 else pick(sums, int(rng.integers(9)))
        start, length, moved = (
            8 * i + int(rng.integers(3)),
            int(rng.integers(2, 6)),
            rng.integers(3),
        )
        reference[2:6, start : start + length] = first + (i % 2) * (first == 100)
        if rng.random() < 0.9:
            prediction[2 : 5 + moved % 2, start + moved // 2 : start + length] = second
    return reference, prediction


FAR = [far_objects(seed) for seed in range(18)]


def cropping_jobs(kind: str) -> list[Job]:
    jobs: list[Job] = []
    for scene in range(len(FAR)):
        name, extra = pick(MATCHERS, scene)
        job: dict[str, Any] = {
            "scene": scene,
            "input": kind,
            "matcher": [name, "IOU", 0.2, extra],
            "instance_metrics": ALL,
            "global_metrics": CHEAP,
            "spacing": pick([None, (2.0, 0.5)], scene),
            "edges": EDGES,
        }
        if kind == "SEMANTIC":
            backend = pick([None, "cc3d"], scene)
            job["approximator"] = ["ConnectedComponentsInstanceApproximator", backend]
        jobs.append(job)
        if kind != "MATCHED_INSTANCE":
            jobs.append({**job, "step": 0.25})
    return jobs


@pytest.mark.parametrize("kind", ["UNMATCHED_INSTANCE", "MATCHED_INSTANCE", "SEMANTIC"])
def test_labels_that_add_up_to_a_power_of_two_are_lost_by_cropping(
    kind: str, tmp_path: Any
) -> None:
    jobs = cropping_jobs(kind)
    found = compare(FAR, jobs, tmp_path, quirks=True)
    plain = compare(FAR, jobs, tmp_path)
    for job, theirs, ours in found:
        assert_same(job, theirs, ours)
    assert sum(quirky != right for (*_, quirky), (*_, right) in zip(found, plain, strict=True)) > 4


def test_groups_are_cropped_on_their_own(tmp_path: Any) -> None:
    image = np.zeros((12, 12), np.uint8)
    image[1:4, 1:4], image[7:10, 7:10], image[10:12, :2] = 128, 3, 129
    other = np.where(image == 129, 127, image).astype(np.uint8)
    groups = {
        "single": ["LabelGroup", [[128], True]],
        "several": ["LabelGroup", [[127, 128, 129]]],
        "merged": ["LabelMergeGroup", [[127, 128, 129]]],
        "with": ["LabelGroup", [[3, 128]]],
    }
    matcher = ["NaiveThresholdMatching", "IOU", 0.5, {}]
    for kind in ("UNMATCHED_INSTANCE", "MATCHED_INSTANCE"):
        job: Job = {"scene": 0, "input": kind, "groups": groups | {"rest": ["LabelGroup", [3]]},
                    "matcher": matcher, "instance_metrics": CHEAP}  # fmt: skip
        [(_, theirs, ours)] = compare([(image, other)], [job], tmp_path, quirks=True)
        assert_same(job, theirs, ours)
        lost = kind == "MATCHED_INSTANCE"
        assert (theirs["with"]["tp"], theirs["with"]["fn"]) == (1, int(lost))


def labelled(seed: int, shape: tuple[int, ...]) -> tuple[Labels, Labels]:
    """Return boxes of a few labels that touch and overlap."""
    reference, prediction = crowd(seed, shape)
    labels = [0, *np.random.default_rng(seed).integers(1, 4, 255)]
    table = np.array(labels, np.uint8)
    return table[reference], table[np.where(prediction > 0, 3 * (prediction % 10), 0)]


ONE_HOT = [labelled(seed, (9, 10, 11) if seed % 2 else (16, 18)) for seed in range(24)]


@pytest.mark.parametrize("step", [None, 0.25])
def test_one_hot_components_with_equal_numbers_are_one_object(
    step: float | None, tmp_path: Any
) -> None:
    jobs: list[Job] = []
    for scene in range(len(ONE_HOT)):
        name, extra = pick(MATCHERS, scene)
        job: dict[str, Any] = {
            "scene": scene,
            "input": "SEMANTIC",
            "approximator": ["OneHotConnectedComponentsInstanceApproximator",
                             pick([None, "cc3d", "scipy"], scene // 2)],
            "matcher": [name, pick(["IOU", "DSC"], scene), 0.2, extra],
            "instance_metrics": ALL,
            "global_metrics": [*CHEAP, "ASSD", "HD95", "CEDI", "NSD"],
            "edges": EDGES,
        }  # fmt: skip
        if step is None:
            jobs.append({**job, "matcher": ["NaiveThresholdMatching", "ASSD", 3.0 + 4 * scene, {}]})
            job["spacing"] = (2.0, 0.5) if ONE_HOT[scene][0].ndim == 2 else (3.0, 1.0, 0.5)
        cheap = {"step": step, "instance_metrics": CHEAP, "global_metrics": CHEAP}
        jobs.append(job if step is None else job | cheap)  # it stops at distances there
    for asked, theirs, ours in compare(ONE_HOT, jobs, tmp_path, quirks=True):
        assert_same(asked, theirs, ours)


def small_blocks(seed: int) -> tuple[Labels, Labels]:
    """Return blocks in 3-D, of some of which thinning leaves nothing."""
    rng = np.random.default_rng(seed)
    reference, prediction = np.zeros((2, 14, 16, 18), np.uint8)
    for label in range(1, 7):
        start, size = rng.integers(0, (10, 12, 14)), rng.integers(1, 6, 3)
        if seed % 2 and label < 3:
            size = np.array([2, 2, 2 * label])
        moved = start + rng.integers(0, 2, 3)
        reference[tuple(map(slice, start, start + size))] = label
        prediction[tuple(map(slice, moved, moved + size))] = label
    return reference, prediction


BLOCKS = [small_blocks(seed) for seed in range(30)]


def skeleton_jobs(kind: str = "UNMATCHED_INSTANCE") -> list[Job]:
    return [
        {
            "scene": scene,
            "input": kind,
            "matcher": ["NaiveThresholdMatching", "IOU", 0.05, {}],
            "instance_metrics": ["IOU", "clDSC"],
            "global_metrics": ["DSC", "clDSC"],
            "spacing": (1.0, 1.0, 2.0),
            "edges": EDGES | {"clDSC": EDGES["DSC"]},
        }
        for scene in range(len(BLOCKS))
    ]


def test_cldsc_in_3d_is_undefined_where_thinning_leaves_nothing(tmp_path: Any) -> None:
    undefined = 0
    for job, theirs, ours in compare(BLOCKS, skeleton_jobs(), tmp_path, quirks=True):
        assert_same(job, theirs, ours)
        undefined += math.isnan(theirs["ungrouped"]["sq_cldsc"])
    assert 5 < undefined < len(BLOCKS)


def test_cldsc_in_3d_is_panoptica_s_wherever_that_is_defined(tmp_path: Any) -> None:
    """Object by object; without quirks the others are numbers, too."""
    equal = filled = 0
    for _, theirs, ours in compare(BLOCKS, skeleton_jobs(), tmp_path):
        rows = zip(theirs["ungrouped"]["rows"], ours["ungrouped"]["rows"], strict=True)
        for said, found in rows:
            value = said.get("sq_cldsc")
            if value is not None and math.isnan(value):
                assert 0 <= found["sq_cldsc"] <= 1
                filled += 1
            elif value is not None:
                assert found["sq_cldsc"] == pytest.approx(value, rel=1e-12, abs=1e-12)
                equal += 1
    assert equal > 50
    assert filled > 5
