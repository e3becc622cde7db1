"""Spacings of headers: exact decimals (D8), and their units (D14)."""

from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt
import pytest

from panmatch.errors import OptionError
from panmatch.formats import LabelImage, check_same_grid, convert_spacing, read_labels
from panmatch.formats._medical import read_itk
from panmatch.labels import Unit
from tests.formats.volumes import STEPS, numbered, oblique_affine, save_image, save_itk

Affine = npt.NDArray[np.float64]
TENTHS = [round(0.1 * n, 1) for n in range(1, 13)]
KINDS: list[Any] = [nibabel.Nifti1Image, nibabel.Nifti2Image]
ROTATIONS = [np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0] for seed in range(20)]


def affine_of(rotation: Affine, steps: tuple[float, ...]) -> Affine:
    affine = np.eye(4)
    affine[:3, :3] = rotation * steps
    return affine


def read_nifti(path: Path, kind: Any, affine: Affine, **fields: Any) -> LabelImage:
    """Write a file with an sform, and read it."""
    image = kind(numbered(), affine)
    for name, value in fields.items():
        image.header[name] = value
    save_image(image, path)
    return read_labels(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", TENTHS)
def test_a_straight_spacing_is_the_decimal_that_was_meant(
    tmp_path: Path, kind: Any, step: float
) -> None:
    steps = (step, 2 * step, 1.0)
    for diagonal in ([1, 1, 1], [-1, -1, 1]):
        image = read_nifti(tmp_path / "case.nii", kind, affine_of(np.diag(diagonal), steps))
        assert image.spacing == steps


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", TENTHS)
def test_an_oblique_spacing_is_the_decimal_that_was_meant(
    tmp_path: Path, kind: Any, step: float
) -> None:
    steps = (step, 0.7, step)
    for rotation in ROTATIONS:
        image = read_nifti(tmp_path / "case.nii", kind, affine_of(rotation, steps))
        assert image.spacing == steps


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", TENTHS)
def test_an_affine_that_was_computed_in_float32_is_read_alike(
    tmp_path: Path, kind: Any, step: float
) -> None:
    steps = (step, 0.7, step)
    for rotation in (np.eye(3), *ROTATIONS):
        affine = affine_of(rotation, steps).astype(np.float32).astype(np.float64)
        pixdim = [1, *np.array(steps, np.float32), 0, 0, 0, 0]
        image = read_nifti(tmp_path / "case.nii", kind, affine, pixdim=pixdim)
        assert image.spacing == steps


@pytest.mark.parametrize("kind", KINDS)
def test_the_affine_is_right_where_the_header_says_something_else(
    tmp_path: Path, kind: Any
) -> None:
    pixdim = [1, *[9] * 7]
    for step in TENTHS:
        straight = affine_of(np.eye(3), (step, step, step)).astype(np.float32).astype(np.float64)
        image = read_nifti(tmp_path / "case.nii", kind, straight, pixdim=pixdim)
        assert image.spacing == (step, step, step)
        oblique = affine_of(ROTATIONS[0], (step, step, step))
        image = read_nifti(tmp_path / "case.nii", kind, oblique, pixdim=pixdim)
        assert image.spacing == pytest.approx((step, step, step), rel=2**-22)


@pytest.mark.parametrize("step", TENTHS)
def test_a_copy_to_nifti_2_keeps_the_spacing(tmp_path: Path, step: float) -> None:
    for rotation in (np.eye(3), *ROTATIONS):
        read_nifti(tmp_path / "case.nii", KINDS[0], affine_of(rotation, (step, 0.7, 1.0)))
        load: Any = nibabel.load
        save_image(KINDS[1].from_image(load(tmp_path / "case.nii")), tmp_path / "copy.nii")
        assert read_labels(tmp_path / "copy.nii").spacing == (step, 0.7, 1.0)


def test_a_float64_header_keeps_what_float32_cannot_hold(tmp_path: Path) -> None:
    steps = (0.123456789012, 1 / 3, 1.0)
    image = read_nifti(tmp_path / "case.nii", nibabel.Nifti2Image, affine_of(np.eye(3), steps))
    assert image.spacing == steps
    bare: Any = nibabel.Nifti2Image(numbered(), None)
    bare.header.set_zooms(steps)
    save_image(bare, tmp_path / "bare.nii")
    assert read_labels(tmp_path / "bare.nii").spacing == steps


def test_a_header_without_an_affine_has_decimals_too(tmp_path: Path) -> None:
    image: Any = nibabel.Nifti1Image(numbered(), None)
    image.header.set_zooms((0.6, 0.7, 0.1))
    save_image(image, tmp_path / "case.nii")
    read = read_labels(tmp_path / "case.nii")
    assert (read.spacing, read.affine, read.unit) == ((0.6, 0.7, 0.1), None, "mm")


def test_itk_reads_and_passes_on_the_same_decimals(tmp_path: Path) -> None:
    import SimpleITK

    read_nifti(tmp_path / "case.nii", KINDS[0], affine_of(np.eye(3), (0.6, 0.7, 0.1)))
    image = SimpleITK.ReadImage(tmp_path / "case.nii")
    assert read_itk(tmp_path / "case.nii").spacing == (0.6, 0.7, 0.1)
    for suffix in (".mha", ".nrrd"):
        SimpleITK.WriteImage(image, tmp_path / f"case{suffix}")
        assert read_labels(tmp_path / f"case{suffix}").spacing == (0.6, 0.7, 0.1)


@pytest.mark.parametrize("suffix", [".mha", ".nrrd"])
def test_an_oblique_spacing_of_itk_is_the_decimal_that_was_meant(
    tmp_path: Path, suffix: str
) -> None:
    import SimpleITK

    image = SimpleITK.GetImageFromArray(numbered())
    for rotation in ROTATIONS:
        image.SetDirection((rotation * np.sign(np.linalg.det(rotation))).ravel().tolist())
        for step in TENTHS:
            image.SetSpacing((step, 0.7, 1.0))
            SimpleITK.WriteImage(image, tmp_path / f"case{suffix}")
            assert read_labels(tmp_path / f"case{suffix}").spacing == (step, 0.7, 1.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("code", "unit", "scale"),
    [(0, "mm", 1), (1, "mm", 1000), (2, "mm", 1), (3, "µm", 1), (7, "mm", 1), (8 + 3, "µm", 1)],
)
def test_the_unit_of_a_nifti_header_is_read(
    tmp_path: Path, kind: Any, code: int, unit: Unit, scale: float
) -> None:
    steps = (0.0003, 0.0006, 0.0012)
    affine = affine_of(np.eye(3), steps)
    affine[:3, 3] = 1, 2, 3
    image = read_nifti(tmp_path / "case.nii", kind, affine, xyzt_units=code)
    assert image.unit == unit
    assert image.spacing == ((0.3, 0.6, 1.2) if scale == 1000 else steps)
    assert image.affine is not None
    world = np.diag([scale, scale, scale, 1.0]) @ affine
    np.testing.assert_allclose(image.affine, world, rtol=1e-6)


def test_time_is_not_converted_with_the_space(tmp_path: Path) -> None:
    image: Any = nibabel.Nifti1Image(numbered((5, 4, 3, 2)), np.diag([0.001, 0.001, 0.002, 1]))
    image.header.set_zooms((0.001, 0.001, 0.002, 2.5))
    image.header["xyzt_units"] = 1 + 8
    save_image(image, tmp_path / "case.nii")
    read = read_labels(tmp_path / "case.nii")
    assert (read.spacing, read.unit) == ((1.0, 1.0, 2.0, 2.5), "mm")


def test_one_grid_in_three_units_is_one_grid(tmp_path: Path) -> None:
    images = []
    for code, scale in ((1, 1e-3), (2, 1.0), (3, 1e3)):
        affine = np.diag([scale, scale, scale, 1.0]) @ oblique_affine()
        path = tmp_path / f"case_{code}.nii"
        images.append(read_nifti(path, KINDS[0], affine, xyzt_units=code))
    for reference in images:
        for prediction in images:
            check_same_grid(reference, prediction)


@pytest.mark.parametrize("suffix", [".nrrd", ".nhdr", ".mha", ".mhd"])
def test_other_medical_formats_are_in_millimetres(tmp_path: Path, suffix: str) -> None:
    save_itk(tmp_path / f"case{suffix}", numbered())
    image = read_labels(tmp_path / f"case{suffix}")
    assert image.spacing == pytest.approx(STEPS)
    assert image.unit == "mm"


@pytest.mark.parametrize("step", [*TENTHS, 0.0041, 1e-7, 12345.678, 250.0])
def test_spacings_are_converted_without_the_noise_of_binary_fractions(step: float) -> None:
    in_um = convert_spacing((step,), "mm", "µm")
    assert f"{in_um[0]:.15g}" == f"{step * 1000:.15g}"
    assert len(repr(in_um[0])) <= len(repr(step)) + 3
    assert convert_spacing(in_um, "µm", "mm") == (step,)


@pytest.mark.parametrize("unit", ["mm", "µm", "voxel"])
def test_a_spacing_in_the_wanted_unit_stays(unit: Unit) -> None:
    assert convert_spacing([2, 0.5], unit, unit) == (2, 0.5)


@pytest.mark.parametrize(
    ("unit", "wanted"), [("voxel", "mm"), ("voxel", "µm"), ("mm", "voxel"), ("µm", "voxel")]
)
def test_voxels_cannot_be_converted(unit: Unit, wanted: Unit) -> None:
    with pytest.raises(OptionError) as caught:
        convert_spacing((2.0, 0.5), unit, wanted)
    assert str(caught.value) == (
        f"the spacing (2.0, 0.5) has the unit '{unit}', which cannot be converted to '{wanted}': "
        f"pass it in {wanted}, with spacing."
    )
    assert caught.value.for_command_line().endswith(f"pass it in {wanted}, with --spacing.")


def test_unknown_units_are_refused() -> None:
    wrong: Any = "mn"
    with pytest.raises(OptionError, match=r"^unit='mn' is not known; did you mean '.m'\?"):
        convert_spacing((1.0,), wrong, "mm")
    with pytest.raises(OptionError, match=r"^wanted='mn' is not known"):
        convert_spacing((1.0,), "mm", wrong)
