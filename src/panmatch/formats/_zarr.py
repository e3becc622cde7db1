"""Zarr folders, versions 2 and 3: arrays, groups of one array, and OME-Zarr images."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from panmatch.errors import FileError, needs_extra
from panmatch.formats._decoding import as_stored_labels, check_fits_in_memory, reading_as
from panmatch.formats._images import LabelImage, StoredImage
from panmatch.formats._units import in_micrometres, micrometres_per, usable_spacing
from panmatch.labels import Array, Stored, Unit

Node = Any  # a zarr.Array or zarr.Group, recognised by its attributes
Metadata = dict[str, Any]  # JSON of a group

# Before axes were listed, OME-Zarr images had these five.
EARLY_AXES = ("t", "c", "z", "y", "x")


def read_zarr(path: Path) -> LabelImage:
    """Read a Zarr array, or the one label array of a group, into memory.

    A group may be an OME-Zarr image with ``labels/``, whose only label image is read; an
    OME-Zarr image or label image, whose finest level is read, with its scale as spacing and
    without the axes of length 1 that are not spatial; or a group of exactly one array.
    """
    with reading_as(path, "a Zarr store"):
        stored = _label_array(path)
        check_fits_in_memory(math.prod(stored.shape) * stored.dtype.itemsize, path)
        labels = as_stored_labels(np.asarray(stored), path)
    return LabelImage(labels, stored.spacing, None, path, stored.unit)


def open_zarr(path: Path) -> StoredImage:
    """Open what `read_zarr` reads, and leave the labels in their chunks.

    Labels stored as floating-point numbers are read into memory, because all must be checked.
    """
    with reading_as(path, "a Zarr store"):
        stored = _label_array(path)
    if stored.dtype.kind == "f":
        return read_zarr(path)
    return StoredImage(Stored(stored), stored.spacing, None, path, stored.unit)


class ZarrLabels:
    """A Zarr array of which only some axes are kept; errors name its file."""

    def __init__(
        self,
        array: Node,
        kept: list[int],
        path: Path,
        spacing: tuple[float, ...] | None = None,
        unit: Unit = "voxel",
    ) -> None:
        as_stored_labels(np.empty(0, array.dtype), path)  # other types may be pickled objects
        self._array, self._kept, self._path = array, kept, path
        self.spacing, self.unit = spacing, unit
        self.dtype: np.dtype[np.generic] = np.dtype(array.dtype)
        self.shape: tuple[int, ...] = tuple(array.shape[axis] for axis in kept)

    @property
    def chunks(self) -> tuple[int, ...]:
        """Length of a chunk along each axis."""
        return tuple(self._array.chunks[axis] for axis in self._kept)

    def __getitem__(self, box: tuple[slice, ...]) -> Array:
        index: list[int | slice] = [0] * self._array.ndim
        for axis, part in zip(self._kept, box, strict=True):
            index[axis] = part
        with reading_as(self._path, "a Zarr store"):
            return np.asarray(self._array[tuple(index)])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return self[(slice(None),) * len(self.shape)]


def _label_array(path: Path) -> ZarrLabels:
    """Return the one array of a store that contains labels."""
    with needs_extra("zarr", "Zarr folders"):
        import zarr

    node: Node = zarr.open(str(path.absolute()), mode="r")
    if not hasattr(node, "group_keys"):
        return ZarrLabels(node, list(range(node.ndim)), path)
    node = _only_label_group(node, path)
    if images := _ome(node).get("multiscales"):
        return _finest_level(node, images[0], path)
    names = sorted(node.array_keys())
    if len(names) == 1:
        return ZarrLabels(node[names[0]], list(range(node[names[0]].ndim)), path)
    raise FileError(
        f"path={str(path)!r} must contain one array or an OME-Zarr image; it contains the arrays "
        f"{names} and the groups {sorted(node.group_keys())}. Pass the path of one of them."
    )


def _ome(group: Node) -> Metadata:
    """Return the OME metadata, which have their own key since version 0.5."""
    attributes: Metadata = group.attrs.asdict()
    inner = attributes.get("ome")
    return inner if isinstance(inner, dict) else attributes


def _only_label_group(group: Node, path: Path) -> Node:
    if "labels" not in set(group.group_keys()):
        return group
    names = sorted(group["labels"].group_keys())
    if len(names) > 1:
        raise FileError(
            f"path={str(path)!r} contains several label images: {', '.join(map(repr, names))}. "
            f"Pass the path of one of them, such as {str(path / 'labels' / names[0])!r}."
        )
    return group["labels"][names[0]] if names else group


def _finest_level(group: Node, image: Metadata, path: Path) -> ZarrLabels:
    finest = image["datasets"][0]
    array = group[finest["path"]]
    axes = [_axis(entry) for entry in image.get("axes", EARLY_AXES[-array.ndim :])]
    if len(axes) != array.ndim:
        raise ValueError(f"its metadata list {len(axes)} axes for an array of {array.ndim}")
    scales = [*_scales(finest, len(axes)), *_scales(image, len(axes))]
    kept = [i for i, n in enumerate(array.shape) if n != 1 or axes[i]["type"] == "space"]
    if not scales:
        return ZarrLabels(array, kept, path)
    spacing = usable_spacing(_step(axes[i], [scale[i] for scale in scales]) for i in kept)
    known = spacing is not None and all("unit" in axes[i] for i in kept)
    return ZarrLabels(array, kept, path, spacing, "µm" if known else "voxel")


def _axis(stored: str | Metadata) -> Metadata:
    """Return an axis with its type; in early versions it follows from the name."""
    axis = {"name": stored} if isinstance(stored, str) else dict(stored)
    axis.setdefault("type", "space" if axis["name"] in ("z", "y", "x") else "other")
    return axis


def _scales(described: Metadata, ndim: int) -> list[list[float]]:
    scales = [
        [float(step) for step in transformation["scale"]]
        for transformation in described.get("coordinateTransformations", ())
        if transformation["type"] == "scale"
    ]
    if any(len(scale) != ndim for scale in scales):
        raise ValueError(f"its scale does not have {ndim} numbers, one per axis")
    return scales


def _step(axis: Metadata, scales: list[float]) -> float | None:
    """Return the product of all scales, in micrometres, or as it is if there is no unit."""
    if axis["type"] != "space":
        return None
    step = micrometres_per(axis["unit"]) if "unit" in axis else 1.0
    for scale in scales:
        step = None if step is None else in_micrometres(scale, step)
    return step
