"""Writing label images as files that other programs can open."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, needs_extra
from panmatch.formats._images import StoredImage
from panmatch.formats._numpy_files import write_atomically


def write_like(
    folder: Path, name: str, labels: npt.NDArray[np.uint8], grid: StoredImage | None
) -> Path:
    """Write a label image on the grid of another, completely or not at all, and return the file.

    If `grid` has an affine, the file is NIfTI, with that affine and unit. Otherwise it is TIFF,
    with the spacing of `grid`.
    """
    nifti = grid is not None and grid.affine is not None and labels.ndim <= 3
    path = folder / f"{name}{'.nii.gz' if nifti else '.tif'}"
    content = _as_nifti(labels, grid) if nifti and grid is not None else _as_tiff(labels, grid)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"path={str(path.parent)!r} cannot be created: {error}.") from error
    write_atomically(path, content)
    return path


def _as_nifti(labels: npt.NDArray[np.uint8], grid: StoredImage) -> bytes:
    with needs_extra("files", "NIfTI files"):
        import nibabel
    image = nibabel.Nifti1Image(labels, grid.affine)
    image.header.set_xyzt_units("micron" if grid.unit == "µm" else "mm")
    return gzip.compress(image.to_bytes(), 6, mtime=0)


def _as_tiff(labels: npt.NDArray[np.uint8], grid: StoredImage | None) -> bytes:
    with needs_extra("files", "TIFF files"):
        from tifffile import imwrite
    spacing = None if grid is None else grid.spacing
    buffer, axes = io.BytesIO(), "ZYX"[-labels.ndim :]
    if grid is None or spacing is None or grid.unit == "voxel" or not 2 <= labels.ndim <= 3:
        imwrite(buffer, labels, compression="zlib", photometric="minisblack")
    else:
        sizes = {f"PhysicalSize{axis}": step for axis, step in zip(axes, spacing, strict=True)}
        units = {f"{name}Unit": grid.unit for name in sizes}
        imwrite(
            buffer, labels, ome=True, compression="zlib", photometric="minisblack",
            metadata={"axes": axes, **sizes, **units},
        )  # fmt: skip
    return buffer.getvalue()
