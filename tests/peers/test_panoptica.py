"""Live parity with panoptica on random scenes: counts equal, PQ to 1e-6."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from tests.peers.asking import Labels, ask_peer
from tests.strategies import BY_NAME

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7)
SCENES = 120


def make_scene(seed: int) -> tuple[Labels, Labels]:
    """Return objects that touch, and predictions that are shifted, cut, merged, missed, made up."""
    rng = np.random.default_rng(seed)
    shape = (44, 52) if seed % 2 else (24, 26, 20)
    reference: Labels
    prediction: Labels
    if seed % 4 < 2:
        reference = phantoms.tissue(shape, 9, seed=seed)
        prediction = phantoms.tissue(shape, 12, seed=seed + 1000)
    else:
        reference = phantoms.blobs(shape, 6, radius=(2.5, 4), gap=1, seed=seed)
        prediction = reference
    prediction = phantoms.shift(prediction, rng.integers(-2, 3, len(shape)).tolist())
    ids = np.unique(prediction)[1:]
    prediction = phantoms.split(
        prediction, 2 + seed % 2, ids=rng.choice(ids, 3, replace=False).tolist()
    )
    prediction = phantoms.merge_neighbours(prediction, seed % 3, seed=seed)
    prediction = phantoms.miss(prediction, 1, seed=seed)
    return reference, phantoms.relabel(prediction, seed=seed)


def without_ties(seeds: Iterator[int]) -> Iterator[tuple[Labels, Labels]]:
    """Yield scenes in which no two edges that share a segment have equal scores.

    Between exact ties a heuristic may go either way, so they say nothing about agreement.
    """
    for seed in seeds:
        reference, prediction = make_scene(seed)
        overlap = pm.count_overlaps(reference, prediction)
        edges = list(zip(overlap.iou, overlap.edges.ref, overlap.edges.pred, strict=True))
        if not any(
            a[0] == b[0] and (a[1] == b[1] or a[2] == b[2]) for a, b in combinations(edges, 2)
        ):
            yield reference, prediction


@pytest.fixture(scope="module")
def parity(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[pm.Overlap], dict[str, Any]]:
    """Return the overlaps of all scenes, and what panoptica says of them."""
    found = without_ties(iter(range(10_000)))
    scenes = [next(found) for _ in range(SCENES)]
    folder = tmp_path_factory.mktemp("panoptica")
    results = ask_peer("run_panoptica.py", folder, scenes, thresholds=np.array(THRESHOLDS))
    return [pm.count_overlaps(*scene) for scene in scenes], results


@pytest.mark.parametrize(
    "name", ["one-to-one/greedy", "one-to-one/optimal", "many-to-one/merge/seed"]
)
def test_counts_are_equal_and_pq_agrees(
    name: str, parity: tuple[list[pm.Overlap], dict[str, Any]]
) -> None:
    overlaps, results = parity
    assert len(results[name]) == SCENES * len(THRESHOLDS)
    for row in results[name]:
        tally = pm.match(overlaps[row["scene"]], BY_NAME[name], row["threshold"]).tally
        assert (tally.tp, tally.fp, tally.fn) == (row["tp"], row["fp"], row["fn"]), row
        assert tally.pq == pytest.approx(row["pq"], abs=1e-6), row


def test_the_scenes_tell_the_strategies_apart(
    parity: tuple[list[pm.Overlap], dict[str, Any]],
) -> None:
    _, results = parity
    rows = list(zip(*(results[name] for name in sorted(results)), strict=True))
    for first, second in combinations(range(3), 2):
        assert any(row[first]["pq"] != row[second]["pq"] for row in rows)
