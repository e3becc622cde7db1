"""Volumes in which any flipped or exchanged axis shows, and the files that hold them."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ORIGIN = (-31.5, 12.25, 88.0)
STEPS = (0.5, 1.25, 3.0)


def numbered(
    shape: tuple[int, ...] = (5, 4, 3), dtype: npt.DTypeLike = np.uint8
) -> npt.NDArray[Any]:
    """Return an array in which every voxel is a label of its own."""
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def oblique_affine() -> npt.NDArray[np.float64]:
    """Return the affine of a turned, anisotropic and left-handed grid, nearest to 'PLS'."""
    a, b = np.deg2rad(20), np.deg2rad(35)
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_z = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])
    to_world = np.array([[0, -1, 0], [-1, 0, 0], [0, 0, 1]])
    affine = np.eye(4)
    affine[:3, :3] = about_x @ about_z @ to_world * STEPS
    affine[:3, 3] = ORIGIN
    return affine


def nifti_image(array: npt.NDArray[Any], affine: npt.NDArray[Any] | None = None) -> Any:
    """Return a NIfTI image whose sform and qform are both set, or neither."""
    import nibabel

    make: Any = nibabel.Nifti1Image
    image = make(array, affine, dtype=array.dtype)
    if affine is not None:
        image.set_sform(affine, code=1)
        image.set_qform(affine, code=1)
    return image


def save_nifti(path: Path, array: npt.NDArray[Any], affine: npt.NDArray[Any] | None = None) -> None:
    """Write a NIfTI file."""
    save_image(nifti_image(array, affine), path)


def save_image(image: Any, path: Path) -> None:
    """Write an image of nibabel."""
    import nibabel

    save: Any = nibabel.save
    save(image, path)


def save_itk(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an (x, y, z) array with SimpleITK; grid as in `oblique_affine`, or in its plane."""
    import SimpleITK

    sitk: Any = SimpleITK
    n = array.ndim
    image = sitk.GetImageFromArray(np.ascontiguousarray(array.T))
    image.SetSpacing(STEPS[:n])
    if n == 3:
        in_lps = np.diag([-1.0, -1.0, 1.0, 1.0]) @ oblique_affine()
        image.SetDirection((in_lps[:3, :3] / STEPS).ravel().tolist())
        image.SetOrigin(in_lps[:3, 3].tolist())
    sitk.WriteImage(image, str(path))


def save_png(path: Path, array: npt.NDArray[Any]) -> None:
    """Write grey values with Pillow."""
    from PIL import Image

    Image.fromarray(array).save(path)


def save_tiff(path: Path, array: npt.NDArray[Any], **options: Any) -> None:
    """Write a TIFF stack."""
    import tifffile

    # Without it, volumes that are 3 or 4 voxels wide are written as colours.
    tifffile.imwrite(path, array, **{"photometric": "minisblack"} | options)


def save_zarr(path: Path, array: npt.NDArray[Any], *, zarr_format: int = 2) -> None:
    """Write a Zarr array in chunks that do not divide its shape."""
    import zarr

    create: Any = zarr.create_array
    create(
        str(path),
        shape=array.shape,
        dtype=array.dtype,
        chunks=(2,) * array.ndim,
        zarr_format=zarr_format,
    )[...] = array
