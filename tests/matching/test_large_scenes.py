"""Optimal one-to-one matching beyond what brute force can enumerate: scipy is the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import panmatch as pm
from panmatch.overlap import Edges


def band_scene(n: int, contacts: int, seed: int) -> pm.Overlap:
    """Return n references and n predictions, each touching a few others nearby: one component."""
    rng = np.random.default_rng(seed)
    ref = np.repeat(np.arange(n), contacts)
    pred = (ref + rng.integers(-contacts, contacts + 1, len(ref))) % n
    ref, pred = np.unique(np.stack([ref, pred]), axis=1)
    shared = rng.integers(1, 60, len(ref))
    ref_sizes, pred_sizes = (
        np.bincount(ends, shared, n).astype(np.int64) + rng.integers(1, 40, n)
        for ends in (ref, pred)
    )
    ids = np.arange(1, n + 1)
    return pm.Overlap(ids, ref_sizes, ids, pred_sizes, Edges(ref, pred, shared), np.zeros_like(ids))


def best_total(overlap: pm.Overlap, threshold: float) -> float:
    dense = np.zeros((len(overlap.ref_ids), len(overlap.pred_ids)))
    kept = overlap.above(threshold)
    dense[kept.edges.ref, kept.edges.pred] = kept.iou
    return float(dense[linear_sum_assignment(dense, maximize=True)].sum())


@pytest.mark.parametrize("seed", range(6))
def test_the_total_equals_scipy_at_every_threshold(seed: int) -> None:
    overlap = band_scene(120, 5, seed)
    curve = pm.curve(overlap)
    for threshold in [0.0, *np.quantile(overlap.iou, [0.1, 0.3, 0.6, 0.9])]:
        expected = best_total(overlap, threshold)
        assert pm.match(overlap, threshold=threshold).tally.quality == pytest.approx(expected)
        assert curve.at(threshold).quality == pytest.approx(expected)


def test_a_matching_uses_every_segment_once() -> None:
    pairs = pm.match(band_scene(500, 6, 1), threshold=0.0).pairs
    assert len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1])) == len(pairs)


def test_fifty_thousand_by_fifty_thousand_segments_in_one_component() -> None:
    """A dense matrix of this size would take 20 GB."""
    overlap = band_scene(50_000, 8, 0)
    optimal, greedy = (
        pm.match(overlap, pm.OneToOne(solver), 0.0).tally for solver in ("optimal", "greedy")
    )
    assert optimal.tp + optimal.fn == optimal.tp + optimal.fp == 50_000
    assert optimal.quality > greedy.quality
    curve = pm.curve(overlap)
    assert curve.at(0.0) == optimal
    assert curve.at(0.2) == pm.match(overlap, threshold=0.2).tally
