"""TSV files: panoptica reads ours and finds the numbers of its own, and we read panoptica's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch import phantoms
from panmatch.datasets import DatasetPaths, Job, compare_files
from panmatch.spec import as_spec
from tests.datasets.folders import SPACING, run, save_nifti
from tests.peers.asking import PEER, Labels, ask_peer

pytestmark = pytest.mark.skipif(not PEER.exists(), reason=f"panoptica is not installed in {PEER}")

LAST = 6  # label of the first class
MATCHERS = ("one-to-one", "many-to-one")
SPEC = {
    "classes": {
        "Large": {"labels": f"1-{LAST}", "instances": "ids"},
        "small": {"labels": f"{LAST + 1}-{2 * LAST}", "instances": "ids"},
    },
    "thresholds": [0.3],
    "metrics": ["iou", "dice", "masd", "relative_volume_difference", "relative_volume_error"],
    "whole": ["dice", "iou"],
}


def make_scene(seed: int) -> tuple[Labels, Labels]:
    """Return objects of two classes, some of them split, shifted or missed."""
    reference = phantoms.blobs((22, 24, 16), 8, radius=(2, 4), gap=1, seed=seed)
    moved = phantoms.shift(reference, (seed % 3, 1, 0), ids=[1, 3, 5, 7])
    prediction = phantoms.split(phantoms.miss(moved, ids=[2 + seed % 3]), 2, ids=[6])
    large = 1 + LAST // 2  # ids above belong to the second class

    def classes(labels: Labels) -> Labels:
        return np.where(labels > large, labels - large + LAST, labels)

    return classes(reference), classes(prediction)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Return a folder with files of both programs, and what panoptica reads from each."""
    folder = tmp_path_factory.mktemp("tables")
    scenes = [make_scene(seed) for seed in range(6)]
    nothing = np.zeros_like(scenes[0][0])
    scenes += [(scenes[0][0], nothing), (nothing, scenes[1][1]), (nothing, nothing)]
    subjects = [f"p-{i}" for i in range(len(scenes))]
    for subject, (reference, prediction) in zip(subjects, scenes, strict=True):
        save_nifti(folder / "ref" / f"{subject}.nii.gz", reference, SPACING)
        save_nifti(folder / "pred" / f"{subject}.nii.gz", prediction, SPACING)
    paths = DatasetPaths(folder / "ref", {"net": folder / "pred"})
    for matcher in MATCHERS:
        job = Job(as_spec({**SPEC, "matching": [matcher]}).canonical())
        run(paths, folder / "out" / matcher, job=job, also=("wide.tsv",))
        shutil.copy(folder / "out" / matcher / "wide.tsv", folder / f"ours {matcher}.tsv")
    more = {
        "subjects": np.array(subjects),
        "spacing": np.array(SPACING),
        "last": np.array(LAST),
    }
    return folder, ask_peer("run_panoptica_tables.py", folder, scenes, **more)


def assert_same(ours: list[float | None], theirs: list[float | None], key: str) -> None:
    assert [one is None for one in ours] == [one is None for one in theirs], key
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None]
    assert [a for a, _ in pairs] == pytest.approx([b for _, b in pairs], rel=1e-9, abs=1e-12), key


@pytest.mark.parametrize("matcher", MATCHERS)
def test_panoptica_reads_our_file_like_its_own(
    asked: tuple[Path, dict[str, Any]], matcher: str
) -> None:
    folder, results = asked
    ours, theirs = results[f"ours {matcher}"], results[matcher]
    for key in ("groups", "metrics", "subjects"):
        assert ours[key] == theirs[key]
    lines = [
        (folder / f"{name}.tsv").read_text().splitlines() for name in (f"ours {matcher}", matcher)
    ]
    assert lines[0][0] == lines[1][0]  # the same columns in the same order
    assert [line.count("\t") for line in lines[0]] == [line.count("\t") for line in lines[1]]
    assert theirs["groups"] == ["large", "small"]
    for key, values in theirs["values"].items():
        assert_same(ours["values"][key], values, key)
    tp = [theirs["values"][f"{group}-tp"] for group in theirs["groups"]]
    assert np.min([np.max(one) for one in tp]) >= 2  # there is something to agree on


def test_the_scenes_tell_the_matchers_apart(asked: tuple[Path, dict[str, Any]]) -> None:
    first, second = (asked[1][name]["values"]["small-pq"] for name in MATCHERS)
    assert first != second


def test_files_of_both_programs_compare_as_equals(asked: tuple[Path, dict[str, Any]]) -> None:
    folder, results = asked
    found = compare_files([folder / "one-to-one.tsv", folder / "ours one-to-one.tsv"])
    assert found.models == ("one-to-one", "ours one-to-one")
    assert len(found.cases) == 9
    compared = [one for one in found.differences if not one.criterion.setting.is_mean]
    assert len(compared) == 2 * 14  # 3 counts, 3 ratios of them, SQ and PQ of 2, SQ of 2, 2 masks
    for one in compared:
        assert one.test.mean_difference == pytest.approx(0.0, abs=1e-12)
    for criterion, placings in found.rankings.items():
        if not criterion.setting.is_mean:
            key = f"{criterion.setting.class_name}-{criterion.score.name}"
            assert placings[0].value == pytest.approx(results["one-to-one"]["means"][key]), key


def test_models_compare_by_files_of_panoptica(asked: tuple[Path, dict[str, Any]]) -> None:
    folder, results = asked
    found = compare_files([folder / f"{name}.tsv" for name in MATCHERS], ["pq", "sq_masd"])
    assert [score.name for score in found.scores] == ["pq", "sq_assd"]
    assert [score.higher_is_better for score in found.scores] == [True, False]
    key = next(key for key in found.values if key.setting.class_name == "small")
    expected = [
        [np.nan if value is None else value for value in results[name]["values"]["small-pq"]]
        for name in MATCHERS
    ]
    assert np.array_equal(found.values[key], np.array(expected).T, equal_nan=True)
