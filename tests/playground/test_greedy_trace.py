"""The greedy walk that people watch ends where the library ends, and gives true reasons."""

from __future__ import annotations

import re

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.playground import Disc, Scene
from panmatch.playground._greedy_trace import matched_edges, trace_greedy

WALKED = [
    pm.OneToOne(solver="greedy"),
    pm.ManyToOne(solver="merge", gate="seed"),
    pm.ManyToOne(solver="merge", gate="edge"),
]


def random_overlap(rng: np.random.Generator) -> pm.Overlap:
    """Return a dense graph of few objects, with many ties."""
    n_ref, n_pred = rng.integers(1, 7, 2)
    shared = rng.integers(0, 6, (n_ref, n_pred)) * (rng.random((n_ref, n_pred)) < 0.6)
    ref_sizes = shared.sum(axis=1) + rng.integers(1, 8, n_ref)
    pred_sizes = shared.sum(axis=0) + rng.integers(1, 8, n_pred)
    return pm.Overlap.from_dense(shared, ref_sizes, pred_sizes)


def random_scene(rng: np.random.Generator) -> Scene:
    def discs(number: int) -> tuple[Disc, ...]:
        x, y, r = rng.uniform(60, 540, number), rng.uniform(60, 300, number), rng.uniform(15, 70)
        return tuple(Disc(float(a), float(b), float(r)) for a, b in zip(x, y, strict=True))

    return Scene(discs(4), discs(6))


@pytest.mark.parametrize("strategy", WALKED, ids=repr)
def test_the_walk_ends_in_exactly_the_matching_of_the_library(strategy: pm.Strategy) -> None:
    rng = np.random.default_rng(5)
    for _ in range(400):
        overlap, threshold = random_overlap(rng), float(rng.choice([0, 0.1, 0.25, 0.5, 0.8]))
        visits = trace_greedy(overlap, strategy, threshold)
        matching = pm.match(overlap, strategy, threshold)
        assert matched_edges(visits).tolist() == np.sort(matching.edges).tolist()


@pytest.mark.parametrize("strategy", WALKED, ids=repr)
@pytest.mark.parametrize("regions", [False, True])
def test_drawn_scenes_end_there_too_even_in_regions(strategy: pm.Strategy, regions: bool) -> None:
    rng = np.random.default_rng(6)
    for _ in range(6):
        images = random_scene(rng).label_images()
        overlap = pm.count_region_overlaps(*images) if regions else pm.count_overlaps(*images)
        for threshold in (0.0, 0.1, 0.3):
            visits = trace_greedy(overlap, strategy, threshold)
            edges = matched_edges(visits)
            ids = np.stack(
                [overlap.ref_ids[overlap.edges.ref[edges]],
                 overlap.pred_ids[overlap.edges.pred[edges]]], axis=1,
            )  # fmt: skip
            pairs = pm.match(overlap, strategy, threshold).pairs
            assert sorted(map(tuple, ids.tolist())) == sorted(map(tuple, pairs.tolist()))


@pytest.mark.parametrize("strategy", WALKED, ids=repr)
def test_every_edge_is_visited_once_from_the_highest_iou_to_the_lowest(
    strategy: pm.Strategy,
) -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        overlap = random_overlap(rng)
        visits = trace_greedy(overlap, strategy, 0.2)
        assert sorted(visit.edge for visit in visits) == list(range(len(overlap.edges)))
        iou = overlap.iou[[visit.edge for visit in visits]]
        assert (np.diff(iou) <= 0).all()


def test_the_last_union_of_a_reference_has_the_quality_of_the_library() -> None:
    rng = np.random.default_rng(8)
    for _ in range(100):
        overlap = random_overlap(rng)
        visits = trace_greedy(overlap, pm.ManyToOne(), 0.1)
        last = {
            int(overlap.edges.ref[visit.edge]): visit.after for visit in visits if visit.matched
        }
        quality = pm.match(overlap, pm.ManyToOne(), 0.1).ref_quality
        assert last == {ref: quality[ref] for ref in np.flatnonzero(quality)}


def decisions(strategy: pm.Strategy, threshold: float) -> list[tuple[int, int, str]]:
    """Walk over a graph on which every decision occurs."""
    overlap = pm.Overlap.from_dense(
        [[60, 20, 2, 5], [0, 10, 0, 40]], ref_sizes=[100, 100], pred_sizes=[60, 30, 90, 50]
    )
    return [
        (int(overlap.edges.ref[v.edge]) + 1, int(overlap.edges.pred[v.edge]) + 1, v.decision)
        for v in trace_greedy(overlap, strategy, threshold)
    ]


def test_greedy_one_to_one_says_who_is_taken() -> None:
    assert decisions(pm.OneToOne(solver="greedy"), 0.05) == [
        (1, 1, "taken"),
        (2, 4, "taken"),
        (1, 2, "reference taken"),
        (2, 2, "reference taken"),
        (1, 4, "below threshold"),
        (1, 3, "below threshold"),
    ]
    assert decisions(pm.OneToOne(solver="greedy"), 0.0)[4] == (1, 4, "prediction taken")


def test_the_merge_says_who_joins_and_who_does_not_help() -> None:
    assert decisions(pm.ManyToOne(), 0.4) == [
        (1, 1, "taken"),
        (2, 4, "below threshold"),
        (1, 2, "joined"),
        (2, 2, "below threshold"),
        (1, 4, "no gain"),
        (1, 3, "no gain"),
    ]
    assert decisions(pm.ManyToOne(), 0.05)[3:5] == [
        (2, 2, "prediction taken"),
        (1, 4, "prediction taken"),
    ]


def test_with_the_gate_at_every_edge_joiners_must_pass_too() -> None:
    assert decisions(pm.ManyToOne(gate="edge"), 0.3)[2] == (1, 2, "below threshold")
    assert decisions(pm.ManyToOne(gate="edge"), 0.1)[2] == (1, 2, "joined")


def test_a_strategy_that_does_not_walk_is_refused() -> None:
    message = (
        "strategy=OneToOne(solver='optimal') does not visit edges one by one. Accepted: "
        "OneToOne(solver='greedy') and ManyToOne(solver='merge')."
    )
    overlap = pm.Overlap.from_dense([[1]], [1], [1])
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        trace_greedy(overlap, pm.OneToOne(), 0.5)
