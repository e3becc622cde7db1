"""Live parity with panoptica 2.1.7: the same calls to both, on random scenes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.peers.asking import Labels, ask_peer
from tests.peers.run_panoptica_jobs import Found, Job, judge

OURS = "panmatch.compat.panoptica"
SPACINGS = (None, (3.0, 1.0, 0.5), (0.85, 0.85, 3.3))
CHEAP = ["DSC", "IOU", "RVD", "RVAE"]
ALL = [*CHEAP, "ASSD", "CEDI", "HD", "HD95", "NSD"]
EDGES = {name: ["NAN", "ZERO", "ONE", "INF"] for name in ALL}
MATCHERS: list[tuple[str, dict[str, Any]]] = [
    ("NaiveThresholdMatching", {}),
    ("NaiveThresholdMatching", {"allow_many_to_one": True}),
    ("MaxBipartiteMatching", {}),
    ("MaximizeMergeMatching", {}),
]


def crowd(seed: int, shape: tuple[int, ...] = (12, 14, 16)) -> tuple[Labels, Labels]:
    """Return boxes, and predictions of them that are moved, split, merged, missed, and new."""
    rng = np.random.default_rng(seed)
    reference, prediction = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    for label in range(1, 7):
        start = rng.integers(-1, np.array(shape) - 3)
        size = rng.integers(3, 7, len(shape))
        reference[box(start, size)] = label * 3
        moved = start + rng.integers(-1, 2, len(shape))
        fate = rng.random()
        if fate < 0.8:
            prediction[box(moved, size)] = label + 20
        if fate < 0.25:  # the second half has another label
            half = np.array(size) * ([1] * (len(shape) - 1) + [0.5])
            prediction[box(moved, half.astype(int))] = label + 30
        if 0.7 < fate < 0.8:
            prediction[box(start, size)] = 21
    noise = rng.random(shape) < 0.01
    return reference, np.where(noise, rng.integers(40, 43, shape), prediction).astype(np.uint8)


def box(start: Any, size: Any) -> tuple[slice, ...]:
    return tuple(
        slice(max(int(a), 0), max(int(a + n), 1)) for a, n in zip(start, size, strict=True)
    )


def empty_sides(seed: int) -> tuple[Labels, Labels]:
    reference, prediction = crowd(seed)
    return reference * (seed % 2), prediction * (seed % 3 == 0)


SCENES = [crowd(seed) for seed in range(300)]
FLAT = [crowd(seed, (30, 34)) for seed in range(20)]
SPARSE = [empty_sides(seed) for seed in range(6)]


def pick(values: Any, index: int) -> Any:
    return values[index % len(values)]


def unmatched_jobs() -> list[Job]:
    """Return one job per scene: all matchers, scores, thresholds and spacings in turn."""
    jobs: list[Job] = []
    for scene in range(len(SCENES)):
        rng = np.random.default_rng(scene)
        name, extra = pick(MATCHERS, scene)
        threshold = float(pick([0.1, 0.25, 1 / 3, 0.5, 0.75], int(rng.integers(5))))
        strict = {"strict_threshold": bool(rng.integers(2))}
        job: dict[str, Any] = {
            "scene": scene,
            "input": "UNMATCHED_INSTANCE",
            "matcher": [name, pick(["IOU", "DSC"], scene // 4), threshold, extra | strict],
            "instance_metrics": ALL,
            "global_metrics": CHEAP,
            "spacing": pick(SPACINGS, scene // 8),
            "edges": EDGES,
        }
        if scene % 5 == 0:
            job["decision"] = pick([["DSC", 0.6], ["ASSD", 1.0], ["HD95", 2.0]], scene // 5)
        jobs.append(job)
    return jobs


def arrays_of(scenes: Sequence[tuple[Labels, Labels]]) -> dict[str, Labels]:
    """Return the scenes under the names that jobs are judged by."""
    found: dict[str, Labels] = {}
    for i, (reference, prediction) in enumerate(scenes):
        found |= {f"reference_{i}": reference, f"prediction_{i}": prediction}
    return found


def compare(
    scenes: Sequence[tuple[Labels, Labels]], jobs: Sequence[Job], tmp_path: Any, **more: Any
) -> list[tuple[Job, Found, Found]]:
    """Return what both say of every job."""
    asked = np.array(json.dumps(jobs))
    theirs = ask_peer("run_panoptica_jobs.py", tmp_path, scenes, jobs=asked)["found"]
    return list(zip(jobs, theirs, judge(OURS, arrays_of(scenes), jobs, **more), strict=True))


def assert_same(job: Job, theirs: Found, ours: Found, *, also: tuple[str, ...] = ()) -> None:
    """Assert that both have the same groups, names, numbers, rows and printed lines."""
    assert ours.keys() == theirs.keys(), (job, theirs, ours)
    assert "error" not in theirs, (job, theirs)
    for group, said in theirs.items():
        found = dict(ours[group])
        for name in also:
            found.pop(name, None)
        assert found.keys() == said.keys(), job
        for name, value in said.items():
            if name == "rows":
                assert [list(row) for row in found[name]] == [list(row) for row in value]
                for mine, row in zip(found[name], value, strict=True):
                    for key in row:
                        assert same(mine[key], row[key]), (job, group, key, mine, row)
            elif name != "text":
                assert same(found[name], value), (job, group, name, found[name], value)
        lines = [[line.split(":")[0] for line in one["text"]] for one in (found, said)
                 if "text" in one]  # fmt: skip
        assert not lines or lines[0] == lines[-1]


def same(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return (math.isnan(ours) and math.isnan(theirs)) or ours == pytest.approx(
        theirs, rel=1e-9, abs=1e-9
    )


def test_three_hundred_scenes_have_panoptica_s_numbers(tmp_path: Any) -> None:
    """Where several matchings are best, the default takes another one than scipy."""
    matched, ties, jobs = 0, 0, unmatched_jobs()
    followed = compare(SCENES, jobs, tmp_path, quirks=True)
    by_default = judge(OURS, arrays_of(SCENES), jobs)
    for (job, theirs, ours), other in zip(followed, by_default, strict=True):
        assert_same(job, theirs, ours)
        matched += theirs["ungrouped"]["tp"]
        name, metric, *_ = job["matcher"]
        numbers = [(one["ungrouped"]["tp"], one["ungrouped"]["sq_hd"]) for one in (other, ours)]
        if name == "MaxBipartiteMatching" and not all(map(same, *numbers)):
            ties += 1
            sum_of = "sq" if metric == "IOU" else "sq_dsc"
            assert same(other["ungrouped"][sum_of], theirs["ungrouped"][sum_of])
        else:
            assert_same(job, theirs, other)
    assert matched > 500
    assert ties < 5


def matched_jobs() -> list[Job]:
    """Return jobs with ids that match, or not, with and without decision."""
    return [
        {
            "scene": scene,
            "input": "MATCHED_INSTANCE",
            "instance_metrics": ALL,
            "global_metrics": CHEAP,
            "spacing": pick(SPACINGS, scene),
            "edges": EDGES,
            **({"decision": ["DSC", 0.3]} if scene % 3 == 0 else {}),
        }
        for scene in range(30)
    ]


def test_ids_that_match_already(tmp_path: Any) -> None:
    """Equal ids are partners even where they share no voxel."""
    scenes = [(ref, np.where(pred > 20, (pred - 20) * 3, pred)) for ref, pred in SCENES[:30]]
    apart = 0
    for job, theirs, ours in compare(scenes, matched_jobs(), tmp_path):
        assert_same(job, theirs, ours)
        apart += sum(row.get("sq") == 0 for row in theirs["ungrouped"]["rows"])
    assert apart > 0


GROUPS = {
    "a": ["LabelGroup", [[3, 6]]],
    "b": ["LabelMergeGroup", [[9, 12, 23]]],
    "one": ["LabelGroup", [[15], True]],
    "rest": ["LabelGroup", [[18, *range(21, 50)]]],
}


@pytest.mark.parametrize("semantic", [True, False])
def test_groups_merged_groups_and_single_instances(semantic: bool, tmp_path: Any) -> None:
    found = "SEMANTIC" if semantic else "UNMATCHED_INSTANCE"
    jobs: list[Job] = []
    for scene in range(24):
        name, extra = pick(MATCHERS, scene)
        job: dict[str, Any] = {
            "scene": scene,
            "input": found,
            "matcher": [name, "IOU", 0.2, extra],
            "groups": GROUPS,
            "instance_metrics": ALL,
            "global_metrics": CHEAP,
            "spacing": pick(SPACINGS, scene),
            "edges": EDGES,
            **({"decision": ["IOU", 0.4]} if scene % 2 else {}),
        }
        if semantic:
            backend = pick([None, "cc3d", "scipy"], scene)
            job["approximator"] = ["ConnectedComponentsInstanceApproximator", backend]
        jobs.append(job)
    scenes = [(ref, np.where(pred == 21, 15, pred)) for ref, pred in SCENES[:24]]
    for asked, theirs, ours in compare(scenes, jobs, tmp_path, quirks=True):
        assert_same(asked, theirs, ours)


def test_two_axes(tmp_path: Any) -> None:
    """Without a backend, components are found by scipy there."""
    jobs: list[Job] = [
        {
            "scene": scene,
            "input": "SEMANTIC",
            "approximator": ["ConnectedComponentsInstanceApproximator", None],
            "matcher": ["NaiveThresholdMatching", "DSC", 0.3, {}],
            "instance_metrics": [*ALL, "clDSC"],
            "global_metrics": [*CHEAP, "clDSC"],
            "spacing": [0.5, 2.0],
            "edges": EDGES | {"clDSC": EDGES["DSC"]},
        }
        for scene in range(len(FLAT))
    ]
    for job, theirs, ours in compare(FLAT, jobs, tmp_path):
        assert_same(job, theirs, ours)


def test_one_hot_components_of_one_label_are_components(tmp_path: Any) -> None:
    """panoptica counts every voxel of theirs twice, once for the label and once for all labels."""
    jobs: list[Job] = [
        {
            "scene": scene,
            "input": "SEMANTIC",
            "approximator": ["OneHotConnectedComponentsInstanceApproximator", backend],
            "matcher": ["NaiveThresholdMatching", "IOU", 0.3, {}],
            "instance_metrics": CHEAP,
            "global_metrics": ["DSC"],
        }
        for scene in range(4)
        for backend in (None, "scipy")
    ]
    masks = [((ref > 0).astype(np.uint8), (pred > 0).astype(np.uint8)) for ref, pred in SCENES[:4]]
    for _, theirs, ours in compare(masks, jobs, tmp_path):
        said, found = theirs["ungrouped"], ours["ungrouped"]
        for name in ("tp", "fp", "fn", "pq", "sq_std", "pq_dsc", "sq_rvd", "global_bin_dsc"):
            assert same(found[name], said[name]), name
        assert said["global_bin_volume_ref"] == 2 * found["global_bin_volume_ref"]


def test_files_with_spacing_have_panoptica_s_numbers(tmp_path: Any) -> None:
    """It takes 0.85 from the header as 0.8500000238, and so does the drop-in with quirks."""
    nibabel = pytest.importorskip("nibabel")
    paths: list[str] = []
    for name, image in zip(("reference", "prediction"), SCENES[0], strict=True):
        paths.insert(0, str(tmp_path / f"{name}.nii.gz"))
        nibabel.save(nibabel.Nifti1Image(image, np.diag([0.85, 0.7, 3.3, 1.0])), paths[0])
    job: Job = {
        "scene": 0,
        "paths": paths,
        "input": "UNMATCHED_INSTANCE",
        "matcher": ["NaiveThresholdMatching", "IOU", 0.2, {}],
        "instance_metrics": ALL,
        "edges": EDGES,
    }
    [(_, theirs, ours)] = compare(SCENES[:1], [job], tmp_path, quirks=True)
    for one in (theirs["ungrouped"], ours["ungrouped"]):  # a product in single precision, there
        one["instance_volume_ref"] = round(one["instance_volume_ref"], 4)
        for row in one["rows"]:
            row["volume"] = round(row["volume"], 4)
    assert_same(job, theirs, ours)
    [plain] = judge(OURS, {}, [job])
    said, found = theirs["ungrouped"]["sq_assd"], plain["ungrouped"]["sq_assd"]
    assert found != pytest.approx(said, rel=1e-9)
    assert found == pytest.approx(said, rel=1e-7)


def test_empty_sides_and_edge_cases(tmp_path: Any) -> None:
    jobs: list[Job] = [
        {
            "scene": scene,
            "input": "UNMATCHED_INSTANCE",
            "matcher": ["NaiveThresholdMatching", "IOU", threshold, {}],
            "instance_metrics": list(names),
            "global_metrics": list(names),
            **edges,
        }
        for scene in range(len(SPARSE))
        for threshold in (0.5, 1.0)
        for names, edges in ((EDGES, {"edges": EDGES}), (["IOU", "DSC", "ASSD", "RVD"], {}))
    ]
    for job, theirs, ours in compare(SPARSE, jobs, tmp_path, quirks=True):
        assert_same(job, theirs, ours)


def test_a_metric_without_an_edge_case_stops_panoptica_and_is_nan_here(tmp_path: Any) -> None:
    job: Job = {
        "scene": 0,
        "input": "UNMATCHED_INSTANCE",
        "matcher": ["NaiveThresholdMatching", "IOU", 0.5, {}],
        "instance_metrics": ["IOU", "HD"],
        "global_metrics": ["HD"],
    }
    reference = np.zeros((4, 9), np.uint8)
    reference[1:3, 1:3] = 1
    scenes = [(reference, np.roll(reference, 4, axis=1))]
    [(_, theirs, ours)] = compare(scenes, [job], tmp_path)
    assert theirs["error"] == "NotImplementedError"
    assert math.isnan(ours["ungrouped"]["sq_hd"])
    assert ours["ungrouped"]["global_bin_hd"] == 4
    [quirky] = judge(OURS, arrays_of(scenes), [job], quirks=True)
    assert quirky["error"] == "NotImplementedError"


def test_distances_of_whole_masks_honour_the_spacing_unless_quirks_are_asked_for(
    tmp_path: Any,
) -> None:
    names = ["ASSD", "HD", "HD95", "NSD", "CEDI"]
    jobs: list[Job] = [
        {
            "scene": scene,
            "input": "UNMATCHED_INSTANCE",
            "matcher": ["NaiveThresholdMatching", "IOU", 0.1, {}],
            "instance_metrics": ["IOU"],
            "global_metrics": names,
            "spacing": spacing,
            "edges": EDGES,
        }
        for scene in range(8)
        for spacing in ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    ]
    for job, theirs, ours in compare(SCENES[:8], jobs, tmp_path, quirks=True):
        assert_same(job, theirs, ours)
    found = judge(OURS, arrays_of(SCENES[:8]), jobs)
    for one, twice in zip(found[::2], found[1::2], strict=True):
        for name in ("assd", "hd", "hd95", "cedi"):
            key = f"global_bin_{name}"
            assert twice["ungrouped"][key] == pytest.approx(2 * one["ungrouped"][key])
        assert twice["ungrouped"]["global_bin_nsd"] == one["ungrouped"]["global_bin_nsd"]


@pytest.mark.parametrize("name", ["NaiveThresholdMatching", "MaximizeMergeMatching"])
def test_areas_are_those_of_panoptica_s_grid(name: str, tmp_path: Any) -> None:
    jobs: list[Job] = [
        {
            "scene": scene,
            "input": "UNMATCHED_INSTANCE",
            "matcher": [name, "IOU", 0.5, {"strict_threshold": scene % 2 == 1}],
            "instance_metrics": ["DSC", "IOU", "ASSD"],
            "spacing": pick(SPACINGS, scene),
            "step": pick([0.1, 0.07, 0.25], scene),
            **pick(
                [{}, {"decision": ["DSC", 0.5]}, {"decision": ["DSC", 0.5], "mode": "fixed"}],
                scene,
            ),
        }
        for scene in range(12)
    ]
    for job, theirs, ours in compare(SCENES[:12], jobs, tmp_path):
        assert_same(job, theirs, ours)


@pytest.mark.parametrize("metric", ["ASSD", "HD95", "RVAE"])
def test_matching_by_any_metric(metric: str, tmp_path: Any) -> None:
    limit = {"ASSD": 1.0, "HD95": 3.0, "RVAE": 0.5}[metric]
    jobs: list[Job] = [
        {
            "scene": scene,
            "input": "UNMATCHED_INSTANCE",
            "matcher": ["NaiveThresholdMatching", metric, limit, {}],
            "instance_metrics": CHEAP,
        }
        for scene in range(6)
    ]
    for job, theirs, ours in compare(SCENES[:6], jobs, tmp_path):
        assert_same(job, theirs, ours)
