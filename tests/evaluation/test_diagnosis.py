"""What went wrong: split, merged, missed and spurious objects, and true positives near τ."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import panmatch as pm
from panmatch.evaluation import diagnose
from panmatch.evaluation._diagnosis import count_near_threshold
from tests import scenes
from tests.evaluation.by_hand import columns_of, mistakes, near_threshold, only
from tests.hypothesis_scenes import overlaps
from tests.strategies import BY_NAME

NAMES = ("split", "merged", "missed", "spurious")


def found_in(overlap: pm.Overlap) -> dict[str, list[int]]:
    found = diagnose(overlap)
    return {name: getattr(found, name).tolist() for name in NAMES}


def found_in_strips(reference: str, prediction: str) -> dict[str, list[int]]:
    """Return the mistakes there are; kinds without any are left out."""
    found = found_in(scenes.overlap(reference, prediction))
    return {name: ids for name, ids in found.items() if ids}


@pytest.mark.parametrize(
    ("reference", "prediction", "wrong"),
    [
        ("aaaa..bbbb", "aaaa..bbbb", {}),
        ("aaaaaaaaaa", "aaaaabbbcc", {"split": [1]}),
        ("aaaabbbbbb", "cccccccccc", {"merged": [3]}),
        ("aaaa..bbbb", "aaaa......", {"missed": [2]}),
        ("aaaa......", "aaaa..bbbb", {"spurious": [2]}),
        ("..........", "aaa..bbb..", {"spurious": [1, 2]}),
        ("aaa..bbb..", "..........", {"missed": [1, 2]}),
        ("..........", "..........", {}),
        # Side by side without contact: both.
        ("aaaa......", "......cccc", {"missed": [1], "spurious": [3]}),
        # Exactly half is not more than half, on either side: nobody belongs to anybody.
        ("aaaa....", "..cccc..", {"missed": [1], "spurious": [3]}),
        ("aaaa....", ".cccc...", {}),
        # All of b lies in a, though a is hardly covered: found, neither missed nor made up.
        ("aaaaaaaaaa", "b.........", {}),
        # Two halves of one prediction: each is exactly half of it, and all of each is in it.
        ("aabb", "cccc", {"merged": [3]}),
        # A prediction half in each of two references belongs to none, but they may have others.
        ("aaaabbbb", "ddccccee", {"spurious": [3]}),
        # Of two fragments one is only half inside: no split, and that one is spurious.
        ("aaaaaa..", "ccccdddd", {"spurious": [4]}),
        # Of three fragments two lie inside.
        ("aaaaaa...", "ccddeeeee", {"split": [1], "spurious": [5]}),
        # Split and merge at once.
        ("aaaaaabbccc", "dddeeefffff", {"split": [1], "merged": [6]}),
    ],
)
def test_scenes_drawn_by_hand(reference: str, prediction: str, wrong: dict[str, list[int]]) -> None:
    assert found_in_strips(reference, prediction) == wrong


@pytest.mark.parametrize("name", list(scenes.ALL))
def test_canonical_scenes_follow_the_definition(name: str) -> None:
    assert found_in(scenes.ALL[name]) == mistakes(scenes.ALL[name])


@given(overlaps())
def test_random_scenes_follow_the_definition(overlap: pm.Overlap) -> None:
    assert found_in(overlap) == mistakes(overlap)


def test_predictions_that_void_dismisses_are_not_spurious() -> None:
    prediction = np.array([5, 5, 5, 0, 6, 6, 6, 6])
    void = [1, 1, 0, 0, 1, 1, 0, 0]
    found = found_in(pm.count_overlaps(np.zeros(8, int), prediction, void=void))
    assert found["spurious"] == [6]  # half in void is not more than half


def test_void_voxels_do_not_count() -> None:
    """Of prediction 5 one voxel of two outside void lies in the reference: not more than half."""
    reference, prediction = np.array([1, 1, 1, 0, 0]), np.array([0, 0, 5, 5, 5])
    assert found_in(pm.count_overlaps(reference, prediction, void=[0, 0, 0, 0, 1])) == {
        "split": [], "merged": [], "missed": [1], "spurious": [5],
    }  # fmt: skip
    assert found_in(pm.count_overlaps(reference, prediction, void=[0, 0, 0, 1, 1])) == {
        "split": [], "merged": [], "missed": [], "spurious": [],
    }  # fmt: skip


def test_crowd_dismisses_and_a_case_holds_ids_and_counts() -> None:
    kinds = [pm.SegmentClass(24, "person")]
    reference = pm.from_cityscapes([[24001, 24001, 24002, 24002, 24, 24, 24, 24]], kinds)
    prediction = pm.from_cityscapes([[24005, 24005, 24005, 24005, 24007, 24007, 24008, 7]], kinds)
    case = pm.evaluate(reference=reference, prediction=prediction).cases[0]
    assert only(case, "diagnosis") == {
        "class": "person",
        "kind": "things",
        "split_ids": "",
        "merged_ids": "6",
        "missed_ids": "",
        "spurious_ids": "",
    }
    assert set(columns_of(case)["merged"]) == {1}
    assert set(columns_of(case)["spurious"]) == {0}


def test_ids_are_listed_with_blanks() -> None:
    case = pm.evaluate(reference=[0, 4, 0, 9, 0], prediction=[3, 0, 5, 0, 11]).cases[0]
    row = only(case, "diagnosis")
    assert (row["missed_ids"], row["spurious_ids"]) == ("4 9", "3 5 11")
    assert set(columns_of(case)["missed"]) == {2}
    assert set(columns_of(case)["spurious"]) == {3}


def one_pair(shared: int, ref: int, pred: int) -> pm.Overlap:
    return pm.Overlap.from_dense([[shared]], [ref], [pred])


@pytest.mark.parametrize(
    ("threshold", "shared", "size", "near"),
    [
        (0.5, 55, 100, 1),  # exactly τ + 0.05
        (0.5, 55_001, 100_000, 0),
        (0.5, 54_999, 100_000, 1),
        (0.5, 51, 100, 1),
        (0.5, 50, 100, 0),  # no true positive at all
        (0.1, 15, 100, 1),  # 0.1 + 0.05 is more than 0.15 in float64
        (0.25, 30, 100, 1),
        (0.12, 17, 100, 1),  # and 0.12 + 0.05 is less than 0.17
        (0.35, 40, 100, 1),
        (0.7, 75, 100, 1),
        (0.7, 750_001, 1_000_000, 0),
        (0.0, 5, 100, 1),
        (0.0, 50_001, 1_000_000, 0),
        (0.9, 95, 100, 1),
        (0.95, 100, 100, 1),
        (0.94, 100, 100, 0),
    ],
)
def test_near_reaches_up_to_five_hundredths_and_not_beyond(
    threshold: float, shared: int, size: int, near: int
) -> None:
    matching = pm.match(one_pair(shared, size, shared), threshold=threshold)
    assert count_near_threshold(matching) == near
    tau, score = Fraction(str(threshold)), Fraction(shared, size)
    assert near == (tau < score <= tau + Fraction("0.05"))


def test_a_reference_with_one_edge_far_above_is_not_near() -> None:
    table = [[60, 30], [0, 0]]
    overlap = pm.Overlap.from_dense(table, [100, 50], [60, 30])
    matching = pm.match(overlap, "many-to-one", 0.5)
    assert matching.pairs.tolist() == [[1, 1], [1, 2]]
    assert count_near_threshold(matching) == 0
    assert count_near_threshold(pm.match(overlap, "many-to-one", 0.56)) == 1


def test_near_is_judged_by_the_score_of_the_edges() -> None:
    overlap = one_pair(40, 60, 60)  # IoU 0.5, Dice 2/3
    assert count_near_threshold(pm.match(overlap, threshold=0.45)) == 1
    assert count_near_threshold(pm.match(overlap, threshold=0.45, score="dice")) == 0
    assert count_near_threshold(pm.match(overlap, threshold=0.62, score="dice")) == 1


@given(overlaps())
def test_near_equals_the_count_in_fractions(overlap: pm.Overlap) -> None:
    for strategy in BY_NAME.values():
        for threshold in ("0", "0.2", "0.5"):
            matching = pm.match(overlap, strategy, float(threshold))
            assert count_near_threshold(matching) == near_threshold(matching, threshold)
