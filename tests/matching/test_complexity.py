"""Many-to-one of maximum PQ solves exact cover; the reduction of docs/explanation/complexity.md."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import panmatch as pm
from tests import brute_force
from tests.hard_scenes import (
    CoverSizes,
    Gate,
    ThreeSet,
    exact_cover_in_regions,
    exact_cover_scene,
)
from tests.hypothesis_scenes import overlaps

CASES: list[tuple[Gate, Fraction]] = [
    ("seed", Fraction(0)),
    ("seed", Fraction(1, 4)),
    ("seed", Fraction(1, 2)),
    ("seed", Fraction(19, 20)),
    ("edge", Fraction(0)),
    ("edge", Fraction(1, 20)),
    ("edge", Fraction(3, 25)),
]
every_case = pytest.mark.parametrize(("gate", "threshold"), CASES)


def exact_cover(sets: list[ThreeSet], elements: int) -> bool:
    """Say whether some of the sets contain every element exactly once, by trying all."""
    return any(
        len({x for members in chosen for x in members}) == elements
        for chosen in combinations(sets, elements // 3)
    )


def random_sets(rng: np.random.Generator, elements: int, most: int) -> list[ThreeSet]:
    """Return sets of three, an exact cover among them half of the time; no element in over 3."""
    left = np.full(elements, 3)
    sets: list[ThreeSet] = []
    if rng.random() < 0.5:
        order = rng.permutation(elements).reshape(-1, 3)
        sets += [(a, b, c) for a, b, c in np.sort(order).tolist()]
        left -= 1
    for _ in range(100):
        free = np.flatnonzero(left)
        if len(sets) >= most or len(free) < 3:
            break
        members = sorted(rng.choice(free, 3, replace=False).tolist())
        if tuple(members) not in sets:
            sets.append((members[0], members[1], members[2]))
            left[members] -= 1
    return [sets[i] for i in rng.permutation(len(sets))]


def exact_pq(overlap: pm.Overlap, pairs: brute_force.Pairs) -> Fraction:
    return brute_force.count(brute_force.Scene.of(overlap), pairs).pq


def optimal_pairs(overlap: pm.Overlap, gate: Gate, threshold: Fraction) -> brute_force.Pairs:
    """Return the optimum by positions."""
    matching = pm.match(overlap, pm.ManyToOne(solver="optimal", gate=gate), float(threshold))
    assert matching.certificate is not None
    assert matching.certificate.proven
    edges = overlap.edges
    return frozenset((int(edges.ref[e]), int(edges.pred[e])) for e in matching.edges)


def covering_sets(pairs: brute_force.Pairs, n_sets: int) -> list[int]:
    """Return the sets whose references took elements."""
    return sorted({ref for ref, pred in pairs if pred >= n_sets})


@every_case
def test_sizes_are_what_the_proof_asks_for(gate: Gate, threshold: Fraction) -> None:
    sizes = CoverSizes.at(threshold, gate)
    s, w, e = sizes.seed, sizes.share, sizes.excess
    assert e >= 2 * w  # room for the other two sets
    assert e * s > w * (s + 3 * w)
    assert 3 * sizes.quality(3) >= 2 * sizes.quality(0)
    assert sizes.quality(0) > threshold
    if gate == "edge":
        assert sizes.quality(1, seeded=False) > threshold


@every_case
def test_only_none_or_all_three_elements_are_worth_their_price(
    gate: Gate, threshold: Fraction
) -> None:
    """Lemma: at the price of the proof nothing is worth more than a reference with its seed."""
    sizes = CoverSizes.at(threshold, gate)
    for sets in range(1, 30):
        for covered in range(1, sets + 1):
            half_lambda = sizes.target(sets, 3 * covered) / 2
            price = half_lambda - sizes.loss / 3
            assert price > 0
            for j in range(4):
                seeded = sizes.quality(j) + j * (half_lambda - price)
                assert seeded <= sizes.quality(0)
                assert (seeded == sizes.quality(0)) == (j in (0, 3))
                alone = sizes.quality(j, seeded=False) - half_lambda + j * (half_lambda - price)
                assert alone < sizes.quality(0)


def test_the_scene_can_be_drawn() -> None:
    rng = np.random.default_rng(0)
    for gate, threshold in CASES:
        sets = random_sets(rng, 9, 7)
        table = exact_cover_scene(sets, 9, CoverSizes.at(threshold, gate))
        drawn = pm.count_overlaps(*table.label_images())
        for name, column in table.overlap.columns().items():
            assert np.array_equal(drawn.columns()[name], column), name


@every_case
def test_maximum_pq_finds_exact_covers(gate: Gate, threshold: Fraction) -> None:
    rng = np.random.default_rng(1)
    sizes = CoverSizes.at(threshold, gate)
    answers = []
    for _ in range(60):
        elements = 3 * int(rng.integers(1, 6))
        sets = random_sets(rng, elements, int(rng.integers(elements // 3, elements + 1)))
        if 3 * len(sets) < elements:
            continue
        overlap = exact_cover_scene(sets, elements, sizes).overlap
        pairs = optimal_pairs(overlap, gate, threshold)
        reached, target = exact_pq(overlap, pairs), sizes.target(len(sets), elements)
        assert reached <= target
        assert (reached == target) == exact_cover(sets, elements)
        if reached == target:
            chosen = [sets[i] for i in covering_sets(pairs, len(sets))]
            assert sorted(x for members in chosen for x in members) == list(range(elements))
        answers.append(reached == target)
    assert 15 < sum(answers) < len(answers) - 15


@every_case
def test_trying_every_matching_finds_the_same(gate: Gate, threshold: Fraction) -> None:
    rng = np.random.default_rng(2)
    sizes = CoverSizes.at(threshold, gate)
    answers = []
    for number in range(16):
        elements = 3 + 3 * (number % 2)
        sets = random_sets(rng, elements, int(rng.integers(2, 4)))
        overlap = exact_cover_scene(sets, elements, sizes).overlap
        scene = brute_force.Scene.of(overlap)
        best = brute_force.merge_optimal(scene, float(threshold), gate)
        reached, target = brute_force.count(scene, best).pq, sizes.target(len(sets), elements)
        assert reached <= target
        assert (reached == target) == exact_cover(sets, elements)
        assert reached == exact_pq(overlap, optimal_pairs(overlap, gate, threshold))
        answers.append(reached == target)
    assert 0 < sum(answers) < len(answers)


@pytest.mark.parametrize("threshold", [Fraction(0), Fraction(1, 2)])
def test_regions_find_exact_covers_too(threshold: Fraction) -> None:
    rng = np.random.default_rng(3)
    sizes = CoverSizes.at(threshold, "seed")
    answers = []
    for _ in range(40):
        elements = 3 * int(rng.integers(1, 5))
        sets = random_sets(rng, elements, int(rng.integers(elements // 3, elements + 1)))
        if len({x for members in sets for x in members}) < elements:
            continue  # an element without a set is in no region
        overlap = pm.count_region_overlaps(*exact_cover_in_regions(sets, elements, sizes))
        pairs = optimal_pairs(overlap, "seed", threshold)
        reached, target = exact_pq(overlap, pairs), sizes.target(len(sets), elements)
        assert reached <= target
        assert (reached == target) == exact_cover(sets, elements)
        answers.append(reached == target)
    assert 5 < sum(answers) < len(answers) - 5


@given(overlap=overlaps())
def test_at_a_third_no_segment_has_more_than_two_edges(overlap: pm.Overlap) -> None:
    passing = overlap.above(1 / 3).edges
    for ends in (passing.ref, passing.pred):
        assert np.bincount(ends).max(initial=0) <= 2
