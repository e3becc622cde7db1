"""The inflater gives the bytes of zlib, and refuses what zlib refuses."""

import zlib

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from panmatch import native

Bytes = npt.NDArray[np.uint8]


def deflated(content: bytes, level: int = 6, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    return packer.compress(content) + packer.flush()


def inflated(data: bytes, room: int) -> bytes | None:
    """Return what comes out, with a margin that must stay untouched; None if it is refused."""
    out = np.full(room + 64, 0xA5, np.uint8)
    read, written = native.inflate(np.frombuffer(data, np.uint8), out[:room])
    assert (out[room:] == 0xA5).all()
    if written < 0:
        return None
    assert 0 <= read <= len(data)
    return out[:written].tobytes()


def by_zlib(data: bytes) -> bytes | None:
    unpacker = zlib.decompressobj(-15)
    try:
        content = unpacker.decompress(data)
    except zlib.error:
        return None
    return content if unpacker.eof else None


def runs(rng: np.random.Generator, n: int, period: int) -> bytes:
    """Return bytes as in label images: long runs of a few numbers of `period` bytes."""
    numbers = rng.integers(0, 256, (20, period), np.uint8)
    lengths = rng.integers(1, 400, n // 200 + 2)
    return numbers[np.repeat(rng.integers(0, 20, len(lengths)), lengths)].tobytes()[:n]


STRATEGIES = (
    zlib.Z_DEFAULT_STRATEGY,
    zlib.Z_FILTERED,
    zlib.Z_HUFFMAN_ONLY,
    zlib.Z_RLE,
    zlib.Z_FIXED,
)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize("period", [1, 2, 3, 4, 7, 15, 16, 17])
def test_every_kind_of_block_and_every_period_is_inflated(
    level: int, strategy: int, period: int
) -> None:
    rng = np.random.default_rng(period)
    noise = rng.integers(0, 256, 5000, np.uint8).tobytes()
    for content in (b"", b"a", runs(rng, 200_000, period), noise, noise + bytes(100_000) + noise):
        assert inflated(deflated(content, level, strategy), len(content)) == content


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.binary(max_size=40), st.integers(1, 600)), max_size=30))
def test_any_bytes_survive(pieces: list[tuple[bytes, int]]) -> None:
    content = b"".join(piece * times for piece, times in pieces)
    assert inflated(deflated(content), len(content)) == content


def test_what_follows_the_last_block_is_not_read() -> None:
    data = deflated(bytes(1000))
    out = np.empty(1000, np.uint8)
    assert native.inflate(np.frombuffer(data + b"tail", np.uint8), out) == (len(data), 1000)


def test_truncated_data_is_refused() -> None:
    data = deflated(runs(np.random.default_rng(1), 20_000, 3))
    for stop in range(len(data)):
        assert inflated(data[:stop], 20_000) is None


def test_contents_that_do_not_fit_are_refused() -> None:
    content = runs(np.random.default_rng(1), 20_000, 3)
    for level in (0, 1, 9):
        data = deflated(content, level)
        for room in (0, 1, 300, len(content) - 300, len(content) - 1):
            assert inflated(data, room) is None
        assert inflated(data, len(content) + 500) == content


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_damaged_data_gives_what_zlib_gives(data: st.DataObject) -> None:
    content = runs(np.random.default_rng(data.draw(st.integers(0, 9))), 3000, 3)
    packed = bytearray(deflated(content, data.draw(st.sampled_from([0, 1, 6]))))
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    theirs = by_zlib(bytes(packed))
    ours = inflated(bytes(packed), 100_000)
    assert ours == (theirs if theirs is None or len(theirs) <= 100_000 else None)


@settings(deadline=None, max_examples=400)
@given(st.binary(max_size=120))
def test_arbitrary_data_gives_what_zlib_gives(data: bytes) -> None:
    theirs = by_zlib(data)
    ours = inflated(data, 200_000)
    assert ours == (theirs if theirs is None or len(theirs) <= 200_000 else None)
