"""Graphs of many objects: mistakes first, one-to-one matches folded, nothing lost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.playground import View
from panmatch.playground._answers import describe
from panmatch.playground._graph_groups import MOST_UNGROUPED, GraphGroups
from panmatch.playground._matching_rows import MatchingGraph
from panmatch.playground._sources import CountedOverlap
from panmatch.playground._validation import Message

Strategy = pm.OneToOne | pm.ManyToOne


def groups_of(
    table: npt.ArrayLike, refs: list[int], preds: list[int], strategy: Strategy | None = None
) -> GraphGroups:
    overlap = pm.Overlap.from_dense(np.asarray(table), refs, preds)
    matching = pm.match(overlap, strategy or pm.OneToOne(), 0.5)
    return GraphGroups.of(MatchingGraph.of(overlap, matching))


def as_lists(groups: GraphGroups) -> tuple[list[list[list[int]]], list[list[int]], list[list[int]]]:
    errors = [[side.tolist() for side in group] for group in groups.errors]
    return errors, [side.tolist() for side in groups.alone], groups.clean.tolist()


def test_a_match_is_clean_and_what_overlaps_nothing_is_alone() -> None:
    groups = groups_of([[90, 0], [0, 0]], [100, 50], [100, 30])
    assert as_lists(groups) == ([], [[1], [1]], [[0, 0]])
    assert groups.clean_iou.tolist() == [90 / 110]


def test_matches_are_listed_by_rising_iou() -> None:
    groups = groups_of(np.diag([80, 100, 90]), [100] * 3, [100] * 3)
    assert groups.clean.tolist() == [[0, 0], [2, 2], [1, 1]]


def test_a_split_object_is_a_mistake_under_every_strategy() -> None:
    table = [[60, 35, 0], [0, 0, 99]]
    for strategy in (pm.OneToOne(), pm.ManyToOne()):
        groups = groups_of(table, [100, 100], [60, 35, 100], strategy)
        assert as_lists(groups) == ([[[0], [0, 1]]], [[], []], [[1, 2]])


def test_an_unmatched_overlap_is_one_group() -> None:
    assert as_lists(groups_of([[30]], [100], [100])) == ([[[0], [0]]], [[], []], [])


@pytest.mark.parametrize(("shared", "together"), [(9, False), (10, True)])
def test_an_overlap_counts_from_a_tenth_of_the_smaller_object(shared: int, together: bool) -> None:
    errors, alone, _ = as_lists(groups_of([[shared]], [1000], [100]))
    assert (errors, alone) == (([[[0], [0]]], [[], []]) if together else ([], [[0], [0]]))


def test_neighbours_that_touch_stay_clean_if_all_are_matched() -> None:
    groups = groups_of([[80, 15], [15, 80]], [100, 100], [100, 100])
    assert as_lists(groups) == ([], [[], []], [[0, 0], [1, 1]])


def test_the_largest_group_comes_first_and_predictions_follow_their_reference() -> None:
    table = np.zeros((4, 5), int)
    table[0, 0] = 20
    table[1, 4], table[1, 2], table[2, 1], table[2, 4] = 40, 30, 45, 10
    groups = groups_of(table, [100] * 4, [100] * 5)
    errors, alone, _ = as_lists(groups)
    assert errors == [[[1, 2], [2, 4, 1]], [[0], [0]]]
    assert alone == [[3], [3]]


def summary(found: Message) -> list[int]:
    groups = found["groups"]
    listed = [len(side) for group in groups["errors"] for side in group]
    return [sum(listed), len(groups["alone"][0]) + len(groups["alone"][1]), len(groups["clean"])]


def test_every_object_is_in_one_group_and_the_summary_is_that_of_the_matches() -> None:
    labels = phantoms.blobs((300, 300), 80, radius=(5, 9), gap=2, seed=1)
    prediction = phantoms.shift(labels, (2, 1))
    prediction = phantoms.miss(prediction, ids=[3, 4, 5])
    overlap = pm.count_overlaps(labels, prediction)
    found = describe(CountedOverlap(overlap), View())
    groups, edges = found["groups"], found["edges"]
    refs = [row for group in groups["errors"] for row in group[0]] + groups["alone"][0]
    refs += [ref for ref, _ in groups["clean"]]
    assert sorted(refs) == list(range(80))
    assert {2, 3, 4} <= {*groups["alone"][0], *(r for g in groups["errors"] for r in g[0])}
    iou = {(ref, pred): value for ref, pred, _, value, _, chosen in edges if chosen}
    clean = [iou[ref, pred] for ref, pred in groups["clean"]]
    assert clean == sorted(clean)
    assert groups["matches"] == {
        "count": len(clean), "mean_iou": pytest.approx(sum(clean) / len(clean), rel=1e-12),
        "least_iou": clean[0],
    }  # fmt: skip
    assert found["fates"] is None


def test_few_objects_are_not_grouped() -> None:
    for n in (MOST_UNGROUPED, MOST_UNGROUPED + 1):
        overlap = pm.Overlap.from_dense(np.diag([9] * n), [10] * n, [10] * n)
        found = describe(CountedOverlap(overlap), View())
        assert (found["groups"] is None) is (n == MOST_UNGROUPED)


def test_of_too_many_objects_mistakes_are_listed_and_all_fates_are_told() -> None:
    n = 1_500
    shared = np.full(n, 90)
    shared[1_400:] = 20  # the last hundred do not match
    ring = np.arange(n)
    everything = np.full(n, 100)
    overlap = pm.Overlap.from_columns(
        {"ref_ids": ring + 1, "ref_sizes": everything, "pred_ids": ring + 1,
         "pred_sizes": everything, "pred_void": np.zeros(n, int), "edge_ref": ring,
         "edge_pred": ring, "edge_intersection": shared}
    )  # fmt: skip
    found = describe(CountedOverlap(overlap), View())
    ids = [one["id"] for one in found["vertices"]["reference"]]
    assert ids == [*range(1, 901), *range(1_401, 1_501)]
    assert summary(found) == [200, 0, 900]
    assert found["groups"]["matches"]["count"] == 1_400
    states = {one["id"]: one["state"] for one in found["vertices"]["prediction"]}
    assert all(states[number] == "fp" for number in range(1_401, 1_501))
    for ref, pred, *_ in found["edges"]:
        assert ids[ref] == found["vertices"]["prediction"][pred]["id"]
    assert found["fates"] == {
        "reference": "t" * 1_400 + "n" * 100, "prediction": "m" * 1_400 + "f" * 100,
        "chosen": [list(range(1_400)), list(range(1_400))],
    }  # fmt: skip
