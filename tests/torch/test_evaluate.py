"""Tensors are images of one case like any others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'panmatch[torch]'")

import panmatch as pm  # noqa: E402
from panmatch.errors import LabelError, OptionError  # noqa: E402

REFERENCE = np.array([[1, 1, 1, 0, 2, 2], [1, 1, 1, 0, 2, 2]])
PREDICTION = np.array([[5, 5, 0, 0, 6, 0], [5, 5, 0, 0, 6, 6]])
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def tensors(device: str, dtype: Any = torch.int64) -> list[Any]:
    return [torch.from_numpy(side).to(device, dtype) for side in (REFERENCE, PREDICTION)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64])
def test_tensors_give_what_their_arrays_give(device: str, dtype: Any) -> None:
    expected = pm.evaluate(reference=REFERENCE, prediction=PREDICTION, spacing=(2, 1))
    reference, prediction = tensors(device, dtype)
    found = pm.evaluate(reference=reference, prediction=prediction, spacing=(2, 1))
    assert found.scores.equals(expected.scores)
    mixed = pm.evaluate(reference=reference, prediction=PREDICTION, spacing=(2, 1))
    assert mixed.scores.equals(expected.scores)


@pytest.mark.parametrize("device", DEVICES)
def test_masks_and_views(device: str) -> None:
    reference, prediction = tensors(device)
    void = (reference == 2).t().contiguous().t()
    found = pm.evaluate(reference=reference, prediction=prediction, void=void)
    expected = pm.evaluate(reference=REFERENCE, prediction=PREDICTION, void=REFERENCE == 2)
    assert found.scores.equals(expected.scores)


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_not_labels_is_refused_with_the_remedy(device: str) -> None:
    reference, prediction = tensors(device)
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        logits = prediction.to(dtype).requires_grad_()
        for call in (
            lambda logits=logits: pm.evaluate(reference=reference, prediction=logits),
            lambda logits=logits: pm.count_overlaps(reference.cpu(), logits),
        ):
            with pytest.raises(LabelError, match=r"prediction has dtype torch\..*with argmax over"):
                call()
    with pytest.raises(LabelError, match=r"pass reference\.to_dense\(\)"):
        pm.evaluate(reference=reference.to_sparse(), prediction=prediction)


def test_a_tensor_that_knows_its_affine_is_refused() -> None:
    class Placed(torch.Tensor):  # type: ignore[misc,name-defined]
        affine = np.eye(4)

    reference, prediction = tensors("cpu")
    with pytest.raises(OptionError, match="whose affine would be lost"):
        pm.evaluate(reference=reference.as_subclass(Placed), prediction=prediction)
