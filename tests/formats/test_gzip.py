"""Gzip files of a known size are decompressed in one go, or not at all."""

import gzip
import io
import struct
import zlib

import numpy as np
import pytest

from panmatch.formats._gzip import start_of_gzip, unpack_gzip

CONTENT = np.random.default_rng(1).integers(0, 9, 5000, np.uint8).repeat(7).tobytes()


def with_header(flags: int, extra: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    data = packer.compress(CONTENT) + packer.flush()
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
    return head + extra + data + struct.pack("<II", zlib.crc32(CONTENT), len(CONTENT))


HEADERS = {
    "plain": (0, b""),
    "extra field": (4, struct.pack("<H", 3) + b"abc"),
    "name and comment": (8 | 16, b"case.nii\0a comment\0"),
    "checked header": (2, b"\1\2"),
    "everything": (2 | 4 | 8 | 16, struct.pack("<H", 0) + b"a\0b\0\1\2"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_every_header_is_understood(name: str) -> None:
    found = unpack_gzip(with_header(*HEADERS[name]), len(CONTENT))
    assert found is not None
    assert found.tobytes() == CONTENT


def test_files_of_gzip_are_unpacked() -> None:
    file = io.BytesIO()
    with gzip.GzipFile("case.nii", "wb", fileobj=file) as packed:
        packed.write(CONTENT)
    found = unpack_gzip(file.getvalue(), len(CONTENT))
    assert found is not None
    assert found.tobytes() == CONTENT
    assert start_of_gzip(file.getvalue(), 100) == CONTENT[:100]


@pytest.mark.parametrize("size", [0, len(CONTENT) - 1, len(CONTENT) + 1])
def test_another_size_is_refused(size: int) -> None:
    assert unpack_gzip(gzip.compress(CONTENT), size) is None


def test_anything_but_one_undamaged_member_is_refused() -> None:
    packed = gzip.compress(CONTENT)
    for changed in (
        b"",
        packed[:9],
        packed[:12],
        b"BZh" + packed[3:],
        packed + packed,
        packed + b"\0",
        gzip.compress(b"") + packed,
        with_header(8, b""[:0]).replace(b"\0", b"\1"),
    ):
        assert unpack_gzip(changed, len(CONTENT)) is None
    for at in range(10, len(packed), 97):
        assert (
            unpack_gzip(packed[:at] + bytes([packed[at] ^ 4]) + packed[at + 1 :], len(CONTENT))
            is None
        )


def test_a_damaged_start_is_empty() -> None:
    assert start_of_gzip(b"not a gzip file", 10) == b""
