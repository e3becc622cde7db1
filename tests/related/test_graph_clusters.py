"""Cluster Dice on the graph: equal to the definition, to the masks, and to its own curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import panmatch as pm
from panmatch import phantoms, related
from panmatch.errors import OptionError, OverlapError, ThresholdError
from panmatch.labels import connected_components
from panmatch.overlap import Score
from tests.scoring.test_graph_structure import components_by_hand

Labels = Any
LABELS = arrays(np.int64, 24, elements=st.integers(0, 5))
SCORES: tuple[Score, ...] = ("iou", "dice", "prediction-share", "reference-share")


def dice_by_hand(reference: Labels, prediction: Labels, threshold: float) -> float:
    """Return the mean Dice of the unions of both sides over all components."""
    sides = {f"g{i}": reference == i for i in np.unique(reference[reference > 0]).tolist()}
    sides |= {f"p{i}": prediction == i for i in np.unique(prediction[prediction > 0]).tolist()}
    edges = {
        (g, p)
        for g in sides
        for p in sides
        if g[0] == "g" and p[0] == "p" and (sides[g] & sides[p]).any()
        and (sides[g] & sides[p]).sum() / (sides[g] | sides[p]).sum() > threshold
    }  # fmt: skip
    values = []
    for group in components_by_hand(edges, sorted(sides)):
        nothing = np.zeros_like(reference, bool)
        ref = np.logical_or.reduce([nothing, *(sides[one] for one in group if one[0] == "g")])
        pred = np.logical_or.reduce([nothing, *(sides[one] for one in group if one[0] == "p")])
        values.append(2 * int((ref & pred).sum()) / int(ref.sum() + pred.sum()))
    return math.fsum(values) / len(values) if values else math.nan


@settings(max_examples=120, deadline=None)
@given(LABELS, LABELS)
def test_the_curve_is_the_score_at_every_threshold_and_both_are_the_definition(
    reference: Labels, prediction: Labels
) -> None:
    overlap = pm.count_overlaps(reference, prediction)
    curve = related.graph_cluster_dice_curve(overlap)
    steps = np.unique([0.0, *overlap.iou.tolist()])
    for threshold in [*steps[steps < 1].tolist(), *((steps[1:] + steps[:-1]) / 2).tolist(), 0.999]:
        expected = dice_by_hand(reference, prediction, threshold)
        found = related.graph_cluster_dice(overlap, threshold=threshold)
        assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
        assert curve.at(threshold) == pytest.approx(found, rel=0, abs=0, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(LABELS, LABELS, st.sampled_from(SCORES))
def test_steps_are_where_the_score_changes_and_the_area_is_their_sum(
    reference: Labels, prediction: Labels, score: Score
) -> None:
    overlap = pm.count_overlaps(reference, prediction)
    curve = related.graph_cluster_dice_curve(overlap, score=score)
    assert curve.thresholds[0] == 0
    assert (np.diff(curve.thresholds) > 0).all()
    assert curve.thresholds[-1] < 1
    assert np.isin(curve.thresholds[1:], overlap.score(score)).all()
    widths = np.diff([*curve.thresholds.tolist(), 1.0])
    total = math.fsum((curve.dice * widths).tolist())
    assert curve.area == pytest.approx(total, rel=1e-12, nan_ok=True)
    assert (np.diff(curve.components) >= 0).all()  # components only fall apart


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=2, max_size=4))
def test_curves_of_images_add_up_to_all_components(images: list[tuple[Labels, Labels]]) -> None:
    overlaps = [pm.count_overlaps(*sides) for sides in images]
    curves = [related.graph_cluster_dice_curve(one) for one in overlaps]
    total, turned = sum(curves), sum(reversed(curves))
    assert isinstance(total, related.ClusterCurve)
    assert isinstance(turned, related.ClusterCurve)
    assert np.array_equal(total.dice, turned.dice, equal_nan=True)
    for threshold in (0.0, 0.2, 0.5):
        n = sum(pm.graph_structure(one, threshold).total.components for one in overlaps)
        scores = [related.graph_cluster_dice(one, threshold=threshold) for one in overlaps]
        sizes = [pm.graph_structure(one, threshold).total.components for one in overlaps]
        summed = math.fsum(s * k for s, k in zip(scores, sizes, strict=True) if k)
        expected = summed / n if n else math.nan
        assert total.at(threshold) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_it_equals_the_score_of_masks_where_components_are_apart() -> None:
    tissue = phantoms.brain_metastases((40, 48, 40), 6, radius_mm=(1.5, 5.0), seed=2)
    seen = phantoms.SIMULATED_MODELS["redraws"].predict(tissue, 2)
    reference, prediction = (connected_components(one > 0) for one in (tissue.labels, seen.labels))
    overlap = pm.count_overlaps(reference, prediction)
    by_masks = related.cluster_dice(reference=reference, prediction=prediction)
    assert pm.graph_structure(overlap).total.components > 3
    assert related.graph_cluster_dice(overlap) == pytest.approx(by_masks, rel=1e-12)


def test_neighbours_that_only_touch_stay_apart() -> None:
    sides = [1, 1, 2, 2], [1, 1, 0, 0]
    assert related.graph_cluster_dice(pm.count_overlaps(*sides)) == 0.5
    by_masks = related.cluster_dice(reference=sides[0], prediction=sides[1])
    assert by_masks == pytest.approx(2 / 3)


def test_a_dismissed_prediction_counts_only_while_it_overlaps() -> None:
    void = np.array([1, 1, 0, 0, 0, 0], bool)
    overlap = pm.count_overlaps([0, 0, 1, 1, 1, 1], [5, 5, 5, 0, 0, 0], void)
    curve = related.graph_cluster_dice_curve(overlap)
    assert (curve.at(0.0), curve.at(0.5)) == (2 / 5, 0.0)
    assert curve.components.tolist() == [1, 1]  # then the reference alone


def test_a_spec_can_ask_for_it() -> None:
    reference, prediction = [[1, 1, 1, 0, 2, 2]], [[1, 1, 3, 0, 0, 0]]
    spec = {"related": [{"score": "graph_cluster_dice", "threshold": 0.5}]}
    result = pm.evaluate(reference=reference, prediction=prediction, spec=spec)
    overlap = pm.count_overlaps(reference, prediction)
    assert set(result.scores["graph_cluster_dice"]) == {
        related.graph_cluster_dice(overlap, threshold=0.5)
    }


def test_nothing_is_undefined_and_nonsense_is_refused() -> None:
    nothing = pm.count_overlaps(np.zeros(3, int), np.zeros(3, int))
    assert math.isnan(related.graph_cluster_dice(nothing))
    assert math.isnan(related.graph_cluster_dice_curve(nothing).area)
    some = pm.count_overlaps([1], [1])
    assert related.graph_cluster_dice_curve(some).dice.tolist() == [1.0]
    with pytest.raises(ThresholdError, match="threshold=1"):
        related.graph_cluster_dice(some, threshold=1)
    with pytest.raises(ThresholdError, match="threshold=1"):
        related.graph_cluster_dice_curve(some).at(1)
    with pytest.raises(OverlapError, match="cut by regions"):
        related.graph_cluster_dice_curve(pm.count_region_overlaps([1, 1, 2], [1, 1, 1]))
    by_dice = related.graph_cluster_dice_curve(some, score="dice")
    with pytest.raises(OptionError, match=r"score='dice' differs from 'iou'"):
        related.graph_cluster_dice_curve(some) + by_dice
