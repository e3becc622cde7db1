"""Where definitions agree, numbers are those of torchmetrics' own PanopticQuality.

They agree at IoU 0.5 without void in predictions and with things numbered from 1 on. There, things
with number 0 are ordinary objects, and a missed object that lies more than half in predicted void
is no false negative.
"""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from tests.torch.batches import KINDS, draw_pairs

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)

from torchmetrics.detection import PanopticQuality  # noqa: E402

from panmatch.torch import PanopticMatching  # noqa: E402
from tests.torch.tensors import as_tensors  # noqa: E402


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unknown", [False, True])
def test_scores_of_every_class_and_their_means_agree(seed: int, unknown: bool) -> None:
    reference, prediction = draw_pairs(4, seed)
    if unknown:
        corner = np.random.default_rng(seed).random(reference.shape[:-1]) < 0.3
        reference[corner] = [200, 1]
    ours = PanopticMatching(KINDS, void=200, per_class=True)
    things, stuff = ([kind.id for kind in KINDS if kind.thing is thing] for thing in (True, False))
    theirs, means = (
        PanopticQuality(things, stuff, return_sq_and_rq=True, return_per_class=per_class)
        for per_class in (True, False)
    )
    for metric in (ours, theirs, means):
        metric.update(*as_tensors(prediction, reference))
    found = ours.compute()
    table = theirs.compute()
    order = sorted(KINDS, key=lambda kind: (not kind.thing, kind.id))
    assert found["tp"] > 0
    for row, kind in zip(table, order, strict=True):
        for name, value in zip(("pq", "sq", "rq"), row, strict=True):
            assert found[f"{name}/{kind.name}"].item() == pytest.approx(value.item(), abs=1e-6)
    for name, value in zip(("pq", "sq", "rq"), means.compute(), strict=True):
        assert found[name].item() == pytest.approx(value.item(), abs=1e-6)


def test_predicted_void_excuses_no_missed_object_here() -> None:
    target = torch.tensor([[[3, 1], [3, 1], [3, 1]]])
    preds = torch.tensor([[[200, 1], [200, 1], [3, 1]]])
    ours = PanopticMatching([pm.SegmentClass(3)], void=200)
    theirs = PanopticQuality([3], [], allow_unknown_preds_category=True)
    for metric in (ours, theirs):
        metric.update(preds, target)
    assert ours.compute()["pq"] == 0
    assert theirs.compute() == 1
