"""Pixels of the common kinds of PNG files, decoded natively; Pillow reads all the others."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.formats._decoding import check_fits_in_memory

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, COLOUR, PALETTE = 0, 2, 3

# By colour type and bits: the bytes of a pixel in the file, and the dtype of its number.
KINDS: dict[tuple[int, int], tuple[int, type[np.unsignedinteger[Any]]]] = {
    (GREY, 8): (1, np.uint8),
    (PALETTE, 8): (1, np.uint8),
    (GREY, 16): (2, np.uint16),
    (COLOUR, 8): (3, np.uint32),
}

# Deflate, which compresses PNG files, achieves at most 1032 to 1.
LARGEST_EXPANSION = 1032
MOST_BYTES = 2**30  # larger images are left to Pillow
ZLIB_HEADER = 2


class Pixels(NamedTuple):
    """One number per pixel: grey values, palette indices, or red + 256 green + 256² blue."""

    numbers: npt.NDArray[np.unsignedinteger[Any]]
    coloured: bool


def decode_pixels(path: Path) -> Pixels | None:
    """Return the pixels of a PNG file; None for one that is damaged, unusual or another format."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if not content.startswith(SIGNATURE):
        return None
    found = _header_and_data(content)
    if found is None:
        return None
    (width, height, bits, colour, *methods), data = found
    if any(methods) or (colour, bits) not in KINDS:
        return None
    pixel_bytes, dtype = KINDS[colour, bits]
    n_bytes = height * (1 + width * pixel_bytes)
    if not 0 < n_bytes <= min(LARGEST_EXPANSION * len(data), MOST_BYTES):
        return None
    check_fits_in_memory(2 * n_bytes, path)
    numbers = np.empty((height, width), dtype)
    stream = np.frombuffer(data, np.uint8)[ZLIB_HEADER:]
    if not native.png_pixels(stream, pixel_bytes, numbers):
        return None
    return Pixels(numbers, colour == COLOUR)


def _header_and_data(content: bytes) -> tuple[tuple[int, ...], bytes] | None:
    """Return the header and the compressed pixels, if the file has nothing unusual."""
    header: tuple[int, ...] | None = None
    data: list[bytes] = []
    at = len(SIGNATURE)
    while at + 12 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        body, end = at + 8, at + 8 + length
        if end + 4 > len(content) or kind == b"acTL":  # truncated, or an animation
            return None
        if kind in (b"IHDR", b"IDAT"):
            (checksum,) = struct.unpack_from(">I", content, end)
            if zlib.crc32(memoryview(content)[at + 4 : end]) != checksum:
                return None
        if kind == b"IHDR" and length == 13:
            header = struct.unpack_from(">IIBBBBB", content, body)
        elif kind == b"IDAT":
            data.append(content[body:end])
        elif kind == b"IEND":
            stream = data[0] if len(data) == 1 else b"".join(data)
            return None if header is None or not _is_deflated(stream) else (header, stream)
        at = end + 4
    return None


def _is_deflated(stream: bytes) -> bool:
    """Whether the data begins as zlib's does: deflate, a valid checksum, and no dictionary."""
    if len(stream) < ZLIB_HEADER:
        return False
    method, flags = stream[:ZLIB_HEADER]
    return method & 15 == 8 and (256 * method + flags) % 31 == 0 and not flags & 32
