"""Kernels for a CUDA device: their sources lie beside this file, and CuPy compiles them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from panmatch.errors import OptionError

DeviceArray = Any  # a cupy.ndarray; CuPy is optional

THREADS = 256  # of a block, for kernels whose threads share nothing
INCLUDED = "lines.cuh"

C_TYPES = {
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float64": "double",
}


def launch(file: str, name: str, types: tuple[object, ...], threads: int, *arguments: Any) -> None:
    """Run a kernel in so many threads; threads beyond that number return at once.

    Parameters
    ----------
    file, name
        Where the kernel is, and its name.
    types
        What its template takes: dtypes, or numbers.
    arguments
        Arrays of the device, and numpy scalars of the very types that the kernel takes.
    """
    if threads:
        blocks = -(-threads // THREADS)
        compiled(file, full_name(name, types))((blocks,), (THREADS,), arguments)


def full_name(name: str, types: tuple[object, ...]) -> str:
    """Return how C++ calls a kernel for certain dtypes and numbers.

    Examples
    --------
    >>> full_name("settle_columns", ("uint32", "float64"))
    'settle_columns<unsigned int, double>'
    """
    listed = ", ".join(C_TYPES.get(str(kind), str(kind)) for kind in types)
    return f"{name}<{listed}>" if types else name


@cache
def compiled(file: str, name: str) -> Callable[..., None]:
    """Return a kernel, compiled when it is first asked for."""
    module = cupy_module().RawModule(
        code=source_of(file), options=("--std=c++17",), name_expressions=(name,)
    )
    kernel: Callable[..., None] = module.get_function(name)
    return kernel


@cache
def source_of(file: str) -> str:
    """Return the source of a file with what it includes: the compiler sees no folders."""
    from importlib import resources  # takes milliseconds, and few users have a device

    folder = resources.files("panmatch.labels")
    source, included = (folder.joinpath(name).read_text("utf-8") for name in (file, INCLUDED))
    return source.replace(f'#include "{INCLUDED}"\n', included)


def cupy_module() -> ModuleType:
    """Return CuPy, or say how to get it."""
    try:
        return import_module("cupy")
    except ImportError as error:
        raise OptionError(
            "images on a CUDA device are counted with CuPy, which is not installed: install the "
            "cupy package for your version of CUDA, or pass the images as numpy arrays."
        ) from error
