"""The metric behaves in a training loop as metrics do there."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

import panmatch as pm
from tests.torch.batches import KINDS, count_each, draw_batch, draw_pairs, expected

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)

from torchmetrics import Metric, MetricCollection  # noqa: E402
from torchmetrics.classification import MulticlassAccuracy  # noqa: E402

from panmatch.torch import PanopticMatching  # noqa: E402
from tests.torch.tensors import as_tensors, assert_same_curve, drawn, scores  # noqa: E402


def updated(strategy: pm.Strategy | str = "one-to-one") -> PanopticMatching:
    """Return a metric that has seen a batch."""
    metric = PanopticMatching(strategy=strategy, curve=True, threshold=0.3)
    metric.update(*drawn(3, seed=1))
    return metric


def test_it_is_a_metric_that_is_better_when_higher() -> None:
    metric = PanopticMatching()
    assert isinstance(metric, Metric)
    assert metric.higher_is_better is True
    assert metric.is_differentiable is False
    assert metric.full_state_update is False


def test_calling_it_scores_the_batch_and_adds_it() -> None:
    first, second = draw_batch(2, seed=3), draw_batch(3, seed=4)
    metric = PanopticMatching(curve=True, threshold=0.3)
    for reference, prediction in (first, second):
        found = metric(*as_tensors(prediction, reference))
        tally, curve = expected(count_each(reference, prediction), threshold=0.3)
        assert found["pq"].item() == tally.pq > 0
        assert found["autc"].item() == curve.autc
    overlaps = [*count_each(*first), *count_each(*second)]
    tally, curve = expected(overlaps, threshold=0.3)
    assert metric.tallies()[0.3][1] == tally
    assert_same_curve(metric.curves()[1], curve)


def test_reset_forgets_everything() -> None:
    metric, fresh = updated(), PanopticMatching(curve=True, threshold=0.3)
    metric.reset()
    assert metric.tallies()[0.3][1] == pm.Tally(0, 0, 0, 0.0)
    assert metric.curves()[1].tp.tolist() == [0]
    for one in (metric, fresh):
        one.update(*drawn(2, seed=2))
    assert scores(metric) == scores(fresh)


def test_a_clone_goes_its_own_way() -> None:
    metric = updated()
    before, other = scores(metric), metric.clone()
    assert scores(other) == before
    other.update(*drawn(2, seed=2))
    assert scores(metric) == before != scores(other)


@pytest.mark.parametrize("strategy", [pm.OneToOne(solver="greedy"), pm.ManyToOne(gate="edge")])
def test_a_pickle_holds_options_and_states(strategy: pm.Strategy) -> None:
    metric = updated(strategy)
    other = pickle.loads(pickle.dumps(metric))
    for one in (metric, other):
        one.update(*drawn(2, seed=2))
    assert scores(other) == scores(metric)
    assert_same_curve(other.curves()[1], metric.curves()[1])


def test_states_are_saved_with_a_model_if_asked_to(tmp_path: Path) -> None:
    metric, other = updated(), PanopticMatching(curve=True, threshold=0.3)
    assert metric.state_dict() == {}
    metric.persistent(True)
    other.persistent(True)
    torch.save(metric.state_dict(), tmp_path / "states.pt")
    other.load_state_dict(torch.load(tmp_path / "states.pt", weights_only=True))
    for one in (metric, other):
        one.update(*drawn(2, seed=2))
    assert scores(other) == scores(metric)
    assert_same_curve(other.curves()[1], metric.curves()[1])


@pytest.mark.parametrize(
    "convert",
    [
        lambda metric: metric.half(),
        lambda metric: metric.to(torch.float16),
        lambda metric: metric.bfloat16(),
        lambda metric: metric.set_dtype(torch.float16),
        lambda metric: torch.nn.ModuleList([metric]).half()[0],
        lambda metric: metric.to("cpu"),
    ],
)
def test_precision_of_a_model_does_not_touch_the_counts(
    convert: Callable[[PanopticMatching], PanopticMatching],
) -> None:
    metric, other = updated(), convert(updated())
    for one in (metric, other):
        one.update(*drawn(2, seed=2))
    assert scores(other) == scores(metric)
    assert_same_curve(other.curves()[1], metric.curves()[1])
    other.reset()
    assert other.counts.dtype == torch.int64


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_tensors_and_states_may_be_on_a_device() -> None:
    metric, other = updated(), PanopticMatching(curve=True, threshold=0.3).to("cuda")
    other.update(*(one.cuda() for one in drawn(3, seed=1)))
    assert {value.device.type for value in other.compute().values()} == {"cuda"}
    assert scores(other) == scores(metric)


def test_metrics_merge_as_evaluators_do() -> None:
    first, second = updated(), PanopticMatching(curve=True, threshold=0.3)
    second.update(*drawn(2, seed=2))
    first.merge_state(second)
    overlaps = [
        *count_each(*draw_batch(3, seed=1)),
        *count_each(*draw_batch(2, seed=2)),
    ]
    tally, curve = expected(overlaps, threshold=0.3)
    assert first.tallies()[0.3][1] == tally
    assert_same_curve(first.curves()[1], curve)


def test_a_collection_tells_strategies_apart_that_agree_on_the_first_batch() -> None:
    names = ("one-to-one", "many-to-one", "one-to-many")
    collection = MetricCollection(
        {name: PanopticMatching(strategy=name, curve=True, threshold=0.3) for name in names},
        prefix="val/",
    )
    nothing = torch.zeros((1, 4, 4), dtype=torch.int64)
    collection.update(nothing, nothing)
    fragments, objects = torch.tensor([[1, 1, 2, 2, 2]]), torch.tensor([[5, 5, 5, 5, 5]])
    collection.update(fragments, objects)
    found = {name: value.item() for name, value in collection.compute().items()}
    assert found["val/one-to-one_pq"] == pytest.approx(0.6 / 1.5)
    assert found["val/many-to-one_pq"] == 1.0
    assert found["val/one-to-many_fp"] == 1
    assert found["val/many-to-one_autc"] == pytest.approx(0.6)


def test_a_collection_shares_the_work_of_metrics_that_ask_the_same() -> None:
    collection = MetricCollection(
        {
            "short": PanopticMatching(KINDS, threshold=0.2),
            "long": PanopticMatching(KINDS, threshold=0.2, per_class=True),
        }
    )
    reference, prediction = draw_pairs(3, seed=1)
    for _ in range(2):
        collection.update(*as_tensors(prediction, reference))
    assert list(collection.compute_groups.values()) == [["long", "short"]]
    found = collection.compute()
    assert found["short_pq"] == found["long_pq"] > 0
    assert "long_pq/car" in found


def test_a_collection_passes_keywords_to_those_that_know_them() -> None:
    collection = MetricCollection(
        {"accuracy": MulticlassAccuracy(num_classes=10), "objects": PanopticMatching()}
    )
    target, preds = torch.tensor([[1, 1, 0, 2]]), torch.tensor([[1, 1, 0, 0]])
    collection.update(preds=preds, target=target, void=torch.tensor([[0, 0, 0, 1]]))
    found = collection.compute()
    assert (found["pq"], found["fn"]) == (1.0, 0.0)
    assert "accuracy" in found


def test_options_of_every_metric_are_passed_on() -> None:
    assert PanopticMatching(sync_on_compute=False).sync_on_compute is False
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `treshold`"):
        PanopticMatching(treshold=0.3)
