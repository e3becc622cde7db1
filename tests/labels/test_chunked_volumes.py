"""Chunked images are indexed, mapped, stored and refused as arrays would be."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panmatch.errors import LabelError, OptionError
from panmatch.labels import (
    ChunkedLabels,
    Stored,
    _arrays,
    as_labels,
    as_volume,
    distinct_labels,
    map_labels,
    segment_geometry,
)
from panmatch.labels import _folding as folding
from panmatch.labels._boxes import Box
from panmatch.labels._combinations import add_counted
from panmatch.labels._folding import FAN_IN, Tree, fold, look_in_turn, plan_cuts
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

IMAGE = np.arange(60).reshape(5, 4, 3).astype(np.int16)


def chunked(array: Array = IMAGE, chunks: tuple[int, ...] = (2, 3, 2)) -> ChunkedLabels:
    found = as_volume(stored(array, chunks), "image")
    assert isinstance(found, ChunkedLabels)
    return found


@pytest.mark.parametrize(
    "index",
    [
        ...,
        2,
        -1,
        slice(1, 4),
        slice(None, None, 2),
        (slice(1, 5, 3), 2),
        (..., 1),
        (0, ..., slice(1, 3)),
        (slice(4, 2),),
        (1, 2, 0),
    ],
    ids=str,
)
def test_an_index_gives_what_it_gives_of_an_array(index: Any) -> None:
    np.testing.assert_array_equal(chunked()[index], IMAGE[index])


@pytest.mark.parametrize("index", [5, (0, 0, 0, 0), slice(None, None, -1)], ids=str)
def test_what_cannot_be_indexed_is_an_error(index: Any) -> None:
    with pytest.raises(IndexError):
        chunked()[index]


def test_it_is_described_and_turned_into_an_array() -> None:
    image = chunked()
    assert repr(image) == "Stored(shape=(5, 4, 3), dtype=int16)"
    assert (image.ndim, image.size, image.chunks) == (3, 60, ((2, 2, 1), (3, 1), (2, 1)))
    np.testing.assert_array_equal(np.asarray(image), IMAGE)
    assert image.tolist() == IMAGE.tolist()


def test_it_is_stored_box_by_box_in_whole_chunks() -> None:
    class Written:
        shape, chunks, dtype = IMAGE.shape, (4, 4, 3), IMAGE.dtype

        def __init__(self) -> None:
            self.array = np.zeros(IMAGE.shape, IMAGE.dtype)

        def __getitem__(self, box: Any) -> Any:
            return self.array[box]

        def __setitem__(self, box: Any, block: Any) -> None:
            assert all(part.start % n == 0 for part, n in zip(box, self.chunks, strict=True))
            self.array[box] = block

    out = Written()
    chunked().store(out)
    np.testing.assert_array_equal(out.array, IMAGE)
    plain = np.zeros_like(IMAGE)
    chunked().store(plain)
    np.testing.assert_array_equal(plain, IMAGE)


def test_booleans_and_foreign_bytes_become_labels() -> None:
    assert as_volume(stored(IMAGE > 7, (2, 2, 2)), "mask").dtype == np.uint8
    foreign = as_volume(stored(IMAGE.astype(">i4"), (2, 2, 2)), "image")
    assert foreign.dtype == np.dtype("int32")
    assert foreign.dtype.isnative
    np.testing.assert_array_equal(np.asarray(foreign), IMAGE)


def test_other_values_are_refused_without_being_read() -> None:
    array = Watched(IMAGE.astype(np.float32), (2, 2, 2))
    with pytest.raises(LabelError, match="reference has dtype float32; labels must be integers"):
        as_volume(array, "reference")
    assert not array.decoded


def test_dask_arrays_of_unknown_lengths_are_refused() -> None:
    import dask.array

    array: Any = dask.array.from_array(np.arange(6), chunks=2)  # type: ignore[no-untyped-call]
    with pytest.raises(OptionError, match=r"prediction .* call its compute_chunk_sizes\(\) first"):
        as_volume(array[array > 2], "prediction")


def test_what_must_be_whole_is_read_if_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_array_equal(as_labels(stored(IMAGE, (2, 2, 2)), "image"), IMAGE)
    monkeypatch.setattr(_arrays, "memory_bytes", lambda: 400)
    with pytest.raises(OptionError, match=r"reference takes 0\.0 GB, more than a quarter of this"):
        as_labels(stored(IMAGE, (2, 2, 2)), "reference")
    with pytest.raises(OptionError, match="the image takes"):
        np.asarray(chunked())


def test_memory_of_an_unknown_system_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf")
    assert _arrays.memory_bytes() == _arrays.ASSUMED_BYTES


def test_a_function_of_images_is_computed_when_they_are_read() -> None:
    source = Watched(IMAGE, (2, 2, 2))
    doubled = map_labels(np.add, Stored(source), IMAGE)
    assert not source.decoded
    np.testing.assert_array_equal(np.asarray(doubled), 2 * IMAGE)


def test_a_box_is_read_once_for_all_who_look_at_it() -> None:
    source = Watched(IMAGE, (2, 2, 1))
    image = Stored(source)
    with boxes_up_to(1):
        distinct_labels([image, map_labels(np.add, image, IMAGE), map_labels(np.negative, image)])
    assert len(source.decoded) == 18
    assert set(source.decoded.values()) == {1}


@given(shapes(), st.data())
def test_combinations_of_boxes_add_up_to_those_of_the_image(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    arrays = [data.draw(label_images(shape)) for _ in range(data.draw(st.integers(1, 3)))]
    images = [as_volume(data.draw(in_chunks(array)), "image") for array in arrays]
    with boxes_up_to(data.draw(box_sizes)):
        found = distinct_labels(images, threads=data.draw(st.integers(1, 3)))
    want = distinct_labels([as_labels(array, "array") for array in arrays])
    for mine, theirs in zip(found, want, strict=True):
        assert mine.dtype == theirs.dtype == np.int64
        np.testing.assert_array_equal(mine, theirs)


def test_counts_beyond_32_bits_are_added_exactly() -> None:
    many = np.array([[1, 2]]), np.array([2**62, 2**40 + 1])
    found = add_counted([many, (np.array([[2]]), np.array([2**40]))])
    assert found[1].tolist() == [2**62, 2**41 + 1]


@given(shapes(), st.data())
def test_geometry_of_boxes_adds_up_to_that_of_the_image(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    array = data.draw(label_images(shape))
    with boxes_up_to(data.draw(box_sizes)):
        found = segment_geometry(data.draw(in_chunks(array)))
    want = segment_geometry(array)
    for name in ("ids", "voxels", "coordinate_sums", "start", "stop"):
        np.testing.assert_array_equal(getattr(found, name), getattr(want, name))


def test_no_more_boxes_are_in_memory_than_there_are_threads() -> None:
    alive, most, lock = 0, 0, threading.Lock()

    def look(box: Box, _: Any) -> int:
        nonlocal alive, most
        with lock:
            alive += 1
            most = max(most, alive)
        threading.Event().wait(0.001)
        with lock:
            alive -= 1
        return box[0][0]

    image = Stored(Watched(np.zeros(60, np.uint8), (1,)))
    boxes: list[Box] = [((at, at + 1),) for at in range(60)]
    assert list(look_in_turn(look, [image], boxes, 3)) == list(range(60))
    assert most == 3


def test_an_error_in_a_box_is_raised_and_the_rest_is_left() -> None:
    looked: list[Box] = []

    def look(box: Box, _: Any) -> int:
        looked.append(box)
        if box[0][0] == 3:
            raise LabelError("no label")
        return 0

    image = Stored(Watched(np.zeros(10**4, np.uint8), (1,)))
    boxes: list[Box] = [((at, at + 1),) for at in range(10**4)]
    with pytest.raises(LabelError, match="no label"):
        list(look_in_turn(look, [image], boxes, 2))
    assert len(looked) < 100


def test_a_finding_takes_part_in_few_additions() -> None:
    additions: dict[int, int] = {}

    def add(parts: Any) -> set[int]:
        found: set[int] = set().union(*parts)
        for number in found:
            additions[number] = additions.get(number, 0) + 1
        return found

    tree, n = Tree(add), FAN_IN**2 + 5
    for number in range(n):
        tree.push({number})
    assert tree.sum() == set(range(n))
    assert max(additions.values()) == 3


def test_boxes_grow_as_far_as_memory_allows_only_where_they_would_cut_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folding, "LARGEST_BOX", 1)
    monkeypatch.setattr(folding, "BYTES_AT_ONCE", 600)
    nothing = np.zeros(1000, np.uint8)
    five, seven, ten = (Stored(Watched(nothing, (length,))) for length in (5, 7, 10))
    assert plan_cuts([five, ten], 1)[0][:3] == [0, 10, 20]
    assert plan_cuts([five, seven], 1)[0][:3] == [0, 210, 420]  # 224 is 7 · 2⁵, 210 = 5 · 7 · 6
    assert plan_cuts([five, seven], 4)[0][:3] == [0, 35, 70]


def test_threads_are_checked() -> None:
    with pytest.raises(OptionError, match="threads=0 must be a whole number"):
        fold(lambda *_: 0, [chunked()], sum, threads=0)  # type: ignore[misc]
