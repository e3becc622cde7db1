"""Zarr folders of version 2 and 3: arrays, groups of one array, and OME-Zarr images."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError
from panmatch.formats.failures import reading_as
from panmatch.formats.label_image import LabelImage, StoredImage
from panmatch.formats.lengths import micrometres_per, usable_spacing
from panmatch.formats.stored_labels import as_stored_labels
from panmatch.labels import Stored

# Before axes were listed, OME-Zarr images had these five.
EARLY_AXES = ("t", "c", "z", "y", "x")


def read(path: Path) -> LabelImage:
    """Read a Zarr array, or the one label array of a group, into memory.

    A group may be an OME-Zarr image with ``labels/``, whose only label image is read; an
    OME-Zarr image or label image, whose finest level is read, with its scale as spacing and
    without the axes of length 1 that are not spatial; or a group of exactly one array.
    """
    with reading_as(path, "a Zarr store"):
        found = _find(path)
        values = np.asarray(found.array[...])
        labels = as_stored_labels(values.reshape(found.shape), path)
    return LabelImage(labels, found.spacing, None, path)


def open_chunked(path: Path) -> StoredImage:
    """Open what `read` reads, and leave the labels in their chunks.

    Labels that are stored as floating-point numbers must all be seen before they are labels; they
    are read into memory.
    """
    with reading_as(path, "a Zarr store"):
        found = _find(path)
    if found.dtype.kind == "f":
        return read(path)
    return StoredImage(Stored(found), found.spacing, None, path)


class ZarrLabels:
    """A Zarr array without some axes of length 1; whatever goes wrong names its file.

    Parameters
    ----------
    array
        The array.
    kept
        The axes that stay.
    spacing, path
        As for `LabelImage`.
    """

    def __init__(
        self, array: Any, kept: list[int], spacing: tuple[float, ...] | None, path: Path
    ) -> None:
        self.array, self.spacing, self.path = array, spacing, path
        self._kept = kept
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)
        self.shape: tuple[int, ...] = tuple(array.shape[axis] for axis in kept)
        self.ndim = len(kept)

    @property
    def chunks(self) -> tuple[int, ...]:
        """Length of a chunk along every axis."""
        return tuple(self.array.chunks[axis] for axis in self._kept)

    def __getitem__(self, box: tuple[slice, ...]) -> npt.NDArray[Any]:
        index: list[int | slice] = [0] * self.array.ndim
        for axis, part in zip(self._kept, box, strict=True):
            index[axis] = part
        with reading_as(self.path, "a Zarr store"):
            return np.asarray(self.array[tuple(index)])


def _find(path: Path) -> ZarrLabels:
    """Return the one array of a store that holds labels."""
    import zarr

    node: Any = zarr.open(str(path.absolute()), mode="r")
    if not hasattr(node, "group_keys"):
        return _plain(node, path)
    node = _only_label_group(node, path)
    if images := _ome(node).get("multiscales"):
        return _finest_level(node, images[0], path)
    names = sorted(node.array_keys())
    if len(names) == 1:
        return _plain(node[names[0]], path)
    raise FileError(
        f"path={str(path)!r} must hold one array or an OME-Zarr image; it holds the arrays "
        f"{names} and the groups {sorted(node.group_keys())}. Give the path of one of them."
    )


def _ome(group: Any) -> dict[str, Any]:
    """Return the OME metadata, which since version 0.5 have a key of their own."""
    attributes: dict[str, Any] = group.attrs.asdict()
    inner = attributes.get("ome")
    return inner if isinstance(inner, dict) else attributes


def _only_label_group(group: Any, path: Path) -> Any:
    if "labels" not in set(group.group_keys()):
        return group
    names = sorted(group["labels"].group_keys())
    if len(names) > 1:
        raise FileError(
            f"path={str(path)!r} holds several label images: {', '.join(map(repr, names))}. "
            f"Give the path of one of them, such as {str(path / 'labels' / names[0])!r}."
        )
    return group["labels"][names[0]] if names else group


def _plain(array: Any, path: Path) -> ZarrLabels:
    _check_numbers(array, path)
    return ZarrLabels(array, list(range(array.ndim)), None, path)


def _check_numbers(array: Any, path: Path) -> None:
    """Raise a `FileError` before values that are no numbers are decoded: they may be pickled."""
    as_stored_labels(np.empty(0, array.dtype), path)


def _finest_level(group: Any, image: dict[str, Any], path: Path) -> ZarrLabels:
    finest = image["datasets"][0]
    array = group[finest["path"]]
    _check_numbers(array, path)
    axes = [_axis(one) for one in image.get("axes", EARLY_AXES[-array.ndim :])]
    if len(axes) != array.ndim:
        raise ValueError(f"its metadata list {len(axes)} axes for an array of {array.ndim}")
    scales = [*_scales(finest, len(axes)), *_scales(image, len(axes))]
    kept = [i for i, n in enumerate(array.shape) if n != 1 or axes[i]["type"] == "space"]
    spacing = None
    if scales:
        spacing = usable_spacing(
            _step(axes[i], math.prod(scale[i] for scale in scales)) for i in kept
        )
    return ZarrLabels(array, kept, spacing, path)


def _axis(stored: str | dict[str, Any]) -> dict[str, Any]:
    """Return an axis with its type, which early versions leave to its name."""
    axis = {"name": stored} if isinstance(stored, str) else dict(stored)
    axis.setdefault("type", "space" if axis["name"] in ("z", "y", "x") else "other")
    return axis


def _scales(described: dict[str, Any], ndim: int) -> list[list[float]]:
    scales = [
        [float(step) for step in one["scale"]]
        for one in described.get("coordinateTransformations", ())
        if one["type"] == "scale"
    ]
    if any(len(scale) != ndim for scale in scales):
        raise ValueError(f"its scale has not {ndim} numbers, one per axis")
    return scales


def _step(axis: dict[str, Any], scale: float) -> float | None:
    if axis["type"] != "space":
        return None
    unit = micrometres_per(axis["unit"]) if "unit" in axis else 1.0
    return None if unit is None else scale * unit
