"""Results do not depend on how an image is stored: components, regions and ties included (D8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.evaluation import _class_case as in_memory
from tests.chunked_arrays import Array, Watched, boxes_up_to, stored

SPACINGS = ((1.0, 1.0, 1.0), (0.1, 0.5, 0.3), (0.6, 0.6, 3.0), (0.742188, 0.742188, 1.25))
SURFACES = ["dice", "hd95", "assd", "nsd"]
THIRD = slice(1, None, 3)


def spec(connectivity: str, metrics: list[str]) -> dict[str, Any]:
    """All that depends on the numbers of components, or on who is nearest."""
    return {
        "classes": {"lesion": {"instances": "components", "connectivity": connectivity}},
        "matching": [
            "union",
            {"strategy": "one-to-one", "solver": "greedy"},
            {"strategy": "many-to-one", "regions": True},
        ],
        "thresholds": 0.2,
        "curve": False,
        "metrics": metrics,
    }


def random_pair(rng: np.random.Generator) -> tuple[Array, Array]:
    """Small blocks and single voxels: components that tie in size, distance and overlap."""
    ndim = int(rng.integers(2, 4))
    shape = rng.integers(3, (11, 7)[ndim - 2], ndim)
    pair = []
    for _ in range(2):
        coarse = rng.random(-(-shape // 2)) < rng.uniform(0.1, 0.4)
        for axis in range(ndim):
            coarse = coarse.repeat(2, axis)
        noise = rng.random(shape) < 0.08
        pair.append((coarse[tuple(map(slice, shape))] ^ noise).astype(np.uint8))
    return pair[0], pair[1]


def strided(array: Array) -> Array:
    """The image between others, in Fortran order and backwards."""
    wide = np.ones([3 * n for n in array.shape], array.dtype, order="F")
    wide[(THIRD,) * array.ndim] = array[::-1]
    found: Array = wide[(THIRD,) * array.ndim][::-1]
    return found


def permuted(array: Array) -> Array:
    """Neither in C order nor in Fortran order, in 3-D."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 0, 1)), 1, 0)


def results(rng: np.random.Generator, number: int, metrics: list[str]) -> tuple[Any, Any, Any]:
    """A pair of images, how to evaluate any version of it, and the result of the plain one."""
    reference, prediction = random_pair(rng)
    chosen = spec("full" if number % 2 else "faces", metrics)
    spacing = SPACINGS[number % len(SPACINGS)][: reference.ndim]

    def evaluated(ref: Any, pred: Any) -> str:
        return pm.evaluate(reference=ref, prediction=pred, spec=chosen, spacing=spacing).to_json()

    return (reference, prediction), evaluated, evaluated(reference, prediction)


@pytest.mark.parametrize("seed", range(10))
def test_any_memory_order_gives_the_same_result(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(50):
        (ref, pred), evaluated, want = results(rng, number, SURFACES if number % 5 == 0 else [])
        assert evaluated(ref.copy(order="F"), pred.copy(order="F")) == want
        assert evaluated(strided(ref), permuted(pred)) == want


@pytest.mark.parametrize("seed", range(10))
def test_any_chunks_give_the_same_result(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "SMALL_BYTES", -1)
    rng = np.random.default_rng(seed)
    for number in range(50):
        pair, evaluated, want = results(rng, number, [])
        chunks = [tuple(rng.integers(3, 7, image.ndim).tolist()) for image in pair]
        kinds = rng.permutation(["zarr", "fortran"]).tolist() if number % 10 == 0 else None
        in_chunks = [
            stored(image, lengths, kinds[side]) if kinds else Watched(image, lengths)
            for side, (image, lengths) in enumerate(zip(pair, chunks, strict=True))
        ]
        with boxes_up_to(60):
            assert evaluated(*in_chunks) == want


def test_a_tie_between_regions_does_not_depend_on_the_memory_order() -> None:
    reference = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    prediction = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0]])
    chosen = {
        "classes": {"object": {"instances": "components", "connectivity": "faces"}},
        "matching": "union",
        "thresholds": 0.4,
    }
    for order in ("C", "F"):
        images = [image.copy(order=order) for image in (reference, prediction)]
        found = pm.evaluate(reference=images[0], prediction=images[1], spec=chosen)
        # The voxel in the middle is as near to both, and goes to the one in the first row.
        assert found.scores.pq.tolist() == [0.5]


def test_a_spacing_in_float32_is_recorded_as_the_decimal_that_was_meant() -> None:
    image = np.eye(4, dtype=np.uint8)
    for spacing in (np.array([0.6, 0.7], np.float32), (0.6, 0.7)):
        found = pm.evaluate(reference=image, prediction=image, spacing=spacing)
        assert found.cases[0].spacing == (0.6, 0.7)
    found = pm.evaluate(reference=image, prediction=image, spacing=np.float32(0.6))
    assert found.cases[0].spacing == (0.6, 0.6)
