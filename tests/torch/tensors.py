"""Between arrays and tensors, for tests of the metric."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor
from torchmetrics import Metric

import panmatch as pm
from tests.torch.batches import draw_batch


def as_tensors(preds: npt.NDArray[Any], target: npt.NDArray[Any]) -> tuple[Tensor, Tensor]:
    """Return two arrays as tensors."""
    return torch.from_numpy(preds), torch.from_numpy(target)


def drawn(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return predictions and references of n images, in the order of torchmetrics."""
    reference, prediction = draw_batch(n, seed)
    return as_tensors(prediction, reference)


def scores(metric: Metric) -> dict[str, float]:
    """Return all scores as plain numbers."""
    return {name: float(value) for name, value in metric.compute().items()}


def assert_same_curve(found: pm.Curve, wanted: pm.Curve) -> None:
    """Check that two curves are equal to the last bit."""
    for name in ("thresholds", "tp", "fp", "fn", "quality"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    assert (found.strategy, found.score) == (wanted.strategy, wanted.score)
    assert found.proven is wanted.proven
