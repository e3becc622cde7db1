"""Predictions cut by regions: the rules of D8, and the counts by brute force."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import panmatch as pm
from panmatch import native
from panmatch.errors import OptionError, OverlapError, StrategyError
from panmatch.labels import REGION_RULES, Regions, find_regions
from tests.hypothesis_scenes import Labels, label_pairs
from tests.labels.test_voronoi import by_brute_force

EVERY = [
    pm.OneToOne(),
    pm.OneToOne("greedy"),
    pm.ManyToOne(),
    pm.ManyToOne(gate="edge"),
    pm.OneToMany(),
    pm.SameId(),
    pm.RegionUnion(),
    pm.ManyToOne("optimal"),
    pm.OneToMany("optimal"),
]


def strip(text: str) -> Labels:
    return np.array([int(c) for c in text.replace(".", "0")])


def regions_of(reference: str, prediction: str) -> pm.Overlap:
    return pm.count_region_overlaps(strip(reference), strip(prediction))


@given(label_pairs())
def test_pieces_are_what_lies_in_a_prediction_and_a_region(pair: tuple[Labels, Labels]) -> None:
    reference, prediction = pair
    nearest = by_brute_force(reference, np.ones(reference.ndim))
    voxels = list(zip(*(a.ravel().tolist() for a in (nearest, reference, prediction)), strict=True))
    sizes = Counter((p, c) for c, _, p in voxels if p)
    shared = Counter((g, p) for c, g, p in voxels if g and p and c == g)
    found = pm.count_region_overlaps(reference, prediction)
    assert found.pieces is not None
    names = list(zip(found.pred_ids.tolist(), found.pieces.regions.tolist(), strict=True))
    assert dict(zip(names, found.pred_sizes.tolist(), strict=True)) == sizes
    edges = {
        (int(found.ref_ids[g]), int(found.pred_ids[p])): int(n)
        for g, p, n in zip(found.edges.ref, found.edges.pred, found.edges.intersection, strict=True)
    }
    assert edges == shared
    whole = pm.count_overlaps(reference, prediction)
    assert found.predictions.ids.tolist() == whole.pred_ids.tolist()
    assert found.predictions.sizes.tolist() == whole.pred_sizes.tolist()


def test_a_prediction_across_two_regions_is_cut_and_may_serve_both() -> None:
    cut = regions_of("11......22", ".77777777.")
    assert cut.pred_ids.tolist() == [7, 7]
    assert cut.pred_sizes.tolist() == [4, 4]
    for strategy in (pm.OneToOne(), pm.ManyToOne(), pm.OneToMany(), pm.RegionUnion()):
        matching = pm.match(cut, strategy, 0.1)
        assert matching.pairs.tolist() == [[1, 7], [2, 7]]
        assert matching.tally == pm.Tally(tp=2, fp=0, fn=0, quality=0.4)


def test_one_matched_piece_saves_the_whole_prediction_from_being_false() -> None:
    cut = regions_of("1111....22", ".77777777.")
    assert pm.match(cut, "one-to-one", 0.45).tally == pm.Tally(tp=1, fp=0, fn=1, quality=0.5)
    assert pm.match(cut, "one-to-one", 0.6).tally == pm.Tally(tp=0, fp=1, fn=2, quality=0.0)


def test_a_prediction_far_from_everything_is_false_but_counts_in_the_union_of_its_region() -> None:
    cut = regions_of("1111......", "1111....8.")
    alone = pm.match(cut, "many-to-one", 0.5)
    assert alone.false_positives.tolist() == [8]
    assert alone.tally == pm.Tally(tp=1, fp=1, fn=0, quality=1.0)
    together = pm.match(cut, pm.RegionUnion(), 0.5)
    assert together.pairs.tolist() == [[1, 1], [1, 8]]
    assert together.tally == pm.Tally(tp=1, fp=0, fn=0, quality=0.8)


@pytest.mark.parametrize("strategy", EVERY)
def test_without_any_reference_every_prediction_is_false(strategy: pm.Strategy) -> None:
    cut = regions_of("........", ".33..44.")
    assert pm.match(cut, strategy, 0.0).tally == pm.Tally(tp=0, fp=2, fn=0, quality=0.0)
    assert pm.match(cut, strategy, 0.0).false_positives.tolist() == [3, 4]
    assert pm.curve(cut, strategy).at(0.3) == pm.Tally(tp=0, fp=2, fn=0, quality=0.0)


@pytest.mark.parametrize("strategy", EVERY)
def test_without_any_prediction_every_reference_is_missed(strategy: pm.Strategy) -> None:
    cut = regions_of(".33..44.", "........")
    assert pm.match(cut, strategy, 0.0).tally == pm.Tally(tp=0, fp=0, fn=2, quality=0.0)
    both = regions_of("....", "....")
    assert pm.match(both, strategy, 0.0).tally.status == "empty"


def test_one_cell_with_many_fragments_tells_the_strategies_apart() -> None:
    """A reference of 10; fragments with 4, 3 and 2 of it, the last reaching far out; a stray."""
    cut = regions_of("..1111111111......5.", "..4444333.22222222.6")
    tallies = {s.name: pm.match(cut, s, 0.2).tally for s in EVERY[:1] + EVERY[2:3] + EVERY[6:7]}
    assert tallies["one-to-one"] == pm.Tally(tp=1, fp=3, fn=1, quality=0.4)
    assert tallies["many-to-one"] == pm.Tally(tp=1, fp=2, fn=1, quality=0.7)
    # 2 is cut: three voxels lie in the cell of 5, where they join 6; neither shares any of it.
    assert tallies["union"].tp == 1
    assert tallies["union"].quality == pytest.approx(9 / (10 + 12 - 9))
    assert tallies["union"].fp == 1


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.35, 0.5, 0.8])
def test_union_against_each_other_strategy_on_single_fragments(threshold: float) -> None:
    """With one fragment per cell there is nothing to unite: all strategies agree."""
    cut = regions_of("111...2222..33", "11....22.....3")
    want = pm.match(cut, pm.RegionUnion(), threshold).tally
    for strategy in (pm.OneToOne(), pm.OneToOne("greedy"), pm.ManyToOne(), pm.OneToMany()):
        assert pm.match(cut, strategy, threshold).tally == want
        assert pm.curve(cut, strategy).at(threshold) == want


def test_ties_between_regions_go_to_the_smaller_id() -> None:
    cut = regions_of("2...1", ".777.")
    assert cut.pieces is not None
    assert cut.pieces.regions.tolist() == [1, 2]
    assert cut.pred_sizes.tolist() == [2, 1]


def test_spacing_moves_the_regions() -> None:
    reference, prediction = np.zeros((2, 7, 7), int)
    reference[0, 3], reference[3, 6] = 1, 2
    prediction[3, 3] = 1
    for spacing, cell in (((1, 1), 1), ((1, 0.9), 2), ((0.9, 1), 1), ((1.1, 1), 2)):
        pieces = pm.count_region_overlaps(reference, prediction, spacing).pieces
        assert pieces is not None
        assert pieces.regions.tolist() == [cell]


def test_void_is_no_reference_and_dismisses_whole_predictions() -> None:
    reference, prediction = strip("11..99..22"), strip("...7777...")
    cut = pm.count_region_overlaps(reference, prediction, void=9)
    assert cut.ref_ids.tolist() == [1, 2]
    assert cut.pred_sizes.tolist() == [2, 2]
    assert cut.pred_void.tolist() == [1, 1]
    assert pm.match(cut).tally.fp == 1  # half of it in void, not more
    wider = pm.count_region_overlaps(reference, strip("....777..."), void=9)
    assert pm.match(wider).tally.fp == 0
    assert pm.curve(wider).at(0.0).fp == 0


def test_a_new_rule_is_a_function_and_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_come(references: Any, _spacing: Any, where: Any, _threads: Any) -> Any:
        return np.where(where > 0, references[references > 0].min(initial=9), 0)

    monkeypatch.setitem(REGION_RULES, "first come", first_come)
    reference, prediction = strip("11......22"), strip(".77777777.")
    cut = pm.count_region_overlaps(reference, prediction, rule="first come")
    assert cut.pieces is not None
    assert cut.pieces.regions.tolist() == [1]
    assert cut.pred_sizes.tolist() == [8]
    with pytest.raises(OptionError, match="rule='nearest'"):
        pm.count_region_overlaps(reference, prediction, rule="nearest")


def test_known_regions_are_not_sought_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reference, prediction = strip("11......22"), strip(".77777777.")
    want = pm.count_region_overlaps(reference, prediction, 0.5)
    regions = find_regions(reference, prediction, 0.5)
    assert (regions.spacing, regions.rule) == ((0.5,), "voronoi")
    monkeypatch.delattr(native, "nearest_labels")
    found = pm.count_region_overlaps(reference, prediction, regions=regions)
    assert found == want
    matching = pm.match(found, "one-to-one", 0.1)
    rows = pm.measure(matching, reference, prediction, "hd", 0.5, regions=regions)
    assert rows.columns["hd"].tolist() == [1.5, 1.5]
    same = pm.count_part_overlaps(
        reference, prediction, reference, prediction * 0, regions=regions, background="none"
    )
    assert same.without_parts() == want


def test_union_needs_regions() -> None:
    with pytest.raises(StrategyError, match="not cut by regions: pass count_region_overlaps"):
        pm.match(pm.count_overlaps([1], [1]), "union")
    with pytest.raises(OverlapError, match="both are cut by regions"):
        pm.count_overlaps([1], [1]) + pm.count_region_overlaps([1], [1])


@given(label_pairs())
def test_chunks_add_and_files_keep_pieces(pair: tuple[Labels, Labels]) -> None:
    reference, prediction = pair
    nearest = by_brute_force(reference, np.ones(reference.ndim))
    half, steps = reference.shape[0] // 2, (1.0,) * reference.ndim
    parts = [
        pm.count_region_overlaps(
            reference[s], prediction[s], regions=Regions(nearest[s], steps, "voronoi")
        )
        for s in (slice(0, half), slice(half, None))
    ]
    whole = pm.count_region_overlaps(reference, prediction)
    assert parts[0] + parts[1] == whole == parts[1] + parts[0]
    assert pm.Overlap.from_json(whole.to_json()) == whole
    if len(whole.pred_ids):
        united = [pm.match(part, "union", 0.0).overlap for part in parts]
        assert united[0] + united[1] == pm.match(whole, "union", 0.0).overlap
        assert whole != pm.count_overlaps(reference, prediction)


def test_repr_says_how_predictions_are_cut() -> None:
    assert repr(regions_of("1..2", "7777")) == (
        "Overlap(2 references, 1 prediction in 2 pieces, 2 edges)"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pred_regions": [2, 1]}, "pieces must be sorted by pred_ids, then pred_regions"),
        ({"pred_regions": [1, 3]}, "can only overlap the reference of its own region"),
        ({"member_owner": [0, 1]}, "points outside the predictions"),
        ({"member_vertex": [0, 0]}, "must list every piece"),
        ({"whole_ids": [0]}, "whole_ids must be strictly increasing and start at 1"),
        ({"whole_sizes": [4, 4]}, "1-D arrays of the same length"),
    ],
)
def test_pieces_that_contradict_each_other_are_refused(
    change: dict[str, list[int]], message: str
) -> None:
    columns = regions_of("1..2", "7777").columns()
    with pytest.raises(OverlapError, match=message):
        pm.Overlap.from_columns({**columns, **change})
    with pytest.raises(
        OverlapError, match=r"columns \['pred_regions'\], which an overlap cut into"
    ):
        pm.Overlap.from_columns({k: v for k, v in columns.items() if k != "pred_regions"})
