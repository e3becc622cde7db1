"""How PQ, NPQ and the curve of F1 hang together, without void: docs/explanation/related.md."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings

import panmatch as pm
from panmatch import related
from tests import brute_force
from tests.hypothesis_scenes import Labels, label_pairs, thresholds

often = settings(max_examples=300)


def area_of_f1(curve: pm.Curve, start: float, stop: float) -> float:
    """∫ F(τ) dτ from start to stop, piece by piece."""
    inside = [t for t in curve.thresholds.tolist() if start < t < stop]
    ends = [start, *inside, stop]
    return float(sum(curve.at(a).f1 * (b - a) for a, b in pairwise(ends)))


def curve_of(pair: tuple[Labels, Labels]) -> pm.Curve:
    curve = pm.curve(pm.count_overlaps(*pair))
    assume(curve.at(0.0).status == "ok")
    return curve


@often
@given(label_pairs())
def test_pq_is_half_of_f1_at_one_half_plus_its_area_from_there(
    pair: tuple[Labels, Labels],
) -> None:
    curve = curve_of(pair)
    identity = 0.5 * curve.at(0.5).f1 + area_of_f1(curve, 0.5, 1.0)
    assert curve.at(0.5).pq == pytest.approx(identity, abs=1e-12)


@often
@given(label_pairs(), thresholds)
def test_pq_of_nested_matchings_is_the_threshold_times_f1_plus_its_area_from_there(
    pair: tuple[Labels, Labels], threshold: float
) -> None:
    curve = pm.curve(pm.count_overlaps(*pair), pm.OneToOne(solver="greedy"))
    assume(curve.at(0.0).status == "ok")
    identity = threshold * curve.at(threshold).f1 + area_of_f1(curve, threshold, 1.0)
    assert curve.at(threshold).pq == pytest.approx(identity, abs=1e-12)


def test_npq_is_often_pq_at_0_where_objects_overlap_several_others() -> None:
    """docs/explanation/related.md has these counts."""
    rng = np.random.default_rng(0)
    equal = cases = 0
    while cases < 400:
        overlap = brute_force.random_scene(rng)
        ends = overlap.edges.ref, overlap.edges.pred
        if all(len(np.unique(side)) == len(side) for side in ends):
            continue
        cases += 1
        gap = related.npq(overlap) - pm.match(overlap, threshold=0.0).tally.pq
        equal += abs(gap) < 1e-12
    assert equal == 350


@often
@given(label_pairs())
def test_npq_is_pq_plus_what_weaker_objects_add(pair: tuple[Labels, Labels]) -> None:
    curve = curve_of(pair)
    half = curve.at(0.5)
    added = area_of_f1(curve, 0.0, 0.5) - 0.5 * half.f1
    assert curve.npq == pytest.approx(half.pq + added, abs=1e-12)
    assert curve.npq >= half.pq - 1e-12
    assert related.npq(pm.count_overlaps(*pair)) == curve.npq


@often
@given(label_pairs())
def test_below_one_half_no_object_found_there_is_lost(pair: tuple[Labels, Labels]) -> None:
    curve = curve_of(pair)
    at_half = curve.at(0.5).tp
    assert all(curve.at(t).tp >= at_half for t in curve.thresholds if t < 0.5)


@often
@given(label_pairs())
def test_npq_is_pq_at_0_where_every_object_overlaps_one_other_at_most(
    pair: tuple[Labels, Labels],
) -> None:
    overlap = pm.count_overlaps(*pair)
    kept = np.unique(overlap.edges.ref, return_index=True)[1]
    kept = kept[np.unique(overlap.edges.pred[kept], return_index=True)[1]]
    kept.sort()
    columns = overlap.columns()
    edges = {name: columns[name][kept] for name in columns if name.startswith("edge")}
    single = pm.Overlap.from_columns({**columns, **edges})
    assume(len(single.ref_ids) + len(single.pred_ids))
    assert related.npq(single) == pytest.approx(pm.match(single, threshold=0.0).tally.pq, abs=1e-12)


@often
@given(label_pairs())
def test_npq_is_never_below_pq_at_0(pair: tuple[Labels, Labels]) -> None:
    curve = curve_of(pair)
    assert curve.npq >= curve.at(0.0).pq - 1e-12


def test_npq_can_be_above_pq_at_0() -> None:
    """1 and 2 contest a prediction: which of them has it changes with the threshold."""
    overlap = pm.Overlap.from_dense([[4, 3], [4, 0]], ref_sizes=[10, 10], pred_sizes=[10, 10])
    # At 0 the pairs 1–2 and 2–1 win with 3/17 + 4/16; above 3/17 one pair of 4/16 is left.
    assert pm.match(overlap, threshold=0.0).tally.pq == pytest.approx((3 / 17 + 1 / 4) / 2)
    assert related.npq(overlap) == pytest.approx((3 / 17 * 2 + (1 / 4 - 3 / 17)) / 2)
    weak = pm.Overlap.from_dense([[6, 3], [3, 0]], ref_sizes=[12, 12], pred_sizes=[12, 12])
    # At 0 the pairs 1–2 and 2–1 have 2/7 together, less than 1–1 alone with 1/3.
    assert pm.match(weak, threshold=0.0).tally.tp == 1
    assert related.npq(weak) == pytest.approx(pm.match(weak, threshold=0.0).tally.pq)
    dense = pm.Overlap.from_dense(
        [[4, 0, 2, 0], [0, 0, 1, 7], [5, 8, 4, 5], [8, 6, 5, 0], [0, 8, 2, 7]],
        ref_sizes=[9, 9, 26, 19, 19],
        pred_sizes=[20, 26, 16, 20],
    )
    assert related.npq(dense) - pm.match(dense, threshold=0.0).tally.pq == pytest.approx(
        0.01216374269, abs=1e-10
    )


def test_cc_metrics_of_cases_add_in_any_order_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    cases = [related.CCMetric(rng.random(n), (n,)) for n in rng.integers(0, 9, 40).tolist()]
    whole = sum(cases, start=related.CCMetric(np.array([0.1, np.nan]), (2,)))
    for _ in range(200):
        order = rng.permutation(len(cases))
        other = sum(
            (cases[i] for i in order), start=related.CCMetric(np.array([np.nan, 0.1]), (2,))
        )
        assert (other.mean, other.pooled) == (whole.mean, whole.pooled)
