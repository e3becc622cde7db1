"""Label images on the grid of another one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panmatch.errors import FileError
from panmatch.formats import LabelImage, can_resample, is_on_grid_of, resample_like
from panmatch.formats._resampling import INDEX_DIGITS

Affine = npt.NDArray[np.float64]


def turned(seed: int, spacing: tuple[float, ...], origin: tuple[float, ...]) -> Affine:
    """Return an affine turned by about 20°, or not at all for seed 0."""
    affine = np.eye(4)
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(np.eye(3) + 0.2 * rng.normal(size=(3, 3)))[0] if seed else np.eye(3)
    affine[:3, :3] = turn * np.sign(np.diag(turn)) @ np.diag(spacing)
    affine[:3, 3] = origin
    return affine


def image(labels: npt.NDArray[np.integer], affine: Affine, name: str = "a.nii") -> LabelImage:
    n = labels.ndim
    spacing = tuple(np.linalg.norm(affine[:3, :n], axis=0).tolist())
    return LabelImage(labels, spacing, affine, Path(name), "mm")


def labels_of(shape: tuple[int, ...], seed: int = 0) -> npt.NDArray[np.integer]:
    return np.random.default_rng(seed).integers(0, 200, shape, np.uint8)


def brute_force(
    source: LabelImage, grid: LabelImage
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.bool_]]:
    """Return the nearest label of every voxel, and where two are equally near up to rounding."""
    assert source.affine is not None
    assert grid.affine is not None
    found = np.zeros(grid.labels.shape, source.labels.dtype)
    tied = np.zeros(grid.labels.shape, np.bool_)
    to_index = np.linalg.inv(source.affine) @ grid.affine
    for at in product(*map(range, grid.labels.shape)):
        index = (to_index @ [*at, *[0] * (3 - len(at)), 1])[: len(at)]
        tied[at] = np.any(np.abs(index - np.floor(index) - 0.5) < 10.0**-INDEX_DIGITS)
        nearest = tuple(np.floor(index + 0.5 + 1e-9).astype(int))
        if all(0 <= k < n for k, n in zip(nearest, source.labels.shape, strict=True)):
            found[at] = source.labels[nearest]
    return found, tied


@given(
    seed=st.integers(0, 5),
    spacing=st.tuples(*[st.sampled_from([0.5, 0.7, 1.0, 2.0])] * 3),
    origin=st.tuples(*[st.floats(-0.9, 0.9)] * 3),
)
def test_every_voxel_gets_the_nearest_label(
    seed: int, spacing: tuple[float, ...], origin: tuple[float, ...]
) -> None:
    source = image(labels_of((5, 6, 4)), turned(seed, spacing, origin))
    grid = image(labels_of((6, 5, 5), 1), turned(0, (1, 0.8, 0.6), (0, 0, 0)))
    found = resample_like(source, grid).image
    expected, tied = brute_force(source, grid)
    np.testing.assert_array_equal(found.labels[~tied], expected[~tied])
    assert found.labels.dtype == np.uint8
    assert is_on_grid_of(found, grid)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_simpleitk_finds_the_same(seed: int) -> None:
    sitk = pytest.importorskip("SimpleITK")

    def as_itk(one: LabelImage) -> object:
        assert one.affine is not None
        ras_to_lps = np.diag([-1.0, -1, 1, 1]) @ one.affine
        made = sitk.GetImageFromArray(np.ascontiguousarray(one.labels.T))
        made.SetSpacing(one.spacing)
        made.SetOrigin(ras_to_lps[:3, 3].tolist())
        made.SetDirection((ras_to_lps[:3, :3] / np.array(one.spacing)).ravel().tolist())
        return made

    source = image(labels_of((20, 17, 9)), turned(seed, (1.1, 0.7, 2.5), (-2.3, 1.7, 0.9)))
    grid = image(labels_of((25, 14, 21), 1), turned(7, (0.9, 0.8, 1.3), (-3.1, 0.4, 0.2)))
    expected = sitk.Resample(
        as_itk(source), as_itk(grid), sitk.Transform(), sitk.sitkNearestNeighbor, 0
    )
    values = sitk.GetArrayFromImage(expected).T
    found = resample_like(source, grid)
    _, tied = brute_force(source, grid)
    assert tied.mean() < 0.02
    np.testing.assert_array_equal(found.image.labels[~tied], values[~tied])
    assert 0.1 < np.count_nonzero(values) / values.size < found.covered < 1


def test_a_grid_turned_by_right_angles_and_back_is_exact() -> None:
    source = image(labels_of((5, 6, 4)), turned(0, (1, 2, 3), (4, 5, 6)))
    affine = source.affine @ np.array([[0, -1, 0, 4], [0, 0, 1, 0], [-1, 0, 0, 3], [0, 0, 0, 1.0]])
    grid = image(np.zeros((4, 5, 6), np.uint8), affine)
    there = resample_like(source, grid)
    assert there.covered == 1
    np.testing.assert_array_equal(
        there.image.labels, np.flip(source.labels.transpose(2, 0, 1), (0, 1))
    )
    back = resample_like(there.image, source)
    np.testing.assert_array_equal(back.image.labels, source.labels)


@pytest.mark.parametrize("noise", [-1e-6, 0.0, 1e-6])
def test_a_tie_goes_to_the_higher_index_whatever_the_last_digit_of_the_header(noise: float) -> None:
    source = image(np.array([1, 2, 3], np.uint8), np.diag([2.0 + noise, 1, 1, 1]))
    grid = image(np.zeros(6, np.uint8), np.eye(4))
    assert resample_like(source, grid).image.labels.tolist() == [1, 2, 2, 3, 3, 0]


def test_units_are_converted() -> None:
    source = LabelImage(
        np.array([[1, 2], [3, 4]], np.uint16), (1000.0, 1000.0), np.diag([1000.0, 1000, 1000, 1]),
        Path("a.nii"), "µm",
    )  # fmt: skip
    grid = image(np.zeros((2, 2), np.uint8), np.eye(4))
    found = resample_like(source, grid).image
    np.testing.assert_array_equal(found.labels, source.labels)
    assert (found.unit, found.spacing, found.path) == ("mm", (1, 1), Path("a.nii"))


def test_what_has_no_place_is_refused_with_the_reason() -> None:
    placed = image(labels_of((3, 3)), np.eye(4))
    tiff = LabelImage(labels_of((6, 6)), (0.5, 0.5), None, Path("b.tif"), "µm")
    assert not can_resample(tiff, placed)
    assert not can_resample(placed, tiff)
    with pytest.raises(FileError, match=r"b\.tif' does not say where its voxels are"):
        resample_like(tiff, placed)
    with pytest.raises(FileError, match="axes have different meanings"):
        resample_like(image(labels_of((3, 3, 3)), np.eye(4)), placed)


def test_images_without_a_common_place_or_plane_are_errors() -> None:
    grid = image(labels_of((3, 3)), np.eye(4))
    far, above = np.eye(4), np.eye(4)
    far[0, 3], above[2, 3] = 3, 0.5
    with pytest.raises(FileError, match="do not overlap in space"):
        resample_like(image(labels_of((3, 3)), far), grid)
    with pytest.raises(FileError, match="are in different planes"):
        resample_like(image(labels_of((3, 3)), above), grid)
