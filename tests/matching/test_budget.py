"""A budget is a promise, and whatever it allows the bound is valid and useful."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import panmatch as pm
from panmatch.matching import _optimal_merge as optimal_merge
from panmatch.matching._maximum_pq import bound_by_quality
from tests import brute_force
from tests.hypothesis_scenes import overlaps
from tests.strategies import BY_NAME, OPTIMAL

HEURISTIC = {
    "many-to-one/optimal/seed": BY_NAME["many-to-one/merge/seed"],
    "many-to-one/optimal/edge": BY_NAME["many-to-one/merge/edge"],
}
MERGING = [name for name in OPTIMAL if name.startswith("many")]
every_merge = pytest.mark.parametrize("name", MERGING)


def with_budget(name: str, budget: pm.Budget) -> pm.Strategy:
    strategy = OPTIMAL[name]
    assert isinstance(strategy, pm.ManyToOne)
    return replace(strategy, budget=budget)


def dense_scene(n: int, seed: int = 0) -> pm.Overlap:
    """Return a scene in which everything overlaps everything."""
    shared = np.random.default_rng(seed).integers(1, 50, (n, n))
    return pm.Overlap.from_dense(shared, shared.sum(1) + 50, shared.sum(0) + 50)


def promise(seconds: float) -> float:
    """Return how much processor time a call may take, with an allowance for slow machines."""
    return 1.5 * seconds + 0.25


class TestTheClock:
    @every_merge
    @pytest.mark.parametrize("n", [20, 30, 60])
    @pytest.mark.parametrize("seconds", [0.0, 0.1, 0.5])
    def test_a_matching_takes_no_longer_than_promised(
        self, name: str, n: int, seconds: float
    ) -> None:
        overlap, strategy = dense_scene(n), with_budget(name, pm.Budget(seconds=seconds))
        for threshold in (0.0, 0.01):
            began = time.process_time()
            matching = pm.match(overlap, strategy, threshold)
            assert time.process_time() - began < promise(seconds)
            assert matching.certificate is not None
            assert matching.certificate.upper_bound < 0.1

    @every_merge
    @pytest.mark.parametrize("n", [20, 30, 200])
    @pytest.mark.parametrize("seconds", [0.0, 0.1, 0.5])
    def test_a_curve_takes_no_longer_than_promised(self, name: str, n: int, seconds: float) -> None:
        overlap, strategy = dense_scene(n), with_budget(name, pm.Budget(seconds=seconds))
        began = time.process_time()
        pm.curve(overlap, strategy)
        assert time.process_time() - began < promise(seconds)

    @pytest.mark.parametrize("gate", ["seed", "edge"])
    def test_dense_scenes_are_proven_within_a_number_of_nodes(self, gate: str) -> None:
        budget = pm.Budget(nodes=2000, seconds=None)
        for n in (15, 20, 30):
            overlap = dense_scene(n)
            strategy = pm.ManyToOne("optimal", gate, budget)  # type: ignore[arg-type]
            matching = pm.match(overlap, strategy, 0.0)
            assert matching.certificate is not None
            assert matching.certificate.proven
            assert matching.tally.pq >= pm.match(overlap, pm.OneToOne(), 0.0).tally.pq

    def test_a_second_suffices_to_beat_the_heuristic_by_far(self) -> None:
        """Where half of the time would do on a slow machine, too."""
        overlap = dense_scene(30)
        greedy = pm.match(overlap, pm.ManyToOne(), 0.0).tally.pq
        pairs = pm.match(overlap, pm.OneToOne(), 0.0).tally.pq
        found = pm.match(overlap, pm.ManyToOne("optimal", budget=pm.Budget(seconds=1)), 0.0)
        assert greedy < 0.92 * pairs
        assert found.tally.pq > 0.99 * pairs


class TestBounds:
    @every_merge
    @pytest.mark.parametrize("seconds", [0.0, 1e-6, 1e-4, 1e-3])
    @pytest.mark.parametrize("table", [0, 12])
    def test_the_bound_is_never_below_the_maximum_of_brute_force(
        self, name: str, seconds: float, table: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(optimal_merge, "TABLE_SIZE", table)
        strategy = with_budget(name, pm.Budget(seconds=seconds))
        rng = np.random.default_rng(7)
        for number in range(120):
            overlap = [
                brute_force.all_contested(rng),
                brute_force.lopsided_scene(rng, *rng.integers(1, 5, 2)),
                brute_force.with_void(rng, brute_force.random_scene(rng, max_side=4)),
            ][number % 3]
            threshold = float(rng.choice([0.0, 0.1, 0.2]))
            found = pm.match(overlap, strategy, threshold)
            assert found.certificate is not None
            if found.tally.status == "empty":
                continue
            scene = brute_force.Scene.of(overlap)
            best = brute_force.count(scene, brute_force.STRATEGIES[name](scene, threshold)).pq
            assert found.certificate.value <= float(best) + 1e-12
            assert float(best) - 1e-12 <= found.certificate.upper_bound <= 1.0
            heuristic = pm.match(overlap, HEURISTIC[name], threshold).tally.pq
            assert found.tally.pq >= heuristic

    def test_it_counts_half_a_reference_for_every_true_positive(self) -> None:
        """The bound of pairs without neighbours is reached, so it proves them at once."""
        overlap = pm.Overlap.from_dense(np.diag([6, 5, 4]), [10, 10, 10], [6, 5, 4])
        for name in MERGING:
            found = pm.match(overlap, with_budget(name, pm.Budget(nodes=0)), 0.0)
            assert found.certificate is not None
            assert found.certificate.proven
            assert found.tally.pq == pytest.approx(0.5)

    def test_a_hopeless_prediction_adds_to_the_denominator(self) -> None:
        overlap = pm.Overlap.from_dense([[6, 0]], [10], [6, 5])
        for name in MERGING:
            found = pm.match(overlap, with_budget(name, pm.Budget(nodes=0)), 0.0)
            assert found.certificate is not None
            assert found.certificate.upper_bound == pytest.approx(0.6 / 1.5)

    def test_the_best_number_of_true_positives_decides(self) -> None:
        # One true positive: 0.9 / 2.0; two: 1.3 / 2.5; three: 1.4 / 3.0.
        bound = bound_by_quality(np.array([0.1, 0.9, 0.4]), smallest=1.5)
        assert bound == pytest.approx(1.3 / 2.5)
        assert bound_by_quality(np.zeros(0), smallest=1.5) == 0.0

    @given(overlap=overlaps())
    def test_no_set_of_candidates_has_a_higher_iou(self, overlap: pm.Overlap) -> None:
        n_pred = len(overlap.pred_ids)
        every_edge = np.arange(len(overlap.edges))
        problem = optimal_merge._Problem(
            overlap, every_edge, np.ones(len(every_edge), np.bool_), every_edge[:0]
        )
        scene = brute_force.Scene.of(overlap)
        expected = []
        for g in range(len(scene.refs)):
            mine = [p for p in range(n_pred) if (g, p) in scene.shared]
            sets = [list(s) for k in range(1, len(mine) + 1) for s in combinations(mine, k)]
            expected.append(max((float(scene.iou(g, chosen)) for chosen in sets), default=0.0))
        matched = len({p for _, p in scene.shared})  # predictions that can be matched at all
        highest = np.sort(expected)[::-1][:matched]
        found = np.sort(problem.most_quality())[::-1]
        np.testing.assert_allclose(found[: len(highest)], highest, rtol=1e-12)
        assert not found[len(highest) :].any()


class TestCurves:
    @every_merge
    @pytest.mark.parametrize("seconds", [0.0, 1e-3, 5e-3])
    def test_a_curve_cut_short_is_between_heuristic_and_optimum(
        self, name: str, seconds: float
    ) -> None:
        rng = np.random.default_rng(3)
        for number in range(30):
            overlap = dense_scene(6, number) if number % 2 else brute_force.random_scene(rng)
            if not len(overlap.edges):
                continue
            found = pm.curve(overlap, with_budget(name, pm.Budget(seconds=seconds)))
            best, heuristic = (pm.curve(overlap, s[name]) for s in (OPTIMAL, HEURISTIC))
            grid = np.unique(np.concatenate([c.thresholds for c in (found, best, heuristic)]))
            values = [c.sampled(grid).pq for c in (heuristic, found, best)]
            assert (values[0] <= values[1] + 1e-12).all()
            assert (values[1] <= values[2] + 1e-12).all()
            assert found.proven is False or found.autc == pytest.approx(best.autc)

    def test_the_last_matching_serves_on_while_it_is_better(self) -> None:
        """A curve keeps what its first matching found, however little time is left for the rest."""
        overlap = dense_scene(30)
        strategy = pm.ManyToOne("optimal", budget=pm.Budget(seconds=0.2))
        found, heuristic = pm.curve(overlap, strategy), pm.curve(overlap, pm.ManyToOne())
        assert found.proven is False
        assert found.autc > 1.05 * heuristic.autc

    def test_a_curve_without_limit_of_time_is_proven(self) -> None:
        for name in MERGING:
            strategy = with_budget(name, pm.Budget(seconds=None))
            assert pm.curve(dense_scene(5), strategy).proven
