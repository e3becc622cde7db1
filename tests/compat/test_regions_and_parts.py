"""Regions and parts: panoptica's numbers where it is right, and with quirks where it is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from panmatch import related
from panmatch.compat.panoptica import LabelPartGroup, SegmentationClassGroups
from tests.compat.test_parity import (
    ALL,
    EDGES,
    OURS,
    SCENES,
    arrays_of,
    assert_same,
    box,
    compare,
    crowd,
    pick,
    same,
)
from tests.peers.asking import Labels
from tests.peers.run_panoptica_jobs import Job, judge, make_evaluator

REGIONS: Job = {
    "scene": 0,
    "input": "SEMANTIC",
    "approximator": ["ConnectedComponentsInstanceApproximator", None],
    "matcher": ["NaiveThresholdMatching", "IOU", 0.5, {}],
    "instance_metrics": ["IOU"],
    "global_metrics": ALL,
    "regions": True,
    "edges": EDGES,
}


def region_jobs(n: int, **more: Any) -> list[Job]:
    return [{**REGIONS, "scene": scene, **more} for scene in range(n)]


def test_regions_with_quirks_have_panoptica_s_means(tmp_path: Any) -> None:
    """Its tables and printed summaries leave the means out."""
    means = tuple(f"region_avg_{name.lower()}" for name in ALL)
    for job, theirs, ours in compare(SCENES[:20], region_jobs(20), tmp_path, quirks=True):
        for name in means:
            assert same(ours["ungrouped"][name], theirs["ungrouped"][name]), (job, name)
        assert_same(job, theirs, ours)


def test_regions_are_in_physical_units_and_ties_go_to_the_smaller_label() -> None:
    spacing = (1.0, 1.0, 4.0)
    scenes = [crowd(seed) for seed in range(6)]
    edges = {"DSC": ["NAN", "ZERO", "ZERO", "ZERO"]}
    job = {"spacing": spacing, "global_metrics": ["DSC"], "edges": edges}
    for (reference, prediction), found in zip(
        scenes, judge(OURS, arrays_of(scenes), region_jobs(6, **job)), strict=True
    ):
        mask = (reference != 0).astype(np.uint8)
        group = {"groups": {"g": ["LabelMergeGroup", [list(range(1, 50))]]}}
        [ours] = judge(OURS, arrays_of([(mask, prediction)]), region_jobs(1, **job, **group))
        mean = related.cc_metric(reference=mask, prediction=prediction, spacing=spacing).mean
        assert ours["g"]["region_avg_dsc"] == pytest.approx(mean)
        assert not math.isnan(found["ungrouped"]["region_avg_dsc"])
        assert any("Region Average Dice" in line for line in found["ungrouped"]["text"])
        assert not {"fp", "rq"} & found["ungrouped"].keys()


def test_regions_of_references_that_are_not_numbered_from_one(tmp_path: Any) -> None:
    """panoptica looks at the regions 1 … n only; ours does so with quirks."""
    reference = np.zeros((6, 12), np.uint8)
    reference[1:5, 1:4], reference[1:5, 8:11] = 2, 7
    prediction = np.where(reference == 7, 0, reference)
    job = {**REGIONS, "input": "UNMATCHED_INSTANCE", "global_metrics": ["DSC"]}
    [(_, theirs, quirky)] = compare([(reference, prediction)], [job], tmp_path, quirks=True)
    assert same(quirky["ungrouped"]["region_avg_dsc"], theirs["ungrouped"]["region_avg_dsc"])
    [ours] = judge(OURS, arrays_of([(reference, prediction)]), [{**job, "edges": {
        "DSC": ["NAN", "ZERO", "ZERO", "ZERO"]}}])  # fmt: skip
    assert ours["ungrouped"]["region_avg_dsc"] == 0.5


def test_an_empty_side_has_the_value_of_the_edge_case_in_regions(tmp_path: Any) -> None:
    reference = np.zeros((6, 6), np.uint8)
    reference[1:3, 1:3] = 1
    scene = [(reference, np.zeros_like(reference))]
    [(_, theirs, quirky)] = compare(scene, [REGIONS], tmp_path, quirks=True)
    assert theirs["ungrouped"]["region_avg_assd"] == quirky["ungrouped"]["region_avg_assd"] == 0
    [ours] = judge(OURS, arrays_of(scene), [{**REGIONS, "edges": {
        "ASSD": ["NAN", "INF", "INF", "INF"]}, "global_metrics": ["ASSD"]}])  # fmt: skip
    assert ours["ungrouped"]["region_avg_assd"] == math.inf


def parted(seed: int, *, simple: bool) -> tuple[Labels, Labels]:
    """Return things (1) with parts (2 and 3).

    Simple ones have one piece of every part in every thing, in the order of the things.
    """
    rng = np.random.default_rng(seed)
    reference, prediction = np.zeros((8, 12, 33), np.uint8), np.zeros((8, 12, 33), np.uint8)
    for number in range(3):
        start = np.array([1, 1, 1 + 11 * number])
        size = np.array([5, 9, 8])
        reference[box(start, size)] = 1
        moved = rng.integers(0, 2, 3) * ([0, 0, 1] if simple else [1, 1, 1])
        prediction[box(start + moved, size - 1)] = 1
        for part in (2, 3):
            inner = np.add(start, [2, 1 + 4 * (part - 2), 1])
            for image, move in ((reference, 0), (prediction, int(rng.integers(0, 2)))):
                if simple or rng.random() < 0.7:
                    image[box(np.add(inner, [0, 0, move]), [1, 3, 5])] = part
                if not simple and rng.random() < 0.3:
                    image[box(np.add(start, [3, 3, 2]), [1, 1, 1])] = part  # one more piece
    if not simple and seed % 3 == 0:
        prediction[box([1, 1, 12], [5, 9, 9])] = 0
    return reference, prediction


def part_jobs(n: int, **more: Any) -> list[Job]:
    names = ["NaiveThresholdMatching", "MaxBipartiteMatching", "MaximizeMergeMatching"]
    return [
        {
            "scene": scene,
            "input": "SEMANTIC",
            "approximator": ["ConnectedComponentsInstanceApproximator", None],
            "matcher": [pick(names, scene), pick(["IOU", "DSC"], scene), 0.3, {}],
            "groups": {"g": ["LabelPartGroup", [[1], [2, 3]]]},
            "instance_metrics": ["IOU", "DSC", "RVD", "ASSD", "HD", "CEDI"],
            "global_metrics": ["DSC", "IOU", "ASSD"],
            "spacing": pick([None, (3.0, 1.0, 0.5)], scene),
            "edges": EDGES,
            **more,
        }
        for scene in range(n)
    ]


def test_simple_parts_have_panoptica_s_numbers_without_quirks(tmp_path: Any) -> None:
    scenes = [parted(seed, simple=True) for seed in range(9)]
    jobs = part_jobs(9, global_metrics=["DSC", "IOU"])
    for job, theirs, ours in compare(scenes, jobs, tmp_path):
        assert_same(job, theirs, ours)
        assert theirs["g"]["tp"] > 0


def test_parts_in_any_number_of_pieces_have_panoptica_s_numbers_with_quirks(tmp_path: Any) -> None:
    scenes = [parted(seed, simple=False) for seed in range(30)]
    jobs = part_jobs(30)
    differs = 0
    for job, theirs, ours in compare(scenes, jobs, tmp_path, quirks=True):
        assert_same(job, theirs, ours)
    for job, plain in zip(jobs, judge(OURS, arrays_of(scenes), jobs), strict=True):
        [quirky] = judge(OURS, arrays_of(scenes), [job], quirks=True)
        differs += not same(plain["g"]["sq"], quirky["g"]["sq"])
    assert differs > 5


@pytest.mark.parametrize("empty", ["reference", "prediction", "both"])
def test_parts_of_an_empty_side(empty: str, tmp_path: Any) -> None:
    reference, prediction = parted(1, simple=True)
    if empty != "prediction":
        reference = np.zeros_like(reference)
    if empty != "reference":
        prediction = np.zeros_like(prediction)
    job = {**part_jobs(1)[0], "global_metrics": ["DSC", "IOU"]}
    [(_, theirs, ours)] = compare([(reference, prediction)], [job], tmp_path, quirks=True)
    assert_same(job, theirs, ours)


def test_parts_do_not_depend_on_their_labels_without_quirks() -> None:
    names = {1: 9, 2: 4, 3: 17}
    table = np.array([0, 9, 4, 17], np.uint8)
    for seed in range(6):
        reference, prediction = parted(seed, simple=False)
        job = {**part_jobs(1)[0], "global_metrics": ["DSC"], "instance_metrics": ["IOU", "DSC"]}
        other = {**job, "groups": {"g": ["LabelPartGroup", [[names[1]], [names[2], names[3]]]]}}
        [ours] = judge(OURS, arrays_of([(reference, prediction)]), [job])
        [renamed] = judge(OURS, arrays_of([(table[reference], table[prediction])]), [other])
        for key, value in ours["g"].items():
            if key not in ("rows", "text"):
                assert same(renamed["g"][key], value), key


def test_channels_of_parts() -> None:
    reference, prediction = parted(0, simple=True)
    groups = SegmentationClassGroups({"g": LabelPartGroup(1, [2, 3])})
    assert groups["g"].value_labels == [1, 2, 3]
    judge_parts = make_evaluator(OURS, {**part_jobs(1)[0], "spacing": None})
    found = judge_parts.evaluate(prediction, reference)["g"]
    channels = found.get_channel_metrics("dsc")
    assert set(channels) == {0, 2, 3}
    assert found.global_bin_dsc == pytest.approx(np.mean(list(channels.values())))
    whole = [image > 0 for image in (reference, prediction)]
    dice = 2 * (whole[0] & whole[1]).sum() / (whole[0].sum() + whole[1].sum())
    assert channels[0] == pytest.approx(dice)
