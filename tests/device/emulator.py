"""CUDA kernels compiled for the host, to run them where there is no device."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

HEADER = Path(__file__).with_name("emulation.hpp")
COMPILER = None if sys.platform == "win32" else shutil.which("g++") or shutil.which("clang++")
OPTIONS = (
    "-std=c++17",
    "-O1",
    "-shared",
    "-fPIC",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused",
    "-Wno-unknown-pragmas",
)
WRAPPER = """
extern "C" int describe(int* kinds) {{ return emulation::describe(&{name}, kinds); }}
extern "C" void launch(unsigned blocks, unsigned threads, bool backwards, void** arguments) {{
    emulation::launch(&{name}, blocks, threads, backwards, arguments);
}}
"""
MOST_ARGUMENTS = 32
GUARD = 1 << 12  # bytes around every array that no kernel may write to
GUARDED = np.uint8(0xA5)


class EmulatedKernel:
    """A kernel with the arguments of a `cupy.RawKernel`; threads run one after the other."""

    backwards = False  # in which order: a test runs both

    def __init__(self, source: str, name: str) -> None:
        self._name, self._one_thread = name, "__shared__" in source
        self._library = _library(source, name)
        kinds = (ctypes.c_int * MOST_ARGUMENTS)()
        self._kinds = list(kinds[: self._library.describe(kinds)])

    def __call__(self, grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
        """Run all blocks. Arguments must have the very types that the kernel takes."""
        given = [_Argument(argument) for argument in arguments]
        kinds = [argument.kind for argument in given]
        assert kinds == self._kinds, f"{self._name} takes {self._kinds}, not {kinds}"
        pointers = (ctypes.c_void_p * len(given))(*(argument.address for argument in given))
        threads = 1 if self._one_thread else block[0]
        assert block[0] <= 1024
        assert 0 < grid[0] < 2**31
        self._library.launch(grid[0], threads, self.backwards, pointers)
        for argument in given:
            argument.write_back()


class _Argument:
    """A number or an array, where a kernel can read it; an array with guards around it."""

    def __init__(self, given: Any) -> None:
        self._array: np.ndarray[Any, Any] | None = getattr(given, "on_host", None)
        dtype = given.dtype
        self.kind = 10 * dtype.itemsize + {"b": 0, "u": 0, "i": 1, "f": 2}[dtype.kind]
        if self._array is None:
            assert isinstance(given, np.generic), f"{given!r} has no C type"
            self._value = np.array([given])
            self.address = self._value.ctypes.data
            return
        self.kind = -self.kind
        assert self._array.flags.c_contiguous or self._array.flags.f_contiguous
        self._buffer = np.full(self._array.nbytes + 2 * GUARD, GUARDED, np.uint8)
        self._inside = slice(GUARD, GUARD + self._array.nbytes)
        self._buffer[self._inside] = self._bytes()
        self._pointer = ctypes.c_void_p(self._buffer.ctypes.data + GUARD)
        self.address = ctypes.addressof(self._pointer)

    def write_back(self) -> None:
        """Copy what the kernel wrote, after a look at the guards."""
        if self._array is None:
            return
        changed = self._buffer != GUARDED
        changed[self._inside] = False
        assert not changed.any(), "a kernel wrote beyond the ends of an array"
        self._bytes()[...] = self._buffer[self._inside]

    def _bytes(self) -> np.ndarray[Any, Any]:
        assert self._array is not None
        flat = self._array.reshape(-1, order="A")
        assert np.shares_memory(flat, self._array) or not flat.size
        return flat.view(np.uint8)


@cache
def _library(source: str, name: str) -> ctypes.CDLL:
    assert COMPILER is not None
    text = f'#include "{HEADER}"\n{source}\n{WRAPPER.format(name=name)}'
    stem = hashlib.sha256(text.encode()).hexdigest()[:16]
    file = Path(_folder().name, f"{stem}.cpp")
    file.write_text(text, encoding="utf-8")
    made = file.with_suffix(".so")
    subprocess.run([COMPILER, *OPTIONS, str(file), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="panmatch-kernels-")
