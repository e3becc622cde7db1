"""Spacings: what is accepted, and how numbers of float32 are read (D8)."""

import numpy as np
import pytest

from panmatch.labels import as_spacing, shortest_decimal

TENTHS = [round(0.1 * n, 1) for n in range(1, 13)]


@pytest.mark.parametrize("value", [*TENTHS, 0.3125, 0.78125, 1e-6, 12345.67, 3e38])
def test_float32_becomes_the_decimal_that_was_meant(value: float) -> None:
    assert shortest_decimal(float(np.float32(value))) == value


@pytest.mark.parametrize("value", [0.6, 0.1 + 0.2, 0.123456789012, 1 / 3, 1e300, np.inf])
def test_numbers_of_higher_precision_stay(value: float) -> None:
    assert shortest_decimal(value) == value


@pytest.mark.parametrize("dtype", ["float32", ">f4"])
def test_an_array_of_float32_is_a_spacing_in_decimals(dtype: str) -> None:
    assert as_spacing(np.array(TENTHS, dtype), len(TENTHS)).tolist() == TENTHS


def test_a_tuple_or_a_number_of_float32_is_one_too() -> None:
    assert as_spacing((np.float32(0.6), np.float32(0.7)), 2).tolist() == [0.6, 0.7]
    assert as_spacing(np.float32(0.6), 3).tolist() == [0.6, 0.6, 0.6]


def test_float64_is_taken_as_it_is() -> None:
    given = np.array([float(np.float32(0.6)), 0.6])
    assert as_spacing(given, 2).tolist() == given.tolist()
