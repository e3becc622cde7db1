"""What must hold for every strategy, scene and threshold."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import panmatch as pm
from tests.hypothesis_scenes import Labels, label_pairs, overlaps, strategies, thresholds

relaxed = settings(max_examples=max(300, settings().max_examples))


@relaxed
@given(overlaps(), strategies, thresholds)
def test_every_reference_is_either_found_or_missed(
    overlap: pm.Overlap, strategy: pm.Strategy, threshold: float
) -> None:
    matching = pm.match(overlap, strategy, threshold)
    tally = matching.tally
    assert tally.tp + tally.fn == len(overlap.ref_ids)
    unmatched = ~np.isin(overlap.pred_ids, matching.pairs[:, 1])
    assert tally.fp == np.count_nonzero(unmatched & ~overlap.dismissible)
    assert sorted([*matching.missed, *np.unique(matching.pairs[:, 0])]) == overlap.ref_ids.tolist()
    assert 0.0 <= tally.quality <= tally.tp


@relaxed
@given(overlaps(), strategies, thresholds)
def test_degree_bounds_hold(overlap: pm.Overlap, strategy: pm.Strategy, threshold: float) -> None:
    pairs = pm.match(overlap, strategy, threshold).pairs
    for column, bound in ((0, strategy.max_preds_per_ref), (1, strategy.max_refs_per_pred)):
        if bound == 1:
            assert len(np.unique(pairs[:, column])) == len(pairs)


@relaxed
@given(overlaps(), strategies, st.data())
def test_the_curve_equals_the_matching_at_every_threshold(
    overlap: pm.Overlap, strategy: pm.Strategy, data: st.DataObject
) -> None:
    curve = pm.curve(overlap, strategy)
    steps = [tau for tau in overlap.iou.tolist() if tau < 1.0]
    below = [float(np.nextafter(tau, 0)) for tau in steps]
    for threshold in [0.0, data.draw(thresholds), *steps, *below]:
        assert curve.at(threshold) == pm.match(overlap, strategy, threshold).tally


@relaxed
@given(label_pairs(), st.sampled_from(["dice", "prediction-share", "reference-share"]), strategies)
def test_the_curve_equals_the_matching_for_every_score(
    pair: tuple[Labels, Labels], score: pm.overlap.Score, strategy: pm.Strategy
) -> None:
    overlap = pm.count_overlaps(*pair)
    curve = pm.curve(overlap, strategy, score=score)
    for threshold in [0.0, *[tau for tau in overlap.score(score).tolist() if tau < 1.0]]:
        assert curve.at(threshold) == pm.match(overlap, strategy, threshold, score=score).tally


@relaxed
@given(overlaps(), thresholds)
def test_optimal_is_never_below_greedy(overlap: pm.Overlap, threshold: float) -> None:
    optimal, greedy = (
        pm.match(overlap, pm.OneToOne(solver), threshold).tally for solver in ("optimal", "greedy")
    )
    assert optimal.quality >= greedy.quality - 1e-12
    assert pm.curve(overlap).autc >= pm.curve(overlap, pm.OneToOne("greedy")).autc - 1e-12 or (
        optimal.status == "empty"
    )


@relaxed
@given(overlaps(), thresholds)
def test_from_one_half_on_all_one_to_one_solvers_agree(
    overlap: pm.Overlap, threshold: float
) -> None:
    tau = max(threshold, 0.5)
    expected = pm.match(overlap, "one-to-one", tau).tally
    for strategy in (pm.OneToOne("greedy"), pm.OneToMany(), pm.ManyToOne(gate="edge")):
        assert pm.match(overlap, strategy, tau).tally == expected


@relaxed
@given(label_pairs(), thresholds, st.randoms(use_true_random=False))
def test_renumbering_labels_changes_no_optimal_score(
    pair: tuple[Labels, Labels], threshold: float, random: np.random.Generator
) -> None:
    """Not by a single bit: sums do not depend on the order of the objects."""
    new_ids = [0, *random.sample(range(1, 10**12), 4)]  # type: ignore[attr-defined]
    reference, prediction = (np.array(new_ids)[labels] for labels in pair)
    before, after = pm.count_overlaps(*pair), pm.count_overlaps(reference, prediction)
    assert pm.match(before, threshold=threshold).tally == pm.match(after, threshold=threshold).tally
    assert repr(pm.curve(before).autc) == repr(pm.curve(after).autc)


@relaxed
@given(label_pairs(), strategies, thresholds)
def test_flipping_transposing_and_padding_change_nothing(
    pair: tuple[Labels, Labels], strategy: pm.Strategy, threshold: float
) -> None:
    expected = pm.count_overlaps(*pair)
    for change in (np.flip, np.transpose, lambda labels: np.pad(labels, 2), np.asfortranarray):
        assert pm.count_overlaps(*(change(labels) for labels in pair)) == expected
    assert pm.match(expected, strategy, threshold).strategy is strategy


@relaxed
@given(label_pairs(), strategies)
def test_scores_do_not_depend_on_the_number_of_threads(
    pair: tuple[Labels, Labels], strategy: pm.Strategy
) -> None:
    one, many = (pm.count_overlaps(*pair, threads=threads) for threads in (1, 5))
    assert one == many
    assert repr(pm.curve(one, strategy).autc) == repr(pm.curve(many, strategy).autc)
