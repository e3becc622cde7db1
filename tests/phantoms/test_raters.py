"""Simulated raters: what they keep, what they miss, and what they add."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.phantoms import balls, simulate_raters

TRUTH = balls((60, 60), 8, radius=(3, 7), gap=2, seed=5)


def test_careful_raters_draw_the_truth() -> None:
    for labels in simulate_raters(TRUTH, offset=0, misses=0).values():
        assert (labels == TRUTH).all()


def test_raters_differ_but_keep_the_ids_of_objects() -> None:
    drawn = simulate_raters(TRUTH, ("a", "b"), offset=1.5, misses=0, seed=2)
    assert (drawn["a"] != drawn["b"]).any()
    for labels in drawn.values():
        found = pm.match(pm.count_overlaps(TRUTH, labels), "same-id", 0.3).tally
        assert (found.tp, found.fp, found.fn) == (8, 0, 0)
        assert 0.5 < found.sq < 1


def test_the_largest_object_is_never_missed_and_the_smallest_most_often() -> None:
    sizes = np.bincount(TRUTH.ravel())[1:]
    largest, smallest = int(sizes.argmax()) + 1, int(sizes.argmin()) + 1
    there = {largest: 0, smallest: 0}
    for seed in range(20):
        for labels in simulate_raters(TRUTH, misses=0.9, seed=seed).values():
            for number in there:
                there[number] += bool((labels == number).any())
    assert there[largest] == 60
    assert there[smallest] < 20


def test_added_objects_touch_nothing_and_seeds_repeat() -> None:
    drawn = simulate_raters(TRUTH, offset=0, misses=0, spurious=2, seed=3)
    again = simulate_raters(TRUTH, offset=0, misses=0, spurious=2, seed=3)
    for name, labels in drawn.items():
        assert (labels == again[name]).all()
        found = pm.match(pm.count_overlaps(TRUTH, labels)).tally
        assert (found.tp, found.fp, found.fn) == (8, 2, 0)


def test_names_must_differ() -> None:
    with pytest.raises(OptionError, match=r"names=\['a', 'a'\] must be one or more different"):
        simulate_raters(TRUTH, ("a", "a"))
