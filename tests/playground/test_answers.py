"""The numbers of the page are those of the library, and its derivation adds up."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.labels import nearest_labels
from panmatch.matching import Quality, limbs_to_floats, optimality_gap, to_limbs
from panmatch.playground import Disc, Scene, View
from panmatch.playground._answers import answer_numbers, answer_object, describe
from panmatch.playground._sources import CountedOverlap, DrawnScene
from tests import scenes
from tests.playground import drawn_scenes
from tests.playground.drawn_scenes import MIXED, STRATEGIES, WAYS, Image, Mask, count, same

SOURCE = DrawnScene(MIXED)
THRESHOLD = 0.2


def view_of(name: str, regions: bool = False, parts: bool = False, **more: Any) -> View:
    return View(strategy=name, compared=(name,), threshold=THRESHOLD, regions=regions, parts=parts,
                **more)  # fmt: skip


@cache
def counted(regions: bool, parts: bool) -> pm.Overlap:
    return count(MIXED, View(regions=regions, parts=parts))


def tally_of(overlap: pm.Overlap, name: str, threshold: float) -> pm.Tally:
    """Return the tally that the page shows: by parts where there are any."""
    matching = pm.match(overlap, STRATEGIES[name], threshold)
    return matching.part_tally or matching.tally


@pytest.mark.parametrize(("name", "regions", "parts"), WAYS)
def test_the_tally_is_that_of_the_library(name: str, regions: bool, parts: bool) -> None:
    found = answer_numbers(SOURCE, view_of(name, regions, parts))["tally"]
    expected = tally_of(counted(regions, parts), name, THRESHOLD)
    for score in ("tp", "fp", "fn", "quality", "pq", "sq", "rq", "precision", "recall", "status"):
        assert found[score] == getattr(expected, score)


@pytest.mark.parametrize(("name", "regions", "parts"), WAYS)
def test_the_terms_add_up_to_the_quality(name: str, regions: bool, parts: bool) -> None:
    found = answer_numbers(SOURCE, view_of(name, regions, parts))
    terms = found["terms"]
    assert len(terms) == found["tally"]["tp"]
    qualities = np.array([term["quality"] for term in terms])
    assert (
        float(limbs_to_floats(to_limbs(np.array(qualities)).sum(axis=0)))
        == found["tally"]["quality"]
    )
    for term in terms:
        labels = term["parts"]
        assert (labels is not None) == parts
        if labels is None:
            assert term["quality"] == term["intersection"] / term["union"]
        else:
            ious = [label["intersection"] / label["union"] for label in labels]
            assert ious == [label["iou"] for label in labels]
            assert term["quality"] == pytest.approx(sum(ious) / len(ious), abs=1e-15)


@pytest.mark.parametrize(("name", "regions", "parts"), WAYS)
def test_who_is_matched_to_whom_is_what_the_library_says(
    name: str, regions: bool, parts: bool
) -> None:
    found = answer_numbers(SOURCE, view_of(name, regions, parts))
    matching = pm.match(counted(regions, parts), STRATEGIES[name], THRESHOLD)
    pairs = [[term["reference"], pred] for term in found["terms"] for pred in term["predictions"]]
    assert pairs == matching.pairs.tolist()
    references, predictions = found["vertices"]["reference"], found["vertices"]["prediction"]
    chosen = sorted(
        [references[edge[0]]["id"], predictions[edge[1]]["id"]]
        for edge in found["edges"]
        if edge[5]
    )
    assert chosen == matching.pairs.tolist()
    assert [one["id"] for one in references if one["state"] == "fn"] == matching.missed.tolist()
    false = [one["id"] for one in predictions if one["state"] == "fp"]
    assert false == matching.false_positives.tolist()
    matched = {one["id"] for one in predictions if one["state"] == "matched"}
    assert matched == set(matching.pairs[:, 1].tolist())


def term_by_pixels(
    term: dict[str, Any], images: tuple[Image, Image], regions: bool
) -> tuple[Mask, Mask]:
    """Return the reference of a term and the union of its predictions, as masks."""
    reference, prediction = images
    union = np.isin(prediction, term["predictions"])
    if regions:
        union &= nearest_labels(reference) == term["reference"]
    return reference == term["reference"], union


@pytest.mark.parametrize(
    ("name", "regions"),
    [("many-to-one/merge/seed", False), ("one-to-many/best", False),
     ("one-to-one/optimal", True), ("union", True)],
)  # fmt: skip
def test_a_term_counts_the_pixels_of_the_union(name: str, regions: bool) -> None:
    images = MIXED.label_images()
    for term in answer_numbers(SOURCE, view_of(name, regions))["terms"]:
        one, union = term_by_pixels(term, images, regions)
        assert term["intersection"] == np.count_nonzero(one & union)
        assert term["union"] == np.count_nonzero(one | union)


@pytest.mark.parametrize("background", ["image", "none"])
@pytest.mark.parametrize(("name", "regions"), [("many-to-one/merge/seed", False), ("union", True)])
def test_the_parts_of_a_term_are_counted_by_the_definition(
    name: str, regions: bool, background: str
) -> None:
    images, parts = MIXED.label_images(), MIXED.part_images()
    view = view_of(name, regions, True, background=background)
    terms = answer_numbers(SOURCE, view)["terms"]
    assert [len(term["predictions"]) for term in terms if term["reference"] in (1, 5)] == [2, 2]
    for term in terms:
        one, union = term_by_pixels(term, images, regions)
        maps = np.where(one, parts[0], 0), np.where(union, parts[1], 0)
        labels = [label for label in (1, 2, 3) if any((map_ == label).any() for map_ in maps)]
        labels += [0] * (background == "image")
        assert [label["part"] for label in term["parts"]] == labels
        for label in term["parts"]:
            on = [map_ == label["part"] for map_ in maps]
            assert label["intersection"] == np.count_nonzero(on[0] & on[1])
            assert label["union"] == np.count_nonzero(on[0] | on[1])


def test_parts_are_plain_iou_where_no_shape_has_any() -> None:
    plain = Scene((Disc(100, 100, 40),), (Disc(110, 100, 40),))
    found = answer_numbers(DrawnScene(plain), View(parts=True))
    assert found["terms"][0]["parts"] is None
    assert found["tally"] == answer_numbers(DrawnScene(plain), View())["tally"]


def test_a_prediction_mostly_in_void_is_dismissed() -> None:
    reference, prediction = np.array([1, 1, 0, 0, 0, 0, 0]), np.array([4, 4, 0, 6, 6, 6, 7])
    overlap = pm.count_overlaps(reference, prediction, void=np.array([0, 0, 0, 1, 1, 0, 0]))
    found = describe(CountedOverlap(overlap), View())["vertices"]["prediction"]
    assert [one["state"] for one in found] == ["matched", "dismissed", "fp"]


def test_edges_are_listed_by_falling_iou_and_pass_strictly_above_the_threshold() -> None:
    overlap = counted(False, False)
    half = float(np.sort(overlap.iou)[3])  # the IoU of an edge, which then does not pass
    found = answer_numbers(SOURCE, View(threshold=half))["edges"]
    order = np.lexsort((overlap.edges.pred, overlap.edges.ref, -overlap.iou))
    columns = (overlap.edges.ref, overlap.edges.pred, overlap.edges.intersection, overlap.iou)
    assert [edge[:4] for edge in found] == [
        list(row) for row in zip(*(column[order].tolist() for column in columns), strict=True)
    ]
    assert [edge[4] for edge in found] == [int(edge[3] > half) for edge in found]
    assert sum(edge[4] for edge in found) == 4


def test_pieces_of_a_prediction_are_edges_of_the_whole_prediction() -> None:
    found = answer_numbers(SOURCE, view_of("one-to-one/optimal", True))
    predictions = found["vertices"]["prediction"]
    assert [one["id"] for one in predictions] == list(range(1, 11))
    sizes = np.bincount(MIXED.label_images()[1].flat)[1:].tolist()
    assert [one["size"] for one in predictions] == sizes
    cut = counted(True, False)
    assert sorted([edge[0] + 1, edge[1] + 1, edge[2], edge[3]] for edge in found["edges"]) == [
        list(row)
        for row in zip(
            cut.ref_ids[cut.edges.ref].tolist(),
            cut.pred_ids[cut.edges.pred].tolist(),
            cut.edges.intersection.tolist(),
            cut.iou.tolist(),
            strict=True,
        )
    ]
    assert sorted([edge[0] + 1, edge[1] + 1] for edge in found["edges"] if edge[1] == 3) == [
        [3, 4],
        [4, 4],
    ]


def test_a_piece_in_a_matched_region_is_chosen_even_if_it_overlaps_nothing() -> None:
    edges = answer_numbers(SOURCE, view_of("union", True))["edges"]
    assert [3, 6, 0, 0.0, 1, 1] in edges
    none = answer_numbers(SOURCE, View(strategy="union", threshold=0.9, regions=True))["edges"]
    assert not any(edge[4] or edge[5] or edge[2] == 0 for edge in none)


@pytest.mark.parametrize(("name", "regions", "parts"), WAYS)
def test_curves_and_table_are_those_of_the_library(name: str, regions: bool, parts: bool) -> None:
    found = answer_numbers(SOURCE, view_of(name, regions, parts))
    quality: Quality = "parts" if parts else "iou"
    steps = pm.curve(counted(regions, parts), STRATEGIES[name], quality=quality)
    (row,) = found["curves"]
    for column in ("thresholds", "pq", "sq", "rq", "tp", "fp", "fn"):
        assert row[column] == getattr(steps, column).tolist()
    assert row["ap"] == (steps.tp / (steps.tp + steps.fp + steps.fn)).tolist()
    for area in ("autc", "autc_sq", "autc_rq"):
        assert row[area] == getattr(steps, area)
    optimal = name == "one-to-one/optimal"
    assert row["sorted_ap"] == (steps.sorted_ap if optimal else None)
    table = found["table"]
    assert table["thresholds"] == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    for at, threshold in enumerate(table["thresholds"]):
        expected = tally_of(counted(regions, parts), name, threshold)
        got = table["rows"][0]
        assert got["pq"][at] == expected.pq
        assert [got[key][at] for key in ("tp", "fp", "fn")] == [
            expected.tp, expected.fp, expected.fn
        ]  # fmt: skip


def test_there_is_a_curve_for_every_compared_strategy_in_their_order() -> None:
    names = ("union", "same-id", "one-to-many/best")
    found = answer_numbers(SOURCE, View(compared=names, regions=True))
    assert tuple(row["strategy"] for row in found["curves"]) == names
    assert tuple(row["strategy"] for row in found["table"]["rows"]) == names
    assert answer_numbers(SOURCE, View(compared=()))["curves"] == []


def test_an_optimal_strategy_has_a_certificate_and_a_heuristic_its_shortfall() -> None:
    trap = CountedOverlap(scenes.GREEDY_TRAP)
    greedy = describe(trap, View(strategy="one-to-one/greedy", threshold=0.0))
    gap = optimality_gap(scenes.GREEDY_TRAP, "one-to-one", 0.0)
    assert greedy["certificate"] is None
    assert greedy["shortfall"] == {
        "optimal": "one-to-one/optimal", "pq": gap.optimal, "proven": True
    }  # fmt: skip
    assert greedy["tally"]["pq"] == gap.heuristic < gap.optimal
    best = describe(trap, View(strategy="one-to-one/optimal", threshold=0.0))
    assert best["shortfall"] is None
    assert best["certificate"]["value"] == gap.optimal
    assert best["certificate"]["proven"]
    assert best["certificate"]["bound"] - best["certificate"]["value"] == pytest.approx(
        best["certificate"]["gap"]
    )


@pytest.mark.parametrize(
    ("name", "optimal"),
    [("many-to-one/merge/seed", "many-to-one/optimal/seed"),
     ("many-to-one/merge/edge", "many-to-one/optimal/edge"),
     ("one-to-many/best", "one-to-many/optimal"), ("same-id", None)],
)  # fmt: skip
def test_the_shortfall_is_against_the_optimum_of_the_same_strategy(
    name: str, optimal: str | None
) -> None:
    found = answer_numbers(SOURCE, view_of(name))["shortfall"]
    if optimal is None:
        assert found is None
        return
    best = pm.match(counted(False, False), STRATEGIES[optimal], THRESHOLD)
    assert found["optimal"] == optimal
    assert found["pq"] == best.tally.pq
    assert answer_numbers(SOURCE, view_of(name, parts=True))["shortfall"] is None


def test_no_optimum_is_searched_for_where_it_would_be_felt() -> None:
    n = 61
    row = pm.Overlap.from_dense(np.eye(n, dtype=int) * 3, [4] * n, [5] * n)
    found = {
        name: describe(CountedOverlap(row), View(strategy=name, threshold=0.0))["shortfall"]
        for name in ("many-to-one/merge/seed", "one-to-many/best", "one-to-one/greedy")
    }
    assert found["many-to-one/merge/seed"] is None
    assert found["one-to-many/best"]["pq"] == found["one-to-one/greedy"]["pq"] == 0.5


@pytest.mark.parametrize("scene", ["EMPTY", "ONLY_REFERENCES", "ONLY_PREDICTIONS"])
@pytest.mark.parametrize(("regions", "parts"), [(False, False), (False, True), (True, False)])
def test_undefined_numbers_are_null(scene: str, regions: bool, parts: bool) -> None:
    drawn = DrawnScene(getattr(drawn_scenes, scene))
    expected = count(drawn.scene, View(regions=regions, parts=parts))
    for name in STRATEGIES if regions else set(STRATEGIES) - {"union"}:
        found = answer_numbers(drawn, view_of(name, regions, parts))
        json.dumps(found, allow_nan=False)
        tally = tally_of(expected, name, 0.5)
        for score in ("pq", "sq", "rq", "precision", "recall"):
            assert same(found["tally"][score], getattr(tally, score))
        assert (found["tally"]["status"] == "empty") == (scene == "EMPTY")
        row, value = found["curves"][0], None if scene == "EMPTY" else 0.0
        assert row["thresholds"] == [0.0]
        assert row["pq"] == row["ap"] == [value]
        assert row["autc"] == row["autc_rq"] == value
        assert found["table"]["rows"][0]["rq"] == [value] * 10
        assert found["terms"] == found["edges"] == []


def test_exact_areas_are_used_if_asked_for() -> None:
    drawn = DrawnScene(drawn_scenes.DISCS)
    exact, counted_ = (answer_numbers(drawn, View(areas=areas)) for areas in ("analytic", "raster"))
    sizes = [one["size"] for one in exact["vertices"]["reference"]]
    assert sizes == pytest.approx([np.pi * 40**2, np.pi * 30**2], rel=1e-12)
    assert isinstance(counted_["vertices"]["reference"][0]["size"], int)
    for term in exact["terms"]:
        assert term["quality"] == term["intersection"] / term["union"]
    with pytest.raises(pm.PanmatchError, match="only for discs"):
        answer_numbers(SOURCE, View(areas="analytic"))


def test_of_a_large_graph_the_first_vertices_and_the_best_edges_are_listed() -> None:
    n = 2_500
    ring = np.arange(n)
    table = {(i, i): 60 for i in ring} | {(i, (i + 1) % n): 20 for i in ring}
    ref, pred = (np.array([pair[side] for pair in sorted(table)]) for side in (0, 1))
    shared = np.array([table[pair] for pair in sorted(table)])
    everything = np.full(n, 100)
    overlap = pm.Overlap.from_columns(
        {"ref_ids": ring + 1, "ref_sizes": everything, "pred_ids": ring + 1,
         "pred_sizes": everything, "pred_void": np.zeros(n, int), "edge_ref": ref,
         "edge_pred": pred, "edge_intersection": shared}
    )  # fmt: skip
    found = describe(CountedOverlap(overlap), View(threshold=0.0))
    assert [one["id"] for one in found["vertices"]["prediction"]] == list(range(1, 1_001))
    assert len(found["edges"]) == 1_000 + 999  # the last of the ring leads to one left out
    assert found["left_out"] == {
        "reference": 1_500, "prediction": 1_500, "edges": 5_000 - 1_999, "terms": 1_500
    }  # fmt: skip
    assert [edge[3] for edge in found["edges"]] == sorted(
        (edge[3] for edge in found["edges"]), reverse=True
    )


def test_of_too_many_edges_those_not_chosen_go_first() -> None:
    shared = np.full((60, 60), 2) + np.triu(np.ones((60, 60), int)) - np.eye(60, dtype=int)
    overlap = pm.Overlap.from_dense(shared, [1_000] * 60, [1_000] * 60)
    found = describe(CountedOverlap(overlap), View(strategy="same-id", threshold=0.0))
    assert len(found["edges"]) == 2_000
    assert found["left_out"]["edges"] == 1_600
    assert sum(edge[5] for edge in found["edges"]) == 60  # the lowest IoU of all


def test_an_object_lists_its_partners_by_falling_iou() -> None:
    view = view_of("many-to-one/merge/seed")
    found = answer_object(SOURCE, view, "reference", 1)
    overlap = counted(False, False)
    assert found["state"] == "tp"
    assert found["size"] == overlap.ref_sizes[0]
    assert [partner["id"] for partner in found["partners"]] == [1, 2]
    assert [partner["iou"] for partner in found["partners"]] == overlap.iou[:2].tolist()
    assert all(partner["passes"] and partner["chosen"] for partner in found["partners"])
    shared = answer_object(SOURCE, view, "prediction", 4)
    assert [partner["id"] for partner in shared["partners"]] == [3, 4]
    assert [partner["chosen"] for partner in shared["partners"]] == [True, False]
    lonely = answer_object(SOURCE, view, "prediction", 7)
    assert (lonely["state"], lonely["partners"], lonely["centre"]) == ("fp", [], None)


def test_an_object_that_is_not_there_is_an_error() -> None:
    hidden = DrawnScene(Scene(reference=(Disc(100, 100, 20), Disc(100, 100, 30))))
    assert answer_object(hidden, View(), "reference", 2)["state"] == "fn"
    for side, number in (("reference", 1), ("reference", 3), ("prediction", 1)):
        with pytest.raises(pm.PanmatchError, match=f"no {side} {number}"):
            answer_object(hidden, View(), side, number)  # type: ignore[arg-type]


def test_numbers_of_another_threshold_come_from_the_same_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = DrawnScene(MIXED)
    answer_numbers(drawn, View())
    monkeypatch.setattr(DrawnScene, "count", None)
    low, high = (answer_numbers(drawn, View(threshold=t))["tally"]["tp"] for t in (0.1, 0.7))
    assert (low, high) == (5, 1)


def test_voronoi_regions_follow_the_references_while_objects_are_dragged() -> None:
    """Regions are taken over from the scene before as long as no reference moves."""
    view = View(regions=True, voronoi=True)
    prediction = (Disc(200, 120, 60), *MIXED.prediction[1:])
    reference = (*MIXED.reference[:-1], Disc(300, 200, 40))
    drawn = DrawnScene(MIXED)
    answer_numbers(drawn, view)
    for scene in (
        Scene(MIXED.reference, prediction),
        Scene(reference, prediction),
        Scene(reference, MIXED.prediction),
        Scene((), prediction),
        MIXED,
    ):
        drawn = DrawnScene(scene, drawn)
        assert answer_numbers(drawn, view) == answer_numbers(DrawnScene(scene), view)
        assert drawn.count(view) == pm.count_region_overlaps(*scene.label_images())
