"""What is accepted as labels, and what the errors say."""

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import LabelError, ShapeError


def test_whole_valued_floats_are_refused_with_the_conversion() -> None:
    with pytest.raises(
        LabelError, match=r"prediction has dtype float32.*prediction\.astype\(numpy\.int64\)"
    ):
        pm.count_overlaps([0, 1], np.array([0.0, 2.0], np.float32))


@pytest.mark.parametrize("value", [0.25, np.nan, np.inf])
def test_other_floats_are_refused_with_the_culprit(value: float) -> None:
    with pytest.raises(LabelError, match=f"reference has dtype float64.*It holds {value}"):
        pm.count_overlaps([0.0, value], [0, 1])


@pytest.mark.parametrize("values", [["a", "b"], [None, 1], [1j, 2]])
def test_what_is_no_number_is_refused(values: list[Any]) -> None:
    with pytest.raises(LabelError, match="labels must be integers or booleans"):
        pm.count_overlaps(values, [0, 1])


def test_both_shapes_are_printed() -> None:
    with pytest.raises(
        ShapeError, match=r"reference has shape \(2, 3\) but prediction has shape \(4, 5\)"
    ):
        pm.count_overlaps(np.zeros((2, 3), int), np.zeros((4, 5), int))


def test_permuted_axes_are_recognised() -> None:
    with pytest.raises(ShapeError, match=r"numpy\.transpose"):
        pm.count_overlaps(np.zeros((2, 3), int), np.zeros((3, 2), int))


def test_axes_of_length_one_are_recognised() -> None:
    with pytest.raises(ShapeError, match=r"numpy\.squeeze"):
        pm.count_overlaps(np.zeros((2, 3), int), np.zeros((1, 2, 3), int))
