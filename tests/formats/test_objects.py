"""Images that other libraries hold in memory are read with what they say about their grid."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
import SimpleITK
from hypothesis import given
from hypothesis import strategies as st

from panmatch.errors import FileError, LabelError, OptionError
from panmatch.formats import (
    LabelImage,
    StoredImage,
    as_stored_image,
    grid_difference,
    read_labels,
    turned_like,
)
from tests.formats.stand_ins import coordinates, data_array
from tests.formats.volumes import STEPS, nifti_image, numbered, oblique_affine, save_itk, save_nifti

sitk: Any = SimpleITK
nib: Any = nibabel


def read(image: object) -> StoredImage:
    found = as_stored_image(image, "reference")
    assert found is not None
    return found


def test_arrays_say_nothing_about_their_grid() -> None:
    for array in ([[1]], numbered(), np.ma.masked_equal(numbered(), 0), None, 255):
        assert as_stored_image(array, "reference") is None


def test_a_file_and_its_image_in_memory_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.nii"
    save_nifti(path, numbered(), oblique_affine())
    from_file, from_path, in_memory = read_labels(path), read(path), read(nib.load(path))
    assert from_file.spacing == in_memory.spacing == from_path.spacing == STEPS
    assert from_file.unit == in_memory.unit == "mm"
    np.testing.assert_array_equal(from_file.affine, in_memory.affine)
    np.testing.assert_array_equal(from_file.labels, in_memory.labels)
    assert in_memory.path == path


def test_axes_of_simpleitk_are_those_of_its_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.mha"
    save_itk(path, numbered())
    image = sitk.ReadImage(str(path))
    found = read(image)
    np.testing.assert_array_equal(found.labels, sitk.GetArrayFromImage(image))
    assert found.spacing == STEPS[::-1]
    assert found.affine is not None
    for index in ((0, 0, 0), (2, 1, 4), (1, 3, 2)):
        place = found.affine @ [*index, 1]
        in_lps = image.TransformIndexToPhysicalPoint(tuple(reversed(index)))
        np.testing.assert_allclose(place[:3], np.array(in_lps) * [-1, -1, 1])


def test_an_image_of_simpleitk_in_two_dimensions() -> None:
    image = sitk.GetImageFromArray(numbered((3, 4)))
    image.SetSpacing((0.5, 2.0))
    found = read(image)
    assert (found.labels.shape, found.spacing, found.unit) == ((3, 4), (2.0, 0.5), "mm")


def test_a_fourth_axis_of_length_one_is_dropped() -> None:
    image = nib.Nifti1Image(numbered((5, 4, 3, 1)), np.diag([0.5, 1.25, 3, 1]))
    assert (read(image).labels.shape, read(image).spacing) == ((5, 4, 3), STEPS)
    joined = sitk.JoinSeries([sitk.GetImageFromArray(numbered((3, 4, 5)))])
    assert read(joined).labels.shape == (3, 4, 5)
    two = sitk.JoinSeries([sitk.GetImageFromArray(numbered((3, 4, 5)))] * 2)
    assert (read(two).labels.shape, read(two).affine) == ((2, 3, 4, 5), None)


def test_values_are_scaled_as_the_header_says_and_must_then_be_whole() -> None:
    image = nib.Nifti1Image(numbered().astype(np.float32), np.eye(4))
    assert read(image).labels.dtype.kind == "i"
    with pytest.raises(
        FileError, match=r"^reference holds 0\.5 at voxel \(0, 0, 0\), which is not"
    ):
        read(nib.Nifti1Image(numbered() + np.float32(0.5), np.eye(4)))
    floats = sitk.GetImageFromArray(numbered((3, 4)).astype(np.float32))
    np.testing.assert_array_equal(read(floats).labels, numbered((3, 4)))
    with pytest.raises(FileError, match=r"^reference holds 0\.5"):
        read(floats + 0.5)


@pytest.mark.parametrize(
    ("code", "spacing", "unit"),
    [(1, (500.0, 1250.0, 3000.0), "mm"), (2, STEPS, "mm"), (3, STEPS, "µm"), (0, STEPS, "mm")],
)
def test_units_of_nifti_images(code: int, spacing: tuple[float, ...], unit: str) -> None:
    image = nifti_image(numbered(), np.diag([*STEPS, 1]))
    image.header["xyzt_units"] = code
    assert (read(image).spacing, read(image).unit) == (spacing, unit)


def test_a_header_without_a_place_has_none() -> None:
    assert read(nifti_image(numbered())).affine is None
    analyze = nib.AnalyzeImage(numbered(), np.diag([*STEPS, 1]))
    assert (read(analyze).affine, read(analyze).spacing) == (None, STEPS)
    mgh = nib.MGHImage(numbered(dtype=np.int32), np.diag([*STEPS, 1]))
    assert read(mgh).orientation == "RAS"


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (nib.gifti.GiftiImage(), "reference is a nibabel GiftiImage, which is not a volume"),
        (sitk.Image([2, 2], sitk.sitkVectorUInt8, 2), "its voxels are vectors or colours"),
        (
            sitk.Image([2, 2], sitk.sitkLabelUInt8),
            r"a label map: pass SimpleITK\.Cast\(image, Simp",
        ),
        (sitk.Image([2, 2], sitk.sitkComplexFloat32), "stores values of dtype complex64"),
    ],
)
def test_images_without_labels_are_refused(image: object, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(image)


class TestTurning:
    """Axes are brought into another order or direction only where affines prove it."""

    def image(self, affine: Any = None, unit: Any = "mm") -> LabelImage:
        chosen = oblique_affine() if affine is None else affine
        return LabelImage(numbered(), STEPS, chosen, Path("a.nii"), unit)

    @pytest.mark.parametrize("order", list(permutations(range(3))))
    @pytest.mark.parametrize("falling", list(product([False, True], repeat=3)))
    def test_every_order_and_direction(
        self, order: tuple[int, ...], falling: tuple[bool, ...]
    ) -> None:
        wanted, affine = self.image(), oblique_affine()
        other = np.flip(wanted.labels, tuple(np.flatnonzero(falling))).transpose(order)
        for axis in np.flatnonzero(falling).tolist():
            affine[:, 3] += (wanted.labels.shape[axis] - 1) * affine[:, axis]
            affine[:, axis] *= -1
        affine = affine[:, [*order, 3]]
        spacing = tuple(STEPS[axis] for axis in order)
        turned = turned_like(LabelImage(other, spacing, affine, Path("b.nii"), "mm"), wanted)
        np.testing.assert_array_equal(turned.labels, wanted.labels)
        np.testing.assert_allclose(turned.affine, wanted.affine, atol=1e-12)  # type: ignore[arg-type]
        assert turned.spacing == STEPS

    @given(st.integers(0, 2), st.integers(0, 2), st.sampled_from([-1.0, 1.0]))
    def test_what_lies_elsewhere_is_not_moved(self, row: int, axis: int, shift: float) -> None:
        reversed_axes = oblique_affine()[:, [2, 1, 0, 3]]
        moved = reversed_axes.copy()
        moved[row, 3] += shift * STEPS[axis]
        other = LabelImage(numbered().T, STEPS[::-1], moved, Path("b.nii"), "mm")
        turned = turned_like(other, self.image())
        np.testing.assert_array_equal(turned.labels, numbered())
        np.testing.assert_allclose(turned.affine, moved[:, [2, 1, 0, 3]])  # type: ignore[arg-type]
        assert "place the same voxel up to" in (grid_difference(self.image(), turned) or "")

    def test_halfway_between_two_directions_nothing_is_turned(self) -> None:
        c = np.sqrt(0.5)
        halfway = np.eye(4)
        halfway[:2, :2] = [[c, -c], [c, c]]
        steps = (1.0, 1.0, 1.0)
        upright = LabelImage(numbered(), steps, np.eye(4), Path("a.nii"), "mm")
        other = LabelImage(numbered(), steps, halfway, Path("b.nii"), "mm")
        assert turned_like(other, upright) is other

    def test_other_units_are_converted(self) -> None:
        thousand = np.diag([1e3, 1e3, 1e3, 1.0])
        fine = thousand @ oblique_affine()[:, [2, 1, 0, 3]]
        steps = tuple(1e3 * step for step in STEPS[::-1])
        other = LabelImage(numbered().T, steps, fine, Path("b.nii"), "µm")
        np.testing.assert_array_equal(turned_like(other, self.image()).labels, numbered())

    def test_a_plane_is_turned_within_its_plane(self) -> None:
        affine = np.diag([0.5, 2.0, 1.0, 1.0])
        wanted = LabelImage(numbered((5, 4)), (0.5, 2.0), affine, Path("a.nii"), "mm")
        other = LabelImage(
            numbered((5, 4)).T, (2.0, 0.5), affine[:, [1, 0, 2, 3]], Path("b.nii"), "mm"
        )
        np.testing.assert_array_equal(turned_like(other, wanted).labels, wanted.labels)

    def test_another_kind_of_world_is_never_compared(self) -> None:
        array = data_array(numbered().T, {"z": [0, 3], "y": [0, 1], "x": [0, 1]})
        assert array.dims == ("z", "y", "x")
        named = StoredImage(numbered().T, STEPS[::-1], oblique_affine(), Path(), "mm", frame="xyz")
        assert turned_like(named, self.image()) is named


class TestXarray:
    """Arrays of xarray, here by a stand-in with the attributes that are used."""

    def test_coordinates_tell_spacing_unit_and_place(self) -> None:
        array = data_array(numbered((4, 3)), {"y": [10.0, 9.5, 9.0, 8.5], "x": [0, 2, 4]}, "mm")
        found = read(array)
        assert (found.spacing, found.unit, found.orientation) == ((0.5, 2.0), "mm", "-y+x")
        assert found.describe() == (
            "shape (4, 3), spacing (0.5, 2) mm, orientation -y+x, origin (0, 10, 0)"
        )

    def test_without_coordinates_nothing_is_known(self) -> None:
        found = read(data_array(numbered((4, 3)), {}))
        assert (found.spacing, found.affine, found.unit) == (None, None, "voxel")

    @pytest.mark.parametrize(
        ("units", "spacing", "unit"),
        [
            ((None, None), (2.0, 1.0), "voxel"),
            (("mm", "millimeter"), (2.0, 1.0), "mm"),
            (("um", "µm"), (2.0, 1.0), "µm"),
            (("mm", "micrometer"), (2000.0, 1.0), "µm"),
            (("cm", "mm"), (20.0, 1.0), "mm"),
            (("nm", "nm"), (0.002, 0.001), "µm"),
        ],
    )
    def test_units_are_those_of_the_coordinates(
        self, units: Any, spacing: tuple[float, ...], unit: str
    ) -> None:
        array = data_array(numbered((4, 3)), coordinates((4, 3), (2.0, 1.0)), units)
        assert (read(array).spacing, read(array).unit) == (spacing, unit)

    @pytest.mark.parametrize(
        ("coords", "units", "message"),
        [
            (
                {"y": [0, 1, 2, 4], "x": [0, 1, 2]},
                None,
                "'y' that is not evenly spaced .steps from",
            ),
            ({"y": [0, 0, 0, 0], "x": [0, 1, 2]}, None, "'y' that is not evenly spaced"),
            ({"y": [0, 1, 2, 3], "x": ["a", "b", "c"]}, None, "'x' that gives no distance"),
            ({"y": [0, 1, 2, 3]}, None, r"along 'y', but none along 'x': .*drop_vars\(\['y'\]\)"),
            (
                {"y": [0, 1, 2, 3], "x": [0, 1, 2]},
                ("mm", "degrees"),
                r"units \['mm', 'degrees'\], which are not all lengths",
            ),
        ],
    )
    def test_what_would_be_guessed_is_refused(self, coords: Any, units: Any, message: str) -> None:
        with pytest.raises(OptionError, match=f"^reference has .*{message}"):
            read(data_array(numbered((4, 3)), coords, units))

    def test_a_step_may_be_off_by_a_thousandth(self) -> None:
        for off, accepted in ((0.0009, True), (0.0011, False)):
            array = data_array(numbered((3, 2)), {"y": [0, 1 + off, 2], "x": [0, 1]})
            if accepted:
                assert read(array).spacing == (1.0, 1.0)
            else:
                with pytest.raises(OptionError, match="not evenly spaced"):
                    read(array)

    def test_labels_must_be_integers(self) -> None:
        with pytest.raises(LabelError, match="reference has dtype float64"):
            read(data_array(numbered((4, 3)).astype(float), {}))

    def test_the_library_itself(self) -> None:
        xarray: Any = pytest.importorskip("xarray", reason="xarray is not installed")
        array = xarray.DataArray(
            numbered((4, 3)), dims=("y", "x"), coords=coordinates((4, 3), (2.0, 0.5))
        )
        assert (read(array).spacing, read(array).orientation) == ((2.0, 0.5), "+y+x")
        assert read(array.transpose()).orientation == "+x+y"
        with pytest.raises(LabelError, match="is an xarray Dataset: pass one of its variables"):
            read(array.to_dataset(name="labels"))


def test_a_grid_that_is_not_read_is_not_dropped() -> None:
    class Volume:
        affine = np.eye(4)

        def __array__(self, *_: object, **__: object) -> Any:
            return numbered()

    with pytest.raises(OptionError, match="whose affine would be lost: pass its voxels as a numpy"):
        as_stored_image(Volume(), "reference")
