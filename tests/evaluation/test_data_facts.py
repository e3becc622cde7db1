"""Facts are counted by the letter, and add over cases in any order."""

from __future__ import annotations

import math
from dataclasses import fields
from itertools import permutations

import numpy as np
import pytest

import panmatch as pm
from panmatch.evaluation import DataFacts, SeenObjects, find_facts
from panmatch.evaluation._data_facts import iou_one_voxel_wider
from tests import scenes

ONE, JOINED, SHARED = "one-to-one (optimal)", "many-to-one (merge, seed)", "one-to-many (optimal)"


def values(facts: DataFacts) -> dict[str, object]:
    """Return everything as plain values that compare."""
    found: dict[str, object] = {}
    for one in fields(facts):
        value = getattr(facts, one.name)
        if one.name == "curves":
            value = {
                name: (curve.thresholds.tolist(), curve.pq.tolist())
                for name, curve in value.items()
            }
        elif isinstance(value, np.ndarray):
            value = value.tolist()
        found[one.name] = value
    return found


def test_a_split_object_is_counted_with_its_pieces() -> None:
    facts = find_facts(scenes.SPLIT)
    assert (facts.n_split, facts.n_pieces) == (1, 3)
    assert (facts.n_merged, facts.n_covered, facts.n_reaching) == (0, 0, 0)
    assert facts.best_ious.tolist() == [0.5]
    assert facts.pq(ONE, 0.4) == 0.5 / 2
    assert facts.pq(JOINED, 0.4) == 1
    assert facts.pq(JOINED, 0.5) == 0  # no piece passes, so there is nothing to begin with


def test_a_merged_prediction_is_counted_with_its_references() -> None:
    facts = find_facts(scenes.MERGED)
    assert (facts.n_merged, facts.n_covered, facts.n_reaching) == (1, 2, 1)
    assert (facts.n_split, facts.n_pieces) == (0, 0)
    assert facts.best_ious.tolist() == [0.4, 0.6]
    assert facts.pq(ONE, 0.3) == 0.6 / 1.5
    assert facts.pq(SHARED, 0.3) == (0.4 + 0.6) / 2


def test_a_prediction_that_spills_over_reaches_two_references_and_merges_none() -> None:
    facts = find_facts(scenes.overlap("aaaabbbb", "aaaaabbb"))
    assert (facts.n_reaching, facts.n_merged) == (1, 0)


def test_missed_and_spurious_objects_are_counted() -> None:
    assert find_facts(scenes.MISSED).n_missed == 1
    assert find_facts(scenes.MISSED).best_ious.tolist() == [0, 1]
    assert find_facts(scenes.SPURIOUS).n_spurious == 1


def test_equal_ids_are_counted_among_pairs_above_a_half() -> None:
    facts = find_facts(scenes.overlap("aaaa.bbbb.cccc", "aaaa.cccc.b..."))
    assert (facts.n_partners, facts.n_same_id) == (2, 1)
    assert (facts.without_ids().n_partners, facts.without_ids().n_same_id) == (0, 0)


def test_an_empty_case_is_a_case_without_references_per_case() -> None:
    facts = find_facts(scenes.EMPTY, n_voxels=10)
    assert (facts.n_cases, facts.n_empty_cases, facts.refs_per_case.tolist()) == (1, 1, [])
    assert math.isnan(facts.pq(ONE, 0.5))
    without = find_facts(scenes.NO_REFERENCE)
    assert (without.n_empty_cases, without.refs_per_case.tolist()) == (0, [0])


def test_parts_have_a_curve_of_their_own() -> None:
    image, parts = np.array([1, 1, 1, 1]), np.array([1, 1, 2, 2])
    overlap = pm.count_part_overlaps(image, image, parts, np.array([1, 2, 2, 2]))
    facts = find_facts(overlap)
    assert facts.part_curve is not None
    assert facts.pq(ONE, 0.5) == 1
    assert facts.part_curve.at(0.5).pq < 1
    assert find_facts(scenes.PERFECT).part_curve is None


def test_regions_add_a_row_only_where_they_were_counted() -> None:
    ref, pred = np.array([1, 1, 1, 1, 2, 2, 2, 2]), np.ones(8, np.int64)
    cut = pm.count_region_overlaps(ref, pred)
    facts = find_facts(pm.count_overlaps(ref, pred), cut)
    assert facts.pq("union", 0.5) == 1
    assert facts.pq(ONE, 0.5) == 0
    alone = find_facts(scenes.MERGED)
    assert "union" not in alone.curves
    assert "union" not in (facts + alone).curves


def test_facts_add_to_the_same_in_any_order() -> None:
    cases = [
        find_facts(overlap, n_voxels=12, n_axes=2, seen=SeenObjects(1, 2, 3))
        for overlap in (scenes.SPLIT, scenes.MERGED, scenes.SHIFTED, scenes.EMPTY)
    ]
    first, *others = [values(sum(order[1:], start=order[0])) for order in permutations(cases)]
    assert all(other == first for other in others)
    assert first["n_cases"] == 4
    assert first["n_empty_cases"] == 1
    assert first["refs_per_case"] == [1, 2, 2]
    assert (first["touching_refs"], first["touching_preds"], first["components"]) == (4, 8, 12)
    total = sum(cases[1:], start=cases[0])
    assert total.curves[ONE].at(0.3) == sum(
        (
            pm.match(one, threshold=0.3).tally
            for one in (scenes.SPLIT, scenes.MERGED, scenes.SHIFTED)
        ),
        start=pm.Tally(0, 0, 0, 0.0),
    )


def test_what_one_case_does_not_know_the_sum_does_not_know() -> None:
    known = find_facts(scenes.SPLIT, seen=SeenObjects(0, 1, 1))
    assert (known + find_facts(scenes.SPLIT)).touching_refs is None


def test_filled_is_the_share_of_voxels_in_references() -> None:
    assert find_facts(scenes.PERFECT, n_voxels=10).filled == 0.8
    assert find_facts(scenes.PERFECT).filled == 0  # nobody said how many voxels there are


@pytest.mark.parametrize(("axes", "limit"), [(2, 18.31), (3, 238.54)])
def test_one_voxel_more_halves_the_iou_of_balls_below_a_size(axes: int, limit: float) -> None:
    below, above = iou_one_voxel_wider(np.array([math.floor(limit), math.ceil(limit)]), axes)
    assert below < 0.5 < above


def test_the_ball_in_one_dimension_is_a_line() -> None:
    assert iou_one_voxel_wider(np.array([4]), 1).tolist() == [pytest.approx(4 / 6)]


def test_plain_data_hold_counts_and_quartiles() -> None:
    found = find_facts(scenes.SHIFTED, n_voxels=12).to_dict()
    assert found["n_references"] == 2
    assert found["ref_sizes"] == {
        "least": 4, "lower_quartile": 4, "median": 4, "upper_quartile": 4, "most": 4,
    }  # fmt: skip
    assert math.isnan(find_facts(scenes.EMPTY).to_dict()["ref_sizes"]["median"])


def test_facts_and_anything_else_do_not_add() -> None:
    with pytest.raises(TypeError):
        find_facts(scenes.SPLIT) + 1  # type: ignore[operator]
