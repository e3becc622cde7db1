"""Medical volumes: NIfTI by nibabel; ``.nrrd``, ``.nhdr``, ``.mha``, ``.mhd`` by SimpleITK."""

from __future__ import annotations

import gzip
import io
import logging
import math
import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from panmatch.errors import FileError, needs_extra
from panmatch.formats._decoding import Decode, as_stored_labels, check_fits_in_memory, reading_as
from panmatch.formats._gzip import start_of_gzip, unpack_gzip
from panmatch.formats._images import Floats, LabelImage, reverse_axes
from panmatch.formats._units import shift_decimal_point, usable_spacing
from panmatch.labels import Array, Unit, shortest_decimal

if TYPE_CHECKING:
    from nibabel import Nifti1Header
    from SimpleITK import Image

CHUNK_BYTES = 2**20
LONGEST_HEADER = 540

# Unit codes in the lowest bits of a NIfTI header; without a code, the unit is millimetres.
UNIT_BITS, METRE, MICRON = 0b111, 1, 3

# Relative noise between two lengths of a header in float32, and of a length computed in float64.
FLOAT32_NOISE = 1e-6
FLOAT64_NOISE = 2.0**-48

# In ITK, left and posterior are positive; in the affines of this package, right and anterior are.
LPS_TO_RAS = np.diag([-1.0, -1.0, 1.0, 1.0])

# nibabel logs what it repairs; it raises errors regardless of the logger.
_unheard = logging.Logger("panmatch.formats.nifti", logging.CRITICAL + 1)


def read_nifti(path: Path, *, decode: Decode = as_stored_labels) -> LabelImage:
    """Read a NIfTI-1 or NIfTI-2 file, ``.nii`` or ``.nii.gz``.

    Axes, dtype and memory order are those of the file. Trailing axes of length 1 beyond the third
    are dropped. Values are scaled only if the header asks for it. The affine is the sform, or else
    the qform; a header with neither says nothing about the position of the volume, so there is no
    affine. The array uses the decompressed file itself, or the mapped ``.nii`` file, so there is
    never a second copy.

    A spacing in float32 is read as its shortest decimal (D8), and is in millimetres unless the
    header says micrometres; metres are converted to millimetres.
    """
    with needs_extra("files", "NIfTI files"):
        import nibabel
    with reading_as(path, "a NIfTI image"):
        compressed = path.suffix.lower() == ".gz"
        content = _decompressed(path, nibabel) if compressed else _mapped(path)
        header = _header(content, nibabel)
        values = nibabel.volumeutils.apply_read_scaling(
            _stored_array(content, header, path), *header.get_slope_inter()
        )
        return LabelImage(decode(values, path), *_nifti_grid(header, values.ndim, path))


def from_nibabel(image: Any, name: str) -> LabelImage:
    """Return the labels of a nibabel image, as `read_nifti` does for its file.

    For formats other than NIfTI the affine is used as it is, except for Analyze, whose files do not
    state a position.
    """
    if not hasattr(image, "dataobj") or not hasattr(image, "affine"):
        raise FileError(
            f"{name} is a nibabel {type(image).__name__}, which is not a volume: paint its labels "
            f"into a Nifti1Image."
        )
    with reading_as(name, "a nibabel image"):
        values = np.asanyarray(image.dataobj)
        values = values.reshape(_without_trailing_ones(values.shape), order="A")
        labels, path = as_stored_labels(values, name), Path(image.get_filename() or "")
        header = image.header
        if hasattr(header, "get_sform"):
            return LabelImage(labels, *_nifti_grid(header, values.ndim, path), name)
        knows_place = "analyze" not in type(image).__module__
        affine = np.asarray(image.affine, np.float64) if knows_place else None
        steps = [_decimal(float(step), single=True) for step in header.get_zooms()[: values.ndim]]
        return LabelImage(labels, *_grid(usable_spacing(steps), affine, path, "mm"), name)


def read_itk(path: Path, *, decode: Decode = as_stored_labels) -> LabelImage:
    """Read an image with SimpleITK, which the optional extra ``itk`` installs.

    Axes are (x, y, z), so array, spacing and affine equal those of the same volume read from
    NIfTI. Trailing axes of length 1 beyond the third are dropped. The affine of a 2-D image places
    it in the plane z = 0. An NRRD file that does not name a space has no affine, and a spacing
    only if it states one.

    Use `read_nifti` for NIfTI files: ITK accepts a truncated ``.nii`` file as complete.
    """
    with needs_extra("itk", "NRRD and MetaImage files"):
        import SimpleITK as sitk  # noqa: N813
    with reading_as(path, "an ITK image"):
        try:
            reader = sitk.ImageFileReader()
            reader.SetFileName(str(path))
            reader.ReadImageInformation()
            check_fits_in_memory(math.prod(reader.GetSize()), path)
            image = reader.Execute()
        except RuntimeError as error:
            raise ValueError(_innermost_cause(error)) from error
        values = _itk_values(image, sitk)
        grid = _itk_grid(image, values.ndim, path)
        return LabelImage(decode(values, path), *_grid(*grid, path, "mm"))


def from_simpleitk(image: Image, name: str) -> LabelImage:
    """Return the labels of a SimpleITK image, with axes (z, y, x).

    SimpleITK returns arrays in this order, so other arrays passed with it are likely in it too.
    """
    import SimpleITK as sitk  # noqa: N813

    with reading_as(name, "a SimpleITK image"):
        values = _itk_values(image, sitk)
        n = values.ndim
        steps = usable_spacing(_decimal(step, single=False) for step in image.GetSpacing()[:n])
        grid = _grid(steps, _itk_affine(image), Path(), "mm")
        return reverse_axes(LabelImage(as_stored_labels(values, name), *grid, name))


def _itk_values(image: Image, sitk: ModuleType) -> Array:
    """Return the voxels of an image, axes (x, y, z)."""
    if image.GetNumberOfComponentsPerPixel() > 1:
        raise ValueError("its voxels are vectors or colours, not labels")
    if image.GetPixelIDTypeAsString().startswith("label"):
        raise ValueError("it is a label map: pass SimpleITK.Cast(image, SimpleITK.sitkUInt32)")
    values: Array = sitk.GetArrayFromImage(image).T
    return values.reshape(_without_trailing_ones(values.shape), order="F")


Grid = tuple[tuple[float, ...] | None, Floats | None, Path, Unit]


def _grid(spacing: tuple[float, ...] | None, affine: Floats | None, path: Path, unit: Unit) -> Grid:
    known: Unit = "voxel" if spacing is None and affine is None else unit
    return spacing, affine, path, known


def _nifti_grid(header: Nifti1Header, ndim: int, path: Path) -> Grid:
    """Return spacing, affine, path and unit from a NIfTI header."""
    affine = _affine(header)
    spacing = _spacing(affine, header, ndim)
    code = int(header["xyzt_units"]) & UNIT_BITS
    if code == METRE:
        affine = None if affine is None else np.diag([1e3, 1e3, 1e3, 1.0]) @ affine
        spacing = spacing and shift_decimal_point(spacing[:3], 3) + spacing[3:]
    return _grid(spacing, affine, path, "µm" if code == MICRON else "mm")


def _without_trailing_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    while len(shape) > 3 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def _decompressed(path: Path, nibabel: ModuleType) -> memoryview:
    """Decompress to the end, where the checksum is, but keep no more than the header announces."""
    packed = path.read_bytes()
    start = start_of_gzip(packed, LONGEST_HEADER)
    if len(start) == LONGEST_HEADER:
        announced = _end_of_voxels(_header(memoryview(start), nibabel))
        check_fits_in_memory(announced, path)
        whole = unpack_gzip(packed, announced)
        if whole is not None:
            return whole.data
    return _decompressed_in_chunks(packed, path, nibabel)


def _decompressed_in_chunks(packed: bytes, path: Path, nibabel: ModuleType) -> memoryview:
    """Decompress a file that contains more or less than it announces, or several members.

    The buffer grows without ever being copied as a whole.
    """
    reader: type[gzip.GzipFile] = gzip.GzipFile
    with suppress(ModuleNotFoundError):  # isal is optional, and faster
        from isal import igzip

        reader = igzip.IGzipFile
    content = bytearray()
    with reader(fileobj=io.BytesIO(packed)) as file:
        announced = None
        while chunk := file.read(CHUNK_BYTES):
            if announced is None:
                announced = _end_of_voxels(_header(memoryview(chunk), nibabel))
                check_fits_in_memory(announced, path)
            if len(content) < announced:
                content += chunk
    return memoryview(content)


def _mapped(path: Path) -> memoryview:
    if path.stat().st_size == 0:
        raise EOFError("the file is empty")
    return np.memmap(path, np.uint8, mode="r").data


def _header(content: memoryview, nibabel: ModuleType) -> Nifti1Header:
    return _parsed_header(bytes(content[:LONGEST_HEADER]), nibabel)


@lru_cache(8)  # it is asked for before and after decompression, and files of a dataset share theirs
def _parsed_header(start: bytes, nibabel: ModuleType) -> Nifti1Header:
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
        raise ValueError(f"its voxels cannot start at byte {start}, inside the header")
    stop = _end_of_voxels(header)
    if stop > len(content):
        raise FileError(
            f"path={str(path)!r} is truncated: its header announces {stop} bytes, "
            f"but there are {len(content)}."
        )
    return np.ndarray(shape, dtype, content, start, order="F")


def _end_of_voxels(header: Nifti1Header) -> int:
    n_bytes: int = math.prod(header.get_data_shape()) * header.get_data_dtype().itemsize
    return n_bytes + int(header.get_data_offset())


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

    The header also states the length of each axis. If it agrees with the affine, it is the better
    number, because the columns of an oblique affine were rounded entry by entry. A NIfTI-2 header
    is in float64, but may contain an affine from float32.
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
    """Return the intended decimal, for a length that was rounded to float32 (D8) or float64."""
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

    A reason that follows is just the last system error, which may be unrelated.
    """
    lines = [line for line in str(error).splitlines() if line and not line.startswith("Reason:")]
    return re.sub(r"^.*ERROR: (\w+\(0x\w+\): )?", "", lines[-1]).strip() if lines else ""
