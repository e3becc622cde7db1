"""Boxes that are read together: every voxel once, and every chunk once where that is possible."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from panmatch.labels._boxes import (
    Box,
    Grid,
    as_grid,
    as_slices,
    cut_evenly,
    hull,
    shape_of,
    size_of,
)
from tests.chunked_arrays import chunkings, shapes


@st.composite
def plans(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Grid], int]:
    shape = draw(shapes())
    grids = [as_grid(one, shape) for one in draw(st.lists(chunkings(shape), max_size=3))]
    return shape, grids, draw(st.integers(0, 200))


@given(plans())
def test_boxes_cover_every_voxel_once_in_c_order(
    plan: tuple[tuple[int, ...], list[Grid], int],
) -> None:
    shape, grids, voxels = plan
    seen = np.zeros(shape, int)
    boxes = cut_evenly(shape, grids, voxels)
    for box in boxes:
        seen[as_slices(box)] += 1
    assert (seen == 1).all()
    assert boxes == sorted(boxes)


@given(plans())
def test_boxes_are_as_large_as_allowed_or_as_the_largest_chunk(
    plan: tuple[tuple[int, ...], list[Grid], int],
) -> None:
    shape, grids, voxels = plan
    chunk = math.prod(
        max((max(grid[axis]) for grid in grids), default=1) for axis in range(len(shape))
    )
    assert all(size_of(box) <= max(voxels, chunk) for box in cut_evenly(shape, grids, voxels))


@given(shapes(), st.data())
def test_a_box_ends_with_a_chunk_of_the_coarsest_grid(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    fine = data.draw(chunkings(shape))
    coarse = tuple(
        min(n, length * data.draw(st.integers(1, 3))) for length, n in zip(fine, shape, strict=True)
    )
    grids = [as_grid(fine, shape), as_grid(coarse, shape)]
    for box in cut_evenly(shape, grids, data.draw(st.integers(0, 100))):
        for (start, stop), length, n in zip(box, coarse, shape, strict=True):
            assert start % length == 0
            assert stop % length == 0 or stop == n


def test_a_chunk_lies_in_one_box_if_all_grids_end_together_often_enough() -> None:
    """Chunks of 4 and of 6 end together at 12: boxes of that length cut none of them."""
    grids = [as_grid((4,), (50,)), as_grid((6,), (50,))]
    ends = [(0, 12), (12, 24), (24, 36), (36, 48), (48, 50)]
    assert cut_evenly((50,), grids, 15) == [(both,) for both in ends]
    assert cut_evenly((50,), grids, 0)[:3] == [((0, 6),), ((6, 12),), ((12, 18),)]


def test_small_chunks_are_read_together() -> None:
    boxes = cut_evenly((64, 64, 64), [as_grid((8, 8, 8), (64, 64, 64))], 1 << 15)
    assert {shape_of(box) for box in boxes} == {(32, 32, 32)}


def test_images_without_voxels_and_without_axes_are_one_box() -> None:
    assert cut_evenly((0, 3), [as_grid((1, 2), (0, 3))], 0) == [((0, 0), (0, 3))]
    assert cut_evenly((), [()], 0) == [()]


def test_chunks_of_any_length_are_a_grid() -> None:
    grid = as_grid(((3, 0, 7),), (10,))
    assert cut_evenly((10,), [grid], 0) == [((0, 3),), ((3, 10),)]


def test_the_hull_of_two_boxes() -> None:
    first: Box = ((2, 4), (0, 9))
    assert hull(first, ((3, 8), (5, 6))) == ((2, 8), (0, 9))
