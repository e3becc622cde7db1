"""Proven optima: against brute force, against their own bounds, and against the clock's limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import panmatch as pm
from panmatch import phantoms
from panmatch.errors import OptionError, StrategyError
from panmatch.matching import _optimal_merge as optimal_merge
from panmatch.matching import optimality_gap
from tests import brute_force, scenes
from tests.hypothesis_scenes import overlaps, thresholds
from tests.strategies import BY_NAME, OPTIMAL

HEURISTIC = {
    "one-to-one/optimal": BY_NAME["one-to-one/greedy"],
    "many-to-one/optimal/seed": BY_NAME["many-to-one/merge/seed"],
    "many-to-one/optimal/edge": BY_NAME["many-to-one/merge/edge"],
    "one-to-many/optimal": BY_NAME["one-to-many/best"],
}
MERGING = [name for name in OPTIMAL if name.startswith("many")]


def with_budget(name: str, nodes: int) -> pm.ManyToOne:
    strategy = OPTIMAL[name]
    assert isinstance(strategy, pm.ManyToOne)
    return replace(strategy, budget=pm.Budget(nodes=nodes))


every_optimum = pytest.mark.parametrize("name", OPTIMAL)


def some_scene(rng: np.random.Generator, number: int) -> pm.Overlap:
    """Return all-contested and lopsided scenes, void, empty sides and single segments in turn."""
    if number % 4 == 0:
        return brute_force.all_contested(rng)
    if number % 4 == 2:
        return brute_force.lopsided_scene(rng, *rng.integers(1, 5, 2))
    scene = brute_force.random_scene(rng, max_side=4)
    return brute_force.with_void(rng, scene) if number % 4 == 1 else scene


def some_threshold(rng: np.random.Generator, overlap: pm.Overlap) -> float:
    scores = overlap.iou[overlap.iou < 1].tolist()
    return float(rng.choice([0.0, 0.0, 0.1, 0.2, 0.3, *scores]))


def check_against_brute_force(name: str, overlap: pm.Overlap, threshold: float) -> None:
    scene = brute_force.Scene.of(overlap)
    expected = brute_force.count(scene, brute_force.STRATEGIES[name](scene, threshold))
    matching = pm.match(overlap, OPTIMAL[name], threshold)
    assert matching.certificate is not None
    if matching.tally.status == "empty":
        return
    assert matching.tally.pq == pytest.approx(float(expected.pq), abs=1e-12)
    if name.startswith("one"):  # among equals the one with more true positives
        assert matching.tally.tp == expected.tp
    assert matching.certificate.value == matching.tally.pq
    assert matching.certificate.proven
    assert matching.certificate.upper_bound >= float(expected.pq) - 1e-15


@every_optimum
def test_two_thousand_scenes_equal_brute_force(name: str) -> None:
    rng = np.random.default_rng(2024)
    for number in range(2000):
        overlap = some_scene(rng, number)
        check_against_brute_force(name, overlap, some_threshold(rng, overlap))


@every_optimum
@pytest.mark.parametrize("ignored", [brute_force.with_void, brute_force.with_crowd])
def test_two_thousand_scenes_with_void_or_crowd_equal_brute_force(
    name: str, ignored: Callable[[np.random.Generator, pm.Overlap], pm.Overlap]
) -> None:
    rng = np.random.default_rng(31)
    for _ in range(2000):
        overlap = ignored(rng, brute_force.random_scene(rng, max_side=3))
        check_against_brute_force(name, overlap, some_threshold(rng, overlap))


@pytest.mark.parametrize("table", [0, 1, 12])
@pytest.mark.parametrize("name", MERGING)
def test_prices_and_the_general_solver_equal_brute_force_too(
    name: str, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimal_merge, "BRANCH_NODES", 0)
    monkeypatch.setattr(optimal_merge, "TABLE_SIZE", table)
    rng = np.random.default_rng(5)
    for number in range(400):
        overlap = some_scene(rng, number)
        check_against_brute_force(name, overlap, some_threshold(rng, overlap))


@pytest.mark.parametrize("name", MERGING)
@pytest.mark.parametrize("nodes", [0, 1, 3])
@pytest.mark.parametrize("rounds", [0, 2, 40])
def test_no_bound_is_ever_below_the_optimum(
    name: str, nodes: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop the search early in every way and see whether the bound still holds."""
    monkeypatch.setattr(optimal_merge, "PRICE_ROUNDS", rounds)
    monkeypatch.setattr(optimal_merge, "MOST_COLUMNS", 0)
    strategy = with_budget(name, nodes)
    rng = np.random.default_rng(nodes)
    open_gaps = 0
    for number in range(150):
        overlap = some_scene(rng, number)
        threshold = some_threshold(rng, overlap)
        best = pm.match(overlap, OPTIMAL[name], threshold).tally.pq
        matching = pm.match(overlap, strategy, threshold)
        assert matching.certificate is not None
        if matching.tally.status == "empty":
            continue
        heuristic = pm.match(overlap, HEURISTIC[name], threshold).tally.pq
        assert heuristic <= matching.certificate.value <= best + 1e-12
        assert matching.certificate.upper_bound >= best - 1e-12
        open_gaps += not matching.certificate.proven
    assert open_gaps > 0 or (nodes > 0 and rounds == 40)


@pytest.mark.parametrize("name", MERGING)
def test_a_budget_of_zero_returns_the_heuristic(name: str) -> None:
    strategy = with_budget(name, 0)
    rng = np.random.default_rng(8)
    for number in range(100):
        overlap = some_scene(rng, number)
        found = pm.match(overlap, strategy, 0.1)
        assert found.pairs.tolist() == pm.match(overlap, HEURISTIC[name], 0.1).pairs.tolist()
        assert found.certificate is not None
        assert found.certificate.nodes == 0


@every_optimum
@given(overlap=overlaps(), threshold=thresholds)
def test_optima_are_feasible_and_never_below_the_heuristic(
    name: str, overlap: pm.Overlap, threshold: float
) -> None:
    matching = pm.match(overlap, OPTIMAL[name], threshold)
    pairs = matching.pairs
    if matching.strategy.max_refs_per_pred == 1:
        assert len(np.unique(pairs[:, 1])) == len(pairs)
    if matching.strategy.max_preds_per_ref == 1:
        assert len(np.unique(pairs[:, 0])) == len(pairs)
    passing = overlap.iou[matching.edges] > threshold
    if name.endswith("seed"):
        refs = overlap.edges.ref[matching.edges]
        assert set(refs) == set(refs[passing])
    else:
        assert passing.all()
    heuristic = pm.match(overlap, HEURISTIC[name], threshold).tally
    if heuristic.status != "empty":
        assert matching.tally.pq >= heuristic.pq


@every_optimum
def test_renumbering_changes_no_optimum(name: str) -> None:
    rng = np.random.default_rng(3)
    for number in range(60):
        reference, prediction = (brute_force.random_labels(rng, (9, 9), 5) for _ in range(2))
        before = pm.count_overlaps(reference, prediction)
        after = pm.count_overlaps(
            phantoms.relabel(reference, seed=number), phantoms.relabel(prediction, seed=number)
        )
        first, second = (pm.match(o, OPTIMAL[name], 0.1).tally for o in (before, after))
        assert first.pq == pytest.approx(second.pq, abs=1e-14)
        assert first.tp == second.tp


class TestByHand:
    def test_a_reference_leaves_a_prediction_to_one_that_needs_it_more(self) -> None:
        # Prediction 1 would raise reference 1 from 10/20 to 20/38. It is all that reference 2
        # has: 10/48, little, but one miss less.
        overlap = pm.Overlap.from_dense(
            [[10, 10], [10, 0]], ref_sizes=[20, 30], pred_sizes=[28, 10]
        )
        greedy = pm.match(overlap, pm.ManyToOne(), 0.0)
        optimal = pm.match(overlap, pm.ManyToOne(solver="optimal"), 0.0)
        assert greedy.tally == pm.Tally(1, 0, 1, 20 / 38)
        assert optimal.pairs.tolist() == [[1, 2], [2, 1]]
        assert optimal.tally == pm.Tally(2, 0, 0, 10 / 20 + 10 / 48)
        assert optimal.tally.pq > greedy.tally.pq

    def test_the_seed_gate_lets_an_optimum_take_what_the_edge_gate_forbids(self) -> None:
        for gate, quality in (("seed", 1.0), ("edge", 0.5)):
            strategy = pm.ManyToOne(solver="optimal", gate=gate)  # type: ignore[arg-type]
            assert pm.match(scenes.SPLIT, strategy, 0.4).tally.quality == quality

    def test_a_reference_gives_up_its_best_prediction_for_an_unused_one(self) -> None:
        # Both like prediction 1 best; reference 2 turns prediction 2 from a false positive into
        # a partner at the cost of 5/14 - 3/9.
        overlap = pm.Overlap.from_dense([[6, 0], [5, 3]], ref_sizes=[6, 8], pred_sizes=[11, 4])
        best = pm.match(overlap, pm.OneToMany(), 0.0)
        optimal = pm.match(overlap, pm.OneToMany(solver="optimal"), 0.0)
        assert best.pairs.tolist() == [[1, 1], [2, 1]]
        assert best.tally.pq == pytest.approx((6 / 11 + 5 / 14) / 2.5)
        assert optimal.pairs.tolist() == [[1, 1], [2, 2]]
        assert optimal.tally.pq == pytest.approx((6 / 11 + 3 / 9) / 2)


class TestLargeScenes:
    def test_a_thousand_references_in_three_thousand_fragments_are_proven(self) -> None:
        reference = phantoms.blobs((900, 900), 1000, radius=(8, 11), gap=1, seed=0)
        prediction = phantoms.shift(phantoms.split(phantoms.dilate(reference, 3), 3), (2, 1))
        overlap = pm.count_overlaps(reference, prediction)
        assert (len(overlap.ref_ids), len(overlap.pred_ids)) == (1000, 3000)
        for name in OPTIMAL:
            for threshold in (0.0, 0.1, 0.3):
                matching = pm.match(overlap, OPTIMAL[name], threshold)
                assert matching.certificate is not None
                assert matching.certificate.proven

    @pytest.mark.parametrize("threshold", [0.0, 0.1])
    def test_a_dense_tissue_is_solved_to_within_one_percent(self, threshold: float) -> None:
        reference = phantoms.tissue((70, 70, 70), 500, seed=3)
        prediction = phantoms.tissue((70, 70, 70), 700, seed=9)
        overlap = pm.count_overlaps(reference, prediction)
        for name in OPTIMAL:
            matching = pm.match(overlap, OPTIMAL[name], threshold)
            certificate = matching.certificate
            assert certificate is not None
            assert certificate.gap <= 0.01 * certificate.value
            assert certificate.value > pm.match(overlap, HEURISTIC[name], threshold).tally.pq

    def test_branching_and_prices_agree_on_a_tissue(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reference = phantoms.tissue((60, 60), 25, seed=1)
        overlap = pm.count_overlaps(reference, phantoms.shift(reference, (3, 3)))
        strategy = pm.ManyToOne(solver="optimal")
        branched = pm.match(overlap, strategy, 0.0)
        monkeypatch.setattr(optimal_merge, "BRANCH_NODES", 0)
        priced = pm.match(overlap, strategy, 0.0)
        assert branched.certificate is not None
        assert priced.certificate is not None
        assert branched.certificate.proven
        assert priced.certificate.proven
        assert branched.tally.pq == pytest.approx(priced.tally.pq, abs=1e-12)


class TestOneToOneCertificate:
    @given(overlap=overlaps(), threshold=thresholds)
    def test_the_bound_holds_with_void(self, overlap: pm.Overlap, threshold: float) -> None:
        matching = pm.match(overlap, "one-to-one", threshold)
        assert matching.certificate is not None
        assert matching.certificate.proven
        scene = brute_force.Scene.of(overlap)
        for pairs in brute_force.matchings(scene.passing(threshold)):
            if matching.tally.status == "ok":
                pq = float(brute_force.count(scene, pairs).pq)
                assert pq <= matching.certificate.upper_bound + 1e-12

    @every_optimum
    def test_other_scores_promise_nothing_about_pq(self, name: str) -> None:
        assert pm.match(scenes.SPLIT, OPTIMAL[name], score="dice").certificate is None
        assert pm.curve(scenes.SPLIT, OPTIMAL[name], score="dice").proven is None

    def test_void_can_make_a_match_too_dear(self) -> None:
        """A prediction mostly in void costs nothing unmatched, and a poor match half a count."""
        overlap = pm.Overlap.from_columns(
            {
                **pm.Overlap.from_dense([[9, 0], [0, 1]], [10, 10], [9, 5]).columns(),
                "pred_void": np.array([0, 4]),
            }
        )
        matching = pm.match(overlap, "one-to-one", 0.0)
        assert matching.pairs.tolist() == [[1, 1]]
        assert matching.tally.pq == pytest.approx(0.9 / 1.5)  # 1.0 / 2 with both

    def test_heuristics_have_no_certificate(self) -> None:
        assert pm.match(scenes.SPLIT, pm.OneToOne(solver="greedy")).certificate is None


class TestOptimalityGap:
    def test_it_states_what_the_heuristic_misses(self) -> None:
        found = optimality_gap(scenes.GREEDY_TRAP, "one-to-one", 0.0)
        assert (found.heuristic, found.optimal) == (3 / 16, 5 / 16)
        assert found.gap == 2 / 16
        assert found.relative == 2 / 5
        assert found.certificate.proven

    def test_it_keeps_gate_and_budget(self) -> None:
        strategy = pm.ManyToOne(gate="edge", budget=pm.Budget(nodes=0))
        found = optimality_gap(scenes.SPLIT, strategy, 0.4)
        assert found.heuristic == found.optimal == 0.25

    def test_same_id_has_no_optimum(self) -> None:
        with pytest.raises(StrategyError, match="strategy='same-id' leaves nothing to choose"):
            optimality_gap(scenes.SPLIT, "same-id")

    def test_nothing_to_find_is_no_gap(self) -> None:
        assert optimality_gap(scenes.NO_PREDICTION, "one-to-many", 0.0).relative == 0.0


def test_a_budget_must_make_sense() -> None:
    for nodes in (-1, 1.5, True):
        with pytest.raises(OptionError, match=r"nodes=.* must be a whole number"):
            pm.Budget(nodes=nodes)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"seconds=-1 must be at least 0"):
        pm.Budget(seconds=-1)
