"""Formats that SimpleITK reads: ``.nrrd``, ``.nhdr``, ``.mha``, ``.mhd`` (and NIfTI)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from panmatch.errors import FileError
from panmatch.formats.failures import reading_as
from panmatch.formats.label_image import Floats, LabelImage
from panmatch.formats.lengths import usable_spacing
from panmatch.formats.stored_labels import as_stored_labels

# ITK counts left and posterior as positive, the affines of this package right and anterior.
LPS_TO_RAS = np.diag([-1.0, -1.0, 1.0, 1.0])


def read_itk(path: Path) -> LabelImage:
    """Read an image with SimpleITK, which the optional extra ``itk`` installs.

    Axes are (x, y, z), so that array, spacing and affine equal those of the same volume read
    from NIfTI. Trailing axes of length 1 beyond the third are dropped. The affine of a 2-D
    image lies in the plane z = 0. An NRRD file that names no space has no affine, and no spacing
    either unless it states one.

    NIfTI files are better read by `panmatch.formats.nifti`: ITK takes a truncated ``.nii`` file
    for a whole one.
    """
    sitk = _simple_itk(path)
    with reading_as(path, "an ITK image"):
        try:
            image = sitk.ReadImage(str(path))
        except RuntimeError as error:
            raise ValueError(_last_words(error)) from error
        if image.GetNumberOfComponentsPerPixel() > 1:
            raise ValueError("its voxels are vectors or colours, not labels")
        values = sitk.GetArrayFromImage(image).T
        while values.ndim > 3 and values.shape[-1] == 1:
            values = values[..., 0]
        spacing, affine = _grid(image, values.ndim, path)
        return LabelImage(as_stored_labels(values, path), spacing, affine, path)


def _simple_itk(path: Path) -> Any:
    try:
        import SimpleITK
    except ImportError as error:
        raise FileError(
            f"path={str(path)!r} is read with SimpleITK, which is not installed: "
            f"pip install panmatch[itk]"
        ) from error
    return SimpleITK


def _grid(image: Any, ndim: int, path: Path) -> tuple[tuple[float, ...] | None, Floats | None]:
    """Return spacing and affine, without those that ITK makes up for a bare NRRD file."""
    steps = image.GetSpacing()[:ndim]
    if path.suffix.lower() not in (".nrrd", ".nhdr") or image.HasMetaDataKey("NRRD_space"):
        return usable_spacing(steps), _affine(image)
    return (usable_spacing(steps) if set(steps) != {1.0} else None), None


def _affine(image: Any) -> Floats:
    n = image.GetDimension()
    used = min(n, 3)
    steps = np.reshape(image.GetDirection(), (n, n)) * image.GetSpacing()
    affine = np.eye(4)
    affine[:used, :used] = steps[:used, :used]
    affine[:used, 3] = image.GetOrigin()[:used]
    in_ras: Floats = LPS_TO_RAS @ affine
    return in_ras


def _last_words(error: RuntimeError) -> str:
    """Return the innermost cause, without source lines and addresses of ITK.

    The reason that may follow it is the last error of the system, whatever that was about.
    """
    lines = [line for line in str(error).splitlines() if line and not line.startswith("Reason:")]
    return re.sub(r"^.*ERROR: (\w+\(0x\w+\): )?", "", lines[-1]).strip() if lines else ""
