"""Label images that are already in memory, as objects of other libraries.

Each is recognised by the module of its class, so nothing has to be imported.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, OptionError
from panmatch.formats._images import Floats, StoredImage
from panmatch.formats._medical import from_nibabel, from_simpleitk
from panmatch.formats._reading import open_labels
from panmatch.formats._units import micrometres_per
from panmatch.labels import (
    Unit,
    as_volume,
    check_is_label_tensor,
    is_on_device,
    library_of,
)

UNEVEN = 1e-3  # of a step; coordinates that deviate more are not evenly spaced
WORLD_AXES = "xyz"


class NibabelImage(Protocol):
    """A nibabel volume."""

    @property
    def dataobj(self) -> Any: ...

    @property
    def affine(self) -> Any: ...


class ItkImage(Protocol):
    """A SimpleITK image."""

    def GetSpacing(self) -> Any: ...  # noqa: N802


class DataArray(Protocol):
    """An xarray array."""

    @property
    def dims(self) -> tuple[Hashable, ...]: ...

    @property
    def coords(self) -> Mapping[Hashable, Any]: ...

    @property
    def data(self) -> Any: ...


ImageLike: TypeAlias = (
    npt.ArrayLike | os.PathLike[str] | StoredImage | NibabelImage | ItkImage | DataArray
)


def as_stored_image(image: object, name: str, *, colour_ids: bool = False) -> StoredImage | None:
    """Return an image of another library, a tensor or a file, with what it says about its grid.

    Parameters
    ----------
    image
        A path, as for `read_labels`; a nibabel or SimpleITK image; a torch tensor on any device; a
        CuPy array; an xarray ``DataArray``; or what `read_labels` returns.
    name
        Its name in error messages.
    colour_ids
        As for `read_labels`.

    Returns
    -------
    StoredImage or None
        None for everything else: arrays say nothing about their grid.

    Examples
    --------
    >>> import nibabel
    >>> image = nibabel.Nifti1Image(np.ones((3, 2, 2), np.uint8), np.diag([0.5, 1, 2, 1]))
    >>> as_stored_image(image, "reference").describe()
    'shape (3, 2, 2), spacing (0.5, 1, 2) mm, orientation RAS, origin (0, 0, 0)'
    >>> as_stored_image([[0, 1]], "reference") is None
    True
    """
    if isinstance(image, StoredImage):
        return image
    if isinstance(image, str | os.PathLike):
        return open_labels(image, colour_ids=colour_ids)
    reader = READERS.get(library_of(image))
    if reader is not None:
        return reader(image, name)
    if is_on_device(image) and hasattr(image, "get"):
        return StoredImage(as_volume(image.get(), name), None, None, Path(), name=name)
    _refuse_unread_grid(image, name)
    return None


def from_torch(tensor: Any, name: str) -> StoredImage:
    """Return the labels of a tensor, without a copy if it is on the host."""
    check_is_label_tensor(tensor, name)
    if str(tensor.layout) != "torch.strided":
        raise LabelError(f"{name} has the layout {tensor.layout}: pass {name}.to_dense().")
    _refuse_unread_grid(tensor, name)
    return StoredImage(as_volume(tensor.cpu().numpy(), name), None, None, Path(), name=name)


def from_xarray(array: Any, name: str) -> StoredImage:
    """Return the labels of a ``DataArray``, with the spacing of its coordinates.

    Either all dimensions must have coordinates, or none, and they must be evenly spaced. Their unit
    is the attribute ``units``.
    """
    if not hasattr(array, "dims") or not hasattr(array, "dtype"):
        raise LabelError(
            f"{name} is an xarray {type(array).__name__}: pass one of its variables, a DataArray."
        )
    labels = as_volume(array.data, name)
    known = [dim for dim in array.dims if dim in array.coords]
    if not known:
        return StoredImage(labels, None, None, Path(), name=name)
    missing = [dim for dim in array.dims if dim not in known]
    if missing:
        raise OptionError(
            f"{name} has coordinates along {_listed(known)}, but none along {_listed(missing)}: "
            f"add the missing ones, or drop all with {name}.drop_vars({known!r}) and pass spacing."
        )
    starts, steps = zip(*(_step(array.coords[dim], dim, name) for dim in array.dims), strict=True)
    scales, unit = _unit(array, name)
    steps_in_unit = [step * scale for step, scale in zip(steps, scales, strict=True)]
    starts_in_unit = [start * scale for start, scale in zip(starts, scales, strict=True)]
    affine = _affine([str(dim).lower() for dim in array.dims], starts_in_unit, steps_in_unit)
    spacing = tuple(float(f"{abs(step):.13g}") for step in steps_in_unit)
    return StoredImage(labels, spacing, affine, Path(), unit, name, "xyz")


def _step(coordinate: Any, dim: Hashable, name: str) -> tuple[float, float]:
    """Return the first coordinate along a dimension, and the step from each to the next."""
    values = np.asarray(coordinate)
    remedy = f"drop it with {name}.drop_vars({dim!r}) and pass spacing"
    if values.dtype.kind not in "iuf" or values.ndim != 1 or len(values) < 2:
        raise OptionError(
            f"{name} has a coordinate {dim!r} that gives no distance between voxels (dtype "
            f"{values.dtype}, shape {values.shape}): {remedy}."
        )
    places = values.astype(np.float64)
    steps = np.diff(places)
    step = float(places[-1] - places[0]) / len(steps)
    if not (np.abs(steps - step) <= UNEVEN * abs(step)).all() or not step:
        raise OptionError(
            f"{name} has a coordinate {dim!r} that is not evenly spaced (steps from "
            f"{steps.min():g} to {steps.max():g}), so no spacing describes it: resample it "
            f"with nearest-neighbour interpolation, or {remedy}."
        )
    return float(places[0]), step


def _unit(array: Any, name: str) -> tuple[list[float], Unit]:
    """Return the factors from the units of all coordinates to a common unit, and that unit."""
    texts = [array.coords[dim].attrs.get("units") for dim in array.dims]
    if all(text is None for text in texts):
        return [1.0] * len(texts), "voxel"
    lengths = [micrometres_per(str(text)) for text in texts]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        raise OptionError(
            f"{name} has coordinates with the units {texts}, which are not all lengths: set the "
            f"attribute units of each to 'mm' or 'µm', or drop it from all."
        )
    if min(known) >= 1e3:
        return [length / 1e3 for length in known], "mm"
    return known, "µm"


def _affine(dims: list[str], starts: list[float], steps: list[float]) -> Floats | None:
    """Return the affine to coordinates x, y and z; None if dimensions have other names."""
    if not set(dims) <= set(WORLD_AXES):
        return None
    affine = np.eye(4)
    affine[:3, :3] = 0.0
    for axis, (dim, start, step) in enumerate(zip(dims, starts, steps, strict=True)):
        affine[WORLD_AXES.index(dim), [axis, 3]] = step, start
    return affine


def _refuse_unread_grid(image: object, name: str) -> None:
    """Raise an `OptionError` for an object with a grid that is not supported here."""
    for attribute in ("GetSpacing", "affine"):
        if getattr(image, attribute, None) is not None and not isinstance(image, np.ndarray):
            kind = f"{type(image).__module__.partition('.')[0]}.{type(image).__name__}"
            raise OptionError(
                f"{name} is a {kind}, whose {attribute} would be lost: pass its voxels as a numpy "
                f"array with spacing=, or a SimpleITK or nibabel image."
            )


def _listed(names: list[Hashable]) -> str:
    return ", ".join(map(repr, names))


READERS = {
    "SimpleITK": from_simpleitk,
    "nibabel": from_nibabel,
    "torch": from_torch,
    "xarray": from_xarray,
}
