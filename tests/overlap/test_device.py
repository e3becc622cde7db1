"""Images on a CUDA device give what the same images give on the host, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import LabelError, OptionError, ShapeError
from panmatch.labels import _device as device
from panmatch.labels import connected_components, inner_band
from tests.device import REAL, cupy, marks

pytestmark = marks

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
# Every kernel is compiled for its types, which takes time without a device.
EVERY = [(ref, pred) for ref in DTYPES for pred in DTYPES]
PAIRS = EVERY if REAL else EVERY[::10] + EVERY[4::10]


def scene(shape: tuple[int, ...] = (23, 31, 41), seed: int = 0, most: int = 60) -> Any:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, most, [-(-size // 4) for size in shape])
    for axis in range(len(shape)):
        coarse = coarse.repeat(4, axis=axis)
    return coarse[tuple(slice(0, size) for size in shape)]


@pytest.mark.parametrize(("ref_type", "pred_type"), PAIRS)
def test_every_pair_of_dtypes(ref_type: str, pred_type: str) -> None:
    reference, prediction = scene(seed=1).astype(ref_type), scene(seed=2).astype(pred_type)
    found = pm.count_overlaps(cupy.asarray(reference), cupy.asarray(prediction))
    assert found == pm.count_overlaps(reference, prediction)


@pytest.mark.parametrize("shape", [(0,), (1,), (15,), (16,), (17,), (5, 0, 3), (3, 1, 2, 50)])
def test_every_size_and_dimension(shape: tuple[int, ...]) -> None:
    reference, prediction = scene(shape, 3), scene(shape, 4)
    found = pm.count_overlaps(cupy.asarray(reference), cupy.asarray(prediction))
    assert found == pm.count_overlaps(reference, prediction)


def test_memory_orders_and_views_that_begin_anywhere() -> None:
    reference, prediction = scene(seed=5).astype(np.int32), scene(seed=6).astype(np.int16)
    want = pm.count_overlaps(reference, prediction)
    there = cupy.asarray(reference), cupy.asarray(prediction)
    fortran = [cupy.asfortranarray(array) for array in there]
    assert pm.count_overlaps(*fortran) == want
    assert pm.count_overlaps(there[0], fortran[1]) == want
    flat = [cupy.ascontiguousarray(array).ravel()[3:] for array in there]
    assert pm.count_overlaps(*flat) == pm.count_overlaps(
        reference.ravel()[3:], prediction.ravel()[3:]
    )
    sliced = [array[::2, 1:, ::-1] for array in there]
    assert pm.count_overlaps(*sliced) == pm.count_overlaps(
        reference[::2, 1:, ::-1], prediction[::2, 1:, ::-1]
    )


def test_labels_beyond_32_bits() -> None:
    reference, prediction = scene(seed=7) * 2**50, scene(seed=8)
    found = pm.count_overlaps(cupy.asarray(reference), cupy.asarray(prediction))
    assert found == pm.count_overlaps(reference, prediction)


def test_more_pairs_than_the_first_table_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "FIRST_SLOTS", 64)
    rng = np.random.default_rng(9)
    reference, prediction = rng.integers(0, 5000, (2, 400_000), dtype=np.int32)
    found = pm.count_overlaps(cupy.asarray(reference), cupy.asarray(prediction))
    assert found == pm.count_overlaps(reference, prediction)


@pytest.mark.parametrize("void", [7, -1])
def test_void_as_a_label(void: int) -> None:
    reference, prediction = scene(seed=10), scene(seed=11)
    reference[reference == 9] = void
    found = pm.count_overlaps(cupy.asarray(reference), cupy.asarray(prediction), void=void)
    assert found == pm.count_overlaps(reference, prediction, void=void)


def test_void_as_a_mask_and_parts() -> None:
    reference, prediction = scene(seed=12), scene(seed=13)
    mask = scene(seed=14) > 50
    found = pm.count_overlaps(
        cupy.asarray(reference), cupy.asarray(prediction), void=cupy.asarray(mask)
    )
    assert found == pm.count_overlaps(reference, prediction, void=mask)
    ref_parts, pred_parts = reference % 3 * (reference > 0), prediction % 4
    parts = pm.count_part_overlaps(
        cupy.asarray(reference), cupy.asarray(prediction),
        cupy.asarray(ref_parts), cupy.asarray(pred_parts), void_part=3,
    )  # fmt: skip
    assert parts == pm.count_part_overlaps(reference, prediction, ref_parts, pred_parts, 3)


def test_both_labels_minus_one() -> None:
    reference = np.array([-1, -1, 3, 3, 0], np.int32)
    keys, counts = device.device_joint_counts([cupy.asarray(reference)] * 2)
    found = dict(zip(map(tuple, keys.view(np.int64).tolist()), counts.tolist(), strict=True))
    assert found == {(-1, -1): 2, (3, 3): 2, (0, 0): 1}
    keys, counts = device.device_joint_counts([cupy.asarray(reference)] * 4)
    found = dict(zip(map(tuple, keys.view(np.int64).tolist()), counts.tolist(), strict=True))
    assert found == {(-1,) * 4: 2, (3,) * 4: 2, (0,) * 4: 1}


def test_torch_tensors_are_counted_without_a_copy_to_the_host() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    reference, prediction = scene(seed=15).astype(np.int32), scene(seed=16).astype(np.int64)
    tensors = [torch.from_numpy(array).cuda() for array in (reference, prediction)]
    assert pm.count_overlaps(*tensors) == pm.count_overlaps(reference, prediction)


def test_negative_labels_and_shapes_are_refused_as_on_the_host() -> None:
    negative = cupy.asarray([1, -2, 0])
    with pytest.raises(LabelError, match=r"reference holds the negative label -2 \(1 voxel"):
        pm.count_overlaps(negative, cupy.asarray([1, 1, 0]))
    with pytest.raises(ShapeError):
        pm.count_overlaps(cupy.asarray([1, 2]), cupy.asarray([1, 1, 0]))


def test_what_cannot_be_counted_says_what_to_do() -> None:
    labels = cupy.asarray([1, 2])
    with pytest.raises(OptionError, match="prediction is in host memory, but other images are on"):
        pm.count_overlaps(labels, [1, 2])
    with pytest.raises(OptionError, match="void is in host memory, but other images"):
        pm.count_overlaps(labels, labels, void=np.array([0, 1]))
    with pytest.raises(LabelError, match="reference holds float32 on a CUDA device"):
        pm.count_overlaps(labels.astype(cupy.float32), labels)
    with pytest.raises(OptionError, match="labels is on a CUDA device, but this step runs on"):
        inner_band(labels, 1)


@pytest.mark.parametrize("connectivity", ["full", "faces"])
def test_components_are_numbered_as_on_the_host(connectivity: Any) -> None:
    mask = scene((30, 40, 20), 17, most=3) == 1
    mask ^= np.random.default_rng(18).random(mask.shape) < 0.05
    found = connected_components(cupy.asarray(mask), connectivity)
    assert isinstance(found, cupy.ndarray)
    want = connected_components(mask, connectivity)
    assert np.array_equal(cupy.asnumpy(found), want)
    for laid_out in (cupy.asarray(mask, order="F"), cupy.asarray(np.repeat(mask, 2, 1))[:, ::2]):
        assert np.array_equal(cupy.asnumpy(connected_components(laid_out, connectivity)), want)


REGION_SPACINGS = [None, (0.1, 0.5, 0.3), (0.742188, 1.25, 0.976562)]


@pytest.mark.parametrize("spacing", REGION_SPACINGS, ids=str)
def test_regions_cut_predictions_as_on_the_host(spacing: Any) -> None:
    reference, prediction = sparse(19), scene(seed=20) * (sparse(21, 0.3) > 0)
    there = cupy.asarray(reference), cupy.asfortranarray(cupy.asarray(prediction))
    want = pm.count_region_overlaps(reference, prediction, spacing)
    assert pm.count_region_overlaps(*there, spacing) == want
    assert len(want.pred_sizes) > len(pm.count_overlaps(reference, prediction).pred_sizes)
    assert (
        pm.match(want, "union", 0.1).tally
        == pm.match(pm.count_region_overlaps(*there, spacing), "union", 0.1).tally
    )


def test_void_shapes_no_region_on_the_device_either() -> None:
    reference, prediction, mask = sparse(22), scene(seed=23), scene(seed=24) > 50
    there = cupy.asarray(reference), cupy.asarray(prediction)
    most = int(np.bincount(reference[reference > 0]).argmax())
    for here, void in ((most, most), (mask, cupy.asarray(mask))):
        found = pm.count_region_overlaps(*there, void=void)
        assert found == pm.count_region_overlaps(reference, prediction, void=here)
        assert found != pm.count_region_overlaps(reference, prediction)


@pytest.mark.parametrize("void", [300, -5])
def test_void_beyond_the_dtype_marks_nothing(void: int) -> None:
    reference, prediction = sparse(27).astype(np.uint8), scene(seed=28)
    there = cupy.asarray(reference), cupy.asarray(prediction)
    found = pm.count_region_overlaps(*there, void=void)
    assert found == pm.count_region_overlaps(reference, prediction, void=void)
    flags = there[0] != 0
    assert pm.count_region_overlaps(flags, there[1], void=void) == pm.count_region_overlaps(
        reference != 0, prediction, void=void
    )


def test_parts_in_regions() -> None:
    reference, prediction = sparse(25), scene(seed=26)
    images = reference, prediction, reference % 3 * (reference > 0), prediction % 4
    there = [cupy.asarray(image) for image in images]
    found = pm.count_part_overlaps(*there, regions="voronoi", spacing=(1, 2, 3))
    assert found == pm.count_part_overlaps(*images, regions="voronoi", spacing=(1, 2, 3))


def sparse(seed: int, share: float = 0.02) -> Any:
    """A few blocks of labels, and nothing between them."""
    rng = np.random.default_rng(seed)
    return scene(seed=seed) * (rng.random((23, 31, 41)) < share)


def test_500_images_with_components_and_regions_evaluate_alike() -> None:
    spec = {
        "classes": {"spot": {"labels": "all", "instances": "components", "connectivity": "faces"}},
        "matching": ["union", "one-to-one"],
        "thresholds": [0.1, 0.4],
        "metrics": "hd95",
    }
    rng = np.random.default_rng(8)
    for number in range(500):
        shape = rng.integers(2, 7, 2 + number % 2)
        images = [(rng.random(shape) < 0.4).astype(np.uint8) for _ in range(2)]
        want = pm.evaluate(reference=images[0], prediction=images[1], spec=spec)
        order = cupy.asfortranarray if number % 3 else cupy.asarray
        there = [order(cupy.asarray(image)) for image in images]
        found = pm.evaluate(reference=there[0], prediction=there[1], spec=spec)
        assert found.scores.equals(want.scores)
        for mine, theirs in zip(images, there, strict=True):
            components = cupy.asnumpy(connected_components(theirs, "faces"))
            assert (components == connected_components(mine, "faces")).all()
