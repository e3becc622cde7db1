"""Every strategy on predictions that are cut by cells: against brute force, and as curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import panmatch as pm
from panmatch import phantoms
from tests import brute_force
from tests.hypothesis_scenes import Labels, label_pairs, thresholds
from tests.strategies import BY_NAME, OPTIMAL


@st.composite
def region_overlaps(draw: st.DrawFn) -> pm.Overlap:
    reference, prediction = draw(label_pairs())
    void = draw(st.none() | st.just(4))
    return pm.count_region_overlaps(reference, prediction, void=void)


@settings(max_examples=200)
@given(region_overlaps(), st.sampled_from(list(BY_NAME)), thresholds)
def test_counts_equal_brute_force_with_false_positives_on_whole_predictions(
    overlap: pm.Overlap, name: str, threshold: float
) -> None:
    scene = brute_force.Scene.of(overlap)
    want = brute_force.count(scene, brute_force.STRATEGIES[name](scene, threshold))
    tally = pm.match(overlap, BY_NAME[name], threshold).tally
    if name == "one-to-one/optimal":  # several matchings may share the largest PQ
        assert tally.status == "empty" or tally.pq == pytest.approx(float(want.pq), abs=1e-12)
        return
    assert (tally.tp, tally.fp, tally.fn) == (want.tp, want.fp, want.fn)
    assert tally.quality == pytest.approx(float(want.quality), abs=1e-12)


@settings(max_examples=200)
@given(
    region_overlaps(),
    st.sampled_from([*BY_NAME.values(), pm.SameId(), pm.RegionUnion()]),
    st.data(),
)
def test_the_curve_equals_the_matching_at_every_threshold(
    overlap: pm.Overlap, strategy: pm.Strategy, data: st.DataObject
) -> None:
    curve = pm.curve(overlap, strategy)
    prepared = strategy.prepare(overlap)
    steps = [tau for tau in prepared.iou.tolist() if tau < 1.0]
    below = [float(np.nextafter(tau, 0)) for tau in steps]
    for threshold in [0.0, data.draw(thresholds), *steps, *below]:
        found, expected = curve.at(threshold), pm.match(overlap, strategy, threshold).tally
        if strategy == pm.OneToOne():  # several matchings may share the largest PQ
            assert found.pq == pytest.approx(expected.pq, abs=1e-12, nan_ok=True)
        else:
            assert found == expected


def small_regions(rng: np.random.Generator) -> pm.Overlap:
    """Return few references, and long predictions that cross their cells."""
    shape = (4, 12)
    reference = np.zeros(shape, int)
    for i, x in enumerate(rng.choice(12, 3, replace=False)):
        reference[rng.integers(0, 2) :, x : x + rng.integers(1, 4)] = i + 1
    prediction = np.zeros(shape, int)
    for i in range(rng.integers(1, 5)):
        start = rng.integers(0, 10)
        prediction[rng.integers(0, 4), start : start + rng.integers(1, 12)] = i + 1
    return pm.count_region_overlaps(reference, prediction)


def check_regions(name: str, cases: int) -> int:
    """Compare optima and certificates with brute force; return how many were proven."""
    rng = np.random.default_rng(9)
    proven = 0
    for _ in range(cases):
        overlap = small_regions(rng)
        threshold = float(rng.choice([0.0, 0.1, 0.2]))
        scene = brute_force.Scene.of(overlap)
        best = float(brute_force.count(scene, brute_force.STRATEGIES[name](scene, threshold)).pq)
        matching = pm.match(overlap, OPTIMAL[name], threshold)
        assert matching.certificate is not None
        assert matching.certificate.value == matching.tally.pq
        assert matching.tally.pq <= best + 1e-12
        assert matching.certificate.upper_bound >= best - 1e-12
        if matching.certificate.proven:
            assert matching.tally.pq == pytest.approx(best, abs=1e-9)
            proven += 1
    return proven


@pytest.mark.parametrize("name", OPTIMAL)
def test_the_optimum_is_always_proven(name: str) -> None:
    assert check_regions(name, 1000) == 1000


@pytest.mark.parametrize("name", ["one-to-one/optimal", "one-to-many/optimal"])
def test_no_step_of_a_curve_misses_the_optimum(name: str) -> None:
    rng = np.random.default_rng(10)
    for _ in range(200):
        overlap = small_regions(rng)
        curve, scene = pm.curve(overlap, OPTIMAL[name]), brute_force.Scene.of(overlap)
        assert curve.proven
        for threshold in curve.thresholds.tolist():
            best = brute_force.count(scene, brute_force.STRATEGIES[name](scene, threshold)).pq
            assert curve.at(threshold).pq == pytest.approx(float(best), abs=1e-12)


def test_the_largest_total_is_not_always_the_largest_pq() -> None:
    """Prediction 1 is matched already: its second piece adds a true positive, saving nothing."""
    reference = np.array([[1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 2]])
    prediction = np.array([[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]])
    matching = pm.match(pm.count_region_overlaps(reference, prediction), "one-to-one", 0.0)
    assert matching.pairs.tolist() == [[1, 1]]
    assert matching.tally.pq == pytest.approx(0.9 / 1.5)  # and 1.1 / 2 with the second piece


@given(label_pairs())
def test_the_union_is_everything_predicted_in_the_cell(pair: tuple[Labels, Labels]) -> None:
    reference, prediction = pair
    cells = pm.labels.nearest_labels(reference)
    matching = pm.match(pm.count_region_overlaps(reference, prediction), "union", 0.0)
    for ref, quality in zip(matching.overlap.ref_ids, matching.ref_quality, strict=True):
        g, p = reference == ref, (cells == ref) & (prediction != 0)
        assert quality == pytest.approx((g & p).sum() / (g | p).sum())


@pytest.mark.parametrize("strategy", [pm.RegionUnion(), pm.ManyToOne(), pm.OneToOne()])
def test_objects_are_measured_within_their_cells(strategy: pm.Strategy) -> None:
    reference = phantoms.blobs((40, 44), 6, radius=(3, 5), seed=3)
    prediction = phantoms.merge_neighbours(phantoms.shift(reference, (1, 2)), 2, seed=1)
    prediction = phantoms.add_spurious(prediction, 2, radius=(1, 2), seed=5)
    spacing = (2.0, 0.5)
    matching = pm.match(pm.count_region_overlaps(reference, prediction, spacing), strategy, 0.1)
    found = pm.measure(matching, reference, prediction, ("iou", "hd"), spacing)
    n = len(matching.overlap.ref_ids)
    np.testing.assert_allclose(found.columns["iou"][:n], matching.ref_quality, rtol=1e-14)
    assert len(found) == n + matching.tally.fp
    cells = pm.labels.nearest_labels(reference, spacing)
    for row in np.flatnonzero(found.columns["status"] == "matched"):
        ids = [int(text) for text in found.columns["pred_ids"][row].split()]
        ref = matching.overlap.ref_ids[row]
        alone = pm.measure_whole(
            reference == ref, np.isin(prediction, ids) & (cells == ref), "hd", spacing
        )
        assert found.columns["hd"][row] == alone.columns["hd"][0]


def test_optimality_survives_a_tiny_budget_on_regions() -> None:
    overlap = small_regions(np.random.default_rng(1))
    strategy = replace(pm.ManyToOne("optimal"), budget=pm.Budget(nodes=0))
    certificate = pm.match(overlap, strategy, 0.0).certificate
    assert certificate is not None
    assert certificate.value <= certificate.upper_bound
