"""How far heuristics can fall below maximum PQ; proofs in docs/explanation/complexity.md."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given

import panmatch as pm
from panmatch.matching import optimality_gap
from tests import brute_force
from tests.hard_scenes import (
    Table,
    merged_badly,
    one_for_all,
    one_for_few,
    refused_joiners,
)
from tests.hypothesis_scenes import overlaps, thresholds
from tests.strategies import BY_NAME

THRESHOLDS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]


def ratio(overlap: pm.Overlap, strategy: pm.Strategy, threshold: float) -> float:
    """Return the PQ of a heuristic as a share of the maximum, which must be proven."""
    found = optimality_gap(overlap, strategy, threshold)
    assert found.certificate.proven
    return 1.0 - found.relative


def most_edges(overlap: pm.Overlap, threshold: float, gate: str) -> int:
    """Return the largest number of usable edges of a reference."""
    edges = overlap.above(threshold).edges if gate == "edge" else overlap.edges
    return int(np.bincount(edges.ref).max(initial=0))


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("joiners", [1, 4, 20, 100])
def test_greedy_merge_can_miss_almost_everything_at_every_threshold_of_seeds(
    threshold: Fraction, joiners: int
) -> None:
    scene = refused_joiners(joiners, 1000 * joiners)
    expected = 2 / (joiners + 2)
    assert expected < ratio(scene.overlap, pm.ManyToOne(), float(threshold)) < 1.003 * expected


def test_joiners_that_greedy_merge_refuses_do_so_at_a_threshold_of_zero_for_edges_too() -> None:
    scene = refused_joiners(20, 20_000).overlap
    assert ratio(scene, pm.ManyToOne(gate="edge"), 0.0) == ratio(scene, pm.ManyToOne(), 0.0)


@pytest.mark.parametrize("inverse", [10, 20, 50, 100, 200])
def test_greedy_merge_falls_with_the_square_of_the_threshold_of_edges(inverse: int) -> None:
    threshold = Fraction(1, inverse)
    scene = merged_badly(threshold, 200 * inverse).overlap
    found = ratio(scene, pm.ManyToOne(gate="edge"), float(threshold))
    fewer = inverse - 1  # edges of a reference
    assert most_edges(scene, float(threshold), "edge") <= fewer
    assert 1 / (fewer * (fewer + 1)) <= found < 67 * threshold**2


@pytest.mark.parametrize("refs", [2, 5, 20, 100])
def test_the_best_prediction_can_reach_half_the_maximum(refs: int) -> None:
    found = ratio(one_for_all(refs, 10_000 * refs).overlap, pm.OneToMany(), 0.0)
    expected = (refs + 1) / (2 * refs)
    assert expected < found < 1.0001 * expected


@pytest.mark.parametrize(("inverse", "refs"), [(1000, 30), (100, 9), (20, 4), (10, 3)])
def test_above_a_threshold_the_best_prediction_still_falls_short(inverse: int, refs: int) -> None:
    threshold = Fraction(1, inverse)
    found = ratio(one_for_few(threshold, refs, 10**6).overlap, pm.OneToMany(), float(threshold))
    expected = float((refs + 1) / (2 * refs * (1 - (refs - 1) * threshold)))
    assert found == pytest.approx(expected, rel=1e-4)
    assert found >= (inverse / 2) / (inverse - 1)  # (d + 1) / 2d


@pytest.mark.parametrize(
    "scene", [refused_joiners(5, 9), one_for_all(4, 9), merged_badly(Fraction(1, 10), 200)]
)
def test_every_scene_can_be_drawn(scene: Table) -> None:
    drawn = pm.count_overlaps(*scene.label_images())
    assert np.array_equal(drawn.edges.intersection, scene.overlap.edges.intersection)
    assert drawn.ref_sizes.tolist() == scene.ref_sizes
    assert drawn.pred_sizes.tolist() == scene.pred_sizes


def some_overlap(rng: np.random.Generator, number: int) -> pm.Overlap:
    if number % 2:
        return brute_force.lopsided_scene(rng, *rng.integers(1, 7, 2))
    return brute_force.all_contested(rng)


@pytest.mark.parametrize("gate", ["seed", "edge"])
def test_greedy_merge_keeps_its_bound(gate: str) -> None:
    rng = np.random.default_rng(0)
    for number in range(300):
        overlap, threshold = some_overlap(rng, number), float(rng.choice([0.0, 0.05, 0.1, 0.3]))
        d = most_edges(overlap, threshold, gate)
        if d == 0:
            continue
        found = ratio(overlap, BY_NAME[f"many-to-one/merge/{gate}"], threshold)
        is_simple = gate == "edge" or threshold == 0
        assert found >= (1 / (d * (d + 1)) if is_simple else 2 / (d * (d + 1) ** 2))


def test_the_best_prediction_keeps_its_bounds() -> None:
    rng = np.random.default_rng(1)
    for number in range(300):
        overlap = some_overlap(rng, number)
        refs, preds = len(overlap.ref_ids), len(overlap.pred_ids)
        threshold = Fraction(int(rng.integers(0, 60)), 100)
        found = ratio(overlap, pm.OneToMany(), float(threshold))
        assert found >= (refs + preds) / (2 * refs + preds - 1) - 1e-9
        if threshold:
            d = ceil(1 / threshold) - 1
            assert found >= (d + 1) / (2 * d) - 1e-9


@given(overlap=overlaps(), threshold=thresholds)
def test_from_one_half_on_edges_leave_nothing_to_choose(
    overlap: pm.Overlap, threshold: float
) -> None:
    threshold = 0.5 + threshold / 2
    for strategy in (pm.ManyToOne(gate="edge"), pm.OneToMany()):
        found = optimality_gap(overlap, strategy, min(threshold, 0.999))
        assert not found.gap > 0
