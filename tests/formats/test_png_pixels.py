"""PNG files decoded natively have the pixels that Pillow reads; all others are left to Pillow."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from panmatch import native
from panmatch.formats import read_labels
from panmatch.formats._png_pixels import decode_pixels

Values = npt.NDArray[Any]


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_bytes(
    lines: bytes, width: int, height: int, bits: int, colour: int, *more: bytes, interlace: int = 0
) -> bytes:
    """Return a file from filtered lines; `more` chunks come before the pixels."""
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlace)
    data = zlib.compress(lines)
    body = [chunk(b"IHDR", header), *more]
    body += [chunk(b"IDAT", data[:7]), chunk(b"IDAT", data[7:]), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


def expected(kind: int, left: Values, above: Values, corner: Values) -> Values:
    """Return what a filter of the standard expects, for one pixel."""
    if kind == 3:
        return (left + above) // 2
    if kind == 4:
        start = left + above - corner
        a, b, c = abs(start - left), abs(start - above), abs(start - corner)
        return np.where((a <= b) & (a <= c), left, np.where(b <= c, above, corner))
    return {0: 0 * left, 1: left, 2: above}[kind]


def filtered(pixels: Values, kinds: list[int]) -> bytes:
    """Return the lines of an image of bytes, shape (height, width, bytes), filtered by row."""
    padded = np.pad(pixels.astype(int), ((1, 0), (1, 0), (0, 0)))
    lines = []
    for y, kind in enumerate(kinds, start=1):
        row = [
            padded[y, x] - expected(kind, padded[y, x - 1], padded[y - 1, x], padded[y - 1, x - 1])
            for x in range(1, padded.shape[1])
        ]
        lines.append(bytes([kind]) + (np.array(row) % 256).astype(np.uint8).tobytes())
    return b"".join(lines)


def numbers_of(pixels: Values) -> Values:
    weights = {1: [1], 2: [256, 1], 3: [1, 256, 65536]}[pixels.shape[-1]]
    numbers: Values = (pixels.astype(np.uint32) * np.array(weights, np.uint32)).sum(-1)
    return numbers


DTYPES = {1: np.uint8, 2: np.uint16, 3: np.uint32}


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_every_filter_is_undone(data: st.DataObject) -> None:
    n_bytes = data.draw(st.sampled_from([1, 2, 3]))
    height, width = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 70))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    colours = rng.integers(0, 256, (data.draw(st.integers(1, 5)), n_bytes))
    blocks = rng.integers(0, len(colours), (height, width // data.draw(st.integers(1, 40)) + 1))
    pixels = colours[blocks.repeat(40, 1)[:, :width]]
    kinds = data.draw(st.lists(st.integers(0, 4), min_size=height, max_size=height))
    out = np.empty((height, width), DTYPES[n_bytes])
    stream = np.frombuffer(zlib.compress(filtered(pixels, kinds)), np.uint8)[2:]
    assert native.png_pixels(stream, n_bytes, out)
    np.testing.assert_array_equal(out, numbers_of(pixels))


@pytest.mark.parametrize("mode", ["L", "I;16", "P", "RGB"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (48, 61)])
def test_pixels_are_those_of_pillow(tmp_path: Path, mode: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    depth = np.uint16 if mode == "I;16" else np.uint8
    values = rng.integers(0, np.iinfo(depth).max, shape, depth).repeat(7, 0).repeat(5, 1)
    if mode == "RGB":
        values = np.stack([values, values // 3, values % 7], -1)
    image = Image.fromarray(values)
    if mode == "P":
        image.putpalette([*range(256)] * 3)
    path = tmp_path / "case.png"
    image.save(path)
    found = decode_pixels(path)
    assert found is not None
    assert found.coloured == (mode == "RGB")
    np.testing.assert_array_equal(
        found.numbers, numbers_of(values) if mode == "RGB" else np.asarray(Image.open(path))
    )


def damaged(content: bytes) -> bytes:
    return content[:60] + bytes([content[60] ^ 1]) + content[61:]


GREY = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
LINES = filtered(GREY, [0, 1, 2])
UNUSUAL: dict[str, Callable[[], bytes]] = {
    "other format": lambda: b"GIF89a",
    "empty": lambda: b"",
    "damaged": lambda: damaged(png_bytes(LINES, 4, 3, 8, 0)),
    "truncated": lambda: png_bytes(LINES, 4, 3, 8, 0)[:-20],
    "animated": lambda: png_bytes(LINES, 4, 3, 8, 0, chunk(b"acTL", bytes(8))),
    "interlaced": lambda: png_bytes(LINES, 4, 3, 8, 0, interlace=1),
    "too few lines": lambda: png_bytes(LINES[:-5], 4, 3, 8, 0),
    "too many lines": lambda: png_bytes(LINES + bytes(5), 4, 3, 8, 0),
    "unknown filter": lambda: png_bytes(b"\x05" + LINES[1:], 4, 3, 8, 0),
    "no pixels": lambda: png_bytes(b"", 0, 3, 8, 0),
    "four bits": lambda: png_bytes(bytes(9), 4, 3, 4, 0),
    "colour with opacity": lambda: png_bytes(bytes(3 * 17), 4, 3, 8, 6),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_files_are_left_to_pillow(tmp_path: Path, name: str) -> None:
    path = tmp_path / "case.png"
    path.write_bytes(png_bytes(LINES, 4, 3, 8, 0))
    found = decode_pixels(path)
    assert found is not None
    np.testing.assert_array_equal(found.numbers, GREY[..., 0])
    path.write_bytes(UNUSUAL[name]())
    assert decode_pixels(path) is None


def test_a_missing_file_is_left_to_pillow(tmp_path: Path) -> None:
    assert decode_pixels(tmp_path / "none.png") is None


def test_label_images_need_no_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "case.png"
    path.write_bytes(png_bytes(LINES, 4, 3, 8, 0))
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    np.testing.assert_array_equal(read_labels(path).labels, GREY[..., 0])
