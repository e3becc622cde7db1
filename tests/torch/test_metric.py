"""The metric says what the library says, summed over images."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import panmatch as pm
from panmatch.overlap import Score
from tests.strategies import BY_NAME, OPTIMAL
from tests.torch.batches import (
    KINDS,
    count_each,
    draw_batch,
    draw_pairs,
    expected,
    sum_class_tallies,
    sum_curves,
)

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)

from panmatch.torch import PanopticMatching  # noqa: E402
from tests.torch.tensors import as_tensors, assert_same_curve, drawn, scores  # noqa: E402

STRATEGIES = {**BY_NAME, **OPTIMAL, "same-id": pm.SameId()}


@pytest.mark.parametrize("name", STRATEGIES)
def test_batches_add_up_to_the_tally_and_curve_of_all_images(name: str) -> None:
    reference, prediction = draw_batch(7, seed=1)
    if name == "same-id":
        prediction = np.roll(reference, 1, axis=2)
    tally, curve = expected(count_each(reference, prediction), STRATEGIES[name], 0.3)
    metric = PanopticMatching(strategy=STRATEGIES[name], threshold=0.3, curve=True)
    for part in (slice(0, 3), slice(3, 4), slice(4, 7)):
        metric.update(*as_tensors(prediction[part], reference[part]))
    assert tally.tp > 0
    assert metric.tallies()[0.3][1] == tally
    assert_same_curve(metric.curves()[1], curve)
    assert scores(metric) == {
        "pq": tally.pq, "sq": tally.sq, "rq": tally.rq,
        "tp": tally.tp, "fp": tally.fp, "fn": tally.fn,
        "autc": curve.autc, "autc_sq": curve.autc_sq, "autc_rq": curve.autc_rq,
    }  # fmt: skip


@pytest.mark.parametrize("score", ["dice", "prediction-share"])
def test_edges_are_judged_by_the_score_that_was_asked_for(score: Score) -> None:
    reference, prediction = draw_batch(4, seed=2)
    tally, curve = expected(count_each(reference, prediction), "one-to-one", 0.7, score)
    metric = PanopticMatching(threshold=0.7, score=score, curve=True)
    metric.update(*as_tensors(prediction, reference))
    assert metric.tallies()[0.7][1] == tally
    assert_same_curve(metric.curves()[1], curve)


def test_preds_come_first_and_target_second() -> None:
    metric = PanopticMatching()
    metric.update(torch.tensor([[1, 1, 0, 2]]), torch.tensor([[7, 7, 0, 0]]))
    assert metric.tallies()[0.5][1] == pm.Tally(tp=1, fp=1, fn=0, quality=1.0)
    metric.update(target=torch.tensor([[1, 1, 0, 2]]), preds=torch.tensor([[7, 7, 0, 0]]))
    assert metric.tallies()[0.5][1] == pm.Tally(tp=2, fp=1, fn=1, quality=2.0)


def test_scores_are_scalars_in_double_precision_and_without_a_curve_there_are_no_areas() -> None:
    metric = PanopticMatching()
    metric.update(*drawn(1, seed=0))
    found = metric.compute()
    assert list(found) == ["pq", "sq", "rq", "tp", "fp", "fn"]
    assert {(value.shape, value.dtype) for value in found.values()} == {((), torch.float64)}


def test_several_thresholds_are_told_apart_by_name() -> None:
    reference, prediction = draw_batch(3, seed=3)
    overlaps = count_each(reference, prediction)
    metric = PanopticMatching(threshold=[0.6, 0.25])
    metric.update(*as_tensors(prediction, reference))
    found = scores(metric)
    for threshold in (0.25, 0.6):
        tally, _ = expected(overlaps, threshold=threshold)
        assert metric.tallies()[threshold][1] == tally
        assert found[f"pq_{threshold}"] == tally.pq
        assert found[f"fn_{threshold}"] == tally.fn
    assert found["tp_0.25"] > found["tp_0.6"]
    assert len(found) == 12
    classes = PanopticMatching(KINDS, threshold=[0.5], curve=True, per_class=True)
    classes.update(*as_tensors(*reversed(draw_pairs(1, seed=1))))
    assert {"pq_things_0.5", "tp_0.5/car", "autc_stuff", "autc/car"} < scores(classes).keys()
    single = PanopticMatching(threshold=[0.6])
    single.update(*as_tensors(prediction, reference))
    assert scores(single)["rq_0.6"] == found["rq_0.6"]


def test_classes_are_tallied_apart_and_averaged_over_those_that_occur() -> None:
    reference, prediction = draw_pairs(6, seed=4)
    unseen = pm.SegmentClass(77, "unicorn")
    kinds = (*KINDS, unseen)
    overlaps = [
        pm.count_class_overlaps(
            pm.from_maps(ref[..., 0], ref[..., 1], kinds, numbering="per class"),
            pm.from_maps(pred[..., 0], pred[..., 1], kinds, numbering="per class"),
        )
        for ref, pred in zip(reference, prediction, strict=True)
    ]
    tallies = sum_class_tallies([pm.tally_classes(one, threshold=0.3) for one in overlaps])
    curves = {kind.id: sum_curves([pm.curve(one[kind.id]) for one in overlaps]) for kind in kinds}
    metric = PanopticMatching(kinds, threshold=0.3, curve=True, per_class=True)
    metric.update(*as_tensors(prediction[:2], reference[:2]))
    metric.update(*as_tensors(prediction[2:], reference[2:]))
    assert dict(metric.tallies()[0.3]) == dict(tallies)
    for kind in kinds:
        assert_same_curve(metric.curves()[kind.id], curves[kind.id])
    found = scores(metric)
    for group, mean in {
        "": tallies.all,
        "_things": tallies.things,
        "_stuff": tallies.stuff,
    }.items():
        assert mean.n == (4 if group == "" else 2)
        assert (found[f"pq{group}"], found[f"sq{group}"]) == (mean.pq, mean.sq)
        assert found[f"autc{group}"] == np.mean([curves[number].autc for number in mean.classes])
    assert found["tp"] == sum(tally.tp for tally in tallies.values())
    assert found["pq/car"] == tallies[8].pq > 0
    assert found["fn/sky"] == tallies[5].fn
    assert found["autc_rq/road"] == curves[9].autc_rq > 0
    assert math.isnan(found["pq/unicorn"])
    assert math.isnan(found["autc/unicorn"])
    assert found["tp/unicorn"] == 0


def test_curves_of_classes_keep_apart_where_one_has_a_single_step() -> None:
    metric = PanopticMatching(KINDS, curve=True)
    metric.update(torch.tensor([[[0, 0], [8, 1]]]), torch.tensor([[[3, 1], [8, 1]]]))
    curves = metric.curves()
    assert (curves[3].thresholds.tolist(), curves[3].fn.tolist()) == ([0.0], [1])
    assert (curves[8].thresholds.tolist(), curves[8].tp.tolist()) == ([0.0], [1])
    assert metric.compute()["autc"] == 0.5


def test_classes_without_a_name_are_called_by_their_id_and_one_kind_has_no_groups() -> None:
    metric = PanopticMatching([pm.SegmentClass(4), pm.SegmentClass(2)], per_class=True)
    metric.update(*as_tensors(*[np.array([[[4, 1], [4, 1], [2, 1]]])] * 2))
    found = scores(metric)
    assert (found["pq/4"], found["pq/2"]) == (1.0, 1.0)
    assert not [name for name in found if "things" in name or "stuff" in name]


def test_scores_in_training_are_those_of_the_evaluation_afterwards() -> None:
    reference, prediction = draw_batch(6, seed=9)
    evaluator = pm.Evaluator({"matching": "many-to-one", "thresholds": 0.3})
    for ref, pred in zip(reference, prediction, strict=True):
        evaluator.update(reference=ref, prediction=pred)
    averages = evaluator.compute().averages
    pooled = averages[averages.averaging == "pooled"].set_index("measure").value
    metric = PanopticMatching(strategy="many-to-one", threshold=0.3, curve=True)
    metric.update(*as_tensors(prediction, reference))
    found = scores(metric)
    for name in ("pq", "sq", "rq", "autc", "autc_sq", "autc_rq"):
        assert found[name] == pytest.approx(pooled[name], abs=1e-14)


def test_nothing_on_both_sides_is_undefined_and_nothing_on_one_side_is_zero() -> None:
    nothing, something = torch.zeros((2, 4, 4), dtype=torch.int64), torch.ones((2, 4, 4)).long()
    metric = PanopticMatching(curve=True)
    metric.update(nothing, nothing)
    found = scores(metric)
    assert all(math.isnan(found[name]) for name in ("pq", "sq", "rq", "autc", "autc_sq", "autc_rq"))
    assert (found["tp"], found["fp"], found["fn"]) == (0, 0, 0)
    assert metric.tallies()[0.5][1].status == "empty"
    for preds, target, counts in ((something, nothing, (0, 2, 0)), (nothing, something, (0, 0, 2))):
        metric = PanopticMatching(curve=True)
        metric.update(preds, target)
        found = scores(metric)
        assert all(found[name] == 0 for name in ("pq", "sq", "rq", "autc", "autc_sq", "autc_rq"))
        assert (found["tp"], found["fp"], found["fn"]) == counts


def test_an_empty_batch_adds_nothing() -> None:
    metric = PanopticMatching(curve=True)
    metric.update(*[torch.zeros((0, 8, 8), dtype=torch.int64)] * 2)
    assert math.isnan(scores(metric)["autc"])
    metric.update(*drawn(2, seed=1))
    before = scores(metric)
    metric.update(*[torch.zeros((0, 8, 8), dtype=torch.int64)] * 2)
    assert scores(metric) == before


def test_before_the_first_batch_scores_are_undefined() -> None:
    metric = PanopticMatching(KINDS, curve=True, per_class=True)
    with pytest.warns(UserWarning, match="called before the ``update`` method"):
        found = scores(metric)
    assert math.isnan(found["pq_things"])
    assert math.isnan(found["autc/sky"])
    assert metric.curves()[3].thresholds.tolist() == [0.0]


def test_a_curve_says_whether_all_optima_are_proven() -> None:
    reference, prediction = draw_batch(4, seed=1)
    metric = PanopticMatching(strategy=pm.ManyToOne(solver="optimal"), curve=True)
    metric.update(*as_tensors(prediction, reference))
    assert metric.curves()[1].proven is True
    prediction[0] = reference[0]
    cut = pm.ManyToOne(solver="optimal", budget=pm.Budget(nodes=0))
    proven = [pm.curve(one, cut).proven for one in count_each(reference, prediction)]
    assert proven == [True, False, False, False]
    metric = PanopticMatching(strategy=cut, curve=True)
    for at in range(2):
        metric.update(*as_tensors(prediction[at : at + 1], reference[at : at + 1]))
        assert metric.curves()[1].proven is proven[at]
    heuristic = PanopticMatching(strategy="many-to-one", curve=True)
    heuristic.update(*as_tensors(prediction, reference))
    assert heuristic.curves()[1].proven is None


@settings(max_examples=30)
@given(st.permutations(range(6)), st.sets(st.integers(1, 5)), st.booleans())
def test_neither_order_nor_size_of_batches_changes_a_bit(
    order: list[int], cuts: set[int], forward: bool
) -> None:
    reference, prediction = draw_batch(6, seed=11)
    whole = PanopticMatching(strategy="many-to-one", threshold=0.2, curve=True)
    whole.update(*as_tensors(prediction, reference))
    parts = PanopticMatching(strategy="many-to-one", threshold=0.2, curve=True)
    for part in np.split(np.array(order), sorted(cuts)):
        batch = as_tensors(prediction[part], reference[part])
        (parts if forward else parts.update)(*batch)
    assert scores(parts) == scores(whole)
    assert_same_curve(parts.curves()[1], whole.curves()[1])


def test_added_up_steps_take_the_place_of_loose_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    loose, tidy = (PanopticMatching(curve=True, threshold=0.2) for _ in range(2))
    for seed in range(12):
        batch = drawn(2, seed)
        loose.update(*batch)
        with monkeypatch.context() as patch:
            patch.setattr("panmatch.torch._metric.LOOSE_ROWS", 40)
            tidy.update(*batch)
    rows = [len(table) for table in tidy.steps]
    assert len(rows) < len(loose.steps) == 12
    assert sum(rows) <= 40 + 2 * rows[0]
    assert scores(tidy) == scores(loose)
    assert_same_curve(tidy.curves()[1], loose.curves()[1])


def test_the_curve_adds_to_curves_of_the_library() -> None:
    reference, prediction = draw_batch(2, seed=12)
    metric = PanopticMatching(curve=True)
    metric.update(*as_tensors(prediction[:1], reference[:1]))
    first, second = (pm.curve(one) for one in count_each(reference, prediction))
    both = metric.curves()[1] + second
    assert both.autc == (first + second).autc
    assert both.npq == (first + second).npq


def test_strategies_and_classes_are_kept_with_the_metric() -> None:
    strategy = pm.ManyToOne(gate="edge")
    metric = PanopticMatching(KINDS, strategy=strategy, threshold=(0.5, 0.25))
    assert metric.settings.strategy == strategy
    assert metric.settings.thresholds == (0.25, 0.5)
    assert metric.settings.labelling.classes == KINDS
