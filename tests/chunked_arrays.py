"""Label images that are stored in chunks, in every way that is accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from panmatch.labels import _folding as folding

Array = npt.NDArray[Any]

KINDS = ("zarr", "fortran", "dask", "memory")
DTYPES = ("uint8", "int16", "uint32", "int64", ">u2")


def stored(array: Array, chunks: tuple[int, ...], kind: str = "zarr") -> Any:
    """Return an array as a Zarr array in C or Fortran order, as a Dask array, or as it is."""
    lengths = tuple(max(1, min(length, n)) for length, n in zip(chunks, array.shape, strict=True))
    if kind == "memory":
        return array
    if kind == "dask":
        import dask.array

        return dask.array.from_array(array, chunks=lengths)  # type: ignore[no-untyped-call]
    import zarr

    create: Any = zarr.create_array
    order = "F" if kind == "fortran" else "C"
    made = create({}, shape=array.shape, chunks=lengths, dtype=array.dtype, order=order,
                  zarr_format=2, compressors=None)  # fmt: skip
    made[...] = array
    return made


def chunkings(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[int, ...]]:
    """Draw lengths of chunks; most of them do not divide the shape."""
    return st.tuples(*(st.integers(1, max(n, 1)) for n in shape))


@st.composite
def shapes(draw: st.DrawFn, *, most_voxels: int = 150) -> tuple[int, ...]:
    """Draw the shape of an image with one to four axes, some of length 1."""
    axes = draw(st.integers(1, 4))
    longest = int(most_voxels ** (1 / axes))
    return draw(hnp.array_shapes(min_dims=axes, max_dims=axes, max_side=longest))


@st.composite
def label_images(draw: st.DrawFn, shape: tuple[int, ...], most: int = 4) -> Array:
    """Draw a label image: anything from empty to full."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    density, seed = draw(st.sampled_from([0.0, 0.02, 0.2, 0.6, 1.0])), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < density, rng.integers(1, most + 1, shape), 0).astype(dtype)


@st.composite
def in_chunks(draw: st.DrawFn, array: Array, kinds: tuple[str, ...] = KINDS) -> Any:
    """Draw a way to store an array."""
    return stored(array, draw(chunkings(array.shape)), draw(st.sampled_from(kinds)))


@contextmanager
def boxes_up_to(voxels: int) -> Iterator[None]:
    """Let boxes be no larger than that, where chunks allow it; small images are one box else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "LARGEST_BOX", voxels)
        patch.setattr(folding, "BYTES_AT_ONCE", voxels)
        yield


box_sizes = st.sampled_from([1, 20, folding.LARGEST_BOX])


class Watched:
    """A chunked array that keeps count of the chunks that are decoded to read it."""

    def __init__(self, array: Array, chunks: tuple[int, ...]) -> None:
        self.array, self.chunks = array, chunks
        self.shape, self.dtype = array.shape, array.dtype
        self.decoded: Counter[tuple[int, ...]] = Counter()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[tuple(slice(0, n) for n in self.shape)].astype(dtype or self.dtype)

    def __getitem__(self, box: tuple[slice, ...]) -> Array:
        spans = [
            range(part.start // length, -(-part.stop // length))
            for part, length in zip(box, self.chunks, strict=True)
        ]
        self.decoded.update(product(*spans))
        return self.array[box]
