"""NIfTI-1 and NIfTI-2 in one file: ``.nii`` and ``.nii.gz``."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError
from panmatch.formats.failures import reading_as
from panmatch.formats.label_image import Floats, LabelImage
from panmatch.formats.lengths import usable_spacing
from panmatch.formats.stored_labels import as_stored_labels

CHUNK_BYTES = 2**20
LONGEST_HEADER = 540

# nibabel's own logger prints what it repairs; errors are raised whatever the logger.
_unheard = logging.Logger("panmatch.formats.nifti", logging.CRITICAL + 1)


def read(path: Path) -> LabelImage:
    """Read a NIfTI file; axes, dtype and memory order are those of the file.

    Trailing axes of length 1 beyond the third are dropped. Values are scaled only where the
    header asks for it. The affine is the sform, or else the qform; a header with neither says
    nothing about the place of the volume, and has no affine. The array lies in the decompressed
    file itself, or in the mapped ``.nii`` file, so that there is never a second copy.
    """
    with reading_as(path, "a NIfTI image"):
        content = _decompressed(path) if path.suffix.lower() == ".gz" else _mapped(path)
        header = _header(content)
        values = _scaled(_stored_array(content, header, path), header)
        affine = _affine(header)
        spacing = _spacing(affine, header, values.ndim)
        return LabelImage(as_stored_labels(values, path), spacing, affine, path)


def _decompressed(path: Path) -> memoryview:
    """Decompress to the end, where the checksum is; a growing buffer is never copied whole."""
    from isal import igzip

    open_gzip: Any = igzip.open
    content = bytearray()
    with open_gzip(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            content += chunk
    return memoryview(content)


def _mapped(path: Path) -> memoryview:
    if path.stat().st_size == 0:
        raise EOFError("the file is empty")
    return np.memmap(path, np.uint8, mode="r").data


def _header(content: memoryview) -> Any:
    from nibabel.nifti1 import Nifti1Header
    from nibabel.nifti2 import Nifti2Header

    start = bytes(content[:LONGEST_HEADER])
    kinds: tuple[Any, ...] = (Nifti1Header, Nifti2Header)
    for kind in kinds:
        if kind.may_contain_header(start):
            header = kind(start[: kind.sizeof_hdr], check=False)
            header.check_fix(logger=_unheard, error_level=logging.ERROR)
            return header
    raise ValueError("it has no NIfTI header")


def _stored_array(content: memoryview, header: Any, path: Path) -> npt.NDArray[Any]:
    shape, dtype = header.get_data_shape(), header.get_data_dtype()
    while len(shape) > 3 and shape[-1] == 1:
        shape = shape[:-1]
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


def _scaled(values: npt.NDArray[Any], header: Any) -> npt.NDArray[Any]:
    from nibabel.volumeutils import apply_read_scaling

    return apply_read_scaling(values, *header.get_slope_inter())


def _affine(header: Any) -> Floats | None:
    for stored in (header.get_sform, header.get_qform):
        affine, _ = stored(coded=True)
        if affine is not None and _is_regular(affine):
            return np.asarray(affine, np.float64)
    return None


def _is_regular(affine: Floats) -> bool:
    volume = abs(np.linalg.det(affine[:3, :3]))
    box = np.prod(np.linalg.norm(affine[:3, :3], axis=0))
    return bool(np.isfinite(affine).all() and volume > 1e-6 * box)


def _spacing(affine: Floats | None, header: Any, ndim: int) -> tuple[float, ...] | None:
    zooms = [float(zoom) for zoom in header.get_zooms()[:ndim]]
    if affine is not None:
        steps = np.linalg.norm(affine[:3, : min(ndim, 3)], axis=0)
        zooms[:3] = steps.tolist()
    return usable_spacing(zooms)
