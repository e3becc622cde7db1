"""The metric with confidences: what a cut leaves, average precision, and the best cut."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)

import panmatch as pm  # noqa: E402
from panmatch.errors import OptionError, OverlapError, ShapeError  # noqa: E402
from panmatch.torch import PanopticMatching  # noqa: E402
from tests.torch.batches import KINDS, count_each, draw_batch, draw_pairs  # noqa: E402
from tests.torch.tensors import as_tensors, scores  # noqa: E402

N = 9


def drawn_confidences(predictions: Any, seed: int) -> list[dict[int, float]]:
    """Return confidences of every id of every image; some are equal."""
    rng = np.random.default_rng(seed)
    ids = [np.unique(one[one != 0]).tolist() for one in predictions]
    return [{one: float(rng.integers(1, 20)) / 16 - 0.25 for one in each} for each in ids]


def pooled(references: Any, predictions: Any, given: Any, strategy: str) -> pm.Surface:
    overlaps = count_each(references, predictions)
    return pm.add_surfaces(
        [
            pm.surface(one.with_confidence(each), strategy)
            for one, each in zip(overlaps, given, strict=True)
        ]
    )


@pytest.mark.parametrize("strategy", ["one-to-one", "many-to-one", "one-to-many"])
@pytest.mark.parametrize("cut", [None, 0.25, 0.5, 3.0])
def test_scores_are_those_of_the_pooled_surface(strategy: str, cut: float | None) -> None:
    references, predictions = draw_batch(N, seed=5)
    given = drawn_confidences(predictions, seed=6)
    metric = PanopticMatching(
        strategy=strategy, threshold=[0.2, 0.5], confidence=True, cut=cut, curve=True
    )
    for rows in (slice(0, 4), slice(4, 4), slice(4, N)):
        tensors = as_tensors(predictions[rows], references[rows])
        metric.update(*tensors, confidence=given[rows])
    whole, found = pooled(references, predictions, given, strategy), scores(metric)
    floor = -math.inf if cut is None else cut
    for threshold in (0.2, 0.5):
        expected, best = whole.at(threshold, floor), whole.best_cut(threshold)
        assert found[f"pq_{threshold}"] == expected.pq
        assert found[f"tp_{threshold}"] == expected.tp
        assert found[f"fp_{threshold}"] == expected.fp
        assert found[f"average_precision_{threshold}"] == whole.average_precision(threshold)
        assert (found[f"best_cut_{threshold}"], found[f"best_pq_{threshold}"]) == (
            best.high, best.tally.pq
        )  # fmt: skip
        curve = metric.cut_curves()[threshold][1]
        wanted = whole.over_cuts(threshold)
        kept = np.append(True, (np.diff(wanted.tallies.counts, axis=0) != 0).any(axis=1))
        assert set(wanted.cuts[kept].tolist()) <= set(curve.cuts.tolist())
        for at in wanted.cuts.tolist():
            assert curve.at(at) == wanted.at(at)
        assert curve.froc().at(1.0) == wanted.froc().at(1.0)
    assert found["autc"] == whole.over_thresholds(floor).autc


def test_tensors_of_confidences_are_in_the_order_of_the_ids() -> None:
    references, predictions = draw_batch(3, seed=8)
    given = drawn_confidences(predictions, seed=9)
    by_id, by_order = PanopticMatching(confidence=True), PanopticMatching(confidence=True)
    tensors = as_tensors(predictions, references)
    by_id.update(*tensors, confidence=given)
    ordered = [torch.tensor([each[one] for one in sorted(each)]) for each in given]
    by_order.update(*tensors, confidence=ordered)
    assert scores(by_id) == scores(by_order)


def test_probabilities_count_by_their_highest_value() -> None:
    references, predictions = draw_batch(4, seed=10)
    rng = np.random.default_rng(11)
    probability = rng.integers(0, 64, predictions.shape) / 64
    given = [
        pm.confidences_from_image(one, each)
        for one, each in zip(predictions, probability, strict=True)
    ]
    by_image, by_id = PanopticMatching(confidence=True), PanopticMatching(confidence=True)
    tensors = as_tensors(predictions, references)
    by_image.update(*tensors, confidence=torch.from_numpy(probability).float())
    by_id.update(*tensors, confidence=given)
    assert scores(by_image) == scores(by_id)


def test_components_have_the_confidence_of_their_voxels() -> None:
    target = torch.tensor([[1, 1, 1, 0, 0, 0, 1, 1]])
    preds = torch.tensor([[1, 1, 0, 0, 1, 0, 1, 1]])
    probability = torch.tensor([[0.5, 0.75, 0.0, 0.0, 0.5, 0.0, 0.25, 0.25]])
    metric = PanopticMatching(instances="components", confidence=True, cut=0.5)
    metric.update(preds, target, confidence=probability)
    found = scores(metric)
    assert (found["tp"], found["fp"], found["fn"]) == (1, 1, 1)
    assert found["average_precision"] == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert found["best_cut"] == 0.25
    assert found["best_pq"] == pytest.approx((2 / 3 + 1) / 2.5)


def test_classes_share_one_cut_and_have_their_own() -> None:
    references, predictions = draw_pairs(N, seed=12)
    rng = np.random.default_rng(13)
    probability = rng.integers(0, 64, predictions.shape[:-1]) / 64
    metric = PanopticMatching(KINDS, threshold=0.3, confidence=True, per_class=True)
    tensors = as_tensors(predictions, references)
    metric.update(*tensors, confidence=torch.from_numpy(probability))
    surfaces: dict[int, list[pm.Surface]] = {kind.id: [] for kind in KINDS}
    for ref, pred, likely in zip(references, predictions, probability, strict=True):
        sides = [
            pm.from_maps(one[..., 0], one[..., 1], KINDS, numbering="per class")
            for one in (ref, pred)
        ]
        overlaps = pm.count_class_overlaps(*sides)
        for kind in KINDS:
            ours = pred[..., 0] == kind.id
            segments = np.where(ours, pred[..., 1] if kind.thing else 1, 0)
            given = pm.confidences_from_image(segments, likely)
            surfaces[kind.id].append(pm.surface(overlaps[kind.id].with_confidence(given)))
    wholes = {key: pm.add_surfaces(each) for key, each in surfaces.items()}
    found = scores(metric)
    for kind in KINDS:
        best = wholes[kind.id].best_cut(0.3)
        assert found[f"average_precision/{kind.name}"] == wholes[kind.id].average_precision(0.3)
        assert found[f"best_cut/{kind.name}"] == best.high
        assert found[f"best_pq/{kind.name}"] == best.tally.pq
    means = [one.average_precision(0.3) for one in wholes.values()]
    assert found["average_precision"] == pytest.approx(np.mean(means), rel=1e-15)
    assert found["average_precision_stuff"] == pytest.approx(np.mean(means[2:]), rel=1e-15)
    cuts = np.unique(np.concatenate([one.over_cuts(0.3).cuts for one in wholes.values()]))
    highest = max(np.mean([one.at(0.3, cut).pq for one in wholes.values()]) for cut in cuts)
    assert found["best_pq"] == pytest.approx(highest, rel=1e-14)
    at_best = [one.at(0.3, found["best_cut"]).pq for one in wholes.values()]
    assert found["best_pq"] == pytest.approx(np.mean(at_best), rel=1e-14)


def test_the_interpolation_is_chosen() -> None:
    references, predictions = draw_batch(N, seed=14)
    given = drawn_confidences(predictions, seed=15)
    whole = pooled(references, predictions, given, "one-to-one")
    for kind in ("all-point", "101-point", "none"):
        metric = PanopticMatching(threshold=0.3, confidence=True, interpolation=kind)
        metric.update(*as_tensors(predictions, references), confidence=given)
        assert scores(metric)["average_precision"] == whole.average_precision(0.3, kind)


def test_without_objects_scores_over_the_cut_are_undefined() -> None:
    metric = PanopticMatching(confidence=True)
    empty = torch.zeros((2, 4, 4), dtype=torch.int64)
    metric.update(empty, empty, confidence=[{}, {}])
    found = scores(metric)
    assert all(math.isnan(found[key]) for key in ("pq", "average_precision", "best_cut", "best_pq"))
    assert metric.cut_curves()[0.5][1].n_cases == 2


def test_many_batches_are_condensed_without_changing_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("panmatch.torch._metric.LOOSE_ROWS", 3)
    references, predictions = draw_batch(N, seed=16)
    given = drawn_confidences(predictions, seed=17)
    one_by_one, at_once = PanopticMatching(confidence=True), PanopticMatching(confidence=True)
    for at in range(N):
        tensors = as_tensors(predictions[at, None], references[at, None])
        one_by_one.update(*tensors, confidence=given[at : at + 1])
    at_once.update(*as_tensors(predictions, references), confidence=given)
    assert scores(one_by_one) == scores(at_once)
    assert len(one_by_one.changes) < N


@pytest.mark.parametrize(
    ("options", "given", "error", "message"),
    [
        ({"confidence": True}, None, OptionError, "confidence is missing: the metric was created"),
        ({}, [{1: 0.5}], OptionError, "confidence has no effect on this metric: create it with"),
        ({"confidence": True}, [], ShapeError, "0 entries, but the batch has 1 images"),
        ({"confidence": True}, [{2: 1.0}], OverlapError, "names the unknown ids 2"),
        ({"confidence": True}, torch.zeros(1, 3), ShapeError, r"shape \(1, 3\) and dtype"),
        ({"confidence": True}, torch.ones((1, 4), dtype=torch.int64), ShapeError, "floating-point"),
        (
            {"confidence": True, "instances": "components"},
            [{1: 0.5}],
            OptionError,
            "must be a tensor of probabilities where objects have classes or are",
        ),
    ],
)
def test_confidences_that_do_not_fit_are_refused_and_add_nothing(
    options: dict[str, Any], given: Any, error: type[Exception], message: str
) -> None:
    metric = PanopticMatching(**options)
    image = torch.tensor([[1, 1, 0, 0]])
    with pytest.raises(error, match=message):
        metric.update(image, image, confidence=given)
    assert int(metric.counts.sum()) == 0


def test_options_without_confidences_are_refused() -> None:
    with pytest.raises(OptionError, match=r"cut=0\.5 needs confidences: create the metric with"):
        PanopticMatching(cut=0.5)
    with pytest.raises(OptionError, match="interpolation='linear'"):
        PanopticMatching(confidence=True, interpolation="linear")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="there are no cuts: create the metric with confidence"):
        PanopticMatching().cut_curves()
