"""Arrays, spacing and affine of one volume are the same whichever program wrote or read it."""

import gzip
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.errors import FileError
from panmatch.formats import LabelImage, check_same_grid, read_labels
from panmatch.formats._medical import read_itk
from tests.formats import volumes
from tests.formats.volumes import ORIGIN, STEPS, numbered, oblique_affine


def check_oblique(image: LabelImage) -> None:
    np.testing.assert_array_equal(image.labels, numbered())
    assert image.labels.flags.f_contiguous
    assert image.spacing == pytest.approx(STEPS, rel=1e-6)
    assert image.unit == "mm"
    assert image.affine is not None
    np.testing.assert_allclose(image.affine, oblique_affine(), rtol=0, atol=1e-6)
    assert image.orientation == "PLS"


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
def test_nibabel_and_itk_read_one_nifti_file_alike(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"case{suffix}"
    volumes.save_nifti(path, numbered(), oblique_affine())
    check_oblique(read_labels(path))
    check_oblique(read_itk(path))
    check_same_grid(read_labels(path), read_itk(path))


@pytest.mark.parametrize("suffix", [".nrrd", ".nhdr", ".mha", ".mhd", ".nii", ".nii.gz"])
def test_what_itk_wrote_lies_where_nifti_puts_it(tmp_path: Path, suffix: str) -> None:
    volumes.save_itk(tmp_path / f"case{suffix}", numbered())
    check_oblique(read_labels(tmp_path / f"case{suffix}"))


def test_the_world_place_of_a_voxel_is_the_one_that_itk_computes(tmp_path: Path) -> None:
    import SimpleITK

    path = tmp_path / "case.nii"
    volumes.save_nifti(path, numbered(), oblique_affine())
    image: Any = SimpleITK.ReadImage(str(path))
    left, back, up = image.TransformIndexToPhysicalPoint((4, 1, 2))
    affine = read_labels(path).affine
    assert affine is not None
    assert (affine @ [4, 1, 2, 1])[:3] == pytest.approx((-left, -back, up), abs=1e-5)


def test_a_flat_itk_image_lies_in_the_plane_of_its_axes(tmp_path: Path) -> None:
    volumes.save_itk(tmp_path / "case.mha", numbered((5, 4)))
    image = read_labels(tmp_path / "case.mha")
    assert image.spacing == (0.5, 1.25)
    assert image.affine is not None
    np.testing.assert_array_equal(image.affine, np.diag([-0.5, -1.25, 1, 1]))
    assert image.orientation == "LP"


BARE_NRRD = b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 5 4 3\nencoding: raw\n"


@pytest.mark.parametrize(
    ("field", "spacing"), [(b"", None), (b"spacings: 0.5 1.25 3\n", (0.5, 1.25, 3.0))]
)
def test_what_a_bare_nrrd_file_leaves_out_is_not_filled_in(
    tmp_path: Path, field: bytes, spacing: tuple[float, ...] | None
) -> None:
    path = tmp_path / "case.nrrd"
    path.write_bytes(BARE_NRRD + field + b"\n" + numbered().tobytes(order="F"))
    image = read_labels(path)
    np.testing.assert_array_equal(image.labels, numbered())
    assert image.spacing == spacing
    assert image.unit == ("voxel" if spacing is None else "mm")
    assert image.affine is None


def test_vector_images_are_refused(tmp_path: Path) -> None:
    import SimpleITK

    path = tmp_path / "case.mha"
    colours = SimpleITK.GetImageFromArray(numbered((5, 4, 3)), isVector=True)
    SimpleITK.WriteImage(colours, str(path))
    with pytest.raises(FileError, match="voxels are vectors or colours, not labels") as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"path={str(path)!r} ")


@pytest.mark.parametrize("tail", [(1,), (1, 1)])
def test_trailing_axes_of_length_one_are_dropped(tmp_path: Path, tail: tuple[int, ...]) -> None:
    path = tmp_path / "case.nii.gz"
    volumes.save_nifti(path, numbered().reshape(5, 4, 3, *tail), oblique_affine())
    check_oblique(read_labels(path))
    check_oblique(read_itk(path))


def test_only_trailing_axes_beyond_the_third_are_dropped(tmp_path: Path) -> None:
    for shape in ((5, 4, 1), (1, 4, 3), (5, 4, 1, 2)):
        volumes.save_nifti(tmp_path / "case.nii", numbered(shape), np.diag([2.0, 3, 4, 1]))
        image = read_labels(tmp_path / "case.nii")
        np.testing.assert_array_equal(image.labels, numbered(shape))
        assert image.spacing == (2.0, 3.0, 4.0, 1.0)[: len(shape)]


def stored_nifti(path: Path, dtype: str, **fields: Any) -> LabelImage:
    """Write a header with the given fields, and read the file."""
    from nibabel.nifti1 import Nifti1Header

    volumes.save_nifti(path, numbered(dtype=dtype), oblique_affine())
    content = path.read_bytes()
    make: Any = Nifti1Header
    header = make(content[:348])
    for name, value in fields.items():
        header[name] = value
    path.write_bytes(header.binaryblock + content[348:])
    return read_labels(path)


@pytest.mark.parametrize(
    ("slope", "inter"), [(1, 0), (0, 0), (np.nan, np.nan), (0, 5), (np.inf, 0)]
)
def test_integers_without_a_scale_are_taken_as_stored(
    tmp_path: Path, slope: float, inter: float
) -> None:
    image = stored_nifti(tmp_path / "case.nii", "int16", scl_slope=slope, scl_inter=inter)
    assert image.labels.dtype == np.int16
    np.testing.assert_array_equal(image.labels, numbered())


def test_a_scale_in_the_header_is_applied(tmp_path: Path) -> None:
    image = stored_nifti(tmp_path / "case.nii", "int16", scl_slope=2, scl_inter=-3)
    assert image.labels.dtype == np.int32
    np.testing.assert_array_equal(image.labels, numbered(dtype=np.int32) * 2 - 3)
    with pytest.raises(FileError, match=r"holds 0\.5 at voxel \(0, 0, 1\)"):
        stored_nifti(tmp_path / "case.nii", "int16", scl_slope=0.5, scl_inter=0)


def test_a_header_without_a_place_still_has_a_spacing(tmp_path: Path) -> None:
    image = stored_nifti(tmp_path / "case.nii", "uint8", sform_code=0, qform_code=0)
    assert image.affine is None
    assert image.spacing == STEPS


def test_the_qform_stands_in_for_a_missing_or_flat_sform(tmp_path: Path) -> None:
    check_oblique(stored_nifti(tmp_path / "case.nii", "uint8", sform_code=0))
    check_oblique(stored_nifti(tmp_path / "case.nii", "uint8", srow_x=0, srow_y=0, srow_z=0))


def test_the_sform_is_preferred_to_the_qform(tmp_path: Path) -> None:
    image = stored_nifti(tmp_path / "case.nii", "uint8", qoffset_x=500, pixdim=[1, *[9] * 7])
    check_oblique(image)


def test_a_flat_affine_leaves_the_spacing_of_the_header(tmp_path: Path) -> None:
    image = stored_nifti(tmp_path / "case.nii", "uint8", srow_x=0, srow_y=0, srow_z=0, qform_code=0)
    assert image.affine is None
    assert image.spacing == STEPS


def test_a_foreign_byte_order_and_nifti_2_are_read(tmp_path: Path) -> None:
    import nibabel

    make: Any = nibabel.Nifti2Image
    header: Any = nibabel.Nifti2Header
    image = make(numbered(dtype=">i2"), oblique_affine(), header(endianness=">"))
    image.set_data_dtype(">i2")
    volumes.save_image(image, tmp_path / "case.nii.gz")
    check_oblique(read_labels(tmp_path / "case.nii.gz"))


def test_gzip_files_of_several_members_are_read_whole(tmp_path: Path) -> None:
    volumes.save_nifti(tmp_path / "case.nii", numbered(), oblique_affine())
    content = (tmp_path / "case.nii").read_bytes()
    half = len(content) // 2
    path = tmp_path / "case.nii.gz"
    path.write_bytes(gzip.compress(content[:half]) + gzip.compress(content[half:]))
    check_oblique(read_labels(path))


def test_a_volume_is_not_a_second_copy_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "case.nii.gz"
    volumes.save_nifti(path, np.zeros((256, 256, 256), np.uint8), np.eye(4))
    read_labels(path)
    tracemalloc.start()
    read_labels(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * 256**3


def test_the_origin_is_that_of_the_first_voxel(tmp_path: Path) -> None:
    volumes.save_nifti(tmp_path / "case.nii", numbered(), oblique_affine())
    description = read_labels(tmp_path / "case.nii").describe()
    assert description == (
        "shape (5, 4, 3), spacing (0.5, 1.25, 3) mm, orientation PLS, origin (-31.5, 12.25, 88)"
    )
    assert ORIGIN == (-31.5, 12.25, 88)
