"""Each strategy on scenes that can be worked out by hand, and against brute force on many."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from tests import brute_force, scenes
from tests.strategies import BY_NAME


def tally(overlap: pm.Overlap, strategy: str | pm.Strategy, threshold: float) -> pm.Tally:
    return pm.match(overlap, strategy, threshold).tally


@pytest.mark.parametrize("name", BY_NAME)
def test_every_strategy_equals_brute_force_on_random_scenes(name: str) -> None:
    rng = np.random.default_rng(42)
    for _ in range(400):
        overlap = brute_force.random_scene(rng)
        scene = brute_force.Scene.of(overlap)
        for threshold in {0.0, 0.25, 0.5, *overlap.iou[overlap.iou < 1].tolist()}:
            expected = brute_force.count(scene, brute_force.STRATEGIES[name](scene, threshold))
            found = tally(overlap, BY_NAME[name], threshold)
            assert (found.tp, found.fp, found.fn) == (expected.tp, expected.fp, expected.fn)
            assert found.quality == pytest.approx(float(expected.quality), abs=1e-12)


@pytest.mark.parametrize("name", [name for name in BY_NAME if "optimal" not in name])
def test_heuristics_choose_the_same_pairs_as_brute_force(name: str) -> None:
    rng = np.random.default_rng(43)
    for _ in range(200):
        overlap = brute_force.random_scene(rng)
        scene = brute_force.Scene.of(overlap)
        for threshold in (0.0, 0.2, 0.4):
            expected = brute_force.STRATEGIES[name](scene, threshold)
            found = pm.match(overlap, BY_NAME[name], threshold).pairs - 1  # ids are 1 … n
            assert found.tolist() == sorted(map(list, expected))


class TestOneToOne:
    def test_a_perfect_prediction_scores_one(self) -> None:
        assert tally(scenes.PERFECT, "one-to-one", 0.99) == pm.Tally(2, 0, 0, 2.0)

    def test_an_edge_at_the_threshold_is_no_edge(self) -> None:
        assert scenes.SHIFTED.iou.tolist() == [3 / 5, 2 / 6]
        assert tally(scenes.SHIFTED, "one-to-one", 3 / 5) == pm.Tally(0, 2, 2, 0.0)
        just_below = np.nextafter(3 / 5, 0)
        assert tally(scenes.SHIFTED, "one-to-one", just_below) == pm.Tally(1, 1, 1, 3 / 5)

    def test_all_but_one_fragment_are_false(self) -> None:
        assert tally(scenes.SPLIT, "one-to-one", 0.0) == pm.Tally(1, 2, 0, 0.5)

    def test_all_but_one_merged_object_are_missed(self) -> None:
        assert tally(scenes.MERGED, "one-to-one", 0.0) == pm.Tally(1, 0, 1, 0.6)

    def test_optimal_gives_up_the_best_edge_for_a_better_total(self) -> None:
        optimal = pm.match(scenes.GREEDY_TRAP, pm.OneToOne(), 0.0)
        greedy = pm.match(scenes.GREEDY_TRAP, pm.OneToOne(solver="greedy"), 0.0)
        assert optimal.pairs.tolist() == [[1, 2], [2, 1]]
        assert optimal.tally == pm.Tally(2, 0, 0, 10 / 16)
        assert greedy.pairs.tolist() == [[1, 1]]
        assert greedy.tally == pm.Tally(1, 1, 1, 6 / 16)

    @pytest.mark.parametrize("flip", [1, -1])
    def test_among_equal_totals_the_one_with_more_pairs_wins(self, flip: int) -> None:
        # 1/2 alone, or 1/6 and 1/3.
        table = np.array([[2, 1], [1, 0]])[::flip, ::flip]
        overlap = pm.Overlap.from_dense(table, [3, 1][::flip], [3, 4][::flip])
        assert sorted(overlap.iou.tolist()) == [1 / 6, 1 / 3, 1 / 2]
        assert tally(overlap, "one-to-one", 0.0) == pm.Tally(2, 0, 0, 0.5)
        assert pm.curve(overlap).at(0.0) == pm.Tally(2, 0, 0, 0.5)

    @pytest.mark.parametrize("flip", [1, -1])
    def test_a_tie_spoilt_by_rounding_is_still_a_tie(self, flip: int) -> None:
        # 5/14 = 1/14 + 2/7, but not in float64.
        table = np.array([[5, 1], [2, 0]])[::flip, ::flip]
        overlap = pm.Overlap.from_dense(table, [12, 2][::flip], [7, 3][::flip])
        assert 5 / 14 > 1 / 14 + 2 / 7
        assert sorted(overlap.iou.tolist()) == [1 / 14, 2 / 7, 5 / 14]
        assert tally(overlap, "one-to-one", 0.0).tp == 2

    def test_pq_decides_among_predictions_that_void_would_dismiss(self) -> None:
        """Two pairs reach the same total as one, but each adds half to the denominator."""
        columns = pm.Overlap.from_dense([[2, 1], [1, 0]], [3, 1], [3, 4]).columns()
        in_void = {"pred_sizes": [13, 14], "pred_void": [10, 10]}
        overlap = pm.Overlap.from_columns({**columns, **in_void})
        assert tally(overlap, "one-to-one", 0.0) == pm.Tally(1, 0, 1, 0.5)

    def test_fewer_false_positives_break_the_tie_that_void_leaves(self) -> None:
        reference = np.array([1, 1, 9, 9, 9, 2, 2, 2, 2])
        prediction = np.array([5, 6, 5, 5, 5, 7, 7, 7, 7])
        overlap = pm.count_overlaps(reference, prediction, void=9)
        assert overlap.iou.tolist() == [0.5, 0.5, 1.0]
        assert tally(overlap, "one-to-one", 0.0) == pm.Tally(2, 0, 0, 1.5)
        relabelled = pm.count_overlaps(reference, np.where(prediction == 5, 8, prediction), void=9)
        assert tally(relabelled, "one-to-one", 0.0) == pm.Tally(2, 0, 0, 1.5)

    def test_a_tie_in_another_score_goes_to_the_higher_quality(self) -> None:
        # Each prediction covers half of the reference; one of them reaches beyond it.
        for prediction in ("aba", "bab"):
            overlap = scenes.overlap("aa.", prediction)
            assert overlap.score("reference-share").tolist() == [0.5, 0.5]
            found = pm.match(overlap, threshold=0.0, score="reference-share").tally
            assert found == pm.Tally(1, 1, 0, 1 / 2)


class TestManyToOne:
    def test_fragments_of_one_object_count_once(self) -> None:
        assert tally(scenes.SPLIT, "many-to-one", 0.4) == pm.Tally(1, 0, 0, 1.0)

    def test_the_seed_gate_lets_small_fragments_join(self) -> None:
        assert pm.match(scenes.SPLIT, pm.ManyToOne(), 0.4).pairs.tolist() == [
            [1, 1],
            [1, 2],
            [1, 3],
        ]

    def test_the_edge_gate_keeps_small_fragments_out(self) -> None:
        assert tally(scenes.SPLIT, pm.ManyToOne(gate="edge"), 0.4) == pm.Tally(1, 2, 0, 0.5)
        assert tally(scenes.SPLIT, pm.ManyToOne(gate="edge"), 0.2) == pm.Tally(1, 1, 0, 0.8)

    def test_without_a_seed_above_the_threshold_nothing_joins(self) -> None:
        assert tally(scenes.SPLIT, "many-to-one", 0.5) == pm.Tally(0, 3, 1, 0.0)

    def test_a_prediction_that_would_not_raise_the_union_stays_free(self) -> None:
        # The second prediction covers 1 of the 2 missing voxels and 9 others.
        overlap = pm.Overlap.from_dense([[8, 1]], ref_sizes=[10], pred_sizes=[8, 10])
        assert tally(overlap, "many-to-one", 0.0) == pm.Tally(1, 1, 0, 0.8)

    def test_a_union_that_stays_the_same_is_refused(self) -> None:
        # 2/4 either way: 2/4 = (2 + 1) / (4 + 2).
        overlap = pm.Overlap.from_dense([[2, 1]], ref_sizes=[3], pred_sizes=[3, 3])
        assert overlap.iou.tolist() == [2 / 4, 1 / 5]
        assert tally(overlap, "many-to-one", 0.0) == pm.Tally(1, 1, 0, 0.5)

    def test_a_prediction_once_taken_never_moves(self) -> None:
        # Both references want prediction 1; the better edge takes it, the other one goes on.
        overlap = pm.Overlap.from_dense([[6, 0], [4, 2]], ref_sizes=[6, 6], pred_sizes=[10, 2])
        assert pm.match(overlap, "many-to-one", 0.0).pairs.tolist() == [[1, 1], [2, 2]]

    def test_merged_objects_are_missed_all_but_one(self) -> None:
        assert tally(scenes.MERGED, "many-to-one", 0.0) == pm.Tally(1, 0, 1, 0.6)


class TestOneToMany:
    def test_one_prediction_finds_all_objects_it_covers(self) -> None:
        assert tally(scenes.MERGED, "one-to-many", 0.3) == pm.Tally(2, 0, 0, 0.4 + 0.6)
        assert tally(scenes.MERGED, "one-to-many", 0.4) == pm.Tally(1, 0, 1, 0.6)

    def test_fragments_are_false_all_but_the_best(self) -> None:
        assert tally(scenes.SPLIT, "one-to-many", 0.0) == pm.Tally(1, 2, 0, 0.5)

    def test_ties_go_to_the_smaller_prediction_id(self) -> None:
        halves = scenes.overlap("aaaa", "bbaa")
        assert pm.match(halves, "one-to-many", 0.0).pairs.tolist() == [[1, 1]]


class TestSameId:
    def test_partners_have_equal_ids_whatever_else_overlaps(self) -> None:
        overlap = scenes.overlap("aaaabbbb.", "bbbbbaaac")
        assert pm.match(overlap, "same-id", 0.0).pairs.tolist() == [[2, 2]]
        assert tally(overlap, "same-id", 0.0) == pm.Tally(1, 2, 1, 1 / 8)

    def test_the_edge_must_pass_the_threshold(self) -> None:
        assert tally(scenes.SHIFTED, "same-id", 0.5) == pm.Tally(1, 1, 1, 0.6)
        assert tally(scenes.SHIFTED, "same-id", 0.6) == pm.Tally(0, 2, 2, 0.0)


@pytest.mark.parametrize("strategy", [*BY_NAME.values(), pm.SameId()], ids=repr)
class TestEmptySides:
    def test_nothing_on_either_side_is_undefined(self, strategy: pm.Strategy) -> None:
        found = tally(scenes.EMPTY, strategy, 0.5)
        assert found == pm.Tally(0, 0, 0, 0.0)
        assert found.status == "empty"
        assert np.isnan([found.pq, found.sq, found.rq]).all()

    def test_one_empty_side_scores_zero(self, strategy: pm.Strategy) -> None:
        no_reference = tally(scenes.NO_REFERENCE, strategy, 0.5)
        no_prediction = tally(scenes.NO_PREDICTION, strategy, 0.5)
        assert no_reference == pm.Tally(0, 2, 0, 0.0)
        assert no_prediction == pm.Tally(0, 0, 2, 0.0)
        assert no_reference.status == no_prediction.status == "ok"
        assert (no_reference.pq, no_reference.sq, no_reference.rq) == (0.0, 0.0, 0.0)
        assert (no_prediction.pq, no_prediction.sq, no_prediction.rq) == (0.0, 0.0, 0.0)


class TestScore:
    """Dice and shares decide who may match; quality stays IoU."""

    overlap = pm.Overlap.from_dense([[5, 3]], ref_sizes=[10], pred_sizes=[10, 3])

    def test_dice_passes_where_iou_does_not(self) -> None:
        assert self.overlap.iou.tolist() == [5 / 15, 3 / 10]
        assert self.overlap.dice.tolist() == [10 / 20, 6 / 13]
        found = pm.match(self.overlap, threshold=0.4, score="dice").tally
        assert found == pm.Tally(1, 1, 0, 5 / 15)
        assert pm.match(self.overlap, threshold=0.4).tally == pm.Tally(0, 2, 1, 0.0)

    def test_the_score_orders_the_edges(self) -> None:
        found = pm.match(self.overlap, "one-to-many", 0.0, score="prediction-share")
        assert found.pairs.tolist() == [[1, 2]]
        assert found.tally.quality == 3 / 10

    def test_the_score_is_what_optimal_maximises(self) -> None:
        found = pm.match(self.overlap, "one-to-one", 0.0, score="prediction-share")
        assert found.pairs.tolist() == [[1, 2]]
