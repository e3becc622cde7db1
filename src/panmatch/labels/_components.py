"""Connected components."""

from __future__ import annotations

from functools import partial
from typing import Literal, get_args, overload

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import OptionError, check_choice
from panmatch.labels._arrays import (
    Ints,
    LabelArray,
    Mask,
    as_labels,
    as_mask,
    check_axes,
    is_chunked,
    is_on_device,
    memory_axes,
    thread_count,
)
from panmatch.labels._combinations import distinct_labels
from panmatch.labels._volumes import ChunkedLabels, Volume, as_volume

Connectivity = Literal["full", "edges", "faces"]
Instances = Literal["ids", "components", "label-components"]  # what an object of a class is
Neighbours = Literal[4, 6, 8, 18, 26]
NEIGHBOURS: dict[tuple[Connectivity, int], Neighbours] = {
    ("full", 2): 8,
    ("full", 3): 26,
    ("edges", 2): 8,
    ("edges", 3): 18,
    ("faces", 2): 4,
    ("faces", 3): 6,
}
# Along how many axes neighbours may differ; None for all.
REACH: dict[Connectivity, int | None] = {"full": None, "edges": 2, "faces": 1}

VOXELS_PER_THREAD = 1 << 20


@overload
def connected_components(
    labels: ChunkedLabels,
    connectivity: Connectivity = "full",
    name: str = "labels",
    *,
    threads: int | None = None,
) -> ChunkedLabels: ...
@overload
def connected_components(
    labels: npt.ArrayLike,
    connectivity: Connectivity = "full",
    name: str = "labels",
    *,
    threads: int | None = None,
) -> LabelArray: ...
def connected_components(
    labels: npt.ArrayLike | ChunkedLabels,
    connectivity: Connectivity = "full",
    name: str = "labels",
    *,
    threads: int | None = None,
) -> Volume:
    """Give each connected component of everything that is not background a number.

    Parameters
    ----------
    labels
        Mask or label image; touching labels are one component.
    connectivity
        ``"full"``: voxels that share a face, an edge or a corner are connected (26 neighbours in
        3-D, 8 in 2-D). ``"edges"``: those that share a face or an edge (18 in 3-D; in 2-D, where
        pixels meet at edges as they do at corners, 8). ``"faces"``: only those that share a face (6
        and 4).
    name
        What to call the argument in an error message.
    threads
        Number of threads, each working on its own chunk; by default as many as pay off.

    Returns
    -------
    numpy.ndarray
        1, 2, … on the components, 0 on the background, in the shape of `labels`. Components are
        numbered by their first voxels in C order of the axes, whatever the memory order (D8). For a
        chunked image, a `ChunkedLabels` that finds the same numbers when it is read. For an image
        on a CUDA device, an array there, again with the same numbers.

    Examples
    --------
    >>> connected_components([[1, 0, 2], [0, 1, 0]]).tolist()
    [[1, 0, 1], [0, 1, 0]]
    >>> connected_components([[1, 0, 2], [0, 1, 0]], "faces").tolist()
    [[1, 0, 2], [0, 3, 0]]
    >>> import zarr
    >>> connected_components(zarr.array([[1, 0, 2], [0, 1, 0]], chunks=(1, 2)))[...].tolist()
    [[1, 0, 1], [0, 1, 0]]
    """
    check_choice("connectivity", connectivity, get_args(Connectivity))
    if is_on_device(labels):
        from panmatch.labels._device import device_components

        on_device: LabelArray = device_components(labels, REACH[connectivity], name)
        return on_device
    volume = as_volume(labels, name)
    if not isinstance(volume, ChunkedLabels):
        return _components(as_mask(volume, name, threads=threads), connectivity, threads)
    if connectivity == "edges":
        raise OptionError(
            f"{name} is stored in chunks, for which connectivity must be 'full' or 'faces': to use "
            f"'edges', read the image into memory first."
        )
    from panmatch.labels._chunked_components import components_of

    label = partial(_components_in, connectivity=connectivity)
    diagonal = connectivity == "full"
    return components_of(volume, label, diagonal=diagonal, name=name, threads=threads)


def components_within_labels(
    labels: npt.ArrayLike, connectivity: Connectivity = "full", name: str = "labels"
) -> LabelArray:
    """Give each connected component of every label a number: labels that touch stay apart.

    Parameters
    ----------
    labels
        Label image in memory.
    connectivity, name
        As for `connected_components`.

    Returns
    -------
    numpy.ndarray
        1, 2, … in C order of their first voxels, 0 on the background.

    Examples
    --------
    >>> components_within_labels([[1, 1, 2, 0, 1]]).tolist()
    [[1, 1, 2, 0, 3]]
    """
    check_choice("connectivity", connectivity, get_args(Connectivity))
    if is_chunked(labels) or isinstance(labels, ChunkedLabels):
        raise OptionError(
            f"{name} is stored in chunks, but components within labels are only found in images "
            f"in memory: read it first, or use instances='components'."
        )
    image = as_labels(labels, name)
    if image.ndim > 3 and 1 in image.shape:
        return components_within_labels(image.squeeze(), connectivity, name).reshape(image.shape)
    return _numbered_by_first_voxel(_within_labels(image, connectivity))


def _within_labels(image: LabelArray, connectivity: Connectivity) -> LabelArray:
    """Return components of every label with numbers in any order, in C order of memory."""
    if image.ndim in (2, 3) and image.size:
        import cc3d

        # cc3d reads no booleans, no foreign byte order and no read-only arrays.
        dtype = np.dtype(np.uint8) if image.dtype == bool else image.dtype.newbyteorder("=")
        plain = np.require(image, dtype, ("W", "C"))
        return cc3d.connected_components(plain, connectivity=NEIGHBOURS[connectivity, image.ndim])
    found = np.zeros(image.shape, np.int64)
    for label in np.unique(image[image != 0]).tolist():
        here = image == label
        found[here] = found.max(initial=0) + _components(here, connectivity, threads=1)[here]
    return found


def _numbered_by_first_voxel(components: LabelArray) -> LabelArray:
    flat = components.ravel()
    begins = np.ones(flat.size, np.bool_)
    begins[1:] = flat[1:] != flat[:-1]
    at = np.flatnonzero(begins)[::-1]
    first = np.full(int(flat.max(initial=0)) + 1, flat.size)
    first[flat[at]] = at  # from the end: the first of each is written last
    first[0] = -1
    number = np.empty(len(first), components.dtype)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    return number[components]


def component_sizes(labels: npt.ArrayLike, name: str = "labels") -> tuple[Ints, Ints]:
    """Return the label and the voxels of every connected component of every label.

    Parameters
    ----------
    labels
        Label image in memory. Voxels are connected if they share a face, an edge or a corner, and
        their label.
    name
        What to call the argument in an error message.

    Returns
    -------
    tuple of Ints
        Sorted by label.

    Examples
    --------
    >>> component_sizes([[1, 0, 2, 2], [1, 0, 0, 0], [0, 0, 1, 0]])
    (array([1, 1, 2]), array([2, 1, 2]))
    """
    image = as_labels(labels, name)
    (label, _), sizes = distinct_labels([image, components_within_labels(image, name=name)])
    inside = label != 0
    return label[inside], sizes[inside]


def _components_in(block: LabelArray, *, connectivity: Connectivity) -> LabelArray:
    return _components(np.ascontiguousarray(block != 0), connectivity, threads=1)


def _components(mask: Mask, connectivity: Connectivity, threads: int | None) -> LabelArray:
    if mask.ndim == 0 or (mask.ndim > 3 and 1 in mask.shape):
        flat = np.atleast_1d(mask.squeeze())
        return _components(flat, connectivity, threads).reshape(mask.shape)
    check_axes(mask.ndim, "components")
    # Numbers of more axes than three are found in C order alone.
    axes = memory_axes(mask) if mask.ndim <= 3 else tuple(range(mask.ndim))
    laid_out = np.ascontiguousarray(mask.transpose(axes)).view(np.uint8)
    numbers = np.zeros(laid_out.shape, np.uint32)
    reach = min(REACH[connectivity] or mask.ndim, mask.ndim)
    workers = thread_count(threads, mask.size, voxels_per_thread=VOXELS_PER_THREAD)
    count = native.label_components(laid_out, reach, numbers, workers)
    if axes != tuple(range(mask.ndim)):
        steps = np.cumprod((1, *mask.shape[:0:-1]))[::-1]
        native.number_components(numbers, laid_out, steps[list(axes)].tolist(), count, workers)
    numbered: LabelArray = numbers.transpose(np.argsort(axes))
    return numbered
