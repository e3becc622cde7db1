"""Every mistake changes TP, FP, FN and quality as its notes say, by counting that is its own.

The strategies are written out here from D2 to D5 with exact fractions, without the rest of
panmatch, so that a mistake and the code that counts it cannot be wrong together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linear_sum_assignment

from panmatch.phantoms import (
    balls,
    dilate,
    erode,
    fragment,
    hallucinate,
    merge_neighbours,
    miss,
    relabel,
    shift,
)

Image = npt.NDArray[np.integer[Any]]
Sizes = dict[int, int]
Pairs = dict[int, list[int]]

STRATEGIES = ["one-to-one", "many-to-one", "one-to-many"]
THRESHOLDS = [Fraction(0), Fraction(3, 10), Fraction(1, 2), Fraction(4, 5)]
SCENES = {
    "2-D": balls((70, 80), 10, radius=(3, 6), gap=6, seed=2),
    "3-D": balls((40, 44, 48), 8, radius=(3, 6), gap=6, seed=3),
}

every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
every_threshold = pytest.mark.parametrize("threshold", THRESHOLDS, ids=str)
every_scene = pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)


@dataclass(frozen=True)
class Counts:
    tp: int = 0
    fp: int = 0
    fn: int = 0
    quality: Fraction = Fraction(0)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn,
                      self.quality + other.quality)  # fmt: skip


def sizes_of(image: Image) -> Sizes:
    ids, counts = np.unique(image[image != 0], return_counts=True)
    return dict(zip(ids.tolist(), counts.tolist(), strict=True))


class Graph:
    """All overlaps of two label images, counted the plain way."""

    def __init__(self, reference: Image, prediction: Image) -> None:
        self.refs, self.preds = sizes_of(reference), sizes_of(prediction)
        both = (reference != 0) & (prediction != 0)
        rows = np.stack([reference[both], prediction[both]], axis=1)
        pairs, counts = np.unique(rows, axis=0, return_counts=True)
        self.shared = {(int(g), int(p)): int(n) for (g, p), n in zip(pairs, counts, strict=True)}

    def iou(self, ref: int, preds: list[int]) -> Fraction:
        shared = sum(self.shared.get((ref, pred), 0) for pred in preds)
        return Fraction(shared, self.refs[ref] + sum(self.preds[p] for p in preds) - shared)

    def edges(self, threshold: Fraction) -> list[tuple[Fraction, int, int]]:
        found = [(self.iou(ref, [pred]), ref, pred) for ref, pred in self.shared]
        return sorted((e for e in found if e[0] > threshold), key=lambda e: (-e[0], e[1], e[2]))

    def counts(self, pairs: Pairs) -> Counts:
        taken = {pred for preds in pairs.values() for pred in preds}
        quality = sum((self.iou(ref, preds) for ref, preds in pairs.items()), Fraction(0))
        return Counts(
            len(pairs), len(self.preds) - len(taken), len(self.refs) - len(pairs), quality
        )


def one_to_one(graph: Graph, threshold: Fraction) -> Pairs:
    refs, preds = list(graph.refs), list(graph.preds)
    table = np.zeros((len(refs), len(preds)))
    for iou, ref, pred in graph.edges(threshold):
        table[refs.index(ref), preds.index(pred)] = float(iou)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return {refs[r]: [preds[c]] for r, c in zip(rows, columns, strict=True) if table[r, c] > 0}


def many_to_one(graph: Graph, threshold: Fraction) -> Pairs:
    pairs: Pairs = {}
    taken: set[int] = set()
    for iou, ref, pred in graph.edges(Fraction(0)):
        held = pairs.get(ref, [])
        rises = graph.iou(ref, [*held, pred]) > graph.iou(ref, held) if held else iou > threshold
        if pred not in taken and rises:
            pairs[ref] = [*held, pred]
            taken.add(pred)
    return pairs


def one_to_many(graph: Graph, threshold: Fraction) -> Pairs:
    pairs: Pairs = {}
    for _, ref, pred in graph.edges(threshold):
        pairs.setdefault(ref, [pred])
    return pairs


def count(reference: Image, prediction: Image, strategy: str, threshold: Fraction) -> Counts:
    solve = {"one-to-one": one_to_one, "many-to-one": many_to_one, "one-to-many": one_to_many}
    graph = Graph(reference, prediction)
    return graph.counts(solve[strategy](graph, threshold))


def kept_or_lost(quality: Fraction, threshold: Fraction, *, vanished: bool = False) -> Counts:
    """Counts of one object that has one candidate of this IoU."""
    if quality > threshold:
        return Counts(tp=1, quality=quality)
    return Counts(fn=1, fp=0 if vanished else 1)


@every_scene
@every_strategy
@every_threshold
def test_dilation(scene: Image, strategy: str, threshold: Fraction) -> None:
    prediction = dilate(scene, 1.5)
    before, after = sizes_of(scene), sizes_of(prediction)
    expected = Counts()
    for number, size in before.items():
        expected += kept_or_lost(Fraction(size, after[number]), threshold)
    assert count(scene, prediction, strategy, threshold) == expected


@every_scene
@every_strategy
@every_threshold
@pytest.mark.parametrize("radius", [1, 4])
def test_erosion(scene: Image, strategy: str, threshold: Fraction, radius: int) -> None:
    prediction = erode(scene, radius)
    before, after = sizes_of(scene), sizes_of(prediction)
    assert (len(after) < len(before)) == (radius == 4)
    expected = Counts()
    for number, size in before.items():
        left = after.get(number, 0)
        expected += kept_or_lost(Fraction(left, size), threshold, vanished=left == 0)
    assert count(scene, prediction, strategy, threshold) == expected


@every_scene
@every_strategy
@every_threshold
@pytest.mark.parametrize("step", [1, 3])
def test_shift_that_reaches_no_other_object(
    scene: Image, strategy: str, threshold: Fraction, step: int
) -> None:
    prediction = shift(scene, (step,) * scene.ndim)
    before, after = sizes_of(scene), sizes_of(prediction)
    expected = Counts()
    for number, size in before.items():
        shared = int(((scene == number) & (prediction == number)).sum())
        left = after.get(number, 0)
        quality = Fraction(shared, size + left - shared)
        expected += kept_or_lost(quality, threshold, vanished=left == 0)
    assert count(scene, prediction, strategy, threshold) == expected


@every_scene
@every_strategy
@every_threshold
def test_shift_out_of_the_image_is_a_miss(scene: Image, strategy: str, threshold: Fraction) -> None:
    prediction = shift(scene, (100,) + (0,) * (scene.ndim - 1), ids=[2, 5])
    objects = len(sizes_of(scene))
    expected = Counts(tp=objects - 2, fn=2, quality=Fraction(objects - 2))
    assert count(scene, prediction, strategy, threshold) == expected


@every_scene
@every_strategy
@every_threshold
@pytest.mark.parametrize("pieces", [2, 3, 10**6])
def test_fragments(scene: Image, strategy: str, threshold: Fraction, pieces: int) -> None:
    scene = miss(scene, len(sizes_of(scene)) - 2) if pieces > 3 else scene
    expected = Counts()
    for size in sizes_of(scene).values():
        made = min(pieces, size)
        share = Fraction(math.ceil(size / made), size)
        if share <= threshold:
            expected += Counts(fn=1, fp=made)
        elif strategy == "many-to-one":
            expected += Counts(tp=1, quality=Fraction(1))
        else:
            expected += Counts(tp=1, fp=made - 1, quality=share)
    assert count(scene, fragment(scene, pieces), strategy, threshold) == expected


@every_scene
@every_strategy
@every_threshold
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_merged_neighbours(scene: Image, strategy: str, threshold: Fraction, seed: int) -> None:
    prediction = merge_neighbours(scene, 3, seed=seed)
    sizes, expected = sizes_of(scene), Counts()
    for name in sizes_of(prediction):
        members = [sizes[g] for g in np.unique(scene[prediction == name]).tolist()]
        shares = sorted((Fraction(size, sum(members)) for size in members), reverse=True)
        if strategy == "one-to-many":
            passed = [share for share in shares if share > threshold]
        else:
            passed = [share for share in shares[:1] if share > threshold]
        quality = sum(passed, Fraction(0))
        expected += Counts(len(passed), int(not passed), len(shares) - len(passed), quality)
    assert count(scene, prediction, strategy, threshold) == expected


@every_scene
@every_strategy
@every_threshold
def test_missed_and_hallucinated_objects(scene: Image, strategy: str, threshold: Fraction) -> None:
    prediction = hallucinate(miss(scene, 3), 4, radius=(1, 2), avoid=scene)
    objects = len(sizes_of(scene))
    expected = Counts(tp=objects - 3, fp=4, fn=3, quality=Fraction(objects - 3))
    assert count(scene, prediction, strategy, threshold) == expected


@every_scene
@every_strategy
@every_threshold
def test_relabelling(scene: Image, strategy: str, threshold: Fraction) -> None:
    objects = len(sizes_of(scene))
    expected = Counts(tp=objects, quality=Fraction(objects))
    assert count(scene, relabel(scene, seed=3), strategy, threshold) == expected
