"""Slices show the body as radiologists expect it, however a file stores it."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path

import nibabel
import numpy as np
import numpy.typing as npt
import pytest

from panmatch.formats import LabelImage
from panmatch.playground import FilePair
from panmatch.playground._planes import planes_of
from panmatch.playground._slices import answer_slice
from tests.playground.test_pair import decode

Array = npt.NDArray[np.integer]
Affine = npt.NDArray[np.float64]

STEPS = (1.0, 2.0, 3.0)  # to the right, to the front, up
SHAPE = (5, 6, 7)
SIDES = ("LR", "PA", "IS")

# Every voxel has its own label, so a turned or mirrored picture cannot pass.
BODY = np.arange(1, 211, dtype=np.uint8).reshape(SHAPE)


def stored(order: tuple[int, ...], flips: tuple[bool, ...]) -> tuple[Array, Affine]:
    """Return the body with its axes in this order, some of them reversed, and the affine."""
    labels = np.transpose(BODY, order)
    affine = np.zeros((4, 4))
    affine[3, 3] = 1
    for at, (axis, flip) in enumerate(zip(order, flips, strict=True)):
        affine[axis, at] = -STEPS[axis] if flip else STEPS[axis]
        affine[axis, 3] = STEPS[axis] * (SHAPE[axis] - 1) if flip else 0.0
        labels = np.flip(labels, at) if flip else labels
    return labels, affine


def open_body(folder: Path, labels: Array, affine: Affine) -> FilePair:
    path = folder / "body.nii"
    nibabel.save(nibabel.Nifti1Image(np.ascontiguousarray(labels), affine), path)
    return FilePair.open(path, path)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("flips", list(product([False, True], repeat=3)))
def test_the_same_body_gives_the_same_pictures(
    tmp_path: Path, order: tuple[int, ...], flips: tuple[bool, ...]
) -> None:
    pair = open_body(tmp_path, *stored(order, flips))
    expected = {
        "sagittal": (BODY[2].T[::-1, ::-1], "SPIA", 3.0 / 2.0),
        "coronal": (BODY[:, 3].T[::-1, ::-1], "SLIR", 3.0),
        "axial": (BODY[:, :, 3].T[::-1, ::-1], "ALPR", 2.0),
    }
    shown = {plane["name"]: plane for plane in pair.describe()["planes"]}
    assert set(shown) == set(expected)
    for name, (picture, edges, aspect) in expected.items():
        plane = shown[name]
        at = {"sagittal": 0, "coronal": 1, "axial": 2}[name]
        middle = SHAPE[at] // 2
        index = SHAPE[at] - 1 - middle if flips[plane["axis"]] else middle
        found = answer_slice(pair, plane["axis"], index)
        assert np.array_equal(decode(found, "reference"), picture)
        assert "".join(plane["edges"]) == edges
        assert plane["aspect"] == aspect
        ends = SIDES[at][::-1] if flips[plane["axis"]] else SIDES[at]
        assert "".join(plane["ends"]) == ends


def test_the_patients_right_is_on_the_left_and_superior_is_up() -> None:
    labels = np.zeros((3, 3, 3), np.uint8)
    labels[2, 1, 1], labels[1, 2, 1], labels[1, 1, 2] = 1, 2, 3  # right, front, top
    image = LabelImage(labels, None, np.eye(4), Path("a.nii"), "mm")
    sagittal, coronal, axial = (plane.cut(labels, 1) for plane in planes_of(image))
    assert coronal[1, 0] == axial[1, 0] == 1
    assert axial[0, 1] == sagittal[1, 0] == 2
    assert coronal[0, 1] == sagittal[0, 1] == 3


def test_an_oblique_body_is_shown_along_the_nearest_axes(tmp_path: Path) -> None:
    angle = np.deg2rad(20)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    labels, affine = stored((2, 0, 1), (False, True, False))
    straight = open_body(tmp_path, labels, affine).planes
    assert open_body(tmp_path, labels, turn @ affine).planes == straight


def test_without_an_affine_slices_are_shown_as_stored(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", BODY)
    pair = FilePair.open(tmp_path / "a.npy", tmp_path / "a.npy")
    for axis in range(3):
        found = answer_slice(pair, axis, 2)
        assert np.array_equal(decode(found, "reference"), np.take(BODY, 2, axis))
    planes = pair.describe()["planes"]
    assert [plane["name"] for plane in planes] == ["axis 0", "axis 1", "axis 2"]
    assert all(plane["edges"] == plane["ends"] == [] for plane in planes)


def test_the_prediction_may_be_the_one_that_says_where_things_are(tmp_path: Path) -> None:
    labels, affine = stored((1, 2, 0), (True, False, False))
    np.save(tmp_path / "a.npy", labels)
    open_body(tmp_path, labels, affine)
    pair = FilePair.open(tmp_path / "a.npy", tmp_path / "body.nii")
    assert [plane.name for plane in pair.planes] == ["coronal", "axial", "sagittal"]
    assert pair.planes == open_body(tmp_path, labels, affine).planes


@pytest.mark.parametrize(
    ("letters", "edges", "picture"),
    [
        ("RA", "ALPR", [[5, 2], [4, 1], [3, 0]]),
        ("LP", "ALPR", [[0, 3], [1, 4], [2, 5]]),
        ("AR", "ALPR", [[5, 4, 3], [2, 1, 0]]),
        ("PI", "SPIA", [[0, 3], [1, 4], [2, 5]]),
        ("SL", "SLIR", [[3, 4, 5], [0, 1, 2]]),
    ],
)
def test_a_flat_image_is_upright(letters: str, edges: str, picture: list[list[int]]) -> None:
    affine = np.zeros((4, 4))
    affine[3, 3] = 1
    for at, letter in enumerate(letters):
        (world,) = (row for row, both in enumerate(SIDES) if letter in both)
        affine[world, at] = 1 if letter in "RAS" else -1
    labels = np.arange(6, dtype=np.uint8).reshape(2, 3)
    (plane,) = planes_of(LabelImage(labels, None, affine, Path("a.nii"), "mm"))
    assert (plane.axis, plane.edges, plane.ends) == (None, edges, "")
    assert plane.cut(labels, 0).tolist() == picture
