"""Batches on a CUDA device give what the same batches give on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)
if not torch.cuda.is_available():
    pytest.skip("no CUDA device on this machine", allow_module_level=True)

import panmatch as pm  # noqa: E402
from panmatch.labels import Void, is_on_device  # noqa: E402
from panmatch.torch import PanopticMatching  # noqa: E402
from panmatch.torch import _labelling as labelling  # noqa: E402


def batch(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 40, (4, 12, 12))
    return torch.from_numpy(blocks.repeat(4, axis=1).repeat(4, axis=2).astype(np.int32))


def scores(options: dict[str, Any], device: str, *, masked: bool) -> dict[str, float]:
    metric = PanopticMatching(**options).to(device)
    target, preds = batch(1).to(device), batch(1).roll((1, 2), (1, 2)).to(device)
    void = (batch(2) % 7 == 0).to(device) if masked else None
    metric.update(preds, target, void)
    return {name: value.item() for name, value in metric.compute().items()}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("void", [(), 5, (3, 300)])
def test_scores_are_those_of_the_host(void: Any, masked: bool) -> None:
    options = {"void": void, "curve": True, "threshold": 0.1}
    found = scores(options, "cuda", masked=masked)
    assert found == scores(options, "cpu", masked=masked)
    assert found["tp"] > 0


@pytest.mark.parametrize(("instances", "stays"), [("ids", True), ("components", False)])
def test_numbered_objects_stay_on_the_device(
    instances: Any, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    seen: list[bool] = []

    def watched(reference: Any, prediction: Any, void: Void) -> pm.Overlap:
        seen.extend(is_on_device(image) for image in (reference, prediction, void.mask))
        return pm.count_overlaps(reference, prediction, void)

    monkeypatch.setattr(labelling, "count_overlaps", watched)
    metric = PanopticMatching(instances=instances).to("cuda")
    metric.update(batch(3).cuda(), batch(4).cuda(), (batch(5) == 1).cuda())
    assert seen == [True] * 12 if stays else not any(seen)


def test_without_cupy_batches_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelling, "_has_cupy", lambda: False)
    assert scores({}, "cuda", masked=True) == scores({}, "cpu", masked=True)


def test_errors_name_the_image_as_on_the_host() -> None:
    preds = batch(1).cuda()
    preds[2, 0, 0] = -4
    with pytest.raises(pm.PanmatchError, match="-4") as caught:
        PanopticMatching().to("cuda").update(preds, batch(1).cuda())
    assert "image 2" in caught.value.__notes__[0]


@pytest.mark.parametrize("spacing", [None, (0.7, 3.0)])
def test_regions_and_distances_of_tensors_are_those_of_the_host(spacing: Any) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    target, preds = batch(6)[0], batch(6).roll((1, 2), (1, 2))[0]
    target = target * (torch.rand(target.shape, generator=torch.manual_seed(1)) < 0.3)
    here, there = (target.numpy(), preds.numpy()), (target.cuda(), preds.cuda())
    overlap = pm.count_region_overlaps(*here, spacing)
    assert pm.count_region_overlaps(*there, spacing) == overlap
    matching = pm.match(overlap, "union", 0.05)
    assert matching.tally.tp > 0
    metrics = ("hd", "hd95", "assd", "nsd")
    want = pm.measure(matching, *here, metrics, spacing)
    found = pm.measure(matching, *there, metrics, spacing)
    for name in metrics:
        np.testing.assert_allclose(found.columns[name], want.columns[name], rtol=1e-12)
