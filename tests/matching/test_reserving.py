"""Reserving contested predictions alone proves optima, and never claims more than it knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.matching import _optimal_merge as optimal_merge
from panmatch.matching import _reserving as reserving
from panmatch.matching._maximum_pq import Effort
from panmatch.overlap import Ints
from tests import brute_force


@pytest.fixture
def weak_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the other methods out, so that reservations have to prove everything."""
    monkeypatch.setattr(optimal_merge, "BRANCH_NODES", 0)
    monkeypatch.setattr(optimal_merge, "PRICE_ROUNDS", 2)
    monkeypatch.setattr(optimal_merge, "MOST_COLUMNS", 0)


def contested_scene(rng: np.random.Generator, number: int) -> pm.Overlap:
    scene = brute_force.all_contested(rng) if number % 2 else brute_force.random_scene(rng, 4)
    return brute_force.with_void(rng, scene) if number % 3 == 0 else scene


@pytest.mark.usefixtures("weak_bounds")
@pytest.mark.parametrize("gate", ["seed", "edge"])
def test_reservations_alone_equal_brute_force(gate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[float] = []

    def noted(*arguments: Any) -> reserving.Reserved:
        found = reserving.reserve(*arguments)
        searches.append(found.upper - found.worth)
        return found

    monkeypatch.setattr(optimal_merge, "reserve", noted)
    rng = np.random.default_rng(5)
    strategy = pm.ManyToOne(solver="optimal", gate="seed" if gate == "seed" else "edge")
    for number in range(400):
        overlap = contested_scene(rng, number)
        threshold = float(rng.choice([0.0, 0.05, 0.1, 0.2]))
        scene = brute_force.Scene.of(overlap)
        expected = brute_force.count(scene, brute_force.merge_optimal(scene, threshold, gate))
        matching = pm.match(overlap, strategy, threshold)
        if matching.tally.status == "empty":
            continue
        assert matching.certificate is not None
        assert matching.tally.pq == pytest.approx(float(expected.pq), abs=1e-12)
        assert matching.certificate.proven
    assert len(searches) > 50


@pytest.mark.usefixtures("weak_bounds")
@pytest.mark.parametrize("most", [0, 1, 3, 10])
def test_a_search_that_ends_early_keeps_a_valid_bound(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reserving, "MOST_PROBLEMS", most)
    rng = np.random.default_rng(6)
    unproven = 0
    for _ in range(200):
        overlap = brute_force.all_contested(rng)
        scene = brute_force.Scene.of(overlap)
        expected = brute_force.count(scene, brute_force.merge_optimal(scene, 0.0, "seed"))
        proof = pm.match(overlap, pm.ManyToOne(solver="optimal"), 0.0).certificate
        assert proof is not None
        assert proof.value <= float(expected.pq) + 1e-12
        assert proof.upper_bound >= float(expected.pq) - 1e-12
        unproven += not proof.proven
    assert unproven > 0 or most == 10


@pytest.mark.usefixtures("weak_bounds")
def test_settled_components_keep_their_matches() -> None:
    """Two lonely pairs beside a contested corner: reservations concern the corner alone."""
    counts = np.zeros((5, 6), np.int64)
    counts[:3, :4] = [[9, 4, 3, 1], [4, 8, 2, 5], [2, 3, 7, 6]]
    counts[3, 4], counts[4, 5] = 10, 12
    overlap = pm.Overlap.from_dense(counts, counts.sum(1) + 2, counts.sum(0) + 1)
    scene = brute_force.Scene.of(overlap)
    expected = brute_force.count(scene, brute_force.merge_optimal(scene, 0.1, "seed"))
    matching = pm.match(overlap, pm.ManyToOne(solver="optimal"), 0.1)
    assert matching.pairs[-2:].tolist() == [[4, 5], [5, 6]]
    assert matching.tally.pq == pytest.approx(float(expected.pq), abs=1e-12)
    assert matching.certificate is not None
    assert matching.certificate.proven


def know_nothing(pred: Ints, gain: Ints) -> reserving.Bound:
    """Let all references take a prediction, and select something only where nobody competes."""

    def bound(usable: Ints, parent: reserving.Reserved, _: Effort) -> reserving.Reserved:
        chosen = usable if len(np.unique(pred[usable])) == len(usable) else usable[:0]
        worth, upper = float(gain[chosen].sum()), float(gain[usable].sum())
        return reserving.Reserved(usable, chosen, worth, upper, parent.prices)

    return bound


@pytest.mark.parametrize("patience", [1, 60, 10**6])
def test_reservations_find_the_optimum_of_a_bound_that_knows_nothing(
    patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every prediction is worth something to whoever takes it, and only one reference may."""
    monkeypatch.setattr(reserving, "PATIENCE", patience)
    rng, unlimited = np.random.default_rng(7), Effort(10**9, None)
    for _ in range(60):
        counts = rng.integers(0, 9, (3, 5))
        overlap = pm.Overlap.from_dense(counts, counts.sum(1) + 1, counts.sum(0) + 1)
        edges, pred = np.arange(len(overlap.iou)), overlap.edges.pred
        gain = rng.integers(1, 9, len(edges))
        optimum = sum(gain[pred == p].max() for p in np.unique(pred))
        found = reserving.Reserved(edges, edges[:0], 0.0, float(gain.sum()), np.empty(0))
        worth = -1.0
        while found.worth > worth:
            worth = found.worth
            found = reserving.reserve(overlap, found, know_nothing(pred, gain), 1e-9, unlimited)
            assert worth <= found.worth == gain[found.chosen].sum() <= optimum <= found.upper
        assert found.upper == found.worth or patience < 10**6
