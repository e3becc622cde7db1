"""Every preset shows what it says."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from panmatch.playground import PRESETS, STRATEGIES, Scene, View, exact_overlap
from panmatch.playground._presets import START, Preset
from panmatch.playground._states import SIDES

BY_ID = {preset.id: preset for preset in PRESETS}
CUT_BY_NATURE = ("dense-cells", "no-gaps")  # they go on beyond the canvas


def scene_of(name: str) -> Scene:
    scene = BY_ID[name].state.scene
    assert scene is not None
    return scene


def view_of(name: str) -> View:
    return BY_ID[name].state.view


def overlap_of(name: str) -> pm.Overlap:
    """Count what the view of a preset asks for."""
    scene, view = scene_of(name), view_of(name)
    images = scene.label_images()
    if view.parts:
        return pm.count_part_overlaps(*images, *scene.part_images(), background=view.background)
    return pm.count_region_overlaps(*images) if view.regions else pm.count_overlaps(*images)


def tally_of(name: str, strategy: str, threshold: float | None = None) -> pm.Tally:
    tau = view_of(name).threshold if threshold is None else threshold
    return pm.match(overlap_of(name), STRATEGIES[strategy], tau).tally


def counts(tally: pm.Tally) -> tuple[int, int, int]:
    return tally.tp, tally.fp, tally.fn


def test_the_presets_are_known_by_different_names() -> None:
    assert list(BY_ID) == [
        "figure-strategies",
        "figure-curve",
        "one-to-one",
        "many-to-one",
        "one-to-many",
        "same-id",
        "greedy-or-optimal",
        "merge-or-optimal",
        "knife-edge",
        "gates",
        "dense-cells",
        "split-lesion",
        "parts",
        "regions",
        "no-gaps",
        "small-objects",
        "noisy-reference",
        "confidence",
        "confidence-fragments",
    ]
    assert len({preset.title for preset in PRESETS}) == len(PRESETS)
    assert PRESETS[0].state == START


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: str(preset.id))
def test_a_preset_says_in_a_few_sentences_what_to_look_at(preset: Preset) -> None:
    assert preset.about.endswith(".")
    assert len(preset.about) <= 260
    assert not preset.title.endswith(".")


@pytest.mark.parametrize("name", [name for name in BY_ID if name not in CUT_BY_NATURE])
def test_a_preset_stands_in_the_middle_of_the_canvas_and_is_not_cut(name: str) -> None:
    images = scene_of(name).label_images()
    rows, columns = np.nonzero((images[0] > 0) | (images[1] > 0))
    assert columns.min() >= 12
    assert rows.min() >= 12
    assert columns.max() < 2400 - 12
    assert rows.max() < 1448 - 12
    if not name.startswith("figure"):
        assert abs(columns.min() + columns.max() - 2399) / 2 < 0.03 * 2400
        assert abs(rows.min() + rows.max() - 1447) / 2 < 0.07 * 1448
        assert columns.max() - columns.min() > 0.6 * 2400


@pytest.mark.parametrize("name", BY_ID)
def test_every_shape_of_a_preset_can_be_seen(name: str) -> None:
    scene = scene_of(name)
    for side, image in zip(SIDES, scene.label_images(), strict=True):
        sizes = np.bincount(image.ravel(), minlength=len(scene.shapes(side)) + 1)[1:]
        assert sizes.min() > 16 * 40


def test_figure_of_the_strategies_has_the_published_scores() -> None:
    exact = exact_overlap(scene_of("figure-strategies"))
    view = view_of("figure-strategies")
    assert view.strategy == "many-to-one/merge/seed"
    assert view.compared == ("many-to-one/merge/seed", "one-to-one/optimal", "one-to-many/best")
    assert view.curves == ("pq", "sq", "rq")
    assert (view.threshold, view.areas) == (0.2, "analytic")
    for strategy, pq in (
        ("one-to-one/optimal", 0.1954523997578219),
        ("many-to-one/merge/seed", 0.4597584491717964),
        ("one-to-many/best", 0.18714239255862222),
    ):
        found = pm.match(exact, STRATEGIES[strategy], view.threshold).tally.pq
        assert found == pytest.approx(pq, abs=1e-12)
        assert tally_of("figure-strategies", strategy).pq == pytest.approx(pq, abs=5e-4)
        assert (
            tally_of("figure-strategies", strategy).pq
            != tally_of("figure-strategies", "same-id").pq
        )


def test_pixels_lose_a_pair_that_exact_areas_keep() -> None:
    """Its IoU is a little above 0.6, and of its pixels a little below."""
    exact = exact_overlap(scene_of("figure-strategies"))
    assert pm.match(exact, pm.ManyToOne(), 0.6).tally.pq == pytest.approx(0.1087741, abs=1e-7)
    assert pm.match(overlap_of("figure-strategies"), pm.ManyToOne(), 0.6).tally.pq == 0


def test_figure_of_the_curve_opens_between_two_steps() -> None:
    view = view_of("figure-curve")
    assert (view.threshold, view.areas) == (0.49, "analytic")
    exact = exact_overlap(scene_of("figure-curve"))
    assert pm.match(exact, STRATEGIES[view.strategy], view.threshold).tally.tp == 2


def test_figure_of_the_curve_has_the_published_area() -> None:
    curve = pm.curve(exact_overlap(scene_of("figure-curve")), pm.OneToOne(solver="greedy"))
    assert view_of("figure-curve").strategy == "one-to-one/greedy"
    assert curve.autc == pytest.approx(0.3058536964682596, abs=1e-12)
    raster = pm.curve(overlap_of("figure-curve"), pm.OneToOne(solver="greedy"))
    assert raster.autc == pytest.approx(curve.autc, abs=5e-4)
    assert len(raster.thresholds) == 4  # one step per pair


def test_one_to_one_is_the_same_under_all_strategies() -> None:
    overlap = overlap_of("one-to-one")
    assert len(set(overlap.edges.ref.tolist())) == len(overlap.edges)
    assert len(set(overlap.edges.pred.tolist())) == len(overlap.edges) == 5
    left_out = ("same-id", "union")
    strategies = [
        name for name, one in STRATEGIES.items() if name not in left_out and one.quality == "iou"
    ]
    assert {counts(tally_of("one-to-one", name)) for name in strategies} == {(4, 2, 2)}
    assert len({tally_of("one-to-one", name).pq for name in strategies}) == 1
    assert counts(tally_of("one-to-one", "one-to-one/optimal", threshold=0.4)) == (5, 1, 1)


def test_many_to_one_takes_the_pieces_of_an_object_together() -> None:
    one = tally_of("many-to-one", "one-to-one/optimal")
    many = tally_of("many-to-one", "many-to-one/merge/seed")
    assert counts(one) == (2, 3, 0)
    assert counts(many) == (2, 0, 0)
    assert many.pq > one.pq + 0.3
    assert view_of("many-to-one").strategy == "many-to-one/merge/seed"


def test_one_to_many_finds_all_objects_under_one_prediction() -> None:
    assert counts(tally_of("one-to-many", "one-to-one/optimal")) == (2, 0, 2)
    assert counts(tally_of("one-to-many", "one-to-many/best")) == (4, 0, 0)
    assert (
        tally_of("one-to-many", "one-to-many/best").pq
        > tally_of("one-to-many", "one-to-one/optimal").pq
    )
    pairs = pm.match(
        overlap_of("one-to-many"), "one-to-many", view_of("one-to-many").threshold
    ).pairs
    assert pairs.tolist() == [[1, 1], [2, 1], [3, 1], [4, 2]]


def test_the_same_id_matters_where_numbers_were_swapped() -> None:
    assert counts(tally_of("same-id", "same-id")) == (2, 2, 2)
    assert counts(tally_of("same-id", "one-to-one/optimal")) == (4, 0, 0)
    pairs = pm.match(overlap_of("same-id"), pm.OneToOne()).pairs
    assert [tuple(pair) for pair in pairs] == [(1, 1), (2, 3), (3, 2), (4, 4)]


def test_greedy_leaves_neighbours_that_optimal_pairs() -> None:
    greedy = tally_of("greedy-or-optimal", "one-to-one/greedy")
    optimal = tally_of("greedy-or-optimal", "one-to-one/optimal")
    assert counts(greedy) == (2, 2, 2)
    assert counts(optimal) == (4, 0, 0)
    assert optimal.pq > 1.4 * greedy.pq


def test_merge_gives_a_prediction_to_the_wrong_one_of_two_objects() -> None:
    overlap = overlap_of("merge-or-optimal")
    merge = pm.match(overlap, pm.ManyToOne(), 0.3)
    optimal = pm.match(overlap, pm.ManyToOne(solver="optimal"), 0.3)
    assert view_of("merge-or-optimal").threshold == 0.3
    assert merge.pairs.tolist() == [[1, 1], [1, 2], [2, 3]]
    assert optimal.pairs.tolist() == [[1, 1], [2, 2], [2, 3]]
    assert optimal.tally.pq > merge.tally.pq + 0.03
    assert optimal.certificate is not None
    assert optimal.certificate.proven


def test_the_knife_edge_is_a_single_pixel_wide() -> None:
    overlap = overlap_of("knife-edge")
    assert overlap.edges.ref.tolist() == overlap.edges.pred.tolist() == [0, 1]
    shared = overlap.edges.intersection
    union = overlap.ref_sizes + overlap.pred_sizes - shared
    assert (2 * shared - union).tolist() == [0, 1]
    assert overlap.iou[0] == 0.5 < overlap.iou[1] < 0.500002
    assert pm.match(overlap, "one-to-one", view_of("knife-edge").threshold).pairs.tolist() == [
        [2, 2]
    ]


def test_the_seed_gate_takes_what_the_edge_gate_refuses() -> None:
    overlap = overlap_of("gates")
    seed = pm.match(overlap, pm.ManyToOne(gate="seed"), 0.5)
    edge = pm.match(overlap, pm.ManyToOne(gate="edge"), 0.5)
    assert seed.pairs.tolist() == [[1, 1], [1, 2], [1, 3]]
    assert edge.pairs.tolist() == [[1, 1]]
    assert seed.tally.pq > 1.5 * edge.tally.pq


def test_dense_cells_have_all_kinds_of_errors() -> None:
    scene = scene_of("dense-cells")
    split, merged, missed, spurious = 9, 9, 9, 8
    assert len(scene.reference) == 127
    assert counts(tally_of("dense-cells", "one-to-one/optimal")) == (
        127 - missed - merged,
        spurious + split,
        missed + merged,
    )
    assert counts(tally_of("dense-cells", "many-to-one/merge/seed")) == (
        127 - missed - merged,
        spurious,
        missed + merged,
    )
    assert counts(tally_of("dense-cells", "one-to-many/best")) == (
        127 - missed,
        spurious + split,
        missed,
    )


def test_dense_cells_touch() -> None:
    reference, _ = scene_of("dense-cells").label_images()
    touching: set[tuple[int, int]] = set()
    for one, next_one in ((reference[:, :-1], reference[:, 1:]), (reference[:-1], reference[1:])):
        border = (one != next_one) & (one > 0) & (next_one > 0)
        pairs = np.sort(np.stack([one[border], next_one[border]]), axis=0)
        touching.update(zip(*np.unique(pairs, axis=1).tolist(), strict=True))
    assert len(touching) > 127
    assert 0.8 < (reference > 0).mean() < 0.97


def test_pieces_of_a_lesion_are_false_positives_only_under_one_to_one() -> None:
    one = pm.match(overlap_of("split-lesion"), "one-to-one", 0.2)
    many = pm.match(overlap_of("split-lesion"), "many-to-one", 0.2)
    assert view_of("split-lesion").threshold == 0.2
    assert counts(one.tally) == (3, 4, 1)
    assert counts(many.tally) == (3, 2, 1)
    assert many.pairs.tolist() == [[1, 1], [1, 2], [1, 3], [2, 4], [4, 5]]
    assert many.tally.pq > one.tally.pq + 0.15


def test_parts_tell_apart_what_outlines_do_not() -> None:
    scene = scene_of("parts")
    plain = pm.count_overlaps(*scene.label_images())
    assert np.ptp(plain.iou) < 1e-3
    assert plain.iou.min() > 0.9
    qualities = [
        part_tally(pm.match(overlap_of_one(scene, at), "one-to-one", 0.5)).quality
        for at in range(3)
    ]
    assert qualities[0] > 0.85
    assert qualities[0] > qualities[1] + 0.2
    assert qualities[0] > qualities[2] + 0.2
    by_parts = part_tally(pm.match(overlap_of("parts"), "one-to-one", 0.5))
    assert by_parts.quality == pytest.approx(sum(qualities), abs=0.01)
    assert pm.match(plain).tally.pq > by_parts.pq + 0.2


def part_tally(matching: pm.Matching) -> pm.Tally:
    assert matching.part_tally is not None
    return matching.part_tally


def overlap_of_one(scene: Scene, at: int) -> pm.Overlap:
    """Count the parts of one reference and the prediction at the same position."""
    only = Scene((scene.reference[at],), (scene.prediction[at],))
    return pm.count_part_overlaps(*only.label_images(), *only.part_images())


def test_regions_cut_a_prediction_that_spans_two_objects() -> None:
    assert view_of("regions").regions
    assert view_of("regions").voronoi
    cut = overlap_of("regions")
    whole = pm.count_overlaps(*scene_of("regions").label_images())
    assert (cut.pred_ids == 1).sum() == 2
    with_regions, without = pm.match(cut, "one-to-one", 0.5), pm.match(whole, "one-to-one", 0.5)
    assert with_regions.pairs.tolist() == [[1, 1], [2, 1], [3, 2]]
    assert without.pairs.tolist() == [[3, 2]]
    assert counts(pm.match(cut, pm.RegionUnion(), 0.5).tally) == (3, 0, 0)


def test_references_without_gaps_make_union_blind() -> None:
    assert counts(tally_of("no-gaps", "union")) == (5, 0, 0)
    assert tally_of("no-gaps", "union").pq == 1
    assert all((image > 0).all() for image in scene_of("no-gaps").label_images())
    whole = pm.count_overlaps(*scene_of("no-gaps").label_images())
    assert counts(pm.match(whole, threshold=0.5).tally) == (0, 1, 5)


def test_one_margin_halves_the_iou_of_small_objects_alone() -> None:
    margins = {
        round(found.r - true.r, 6)  # type: ignore[union-attr]
        for true, found in zip(
            scene_of("small-objects").reference, scene_of("small-objects").prediction, strict=True
        )
    }
    assert margins == {5}
    first, *small = overlap_of("small-objects").iou.tolist()
    assert first > 0.9
    assert 0.35 < min(small) < max(small) < 0.5
    assert counts(tally_of("small-objects", "one-to-one/optimal")) == (1, 6, 6)
    assert counts(tally_of("small-objects", "one-to-one/optimal", 0.1)) == (7, 0, 0)


def test_two_raters_agree_on_objects_and_not_on_outlines() -> None:
    iou = overlap_of("noisy-reference").iou
    assert 0.4 < iou.min() < 0.5 < iou.max() < 0.75
    assert counts(tally_of("noisy-reference", "one-to-one/optimal", 0.25)) == (6, 0, 0)
    assert counts(tally_of("noisy-reference", "one-to-one/optimal")) == (3, 3, 3)
