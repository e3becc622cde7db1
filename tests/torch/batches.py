"""Batches of label images with many contacts, and what the library says about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch.overlap import Score

Labels = npt.NDArray[np.int64]

KINDS = (
    pm.SegmentClass(3, "person"),
    pm.SegmentClass(8, "car"),
    pm.SegmentClass(5, "sky", thing=False),
    pm.SegmentClass(9, "road", thing=False),
)


def draw_batch(n: int, seed: int) -> tuple[Labels, Labels]:
    """Return references and predictions of objects, shape (n, 16, 16)."""
    reference, prediction = _draw(n, seed)
    numbers = np.random.default_rng(seed).permutation(8) + 10
    return reference, np.concatenate([[0], numbers])[prediction]


def draw_pairs(n: int, seed: int) -> tuple[Labels, Labels]:
    """Return references and predictions of class and number, shape (n, 16, 16, 2)."""
    reference, prediction = _draw(n, seed)
    classes = np.array([3, 3, 3, 8, 8, 5, 9, 9, 5])
    predicted = np.array([3, 3, 8, 8, 8, 5, 9, 9, 5])  # one person is taken for a car
    return (
        np.stack([classes[reference], reference + 1], axis=-1),
        np.stack([predicted[prediction], prediction + 4], axis=-1),
    )


def _draw(n: int, seed: int) -> tuple[Labels, Labels]:
    """Return tiles with labels 0 to 6, and the same moved and frayed, with labels 0 to 8."""
    rng = np.random.default_rng(seed)
    reference = np.kron(rng.integers(0, 7, (n, 4, 4)), np.ones((1, 4, 4), np.int64))
    moved = np.roll(reference, rng.integers(-1, 2, 2).tolist(), (1, 2))
    return reference, np.where(
        rng.random(moved.shape) < 0.1, rng.integers(0, 9, moved.shape), moved
    )


def sum_class_tallies(tallies: Sequence[pm.ClassTallies]) -> pm.ClassTallies:
    """Return the sum of tallies of classes."""
    total: pm.ClassTallies = sum(tallies[1:], tallies[0])
    return total


def sum_curves(curves: Sequence[pm.Curve]) -> pm.Curve:
    """Return the sum of curves."""
    total: pm.Curve = sum(curves[1:], curves[0])
    return total


def expected(
    overlaps: Sequence[pm.Overlap],
    strategy: str | pm.Strategy = "one-to-one",
    threshold: float = 0.5,
    score: Score = "iou",
) -> tuple[pm.Tally, pm.Curve]:
    """Return the tally and the curve of several images."""
    tallies = [pm.match(one, strategy, threshold, score=score).tally for one in overlaps]
    return sum(tallies[1:], tallies[0]), sum_curves(
        [pm.curve(one, strategy, score=score) for one in overlaps]
    )


def count_each(
    references: Labels,
    predictions: Labels,
    count: Callable[[Labels, Labels], pm.Overlap] = pm.count_overlaps,
) -> list[pm.Overlap]:
    """Return the overlap of every image of a batch."""
    return [count(one, other) for one, other in zip(references, predictions, strict=True)]
