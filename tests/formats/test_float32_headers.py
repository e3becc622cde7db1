"""Whatever a header in float32 says in tenths is read as tenths, by every reader (D8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch.formats import read_labels
from tests.formats.volumes import save_image, save_tiff

Array = npt.NDArray[Any]
Save = Callable[[Path, Array, float], Path]

TENTHS = [round(0.1 * n, 1) for n in range(1, 13)]
TURNED = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
TURNED *= np.sign(np.linalg.det(TURNED))


def single(step: float) -> float:
    """Return what a header in float32 holds."""
    return float(np.float32(step))


def nifti(version: int, rotation: Array) -> Save:
    def save(folder: Path, labels: Array, step: float) -> Path:
        affine = np.eye(4)
        affine[:3, :3] = rotation * single(step)
        make: Any = (nibabel.Nifti1Image, nibabel.Nifti2Image)[version - 1]
        save_image(make(labels, affine.astype(np.float32)), folder / "case.nii")
        return folder / "case.nii"

    return save


def itk(suffix: str, rotation: Array) -> Save:
    def save(folder: Path, labels: Array, step: float) -> Path:
        import SimpleITK

        image = SimpleITK.GetImageFromArray(np.ascontiguousarray(labels.T))
        image.SetSpacing([single(step)] * 3)
        image.SetDirection(rotation.ravel().tolist())
        SimpleITK.WriteImage(image, folder / f"case{suffix}")
        return folder / f"case{suffix}"

    return save


def passed_on(suffix: str) -> Save:
    """What ITK makes of an oblique NIfTI file."""

    def save(folder: Path, labels: Array, step: float) -> Path:
        import SimpleITK

        image = SimpleITK.ReadImage(nifti(1, TURNED)(folder, labels, step))
        SimpleITK.WriteImage(image, folder / f"case{suffix}")
        return folder / f"case{suffix}"

    return save


def ome_tiff(folder: Path, labels: Array, step: float) -> Path:
    sizes = {f"PhysicalSize{axis}": single(step) for axis in "XYZ"}
    save_tiff(folder / "case.ome.tif", labels, metadata={"axes": "ZYX", **sizes})
    return folder / "case.ome.tif"


def ome_tiff_in_mm(folder: Path, labels: Array, step: float) -> Path:
    sizes = {f"PhysicalSize{axis}": single(step / 1000) for axis in "XYZ"}
    units = {f"PhysicalSize{axis}Unit": "mm" for axis in "XYZ"}
    save_tiff(folder / "case.ome.tif", labels, metadata={"axes": "ZYX", **sizes, **units})
    return folder / "case.ome.tif"


def imagej(folder: Path, labels: Array, step: float) -> Path:
    save_tiff(
        folder / "case.tif", labels, imagej=True,
        resolution=[float(np.float32(1) / np.float32(step))] * 2,
        metadata={"axes": "ZYX", "spacing": single(step), "unit": "um"},
    )  # fmt: skip
    return folder / "case.tif"


def imagej_in_millionths(folder: Path, labels: Array, step: float) -> Path:
    """As ImageJ itself writes resolutions."""
    dots = int(1e6 / step)
    save_tiff(
        folder / "case.tif", labels, imagej=True, resolution=[(dots, 1_000_000)] * 2,
        metadata={"axes": "ZYX", "spacing": step, "unit": "micron"},
    )  # fmt: skip
    return folder / "case.tif"


def ome_zarr(folder: Path, labels: Array, step: float, *, whole: float = 1.0) -> Path:
    import zarr

    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    fine = {"type": "scale", "scale": [single(step)] * 3}
    factor = {"type": "scale", "scale": [whole] * 3}
    image: dict[str, Any] = {
        "axes": axes,
        "datasets": [{"path": "0", "coordinateTransformations": [fine]}],
        "coordinateTransformations": [factor],
    }
    group = zarr.open_group(str(folder / "case.ome.zarr"), mode="w", zarr_format=2)
    group.attrs.update({"multiscales": [image]})
    group.create_array("0", data=labels)
    return folder / "case.ome.zarr"


def archive(folder: Path, labels: Array, step: float) -> Path:
    np.savez(folder / "case.npz", labels=labels, spacing=np.full(3, step, np.float32))
    return folder / "case.npz"


SAVED: dict[str, Save] = {
    "nifti 1": nifti(1, np.eye(3)),
    "nifti 1, oblique": nifti(1, TURNED),
    "nifti 2": nifti(2, np.eye(3)),
    "nifti 2, oblique": nifti(2, TURNED),
    "nrrd": itk(".nrrd", np.eye(3)),
    "nrrd, oblique": itk(".nrrd", TURNED),
    "nrrd from nifti, oblique": passed_on(".nrrd"),
    "mha": itk(".mha", np.eye(3)),
    "mha, oblique": itk(".mha", TURNED),
    "mha from nifti, oblique": passed_on(".mha"),
    "ome-tiff": ome_tiff,
    "ome-tiff in mm": ome_tiff_in_mm,
    "imagej": imagej,
    "imagej in millionths": imagej_in_millionths,
    "ome-zarr": ome_zarr,
    "npz": archive,
}


def cubes() -> tuple[Array, Array]:
    """A cube of 5³ voxels, and the same cube one voxel further."""
    reference = np.zeros((9, 10, 11), np.uint8)
    reference[2:7, 2:7, 2:7] = 1
    return reference, np.roll(reference, 1, 0)


@pytest.mark.parametrize("save", SAVED.values(), ids=SAVED)
def test_tenths_are_tenths_and_a_shift_of_one_voxel_is_within_one_voxel(
    tmp_path: Path, save: Save
) -> None:
    reference, prediction = cubes()
    matching = pm.match(pm.count_overlaps(reference, prediction), threshold=0.1)
    for step in TENTHS:
        image = read_labels(save(tmp_path, reference, step))
        np.testing.assert_array_equal(image.labels, reference)
        assert image.spacing == (step, step, step)
        found = pm.measure(
            matching, reference, prediction, ["nsd", "hd"], image.spacing, tolerance=step
        )
        assert found.columns["nsd"].tolist() == [1.0]
        assert found.columns["hd"].tolist() == [step]
        less = np.nextafter(step, 0) * (1 - 1e-8)
        found = pm.measure(matching, reference, prediction, ["nsd"], image.spacing, tolerance=less)
        assert found.columns["nsd"][0] < 1


@pytest.mark.parametrize("step", TENTHS)
def test_scales_are_multiplied_as_decimals(tmp_path: Path, step: float) -> None:
    path = ome_zarr(tmp_path, np.ones((2, 3, 4), np.uint8), step, whole=3.0)
    assert json.loads((path / ".zattrs").read_text())["multiscales"]
    assert read_labels(path).spacing == (round(3 * step, 1),) * 3


@pytest.mark.parametrize(
    ("dots", "length", "want"),
    [(3, 1, 1 / 3), (3333333, 1000000, 0.3), (3333334, 1000000, 0.3), (10, 1, 0.1),
     (13981013, 4194304, 0.3), (6201577, 1000000, 0.1612493), (7, 22, 22 / 7)],
)  # fmt: skip
def test_a_resolution_is_a_decimal_only_if_it_has_the_digits(
    tmp_path: Path, dots: int, length: int, want: float
) -> None:
    save_tiff(
        tmp_path / "case.tif", np.ones((2, 3, 4), np.uint8), imagej=True,
        resolution=[(dots, length)] * 2, metadata={"axes": "ZYX", "spacing": 1.5, "unit": "um"},
    )  # fmt: skip
    assert read_labels(tmp_path / "case.tif").spacing == (1.5, want, want)
