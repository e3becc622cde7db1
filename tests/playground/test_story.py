"""What the tour, the multiples and the greedy walk are told is what the library says."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.playground import PRESETS, STRATEGIES, Scene, State, View
from panmatch.playground._request_handler import RequestHandler
from panmatch.playground._story import MOST_VISITS, all_edges_row
from panmatch.playground._tour import STEPS
from tests.playground.drawn_scenes import EMPTY, MIXED, count

FAMILIES = ("one-to-one/optimal", "many-to-one/merge/seed", "one-to-many/best")


def told(scene: Scene, view: View | None = None, **story: Any) -> dict[str, Any]:
    """Return the story of a scene as a page hears it."""
    state = State(scene, view or View(threshold=0.3)).to_dict()
    asked = {"ask": "numbers", "seq": 1, "state": state, "budget": False, "story": story}
    answer = json.loads(RequestHandler().answer(asked))
    assert answer["is"] == "numbers", answer
    found: dict[str, Any] = answer["story"]
    return found


def test_nothing_is_told_that_was_not_asked_for() -> None:
    assert told(MIXED, tag="here") == {
        "tag": "here",
        "scores": {},
        "families": None,
        "walk": None,
        "all_edges": None,
        "pieces": None,
    }
    asked = {"ask": "numbers", "seq": 1, "state": State(MIXED).to_dict()}
    assert "story" not in json.loads(RequestHandler().answer(asked))


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("regions", [False, True])
def test_families_have_the_matchings_of_the_library(regions: bool, parts: bool) -> None:
    view = View(threshold=0.3, regions=regions, parts=parts)
    overlap = count(MIXED, view)
    for row, name in zip(told(MIXED, view, families=True)["families"], FAMILIES, strict=True):
        matching = pm.match(overlap, STRATEGIES[name], 0.3)
        tally = matching.part_tally if parts else matching.tally
        assert tally is not None
        assert row["strategy"] == name
        assert row["pairs"] == matching.pairs.tolist()
        assert (row["tally"]["pq"], row["tally"]["fp"]) == (tally.pq, tally.fp)


def test_the_chosen_strategy_stands_for_its_family() -> None:
    view = View(strategy="many-to-one/optimal/edge", threshold=0.3)
    names = [row["strategy"] for row in told(MIXED, view, families=True)["families"]]
    assert names == ["one-to-one/optimal", "many-to-one/optimal/edge", "one-to-many/best"]
    union = View(strategy="union", threshold=0.3, regions=True)
    names = [row["strategy"] for row in told(MIXED, union, families=True)["families"]]
    assert tuple(names) == FAMILIES


def test_scores_are_told_for_the_strategies_that_are_named() -> None:
    scores = told(MIXED, scores=["same-id", "one-to-one/greedy"])["scores"]
    overlap = count(MIXED, View())
    for name in ("same-id", "one-to-one/greedy"):
        assert scores[name]["pq"] == pm.match(overlap, STRATEGIES[name], 0.3).tally.pq
    assert len(scores) == 2


@pytest.mark.parametrize(
    "name", ["one-to-one/greedy", "many-to-one/merge/seed", "many-to-one/merge/edge"]
)
def test_the_walk_ends_with_the_pairs_and_the_score_of_the_library(name: str) -> None:
    walk = told(MIXED, walk=name)["walk"]
    matching = pm.match(count(MIXED, View()), STRATEGIES[name], 0.3)
    taken = [
        [visit["reference"], visit["prediction"]]
        for visit in walk["visits"]
        if visit["decision"] in ("taken", "joined")
    ]
    assert sorted(taken) == matching.pairs.tolist()
    assert walk["pq"] == matching.tally.pq
    assert walk["optimum"]["pq"] >= walk["pq"]
    assert walk["optimum"]["optimal"].split("/")[:2] == [name.split("/")[0], "optimal"]
    assert walk["left_out"] == 0


def test_a_long_walk_is_cut_and_says_by_how_much() -> None:
    dense = next(preset.state.scene for preset in PRESETS if preset.id == "dense-cells")
    assert dense is not None
    walk = told(dense, walk="one-to-one/greedy")["walk"]
    edges = len(count(dense, View()).edges)
    assert edges > MOST_VISITS
    assert len(walk["visits"]) == MOST_VISITS
    assert walk["left_out"] == edges - MOST_VISITS


def test_all_edges_count_predictions_and_pixels_more_than_once() -> None:
    # R1 – P1 – R2 – P2, and R3 alone, with P3 alone: three edges above 0.1.
    overlap = pm.Overlap.from_dense(
        [[30, 0, 0], [20, 20, 0], [0, 1, 0]], ref_sizes=[50, 60, 40], pred_sizes=[50, 40, 7]
    )
    row = all_edges_row(overlap, 0.1)
    assert row == {
        "pairs": [[1, 1], [2, 1], [2, 2]],
        "references": {"counted": 3 + 1, "there": 3},
        "predictions": {"counted": 3 + 1, "there": 3},
        "pixels": {"counted": 50 + 50 + 40, "there": 50 + 40},
        "counted_twice": 50,
        "shared": 1,
        "groups": [
            {"kind": "n-m", "count": 1},
            {"kind": "reference", "count": 1},
            {"kind": "prediction", "count": 1},
        ],
    }


def test_groups_are_named_after_what_they_hold() -> None:
    overlap = pm.Overlap.from_dense(
        [[9, 0, 0, 0], [0, 5, 4, 0], [0, 0, 0, 5], [0, 0, 0, 4]],
        ref_sizes=[10, 10, 5, 5],
        pred_sizes=[10, 5, 5, 10],
    )
    kinds = {group["kind"]: group["count"] for group in all_edges_row(overlap, 0.1)["groups"]}
    assert kinds == {"1-1": 1, "1-n": 1, "n-1": 1}


def test_above_one_half_nothing_is_ever_counted_twice() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        shared = rng.integers(0, 9, (4, 4))
        overlap = pm.Overlap.from_dense(
            shared,
            shared.sum(axis=1) + rng.integers(0, 3, 4),
            shared.sum(axis=0) + rng.integers(0, 3, 4),
        )
        row = all_edges_row(overlap, 0.5)
        assert row["counted_twice"] == row["shared"] == 0
        assert row["references"]["counted"] == row["references"]["there"]
        assert row["predictions"]["counted"] == row["predictions"]["there"]


def test_exact_areas_and_empty_scenes_are_told_too() -> None:
    row = told(EMPTY, all_edges=True, families=True, walk="one-to-one/greedy", pieces=True)
    assert row["all_edges"]["groups"] == row["walk"]["visits"] == []
    assert row["families"][0]["tally"]["pq"] is None
    discs = STEPS[0].state.scene
    assert discs is not None
    exact = told(discs, View(threshold=0.1, areas="analytic"), all_edges=True)
    assert exact["all_edges"]["pixels"]["there"] == pytest.approx(np.pi * 105**2)


def test_pieces_are_the_regions_and_parts_of_the_images() -> None:
    view = View(threshold=0.3, regions=True, parts=True)
    pieces = told(MIXED, view, pieces=True)["pieces"]
    shape = pieces["height"], pieces["width"]
    assert shape == (181, 300)
    region = np.frombuffer(base64.b64decode(pieces["region"]), "<u2").reshape(shape)
    parts = np.frombuffer(base64.b64decode(pieces["parts"]), np.uint8).reshape(shape)
    reference = MIXED.label_images()[0][4::8, 4::8]
    assert (region[reference > 0] == reference[reference > 0]).all()
    reference_parts, prediction_parts = (image[4::8, 4::8] for image in MIXED.part_images())
    assert (parts % 16 == reference_parts).all()
    assert (parts // 16 == prediction_parts).all()
    matching = pm.match(count(MIXED, view), pm.OneToOne(), 0.3)
    iou = {row["reference"]: row["iou"] for row in pieces["iou"]}
    expected = dict(zip(matching.overlap.ref_ids.tolist(), matching.ref_quality, strict=True))
    assert iou == {number: value for number, value in expected.items() if value > 0}


def test_without_regions_there_are_no_pieces() -> None:
    assert told(MIXED, pieces=True)["pieces"] is None


def test_a_walk_that_is_not_greedy_is_refused() -> None:
    asked = {"ask": "numbers", "seq": 1, "state": State(MIXED).to_dict(), "story": {"walk": "x"}}
    answer = json.loads(RequestHandler().answer(asked))
    assert answer["problem"].startswith("story.walk='x' is not known.")
