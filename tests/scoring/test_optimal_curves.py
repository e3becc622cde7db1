"""Curves of the optimal solvers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import panmatch as pm
from tests import brute_force, scenes
from tests.hypothesis_scenes import overlaps
from tests.strategies import BY_NAME, OPTIMAL

every_optimum = pytest.mark.parametrize("name", OPTIMAL)


@every_optimum
@given(overlap=overlaps())
def test_pq_on_the_curve_is_the_optimum_at_every_threshold(name: str, overlap: pm.Overlap) -> None:
    curve = pm.curve(overlap, OPTIMAL[name])
    assert curve.proven
    for threshold in [0.0, 0.5, *[tau for tau in overlap.iou.tolist() if tau < 1]]:
        expected = pm.match(overlap, OPTIMAL[name], threshold).tally.pq
        assert curve.at(threshold).pq == pytest.approx(expected, abs=1e-12, nan_ok=True)


@every_optimum
def test_areas_equal_brute_force(name: str) -> None:
    rng = np.random.default_rng(17)
    for _ in range(60):
        overlap = brute_force.random_scene(rng, max_side=4)
        if len(overlap.ref_ids) + len(overlap.pred_ids) == 0:
            continue
        scene = brute_force.Scene.of(overlap)
        expected = brute_force.area(scene, name, lambda counts: counts.pq)
        assert pm.curve(overlap, OPTIMAL[name]).autc == pytest.approx(float(expected), abs=1e-12)


@every_optimum
@given(overlap=overlaps())
def test_optimal_pq_never_rises_with_the_threshold(name: str, overlap: pm.Overlap) -> None:
    pq = pm.curve(overlap, OPTIMAL[name]).pq
    assert np.isnan(pq).all() or (np.diff(pq) <= 1e-12).all()


def test_proof_is_part_of_the_curve_and_of_sums() -> None:
    optimal = pm.curve(scenes.SPLIT, OPTIMAL["many-to-one/optimal/seed"])
    assert optimal.proven
    assert (optimal + optimal).proven
    assert pm.curve(scenes.SPLIT).proven
    assert pm.curve(scenes.SPLIT, BY_NAME["many-to-one/merge/seed"]).proven is None
