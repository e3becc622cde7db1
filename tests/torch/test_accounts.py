"""Tables of whole numbers hold tallies and curves without losing a bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch.matching.exact_sum import from_halves, sum_units, to_halves, to_units
from panmatch.overlap import Floats

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)

from panmatch.torch.accounts import STEP, add_up, no_steps, tally_rows, to_curve, to_tally  # noqa: E402

qualities = st.lists(st.floats(0, 1), min_size=1, max_size=40).map(np.array)


@given(qualities)
def test_a_sum_of_qualities_comes_back_from_its_halves(quality: Floats) -> None:
    total = np.array([sum_units(to_units(quality))])
    assert from_halves(*to_halves(total)) == total


def test_halves_hold_the_qualities_of_many_and_of_tiny_objects() -> None:
    sums = np.array([0.0, 2.0**-62, 1e-9, 1.0, 123456.789, 2.0**30 + 0.125])
    high, low = to_halves(sums)
    assert low[1] == 1
    assert from_halves(high, low)[[0, 1, 3, 4, 5]].tolist() == sums[[0, 1, 3, 4, 5]].tolist()
    assert abs(from_halves(high, low)[2] - 1e-9) <= 2.0**-63


@given(st.lists(qualities, min_size=1, max_size=20))
def test_rows_of_images_add_up_to_the_exact_sum_rounded_once(images: list[Floats]) -> None:
    tallies = [pm.Tally(len(one), 1, 2, sum_units(to_units(one))) for one in images]
    found = to_tally(tally_rows(tallies).sum(axis=0))
    assert found.quality == math.fsum(tally.quality for tally in tallies)
    assert (found.tp, found.fp, found.fn) == (sum(map(len, images)), len(images), 2 * len(images))


def test_no_steps_add_up_to_no_steps_and_to_the_curve_of_nothing() -> None:
    assert add_up(no_steps()).shape == (0, STEP)
    nothing = pm.curve(pm.Overlap.from_dense(np.zeros((0, 0), np.int64), [], []))
    assert to_curve(no_steps(), 0, nothing) is nothing


def test_no_tallies_are_no_rows() -> None:
    assert tally_rows([]).shape == (0, 5)
