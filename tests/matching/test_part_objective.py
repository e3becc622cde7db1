"""Maximum PartPQ: against brute force, against the parents of maximum PQ, and against budgets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import OptionError, StrategyError
from panmatch.matching import STRATEGIES, optimality_gap, tally_edges
from tests.part_brute_force import PartScene, random_part_scene

OBJECTIVE: dict[str, pm.OneToOne | pm.OneToMany | pm.ManyToOne] = {
    "one-to-one/optimal": pm.OneToOne(objective="parts"),
    "one-to-many/optimal": pm.OneToMany(solver="optimal", objective="parts"),
    "many-to-one/optimal/seed": pm.ManyToOne(solver="optimal", objective="parts"),
    "many-to-one/optimal/edge": pm.ManyToOne(solver="optimal", gate="edge", objective="parts"),
}
MERGES = [name for name in OBJECTIVE if name.startswith("many")]
SMALL = (pm.Budget(nodes=0), pm.Budget(nodes=1), pm.Budget(seconds=0))

every_strategy = pytest.mark.parametrize("name", OBJECTIVE)
backgrounds = pytest.mark.parametrize("background", ["image", "none"])


def scenes(
    seed: int, count: int, *, void: bool, background: str, regions: bool = False
) -> Iterator[tuple[PartScene, float]]:
    """Return random scenes with thresholds, many of them at an edge."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        scene = random_part_scene(rng, void=void, background=background, regions=regions)
        ious = [iou for iou in scene.pairs.values() if iou < 1]
        yield scene, float(rng.choice([0.0, 0.1, 0.25, *ious]))


def with_budget(name: str, budget: pm.Budget) -> pm.ManyToOne:
    strategy = OBJECTIVE[name]
    assert isinstance(strategy, pm.ManyToOne)
    return replace(strategy, budget=budget)


def part_pq(matching: pm.Matching) -> float:
    assert matching.part_tally is not None
    return matching.part_tally.pq


def certified(matching: pm.Matching) -> pm.Certificate:
    assert matching.certificate is not None
    assert matching.certificate.quality == "parts"
    assert matching.certificate.value == part_pq(matching)
    return matching.certificate


def check(overlap: pm.Overlap, name: str, threshold: float, best: float) -> None:
    """Check the optimum, its proof, and what a small budget says instead."""
    matching = pm.match(overlap, OBJECTIVE[name], threshold)
    if matching.tally.status == "empty":
        return
    proof = certified(matching)
    assert part_pq(matching) == pytest.approx(best, abs=1e-12)
    assert proof.proven
    assert proof.upper_bound >= best - 1e-12
    parents = pm.match(overlap, OBJECTIVE[name].without_parts(), threshold)
    assert part_pq(parents) <= part_pq(matching) + 1e-12
    assert parents.tally.pq >= matching.tally.pq - 1e-12
    if name in MERGES:
        check_small_budgets(overlap, name, threshold, best)


def check_small_budgets(overlap: pm.Overlap, name: str, threshold: float, best: float) -> None:
    for budget in SMALL:
        strategy = with_budget(name, budget)
        hurried = pm.match(overlap, strategy, threshold)
        assert part_pq(hurried) <= best + 1e-12
        assert certified(hurried).upper_bound >= best - 1e-12
        parents = pm.match(overlap, strategy.without_parts(), threshold)
        assert part_pq(hurried) >= part_pq(parents)


@backgrounds
@pytest.mark.parametrize("void", [False, True])
def test_three_hundred_scenes_equal_brute_force(background: str, void: bool) -> None:
    """Of each kind: 1,200 scenes for every strategy."""
    for scene, threshold in scenes(26, 300, void=void, background=background):
        overlap = scene.overlap()
        for name in OBJECTIVE:
            check(overlap, name, threshold, scene.best(name, threshold))


@backgrounds
@pytest.mark.parametrize("void", [False, True])
def test_scenes_in_regions_equal_brute_force(background: str, void: bool) -> None:
    for scene, threshold in scenes(7, 120, void=void, background=background, regions=True):
        if len(scene.pairs) > 10:
            continue
        overlap = scene.overlap()
        for name in OBJECTIVE:
            best = scene.best(name, threshold)
            matching = pm.match(overlap, OBJECTIVE[name], threshold)
            if matching.tally.status == "empty":
                continue
            assert certified(matching).upper_bound >= best - 1e-12
            assert part_pq(matching) <= best + 1e-12
            if name.startswith("one") or certified(matching).proven:
                assert part_pq(matching) == pytest.approx(best, abs=1e-12)


@every_strategy
def test_the_curve_is_the_optimum_of_every_step(name: str) -> None:
    for scene, _ in scenes(3, 12, void=True, background="image"):
        overlap = scene.overlap()
        curve = pm.curve(overlap, OBJECTIVE[name], quality="parts")
        assert curve.proven
        for threshold in [0.0, 0.2, *curve.thresholds.tolist()]:
            expected = pm.match(overlap, OBJECTIVE[name], threshold)
            if expected.tally.status != "empty":
                assert curve.at(threshold).pq == pytest.approx(part_pq(expected), abs=1e-12)
        parents = pm.curve(overlap, OBJECTIVE[name].without_parts(), quality="parts")
        assert parents.autc <= curve.autc + 1e-12 or expected.tally.status == "empty"


@pytest.mark.parametrize("name", MERGES)
def test_a_curve_without_time_is_not_proven_and_not_below_the_heuristic(name: str) -> None:
    for scene, _ in scenes(5, 10, void=False, background="none"):
        overlap = scene.overlap()
        strategy = with_budget(name, pm.Budget(seconds=0))
        curve = pm.curve(overlap, strategy, quality="parts")
        assert curve.proven is False
        merged = pm.curve(overlap, strategy.heuristic, quality="parts")
        if scene.pairs:
            assert curve.autc >= merged.autc - 1e-12


def trap(background: str = "none") -> pm.Overlap:
    """Return a reference with two candidates: one overlaps more, the other has the right parts."""
    reference = np.array([1] * 10 + [0] * 2)
    prediction = np.array([1] * 6 + [2] * 4 + [2] * 2)
    return pm.count_part_overlaps(
        reference,
        prediction,
        np.array([1] * 5 + [2] * 5 + [0] * 2),
        np.array([2] * 6 + [2] * 4 + [0] * 2),
        background=background,  # type: ignore[arg-type]
    )


def test_parts_decide_where_iou_would_decide_otherwise() -> None:
    overlap = trap()
    by_iou, by_parts = (pm.match(overlap, pm.OneToOne(objective=o), 0.1) for o in ("pq", "parts"))
    assert by_iou.pairs.tolist() == [[1, 1]]
    assert by_parts.pairs.tolist() == [[1, 2]]
    assert part_pq(by_parts) == pytest.approx((0 + 4 / 5) / 2 / 1.5)
    assert part_pq(by_iou) == pytest.approx((0 + 1 / 10) / 2 / 1.5)
    assert by_parts.tally.pq < by_iou.tally.pq
    assert str(by_parts.certificate).startswith("PartPQ 0.2667 is proven optimal")
    assert repr(by_parts.certificate).startswith("Certificate(PartPQ=0.2667, proven")
    assert str(by_iou.certificate).startswith("PQ 0.4")


def test_a_pair_without_a_right_part_is_a_true_positive_unless_it_costs_something() -> None:
    """A match of quality 0 saves a false positive, but not one that void dismisses (D10)."""
    reference, prediction = np.array([1, 1, 0, 0, 0, 2, 2]), np.array([1, 1, 1, 1, 1, 2, 2])
    parts, found = np.array([1, 1, 0, 0, 0, 1, 1]), np.array([2, 2, 2, 2, 2, 1, 1])
    void = np.array([0, 0, 1, 1, 1, 0, 0], bool)
    overlap, dismissed = (
        pm.count_part_overlaps(reference, prediction, parts, found, void=one, background="none")
        for one in (None, void)
    )
    assert pm.match(overlap, pm.OneToOne(objective="parts"), 0.1).tally.tp == 2
    by_parts = pm.match(dismissed, pm.OneToOne(objective="parts"), 0.5)
    assert by_parts.pairs.tolist() == [[2, 2]]
    assert part_pq(by_parts) == pytest.approx(1 / 1.5)
    assert pm.match(dismissed, pm.OneToOne(), 0.5).pairs.tolist() == [[1, 1], [2, 2]]


def test_the_gap_of_a_heuristic_is_measured_in_partpq() -> None:
    found = optimality_gap(trap(), pm.OneToOne(objective="parts"), threshold=0.1)
    assert found.heuristic == pytest.approx(0.1 / 3)
    assert found.optimal == pytest.approx(0.8 / 3)
    assert found.certificate.quality == "parts"


@pytest.mark.parametrize("name", STRATEGIES)
def test_variants_with_the_objective_are_optimal(name: str) -> None:
    by_parts = [one for one in STRATEGIES[name].variants() if one.quality == "parts"]
    assert all(one.options["solver"] == "optimal" for one in by_parts)
    assert len(by_parts) == {"many-to-one": 2, "one-to-one": 1, "one-to-many": 1}.get(name, 0)
    assert all("maximum PartPQ" in one.about for one in by_parts)


def test_labels_and_expressions_say_the_objective_only_if_it_is_partpq() -> None:
    assert pm.OneToOne().label == "one-to-one (optimal)"
    strategy = pm.ManyToOne(solver="optimal", objective="parts")
    assert strategy.label == "many-to-one (optimal, seed, parts)"
    assert strategy.key == "many-to-one/optimal/seed/parts"
    assert repr(strategy) == "ManyToOne(solver='optimal', gate='seed', objective='parts')"
    assert strategy.without_parts() == pm.ManyToOne(solver="optimal")


class TestErrors:
    @pytest.mark.parametrize(
        "make",
        [
            lambda: pm.OneToOne(solver="greedy", objective="parts"),
            lambda: pm.ManyToOne(objective="parts"),
            lambda: pm.OneToMany(objective="parts"),
        ],
    )
    def test_a_heuristic_has_no_objective(self, make: object) -> None:
        with pytest.raises(StrategyError, match="objective='parts' needs solver='optimal'"):
            make()  # type: ignore[operator]

    def test_an_unknown_objective(self) -> None:
        with pytest.raises(OptionError, match="objective='part' is not known; did you mean 'parts"):
            pm.OneToOne(objective="part")  # type: ignore[arg-type]

    @every_strategy
    def test_an_overlap_without_parts(self, name: str) -> None:
        overlap = pm.count_overlaps([1, 1, 0], [1, 0, 2])
        with pytest.raises(StrategyError, match="needs an overlap with parts: pass count_part"):
            pm.match(overlap, OBJECTIVE[name])
        with pytest.raises(StrategyError, match="or use objective='pq'"):
            pm.curve(overlap, OBJECTIVE[name])


def test_classes_without_parts_are_matched_for_pq() -> None:
    kinds = [pm.SegmentClass(1, "cell", parts=(1, 2)), pm.SegmentClass(2, "debris")]
    rng = np.random.default_rng(0)
    classes, ids = rng.integers(0, 3, (12, 12)), rng.integers(1, 3, (12, 12))
    parts = rng.integers(0, 3, (12, 12))
    sides = [
        pm.from_maps(
            np.roll(classes, turn),
            np.roll(ids + 2 * classes, turn),
            kinds,
            part_map=np.where(np.roll(classes, turn) == 1, np.roll(parts, turn), 0),
        )
        for turn in (0, 1)
    ]
    overlaps = pm.count_class_overlaps(*sides)
    strategy = pm.OneToMany(solver="optimal", objective="parts")
    tallies = pm.tally_classes(overlaps, strategy, 0.0, quality="parts")
    assert tallies[2] == pm.tally_classes(overlaps, strategy.without_parts(), 0.0)[2]
    expected = pm.match(overlaps[1], strategy, 0.0)
    assert tallies[1] == tally_edges(expected.overlap, expected.edges, "parts")
