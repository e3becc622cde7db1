"""The matchings of a class share what they have in common, and nothing else."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.evaluation import CaseResult, Entry, Level
from panmatch.evaluation._diagnosis import count_near_threshold
from panmatch.scoring import graph_structure
from panmatch.spec import as_spec

SPEC = as_spec(
    {
        "matching": [
            "one-to-one",
            "many-to-one",
            {"strategy": "one-to-many", "solver": "optimal"},
            {"strategy": "many-to-one", "regions": True},
            "union",
        ],
        "thresholds": [0.0, 0.2, 0.5, 0.7],
        "metrics": ["iou", "dice", "assd"],
    }
)


def pair(seed: int) -> tuple[np.ndarray, np.ndarray]:
    reference = phantoms.blobs((24, 40), 6, radius=(2, 6), gap=1, seed=seed).astype(np.uint8)
    prediction = phantoms.shift(reference, (1, 2))
    prediction[prediction == 2] = 1  # merged
    prediction[:12][prediction[:12] == 4] = 9  # split
    return reference, prediction


def case_of(reference: np.ndarray, prediction: np.ndarray) -> CaseResult:
    return pm.evaluate(reference=reference, prediction=prediction, spec=SPEC).cases[0]


@pytest.mark.parametrize("seed", range(4))
def test_every_level_is_what_its_matching_alone_gives(seed: int) -> None:
    reference, prediction = pair(seed)
    whole = pm.count_overlaps(reference, prediction)
    cut = pm.count_region_overlaps(reference, prediction)
    for entry in case_of(reference, prediction).entries:
        matcher = entry.setting.matcher
        for level in entry.levels:
            matching = matcher.match(whole if matcher.regions is None else cut, level.threshold)
            measured = pm.measure(matching, reference, prediction, ("iou", "dice", "assd"))
            assert level.tally == matching.tally
            assert level.budget == pm.error_budget(matching)
            n_refs = len(matching.overlap.ref_ids)
            np.testing.assert_array_equal(level.quality[:n_refs], matching.ref_quality)
            assert not level.quality[n_refs:].any()
            for name in ("status", "ref_id", "pred_ids", "pred_voxels", "dice", "assd"):
                expected = measured.columns[name]
                np.testing.assert_array_equal(level.measurements.columns[name], expected)


@pytest.mark.parametrize("seed", range(4))
def test_levels_that_the_same_edges_pass_differ_only_in_their_threshold(seed: int) -> None:
    spec = as_spec(
        {
            "matching": [
                {"strategy": "one-to-one", "solver": "greedy", "score": "dice"},
                {"strategy": "one-to-one", "score": "reference-share"},
                {"strategy": "many-to-one", "solver": "optimal"},
                {"strategy": "many-to-one", "gate": "edge"},
                {"strategy": "one-to-many"},
                {"strategy": "same-id"},
            ],
            "thresholds": [at / 20 for at in range(20)],
        }
    )
    reference, prediction = pair(seed)
    whole = pm.count_overlaps(reference, prediction)
    found = pm.evaluate(reference=reference, prediction=prediction, spec=spec).cases[0]
    for entry in found.entries:
        for level, threshold in zip(entry.levels, spec.thresholds, strict=True):
            matching = entry.setting.matcher.match(whole, threshold)
            proof = matching.certificate
            assert (level.threshold, level.tally) == (threshold, matching.tally)
            assert level.gap == (None if proof is None else proof.gap)
            assert level.near_threshold == count_near_threshold(matching)


def test_the_same_edges_are_measured_once() -> None:
    reference, _ = pair(0)
    entries = case_of(reference, reference).entries
    of_whole = [level for entry in entries[:3] for level in entry.levels]
    assert len({id(level.measurements) for level in of_whole}) == 1


def test_other_edges_are_measured_again() -> None:
    reference, prediction = pair(0)
    first = levels(case_of(reference, prediction).entries[0])
    assert first[0.0].tally.tp > first[0.7].tally.tp
    assert first[0.0].measurements is not first[0.7].measurements


def levels(entry: Entry) -> dict[float, Level]:
    return {level.threshold: level for level in entry.levels}


@pytest.mark.parametrize("seed", range(4))
def test_components_at_every_threshold_are_those_of_the_graph(seed: int) -> None:
    reference, prediction = pair(seed)
    overlap = pm.count_overlaps(reference, prediction)
    found = case_of(reference, prediction).structures
    assert [one.threshold for one in found] == [0.0, 0.2, 0.5, 0.7]
    for one in found:
        assert asdict(one.structure) == asdict(graph_structure(overlap, one.threshold))


@pytest.mark.parametrize("seed", range(4))
def test_curves_that_share_steps_are_those_of_their_strategy(seed: int) -> None:
    reference, prediction = pair(seed)
    whole = pm.count_overlaps(reference, prediction)
    cut = pm.count_region_overlaps(reference, prediction)
    for entry in case_of(reference, prediction).entries:
        matcher = entry.setting.matcher
        alone = pm.curve(whole if matcher.regions is None else cut, matcher.strategy)
        assert entry.curve is not None
        assert entry.curve.strategy == matcher.strategy
        assert entry.curve.proven == alone.proven
        np.testing.assert_array_equal(entry.curve.thresholds, alone.thresholds)
        np.testing.assert_array_equal(entry.curve.tallies.counts, alone.tallies.counts)
