"""The one pass over voxels, against a count voxel by voxel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch import native
from panmatch.errors import LabelError, OptionError, ShapeError
from tests import brute_force

DTYPES = [np.dtype(name) for name in "?bBhHiIlL"]
SHAPES = [
    (),
    (0,),
    (3, 0, 2),
    (1,),
    (7,),
    (63,),
    (64,),
    (65,),
    (1025,),
    (9, 70),
    (6, 5, 130),
    (3, 4, 5, 6),
    (2, 3, 2, 3, 9),
]


def counts_of(overlap: pm.Overlap) -> tuple[dict[int, int], dict[int, int], dict[Any, int]]:
    refs = dict(zip(overlap.ref_ids.tolist(), overlap.ref_sizes.tolist(), strict=True))
    preds = dict(zip(overlap.pred_ids.tolist(), overlap.pred_sizes.tolist(), strict=True))
    pairs = zip(
        overlap.ref_ids[overlap.edges.ref].tolist(),
        overlap.pred_ids[overlap.edges.pred].tolist(),
        strict=True,
    )
    return refs, preds, dict(zip(pairs, overlap.edges.intersection.tolist(), strict=True))


def check(reference: npt.NDArray[Any], prediction: npt.NDArray[Any]) -> None:
    expected = brute_force.count_overlaps(reference, prediction)
    for threads in (1, 3):
        found = pm.count_overlaps(reference, prediction, threads=threads)
        assert counts_of(found) == expected
        assert found.ref_sizes.dtype == found.edges.intersection.dtype == np.int64


@pytest.mark.parametrize("pred_dtype", DTYPES, ids=str)
@pytest.mark.parametrize("ref_dtype", DTYPES, ids=str)
def test_any_mixture_of_dtypes(ref_dtype: np.dtype[Any], pred_dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(0)
    reference = brute_force.random_labels(rng, (9, 70), 4).astype(ref_dtype)
    prediction = brute_force.random_labels(rng, (9, 70), 4).astype(pred_dtype)
    check(reference, prediction)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_largest_labels_of_every_dtype(dtype: np.dtype[Any]) -> None:
    top = 1 if dtype.kind == "b" else min(np.iinfo(dtype).max, 2**63 - 1)
    labels = np.array([0, top, top, 1, 0], dtype)
    expected = {top: 3} if top == 1 else {1: 1, top: 2}
    assert counts_of(pm.count_overlaps(labels, labels))[0] == expected


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_dimension_and_emptiness(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    check(brute_force.random_labels(rng, shape, 3), brute_force.random_labels(rng, shape, 3))


def views(array: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the same 3-D content in many memory layouts."""
    a, b, c = array.shape
    padded = np.full((2 * a, b + 3, 3 * c), 77, array.dtype)
    padded[::2, 1:-2, ::3] = array
    records = np.zeros(array.shape, [("odd", "i1"), ("label", array.dtype)])
    records["label"] = array
    return {
        "C": np.ascontiguousarray(array),
        "F": np.asfortranarray(array),
        "permuted": np.ascontiguousarray(array.transpose(1, 2, 0)).transpose(2, 0, 1),
        "strided": padded[::2, 1:-2, ::3],
        "padded": np.pad(array, ((0, 0), (1, 2), (3, 1)))[:, 1:-2, 3:-1],
        "flipped": np.ascontiguousarray(array[::-1, :, ::-1])[::-1, :, ::-1],
        "half flipped": np.ascontiguousarray(array[:, ::-1])[:, ::-1],
        "big-endian": array.astype(array.dtype.newbyteorder(">")),
        "field of records": records["label"],
    }


LAYOUTS = list(views(np.zeros((1, 1, 1), np.int16)))


@pytest.mark.parametrize("pred_layout", LAYOUTS)
@pytest.mark.parametrize("ref_layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(5, 6, 7), (70, 3, 130)], ids=str)
def test_any_mixture_of_memory_layouts(
    shape: tuple[int, int, int], ref_layout: str, pred_layout: str
) -> None:
    rng = np.random.default_rng(1)
    reference = brute_force.random_labels(rng, shape, 5).astype(np.int16)
    prediction = brute_force.random_labels(rng, shape, 5).astype(np.int32)
    expected = pm.count_overlaps(reference.copy(), prediction.copy(), threads=1)
    for threads in (1, 2):
        found = pm.count_overlaps(
            views(reference)[ref_layout], views(prediction)[pred_layout], threads=threads
        )
        assert found == expected
    assert counts_of(expected) == brute_force.count_overlaps(reference, prediction)


def test_a_broadcast_view_counts_every_voxel() -> None:
    column = np.array([[1], [2], [0]])
    check(np.broadcast_to(column, (3, 200)), np.broadcast_to(np.arange(200) // 90, (3, 200)))


@given(st.data())
def test_random_runs_equal_a_voxel_by_voxel_count(data: st.DataObject) -> None:
    run = st.tuples(st.sampled_from([0, 1, 2, 9, 2**40]), st.integers(1, 150))

    def labels() -> npt.NDArray[np.int64]:
        runs = data.draw(st.lists(run, min_size=1, max_size=12))
        return np.concatenate([np.full(n, value, np.int64) for value, n in runs])

    reference, prediction = labels(), labels()
    n = min(len(reference), len(prediction))
    check(reference[:n], prediction[:n])


def test_more_pairs_than_the_table_begins_with() -> None:
    n = 40_000
    reference = np.arange(1, n + 1) * 1_000_003
    prediction = np.arange(n, 0, -1) * 999_983
    found = pm.count_overlaps(reference, prediction, threads=2)
    assert len(found.edges) == len(found.ref_ids) == n
    assert (found.edges.intersection == 1).all()


def test_lists_and_read_only_arrays_are_accepted() -> None:
    frozen = np.array([[1, 1], [0, 2]])
    frozen.flags.writeable = False
    assert pm.count_overlaps([[1, 1], [0, 2]], frozen).iou.tolist() == [1.0, 1.0]
    assert len(pm.count_overlaps([], []).ref_ids) == 0


def test_no_copy_is_made_of_arrays_that_share_an_order() -> None:
    strided = np.zeros((4, 6, 8), np.int16)[::2, :, ::-2]
    assert pm.labels.as_labels(strided, "reference") is strided


def test_joint_counts_of_five_arrays_include_background() -> None:
    rng = np.random.default_rng(3)
    arrays = [rng.integers(0, 2, (4, 40)).astype(t) for t in ("i1", "u2", "i4", "i8", "u1")]
    keys, counts = native.joint_counts(arrays, 2)
    rows, expected = np.unique(np.stack([a.ravel() for a in arrays], 1), axis=0, return_counts=True)
    assert keys.tolist() == rows.tolist()
    assert counts.tolist() == expected.tolist()


class TestVoid:
    reference = np.array([1, 1, 1, 255, 255, 2, 0, 0])
    prediction = np.array([1, 1, 0, 1, 3, 3, 3, 4])

    def test_void_voxels_leave_the_reference_and_the_union(self) -> None:
        found = pm.count_overlaps(self.reference, self.prediction, void=255)
        assert found.ref_ids.tolist() == [1, 2]
        assert found.pred_sizes.tolist() == [3, 3, 1]
        assert found.pred_void.tolist() == [1, 1, 0]
        assert found.iou.tolist() == [2 / 3, 1 / 2]
        assert found.dice.tolist() == [4 / 5, 2 / 3]
        assert found.score("prediction-share").tolist() == [1.0, 1 / 2]

    @pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32])
    def test_a_mask_means_the_same_as_a_label(self, dtype: type) -> None:
        mask = (self.reference == 255).astype(dtype)
        expected = pm.count_overlaps(self.reference, self.prediction, void=255)
        under = np.where(self.reference == 255, 7, self.reference)
        for reference in (self.reference, under):
            for order in ("C", "F"):
                found = pm.count_overlaps(
                    np.asarray(reference.reshape(2, 4), order=order),
                    self.prediction.reshape(2, 4),
                    void=mask.reshape(2, 4),
                )
                assert found == expected

    def test_the_mask_of_a_masked_reference_is_void(self) -> None:
        masked = np.ma.masked_equal(self.reference, 255)
        expected = pm.count_overlaps(self.reference, self.prediction, void=255)
        assert pm.count_overlaps(masked, self.prediction) == expected

    def test_a_negative_void_label_is_no_error(self) -> None:
        reference = np.where(self.reference == 255, -1, self.reference)
        expected = pm.count_overlaps(self.reference, self.prediction, void=255)
        assert pm.count_overlaps(reference, self.prediction, void=-1) == expected

    def test_background_can_be_void(self) -> None:
        found = pm.count_overlaps(self.reference, self.prediction, void=0)
        assert found.pred_void.tolist() == [0, 1, 1]

    def test_an_unmatched_prediction_more_than_half_in_void_is_dismissed(self) -> None:
        reference = np.array([9, 9, 9, 0, 9, 9, 0, 0])
        prediction = np.array([1, 1, 1, 1, 2, 2, 2, 2])
        found = pm.count_overlaps(reference, prediction, void=9)
        assert found.dismissible.tolist() == [True, False]  # exactly half is not more than half
        assert pm.match(found).tally == pm.Tally(tp=0, fp=1, fn=0, quality=0.0)
        assert pm.match(found).false_positives.tolist() == [2]
        assert pm.curve(found).at(0.5) == pm.Tally(tp=0, fp=1, fn=0, quality=0.0)

    def test_a_dismissible_prediction_can_be_matched(self) -> None:
        found = pm.count_overlaps([9, 9, 9, 1, 1], [5, 5, 5, 5, 5], void=9)
        assert pm.match(found).tally == pm.Tally(tp=1, fp=0, fn=0, quality=1.0)

    def test_given_twice_is_an_error(self) -> None:
        masked = np.ma.masked_equal(self.reference, 255)
        with pytest.raises(OptionError, match=r"void is given twice.*void=255"):
            pm.count_overlaps(masked, self.prediction, void=255)
        with pytest.raises(OptionError, match=r"void is given twice.*mask of shape \(8,\)"):
            pm.count_overlaps(masked, self.prediction, void=self.reference == 255)

    @pytest.mark.parametrize("void", [True, 2.5, "255"])
    def test_neither_label_nor_mask_is_an_error(self, void: Any) -> None:
        with pytest.raises(OptionError, match="neither a label of the reference"):
            pm.count_overlaps(self.reference, self.prediction, void=void)

    def test_a_mask_of_another_shape_is_an_error(self) -> None:
        with pytest.raises(ShapeError, match=r"void has shape \(3,\)"):
            pm.count_overlaps(self.reference, self.prediction, void=[True, False, True])

    def test_a_masked_prediction_is_an_error(self) -> None:
        with pytest.raises(OptionError, match="prediction is a masked array"):
            pm.count_overlaps(self.reference, np.ma.masked_equal(self.prediction, 3))


class TestErrors:
    def test_negative_labels_name_the_label_and_its_voxels(self) -> None:
        with pytest.raises(
            LabelError, match=r"reference holds the negative label -1 \(2 voxels.*void=-1"
        ):
            pm.count_overlaps([-1, -1, 3], [1, 1, 1])
        with pytest.raises(LabelError, match=r"prediction holds the negative label -5 \(1 voxel\)"):
            pm.count_overlaps([1, 1, 3], np.array([1, 1, -5], np.int8))

    def test_labels_beyond_int64(self) -> None:
        huge = np.array([1, 2**64 - 3], np.uint64)
        with pytest.raises(LabelError, match=f"reference holds label {2**64 - 3}"):
            pm.count_overlaps(huge, [1, 1])

    @pytest.mark.parametrize("threads", [0, -1, 1.5, True])
    def test_threads_must_be_a_positive_whole_number(self, threads: Any) -> None:
        with pytest.raises(OptionError, match=r"threads=.* must be a whole number"):
            pm.count_overlaps([1], [1], threads=threads)
