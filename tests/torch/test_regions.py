"""Predictions in regions, during training as elsewhere (D8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.labels import Void, is_on_device
from tests.torch.batches import draw_batch

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)

from panmatch.torch import PanopticMatching  # noqa: E402
from panmatch.torch import _labelling as labelling  # noqa: E402
from tests.torch.tensors import as_tensors, assert_same_curve  # noqa: E402


def sparse_batch(seed: int) -> tuple[Any, Any]:
    reference, prediction = draw_batch(6, seed=seed)
    gaps = np.random.default_rng(seed).random(reference.shape) < 0.6
    return np.where(gaps, 0, reference), prediction


@pytest.mark.parametrize("spacing", [None, (1, 3.5)])
@pytest.mark.parametrize("strategy", ["union", "one-to-one", "many-to-one", "one-to-many"])
def test_batches_add_up_to_the_scores_of_all_images(strategy: str, spacing: Any) -> None:
    reference, prediction = sparse_batch(1)
    cut = [
        pm.count_region_overlaps(ref, pred, spacing)
        for ref, pred in zip(reference, prediction, strict=True)
    ]
    tallies = [pm.match(overlap, strategy, 0.1).tally for overlap in cut]
    curves = [pm.curve(overlap, strategy) for overlap in cut]
    metric = PanopticMatching(
        strategy=strategy, threshold=0.1, curve=True, regions="voronoi", spacing=spacing
    )
    for part in (slice(0, 2), slice(2, 6)):
        metric.update(*as_tensors(prediction[part], reference[part]))
    whole = sum(tallies[1:], tallies[0])
    assert whole.tp > 0
    assert metric.tallies()[0.1][1] == whole
    assert_same_curve(metric.curves()[1], sum(curves[1:], curves[0]))


@pytest.mark.parametrize("strategy", ["union", "one-to-one", "many-to-one"])
@pytest.mark.parametrize("cut", [None, 0.4])
def test_pieces_have_the_confidence_of_their_prediction(strategy: str, cut: float | None) -> None:
    reference, prediction = sparse_batch(5)
    rng = np.random.default_rng(5)
    scores = [
        {int(one): rng.random() for one in np.unique(image[image > 0])} for image in prediction
    ]
    rated = [
        pm.count_region_overlaps(ref, pred).with_confidence(known)
        for ref, pred, known in zip(reference, prediction, scores, strict=True)
    ]
    metric = PanopticMatching(
        strategy=strategy, threshold=0.1, regions="voronoi", confidence=True, cut=cut
    )
    metric.update(*as_tensors(prediction, reference), confidence=scores)
    surface = pm.add_surfaces([pm.surface(overlap, strategy) for overlap in rated])
    assert metric.tallies()[0.1][1] == surface.at(0.1, -np.inf if cut is None else cut)
    found = metric.compute()["average_precision"].item()
    assert 0 < found == pytest.approx(surface.average_precision(0.1), abs=1e-6)


def test_void_shapes_no_region() -> None:
    reference, prediction = sparse_batch(2)
    mask = np.random.default_rng(3).random(reference.shape) < 0.2
    label = int(reference.max())
    metric = PanopticMatching(strategy="union", threshold=0.1, regions="voronoi", void=label)
    metric.update(*as_tensors(prediction, reference), torch.from_numpy(mask))
    tallies = [
        pm.match(pm.count_region_overlaps(ref, pred, void=Void((label,), void)), "union", 0.1).tally
        for ref, pred, void in zip(reference, prediction, mask, strict=True)
    ]
    assert metric.tallies()[0.1][1] == sum(tallies[1:], tallies[0])


def test_nothing_seen_yet_has_no_score() -> None:
    metric = PanopticMatching(strategy="union", curve=True, regions="voronoi")
    empty = torch.zeros((1, 3, 4), dtype=torch.int64)
    metric.update(empty, empty)
    assert {name: value.item() for name, value in metric.compute().items()}["tp"] == 0


def test_metrics_with_and_without_regions_do_not_share_their_work() -> None:
    whole, cut = PanopticMatching(), PanopticMatching(regions="voronoi")
    assert not torch.equal(whole.fingerprint, cut.fingerprint)
    wide = PanopticMatching(regions="voronoi", spacing=(1, 2))
    assert not torch.equal(wide.fingerprint, cut.fingerprint)


def test_images_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CUDA device, tensors go to `count_region_overlaps` as they are."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    pytest.importorskip("cupy", reason="CuPy is not installed")
    seen: list[bool] = []

    def watched(reference: Any, prediction: Any, *given: Any, **options: Any) -> pm.Overlap:
        seen.extend(is_on_device(image) for image in (reference, prediction))
        return pm.count_region_overlaps(reference, prediction, *given, **options)

    monkeypatch.setattr(labelling, "count_region_overlaps", watched)
    reference, prediction = sparse_batch(4)
    found = []
    for device in ("cpu", "cuda"):
        metric = PanopticMatching(strategy="union", threshold=0.1, regions="voronoi").to(device)
        tensors = as_tensors(prediction, reference)
        metric.update(*(tensor.to(device) for tensor in tensors))
        found.append(metric.tallies())
    assert found[0][0.1][1] == found[1][0.1][1]
    assert seen[-2:] == [True, True]
