"""What is counted along runs is what is counted pixel by pixel."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch.playground import Disc, Scene, Stroke
from panmatch.playground._runs import Runs, count_runs
from tests.playground.drawn_scenes import EMPTY, MIXED, ONLY_PREDICTIONS, ONLY_REFERENCES
from tests.playground.test_scene import random_shapes

Image = list[int]


def as_runs(image: Image, empty: list[int]) -> Runs:
    """One run per pixel, and some empty ones of a value that is nowhere."""
    stops = np.sort([*range(1, len(image) + 1), *(at % len(image) for at in empty)])
    first = np.diff(stops, prepend=0) > 0
    values = np.where(first, np.array(image)[np.maximum(stops, 1) - 1], 9)
    return Runs(stops, values)


def assert_same(found: pm.Overlap, expected: pm.Overlap) -> None:
    for field in dataclasses.fields(pm.Overlap):
        if field.name in ("edges", "pieces", "parts"):
            continue
        ours, theirs = getattr(found, field.name), getattr(expected, field.name)
        assert np.array_equal(ours, theirs), field.name
    for name in ("ref", "pred", "intersection"):
        assert np.array_equal(getattr(found.edges, name), getattr(expected.edges, name)), name


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
    ),
    st.tuples(*[st.lists(st.integers(0, 11), max_size=3)] * 2),
)
def test_runs_are_counted_as_their_pixels_are(
    images: tuple[Image, Image], empty: tuple[list[int], list[int]]
) -> None:
    runs = [as_runs(image, some) for image, some in zip(images, empty, strict=True)]
    assert_same(count_runs(*runs), pm.count_overlaps(np.array(images[0]), np.array(images[1])))


SCENES = {
    "mixed": MIXED,
    "empty": EMPTY,
    "no predictions": ONLY_REFERENCES,
    "no references": ONLY_PREDICTIONS,
    "out of sight": Scene(
        (Disc(-50, 0, 10), Disc(2, 361, 5)), (Disc(599, 1, 4), Disc(300, 900, 9))
    ),
    "covered": Scene((Disc(99, 99, 9), Disc(99, 99, 20)), (Disc(99, 99, 30), Disc(99, 99, 5))),
    "whole canvas": Scene((Disc(300, 181, 900),), (Stroke(((0, 0), (600, 362)), 2000),)),
    "one corner to the other": Scene((Disc(600, 362, 30),), (Disc(0, 0, 30),)),
    "many": Scene(tuple(random_shapes(5, 120, 30)), tuple(random_shapes(6, 90, 40))),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_counted_as_its_images_are(name: str) -> None:
    scene = SCENES[name]
    assert_same(count_runs(*scene.label_runs()), pm.count_overlaps(*scene.label_images()))
