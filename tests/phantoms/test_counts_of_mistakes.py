"""Every mistake changes TP, FP, FN and quality as its notes say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch.phantoms import (
    add_spurious,
    balls,
    dilate,
    erode,
    merge_neighbours,
    miss,
    relabel,
    shift,
    split,
)

Image = npt.NDArray[np.integer[Any]]
Sizes = dict[int, int]

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
    quality: float | Fraction = Fraction(0)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.tp + other.tp,
            self.fp + other.fp,
            self.fn + other.fn,
            self.quality + other.quality,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        same = (self.tp, self.fp, self.fn) == (other.tp, other.fp, other.fn)
        return same and math.isclose(self.quality, other.quality, rel_tol=1e-12)


def sizes_of(image: Image) -> Sizes:
    ids, counts = np.unique(image[image != 0], return_counts=True)
    return dict(zip(ids.tolist(), counts.tolist(), strict=True))


def count(reference: Image, prediction: Image, strategy: str, threshold: Fraction) -> Counts:
    overlap = pm.count_overlaps(reference, prediction)
    tally = pm.match(overlap, strategy, float(threshold)).tally
    return Counts(tally.tp, tally.fp, tally.fn, tally.quality)


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
    assert count(scene, split(scene, pieces), strategy, threshold) == expected


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
def test_missed_and_spurious_objects(scene: Image, strategy: str, threshold: Fraction) -> None:
    prediction = add_spurious(miss(scene, 3), 4, radius=(1, 2), avoid=scene)
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
