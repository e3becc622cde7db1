"""Where to look first: mistakes by cost, each object once, with its box and slice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.errors import OptionError
from panmatch.evaluation import Images as Sides
from panmatch.evaluation import Result, evaluate_case
from panmatch.spec import as_spec

SPEC = as_spec({"matching": ["one-to-one", "many-to-one"], "thresholds": [0.3, 0.5]})
Labels = npt.NDArray[np.integer]


def scene() -> tuple[Labels, Labels]:
    """Return a volume with a missed object, a spurious one, a split one and poor outlines."""
    reference = np.zeros((6, 20, 30), np.int64)
    reference[0:2, 2:6, 2:6] = 1  # perfect
    reference[1:4, 10:18, 2:10] = 2  # split in the middle
    reference[3:6, 2:7, 20:28] = 3  # missed
    reference[2:4, 12:16, 20:24] = 4  # cut short
    prediction = np.zeros_like(reference)
    prediction[reference == 1] = 11
    prediction[1:4, 10:14, 2:10], prediction[1:4, 14:18, 2:10] = 21, 22
    prediction[2:4, 12:15, 20:24] = 41
    prediction[0:2, 0:2, 28:30] = 51
    return reference, prediction


def evaluated(*pairs: tuple[Labels, Labels]) -> Result:
    cases = [
        evaluate_case(Sides(reference), Sides(prediction), SPEC, case=f"c{at}", model="m")
        for at, (reference, prediction) in enumerate(pairs)
    ]
    return Result(SPEC, tuple(cases))


def test_mistakes_are_listed_by_cost_and_every_object_once() -> None:
    found = evaluated(scene()).look_first()
    listed = [(one.kind, one.ref_ids, one.pred_ids) for one in found]
    assert listed == [
        ("split", (2,), (21, 22)),
        ("missed", (3,), ()),
        ("spurious", (), (51,)),
        ("outline", (4,), (41,)),
    ]
    costs = [one.cost for one in found]
    assert costs == sorted(costs, reverse=True)
    assert [one.what for one in found[:3]] == [
        "reference 2 split into predictions 21, 22",
        "missed reference 3",
        "spurious prediction 51",
    ]


def test_costs_are_what_repairing_on_the_voxels_brings() -> None:
    reference, prediction = scene()
    (pq,) = _pooled(evaluated((reference, prediction)))
    found = evaluated(*[(reference, prediction)] * 2).look_first()
    for one in found:
        mended = prediction.copy()
        if one.kind == "missed":
            mended[reference == one.ref_ids[0]] = 99
        elif one.kind == "spurious":
            mended[mended == one.pred_ids[0]] = 0
        elif one.kind == "split":
            mended[np.isin(mended, one.pred_ids)] = 99
        else:
            mended[np.isin(mended, one.pred_ids)] = 0
            mended[reference == one.ref_ids[0]] = 99
        (alone,) = _pooled(evaluated((reference, mended)))
        (together,) = _pooled(evaluated((reference, prediction), (reference, mended)))
        assert one.case_cost == pytest.approx(alone - pq, abs=1e-12)
        assert one.cost == pytest.approx(together - pq, abs=1e-12)


def _pooled(result: Result) -> list[float]:
    first = SPEC.matching[0], SPEC.thresholds[0]
    return [
        float(series.counts[first[1]].sum().tallies.pq)
        for series in result.series
        if series.setting.matcher == first[0]
    ]


def test_boxes_and_slices_hold_the_objects() -> None:
    reference, prediction = scene()
    for one in evaluated((reference, prediction)).look_first():
        there = np.isin(reference, one.ref_ids) & (reference > 0)
        there |= np.isin(prediction, one.pred_ids) & (prediction > 0)
        places = np.argwhere(there)
        assert one.start == tuple(places.min(axis=0))
        assert one.stop == tuple(places.max(axis=0) + 1)
        assert one.axis == 0  # the shortest one
        assert one.slice == (one.start[0] + one.stop[0] - 1) // 2
        assert there[one.slice].any()


def test_flat_images_have_no_slice_and_perfect_ones_no_mistake() -> None:
    reference, prediction = (side[3] for side in scene())
    flat = evaluated((reference, prediction)).look_first()
    assert {(one.axis, one.slice, len(one.start)) for one in flat} == {(None, None, 2)}
    assert not evaluated((reference, reference)).look_first()
    assert evaluated((reference, reference)).mistakes.empty
    assert not evaluated((np.zeros_like(reference), np.zeros_like(reference))).look_first()


def test_the_table_has_a_row_for_each_and_a_model_can_be_chosen() -> None:
    result = evaluated(scene(), scene())
    table = result.mistakes
    assert len(table) == 8
    assert table["mistake"].tolist()[:4] == ["split", "missed", "spurious", "outline"]
    assert table["pred_ids"].tolist()[0] == "21 22"
    assert table[["start_0", "stop_2"]].to_numpy().tolist()[1] == [3, 28]
    assert set(table["threshold"]) == {0.3}
    assert set(table["strategy"]) == {"one-to-one"}
    assert result.look_first(model="other") == []
    assert [one.case for one in result.look_first(1, case="c1")] == ["c1"]
    assert result.look_first(case="c2") == []
    assert len(result.look_first(3)) == 3
    with pytest.raises(OptionError, match=r"most=-1 is too small: pass 0 or more"):
        result.look_first(-1)


def test_of_many_mistakes_the_costliest_are_kept() -> None:
    reference = phantoms.blobs((200, 200), 60, radius=(3, 7), gap=1, seed=3)
    prediction = phantoms.shift(reference, (1, 1))
    prediction[np.isin(prediction, range(1, 8))] = 0
    (case,) = evaluated((reference, prediction)).cases
    kept = case.entries[0].levels[0].mistakes
    assert len(kept) == 10
    assert [one.kind for one in kept].count("missed") == 7
    matching = pm.match(pm.count_overlaps(reference, prediction), "one-to-one", 0.3)
    every = pm.find_mistakes(matching)
    assert set(kept) <= set(every)
    assert all(not level.mistakes for level in case.entries[0].levels[1:])
    assert all(not level.mistakes for level in case.entries[1].levels)
    sizes = dict(zip(*np.unique(reference, return_counts=True), strict=True))
    missed = [sizes[one.ref_ids[0]] for one in kept if one.kind == "missed"]
    assert missed == sorted(missed, reverse=True)


def test_some_mistakes_are_the_first_of_all_mistakes() -> None:
    generator = np.random.default_rng(5)
    for _ in range(20):
        overlap = pm.count_overlaps(generator.integers(0, 9, 200), generator.integers(0, 9, 200))
        matching = pm.match(overlap, "one-to-one", 0.05)
        every = pm.find_mistakes(matching)
        assert pm.find_mistakes(matching, most=len(every)) == every
        assert pm.find_mistakes(matching, most=0) == []
        presence = [one for one in every if one.kind not in ("split", "merged")]
        if presence == every:
            assert pm.find_mistakes(matching, most=4) == every[:4]


def test_results_keep_their_mistakes_in_files() -> None:
    result = evaluated(scene())
    again = Result.from_json(result.to_json())
    assert again.look_first() == result.look_first()


def test_they_are_those_of_the_headline_class() -> None:
    classes = {"low": {"labels": "1-2"}, "high": {"labels": "3-4"}}
    found = {}
    for headline in ("low", "high", None):
        spec = as_spec({"classes": classes, "headline": headline, "background": "others"})
        result = pm.evaluate(reference=[1, 1, 2, 3, 3, 4], prediction=[1, 1, 0, 3, 0, 0], spec=spec)
        found[headline] = {one.ref_ids for one in result.look_first()}
        assert {*result.mistakes["class"]} == {"low", "high"}
    assert found == {"low": {(2,)}, "high": {(3,), (4,)}, None: {(2,), (3,), (4,)}}
