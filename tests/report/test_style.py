"""The look that all that people see has in common."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from panmatch.errors import OptionError
from panmatch.report._style import (
    DASHED,
    OTHER,
    SERIES_COLORS,
    SOLID,
    STATUSES,
    line_style,
    luminance,
    score_limits,
    series_look,
    width_in,
)


def lightness(color: str) -> float:
    """Return CIE L*, from 0 for black to 100 for white."""
    red, green, blue = (value / 255 for value in bytes.fromhex(color[1:]))
    share = luminance((red, green, blue))
    return float(116 * share ** (1 / 3) - 16 if share > 0.008856 else 903.3 * share)


def test_statuses_differ_in_lightness_and_in_a_second_way() -> None:
    for first, second in combinations(STATUSES.values(), 2):
        assert abs(lightness(first.color) - lightness(second.color)) > 6
        assert (first.dash, first.hatch) != (second.dash, second.hatch)
        assert first.marker != second.marker


def test_statuses_stand_out_from_white() -> None:
    for look in [*STATUSES.values(), OTHER]:
        red, green, blue = (value / 255 for value in bytes.fromhex(look.color[1:]))
        assert 1.05 / (luminance((red, green, blue)) + 0.05) > 3


def test_statuses_are_those_of_the_instance_table() -> None:
    assert list(STATUSES) == ["matched", "missed", "false positive"]


def test_the_first_three_series_are_far_apart_in_grey() -> None:
    for first, second in combinations(SERIES_COLORS[:3], 2):
        assert abs(lightness(first) - lightness(second)) > 20


def test_no_two_of_49_series_look_alike() -> None:
    assert len({(look.color, look.marker) for look in map(series_look, range(49))}) == 49
    assert series_look(49) == series_look(0)


def test_neighbouring_series_differ_in_colour_and_marker() -> None:
    for i in range(10):
        first, second = series_look(i), series_look(i + 1)
        assert first.color != second.color
        assert first.marker != second.marker


def test_dashes_are_lengths_in_line_widths_and_solid_lines_have_none() -> None:
    assert line_style(SOLID) == "-"
    assert line_style(DASHED) == (0.0, (4.0, 1.6))
    assert all(len(look.dash) % 2 == 0 for look in [*STATUSES.values(), OTHER])
    assert series_look(1, (7.0, 2.0)).dash == (7.0, 2.0)


@pytest.mark.parametrize(
    ("values", "limits"),
    [
        ([0.05, 0.31], (0.0, 0.4)),
        ([0.3, 0.86], (0.0, 1.0)),
        ([0.3, 0.68], (0.0, 0.8)),
        ([0.1, 0.55], (0.0, 0.6)),
        ([0.47, 0.86], (0.4, 0.9)),
        ([0.9, 1.0], (0.8, 1.0)),
        ([0.905], (0.8, 1.0)),
        ([0.5], (0.4, 0.6)),
        ([0.0, 1.0], (0.0, 1.0)),
        ([0.0, 0.0], (0.0, 1.0)),
        ([], (0.0, 1.0)),
        ([float("nan"), 0.6], (0.5, 0.7)),
    ],
)
def test_an_axis_fits_its_scores(values: list[float], limits: tuple[float, float]) -> None:
    assert score_limits(values) == limits


def test_scores_lie_within_their_axis_and_fill_half_of_it_or_it_is_short() -> None:
    steps = [i / 40 for i in range(41)]
    for low in steps:
        for high in steps:
            if low <= high and high > 0:
                bottom, top = score_limits([low, high])
                assert 0 <= bottom <= low <= high <= top <= 1
                assert bottom == 0 or bottom >= low - 0.2
                assert top - bottom >= 0.1


def test_widths_are_columns_of_a_page_or_inches() -> None:
    assert [width_in(width) for width in ("single", "double", 5, 2.0)] == [3.5, 7.2, 5.0, 2.0]


@pytest.mark.parametrize(
    ("width", "message"),
    [
        ("singel", "width='singel' is not known; did you mean 'single'? Accepted: 'single', "
         "'double'."),
        (1.9, "width=1.9 inches is not a valid figure width: pass 'single' (3.5 in), "
         "'double' (7.2 in), or 2.0 or more."),
        (float("nan"), "width=nan inches is not a valid figure width: pass 'single' (3.5 in), "
         "'double' (7.2 in), or 2.0 or more."),
        (float("inf"), "width=inf inches is not a valid figure width: pass 'single' (3.5 in), "
         "'double' (7.2 in), or 2.0 or more."),
        (None, "width=None must be 'single', 'double' or a number of inches."),
        (True, "width=True must be 'single', 'double' or a number of inches."),
    ],
)  # fmt: skip
def test_other_widths_are_errors(width: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        width_in(width)
    assert str(caught.value) == message
