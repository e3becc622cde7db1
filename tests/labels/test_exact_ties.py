"""Nearest labels against whole numbers: every voxel and tie, whatever is around (D8)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panmatch.labels import nearest_labels
from panmatch.labels._whole_steps import (
    EXACT,
    WholeSteps,
    _in_same_order,
    comparison_weights,
)
from tests.chunked_arrays import boxes_up_to, stored
from tests.labels.tied_sites import (
    SPACINGS,
    Spacing,
    by_fractions,
    numbers,
    sparse_labels,
)


@pytest.mark.parametrize("spacing", SPACINGS, ids="×".join)
def test_every_voxel_has_the_label_that_whole_numbers_give(spacing: Spacing) -> None:
    rng = np.random.default_rng(len("".join(spacing)))
    ties = 0
    for number in range(250):
        labels = sparse_labels(rng, len(spacing))
        want = by_fractions(labels, spacing)
        renamed = np.where(labels, labels.max() + 1 - labels, 0)
        mirror = by_fractions(renamed, spacing)
        ties += int((mirror != labels.max() + 1 - want).sum())
        laid_out = labels.copy(order="F" if number % 2 else "C")
        found = nearest_labels(laid_out, numbers(spacing))
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(nearest_labels(renamed, numbers(spacing)), mirror)
        where = rng.random(labels.shape) < 0.5
        found = nearest_labels(labels, numbers(spacing), where=where)
        np.testing.assert_array_equal(found, np.where(where, want, 0))
    assert ties > 100  # the images have what is to be tested


@pytest.mark.parametrize("spacing", SPACINGS, ids="×".join)
def test_padding_and_cropping_change_nothing(spacing: Spacing) -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        labels = sparse_labels(rng, len(spacing))
        want = by_fractions(labels, spacing)
        before, after = rng.integers(0, 40, (2, labels.ndim))
        wide = np.pad(labels, list(zip(before.tolist(), after.tolist(), strict=True)))
        inside = tuple(map(slice, before, before + labels.shape))
        np.testing.assert_array_equal(nearest_labels(wide, numbers(spacing))[inside], want)
        where = np.zeros(wide.shape, np.uint8)
        where[inside] = 1
        found = nearest_labels(wide, numbers(spacing), where=where)
        np.testing.assert_array_equal(found[inside], want)


@pytest.mark.parametrize("spacing", SPACINGS, ids="×".join)
def test_chunked_images_have_the_same_ties(spacing: Spacing) -> None:
    rng = np.random.default_rng(8)
    for _ in range(15):
        labels = sparse_labels(rng, len(spacing))
        chunks = tuple(rng.integers(1, 4, labels.ndim).tolist())
        with boxes_up_to(1):
            found = np.asarray(nearest_labels(stored(labels, chunks), numbers(spacing)))
            np.testing.assert_array_equal(found, by_fractions(labels, spacing))


def test_a_voxel_between_two_objects_stays_with_one_as_the_image_is_padded() -> None:
    labels = np.zeros((8, 3), np.int64)
    labels[0, 0], labels[5, 1] = 2, 1
    for padding in range(0, 400, 7):
        wide = np.pad(labels, (padding, padding))
        assert nearest_labels(wide, (0.1, 0.5))[padding + 5, padding] == 1


@pytest.mark.parametrize("noise", [0.1 + 0.2, float(np.nextafter(0.3, 1)), 0.3])
def test_rounding_beyond_15_digits_is_not_a_difference(noise: float) -> None:
    """A spacing that was computed in float64 still has the ties of the decimal that was meant."""
    labels = np.zeros((5, 5), np.uint8)
    labels[0, 2], labels[2, 0] = 2, 1
    assert nearest_labels(labels, (0.3, noise))[2, 2] == 1
    assert nearest_labels(labels, (noise, 0.3))[2, 2] == 1


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


steps = st.integers(1, 10**15 - 1)
lengths = st.integers(1, 5000)


@given(st.tuples(steps, steps), st.tuples(lengths, lengths, lengths), st.integers(1, 3), st.data())
def test_smaller_weights_order_distances_alike(
    sizes: tuple[int, int], shape: tuple[int, int, int], factor: int, data: st.DataObject
) -> None:
    """The first spacing, a multiple of it, and another one."""
    squares = [sizes[0] ** 2, (factor * sizes[0]) ** 2, sizes[1] ** 2]
    smaller = _in_same_order(squares, shape)
    if smaller is None:
        assert len(set(squares)) == 1 or max(shape) > 1500
        return
    most = [(shape[0] - 1) ** 2 + factor**2 * (shape[1] - 1) ** 2, (shape[2] - 1) ** 2]
    assert sum(w * n**2 for w, n in zip(smaller, shape, strict=True)) <= EXACT
    if smaller[1] != factor**2 * smaller[0]:  # other families
        return
    ratio = Fraction(squares[0], squares[2])
    below = data.draw(st.integers(1, max(most[0], 1)))
    candidates = [
        (data.draw(st.integers(-most[0], most[0])), data.draw(st.integers(-most[1], most[1])))
    ]
    for denominator in (most[0], below):
        near = ratio.limit_denominator(max(denominator, 1))
        candidates += [(near.denominator, -near.numerator + shift) for shift in (-1, 0, 1)]
    for x, y in candidates:
        if abs(x) <= most[0] and abs(y) <= most[1]:
            exact = sign(x * squares[0] + y * squares[2])
            assert sign(x * smaller[0] + y * smaller[2]) == exact


@given(st.tuples(steps, steps, steps), st.tuples(*[st.integers(1, 5000)] * 3))
def test_no_sum_of_weighted_squares_is_ever_rounded(
    sizes: tuple[int, int, int], shape: tuple[int, int, int]
) -> None:
    found = comparison_weights(shape, np.array(sizes) / 1e9)
    assert (found >= 1).all()
    assert (found == np.floor(found)).all()
    assert sum(w * n**2 for w, n in zip(map(int, found), shape, strict=True)) <= EXACT


def test_axes_of_a_simple_ratio_keep_it_beside_a_third_one() -> None:
    """Too long for the image as they are: only the ratio to the third spacing may change."""
    labels = np.zeros((4, 4, 900), np.uint8)
    labels[2, 0, 0], labels[0, 1, 0], labels[3, 3, 899] = 2, 1, 3
    spacing = (0.976563, 1.953126, 1.234567)
    assert nearest_labels(labels, spacing)[0, 0, 0] == 1
    labels[0, 1, 0], labels[2, 0, 0] = 2, 1
    assert nearest_labels(labels, spacing)[0, 0, 0] == 1
    weights = comparison_weights(labels.shape, np.array(spacing))
    assert weights[1] == 4 * weights[0]


def test_three_long_spacings_are_rounded_alike_in_every_image() -> None:
    spacing = np.array([0.123456789, 0.987654321, 1.111111111])
    first = comparison_weights((5, 6, 7), spacing)
    for shape in ((1000, 6, 7), (900, 1023, 1000)):
        np.testing.assert_array_equal(comparison_weights(shape, spacing), first)
    ratios = first / first[0]
    np.testing.assert_allclose(ratios, (spacing / spacing[0]) ** 2, rtol=1e-6)


@pytest.mark.parametrize(
    ("spacing", "want"),
    [
        ((0.6, 0.6, 3), WholeSteps((1, 1, 5), 3, 5)),
        ((0.1,), WholeSteps((1,), 1, 10)),
        ((12.5, 5e3), WholeSteps((1, 400), 25, 2)),
        ((0.30000000000000004, 0.3), WholeSteps((1, 1), 3, 10)),
        ((3e-7, 2), WholeSteps((3, 20_000_000), 1, 10_000_000)),
        ((1e30, 3e30), WholeSteps((1, 3), 10**30, 1)),
    ],
)
def test_steps_are_whole_numbers_without_a_common_factor(spacing: Any, want: WholeSteps) -> None:
    assert WholeSteps.of(spacing) == want


def test_extreme_spacings_are_compared_too() -> None:
    labels = np.zeros((3, 4, 3), np.uint8)
    labels[0, 0, 0], labels[2, 3, 2] = 2, 1
    for spacing in ((1e-300, 1e300, 1.0), (1e-300, 1e300, 1e300), (1e-9, 1e9, 3.3)):
        assert nearest_labels(labels, spacing)[2, 0, 0] == 2
        assert nearest_labels(labels, spacing)[0, 3, 2] == 1
