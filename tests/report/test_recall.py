"""Recall by size, and Wilson's interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from panmatch.errors import OptionError
from panmatch.report._sizes_figure import SizeBin, recall_by_size, size_edges, wilson_interval


def test_wilson_interval_by_hand() -> None:
    # z = 1.959964, n = 10, p = 1/2: centre (0.5 + z²/20)/(1 + z²/10) = 0.5,
    # half width z·√(0.25/10 + z²/400)/(1 + z²/10) = 1.959964·√0.0346036/1.3841459.
    z = 1.959963984540054
    half = z * math.sqrt(0.025 + z * z / 400) / (1 + z * z / 10)
    assert wilson_interval(5, 10) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-15)
    assert round(half, 6) == 0.263407


def test_wilson_interval_solves_its_equation() -> None:
    # The ends are the shares p with |found/n − p| = z·√(p(1−p)/n).
    z = 1.959963984540054
    for found, n in ((1, 7), (20, 31), (99, 100)):
        for end in wilson_interval(found, n):
            assert abs(found / n - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n))


def test_wilson_interval_of_all_and_none_ends_at_one_and_zero() -> None:
    assert wilson_interval(4, 4)[1] == 1.0
    assert wilson_interval(0, 4)[0] == 0.0
    assert wilson_interval(4, 4)[0] == pytest.approx(1 - wilson_interval(0, 4)[1])
    assert wilson_interval(4, 4)[0] == pytest.approx(4 / (4 + 1.959963984540054**2))


def test_nothing_has_no_recall() -> None:
    nothing = SizeBin(0.0, 1.0, 0, 0)
    assert math.isnan(nothing.recall)
    assert all(math.isnan(end) for end in nothing.interval)


def test_another_level_is_narrower() -> None:
    (low, high), (lower, higher) = wilson_interval(3, 9, level=0.5), wilson_interval(3, 9)
    assert lower < low < 3 / 9 < high < higher


def test_bins_are_open_above_except_the_last() -> None:
    sizes, found = [1, 4, 5, 9, 10, 10], [True, False, True, True, False, True]
    bins = recall_by_size(sizes, found, np.array([1.0, 5.0, 10.0]))
    assert [(one.low, one.high, one.references, one.found) for one in bins] == [
        (1.0, 5.0, 2, 1),
        (5.0, 10.0, 4, 3),
    ]
    assert [one.recall for one in bins] == [0.5, 0.75]


def test_sizes_outside_all_bins_are_left_out() -> None:
    (only,) = recall_by_size([1, 3, 99], [True, True, False], np.array([2.0, 5.0]))
    assert (only.references, only.found) == (1, 1)


def test_edges_split_objects_evenly() -> None:
    assert size_edges(range(1, 11), 5).tolist() == [1, 3, 5, 7, 9, 10]
    bins = recall_by_size(range(1, 11), [True] * 10, size_edges(range(1, 11), 5))
    assert [one.references for one in bins] == [2] * 5


def test_equal_sizes_are_one_bin() -> None:
    edges = size_edges([7, 7, 7], 5)
    assert edges.tolist() == [7, 7]
    (only,) = recall_by_size([7, 7, 7], [True, False, True], edges)
    assert (only.references, only.found) == (3, 2)


def test_frequent_sizes_leave_fewer_bins() -> None:
    assert size_edges([1, 1, 1, 1, 8], 4).tolist() == [1, 8]


@pytest.mark.parametrize("bins", [0, -1, True, [3], [], [1, 1], [5, 2]])
def test_invalid_bins_are_errors(bins: Any) -> None:
    with pytest.raises(OptionError) as caught:
        size_edges([1, 2], bins)
    assert str(caught.value) == (
        f"bins={bins!r} is neither a number of bins, 1 or more, nor two or more rising edges."
    )
