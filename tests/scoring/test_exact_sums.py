"""Any order and any grouping of + gives the same bits (D13)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch.matching import (
    Tallies,
    limbs_to_floats,
    limbs_to_units,
    to_limbs,
    units_to_float,
    units_to_limbs,
)
from panmatch.matching._exact_sum import to_units
from tests import brute_force

Term = TypeVar("Term", pm.Tally, pm.Curve, pm.Average, pm.Measurements)

SHUFFLES = 1000
finite = st.floats(-1e6, 1e6, allow_nan=False)
qualities = st.floats(0, 1)


def regrouped(terms: Sequence[Term], rng: random.Random) -> Term:
    """Add the terms in a random order and along a random tree."""
    left = rng.sample(list(terms), len(terms))
    while len(left) > 1:
        first = left.pop(rng.randrange(len(left)))
        second = left.pop(rng.randrange(len(left)))
        left.append(first + second)
    return left[0]


def random_overlaps(n: int) -> list[pm.Overlap]:
    rng = np.random.default_rng(11)
    return [brute_force.random_scene(rng) for _ in range(n)]


@pytest.mark.parametrize("strategy", ["one-to-one", "many-to-one", "one-to-many"])
def test_a_thousand_shuffles_of_tallies_and_curves_agree_to_the_bit(strategy: str) -> None:
    overlaps = random_overlaps(25)
    tallies = [pm.match(one, strategy, 0.1).tally for one in overlaps]
    curves = [pm.curve(one, strategy) for one in overlaps]
    rng = random.Random(5)
    total: pm.Tally = sum(tallies[1:], tallies[0])
    curve: pm.Curve = sum(curves[1:], curves[0])
    for _ in range(SHUFFLES):
        assert regrouped(tallies, rng).units == total.units
    for _ in range(SHUFFLES // 10):
        other = regrouped(curves, rng)
        assert np.array_equal(other.thresholds, curve.thresholds)
        assert np.array_equal(other.tallies.counts, curve.tallies.counts)
        assert (other.autc, other.autc_sq, other.autc_rq) == (
            curve.autc, curve.autc_sq, curve.autc_rq,
        )  # fmt: skip


def test_a_thousand_shuffles_of_measurements_score_the_same_to_the_bit() -> None:
    rng = np.random.default_rng(3)
    measured = []
    for _ in range(8):
        reference, prediction = rng.integers(0, 4, (2, 6, 7))
        matching = pm.match(pm.count_overlaps(reference, prediction), "many-to-one", 0.05)
        measured.append(pm.measure(matching, reference, prediction, ("dice", "hd", "assd")))
    total: pm.Measurements = sum(measured[1:], measured[0])
    shuffler = random.Random(1)
    for _ in range(SHUFFLES // 4):
        other = regrouped(measured, shuffler)
        assert repr(other.scores) == repr(total.scores)  # NaN is equal to itself here
        assert other.average("hd", "all") == total.average("hd", "all")
        assert sorted(other.columns["dice"].tolist()) == sorted(total.columns["dice"].tolist())


def test_proofs_of_a_sum_do_not_depend_on_the_order() -> None:
    proven, unknown = pm.curve(random_overlaps(1)[0]), pm.curve(random_overlaps(2)[1])
    disproved = type(proven)(proven.thresholds, proven.tallies, proven.strategy, proven=False)
    unknown = type(unknown)(unknown.thresholds, unknown.tallies, unknown.strategy, proven=None)
    assert (disproved + unknown).proven is (unknown + disproved).proven is False
    assert (proven + unknown).proven is (unknown + proven).proven is None
    assert (proven + proven).proven is True


@given(st.lists(finite, max_size=30))
def test_sums_are_exact_and_rounded_once(values: list[float]) -> None:
    limbs = to_limbs(np.array(values)).sum(axis=0)
    exact = sum(round(Fraction(value) * 2**62) for value in values)
    assert limbs_to_units(limbs) == exact
    assert float(limbs_to_floats(limbs)) == units_to_float(exact)
    assert units_to_float(exact) == pytest.approx(exact / 2**62, rel=1e-15, abs=2.0**-62)


@given(qualities)
def test_a_single_quality_keeps_its_bits(quality: float) -> None:
    assert units_to_float(to_units(quality)) == pytest.approx(quality, abs=2.0**-62)
    if quality >= 2.0**-9:
        assert units_to_float(to_units(quality)) == quality


@given(st.integers(-(2**70), 2**70))
def test_units_and_limbs_are_the_same_number(units: int) -> None:
    assert limbs_to_units(np.array(units_to_limbs(units))) == units


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), qualities)))
def test_arrays_of_tallies_score_as_tallies_do(rows: list[tuple[int, int, int, float]]) -> None:
    tallies = [pm.Tally(tp, fp, fn, quality * tp) for tp, fp, fn, quality in rows]
    array = Tallies.of(tallies)
    for name in ("pq", "sq", "rq", "precision", "recall", "accuracy", "quality"):
        want = np.array([getattr(one, name) for one in tallies])
        assert np.array_equal(getattr(array, name), want, equal_nan=True), name
    assert array.sum().tally().units == sum(one.units for one in tallies)
    weights = np.arange(2 * len(rows)).reshape(2, len(rows)) % 3
    weighted = array.weighted(weights)
    for row, draw in enumerate(weights):
        repeated = [one for one, n in zip(tallies, draw, strict=True) for _ in range(n)]
        want_tally = sum(repeated, pm.Tally(0, 0, 0, 0.0))
        assert weighted.tally(row).units == want_tally.units
        assert weighted.tally(row) == want_tally
