"""Curves are exact: steps, areas, sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch.errors import StrategyError
from tests import brute_force, scenes
from tests.hypothesis_scenes import overlaps, strategies
from tests.strategies import BY_NAME

TWO = pm.Overlap.from_dense([[6, 0], [0, 5]], ref_sizes=[10, 5], pred_sizes=[6, 9])


def test_steps_areas_and_relatives_by_hand() -> None:
    curve = pm.curve(TWO)
    low, high = 5 / 9, 6 / 10
    assert curve.thresholds.tolist() == [0.0, low, high]
    assert curve.tp.tolist() == [2, 1, 0]
    assert curve.fp.tolist() == curve.fn.tolist() == [0, 1, 2]
    assert curve.quality.tolist() == [low + high, high, 0.0]
    assert curve.autc == pytest.approx(low * (low + high) / 2 + (high - low) * high / 2)
    assert curve.autc_sq == pytest.approx(low * (low + high) / 2 + (high - low) * high)
    assert curve.autc_rq == curve.npq == pytest.approx(low + (high - low) / 2)
    assert curve.sorted_ap == pytest.approx(low + (high - low) / 3)


def test_the_step_belongs_to_the_right() -> None:
    curve = pm.curve(TWO)
    assert curve.at(6 / 10).tp == 0
    assert curve.at(np.nextafter(6 / 10, 0)).tp == 1
    assert curve.at(0).tp == 2
    assert curve.at(0.999).tp == 0


def test_a_perfect_match_lasts_up_to_one() -> None:
    curve = pm.curve(scenes.PERFECT)
    assert curve.thresholds.tolist() == [0.0]
    assert (curve.autc, curve.autc_sq, curve.autc_rq, curve.sorted_ap) == (1.0, 1.0, 1.0, 1.0)


def test_an_empty_image_has_an_undefined_curve() -> None:
    curve = pm.curve(scenes.EMPTY)
    assert curve.thresholds.tolist() == [0.0]
    assert np.isnan([curve.autc, curve.autc_sq, curve.autc_rq]).all()


@pytest.mark.parametrize("scene", [scenes.NO_REFERENCE, scenes.NO_PREDICTION], ids=["ref", "pred"])
def test_one_empty_side_has_a_curve_of_zeros(scene: pm.Overlap) -> None:
    curve = pm.curve(scene, "many-to-one")
    assert (curve.autc, curve.autc_sq, curve.autc_rq) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", BY_NAME)
def test_areas_equal_brute_force_on_random_scenes(name: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(120):
        overlap = brute_force.random_scene(rng)
        if len(overlap.ref_ids) + len(overlap.pred_ids) == 0:
            continue
        scene, curve = brute_force.Scene.of(overlap), pm.curve(overlap, BY_NAME[name])

        def area(height: object, scene: brute_force.Scene = scene) -> float:
            return float(brute_force.area(scene, name, height))  # type: ignore[arg-type]

        assert curve.autc == pytest.approx(area(lambda c: c.pq), abs=1e-12)
        assert curve.autc_sq == pytest.approx(
            area(lambda c: c.quality / c.tp if c.tp else Fraction(0)), abs=1e-12
        )
        assert curve.autc_rq == pytest.approx(
            area(lambda c: Fraction(2 * c.tp, 2 * c.tp + c.fp + c.fn)), abs=1e-12
        )


def test_a_freed_prediction_moves_to_another_reference_when_its_taker_drops_out() -> None:
    # Reference 2 seeds on prediction 2 and takes prediction 3 as a joiner; above 1/5 it drops
    # out, and reference 1, seeded at 6/10, takes prediction 3 instead.
    overlap = pm.Overlap.from_dense(
        [[6, 0, 2], [0, 2, 3]], ref_sizes=[10, 10], pred_sizes=[6, 2, 5]
    )
    curve = pm.curve(overlap, "many-to-one")
    for threshold in (0.0, 0.15, 0.2, 0.24, 0.25, 0.3, 0.59, 0.6):
        assert curve.at(threshold) == pm.match(overlap, "many-to-one", threshold).tally
    assert curve.at(0.2).quality != curve.at(0.25).quality


def test_the_merge_curve_equals_the_merge_on_larger_scenes() -> None:
    """Every freed prediction sets off a chain of decisions; none may be forgotten."""
    rng = np.random.default_rng(11)
    for _ in range(400):
        overlap = brute_force.lopsided_scene(rng, 6, 14)
        curve = pm.curve(overlap, "many-to-one")
        for threshold in [0.0, *overlap.iou[overlap.iou < 1].tolist()]:
            assert curve.at(threshold) == pm.match(overlap, "many-to-one", threshold).tally


@given(st.lists(overlaps(), min_size=1, max_size=4), strategies, st.randoms(use_true_random=False))
def test_curves_of_images_add_up_to_the_curve_of_the_dataset(
    images: list[pm.Overlap], strategy: pm.Strategy, random: object
) -> None:
    curves = [pm.curve(image, strategy) for image in images]
    shuffled = curves.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    total, other = sum(curves), sum(shuffled)
    assert isinstance(total, pm.Curve)
    assert isinstance(other, pm.Curve)
    for threshold in [0.0, 0.5, *total.thresholds.tolist()]:
        tallies = [pm.match(image, strategy, threshold).tally for image in images]
        expected = sum(tallies, pm.Tally(0, 0, 0, 0.0))
        for found in (total.at(threshold), other.at(threshold)):
            assert (found.tp, found.fp, found.fn) == (expected.tp, expected.fp, expected.fn)
            assert found.quality == pytest.approx(expected.quality, abs=1e-12)


def test_an_empty_image_adds_nothing() -> None:
    curve = pm.curve(TWO)
    assert (curve + pm.curve(scenes.EMPTY)).autc == curve.autc


def test_curves_made_differently_do_not_add() -> None:
    with pytest.raises(StrategyError, match="curves can only be added if they were made the same"):
        pm.curve(TWO) + pm.curve(TWO, "many-to-one")
    with pytest.raises(StrategyError, match="score 'dice'"):
        pm.curve(TWO) + pm.curve(TWO, score="dice")
    with pytest.raises(TypeError):
        pm.curve(TWO) + 1  # type: ignore[operator]


def test_npq_and_sorted_ap_are_refused_where_they_are_not_defined() -> None:
    assert pm.curve(TWO, pm.OneToOne("greedy")).npq == pm.curve(TWO).npq
    with pytest.raises(StrategyError, match=r"npq is defined for a one-to-one curve.*autc_rq"):
        _ = pm.curve(TWO, "many-to-one").npq
    with pytest.raises(StrategyError, match="sorted_ap is defined for an optimal one-to-one"):
        _ = pm.curve(TWO, pm.OneToOne("greedy")).sorted_ap
    with pytest.raises(StrategyError, match="score 'dice'"):
        _ = pm.curve(TWO, score="dice").npq


def test_a_curve_cannot_be_changed_and_tells_its_areas() -> None:
    curve = pm.curve(TWO)
    with pytest.raises(ValueError, match="read-only"):
        curve.tp[0] = 9
    assert repr(curve) == "Curve(one-to-one, 3 steps: AUTC=0.3343, AUTC_SQ=0.3477, AUTC_RQ=0.5778)"
