"""COCO instances as a dataset: images are cases, categories classes, and crowd is crowd."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import (
    Case,
    Job,
    RunOptions,
    instance_cases,
    is_panoptic,
    load_run,
    run_dataset,
)
from panmatch.errors import FileError, OptionError
from panmatch.evaluation import Result, Setting
from panmatch.spec import as_spec
from tests.detection_scenes import write_instances

SEEDS = range(6)


def run(folder: Path, out: str, paths: tuple[Path, Path], cut: float | None = None) -> Result:
    spec = as_spec({"preset": "coco-instances", "confidence": {"cut": cut}})
    cases = instance_cases(paths[0], {"detector": paths[1]})
    return run_dataset(cases, Job(spec.canonical()), folder / out, RunOptions())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_instances(tmp_path_factory.mktemp("coco"), SEEDS)


@pytest.fixture(scope="module")
def overlaps(files: tuple[Path, Path]) -> dict[tuple[int, int], pm.Overlap]:
    references = pm.read_coco_instances(files[0])
    found = pm.coco_overlaps(references, pm.read_coco_instances(files[1], references))
    return {key: one for key, one in found.items() if key[1] in references.categories}


@pytest.mark.parametrize("cut", [None, 0.5])
def test_every_image_and_category_has_the_tallies_and_surface_of_its_overlap(
    files: tuple[Path, Path],
    overlaps: dict[tuple[int, int], pm.Overlap],
    cut: float | None,
    tmp_path: Path,
) -> None:
    result = run(tmp_path, "out", files, cut)
    assert not result.failures
    names = pm.read_coco_instances(files[0]).categories
    seen = 0
    for case in result.cases:
        for entry in case.entries:
            category = next(one for one, name in names.items() if name == entry.setting.class_name)
            overlap = overlaps[int(case.case), category]
            matcher = entry.setting.matcher
            direct = pm.surface(overlap, matcher.strategy)
            assert entry.surface is not None
            np.testing.assert_array_equal(entry.surface.changes, direct.changes)
            left = overlap if cut is None else overlap.above_cut(cut)
            for level in entry.levels:
                expected = matcher.match(left, level.threshold).tally
                assert (level.tally, level.tally.units) == (expected, expected.units)
                seen += expected.tp
    assert seen > 100
    present = {(case.case, entry.setting.class_name)
               for case in result.cases for entry in case.entries}  # fmt: skip
    if cut is None:
        assert present == {
            (str(image), names[category])
            for (image, category), one in overlaps.items()
            if len(one.ref_ids) + len(one.pred_ids)
        }


def test_average_precision_of_a_category_is_that_of_its_summed_surfaces(
    files: tuple[Path, Path], overlaps: dict[tuple[int, int], pm.Overlap], tmp_path: Path
) -> None:
    result = run(tmp_path, "out", files)
    images = len(pm.read_coco_instances(files[0]).sizes)
    nothing = pm.surface(pm.count_overlaps([[0]], [[0]]).with_confidence([]))
    for category in (1, 2, 5):
        there = [pm.surface(one) for (_, kind), one in overlaps.items() if kind == category]
        pooled = pm.add_surfaces([*there, *[nothing] * (images - len(there))])
        (series,) = [
            one
            for one in result.detection_series
            if one.setting.class_name == f"kind {category}" and one.matcher.name == "one-to-one"
        ]
        assert series.n_cases == images
        assert series.scores_at(0.5)["ap"] == pooled.average_precision(0.5)
        assert series.scores_at(0.75)["cpm"] == pooled.froc(0.75).cpm
        assert series.overall["map"] == pooled.mean_average_precision()


def test_masks_that_may_overlap_have_no_error_budget(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    result = run(tmp_path, "out", files)
    assert len(result.budget) == 0
    assert result.losses == {"detector": {}}
    assert result.look_first() == []
    written = {path.stem for path in (tmp_path / "out").glob("*.csv")}
    assert written == {"scores", "instances", "curves", "diagnosis", "structure", "summary",
                       "detections", "pr", "froc", "calibration"}  # fmt: skip
    assert load_run(tmp_path / "out").plain("scores").rows() is not None


def test_a_changed_file_is_evaluated_again_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    paths = write_instances(tmp_path, range(2))
    spec = as_spec("coco-instances").canonical()
    cases = instance_cases(paths[0], {"a": paths[1]})
    run_dataset(cases, Job(spec), tmp_path / "out")
    done: list[bool] = []

    def again() -> Result:
        done.clear()
        return run_dataset(
            cases, Job(spec), tmp_path / "out", RunOptions(resume=True),
            lambda outcome: done.append(outcome.result is not None),
        )  # fmt: skip

    again()
    assert not any(done)
    detections = json.loads(paths[1].read_text())
    paths[1].write_text(json.dumps([*detections, detections[0] | {"score": 0.123}]))
    assert all(again().cases)
    assert all(done)


def test_equal_names_of_categories_get_their_numbers(tmp_path: Path) -> None:
    paths = write_instances(tmp_path, range(1))
    content = json.loads(paths[0].read_text())
    content["categories"] = [one | {"name": "cell"} for one in content["categories"]]
    paths[0].write_text(json.dumps(content))
    result = run(tmp_path, "out", paths)
    names = {series.setting.class_name for series in result.series}
    assert names <= {"cell (1)", "cell (2)", "cell (5)", "cell (7)"}
    assert len(names) > 1


def test_scores_outside_the_bounds_of_the_spec_fail_their_image_alone(tmp_path: Path) -> None:
    paths = write_instances(tmp_path, range(3))
    detections = json.loads(paths[1].read_text())
    wrong = next(i for i, one in enumerate(detections) if one["category_id"] == 1)
    detections[wrong]["score"] = 7
    paths[1].write_text(json.dumps(detections))
    spec = as_spec({"preset": "coco-instances", "confidence": {"bounds": [0, 1]}})
    cases = instance_cases(paths[0], {"a": paths[1]})
    result = run_dataset(cases, Job(spec.canonical()), tmp_path / "out")
    (failed,) = result.failures
    assert failed.case == str(detections[wrong]["image_id"])
    assert (
        f"detection {wrong} of {str(paths[1])!r} has the score 7.0, but the spec" in failed.reason
    )


def test_panoptic_files_are_told_from_files_of_instances(tmp_path: Path) -> None:
    paths = write_instances(tmp_path, range(1))
    assert not is_panoptic(paths[0])
    panoptic = tmp_path / "panoptic.json"
    panoptic.write_text(json.dumps({"annotations": [{"segments_info": []}]}))
    assert is_panoptic(panoptic)
    assert is_panoptic(tmp_path / "none.json")  # which says so when it is read


def test_files_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    paths = write_instances(tmp_path, range(1))
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps({"images": [], "categories": [], "annotations": []}))
    with pytest.raises(FileError, match="does not list any images"):
        instance_cases(empty, {"a": paths[1]})
    with pytest.raises(FileError, match="cannot be read: No such file"):
        instance_cases(paths[0], {"a": tmp_path / "nothing.json"})
    with pytest.raises(OptionError, match="reads files of many images: use `panmatch evaluate`"):
        pm.evaluate(reference=[[1]], prediction=[[1]], spec="coco-instances")


def test_settings_with_a_cut_differ_from_those_without() -> None:
    matcher = as_spec("coco-instances").matching[0]
    assert Setting("a", "things", matcher, 0.5) != Setting("a", "things", matcher)
    assert Setting("a", "things", matcher, 0.5).mean("mean of classes").cut == 0.5
    assert isinstance(Case("a", "m", None, None), Case)
