"""From the files of a case to images."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from panmatch.datasets._cases import Case, ImageFile, open_coco
from panmatch.errors import Argument, FileError, OptionError, ShapeError
from panmatch.evaluation import Images, shape_of
from panmatch.formats import (
    Resampled,
    StoredImage,
    can_resample,
    check_same_grid,
    convert_spacing,
    is_chunked_file,
    is_on_grid_of,
    open_labels,
    resample_like,
)
from panmatch.labels import Panoptic, SegmentClass, Unit, as_dask, from_segments
from panmatch.spec import Spec


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """The two sides of a case, and the spacing of their voxels with its unit (D14)."""

    reference: Images
    prediction: Images
    spacing: tuple[float, ...] | None
    unit: Unit
    grid: StoredImage | None = None  # the reference with its affine; None for COCO images
    resampled: str = ""  # how the prediction was resampled; empty if it was not
    mismatched: bool = False  # whether images on different grids are compared voxel by voxel


def load_case(
    case: Case,
    spec: Spec,
    allow_header_mismatch: bool,
    *,
    resample: bool = False,
    on_dask: bool = False,
) -> Loaded:
    """Read all images of a case, and check that they are on the same grid.

    A case without a prediction gets an empty one.

    Parameters
    ----------
    resample
        Whether to resample a prediction on another grid to that of the reference.
    on_dask
        Whether to hand images that stay in chunks to Dask.
    """
    ref, pred = case.reference, case.prediction
    if ref is None or (case.problem and pred is not None):
        raise FileError(case.problem or "there is no reference")
    if spec.encoding == "coco-instances":
        raise OptionError("masks of COCO instances may overlap, so they are not label images.")
    if spec.encoding == "coco":
        return _load_coco(ref, pred)
    first = open_labels(ref.path, colour_ids=spec.colour_ids)
    ref_parts = None if ref.parts is None else open_labels(ref.parts)
    if pred is None:
        nothing = replace(first, labels=np.zeros(first.labels.shape, np.uint8))
        others = {"prediction": nothing, "prediction_parts": ref_parts and nothing}
    else:
        others = {
            "prediction": open_labels(pred.path, colour_ids=spec.colour_ids),
            "prediction_parts": None if pred.parts is None else open_labels(pred.parts),
        }
    others["reference_parts"] = ref_parts
    found: dict[str, StoredImage] = {name: one for name, one in others.items() if one is not None}
    resampled, mismatched = "", False
    for name, image in found.items():
        if resample and name != "reference_parts" and not is_on_grid_of(image, first):
            placed = resample_like(image, first)
            found[name] = placed.image
            resampled = resampled or _resampling_text(image, placed)
        else:
            _check_grid(first, image, allow_header_mismatch)
            mismatched = mismatched or not is_on_grid_of(image, first)
    images = {"reference": first.labels} | {name: one.labels for name, one in found.items()}
    if on_dask:
        images = {name: as_dask(labels) for name, labels in images.items()}
    spaced = first if first.spacing is not None else found["prediction"]
    return Loaded(
        Images(images["reference"], images.get("reference_parts")),
        Images(images["prediction"], images.get("prediction_parts")),
        *_spacing_in(spec.unit, spaced),
        first,
        resampled,
        mismatched,
    )


def _resampling_text(image: StoredImage, placed: Resampled) -> str:
    share = "" if placed.covered == 1 else f"; it covers {placed.covered:.1%} of the reference"
    return f"resampled to the grid of the reference, from {image.describe()}{share}"


def _check_grid(first: StoredImage, image: StoredImage, allow_header_mismatch: bool) -> None:
    """Raise an error for another grid; it names the remedy if there is one."""
    try:
        check_same_grid(first, image, allow_header_mismatch=allow_header_mismatch)
    except (FileError, ShapeError) as error:
        if not can_resample(image, first):
            raise
        raise type(error)(
            *error.args,
            " ",
            Argument("resample", True),
            " resamples the prediction to the grid of the reference.",
        ) from None


def _spacing_in(wanted: Unit | None, image: StoredImage) -> tuple[tuple[float, ...] | None, Unit]:
    """Return the spacing in the unit that the spec requires, or else in that of the file."""
    if wanted is None or image.spacing is None:
        return image.spacing, image.unit
    return convert_spacing(image.spacing, image.unit, wanted), wanted


def is_chunked_case(case: Case) -> bool:
    """Return whether both images of a case are Zarr folders, or inside one."""
    sources = (case.reference, case.prediction)
    return all(source is not None and is_chunked_file(source.path) for source in sources)


def _load_coco(ref: ImageFile, pred: ImageFile | None) -> Loaded:
    if any(side is not None and side.path.suffix != ".json" for side in (ref, pred)):
        raise OptionError("encoding 'coco' reads JSON files: pass REF.json and PRED.json.")
    classes = open_coco(ref.path).classes
    reference = _coco_image(ref, classes)
    if pred is None:
        prediction = from_segments(np.zeros(shape_of(reference), np.uint8), {}, classes)
    else:
        prediction = _coco_image(pred, classes)
    return Loaded(Images(reference), Images(prediction), None, "voxel")


def _coco_image(source: ImageFile, classes: tuple[SegmentClass, ...]) -> Panoptic:
    side = open_coco(source.path)
    return side.image(side.by_name[str(source.item)], classes)


def file_state(case: Case) -> str:
    """Return a text that changes whenever a file of a case does: from sizes and modification times.

    This reads no files. Names do not count, so a folder copied with its times is recognised.
    """
    digest = hashlib.sha256()
    for image in (case.reference, case.prediction):
        for path in () if image is None else (image.path, image.parts):
            for file in () if path is None else _files(path, image):
                digest.update(repr(file).encode())
            digest.update(b"\0")
        if image is not None and image.scores is not None:
            for file in _files(image.scores, None):
                digest.update(repr(file).encode())
    return digest.hexdigest()


def _files(path: Path, image: ImageFile | None) -> Iterator[tuple[str, int, int]]:
    """Yield the path relative to `path`, the size and the modification time of each file."""
    try:
        if image is not None and image.item is not None and not image.instances:
            side = open_coco(path)
            annotation = side.annotations[side.by_name[image.item]]
            yield json.dumps([annotation, repr(side.classes)], sort_keys=True), 0, 0
            path = side.folder / str(annotation["file_name"])
        whole = path.stat()
        folder = stat.S_ISDIR(whole.st_mode)
        inside = sorted(file for file in path.rglob("*") if file.is_file()) if folder else []
        for file in inside:
            state = file.stat()
            yield file.relative_to(path).as_posix(), state.st_size, state.st_mtime_ns
        if not inside:
            yield ".", whole.st_size, whole.st_mtime_ns
    except OSError as error:
        raise FileError(f"path={str(path)!r} cannot be read: {error}.") from error
