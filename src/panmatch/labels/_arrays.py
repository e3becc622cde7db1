"""Label arrays: what users may pass, and how they lie in memory (D1)."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import LabelError, OptionError, ShapeError

Array = npt.NDArray[np.generic]  # of any dtype
LabelArray = npt.NDArray[np.integer]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def is_on_device(array: object) -> bool:
    """Return whether an array is in the memory of a CUDA device (CuPy, torch, numba …)."""
    if type(array) is np.ndarray:  # the usual case, in loops over small images
        return False
    try:
        return getattr(array, "__cuda_array_interface__", None) is not None
    except RuntimeError:  # a tensor that requires gradients does not show it
        return True


def library_of(image: object) -> str:
    """Return the library of an image or tensor; '' for arrays, lists and anything else.

    The module of its class gives it away, so no library has to be imported.

    Examples
    --------
    >>> import nibabel
    >>> library_of(nibabel.Nifti1Image(np.zeros((2, 2, 2), np.uint8), np.eye(4)))
    'nibabel'
    >>> library_of(np.zeros(3))
    ''
    """
    packages = (base.__module__.partition(".")[0] for base in type(image).__mro__)
    return next((package for package in packages if package in LIBRARIES), "")


# How to get the array of an image, and its spacing along the axes of that array.
IMAGES = {
    "SimpleITK": ("SimpleITK.GetArrayFromImage({})", "{}.GetSpacing()[::-1]"),
    "nibabel": ("numpy.asarray({}.dataobj)", "{}.header.get_zooms()"),
}
LIBRARIES = (*IMAGES, "torch", "xarray")

VOXELS_PER_THREAD = 1 << 20  # of a mask; a second thread for fewer costs more than it saves
MOST_AXES = 8  # a voxel with all its neighbours is a box of 3 to that power


def check_is_array(array: object, name: str) -> None:
    """Raise a `LabelError` for paths, images and tensors that numpy would misread or reject."""
    if type(array) is np.ndarray:
        return
    if isinstance(array, str | os.PathLike):
        raise LabelError(
            f"{name}={os.fspath(array)!r} is a path, but this function takes arrays: pass "
            f"panmatch.formats.read_labels({os.fspath(array)!r}).labels. panmatch.evaluate accepts "
            f"paths directly."
        )
    if isinstance(array, list | tuple) and array and library_of(array[0]) in IMAGES:
        raise LabelError(
            f"{name} is a list of images, but this function takes one image. To evaluate several "
            f"cases, pass them one by one to panmatch.Evaluator.update."
        )
    library = library_of(array)
    if library in IMAGES:
        values, spacing = (how.format(name) for how in IMAGES[library])
        raise LabelError(
            f"{name} is a {library} image, but this function takes arrays: pass {values} and, "
            f"where distances matter, spacing={spacing}. panmatch.evaluate accepts the image "
            f"directly."
        )
    if library == "torch":
        check_is_label_tensor(array, name)


def check_is_label_tensor(tensor: Any, name: str) -> None:
    """Raise a `LabelError` for a tensor of anything but integers or booleans."""
    if tensor.is_floating_point() or tensor.is_complex():
        raise LabelError(
            f"{name} has dtype {tensor.dtype}; labels must be integers or booleans. Turn logits "
            f"into labels first, with argmax over the classes or a threshold. Convert labels that "
            f"are stored as floats with .long()."
        )


def check_axes(n: int, purpose: str) -> None:
    """Raise a `LabelError` if an image has too many axes to visit the neighbours of a voxel.

    Examples
    --------
    >>> check_axes(32, "components")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    panmatch.errors.LabelError: components can be found in images with up to 8 axes, …
    """
    if n > MOST_AXES:
        raise LabelError(
            f"{purpose} can be found in images with up to {MOST_AXES} axes, but this one has {n}. "
            f"Drop axes of length 1 with numpy.squeeze, or evaluate the image piece by piece."
        )


def as_labels(array: npt.ArrayLike, name: str) -> LabelArray:
    """Return `array` as an integer array, without a copy wherever memory allows.

    Parameters
    ----------
    array
        Integers or booleans of any dimension, dtype and memory order. 0 is background. An array
        that is stored in chunks is read as a whole.
    name
        What to call the argument in an error message.

    Raises
    ------
    LabelError
        For any other dtype, and for paths and images of other libraries. Floating-point labels are
        never converted silently.
    OptionError
        If a chunked array is too large for the memory, or an array is on a CUDA device.

    Examples
    --------
    >>> as_labels([[0, 1], [2, 2]], "reference").dtype.kind
    'i'
    """
    if type(array) is np.ndarray and array.dtype.kind in "iu":
        return _readable_in_place(array)
    check_is_array(array, name)
    if is_on_device(array):
        raise OptionError(
            f"{name} is on a CUDA device, but this step runs on the CPU: pass "
            f"cupy.asnumpy({name}), or {name}.cpu() for a tensor. Only overlaps, parts, "
            f"components, regions and distances between boundaries are computed on the device."
        )
    if is_chunked(array):
        check_fits(array, name)
    try:
        values = np.asarray(array)
    except ValueError as error:
        raise LabelError(f"{name} cannot be read as an array of one shape: {error}") from error
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    if values.size == 0 and values.dtype == np.float64:
        values = values.astype(np.int64)  # an empty list has no dtype of its own
    if values.dtype.kind not in "iu":
        raise LabelError(_why_not_labels(values, name))
    return _readable_in_place(values)


def as_mask(array: npt.ArrayLike, name: str, *, threads: int | None = None) -> Mask:
    """Return where `array` is not background; a negative value is an error.

    The mask has the memory order of the array, and on a CUDA device it is there, too.

    Examples
    --------
    >>> as_mask([0, 3, 1], "reference")
    array([False,  True,  True])
    """
    if is_on_device(array):
        from panmatch.labels._device import device_mask

        on_device: Mask = device_mask(array, name)
        return on_device
    labels = as_labels(array, name)
    axes = memory_axes(labels)
    mask, has_negative = mark_objects(labels.transpose(axes), threads)
    if has_negative:
        raise negative_label(name, int(labels.min()), int(np.count_nonzero(labels < 0)))
    return mask.transpose(np.argsort(axes)).view(np.bool_)


def mark_objects(
    labels: LabelArray, threads: int | None = None
) -> tuple[npt.NDArray[np.uint8], bool]:
    """Return where labels are not 0, in C order, and whether some are negative.

    Examples
    --------
    >>> mark_objects(np.array([0, 3, -1]))
    (array([0, 1, 1], dtype=uint8), True)
    """
    mask = np.empty(labels.shape, np.uint8)
    workers = thread_count(threads, labels.size, voxels_per_thread=VOXELS_PER_THREAD)
    return mask, native.mark_objects(mask, labels, workers)


def negative_label(name: str, label: int, voxels: int) -> LabelError:
    """Return the error about a label below 0 in a mask."""
    return LabelError(
        f"{name} holds the negative label {label} ({_voxels(voxels)} below 0): labels are "
        f"0 (background) or positive ids. Set such voxels to 0 first: "
        f"numpy.where({name} < 0, 0, {name})."
    )


MOST_LISTED = 10  # labels of an error message


def refuse_labels(labels: Ints, counts: Ints, bad: Mask, message: str, **names: object) -> None:
    """Raise a `LabelError` that names the bad labels, if there are any.

    The message is a template. Besides `names` it may contain ``{listed}``, the labels with their
    voxel counts; ``{numbers}``, a list to copy (both stop after the tenth); ``{label}``, the first
    one; and ``{s}`` and ``{are}`` for the plural.

    Examples
    --------
    >>> message = "label{s} {listed}: write `background: {numbers}`"
    >>> labels, counts = np.array([1, 7, 9]), np.array([5, 3, 1])
    >>> refuse_labels(labels, counts, labels > 1, message)
    Traceback (most recent call last):
        ...
    panmatch.errors.LabelError: labels 7 (3 voxels), 9 (1 voxel): write `background: [7, 9]`
    """
    if not bad.any():
        return
    found, place = np.unique(labels[bad], return_inverse=True)
    voxels = np.zeros(len(found), np.int64)
    np.add.at(voxels, place, counts[bad])
    shown = dict(zip(found[:MOST_LISTED].tolist(), voxels.tolist(), strict=False))
    listed = ", ".join(f"{label} ({_voxels(n)})" for label, n in shown.items())
    numbers = ", ".join(map(str, shown))
    if len(found) > MOST_LISTED:
        listed, numbers = f"{listed} and {len(found) - MOST_LISTED} more", f"{numbers}, …"
    names |= {"s": "", "are": "is"} if len(found) == 1 else {"s": "s", "are": "are"}
    names["label"] = int(found[0])
    raise LabelError(message.format(listed=listed, numbers=f"[{numbers}]", **names))


def _voxels(count: int) -> str:
    return "1 voxel" if count == 1 else f"{count} voxels"


def refuse_beyond_int64(
    labels: Ints, counts: Ints, among: Mask, dtype: np.dtype[np.generic], name: str
) -> None:
    """Raise a `LabelError` for labels that do not fit into int64.

    `labels` were already cast to int64: one below 0 in an image of unsigned `dtype` was too large.
    """
    bad = among & (labels < 0)
    if dtype.kind == "u" and bad.any():
        value = int(labels[bad].max()) + (1 << 64)
        raise LabelError(
            f"{name} holds label {value} ({int(counts[bad].sum())} voxels beyond 2**63 - 1): ids "
            f"must fit into int64. Relabel it first, for instance with "
            f"numpy.unique(…, return_inverse=True)."
        )


class Shaped(Protocol):
    """Anything with a shape."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class ArrayInfo(Shaped, Protocol):
    """Anything with a shape and a dtype."""

    @property
    def dtype(self) -> np.dtype[np.generic]: ...


class ChunkedArray(ArrayInfo, Protocol):
    """An array that is stored in chunks, by any library."""

    @property
    def chunks(self) -> Sequence[int | Sequence[int]]: ...

    def __getitem__(self, box: tuple[slice, ...], /) -> npt.ArrayLike: ...

    def __array__(self) -> Array: ...


def check_same_shape(arrays: Mapping[str, Shaped]) -> None:
    """Raise a `ShapeError` that prints both shapes unless all arrays have the same shape."""
    first_name, first = next(iter(arrays.items()))
    for name, other in arrays.items():
        if other.shape != first.shape:
            raise ShapeError(
                f"{first_name} has shape {first.shape} but {name} has shape {other.shape}; "
                f"both must lie on the same grid.{_shape_hint(first.shape, other.shape)}"
            )


def _shape_hint(first: tuple[int, ...], other: tuple[int, ...]) -> str:
    if [n for n in first if n != 1] == [n for n in other if n != 1]:
        return " They differ only in axes of length 1: drop those with numpy.squeeze."
    if sorted(first) == sorted(other):
        return " The axes look permuted: reorder those of one image with numpy.transpose."
    return " Resample one of them with nearest-neighbour interpolation first."


def _why_not_labels(values: Array, name: str) -> str:
    problem = f"{name} has dtype {values.dtype}; labels must be integers or booleans."
    if values.dtype.kind == "O":
        kinds = sorted({type(value).__qualname__ for value in values.ravel()[:MOST_LISTED]})
        return (
            f"{problem} It holds {', '.join(kinds)}: pass the voxels of one image as an array of "
            f"numbers."
        )
    if values.dtype.kind != "f":
        return problem
    whole = np.isfinite(values) & (values == np.floor(values))
    if whole.all():
        return (
            f"{problem} All its values are whole numbers: if they are labels, "
            f"pass {name}.astype(numpy.int64)."
        )
    culprit = values[~whole][0]
    return (
        f"{problem} It holds {culprit}, which is not a label: if it is a probability map, "
        f"threshold it first; if it was resampled, use nearest-neighbour interpolation."
    )


def _readable_in_place(values: LabelArray) -> LabelArray:
    """Copy only what native code cannot address: foreign byte order or odd strides."""
    flags = values.flags
    whole_steps = flags.forc or all(stride % values.itemsize == 0 for stride in values.strides)
    if values.dtype.isnative and flags.aligned and whole_steps:
        return values
    return values.astype(values.dtype.newbyteorder("="), order="K")


LARGEST_SHARE = 0.25  # of this machine's memory, for an array that is needed as a whole
CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
ASSUMED_BYTES = 8 << 30  # where the system does not say how much memory there is


def is_chunked(array: object) -> TypeGuard[ChunkedArray]:
    """Return whether an array is stored in chunks, as Zarr, Dask, HDF5 and our own arrays are.

    Their attributes give them away, so none of these libraries has to be imported.

    Examples
    --------
    >>> import zarr
    >>> is_chunked(zarr.zeros((4, 4), chunks=(2, 2))), is_chunked(np.zeros((4, 4)))
    (True, False)
    """
    if isinstance(array, np.ndarray) or not hasattr(array, "__getitem__"):
        return False
    return all(getattr(array, name, None) is not None for name in ("shape", "dtype", "chunks"))


def bytes_of(array: ArrayInfo) -> int:
    """Return how many bytes an array takes in memory."""
    return int(math.prod(array.shape) * np.dtype(array.dtype).itemsize)


def memory_bytes() -> int:
    """Return how much memory this machine has, or the container in which this process runs."""
    try:
        machine = int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        machine = ASSUMED_BYTES
    with suppress(OSError, ValueError):  # without a limit it says "max"
        return min(machine, int(CONTAINER_LIMIT.read_text(encoding="ascii")))
    return machine


def free_bytes() -> int:
    """Return how much of the memory can still be used; all of it where the system does not say."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = next(line for line in lines if line.startswith("MemAvailable:"))
        return min(memory_bytes(), 1024 * int(available.split()[1]))
    return memory_bytes()


def fits(size: int) -> bool:
    """Return whether `size` bytes are at most a quarter of this machine's memory."""
    return size <= LARGEST_SHARE * memory_bytes()


def check_fits(array: ArrayInfo, name: str) -> None:
    """Raise an `OptionError` if a chunked array is too large to be read as a whole."""
    size = bytes_of(array)
    if not fits(size):
        raise OptionError(
            f"{name} takes {in_gigabytes(size)}, more than a quarter of this machine's "
            f"{in_gigabytes(memory_bytes())} of memory, and this step needs the whole image at "
            f"once. These steps work chunk by chunk: overlaps (with parts and regions, too), "
            f"components, and metrics that need only counts, centres or bounding boxes."
        )


def in_gigabytes(size: int) -> str:
    """Return a number of bytes as text, in gigabytes.

    Examples
    --------
    >>> in_gigabytes(34_359_738_368)
    '34.4 GB'
    """
    return f"{size / 1e9:.1f} GB"


def memory_axes(array: Array) -> tuple[int, ...]:
    """Return the axes from the largest to the smallest step in memory.

    Examples
    --------
    >>> import numpy as np
    >>> memory_axes(np.zeros((2, 3, 4), order="F"))
    (2, 1, 0)
    """
    return tuple(sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis)))


def thread_count(threads: int | None, voxels: int, *, voxels_per_thread: int) -> int:
    """Return how many threads to use: as many as the user asked for, or as many as pay off.

    Examples
    --------
    >>> thread_count(None, voxels=1000, voxels_per_thread=1 << 20)
    1
    """
    if threads is None and voxels < 2 * voxels_per_thread:
        return 1
    if threads is None:
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return max(1, min(cpus or 1, voxels // voxels_per_thread))
    if not isinstance(threads, int | np.integer) or isinstance(threads, bool) or threads < 1:
        raise OptionError(f"threads={threads!r} must be a whole number of at least 1, or None.")
    return min(int(threads), max(1, voxels))
