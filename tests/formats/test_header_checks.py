"""Two files are compared voxel by voxel only if their headers allow it."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from panmatch.errors import FileError, ShapeError
from panmatch.formats import LabelImage, check_same_grid
from panmatch.labels import Unit
from tests.formats.volumes import STEPS, numbered, oblique_affine

Affine = npt.NDArray[np.float64]
WORLD_AXIS = {"L": 0, "R": 0, "P": 1, "A": 1, "I": 2, "S": 2}


def image(
    name: str = "pred.nii",
    *,
    shape: tuple[int, ...] = (100, 80, 60),
    spacing: tuple[float, ...] | None = None,
    affine: Affine | None = None,
    unit: Unit = "mm",
) -> LabelImage:
    return LabelImage(np.zeros(shape, np.uint8), spacing, affine, Path(name), unit)


def moved(column: int, row: int, amount: float) -> Affine:
    affine = oblique_affine()
    affine[row, column] += amount
    return affine


@pytest.mark.parametrize("allow", [False, True])
def test_different_shapes_are_never_allowed(allow: bool) -> None:
    with pytest.raises(ShapeError) as caught:
        check_same_grid(
            image("ref.nii", shape=(5, 4, 3)), image(shape=(3, 4, 5)), allow_header_mismatch=allow
        )
    assert str(caught.value) == (
        "reference path='ref.nii' has shape (5, 4, 3) but prediction path='pred.nii' has shape "
        "(3, 4, 5); both must lie on the same grid. The axes look permuted: reorder those of "
        "one image with numpy.transpose."
    )


def test_a_mismatch_prints_both_grids_and_the_remedy() -> None:
    reference = image("ref.nii", spacing=STEPS, affine=oblique_affine())
    prediction = image(spacing=STEPS, affine=moved(3, 0, 1.5))
    with pytest.raises(FileError) as caught:
        check_same_grid(reference, prediction)
    assert str(caught.value) == (
        "path='pred.nii' and its reference path='ref.nii' place the same voxel up to 3 voxel "
        "steps apart:\n"
        "  reference:  shape (100, 80, 60), spacing (0.5, 1.25, 3) mm, orientation PLS, "
        "origin (-31.5, 12.25, 88)\n"
        "  prediction: shape (100, 80, 60), spacing (0.5, 1.25, 3) mm, orientation PLS, "
        "origin (-30, 12.25, 88)\n"
        "Resample or reorient one of them, or pass allow_header_mismatch=True to compare voxel by "
        "voxel as stored."
    )
    assert "or pass --allow-header-mismatch to compare" in caught.value.for_command_line()
    check_same_grid(reference, prediction, allow_header_mismatch=True)


@pytest.mark.parametrize(
    ("amount", "accepted"), [(0.0049, True), (-0.0049, True), (0.0051, False), (-0.0051, False)]
)
def test_the_origin_may_move_by_a_hundredth_of_the_smallest_step(
    amount: float, accepted: bool
) -> None:
    pair = image(affine=oblique_affine()), image(affine=moved(3, 2, amount))
    if accepted:
        check_same_grid(*pair)
        return
    with pytest.raises(FileError, match=r"up to 0\.0102 voxel steps apart"):
        check_same_grid(*pair)


def test_a_small_turn_counts_where_it_moves_the_far_corner() -> None:
    turned = moved(0, 1, 0.0051 / 99.5)
    with pytest.raises(FileError, match="voxel steps apart"):
        check_same_grid(image(affine=oblique_affine()), image(affine=turned))
    small = (10, 80, 60)
    check_same_grid(image(shape=small, affine=oblique_affine()), image(shape=small, affine=turned))


def test_a_flip_with_the_same_origin_of_the_box_is_a_mismatch() -> None:
    flipped = oblique_affine()
    flipped[:3, 3] += 99 * flipped[:3, 0]
    flipped[:3, 0] *= -1
    with pytest.raises(FileError, match=r"orientation ALS"):
        check_same_grid(image(affine=oblique_affine()), image(affine=flipped))


def test_float32_headers_are_not_a_mismatch() -> None:
    affine = oblique_affine()
    affine[:3, 3] = (1234.5678, -987.654321, 1500.1)
    rounded = affine.astype(np.float32).astype(np.float64)
    shape, spacing = (512, 512, 900), tuple(np.linalg.norm(affine[:3, :3], axis=0).tolist())
    labels = np.broadcast_to(np.uint8(0), shape)
    check_same_grid(
        LabelImage(labels, spacing, affine, Path("ref.nii")),
        LabelImage(
            labels, tuple(np.array(spacing, np.float32).tolist()), rounded, Path("pred.nii")
        ),
    )


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_spacings_may_differ_by_a_thousandth(axis: int) -> None:
    for factor in (1.0009, 1 / 1.0009):
        other = list(STEPS)
        other[axis] *= factor
        check_same_grid(image(spacing=STEPS), image(spacing=tuple(other)))
    for factor in (1.0011, 1 / 1.0011):
        other = list(STEPS)
        other[axis] *= factor
        with pytest.raises(FileError, match="differ in spacing"):
            check_same_grid(image(spacing=STEPS), image(spacing=tuple(other)))


def test_exchanged_spacings_are_a_mismatch() -> None:
    with pytest.raises(FileError, match=r"spacing \(3, 1\.25, 0\.5\) mm, orientation and origin"):
        check_same_grid(image(spacing=STEPS), image(spacing=STEPS[::-1]))


def test_lengths_are_compared_in_a_common_unit() -> None:
    in_mm = image(spacing=STEPS, affine=oblique_affine())
    thousand = np.diag([1e3, 1e3, 1e3, 1.0])
    steps = tuple(1000 * step for step in STEPS)
    in_um = image(spacing=steps, affine=thousand @ oblique_affine(), unit="µm")
    check_same_grid(in_mm, in_um)
    check_same_grid(in_um, in_mm)
    shifted = image(spacing=steps, affine=thousand @ moved(3, 0, 1.5), unit="µm")
    for pair in ((in_mm, shifted), (shifted, in_mm)):
        with pytest.raises(FileError, match="voxel up to 3 voxel steps apart"):
            check_same_grid(*pair)


def test_equal_numbers_in_different_units_are_a_mismatch() -> None:
    with pytest.raises(FileError, match="differ in spacing") as caught:
        check_same_grid(image(spacing=STEPS), image(spacing=STEPS, unit="µm"))
    assert "spacing (0.5, 1.25, 3) mm, " in str(caught.value)
    assert "spacing (0.5, 1.25, 3) µm, " in str(caught.value)


def test_a_spacing_without_a_unit_is_compared_by_its_numbers() -> None:
    for unit in ("mm", "µm", "voxel"):
        known = image(spacing=STEPS, unit=unit)
        check_same_grid(known, image(spacing=STEPS, unit="voxel"))
        with pytest.raises(FileError, match="differ in spacing"):
            check_same_grid(image(spacing=STEPS[::-1], unit="voxel"), known)


def test_what_one_file_does_not_say_is_not_compared() -> None:
    full = image(spacing=STEPS, affine=oblique_affine())
    for bare in (image(), image(spacing=STEPS), image(affine=oblique_affine())):
        check_same_grid(full, bare)
        check_same_grid(bare, full)
    check_same_grid(image(), image())


def test_only_the_axes_of_a_flat_image_are_compared() -> None:
    thick = np.diag([0.5, 0.5, 9.0, 1.0])
    thin = np.diag([0.5, 0.5, 1.0, 1.0])
    flat = (8, 6)
    check_same_grid(image(shape=flat, affine=thick), image(shape=flat, affine=thin))
    with pytest.raises(FileError, match="orientation RA"):
        check_same_grid(
            image(shape=flat, affine=thick), image(shape=flat, affine=np.diag([0.6, 0.5, 9, 1]))
        )


@pytest.mark.parametrize(
    ("diagonal", "order", "letters"),
    [
        ([1, 1, 1], [0, 1, 2], "RAS"),
        ([-1, -1, 1], [0, 1, 2], "LPS"),
        ([1, 1, 1], [2, 0, 1], "SRA"),
        ([1, 1, -1], [1, 2, 0], "AIR"),
    ],
)
def test_orientation_names_the_end_that_each_axis_points_to(
    diagonal: list[float], order: list[int], letters: str
) -> None:
    affine = np.eye(4)
    affine[:3, :3] = np.diag(diagonal)[:, order]
    assert image(affine=affine).orientation == letters


def test_orientation_uses_every_world_axis_once() -> None:
    from nibabel import orientations

    axis_codes: Any = orientations.aff2axcodes

    rng = np.random.default_rng(5)
    for _ in range(50):
        affine = np.eye(4)
        affine[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0] * STEPS
        letters = image(affine=affine).orientation
        assert letters is not None
        assert sorted(WORLD_AXIS[letter] for letter in letters) == [0, 1, 2]
        if (np.abs(affine[:3, :3] / STEPS) > 0.75).sum() == 3:
            assert letters == "".join(axis_codes(affine))


def test_an_image_without_an_affine_has_no_orientation() -> None:
    bare = LabelImage(numbered((5, 4)), None, None, Path("a.png"))
    assert bare.orientation is None
    assert bare.describe() == "shape (5, 4), spacing unknown, orientation and origin unknown"
