"""Objects with the attributes of a library that is not installed where tests run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass
class Coordinate:
    values: npt.NDArray[Any]
    attrs: dict[str, Any]

    def __array__(self, *_: object, **__: object) -> npt.NDArray[Any]:
        return self.values


@dataclass
class DataArray:
    data: npt.NDArray[Any]
    dims: tuple[str, ...]
    coords: dict[str, Coordinate]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype


DataArray.__module__ = "xarray.core.dataarray"


def coordinates(shape: tuple[int, ...], steps: tuple[float, ...]) -> dict[str, list[float]]:
    """Return evenly spaced coordinates of the last dimensions of z, y, x."""
    dims = "zyx"[-len(shape) :]
    grids = zip(dims, shape, steps, strict=True)
    return {dim: [step * i for i in range(n)] for dim, n, step in grids}


def data_array(
    values: npt.NDArray[Any], coords: dict[str, Any], units: Any = None, dims: Any = None
) -> DataArray:
    """Return an array with dimensions z, y, x, the last of them, and units of its coordinates."""
    names = dims or tuple("zyx"[-values.ndim :])
    texts = units if isinstance(units, tuple) else (units,) * len(coords)
    made = {
        dim: Coordinate(np.asarray(places), {} if unit is None else {"units": unit})
        for (dim, places), unit in zip(coords.items(), texts, strict=False)
    }
    return DataArray(values, names, made)
