"""SEG, DET and symmetric best Dice: by hand, by brute force over sets of voxels, and pooled."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch import related
from panmatch.errors import LabelError
from panmatch.related._registry import share
from tests import scenes
from tests.hypothesis_scenes import label_pairs

Labels = npt.NDArray[np.integer[Any]]
Sets = list[set[int]]

NAMES = ["seg", "det", "symmetric_best_dice"]


def objects(image: Labels) -> Sets:
    """Return the voxels of every object."""
    flat = image.ravel().tolist()
    return [{i for i, label in enumerate(flat) if label == g} for g in set(flat) - {0}]


def finds(p: set[int], g: set[int]) -> bool:
    return 2 * len(p & g) > len(g)


def brute_seg(refs: Sets, preds: Sets) -> Fraction | float:
    if not refs:
        return math.nan
    found = [Fraction(len(g & p), len(g | p)) for g in refs for p in preds if finds(p, g)]
    return sum(found, Fraction(0)) / len(refs)


def brute_det(refs: Sets, preds: Sets) -> tuple[int, int]:
    """Return AOGM and AOGM₀, operation by operation."""
    cost = 0
    for g in refs:
        cost += 0 if any(finds(p, g) for p in preds) else 10
    for p in preds:
        has = sum(finds(p, g) for g in refs)
        cost += 1 if has == 0 else 5 * (has - 1)
    return cost, 10 * len(refs)


def brute_best_dice(one: Sets, other: Sets) -> Fraction:
    best = [
        max((Fraction(2 * len(a & b), len(a) + len(b)) for b in other), default=Fraction(0))
        for a in one
    ]
    return sum(best, Fraction(0)) / len(one)


@given(label_pairs())
def test_scores_by_brute_force(pair: tuple[Labels, Labels]) -> None:
    overlap = pm.count_overlaps(*pair)
    refs, preds = (objects(image) for image in pair)
    assert related.seg(overlap) == pytest.approx(float(brute_seg(refs, preds)), nan_ok=True)
    cost, scratch = brute_det(refs, preds)
    det = 1 - min(cost, scratch) / scratch if scratch else math.nan
    assert related.det(overlap) == pytest.approx(det, nan_ok=True)
    sides = [brute_best_dice(a, b) for a, b in ((refs, preds), (preds, refs)) if a]
    sbd = float(min(sides)) if sides else math.nan
    assert related.symmetric_best_dice(overlap) == pytest.approx(sbd, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_nan_missing_everything_is_0_and_equality_is_1(name: str) -> None:
    score = getattr(related, name)
    assert math.isnan(score(scenes.EMPTY))
    assert score(scenes.NO_PREDICTION) == 0
    assert score(scenes.PERFECT) == 1


def test_without_references_seg_and_det_are_undefined_and_best_dice_is_0() -> None:
    assert math.isnan(related.seg(scenes.NO_REFERENCE))
    assert math.isnan(related.det(scenes.NO_REFERENCE))
    assert related.symmetric_best_dice(scenes.NO_REFERENCE) == 0


def test_canonical_scenes_by_hand() -> None:
    assert related.seg(scenes.SHIFTED) == 0.3  # 3 of 4 are covered, but only 2 of 4 of the other
    assert related.det(scenes.SHIFTED) == 0.45  # a false negative and a false positive
    assert related.seg(scenes.SPLIT) == 0
    assert related.det(scenes.SPLIT) == 0  # 10 + 3, cut at 10
    assert related.seg(scenes.MERGED) == pytest.approx((4 / 10 + 6 / 10) / 2)
    assert related.det(scenes.MERGED) == 0.75  # one split
    assert related.seg(scenes.SPURIOUS) == 1  # false positives cost nothing
    assert related.det(scenes.SPURIOUS) == 0.9
    assert related.symmetric_best_dice(scenes.SPURIOUS) == 0.5
    assert related.symmetric_best_dice(scenes.MISSED) == 0.5
    best = [10 / 15, 6 / 13, 4 / 12]  # of the three pieces with the one reference
    assert related.symmetric_best_dice(scenes.SPLIT) == pytest.approx(sum(best) / 3)
    assert related.symmetric_best_dice(scenes.MERGED) == pytest.approx((8 / 14 + 12 / 16) / 2)


def test_half_of_a_reference_is_not_enough() -> None:
    half = scenes.overlap("aaaa......", "..aa......")
    assert (related.seg(half), related.det(half)) == (0, 0)
    more = scenes.overlap("aaaa......", ".aaa......")
    assert (related.seg(more), related.det(more)) == (0.75, 1)
    # Two halves are not enough either: neither finds the reference, both are false.
    halves = scenes.overlap("aaaa..bbbb", "aabb..cccc")
    assert related.seg(halves) == 0.5
    assert related.det(halves) == 1 - (10 + 2) / 20


def test_share_of_the_reference_decides_and_not_iou() -> None:
    wide = scenes.overlap(".....aaa..", "aaaaaaaaaa")
    assert pm.match(wide).tally.tp == 0
    assert (related.seg(wide), related.det(wide)) == (0.3, 1)


def test_a_prediction_of_n_references_costs_n_minus_1_splits() -> None:
    overlap = scenes.overlap("aabbccddee", "ffffffgggg")
    assert related.det.average(overlap) == share(50 - 5 * 3, 50)


def test_predictions_in_void_are_not_false() -> None:
    reference, prediction = np.array([1, 1, 0, 0, 0]), np.array([1, 1, 0, 2, 2])
    assert related.det(pm.count_overlaps(reference, prediction)) == 0.9
    void = np.array([0, 0, 0, 1, 1], bool)
    assert related.det(pm.count_overlaps(reference, prediction, void)) == 1


def side_by_side(pairs: list[tuple[Labels, Labels]]) -> pm.Overlap:
    """Count cases as one image, with ids that differ from case to case."""

    def joined(images: tuple[Labels, ...]) -> Labels:
        flat = [np.ravel(image) for image in images]
        return np.concatenate([np.where(f > 0, f + 100 * i, 0) for i, f in enumerate(flat)])

    references, predictions = zip(*pairs, strict=True)
    return pm.count_overlaps(joined(references), joined(predictions))


@given(st.lists(label_pairs(), min_size=1, max_size=4))
def test_pooled_seg_is_that_of_all_references(pairs: list[tuple[Labels, Labels]]) -> None:
    pooled: Any = sum(related.seg.average(pm.count_overlaps(*pair)) for pair in pairs)
    assert pooled == related.seg.average(side_by_side(pairs))


@given(st.lists(label_pairs(), min_size=1, max_size=4))
def test_pooled_det_is_cut_case_by_case(pairs: list[tuple[Labels, Labels]]) -> None:
    pooled: Any = sum(related.det.average(pm.count_overlaps(*pair)) for pair in pairs)
    costs = [brute_det(*map(objects, pair)) for pair in pairs]
    saved = sum(scratch - min(cost, scratch) for cost, scratch in costs)
    assert pooled == share(saved, sum(scratch for _, scratch in costs))
    whole = related.det.average(side_by_side(pairs))
    assert pooled.units >= whole.units
    if all(cost <= scratch for cost, scratch in costs):
        assert pooled == whole


@given(st.lists(label_pairs(), min_size=1, max_size=4))
def test_pooled_best_dice_is_the_mean_of_cases(pairs: list[tuple[Labels, Labels]]) -> None:
    found: Any = [related.symmetric_best_dice.average(pm.count_overlaps(*pair)) for pair in pairs]
    values = [one.value for one in found if not math.isnan(one.value)]
    assert sum(found).value == pytest.approx(np.mean(values) if values else math.nan, nan_ok=True)
    assert sum(found).skipped == len(pairs) - len(values)


@given(label_pairs())
def test_best_dice_is_symmetric(pair: tuple[Labels, Labels]) -> None:
    one = related.symmetric_best_dice(pm.count_overlaps(*pair))
    other = related.symmetric_best_dice(pm.count_overlaps(*pair[::-1]))
    assert one == pytest.approx(other, nan_ok=True)


@given(label_pairs())
def test_seg_is_at_least_the_iou_of_matches_above_half(pair: tuple[Labels, Labels]) -> None:
    """IoU > ½ means that more than half of the reference is covered, so PQ's matches are SEG's."""
    overlap = pm.count_overlaps(*pair)
    tally = pm.match(overlap, threshold=0.5).tally
    if len(overlap.ref_ids):
        assert related.seg(overlap) * len(overlap.ref_ids) >= tally.quality - 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_an_image_is_not_an_overlap(name: str) -> None:
    image: Any = np.array([1, 1])
    with pytest.raises(LabelError, match="not an Overlap"):
        getattr(related, name)(image)
