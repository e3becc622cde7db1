"""What all mistakes have in common: inputs, dtypes, memory orders, empties and refusals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from panmatch.errors import LabelError, OptionError, ShapeError
from panmatch.phantoms import (
    add_spurious,
    balls,
    dilate,
    erode,
    merge_neighbours,
    miss,
    relabel,
    shift,
    split,
)

Image = npt.NDArray[np.integer[Any]]
Mistake = Callable[[Any], Image]


def shift_along_last(labels: Image) -> Image:
    return shift(labels, (0,) * (labels.ndim - 1) + (2,))


MISTAKES: dict[str, Mistake] = {
    "shift": shift_along_last,
    "dilate": partial(dilate, radius=1.5),
    "erode": partial(erode, radius=1),
    "split": partial(split, pieces=3),
    "merge_neighbours": partial(merge_neighbours, pairs=2),
    "miss": partial(miss, count=2),
    "add_spurious": partial(add_spurious, count=2, radius=(0.0, 1.0)),
    "relabel": relabel,
}
DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]

every_mistake = pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)


@every_mistake
@pytest.mark.parametrize("shape", [(40, 50), (16, 20, 24)])
def test_a_mistake_changes_a_new_array_and_never_its_input(
    mistake: Mistake, shape: tuple[int, ...]
) -> None:
    image = balls(shape, 6, radius=(2, 3), seed=1)
    before = image.copy()
    image.flags.writeable = False
    result = mistake(image)
    assert result.shape == shape
    assert not np.shares_memory(result, image)
    assert result.flags.writeable
    assert not np.array_equal(result, before)
    assert np.array_equal(image, before)


@every_mistake
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_and_memory_order_change_nothing(mistake: Mistake, dtype: type[Any]) -> None:
    image = balls((20, 24), 6, radius=(2, 3), seed=1)
    expected = mistake(image)
    for variant in (image.astype(dtype), np.asfortranarray(image.astype(dtype))):
        result = mistake(variant)
        assert result.dtype == dtype
        assert np.array_equal(result, expected)


@every_mistake
def test_sparse_and_negative_ids_behave_like_running_ones(mistake: Mistake) -> None:
    image = balls((20, 24), 6, radius=(2, 3), seed=1)
    sparse = np.array([0, -(2**40), -5, 3, 8, 2**35, 2**41])[image]
    from_running, from_sparse = mistake(image), mistake(sparse)
    assert np.array_equal(from_running == 0, from_sparse == 0)
    # The same voxels belong together, whatever their objects are called.
    names = np.unique(np.stack([from_running.ravel(), from_sparse.ravel()]), axis=1)
    assert len(set(names[0].tolist())) == len(set(names[1].tolist())) == names.shape[1]


@pytest.mark.parametrize("shape", [(0, 4), (3, 0, 2), (5, 4)])
def test_images_without_objects_stay_as_they_are(shape: tuple[int, ...]) -> None:
    empty = np.zeros(shape, dtype=np.uint16)
    results = [shift_along_last(empty), dilate(empty, 2), erode(empty, 2), split(empty, 3),
               merge_neighbours(empty, 0), miss(empty, 0), relabel(empty)]  # fmt: skip
    for result in results:
        assert result.dtype == np.uint16
        assert np.array_equal(result, empty)


ROW = np.array([[1, 1, 0, 4]])


@pytest.mark.parametrize("mistake", [partial(dilate, radius=1), partial(erode, radius=1),
                                     partial(split, pieces=2), miss,
                                     partial(shift, offset=(0, 1))])  # fmt: skip
@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([2], "ids contains 2, but labels has no such object; pass ids of objects in it (1 to 4), "
         "or None for all."),
        ([1, 9, 8, 7, 6, 5, 3], "ids contains 3, 5, 6, 7, 8, …, but labels has no such object; "
         "pass ids of objects in it (1 to 4), or None for all."),
        ([0], "ids contains 0, but labels has no such object; pass ids of objects in it (1 to 4), "
         "or None for all."),
        ([1.5], "ids=[1.5] is not a list of object ids; pass whole numbers, or None for all "
         "objects."),
        (4, "ids=4 is not a list of object ids; pass whole numbers, or None for all objects."),
    ],
)  # fmt: skip
def test_unknown_ids_are_refused(mistake: Callable[..., Image], ids: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        mistake(ROW, ids=ids)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dilate([0, 0], 1, ids=[3]), "ids contains 3, but labels has no such object; "
         "pass ids of objects in it (there are none), or None for all."),
        (lambda: shift(ROW, (1,)), "offset=(1,) is not a shift by whole voxels; pass one int for "
         "each of the 2 axes of labels."),
        (lambda: shift(ROW, (0.5, 1)), "offset=(0.5, 1) is not a shift by whole voxels; pass one "  # type: ignore[arg-type]
         "int for each of the 2 axes of labels."),
        (lambda: dilate(ROW, -1), "radius=-1 is not a distance; pass a finite number of voxels, 0 "
         "or more."),
        (lambda: erode(ROW, float("nan")), "radius=nan is not a distance; pass a finite number of "
         "voxels, 0 or more."),
        (lambda: split(ROW, 0), "pieces=0 is out of range; pass 1 or more."),
        (lambda: split([2**63 - 1] * 2, 2), "new ids up to 9223372036854775808 do not fit "
         "64-bit integers; lower the ids first, for example with panmatch.phantoms.relabel."),
        (lambda: merge_neighbours(ROW, 2), "pairs=2 is too many: labels has 2 objects, and each "
         "can be in only one pair; pass 1 or fewer."),
        (lambda: merge_neighbours(ROW, -1), "pairs=-1 is out of range; pass 0 or more."),
        (lambda: miss(ROW, 3), "count=3 is out of range; pass 0 to 2."),
        (lambda: miss(ROW), "miss got neither of count and ids; pass exactly one of them."),
        (lambda: miss(ROW, 1, ids=[1]), "miss got both of count and ids; pass exactly one of "
         "them."),
        (lambda: add_spurious([0, 0], 1, radius=(0, 0)), "labels has 1 axes; add_spurious draws "
         "discs in 2-D and balls in 3-D: pass an image with two or three axes."),
        (lambda: add_spurious(ROW, 1, radius=(2, 1)), "radius=(2, 1) has its bounds in the wrong "
         "order; pass (lowest, highest): (1, 2)."),
        (lambda: add_spurious(ROW, -1, radius=(0, 0)), "count=-1 is out of range; pass 0 or more."),
        (lambda: add_spurious(ROW, 2, radius=(0, 0), gap=0), "count=2 objects do not fit: there "
         "was room for 1 of them in shape (1, 4) with radius=(0.0, 0.0) and gap=0.0. "
         "Lower count, radius or gap, or enlarge the image."),
        (lambda: relabel(ROW, high=1), "high=1 is out of range; pass 2 to 9223372036854775807."),
        (lambda: miss(7, 1), "labels=7 is a single number; pass an array with at least one axis."),
    ],
)  # fmt: skip
def test_refusals_name_argument_value_and_remedy(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        call()
    assert str(caught.value) == message


@every_mistake
def test_floating_point_labels_are_refused(mistake: Mistake) -> None:
    with pytest.raises(LabelError, match="labels has dtype float64"):
        mistake(np.full((4, 4), 0.5))


def test_an_image_to_avoid_must_lie_on_the_same_grid() -> None:
    with pytest.raises(ShapeError, match=r"labels has shape \(1, 4\) but avoid has shape \(4, 1\)"):
        add_spurious(ROW, 1, radius=(0, 0), avoid=ROW.T)
