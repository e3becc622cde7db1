"""Label images that are read box by box: stored in chunks, or computed from such images."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from types import EllipsisType
from typing import Protocol, SupportsIndex

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, OptionError
from panmatch.labels._arrays import (
    Array,
    ChunkedArray,
    LabelArray,
    Shaped,
    as_labels,
    check_fits,
    is_chunked,
)
from panmatch.labels._boxes import Box, Grid, as_grid, as_slices, cut_evenly, whole_box

Seen = dict[tuple[int, Box], LabelArray]
VoxelFunction = Callable[..., Array]  # of one array per image, all of one shape, as the result
AxisIndex = SupportsIndex | slice | EllipsisType


class Writable(Shaped, Protocol):
    """An array that can be written to, box by box."""

    def __setitem__(self, box: tuple[slice, ...], labels: LabelArray, /) -> None: ...


class ChunkedLabels(ABC):
    """A label image that is never in memory as a whole, only box by box.

    You can pass it wherever chunked label images are accepted, index it like an array with whole
    numbers and slices, and store it box by box with `store`.

    Parameters
    ----------
    shape, dtype
        Of the image.
    grids
        Chunks of all arrays that it is read from.
    cost
        Bytes per voxel that reading takes.
    on_dask
        Whether some of it is read by Dask.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dtype: np.dtype[np.integer],
        grids: tuple[Grid, ...],
        *,
        cost: int,
        on_dask: bool,
    ) -> None:
        self.shape, self.dtype, self.grids = tuple(shape), dtype, grids
        self.cost, self.on_dask = cost, on_dask

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of voxels."""
        return math.prod(self.shape)

    @property
    def chunks(self) -> Grid:
        """Lengths of the chunks along every axis, as Dask lists them."""
        return self.grids[0] if self.grids else tuple((n,) for n in self.shape)

    def read(self, box: Box, seen: Seen | None = None) -> LabelArray:
        """Return the labels in a box.

        Parameters
        ----------
        box
            Start and stop along every axis.
        seen
            Blocks already read for the same box, by image; this one is added.
        """
        blocks = {} if seen is None else seen
        key = self._identity, box
        if key not in blocks:
            blocks[key] = self._read(box, blocks)
        return blocks[key]

    @abstractmethod
    def task(self, box: Box, around: Box) -> object:
        """Return a Dask task that computes the labels in a box.

        Parameters
        ----------
        around
            How far to look beyond the box, for images whose labels depend on their surroundings.
            Where that is not far enough, the labels are `Unsettled`.
        """

    def store(self, out: Writable) -> None:
        """Write the image into an array of the same shape, such as a new Zarr array, box by box."""
        grids = (*self.grids, as_grid(out.chunks, out.shape)) if is_chunked(out) else self.grids
        for box in cut_evenly(self.shape, grids, 0):
            out[as_slices(box)] = self.read(box)

    def __getitem__(self, index: AxisIndex | tuple[AxisIndex, ...]) -> LabelArray:
        box, within = _box_of(index, self.shape)
        block: LabelArray = self.read(box)[within]
        return block

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        check_fits(self, "the image")
        return np.array(self.read(whole_box(self.shape)), dtype)

    def tolist(self) -> object:
        """Return all labels as nested lists, as an array does."""
        return np.asarray(self).tolist()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"

    @property
    def _identity(self) -> int:
        return id(self)

    @abstractmethod
    def _read(self, box: Box, seen: Seen) -> LabelArray: ...


Volume = LabelArray | ChunkedLabels


class Stored(ChunkedLabels):
    """Labels as an array holds them: a chunked array, or one in memory used with chunked ones."""

    def __init__(self, array: LabelArray | ChunkedArray) -> None:
        self._array = array
        dtype = as_labels(np.empty(0, array.dtype), "array").dtype
        grids = (as_grid(array.chunks, array.shape),) if is_chunked(array) else ()
        on_dask = hasattr(array, "__dask_graph__")
        super().__init__(array.shape, dtype, grids, cost=dtype.itemsize, on_dask=on_dask)

    def task(self, box: Box, around: Box) -> object:  # noqa: ARG002
        """Return a slice of a Dask array, a task that reads another array, or a block in memory."""
        if self.on_dask or isinstance(self._array, np.ndarray):
            return self._array[as_slices(box)]
        from dask.delayed import delayed

        return delayed(_read_stored)(self._array, box)

    @property
    def _identity(self) -> int:
        return id(self._array)

    def _read(self, box: Box, seen: Seen) -> LabelArray:  # noqa: ARG002
        return _read_stored(self._array, box)


def _read_stored(array: LabelArray | ChunkedArray, box: Box) -> LabelArray:
    return as_labels(np.asarray(array[as_slices(box)]), "array")


class Mapped(ChunkedLabels):
    """Labels that depend on those of other images at the same voxel."""

    def __init__(self, function: VoxelFunction, sources: Sequence[ChunkedLabels]) -> None:
        self._function, self._sources = function, tuple(sources)
        nothing = [np.empty((0,) * source.ndim, source.dtype) for source in sources]
        dtype = as_labels(function(*nothing), "labels").dtype
        super().__init__(
            sources[0].shape,
            dtype,
            tuple(dict.fromkeys(grid for source in sources for grid in source.grids)),
            cost=dtype.itemsize + sum(source.cost for source in sources),
            on_dask=any(source.on_dask for source in sources),
        )

    def task(self, box: Box, around: Box) -> object:
        """Return a task that applies the function to the results of the sources."""
        from dask.delayed import delayed

        blocks = (source.task(box, around) for source in self._sources)
        return delayed(map_blocks)(self._function_on_dask, *blocks)

    @cached_property
    def _function_on_dask(self) -> object:
        """The function as a separate node: it may hold a large table, which is then sent once."""
        from dask.delayed import delayed

        return delayed(self._function, traverse=False)

    def _read(self, box: Box, seen: Seen) -> LabelArray:
        blocks = (source.read(box, seen) for source in self._sources)
        return as_labels(self._function(*blocks), "labels")


class Unsettled:
    """Returned instead of labels that depend on more than was looked at."""

    def __init__(self, around: Box | None) -> None:
        self.around = around  # where to look instead; None if not known, or too much for one look


def map_blocks(function: VoxelFunction, *blocks: LabelArray | Unsettled) -> LabelArray | Unsettled:
    """Apply a function to some blocks; if one of them is unsettled, so is the result."""
    arrays: list[LabelArray] = []
    for block in blocks:
        if isinstance(block, Unsettled):
            return block
        arrays.append(as_labels(block, "array"))
    return as_labels(function(*arrays), "labels")


def as_volume(array: npt.ArrayLike | ChunkedLabels, name: str) -> Volume:
    """Return an array as labels: chunked arrays stay chunked, others go through `as_labels`.

    Parameters
    ----------
    array
        Integers or booleans. Chunked arrays come from Zarr, Dask, HDF5 or panmatch itself.
    name
        What to call the argument in an error message.

    Examples
    --------
    >>> import zarr
    >>> as_volume(zarr.zeros((4, 4), chunks=(2, 3), dtype="uint8"), "reference").chunks
    ((2, 2), (3, 1))
    """
    if not is_chunked(array):
        return as_labels(array, name)
    if isinstance(array, ChunkedLabels):
        return array
    if np.dtype(array.dtype).kind not in "iub":
        raise LabelError(
            f"{name} has dtype {array.dtype}; labels must be integers or booleans. If all its "
            f"values are whole numbers, store it as integers; if it is a probability map, "
            f"threshold it first."
        )
    if any(math.isnan(n) for n in array.shape):
        raise OptionError(
            f"{name} is a Dask array with chunks of unknown length: call its "
            f"compute_chunk_sizes() first."
        )
    return Stored(array)


def as_chunked(volume: Volume) -> ChunkedLabels:
    """Return an image that can be read box by box."""
    return volume if isinstance(volume, ChunkedLabels) else Stored(volume)


def any_chunked(volumes: Sequence[Volume]) -> bool:
    """Return whether some of the images are not in memory."""
    return any(isinstance(volume, ChunkedLabels) for volume in volumes)


def map_labels(function: VoxelFunction, *volumes: Volume) -> Volume:
    """Apply a function to all voxels: at once for images in memory, on reading for chunked ones.

    Parameters
    ----------
    function
        Takes one array per image, all of the same shape, and returns such an array. It must be
        picklable: a function of a module, or a partial one.

    Examples
    --------
    >>> import zarr
    >>> stored = zarr.array(np.arange(6), chunks=4)
    >>> map_labels(np.add, np.ones(6, int), as_volume(stored, "stored"))[2:]
    array([3, 4, 5, 6])
    """
    if not any_chunked(volumes):
        return as_labels(function(*volumes), "labels")
    return Mapped(function, [as_chunked(volume) for volume in volumes])


def _box_of(
    index: AxisIndex | tuple[AxisIndex, ...], shape: tuple[int, ...]
) -> tuple[Box, tuple[int | slice, ...]]:
    """Return the box around what an index asks for, and how to index that box."""
    given = index if isinstance(index, tuple) else (index,)
    shortened = Ellipsis in given
    position = given.index(Ellipsis) if shortened else len(given)
    axes = [part for part in given if not isinstance(part, EllipsisType)]
    axes[position:position] = [slice(None)] * (len(shape) - len(given) + shortened)
    if len(axes) != len(shape):
        raise IndexError(f"index {index!r} has too many axes for the shape {shape}")
    parts = [_axis_part(part, n) for part, n in zip(axes, shape, strict=True)]
    return tuple(ends for ends, _ in parts), tuple(within for _, within in parts)


def _axis_part(index: SupportsIndex | slice, n: int) -> tuple[tuple[int, int], int | slice]:
    if isinstance(index, slice):
        start, stop, step = index.indices(n)
        if step < 1:
            raise IndexError("chunked images are indexed with positive steps only")
        return (start, max(start, stop)), slice(None, None, step)
    position = range(n)[index]
    return (position, position + 1), 0
