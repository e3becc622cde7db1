"""The surface over thresholds and confidence cuts equals filtering and matching anew (D17)."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch.errors import OptionError, OverlapError, PanmatchError, StrategyError
from panmatch.scoring import add_surfaces
from tests import brute_force
from tests.hypothesis_scenes import overlaps, strategies, thresholds
from tests.mask_scenes import random_pair
from tests.strategies import BY_NAME, OPTIMAL

# Arguments of wrong types.
HIGH: Any = "high"
ELEVEN: Any = "11-point"
LABELS: Any = [[1]]

STRATEGIES = {**BY_NAME, **OPTIMAL, "same-id": pm.SameId()}


def some_overlap(rng: np.random.Generator, number: int) -> pm.Overlap:
    scene = brute_force.random_scene(rng)
    kinds = (lambda: scene, lambda: brute_force.with_void(rng, scene),
             lambda: brute_force.with_crowd(rng, scene), lambda: brute_force.all_contested(rng),
             lambda: pm.Overlap.from_masks(*random_pair(rng)))  # fmt: skip
    found = kinds[number % len(kinds)]()
    return found.with_confidence(rng.integers(0, 6, len(found.pred_ids)) / 4)


def check(surface: pm.Surface, overlap: pm.Overlap, threshold: float, cut: float) -> None:
    found = surface.at(threshold, cut)
    matching = pm.match(overlap.above_cut(cut), surface.strategy, threshold)
    if matching.certificate is None:
        assert found == matching.tally
    else:  # several matchings may be optimal
        assert found.pq == pytest.approx(matching.tally.pq, abs=1e-9, nan_ok=True)
    assert surface.over_thresholds(cut).at(threshold) == found
    assert surface.over_cuts(threshold).at(cut) == found


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_surface_equals_filtering_and_matching_anew(name: str) -> None:
    rng = np.random.default_rng(7)
    points = 0
    for number in range(60):
        ov = some_overlap(rng, number)
        if ov.sharing is not None and name.startswith("many-to-one/optimal"):
            continue
        found = pm.surface(ov, STRATEGIES[name])
        assert ov.confidence is not None
        for _ in range(12):
            threshold = rng.choice([0.0, 0.25, 0.5, rng.random(), *ov.iou[ov.iou < 1]])
            cut = rng.choice([-1.0, 2.0, rng.random(), *ov.confidence])
            check(found, ov, float(threshold), float(cut))
            points += 1
    assert points >= 500


@pytest.mark.parametrize("strategy", ["one-to-one", "many-to-one", "one-to-many", "union"])
def test_surfaces_work_in_regions(strategy: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(25):
        sides = [brute_force.random_labels(rng, (7, 8), 4) for _ in range(2)]
        ov = pm.count_region_overlaps(*sides)
        ov = ov.with_confidence(rng.integers(0, 4, len(ov.predictions.ids)) / 4)
        found = pm.surface(ov, strategy)
        for threshold in (0.0, 0.2, 0.5):
            for cut in (0.0, 0.3, 0.5, 0.75, 1.0):
                check(found, ov, threshold, cut)


@given(overlaps(), strategies, thresholds, st.randoms(use_true_random=False))
def test_any_small_scene_has_the_same_surface(
    overlap: pm.Overlap, strategy: pm.Strategy, threshold: float, random: object
) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    scored = overlap.with_confidence(rng.integers(0, 3, len(overlap.pred_ids)) / 2)
    found = pm.surface(scored, strategy)
    for cut in (0.0, 0.25, 0.5, 1.0, 1.5):
        check(found, scored, threshold, cut)


def test_surfaces_add_up_exactly_and_in_any_order() -> None:
    rng = np.random.default_rng(0)
    cases = [some_overlap(rng, 0) for _ in range(8)]
    parts = [pm.surface(one, "many-to-one") for one in cases]
    total, backwards = add_surfaces(parts), sum(parts[::-1])
    assert isinstance(backwards, pm.Surface)
    assert total.n_cases == 8
    for threshold, cut in rng.random((40, 2)):
        each = [pm.match(one.above_cut(cut), "many-to-one", threshold).tally for one in cases]
        assert total.at(threshold, cut) == sum(each) == backwards.at(threshold, cut)
    weights = rng.integers(0, 3, 8)
    chosen = [one for one, times in zip(parts, weights, strict=True) for _ in range(times)]
    resampled = total.weighted(weights)
    assert resampled.n_cases == len(chosen)
    assert resampled.at(0.2, 0.4) == add_surfaces(chosen).at(0.2, 0.4)


def two_lesions() -> pm.Overlap:
    """Confidences 0.9 (hit), 0.8 and 0.7 (false), 0.6 (hit), and one reference that is missed."""
    labels = [1, 1, 0, 0, 2, 3, 3], [4, 4, 5, 6, 7, 0, 0]
    return pm.count_overlaps(*labels).with_confidence([0.9, 0.8, 0.7, 0.6])


def test_average_precision_by_hand() -> None:
    s = pm.surface(two_lesions())
    # Recall ⅓ at precision 1, ⅔ at precision ½.
    assert s.average_precision(0.5) == pytest.approx(1 / 3 + 1 / 6)
    assert s.average_precision(0.5, "none") == pytest.approx(1 / 3 + 1 / 6)
    assert s.average_precision(0.5, "101-point") == pytest.approx((34 * 1 + 33 * 0.5) / 101)
    assert s.mean_average_precision((0.5, 0.95)) == pytest.approx(0.5)
    assert s.average_recall((0.5,)) == pytest.approx(2 / 3)


def test_all_points_use_the_highest_precision_at_a_higher_recall() -> None:
    labels = [0, 1, 2], [4, 5, 6]
    s = pm.surface(pm.count_overlaps(*labels).with_confidence([0.9, 0.8, 0.7]))
    assert s.average_precision(0.5, "none") == pytest.approx(0.5 * 0.5 + 0.5 * 2 / 3)
    assert s.average_precision(0.5) == pytest.approx(2 / 3)


def test_average_precision_without_interpolation_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import average_precision_score  # not in an installation without extras

    rng = np.random.default_rng(2)
    for _ in range(30):
        n = int(rng.integers(1, 12))
        hits, scores = rng.random(n) < 0.6, rng.integers(0, 5, n) / 4
        hits[0] = True
        ov = pm.Overlap.from_dense(
            np.eye(n, dtype=np.int64) * hits * 3, np.full(n, 4), np.full(n, 4)
        ).with_confidence(scores)
        kept = pm.surface(ov).over_cuts(0.5)
        expected = average_precision_score(hits, scores) * hits.sum() / n
        assert kept.average_precision("none") == pytest.approx(expected)


def test_froc_by_hand() -> None:
    empty = pm.surface(pm.count_overlaps([0], [0]).with_confidence([]))
    froc = (pm.surface(two_lesions()) + empty).froc(0.5)
    assert froc.false_positives.tolist() == [0, 0, 0.5, 1, 1]
    assert froc.sensitivity == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 2 / 3])
    assert froc.at(0.99) == pytest.approx(1 / 3)
    assert froc.at(1) == froc.at(8) == pytest.approx(2 / 3)
    assert froc.at(0.75, "linear") == pytest.approx(1 / 3)
    assert froc.cpm == pytest.approx((3 * 1 / 3 + 4 * 2 / 3) / 7)
    with pytest.raises(OptionError, match="rate=-1"):
        froc.at(-1)


def test_the_best_cut_is_an_interval_of_cuts() -> None:
    s = pm.surface(two_lesions())
    best = s.best_cut(0.5)
    scores = {cut: s.at(0.5, cut).pq for cut in (0.95, 0.9, 0.85, 0.75, 0.65, 0.6, 0.1)}
    assert best.tally.pq == max(scores.values()) == s.at(0.5, 0.6).pq
    assert (best.low, best.high) == (-math.inf, 0.6)
    assert s.best_cut(0.5, "precision").high == 0.9
    assert s.best_cut(0.5, "precision").low == 0.8


def test_without_references_average_precision_is_undefined() -> None:
    s = pm.surface(pm.count_overlaps([0, 0], [1, 2]).with_confidence([0.3, 0.4]))
    assert math.isnan(s.average_precision(0.5))
    assert math.isnan(s.average_recall())
    assert s.at(0.5, 0.35).fp == 1
    empty = pm.surface(pm.count_overlaps([1, 0], [0, 0]).with_confidence([]))
    assert empty.average_precision(0.5) == 0
    nothing = pm.surface(pm.count_overlaps([0], [0]).with_confidence([]))
    with pytest.raises(OptionError, match="undefined at every cut"):
        nothing.best_cut(0.5)


def test_an_interval_needs_five_cases() -> None:
    parts = [pm.surface(two_lesions()) for _ in range(4)]
    few = pm.surface_interval(
        add_surfaces(parts), lambda s: s.average_precision(0.5), n_resamples=20
    )
    assert not few.is_defined
    many = pm.surface_interval(
        add_surfaces([*parts, pm.surface(pm.count_overlaps([1], [0]).with_confidence([]))]),
        lambda s: s.at(0.5, 0).recall,
        n_resamples=300,
    )
    assert 0.4 < many.low < many.high <= 2 / 3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda _: pm.surface(pm.count_overlaps([1], [1])), OverlapError, "with_confidence("),
        (lambda ov: pm.surface(ov).at(0.5, math.nan), OptionError, "cut=nan"),
        (lambda ov: pm.surface(ov).at(0.5, HIGH), OptionError, "cut='high' must be a number"),
        (lambda ov: pm.surface(ov).at(1.5, 0), PanmatchError, "threshold"),
        (lambda ov: pm.surface(ov) + pm.surface(ov, "one-to-many"), StrategyError, "same way"),
        (lambda ov: pm.surface(ov, "union"), StrategyError, "count_region_overlaps"),
        (lambda ov: pm.surface(ov).weighted([1, 2]), OptionError, "each of the 1 cases"),
        (lambda ov: pm.surface(ov).average_precision(0.5, ELEVEN), OptionError, "interp"),
        (lambda _: add_surfaces([]), OptionError, "at least one case"),
        (lambda _: pm.surface(LABELS), PanmatchError, "not an Overlap"),
    ],
)  # fmt: skip
def test_errors_name_the_argument(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(two_lesions())  # type: ignore[operator]
