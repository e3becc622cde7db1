"""Protocols of detections against the numbers that other programs gave."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_curve

import panmatch as pm
from panmatch import protocols
from panmatch.errors import FileError, OptionError
from panmatch.labels import connected_components
from panmatch.related import Ranked, rank_greedily, rank_most_pairs, rank_points
from tests.peers.protocols.detection_scenes import DATASETS, dataset

DATA = Path(__file__).parents[1] / "data" / "detections"
RATES = (0.25, 0.5, 1.0, 2.0)


def recorded(program: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DATA / f"{program}.json").read_text())["datasets"]
    assert len(found) == DATASETS
    return found


def overlaps(seed: int) -> list[pm.Overlap]:
    found = []
    for mask, values in dataset(seed):
        lesions, candidates = connected_components(mask), connected_components(values != 0)
        overlap = pm.count_overlaps(lesions, candidates)
        found.append(overlap.with_confidence(pm.confidences_from_image(candidates, values)))
    return found


@pytest.mark.parametrize("seed", range(DATASETS))
def test_picai_gives_the_numbers_of_picai_eval(seed: int) -> None:
    expected = recorded("picai")[seed]
    masks, maps = zip(*dataset(seed), strict=True)
    found = protocols.run("picai", reference=masks, prediction=maps)
    names = ("AUROC", "AP", "score")
    assert [found[name] for name in names] == pytest.approx(
        [expected[name] for name in names], abs=1e-12, nan_ok=True
    )


def test_froc_gives_the_sensitivities_of_picai_eval() -> None:
    compared = 0
    for seed, expected in enumerate(recorded("picai")):
        ranked = [rank_most_pairs(one, 0.1) for one in overlaps(seed)]
        curve = sum(ranked[1:], ranked[0]).over_cuts()
        if curve.fn[-1] == 0:
            continue  # the program drops the last cut if no lesion is missed
        found = [curve.froc().at(rate) for rate in RATES]
        assert found == pytest.approx(expected["sensitivity"], abs=1e-7)  # it has single precision
        compared += 1
    assert compared > DATASETS / 2


def test_the_recorded_datasets_are_not_trivial() -> None:
    values = {round(one["AP"], 6) for one in recorded("picai")}
    assert len(values) > DATASETS / 2
    assert recorded("picai") != recorded("exacta")


@pytest.mark.parametrize("seed", range(DATASETS))
def test_a_greedy_ranking_gives_the_numbers_of_exacta(seed: int) -> None:
    expected = recorded("exacta")[seed]
    ranked = [rank_greedily(one, 0.1) for one in overlaps(seed)]
    curve = sum(ranked[1:], ranked[0]).over_cuts()
    assert curve.tp.tolist() == expected["tp"]
    assert curve.fp.tolist() == expected["fp"]
    assert curve.average_precision("none") == pytest.approx(expected["AP"], abs=1e-12)
    sensitivity = [curve.froc().at(rate) for rate in RATES]
    assert sensitivity == pytest.approx(expected["sensitivity"], abs=1e-12)


def by_the_rules(nodules: Any, candidates: Any) -> tuple[list[int], list[float], int]:
    """Return truth and probability of what counts, and how many nodules are found."""
    left, truth, probability, hits = list(range(len(candidates))), [], [], 0
    for x, y, z, diameter in nodules:
        inside = [
            i
            for i in left
            if sum((a - b) ** 2 for a, b in zip(candidates[i][:3], (x, y, z), strict=True))
            < (diameter / 2) ** 2
        ]
        if inside:
            truth.append(1)
            probability.append(max(candidates[i][3] for i in inside))
            left = [i for i in left if i not in inside]
            hits += 1
    truth += [0] * len(left)
    probability += [candidates[i][3] for i in left]
    return truth, probability, hits


@pytest.mark.parametrize("seed", range(20))
def test_luna_follows_the_published_rules(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    nodules, candidates = {}, {}
    for scan in range(6):
        centres = rng.uniform(0, 60, (rng.integers(0, 4), 3))
        nodules[f"s{scan}"] = np.column_stack([centres, rng.uniform(4, 20, len(centres))])
        near = np.repeat(centres, 2, axis=0) + rng.normal(0, 4, (2 * len(centres), 3))
        points = np.concatenate([near, rng.uniform(0, 60, (3, 3))])
        candidates[f"s{scan}"] = np.column_stack([points, rng.random(len(points)).round(3)])
    truth: list[int] = []
    probability: list[float] = []
    hits = 0
    for name, rows in nodules.items():
        found = by_the_rules(rows.tolist(), candidates[name].tolist())
        truth, probability, hits = truth + found[0], probability + found[1], hits + found[2]
    total = sum(map(len, nodules.values()))
    fpr, tpr, _ = roc_curve(truth, probability)
    false = fpr * (len(truth) - sum(truth)) / len(nodules)
    numbers = protocols.run("froc-luna", reference=nodules, prediction=candidates)
    expected = [np.interp(rate, false, tpr * hits / total) for rate in (0.5, 1, 2)]
    assert [numbers[f"sensitivity at {rate:g}"] for rate in (0.5, 1, 2)] == pytest.approx(expected)
    for column, sides in (("diameter_mm", nodules), ("probability", candidates)):
        lines = [f"seriesuid,coordX,coordY,coordZ,{column}"]
        lines += [",".join([uid, *map(str, row)]) for uid, rows in sides.items() for row in rows]
        (tmp_path / f"{column}.csv").write_text("\n".join(lines))
    assert numbers == protocols.run(
        "froc-luna",
        reference=tmp_path / "diameter_mm.csv",
        prediction=tmp_path / "probability.csv",
    )


def test_a_candidate_on_the_border_of_a_nodule_is_outside() -> None:
    assert rank_points([[0, 0, 0, 4]], [[2, 0, 0, 0.9]]).verdict.tolist() == [0]
    assert rank_points([[0, 0, 0, 4], [1, 0, 0, 4]], [[0, 0, 0, 0.9]]).over_cuts().tp[-1] == 1


def test_an_unmatched_candidate_with_enough_overlap_is_excused_or_not() -> None:
    ov = pm.count_overlaps([1, 1, 1, 2], [5, 6, 6, 7]).with_confidence([0.9, 0.8, 0.7])
    assert rank_most_pairs(ov, 0.2).over_cuts().fp.tolist() == [0, 0, 0, 0]
    assert rank_most_pairs(ov, 0.2, excuse=False).over_cuts().fp.tolist() == [0, 1, 1, 1]


def test_equal_confidences_are_one_step() -> None:
    ranked = Ranked(np.array([0.5, 0.9, 0.5]), np.array([1, 0, 0]), n_ref=2)
    curve = ranked.over_cuts()
    assert curve.cuts.tolist() == [np.inf, 0.9, 0.5]
    assert curve.tallies.counts[:, :3].tolist() == [[0, 0, 2], [0, 1, 2], [1, 2, 1]]


@pytest.mark.parametrize(
    ("name", "reference", "prediction", "message"),
    [
        ("picai", [np.zeros((2, 2, 2))], [], "reference has 1 cases and prediction 0"),
        ("picai", "a.nii.gz", [], "reference must be a list with one array per case"),
        ("picai", [np.zeros((2, 2, 2))], [np.full((2, 2, 2), -1.0)], "negative or undefined"),
        (
            "picai",
            [np.zeros((2, 2, 2))],
            [np.arange(8).reshape(2, 2, 2)],
            "give all voxels of a candidate the same confidence",
        ),
        ("froc-luna", {}, {}, "name every scan"),
        ("froc-luna", {"a": [[1, 2]]}, {}, "x, y, z and diameter"),
    ],
)
def test_errors_say_what_is_needed(
    name: str, reference: Any, prediction: Any, message: str
) -> None:
    with pytest.raises((OptionError, ValueError), match=re.escape(message)):
        protocols.run(name, reference=reference, prediction=prediction)


def test_a_table_without_the_columns_of_luna_is_named(tmp_path: Path) -> None:
    (tmp_path / "nodules.csv").write_text("seriesuid,x\na,1\n")
    with pytest.raises(FileError, match="seriesuid, coordX"):
        protocols.run("froc-luna", reference=tmp_path / "nodules.csv", prediction={})
