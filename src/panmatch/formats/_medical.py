"""Medical volumes: NIfTI by nibabel; ``.nrrd``, ``.nhdr``, ``.mha``, ``.mhd`` by SimpleITK."""

from __future__ import annotations

import gzip
import logging
import math
import re
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import FileError, needs_extra
from panmatch.formats._decoding import as_stored_labels, reading_as
from panmatch.formats._images import Floats, LabelImage
from panmatch.formats._units import shift_decimal_point, usable_spacing
from panmatch.labels import Array, Unit, shortest_decimal

if TYPE_CHECKING:
    from nibabel import Nifti1Header
    from SimpleITK import Image

CHUNK_BYTES = 2**20
LONGEST_HEADER = 540

# Codes of a NIfTI header, in the lowest bits; whatever is not coded is in millimetres.
UNIT_BITS, METRE, MICRON = 0b111, 1, 3

# Relative noise of two lengths of one header in float32, and of one that float64 computed.
FLOAT32_NOISE = 1e-6
FLOAT64_NOISE = 2.0**-48

# ITK counts left and posterior as positive, the affines of this package right and anterior.
LPS_TO_RAS = np.diag([-1.0, -1.0, 1.0, 1.0])

# nibabel's own logger prints what it repairs; errors are raised whatever the logger.
_unheard = logging.Logger("panmatch.formats.nifti", logging.CRITICAL + 1)


def read_nifti(path: Path) -> LabelImage:
    """Read a NIfTI-1 or NIfTI-2 file, ``.nii`` or ``.nii.gz``.

    Axes, dtype and memory order are those of the file. Trailing axes of length 1 beyond the third
    are dropped. Values are scaled only where the header asks for it. The affine is the sform, or
    else the qform; a header with neither says nothing about the place of the volume, and has no
    affine. The array lies in the decompressed file itself, or in the mapped ``.nii`` file, so that
    there is never a second copy.

    A spacing in float32 is read as its shortest decimal (D8), and is in millimetres unless the
    header says micrometres; metres are converted to millimetres.
    """
    with needs_extra("files", "NIfTI files"):
        import nibabel
    with reading_as(path, "a NIfTI image"):
        content = _decompressed(path) if path.suffix.lower() == ".gz" else _mapped(path)
        header = _header(content, nibabel)
        values = nibabel.volumeutils.apply_read_scaling(
            _stored_array(content, header, path), *header.get_slope_inter()
        )
        affine = _affine(header)
        spacing = _spacing(affine, header, values.ndim)
        code = int(header["xyzt_units"]) & UNIT_BITS
        if code == METRE:
            affine = None if affine is None else np.diag([1e3, 1e3, 1e3, 1.0]) @ affine
            spacing = spacing and shift_decimal_point(spacing[:3], 3) + spacing[3:]
        unit: Unit = "µm" if code == MICRON else "mm"
        return _image(values, spacing, affine, path, unit)


def read_itk(path: Path) -> LabelImage:
    """Read an image with SimpleITK, which the optional extra ``itk`` installs.

    Axes are (x, y, z), so that array, spacing and affine equal those of the same volume read
    from NIfTI. Trailing axes of length 1 beyond the third are dropped. The affine of a 2-D
    image lies in the plane z = 0. An NRRD file that does not name a space has no affine, and no
    spacing either unless it states one.

    NIfTI files are better read by `read_nifti`: ITK takes a truncated ``.nii`` file for a whole
    one.
    """
    with needs_extra("itk", "NRRD and MetaImage files"):
        import SimpleITK as sitk  # noqa: N813
    with reading_as(path, "an ITK image"):
        try:
            image = sitk.ReadImage(str(path))
        except RuntimeError as error:
            raise ValueError(_innermost_cause(error)) from error
        if image.GetNumberOfComponentsPerPixel() > 1:
            raise ValueError("its voxels are vectors or colours, not labels")
        values = sitk.GetArrayFromImage(image).T
        values = values.reshape(_without_trailing_ones(values.shape), order="F")
        spacing, affine = _itk_grid(image, values.ndim, path)
        return _image(values, spacing, affine, path, "mm")


def _image(
    values: Array, spacing: tuple[float, ...] | None, affine: Floats | None, path: Path, unit: Unit
) -> LabelImage:
    known: Unit = "voxel" if spacing is None and affine is None else unit
    return LabelImage(as_stored_labels(values, path), spacing, affine, path, known)


def _without_trailing_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    while len(shape) > 3 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def _decompressed(path: Path) -> memoryview:
    """Decompress to the end, where the checksum is; a growing buffer is never copied whole."""
    reader: type[gzip.GzipFile] = gzip.GzipFile
    with suppress(ModuleNotFoundError):  # isal is only faster
        from isal import igzip

        reader = igzip.IGzipFile
    content = bytearray()
    with reader(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            content += chunk
    return memoryview(content)


def _mapped(path: Path) -> memoryview:
    if path.stat().st_size == 0:
        raise EOFError("the file is empty")
    return np.memmap(path, np.uint8, mode="r").data


def _header(content: memoryview, nibabel: ModuleType) -> Nifti1Header:
    start = bytes(content[:LONGEST_HEADER])
    for kind in (nibabel.Nifti1Header, nibabel.Nifti2Header):
        if kind.may_contain_header(start):
            header: Nifti1Header = kind(start[: kind.sizeof_hdr], check=False)
            header.check_fix(logger=_unheard, error_level=logging.ERROR)
            return header
    raise ValueError("it has no NIfTI header")


def _stored_array(content: memoryview, header: Nifti1Header, path: Path) -> Array:
    shape, dtype = _without_trailing_ones(header.get_data_shape()), header.get_data_dtype()
    start = header.get_data_offset()
    if start < header.sizeof_hdr:
        raise ValueError(f"its voxels cannot begin at byte {start}, inside the header")
    stop = start + math.prod(shape) * dtype.itemsize
    if stop > len(content):
        raise FileError(
            f"path={str(path)!r} is truncated: its header announces {stop} bytes, "
            f"but there are {len(content)}."
        )
    return np.ndarray(shape, dtype, content, start, order="F")


def _affine(header: Nifti1Header) -> Floats | None:
    for form in ("get_sform", "get_qform"):
        affine, _ = getattr(header, form)(coded=True)
        if affine is not None and _is_regular(affine):
            return np.asarray(affine, np.float64)
    return None


def _is_regular(affine: Floats) -> bool:
    volume = abs(np.linalg.det(affine[:3, :3]))
    box = np.prod(np.linalg.norm(affine[:3, :3], axis=0))
    return bool(np.isfinite(affine).all() and volume > 1e-6 * box)


def _spacing(affine: Floats | None, header: Nifti1Header, ndim: int) -> tuple[float, ...] | None:
    """Return the lengths of the affine's columns, or what the header says about the axes.

    The header states the length of an axis itself, too. Where it agrees with the affine, it is the
    better number: the columns of an oblique affine were rounded entry by entry. The header of
    NIfTI-2 is in float64, but may hold an affine from float32.
    """
    single = header["pixdim"].dtype.itemsize == 4
    if affine is not None:
        single |= np.array_equal(affine[:3, :3], affine[:3, :3].astype(np.float32))
    steps = [_decimal(float(step), single) for step in header.get_zooms()[:ndim]]
    columns = [] if affine is None else np.linalg.norm(affine[:3, : min(ndim, 3)], axis=0)
    for axis, length in enumerate(columns):
        if not math.isclose(steps[axis], length, rel_tol=FLOAT32_NOISE):
            steps[axis] = _decimal(float(length), single)
    return usable_spacing(steps)


def _decimal(length: float, single: bool) -> float:
    """Return the decimal that was meant, for a length that float32 (D8) or float64 rounded."""
    with np.errstate(over="ignore"):
        in_single = float(np.float32(length))
    single = single or math.isclose(in_single, length, rel_tol=FLOAT64_NOISE)
    exact = shortest_decimal(in_single) if single else length
    rounded = float(f"{exact:.13g}")
    return rounded if math.isclose(rounded, exact, rel_tol=FLOAT64_NOISE) else exact


def _itk_grid(
    image: Image, ndim: int, path: Path
) -> tuple[tuple[float, ...] | None, Floats | None]:
    """Return spacing and affine, without the defaults that ITK fills in for a bare NRRD file."""
    steps = [_decimal(step, single=False) for step in image.GetSpacing()[:ndim]]
    if path.suffix.lower() not in (".nrrd", ".nhdr") or image.HasMetaDataKey("NRRD_space"):
        return usable_spacing(steps), _itk_affine(image)
    return (usable_spacing(steps) if set(steps) != {1.0} else None), None


def _itk_affine(image: Image) -> Floats:
    n = image.GetDimension()
    used = min(n, 3)
    steps = np.reshape(image.GetDirection(), (n, n)) * image.GetSpacing()
    affine = np.eye(4)
    affine[:used, :used] = steps[:used, :used]
    affine[:used, 3] = image.GetOrigin()[:used]
    in_ras: Floats = LPS_TO_RAS @ affine
    return in_ras


def _innermost_cause(error: RuntimeError) -> str:
    """Return the last line of ITK's message, without source lines and addresses.

    The reason that may follow it is the last error of the system, whatever that was about.
    """
    lines = [line for line in str(error).splitlines() if line and not line.startswith("Reason:")]
    return re.sub(r"^.*ERROR: (\w+\(0x\w+\): )?", "", lines[-1]).strip() if lines else ""
