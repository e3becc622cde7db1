"""Gzip files whose contents have a known size, decompressed in one go."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch import native

MAGIC = b"\x1f\x8b\x08"
HEADER_BYTES, TRAILER_BYTES = 10, 8
CHECKED, EXTRA, NAMED, COMMENTED = 2, 4, 8, 16  # flags of a header


def start_of_gzip(content: bytes, n_bytes: int) -> bytes:
    """Return up to `n_bytes` from the start of what a gzip file contains; none if it is damaged."""
    with suppress(zlib.error):
        return zlib.decompressobj(wbits=31).decompress(content, n_bytes)
    return b""


def unpack_gzip(content: bytes, n_bytes: int) -> npt.NDArray[np.uint8] | None:
    """Return what a gzip file contains; None if that is not one member of `n_bytes`, undamaged.

    Examples
    --------
    >>> import gzip
    >>> unpack_gzip(gzip.compress(b"abc"), 3).tobytes()
    b'abc'
    >>> unpack_gzip(gzip.compress(b"abc"), 4) is None
    True
    """
    start = _start_of_data(content)
    if start is None or len(content) < start + TRAILER_BYTES:
        return None
    checksum, size = struct.unpack("<II", content[-TRAILER_BYTES:])
    if size != n_bytes % 2**32:
        return None
    out = np.empty(n_bytes, np.uint8)
    data = np.frombuffer(content, np.uint8)[start:-TRAILER_BYTES]
    if native.inflate(data, out) != (len(data), n_bytes) or _crc32()(out.data) != checksum:
        return None
    return out


def _crc32() -> Callable[[Any], int]:
    with suppress(ModuleNotFoundError):  # isal is optional, and faster
        from isal import isal_zlib

        return isal_zlib.crc32
    return zlib.crc32


def _start_of_data(content: bytes) -> int | None:
    """Return where the compressed data begins; None if this is not a valid header."""
    if len(content) < HEADER_BYTES or not content.startswith(MAGIC):
        return None
    flags, at = content[3], HEADER_BYTES
    if flags & EXTRA:
        at += 2 + int.from_bytes(content[at : at + 2], "little")
    for text in (NAMED, COMMENTED):
        if flags & text:
            at = content.find(b"\0", at) + 1
            if at == 0:
                return None
    return at + (2 if flags & CHECKED else 0)
