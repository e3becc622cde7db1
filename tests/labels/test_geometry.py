"""Voxels, centres and boxes of segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from panmatch.labels import segment_geometry


@pytest.mark.parametrize("seed", range(20))
def test_geometry_equals_what_numpy_finds_label_by_label(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, int(rng.integers(1, 5))).tolist())
    ids = np.array([0, 1, 7, 300, 2**40])
    labels = np.asarray(rng.choice(ids, shape), order="F" if seed % 2 else "C")
    found = segment_geometry(labels, threads=1 + seed % 3)
    assert found.ids.tolist() == [i for i in ids.tolist() if i and (labels == i).any()]
    for row, label in enumerate(found.ids):
        where = np.argwhere(labels == label)
        assert found.voxels[row] == len(where)
        assert found.coordinate_sums[row].tolist() == where.sum(0).tolist()
        assert found.start[row].tolist() == where.min(0).tolist()
        assert found.stop[row].tolist() == (where.max(0) + 1).tolist()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("length", [63, 64, 65, 66, 127, 128, 129, 255, 256, 257, 320, 321])
def test_a_segment_may_begin_and_end_anywhere_in_a_row(length: int, dtype: type) -> None:
    """Rows are read 64 voxels at a time, and the first and last ones in other ways."""
    near = {at + step for at in range(0, length, 64) for step in (-2, -1, 0, 1, 2)}
    ends = sorted({at for at in near | {length - 2, length - 1, length} if 0 <= at <= length})
    pairs = [(start, stop) for start in ends for stop in ends if start < stop]
    labels: npt.NDArray[Any] = np.full((len(pairs), length), 9, dtype)
    for row, (start, stop) in enumerate(pairs):
        labels[row, start:stop] = 1 + row % 8
    for first in range(0, len(pairs), 8):
        found = segment_geometry(labels[first : first + 8])
        chosen = pairs[first : first + 8]
        rows = found.ids < 9
        assert found.ids[rows].tolist() == list(range(1, len(chosen) + 1))
        assert found.start[rows, 1].tolist() == [start for start, _ in chosen]
        assert found.stop[rows, 1].tolist() == [stop for _, stop in chosen]
        assert found.start[rows, 0].tolist() == list(range(len(chosen)))
        assert found.voxels[rows].tolist() == [stop - start for start, stop in chosen]


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int32, np.uint64])
def test_every_label_dtype_is_read(dtype: type) -> None:
    found = segment_geometry(np.array([[0, 1, 1]], dtype))
    assert (found.ids.tolist(), found.voxels.tolist()) == ([1], [2])
    assert (found.start.tolist(), found.stop.tolist()) == ([[0, 1]], [[1, 3]])


def test_an_image_without_labels_has_no_rows() -> None:
    for empty in (np.zeros((3, 3), int), np.zeros((0, 3), int)):
        assert segment_geometry(empty).start.shape == (0, 2)


def test_unions_span_their_segments_and_may_be_empty() -> None:
    found = segment_geometry([[1, 0, 0, 2], [0, 0, 0, 2], [3, 0, 0, 0]])
    union = found.unite(np.array([1, 2, 3, 9]), np.array([0, 0, 2, 1]), 3)
    assert union.voxels.tolist() == [3, 0, 1]
    assert union.start.tolist() == [[0, 0], [0, 0], [2, 0]]
    assert union.stop.tolist() == [[2, 4], [0, 0], [3, 1]]
    assert union.coordinate_sums.tolist() == [[1, 6], [0, 0], [2, 0]]
