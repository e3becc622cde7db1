"""What the classes of a case share: regions are found once, and void is the same for all stages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import native
from panmatch.evaluation import Images, _evaluate
from panmatch.evaluation._class_case import ClassCase, class_cases
from panmatch.spec import as_spec

PARTS = {"labels": [3, 4], "parts": [3, 4]}
SPEC: dict[str, Any] = {
    "classes": {"first": {"labels": 1}, "second": {"labels": 2}, "third": PARTS},
    "matching": [
        {"strategy": "one-to-one"},
        {"strategy": "one-to-one", "regions": True},
        {"strategy": "many-to-one", "regions": True},
        {"strategy": "union", "regions": True},
    ],
    "thresholds": [0.1, 0.5],
    "metrics": ["dice", "hd95", "assd"],
    "void": 9,
}


def images(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    blocks = [rng.integers(0, 5, (6, 6)).repeat(4, 0).repeat(4, 1) for _ in range(2)]
    blocks[0][:2] = 9
    return blocks[0], np.roll(blocks[1], 1, 0)


def calls_of(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    calls: list[int] = []
    original = getattr(native, name)

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return original(*arguments)

    monkeypatch.setattr(native, name, counted)
    return calls


def test_the_nearest_labels_of_a_class_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reference, prediction = images(1)
    calls = calls_of(monkeypatch, "nearest_labels")
    pm.evaluate(reference=reference, prediction=prediction, spec=SPEC, spacing=(1, 2))
    assert len(calls) == 3


def test_without_regions_nothing_is_sought(monkeypatch: pytest.MonkeyPatch) -> None:
    reference, prediction = images(2)
    calls = calls_of(monkeypatch, "nearest_labels")
    pm.evaluate(reference=reference, prediction=prediction, spec=SPEC | {"matching": "one-to-one"})
    assert not calls


def test_void_of_the_labels_and_of_a_mask_are_one() -> None:
    reference, prediction = images(3)
    mask = np.zeros(reference.shape, np.bool_)
    mask[:, 20:] = True
    both = np.where(mask, 9, reference)
    found = pm.evaluate(reference=reference, prediction=prediction, spec=SPEC, void=mask)
    want = pm.evaluate(reference=both, prediction=prediction, spec=SPEC)
    assert found.scores.equals(want.scores)
    assert found.instances.equals(want.instances)


def test_images_of_a_class_are_given_back_when_it_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[ClassCase] = []

    def remember(*arguments: Any, **options: Any) -> list[ClassCase]:
        kept.extend(class_cases(*arguments, **options))
        return kept

    monkeypatch.setattr(_evaluate, "class_cases", remember)
    spec = as_spec({"classes": {"a": {"labels": 1}, "b": {"labels": 2}}, "metrics": "hd"})
    labels = np.array([[1, 1, 0, 2, 2]])
    _evaluate.evaluate_case(Images(labels), Images(labels), spec)
    assert len(kept) == 2
    assert not any("images" in case.__dict__ or "_measurer" in case.__dict__ for case in kept)
