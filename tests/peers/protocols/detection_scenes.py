"""Datasets of lesions with confidences: numpy only, so that other programs can use them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

DATASETS = 40
SHAPE = (8, 20, 20)

Volume = npt.NDArray[np.float32]


def dataset(seed: int) -> list[tuple[npt.NDArray[np.uint8], Volume]]:
    """Return lesion masks and detection maps of several cases; some have no lesion."""
    rng = np.random.default_rng(seed)
    return [case(rng) for _ in range(rng.integers(4, 9))]


def case(rng: np.random.Generator) -> tuple[npt.NDArray[np.uint8], Volume]:
    """Return a mask of boxes, and candidates that are moved, split or spurious."""
    mask, found = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.float32)
    for _ in range(rng.integers(0, 4)):
        low, size = rng.integers(0, [5, 14, 14]), rng.integers(2, [4, 7, 7])
        mask[box(low, size)] = 1
        if rng.random() < 0.8:
            put(found, rng, np.maximum(low + rng.integers(-2, 3, 3), 0), size)
        if rng.random() < 0.3:
            put(found, rng, low, np.maximum(size // 2, 1))
    for _ in range(rng.integers(0, 3)):
        put(found, rng, rng.integers(0, [6, 17, 17]), rng.integers(1, 4, 3))
    return mask, found


def box(low: npt.ArrayLike, size: npt.ArrayLike) -> tuple[slice, ...]:
    """Return where a box lies."""
    pairs = zip(np.asarray(low).tolist(), np.asarray(size).tolist(), strict=True)
    return tuple(slice(at, at + side) for at, side in pairs)


def put(found: Volume, rng: np.random.Generator, low: npt.ArrayLike, size: npt.ArrayLike) -> None:
    """Add a candidate that touches no other; few digits, so that some confidences are equal."""
    around = box(np.maximum(np.asarray(low) - 1, 0), np.asarray(size) + 2)
    confidence = np.float32(rng.integers(1, 9) / 8)
    if not found[around].any():
        found[box(low, size)] = confidence
