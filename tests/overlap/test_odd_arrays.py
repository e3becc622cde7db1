"""Arrays as numpy allows them: the native loops read each as its plain copy.

`make sanitize` runs these tests under the address and undefined-behaviour sanitizers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch.errors import LabelError

Array = npt.NDArray[Any]

SPEC = {
    "matching": ["one-to-one", "union", {"strategy": "many-to-one", "solver": "optimal"}],
    "metrics": ["dice", "hd95", "nsd", "boundary_iou"],
}


def labels(seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 4, (6, 7, 8)).astype(np.int32)


def misaligned(array: Array) -> Array:
    return np.frombuffer(bytearray(b"\0" + array.tobytes()), array.dtype, array.size, 1).reshape(
        array.shape
    )


def in_records(array: Array) -> Array:
    """A field of packed records, whose strides are not multiples of the element."""
    records = np.zeros(array.shape, [("before", "u1"), ("label", array.dtype), ("after", "u1")])
    records["label"] = array
    return records["label"]


def read_only(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "negative strides": lambda a: a[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "every other voxel": lambda a: np.repeat(a, 2, axis=2)[:, :, ::2],
    "Fortran order": np.asfortranarray,
    "turned axes": lambda a: np.ascontiguousarray(a.transpose(2, 0, 1)).transpose(1, 2, 0),
    "misaligned": misaligned,
    "records": in_records,
    "read-only": read_only,
    "big-endian": lambda a: a.astype(">i4"),
    "big-endian, 8 bytes": lambda a: a.astype(">u8"),
    "unsigned": lambda a: a.astype(np.uint64),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_changes_nothing(layout: str) -> None:
    reference, prediction = labels(1), labels(2)
    odd = LAYOUTS[layout](reference), LAYOUTS[layout](prediction)
    spacing = (1, 0.5, 2)
    plain = pm.count_overlaps(reference, prediction).columns()
    for name, column in pm.count_overlaps(*odd).columns().items():
        np.testing.assert_array_equal(column, plain[name])
    regions = pm.count_region_overlaps(reference, prediction, spacing).columns()
    for name, column in pm.count_region_overlaps(*odd, spacing).columns().items():
        np.testing.assert_array_equal(column, regions[name])
    want = pm.evaluate(reference=reference, prediction=prediction, spec=SPEC, spacing=spacing)
    found = pm.evaluate(reference=odd[0], prediction=odd[1], spec=SPEC, spacing=spacing)
    assert found.scores.equals(want.scores)
    assert found.instances.equals(want.instances)


def test_memory_mapped_files_are_read_in_place(tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", labels(1))
    mapped = np.load(tmp_path / "labels.npy", mmap_mode="r")
    assert pm.count_overlaps(mapped, mapped).iou.tolist() == [1.0] * 3


def test_broadcast_arrays_repeat_what_they_hold() -> None:
    row = np.array([0, 1, 1, 2])
    wide = np.broadcast_to(row, (5, 4))
    assert pm.count_overlaps(wide, wide).ref_sizes.tolist() == [10, 5]
    assert pm.count_region_overlaps(wide, wide).ref_sizes.tolist() == [10, 5]


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 4), (1,) * 5, (2,) * 3 + (1,) * 29])
def test_any_shape_counts(shape: tuple[int, ...]) -> None:
    ones = np.ones(shape, np.uint16)
    expected = [ones.size] if ones.size else []
    assert pm.count_overlaps(ones, ones).ref_sizes.tolist() == expected
    assert pm.count_region_overlaps(ones, ones).ref_sizes.tolist() == expected


def test_ids_reach_to_the_end_of_int64_and_no_further() -> None:
    largest = 2**63 - 1
    image = np.array([[largest, largest, 0, 5]])
    for spec in ({"matching": "same-id"}, {"classes": {"cell": {"labels": [5, largest]}}}, {}):
        found = pm.evaluate(reference=image, prediction=image, spec={"thresholds": 0.5, **spec})
        assert set(found.scores.tp) == {2}
        assert set(found.instances.ref_id) == {5, largest}
    beyond = image.astype(np.uint64) + 1
    with pytest.raises(LabelError, match=r"beyond 2\*\*63 - 1.*: ids must fit into int64"):
        pm.evaluate(reference=beyond, prediction=beyond)
