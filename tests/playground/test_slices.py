"""As much of a slice as a screen can show: tiles, thinned out without losing an object."""

from __future__ import annotations

import base64
from pathlib import Path

import nibabel
import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.playground import FilePair
from panmatch.playground._slices import answer_slice
from panmatch.playground._validation import Message
from tests.playground.test_pair import decode

Array = npt.NDArray[np.integer]


def open_arrays(folder: Path, reference: Array, prediction: Array) -> FilePair:
    np.save(folder / "ref.npy", reference)
    np.save(folder / "pred.npy", prediction)
    return FilePair.open(folder / "ref.npy", folder / "pred.npy")


def grey(message: Message) -> Array:
    levels = np.frombuffer(base64.b64decode(message["image"]), np.uint8)
    return levels.reshape(message["shape"])


@pytest.fixture
def large(tmp_path: Path) -> FilePair:
    rng = np.random.default_rng(5)
    reference, prediction = rng.integers(0, 50, (2, 101, 67)).astype(np.uint16)
    return open_arrays(tmp_path, reference, prediction)


def test_a_tile_is_that_part_of_the_slice(large: FilePair) -> None:
    found = answer_slice(large, 0, 0, (10, 20, 40, 60), 100)
    assert (found["window"], found["step"], found["shape"]) == ([10, 20, 40, 60], 1, [30, 40])
    assert np.array_equal(decode(found, "reference"), large.reference.labels[10:40, 20:60])
    assert np.array_equal(decode(found, "prediction"), large.prediction.labels[10:40, 20:60])


def test_blocks_of_a_large_tile_have_their_largest_label(large: FilePair) -> None:
    found = answer_slice(large, 0, 0, None, 40)
    assert (found["step"], found["shape"], found["window"]) == (3, [34, 23], [0, 0, 101, 67])
    labels = large.reference.labels
    expected = [[labels[y : y + 3, x : x + 3].max() for x in range(0, 67, 3)]
                for y in range(0, 101, 3)]  # fmt: skip
    assert decode(found, "reference").tolist() == expected


def test_tiles_of_one_step_have_the_blocks_of_the_whole(large: FilePair) -> None:
    whole = decode(answer_slice(large, 0, 0, None, 34), "prediction")
    tile = answer_slice(large, 0, 0, (31, 8, 88, 53), 19)
    assert (tile["step"], tile["window"]) == (3, [30, 6, 90, 54])
    assert np.array_equal(decode(tile, "prediction"), whole[10:30, 2:18])


def test_no_object_disappears_from_a_thinned_slice(tmp_path: Path) -> None:
    dots = np.zeros((900, 900), np.int32)
    dots[::10, ::10] = np.arange(1, 8101).reshape(90, 90)  # single pixels
    pair = open_arrays(tmp_path, dots, dots)
    found = answer_slice(pair, 0, 0, None, 300)
    assert found["step"] == 3
    assert len(found["reference_ids"]) == len(found["prediction_ids"]) == 8100


@pytest.mark.parametrize(
    ("window", "pixels", "message"),
    [((0, 0, 0, 5), 9, r"window=\[0, 0, 0, 5\]"), ((200, 0, 300, 5), 9, "101 × 67 pixels"),
     ((5, 5, 9, 3), 9, "top, left, bottom, right"), ((-9, 0, 0, 5), 9, "a part of the slice"),
     (None, 0, "pixels=0 must be from 1 to 2000"), (None, 2001, "pixels=2001")],
)  # fmt: skip
def test_a_tile_that_is_not_there_is_refused(
    large: FilePair, window: tuple[int, int, int, int] | None, pixels: int, message: str
) -> None:
    with pytest.raises(pm.PanmatchError, match=message):
        answer_slice(large, 0, 0, window, pixels)


def save(path: Path, values: npt.NDArray[np.generic], affine: npt.NDArray[np.float64]) -> Path:
    nibabel.save(nibabel.Nifti1Image(values, affine), path)
    return path


@pytest.fixture
def body(tmp_path: Path) -> tuple[Path, Array]:
    labels = phantoms.blobs((12, 14, 10), 4, radius=(2, 3), gap=1, seed=2).astype(np.uint8)
    return save(tmp_path / "ref.nii.gz", labels, np.diag([1.0, 1.0, 2.0, 1.0])), labels


def test_the_image_beneath_is_that_of_the_same_voxels(
    tmp_path: Path, body: tuple[Path, Array]
) -> None:
    path, labels = body
    levels = np.linspace(-1000, 1000, labels.size).reshape(labels.shape)
    # The image is stored from front to back and upside down.
    turned = np.flip(levels, (1, 2)).transpose(2, 0, 1)
    affine = np.array([[0, 1, 0, 0], [0, 0, -1, 13], [-2, 0, 0, 18], [0, 0, 0, 1.0]])
    image = save(tmp_path / "image.nii.gz", np.ascontiguousarray(turned), affine)
    pair = FilePair.open(path, path, image=image)
    assert pair.describe()["image"] == "image.nii.gz"
    low, high = np.percentile(levels, (1, 99))
    expected = np.rint(np.clip((levels - low) / (high - low), 0, 1) * 255)[:, :, 4]
    assert np.array_equal(grey(answer_slice(pair, 2, 4)), expected.T[::-1, ::-1])
    thin = answer_slice(pair, 2, 4, None, 7)
    blocks = expected.T[::-1, ::-1].reshape(7, 2, 6, 2).sum(axis=(1, 3)) // 4
    assert (thin["step"], grey(thin).tolist()) == (2, blocks.tolist())


def test_an_image_of_another_shape_is_refused_with_both_shapes(
    tmp_path: Path, body: tuple[Path, Array]
) -> None:
    path, _ = body
    image = save(tmp_path / "image.nii.gz", np.zeros((12, 14, 9), np.int16), np.eye(4))
    with pytest.raises(pm.PanmatchError) as raised:
        FilePair.open(path, path, image=image)
    assert str(raised.value) == (
        f"the image path={str(image)!r} has shape (12, 14, 9), but the labels have shape "
        "(12, 14, 10). Resample the image to the grid of the labels."
    )


def test_an_image_at_another_place_is_refused_unless_headers_may_differ(
    tmp_path: Path, body: tuple[Path, Array]
) -> None:
    path, labels = body
    affine = np.diag([1.0, 1.0, 2.0, 1.0])
    affine[2, 3] = 30
    image = save(tmp_path / "image.nii.gz", np.zeros(labels.shape, np.int16), affine)
    with pytest.raises(pm.PanmatchError, match="up to 30 voxel steps apart") as raised:
        FilePair.open(path, path, image=image)
    assert "--allow-header-mismatch to show it voxel by voxel" in raised.value.for_command_line()
    pair = FilePair.open(path, path, image=image, allow_header_mismatch=True)
    assert grey(answer_slice(pair, 2, 0)).shape == (14, 12)


def test_a_volume_is_first_shown_where_a_slice_cuts_most_objects(tmp_path: Path) -> None:
    labels = np.zeros((9, 30, 30), np.uint8)
    for at in range(5):  # side by side in slices 4 to 6 of the second axis
        labels[at : at + 4, 4:7, 6 * at : 6 * at + 3] = at + 1
    labels[8, 20, 20] = 7
    pair = open_arrays(tmp_path, labels, np.zeros_like(labels))
    assert pair.busiest_slice() == (1, 5)
    assert open_arrays(
        tmp_path, np.zeros((30, 30, 9), int), labels.transpose(1, 2, 0)
    ).busiest_slice() == (0, 5)
    assert open_arrays(tmp_path, labels * 0, labels * 0).busiest_slice() == (0, 4)
