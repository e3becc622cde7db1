"""The few names of CuPy that panmatch uses, on numpy arrays and emulated kernels.

An array of the stand-in is no numpy array, and numpy cannot read it: what would be a copy from the
device to the host is an error here, as it is in CuPy.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from scipy import ndimage

from tests.device.emulator import EmulatedKernel

Host = np.ndarray[Any, Any]


class Device(AbstractContextManager[None]):
    """The only device."""

    attributes: ClassVar = {"MultiProcessorCount": 3}

    def __exit__(self, *_: object) -> None:
        pass


class ndarray:  # noqa: N801
    """An array on the device."""

    __array_ufunc__ = None  # numpy leaves operators to us
    device = Device()

    def __init__(self, on_host: Host) -> None:
        self.on_host = on_host

    def __array__(self, *_: object, **__: object) -> Host:
        raise TypeError("implicit conversion to a numpy array is not allowed")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3}

    @property
    def data(self) -> SimpleNamespace:
        return SimpleNamespace(ptr=self.on_host.ctypes.data)

    def __getattr__(self, name: str) -> Any:
        if name not in PROPERTIES:
            raise AttributeError(f"the stand-in for CuPy has no {name}")
        return getattr(self.on_host, name)

    def __getitem__(self, index: Any) -> ndarray:
        return ndarray(np.asarray(self.on_host[_host(index)]))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.on_host[_host(index)] = _host(value)

    def get(self) -> Host:
        return asnumpy(self)

    def __int__(self) -> int:
        return int(self.on_host)

    def __bool__(self) -> bool:
        return bool(self.on_host)

    def __len__(self) -> int:
        return len(self.on_host)


PROPERTIES = ("shape", "ndim", "size", "dtype", "strides", "flags", "nbytes", "itemsize")
METHODS = ("astype", "ravel", "reshape", "transpose", "copy", "min", "max", "view", "repeat")
OPERATORS = (
    "add", "sub", "mul", "and", "or", "xor", "lshift", "rshift", "eq", "ne", "lt", "le", "gt", "ge",
    "invert", "mod", "radd", "rmul", "floordiv", "pow",
)  # fmt: skip
FUNCTIONS = (
    "arange", "ascontiguousarray", "asfortranarray", "concatenate", "empty", "empty_like",
    "flatnonzero", "full", "searchsorted", "unique", "where", "zeros",
)  # fmt: skip


def _host(given: Any) -> Any:
    """Return what numpy takes instead of an array of ours."""
    if isinstance(given, ndarray):
        return given.on_host
    if isinstance(given, tuple | list):
        return type(given)(map(_host, given))
    assert not isinstance(given, np.ndarray), "an array of the host is used on the device"
    return given


def _there(found: Any) -> Any:
    """Return results of numpy as arrays on the device: also numbers, as in CuPy."""
    if isinstance(found, tuple):
        return tuple(map(_there, found))
    return ndarray(np.asarray(found))


def _on_host(function: Any) -> Any:
    def call(*given: Any, **named: Any) -> Any:
        found = function(*map(_host, given), **{key: _host(value) for key, value in named.items()})
        return _there(found)

    return call


def _method(name: str) -> Any:
    return lambda self, *given, **named: _on_host(getattr(self.on_host, name))(*given, **named)


for _name in METHODS:
    setattr(ndarray, _name, _method(_name))
for _name in OPERATORS:
    setattr(ndarray, f"__{_name}__", _method(f"__{_name}__"))


def asarray(given: Any, dtype: Any = None, order: Any = None) -> ndarray:
    """Copy an array to the device; one that is there stays."""
    if isinstance(given, ndarray) and dtype is None and order is None:
        return given
    return ndarray(
        np.array(_host(given) if isinstance(given, ndarray) else given, dtype, order=order)
    )


def asnumpy(given: ndarray) -> Host:
    """Copy an array to the host."""
    return given.on_host.copy()


class RawModule:
    """Kernels of one source."""

    def __init__(
        self, code: str, options: tuple[str, ...], name_expressions: tuple[str, ...]
    ) -> None:
        assert options == ("--std=c++17",)
        self._code, self._names = code, name_expressions

    def get_function(self, name: str) -> EmulatedKernel:
        """Return one of them."""
        assert name in self._names
        return EmulatedKernel(self._code, name)


def modules() -> dict[str, ModuleType]:
    """Return the modules that `import` finds instead of CuPy's."""
    cupy = ModuleType("cupy")
    names = {name: _on_host(getattr(np, name)) for name in FUNCTIONS}
    names |= {name: getattr(np, name) for name in DTYPES}
    ours = {"ndarray": ndarray, "asarray": asarray, "asnumpy": asnumpy, "RawModule": RawModule}
    vars(cupy).update(names | ours)
    cupyx, scipy = ModuleType("cupyx"), ModuleType("cupyx.scipy")
    images = SimpleNamespace(
        generate_binary_structure=ndimage.generate_binary_structure, label=_components
    )
    scipy.ndimage = images  # type: ignore[attr-defined]
    return {"cupy": cupy, "cupyx": cupyx, "cupyx.scipy": scipy}


DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_",
          "float32", "float64")  # fmt: skip


def _components(mask: ndarray, neighbours: Host) -> tuple[ndarray, int]:
    """Number components by their first voxels in C order, as CuPy does."""
    found, count = ndimage.label(np.ascontiguousarray(mask.on_host), neighbours)
    return ndarray(found), count
