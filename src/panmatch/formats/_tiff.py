"""TIFF stacks: plain, ImageJ and OME."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from panmatch.errors import FileError, needs_extra
from panmatch.formats._decoding import Decode, as_stored_labels, check_fits_in_memory, reading_as
from panmatch.formats._images import LabelImage
from panmatch.formats._units import in_micrometres, micrometres_per, usable_spacing
from panmatch.labels import Array, Unit

if TYPE_CHECKING:
    from tifffile import TiffFile, TiffPageSeries

# Distance between voxels by axis, if known.
Steps = dict[str, float | None]

# tifffile only logs these if pages are missing, and then leaves them out or fills them with 0.
SIGNS_OF_DAMAGE = (
    "circular reference",
    "corrupted file",
    "failed to reshape",
    "index out of range",
    "offset to page",
    "page offset",
    "tag list of page",
    "zeroed",
)

RESOLUTION_UNITS = {2: "inch", 3: "cm"}
MANY_DOTS = 10_000


def read_tiff(
    path: Path, *, decode: Decode = as_stored_labels, colours: bool = False
) -> LabelImage:
    """Read all pages of a TIFF file as one array (z, y, x).

    Axes of length 1 other than y and x are dropped. The spacing is that of OME-XML
    (``PhysicalSizeX`` …) or of ImageJ (``spacing`` and the resolution tags), in micrometres;
    ImageJ numbers without a unit are used as they are, with the unit ``voxel``. It is None for
    other files, for units that are not lengths, and for stacks along time or channels.

    Parameters
    ----------
    colours
        Whether to accept several samples per pixel, and use their mean.
    """
    with needs_extra("files", "TIFF files"):
        from tifffile import TiffFile

    with reading_as(path, "a TIFF image"), _damage_raised(), TiffFile(path) as file:
        values, axes = _whole_stack(file, path, colours)
        steps, unit = _ome_steps(file) if file.is_ome else _imagej_steps(file)
        kept = [i for i, n in enumerate(values.shape) if n != 1 or axes[i] in "YX"]
        values = values.reshape([values.shape[i] for i in kept])
        spacing = usable_spacing(steps.get(axes[i]) for i in kept)
        known: Unit = "voxel" if spacing is None else unit
        return LabelImage(decode(values, path), spacing, None, path, known)


def _whole_stack(file: TiffFile, path: Path, colours: bool) -> tuple[Array, str]:
    series = list(file.series)
    if not series:
        raise ValueError("it has no pages")
    coloured = any(image.keyframe.samplesperpixel > 1 for image in series)
    if coloured and not colours:
        raise FileError(
            f"path={str(path)!r} contains colours (several samples per pixel), which are not "
            f"labels: store one integer per pixel."
        )
    check_fits_in_memory(sum(image.nbytes for image in series), path)
    if coloured:
        return _brightness(_decoded(series[0], file, path), series[0].axes)
    if len(series) == 1:
        return _decoded(series[0], file, path), series[0].axes
    shapes = [image.shape for image in series]
    if len(set(shapes)) > 1 or any(image.kind != "shaped" for image in series):
        raise FileError(
            f"path={str(path)!r} contains {len(series)} images, of shape "
            f"{', '.join(map(str, dict.fromkeys(shapes)))}: store one label image per file."
        )
    # tifffile treats pages that were written one at a time as separate images.
    return np.stack([image.asarray() for image in series]), f"I{series[0].axes}"


def _brightness(values: Array, axes: str) -> tuple[Array, str]:
    """Return the mean of the first three samples of each pixel; a fourth one is opacity.

    Examples
    --------
    >>> values, axes = _brightness(np.array([[[30, 60, 90, 255]]]), "YXS")
    >>> values.tolist(), axes
    ([[60.0]], 'YX')
    """
    samples = np.moveaxis(values, axes.index("S"), -1)
    return samples[..., :3].mean(axis=-1), axes.replace("S", "")


def _decoded(series: TiffPageSeries, file: TiffFile, path: Path) -> Array:
    """Return the values of all pages; LZW, which tifffile does not read itself, goes to Pillow."""
    try:
        values: Array = series.asarray()
    except ValueError as error:
        if "imagecodecs" not in str(error):
            raise
        values = _decoded_by_pillow(len(file.pages), path)
        if values.dtype.itemsize != series.dtype.itemsize or values.size != series.size:
            raise
        values = values.view(series.dtype).reshape(series.shape)
    return values


def _decoded_by_pillow(n_pages: int, path: Path) -> Array:
    with needs_extra("files", "TIFF files compressed with LZW"):
        from PIL import Image

    pages = []
    with Image.open(path) as image:
        for page in range(n_pages):
            image.seek(page)
            pages.append(np.asarray(image))
    return np.stack(pages)


def _ome_steps(file: TiffFile) -> tuple[Steps, Unit]:
    from xml.etree import ElementTree

    try:
        pixels = ElementTree.fromstring(file.ome_metadata or "").find(".//{*}Pixels")
    except ElementTree.ParseError:
        pixels = None
    if pixels is None:
        return {}, "voxel"
    steps: Steps = {}
    for axis in "XYZ":
        size = pixels.get(f"PhysicalSize{axis}")
        unit = micrometres_per(pixels.get(f"PhysicalSize{axis}Unit", "µm"))
        steps[axis] = None if size is None or unit is None else in_micrometres(float(size), unit)
    return steps, "µm"


def _imagej_steps(file: TiffFile) -> tuple[Steps, Unit]:
    """Return the distances and their unit: micrometres, or voxel if none is named.

    Without a unit and a distance between slices, a resolution is only a printing size.
    """
    metadata = file.imagej_metadata or {}
    tags = file.pages.first.tags
    name = metadata.get("unit") or RESOLUTION_UNITS.get(int(tags.valueof("ResolutionUnit", 1)))
    if "unit" not in metadata and "spacing" not in metadata:
        return {}, "voxel"
    # ImageJ may write the micro sign as an escape sequence.
    scale = 1.0 if name is None else micrometres_per(str(name).replace("\\u00B5", "µ"))
    if scale is None:
        return {}, "voxel"
    steps: Steps = {}
    if "spacing" in metadata:
        steps["Z"] = in_micrometres(abs(float(metadata["spacing"])), scale)
    for axis in "YX":
        dots, length = tags.valueof(f"{axis}Resolution", (0, 1))
        steps[axis] = in_micrometres(_dot_distance(dots, length), scale) if dots else None
    return steps, "voxel" if name is None else "µm"


def _dot_distance(dots: int, length: int) -> float:
    """Return the distance between dots; for many dots, the shortest decimal that fits.

    A resolution is a fraction of whole numbers: for 0.3 ImageJ writes 3,333,333 dots per 1,000,000.

    Examples
    --------
    >>> _dot_distance(3333333, 1000000), _dot_distance(3, 1)
    (0.3, 0.3333333333333333)
    """
    exact = length / dots
    rounded = (float(f"{exact:.{digits}g}") for digits in range(1, 10 if dots >= MANY_DOTS else 1))
    return next((step for step in rounded if abs(length / step - dots) < 1), exact)


@contextmanager
def _damage_raised() -> Iterator[None]:
    """Silence tifffile's log in this thread, and raise an error if it reports missing pages."""
    logger, signs = logging.getLogger("tifffile"), []
    this_thread = threading.get_ident()

    def listen(record: logging.LogRecord) -> bool:
        if record.thread != this_thread:
            return True
        if any(sign in record.getMessage() for sign in SIGNS_OF_DAMAGE):
            signs.append(record.getMessage())
        return False

    logger.addFilter(listen)
    try:
        yield
    finally:
        logger.removeFilter(listen)
    if signs:
        raise ValueError(f"pages are missing or damaged ({signs[0].split('> ', 1)[-1]})")
