"""Cells of chunked images: exact wherever the nearest segment is, ties included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch.errors import ShapeError
from panmatch.labels import ChunkedLabels, connected_components, nearest_labels
from panmatch.labels import _chunked_voronoi as voronoi
from panmatch.labels._chunked_voronoi import ChunkedVoronoi
from tests.chunked_arrays import (
    Array,
    Watched,
    box_sizes,
    boxes_up_to,
    in_chunks,
    label_images,
    shapes,
    stored,
)

SPACINGS = (1.0, 0.5, 0.7, 3.0, 0.1, 0.3)


@contextmanager
def looks_up_to(voxels: int) -> Iterator[None]:
    """Let a second look be no larger than that: the image is looked over block by block then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(voronoi, "LARGEST_LOOK", voxels)
        yield


def nearest_of(text: str, chunk: int, where: str | None = None) -> str:
    labels = np.array([int(c) for c in text.replace(".", "0")], np.int64)
    wanted = None if where is None else np.array([int(c) for c in where.replace(".", "0")])
    with boxes_up_to(1):
        found = nearest_labels(stored(labels, (chunk,)), where=wanted)
        blocks = [found[at : at + chunk].tolist() for at in range(0, len(labels), chunk)]
    return "".join(str(label) for block in blocks for label in block).replace("0", ".")


@pytest.mark.parametrize("far", [False, True])
@given(shapes(), st.data())
def test_cells_equal_those_of_the_image_in_memory(
    far: bool, shape: tuple[int, ...], data: st.DataObject
) -> None:
    array, mask = data.draw(label_images(shape)), data.draw(label_images(shape))
    where = mask if data.draw(st.booleans()) else None
    spacing = data.draw(st.tuples(*[st.sampled_from(SPACINGS)] * len(shape)))
    want = nearest_labels(array, spacing, where=where)
    with boxes_up_to(data.draw(box_sizes)), looks_up_to(0 if far else voronoi.LARGEST_LOOK):
        image = data.draw(in_chunks(array, ("zarr", "fortran", "dask")))
        wanted = None if where is None else data.draw(in_chunks(where))
        found = nearest_labels(image, spacing, where=wanted)
        assert isinstance(found, ChunkedLabels)
        read = np.zeros(shape, found.dtype)
        found.store(read)
    np.testing.assert_array_equal(read, want)
    assert read.dtype == want.dtype.newbyteorder("=")


def test_a_segment_beyond_the_box_wins_a_tie_with_a_smaller_label() -> None:
    """Voxel 2 sees label 5 two steps before; label 1, two steps after, begins the next chunk."""
    assert nearest_of("5...1...", 4) == "55111111"
    assert nearest_of("1...5...", 4) == "11155555"


def test_a_segment_nearer_beyond_the_box_wins() -> None:
    assert nearest_of("5...1...", 3) == "55111111"
    assert nearest_of("7.......2", 8) == "777722222"


def test_chunks_without_a_segment_look_as_far_as_needed() -> None:
    assert nearest_of("3" + "." * 30 + "8", 4) == "3" * 16 + "8" * 16
    assert nearest_of("." * 40 + "8", 4) == "8" * 41


def test_without_any_segment_there_are_no_cells() -> None:
    assert nearest_of("." * 9, 2) == "." * 9
    assert nearest_of("", 2) == ""


def test_only_wanted_voxels_have_a_cell() -> None:
    assert nearest_of("5...1...", 3, "1..1...1") == "5..1...1"


def test_a_box_may_begin_anywhere() -> None:
    """The box of voxels 1 to 3 has label 2; label 1 is just before it."""
    labels = np.array([1, 0, 0, 2])
    assert nearest_labels(stored(labels, (4,)))[1:].tolist() == [1, 2, 2]


def test_cells_on_dask_may_depend_on_cells_that_need_another_look() -> None:
    """As a mask, as segments and as a mask of components; the first look settles none of them."""
    far, other = np.zeros(24, np.int64), np.zeros(24, np.int64)
    far[[0, 23]], other[[5, 12]] = (3, 8), (1, 2)
    wanted = np.zeros(24, np.int64)
    wanted[[2, 9, 10, 17, 18, 20]] = 1
    sparse = nearest_labels(far, where=wanted)
    chunked = nearest_labels(in_dask(far), where=in_dask(wanted))
    assert_equal(nearest_labels(in_dask(other), where=chunked), nearest_labels(other, where=sparse))
    assert_equal(nearest_labels(chunked), nearest_labels(sparse))
    assert_equal(connected_components(chunked), connected_components(sparse))


def in_dask(array: Array) -> Any:
    import dask.array

    return dask.array.from_array(array, chunks=4)  # type: ignore[no-untyped-call]


def assert_equal(found: Any, want: Array) -> None:
    """Counted on Dask, with the place of every voxel, so that each is told apart."""
    places = np.arange(1, want.size + 1)
    assert pm.count_overlaps(found, places) == pm.count_overlaps(want, places)


@pytest.mark.parametrize("spacing", [(0.3, 0.1), (0.742188, 0.247396), (0.742187, 0.247396)])
def test_ties_are_the_same_in_a_box_in_the_whole_image_and_in_chunks(spacing: Any) -> None:
    """Three steps along one axis are one along the other, or just not: also in a long image."""
    labels = np.zeros((2, 6000), np.uint8)
    labels[1, 100], labels[0, 103] = 2, 1
    wanted = np.zeros_like(labels)
    wanted[0, 100] = 1
    want = 1 if 3 * round(spacing[1] * 1e6) <= round(spacing[0] * 1e6) else 2
    assert nearest_labels(labels, spacing)[0, 100] == want
    assert nearest_labels(labels[:, 90:110], spacing)[0, 10] == want
    for chunk in (20, 101, 6000):
        with boxes_up_to(1):
            found = nearest_labels(stored(labels, (2, chunk)), spacing, where=wanted)
            assert found[0, 100] == want


def test_little_is_read_where_segments_are_near() -> None:
    """Segments in the middle of chunks, cells wanted one voxel around: none needs another chunk."""
    labels = np.zeros((40, 40), np.uint8)
    for number, (y, x) in enumerate(np.ndindex(4, 4), start=1):
        labels[10 * y + 4 : 10 * y + 6, 10 * x + 4 : 10 * x + 6] = number
    where = np.zeros_like(labels)
    for y, x in np.ndindex(4, 4):
        where[10 * y + 3 : 10 * y + 7, 10 * x + 3 : 10 * x + 7] = 1
    source = Watched(labels, (10, 10))
    with boxes_up_to(1):
        found: Any = nearest_labels(source, where=where)
        read = np.zeros_like(labels)
        found.store(read)
    np.testing.assert_array_equal(read, nearest_labels(labels, where=where))
    assert set(source.decoded.values()) == {1}


def test_far_looks_stop_at_the_first_block_that_is_too_far_away() -> None:
    labels = np.zeros(100, np.uint8)
    labels[50:] = np.arange(50) % 7 + 1
    source = Watched(labels, (5,))
    where = np.zeros(100, np.uint8)
    where[2] = 1
    with boxes_up_to(1):
        found: Any = nearest_labels(source, where=where)
        assert isinstance(found, ChunkedVoronoi)
        assert found[0:5].tolist() == [0, 0, 1, 0, 0]
    # Its own chunk; all once, to learn where segments are; then the first that has some.
    assert source.decoded[0,] == 2
    assert source.decoded[10,] == 2
    assert {source.decoded[at,] for at in range(11, 20)} == {1}


def test_shapes_must_agree() -> None:
    with pytest.raises(ShapeError, match=r"labels has shape \(4,\) but where has shape \(3,\)"):
        nearest_labels(stored(np.ones(4, int), (2,)), where=np.ones(3, int))


def test_an_image_without_axes_is_its_own_cell() -> None:
    image: Array = np.array(5)
    assert nearest_labels(stored(image, ())).tolist() == 5
