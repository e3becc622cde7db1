"""What is accepted as labels, and what the errors say."""

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import LabelError, ShapeError
from panmatch.labels import as_mask


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


DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("threads", [None, 1, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_are_where_labels_are_not_background(dtype: str, threads: int | None) -> None:
    rng = np.random.default_rng(1)
    labels = (rng.integers(1, 100, (7, 90, 33)) * (rng.random((7, 90, 33)) < 0.4)).astype(dtype)
    views = [
        labels,
        labels.copy(order="F"),
        labels.transpose(1, 2, 0),
        labels[::-1, ::2, 3:],
        labels[0, 0],
        labels[:0],
        np.broadcast_to(labels[:, :1], labels.shape),
        labels[3, 4, 5],
    ]
    for view in views:
        mask = as_mask(view, "reference", threads=threads)
        assert mask.dtype == np.bool_
        np.testing.assert_array_equal(mask, np.asarray(view) != 0)
    assert as_mask(labels.copy(order="F"), "reference").flags.f_contiguous


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("place", [0, 137, 4999])
def test_one_negative_label_is_enough_to_refuse_a_mask(dtype: str, place: int) -> None:
    labels = np.full((50, 100), np.iinfo(dtype).max, dtype)
    labels.flat[place] = -3
    for view in (labels, labels.T, labels[:, ::-1]):
        with pytest.raises(LabelError, match=r"prediction holds the negative label -3 \(1 voxel"):
            as_mask(view, "prediction", threads=2)
    unsigned = labels.astype(f"u{dtype}")
    assert as_mask(unsigned, "prediction").all()
