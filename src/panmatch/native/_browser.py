"""The native core in a web page, where it is a WebAssembly module that is called with bytes.

The site has this module under the name ``_core``. A call is one block of 8-byte words, and so is
its answer; `src/native/wasm_binding.hpp` describes both. ``panmatch_wasm`` is part of the page.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import panmatch_wasm  # type: ignore[import-not-found]
from pyodide.ffi import to_js  # type: ignore[import-not-found]

NONE, WHOLE, REAL, TRUTH, ARRAY, LIST = range(6)


def _words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _encoded(value: Any) -> bytes:
    if value is None:
        return _words(NONE)
    if isinstance(value, bool | np.bool_):
        return _words(TRUTH, int(value))
    if isinstance(value, int | np.integer):
        return _words(WHOLE, int(value))
    if isinstance(value, float | np.floating):
        return _words(REAL) + struct.pack("<d", value)
    if isinstance(value, np.ndarray):
        letter = "u" if value.dtype.kind == "b" else value.dtype.kind
        head = _words(ARRAY, ord(letter), value.itemsize, value.ndim, *value.shape)
        return head + _padded(value.tobytes())
    return _words(LIST, len(value)) + b"".join(_encoded(item) for item in value)


class _Answer:
    """The values of an answer, one after the other."""

    def __init__(self, block: Any) -> None:
        self._block, self._at = block, 0
        self._words = block.view(np.int64)

    def _word(self) -> int:
        word = int(self._words[self._at >> 3])
        self._at += 8
        return word

    def value(self) -> Any:
        kind = self._word()
        if kind == NONE:
            return None
        if kind == LIST:
            return tuple([self.value() for _ in range(self._word())])
        if kind == ARRAY:
            return self._array()
        word = self._word()
        if kind == REAL:
            return struct.unpack("<d", _words(word))[0]
        return bool(word) if kind == TRUTH else word

    def _array(self) -> Any:
        letter, width = chr(self._word()), self._word()
        shape = [self._word() for _ in range(self._word())]
        size = int(np.prod(shape, dtype=np.int64)) * width
        data = self._block[self._at : self._at + size]
        self._at += size + -size % 8
        return data.view(f"{letter}{width}").reshape(shape)


def _call(name: str, names: list[str], written: list[str], *args: Any, **more: Any) -> Any:
    values = list(args) + [more[key] for key in names[len(args) :]]
    head = _words(len(name)) + _padded(name.encode()) + _words(len(values))
    encoded = [_encoded(value) for value in values]
    starts, at = [], len(head) + 8 * len(values)
    for one in encoded:
        starts.append(at)
        at += len(one)
    answer = panmatch_wasm.call(to_js(b"".join([head, _words(*starts), *encoded])))
    block = np.empty(answer.length, np.uint8)
    answer.assign_to(block)
    result, arrays = _Answer(block).value()
    for key, array in zip(written, arrays, strict=True):
        target = values[names.index(key)]
        if target.flags.writeable:
            target[...] = array
    return result


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for line in str(panmatch_wasm.signatures()).splitlines():
        name, *args = line.split()
        names = [arg.rstrip("*") for arg in args]
        written = [arg[:-1] for arg in args if arg.endswith("*")]
        yield name, partial(_call, name, names, written)


globals().update(_functions())
