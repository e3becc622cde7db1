"""PNG and TIFF: what counts as a label, and the order of axes and spacings."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from panmatch.errors import FileError
from panmatch.formats import _png, _png_pixels, read_labels
from tests.formats.volumes import numbered, save_png, save_tiff


def save_mode(path: Path, mode: str, array: npt.NDArray[Any]) -> None:
    from PIL import Image

    Image.fromarray(array).convert(mode).save(path)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_grey_values_are_labels(tmp_path: Path, dtype: str) -> None:
    written = numbered((5, 4), dtype)
    written[4, 3] = np.iinfo(dtype).max
    save_png(tmp_path / "case.png", written)
    image = read_labels(tmp_path / "case.png")
    np.testing.assert_array_equal(image.labels, written)
    assert (image.spacing, image.affine) == (None, None)


def test_bilevel_images_are_zero_and_one(tmp_path: Path) -> None:
    save_png(tmp_path / "case.png", numbered((5, 4)) % 3 == 1)
    labels = read_labels(tmp_path / "case.png").labels
    assert labels.dtype == np.uint8
    np.testing.assert_array_equal(labels, (numbered((5, 4)) % 3 == 1).astype(np.uint8))


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_palette_images_are_read_by_index_and_not_by_colour(tmp_path: Path, bits: int) -> None:
    from PIL import Image

    written = numbered((5, 4), np.int32) % 2**bits
    image = Image.fromarray(written.astype(np.uint8))
    image.putpalette([value for i in range(2**bits) for value in (255 - i, 7 * i % 256, 99)])
    image.save(tmp_path / "case.png", bits=bits, transparency=b"\x00\x80")
    np.testing.assert_array_equal(read_labels(tmp_path / "case.png").labels, written)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_grey_values_of_few_bits_are_not_stretched(tmp_path: Path, bits: int) -> None:
    written = numbered((5, 8)) % 2**bits
    path = tmp_path / "case.png"
    path.write_bytes(packed_png(written, bits))
    np.testing.assert_array_equal(read_labels(path).labels, written)


def packed_png(array: npt.NDArray[np.uint8], bits: int) -> bytes:
    height, width = array.shape
    as_bits = np.unpackbits(array[..., None], axis=-1)[..., 8 - bits :].reshape(height, -1)
    rows = b"".join(b"\0" + np.packbits(row).tobytes() for row in as_bits)
    return png_file(width, height, bits, zlib.compress(rows))


def png_file(width: int, height: int, bits: int, data: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA"])
def test_colours_are_not_labels(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "case.png"
    save_mode(path, mode, numbered((5, 4)))
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value) == (
        f"path={str(path)!r} is a colour image (mode {mode}): colours are not labels. Save one "
        f"integer per pixel; if the colours are COCO segment ids, read them with encoding: coco "
        f"or colour_ids: true in the spec."
    )


@pytest.mark.parametrize("channels", [3, 4])
def test_colour_ids_are_read_when_asked_for(tmp_path: Path, channels: int) -> None:
    colours = np.zeros((1, 3, channels), np.uint8)
    colours[0, :, :3] = [[5, 0, 0], [0, 7, 0], [1, 2, 3]]
    save_png(tmp_path / "case.png", colours)
    image = read_labels(tmp_path / "case.png", colour_ids=True)
    assert image.labels.tolist() == [[5, 7 * 256, 1 + 2 * 256 + 3 * 65536]]


def test_grey_values_are_not_colour_ids(tmp_path: Path) -> None:
    save_png(tmp_path / "case.png", numbered((5, 4)))
    with pytest.raises(FileError, match=r"^path='.*case\.png' has no colours \(mode L\)"):
        read_labels(tmp_path / "case.png", colour_ids=True)


def test_colour_ids_have_no_effect_on_other_formats(tmp_path: Path) -> None:
    np.save(tmp_path / "case.npy", numbered())
    labels = read_labels(tmp_path / "case.npy", colour_ids=True).labels
    np.testing.assert_array_equal(labels, numbered())


def test_large_images_are_not_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    save_png(tmp_path / "case.png", numbered((50, 40)))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    np.testing.assert_array_equal(read_labels(tmp_path / "case.png").labels, numbered((50, 40)))


def test_sizes_that_no_file_can_hold_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "case.png"
    path.write_bytes(png_file(60000, 60000, 8, zlib.compress(b"")))
    with pytest.raises(FileError, match=r"case\.png'.*60000 × 60000 pixels do not fit in 65 bytes"):
        read_labels(path)
    monkeypatch.setattr(_png_pixels, "MOST_BYTES", 0)
    monkeypatch.setattr(_png, "MOST_PIXELS", 19)
    save_png(path, numbered((5, 4)))
    with pytest.raises(FileError, match=r"case\.png'.*4 × 5 pixels are too many"):
        read_labels(path)


def test_ome_spacing_follows_the_axes_of_the_array(tmp_path: Path) -> None:
    sizes = {"PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5, "PhysicalSizeZ": 2.0}
    save_tiff(tmp_path / "case.ome.tif", numbered(), metadata={"axes": "ZYX", **sizes})
    image = read_labels(tmp_path / "case.ome.tif")
    np.testing.assert_array_equal(image.labels, numbered())
    assert (image.spacing, image.unit) == ((2.0, 0.5, 0.25), "µm")
    assert image.affine is None


def test_ome_lengths_are_given_in_micrometres(tmp_path: Path) -> None:
    units = {
        "PhysicalSizeX": 250.0,
        "PhysicalSizeXUnit": "nm",
        "PhysicalSizeY": 0.5,
        "PhysicalSizeYUnit": "µm",
        "PhysicalSizeZ": 0.002,
        "PhysicalSizeZUnit": "mm",
    }
    save_tiff(tmp_path / "case.ome.tif", numbered(), metadata={"axes": "ZYX", **units})
    image = read_labels(tmp_path / "case.ome.tif")
    assert image.spacing == pytest.approx((2.0, 0.5, 0.25))
    assert image.unit == "µm"


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5},
        {"PhysicalSizeX": 1.0, "PhysicalSizeY": 1.0, "PhysicalSizeZ": 1.0}
        | {f"PhysicalSize{axis}Unit": "pixel" for axis in "XYZ"},
    ],
)
def test_an_incomplete_ome_spacing_is_none(tmp_path: Path, sizes: dict[str, Any]) -> None:
    save_tiff(tmp_path / "case.ome.tif", numbered(), metadata={"axes": "ZYX", **sizes})
    image = read_labels(tmp_path / "case.ome.tif")
    assert (image.spacing, image.unit) == (None, "voxel")


def test_single_channels_and_times_are_dropped_with_their_axes(tmp_path: Path) -> None:
    sizes = {"PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5, "PhysicalSizeZ": 2.0}
    written = numbered().reshape(1, 5, 1, 4, 3)
    save_tiff(tmp_path / "case.ome.tif", written, metadata={"axes": "TZCYX", **sizes})
    image = read_labels(tmp_path / "case.ome.tif")
    np.testing.assert_array_equal(image.labels, numbered())
    assert image.spacing == (2.0, 0.5, 0.25)


def test_a_single_slice_is_flat_and_has_two_spacings(tmp_path: Path) -> None:
    sizes = {"PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5, "PhysicalSizeZ": 2.0}
    save_tiff(tmp_path / "case.ome.tif", numbered((1, 4, 3)), metadata={"axes": "ZYX", **sizes})
    image = read_labels(tmp_path / "case.ome.tif")
    assert image.labels.shape == (4, 3)
    assert image.spacing == (0.5, 0.25)


def test_narrow_images_keep_their_two_axes(tmp_path: Path) -> None:
    for shape in ((1, 1), (4, 1), (1, 4)):
        save_tiff(tmp_path / "case.tif", numbered(shape))
        np.testing.assert_array_equal(read_labels(tmp_path / "case.tif").labels, numbered(shape))


def test_stacks_along_time_have_no_spacing(tmp_path: Path) -> None:
    sizes = {"PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5}
    save_tiff(tmp_path / "case.ome.tif", numbered(), metadata={"axes": "TYX", **sizes})
    image = read_labels(tmp_path / "case.ome.tif")
    np.testing.assert_array_equal(image.labels, numbered())
    assert image.spacing is None


@pytest.mark.parametrize(
    ("unit", "spacing", "read_unit"),
    [
        ("um", (2.0, 0.5, 0.25), "µm"),
        ("micron", (2.0, 0.5, 0.25), "µm"),
        ("\\u00B5m", (2.0, 0.5, 0.25), "µm"),
        ("mm", (2000.0, 500.0, 250.0), "µm"),
        (None, (2.0, 0.5, 0.25), "voxel"),
        ("pixel", None, "voxel"),
    ],
)
def test_imagej_spacing_follows_the_axes_of_the_array(
    tmp_path: Path, unit: str | None, spacing: tuple[float, ...] | None, read_unit: str
) -> None:
    save_tiff(
        tmp_path / "case.tif",
        numbered(dtype=np.uint16),
        imagej=True,
        resolution=(4.0, 2.0),
        metadata={"axes": "ZYX", "spacing": 2.0} | ({"unit": unit} if unit else {}),
    )
    image = read_labels(tmp_path / "case.tif")
    np.testing.assert_array_equal(image.labels, numbered())
    assert (image.spacing, image.unit) == (spacing, read_unit)


def test_imagej_without_a_calibration_has_no_spacing(tmp_path: Path) -> None:
    save_tiff(tmp_path / "flat.tif", numbered((5, 4)), imagej=True)
    save_tiff(tmp_path / "deep.tif", numbered(), imagej=True, metadata={"axes": "ZYX"})
    assert read_labels(tmp_path / "flat.tif").spacing is None
    assert read_labels(tmp_path / "deep.tif").spacing is None


def test_a_printing_resolution_is_not_a_spacing(tmp_path: Path) -> None:
    save_tiff(tmp_path / "case.tif", numbered(), resolution=(300, 300), resolutionunit="INCH")
    image = read_labels(tmp_path / "case.tif")
    assert (image.spacing, image.unit) == (None, "voxel")


def test_a_resolution_per_centimetre_is_the_unit_where_imagej_names_none(tmp_path: Path) -> None:
    options = {"resolution": (4.0, 2.0), "resolutionunit": "CENTIMETER"}
    metadata = {"axes": "ZYX", "spacing": 2.0}
    save_tiff(tmp_path / "case.tif", numbered(), imagej=True, metadata=metadata, **options)
    image = read_labels(tmp_path / "case.tif")
    assert (image.spacing, image.unit) == ((20000.0, 5000.0, 2500.0), "µm")


@pytest.mark.parametrize("metadata", [None, {}])
def test_pages_written_one_by_one_are_one_stack(
    tmp_path: Path, metadata: dict[str, Any] | None
) -> None:
    import tifffile

    with tifffile.TiffWriter(tmp_path / "case.tif") as file:
        for page in numbered():
            file.write(page, metadata=metadata)
    np.testing.assert_array_equal(read_labels(tmp_path / "case.tif").labels, numbered())


def test_pages_of_different_shapes_are_refused(tmp_path: Path) -> None:
    import tifffile

    path = tmp_path / "case.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(numbered((5, 4)))
        file.write(numbered((3, 4)))
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value) == (
        f"path={str(path)!r} contains 2 images, of shape (5, 4), (3, 4): store one label image per "
        f"file."
    )


@pytest.mark.parametrize("channels", [3, 4])
def test_colour_stacks_are_refused(tmp_path: Path, channels: int) -> None:
    path = tmp_path / "case.tif"
    save_tiff(path, np.zeros((5, 6, channels), np.uint8), photometric="rgb")
    with pytest.raises(FileError, match=r"contains colours .* one integer per pixel") as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"path={str(path)!r} ")


def test_three_slices_are_not_colours(tmp_path: Path) -> None:
    save_tiff(tmp_path / "case.tif", numbered((3, 5, 4)), photometric="minisblack")
    np.testing.assert_array_equal(read_labels(tmp_path / "case.tif").labels, numbered((3, 5, 4)))


def test_compressed_and_foreign_stacks_are_read(tmp_path: Path) -> None:
    save_tiff(tmp_path / "case.tif", numbered(dtype=np.int32), compression="zlib", byteorder=">")
    np.testing.assert_array_equal(read_labels(tmp_path / "case.tif").labels, numbered())


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32"])
def test_lzw_compressed_stacks_are_read_though_tifffile_leaves_them_to_others(
    tmp_path: Path, dtype: str
) -> None:
    from PIL import Image

    stack = np.arange(24).reshape(2, 3, 4).astype(dtype)
    pages = [Image.fromarray(page) for page in stack]
    path = tmp_path / "lzw.tif"
    pages[0].save(path, save_all=True, append_images=pages[1:], compression="tiff_lzw")
    labels = read_labels(path).labels
    assert labels.dtype == dtype
    assert np.array_equal(labels, stack)
