"""Whatever is wrong with a file, the error names it, and nothing else is printed."""

import gzip
import logging
import os
import threading
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import nibabel
import numpy as np
import pytest

from panmatch.errors import FileError
from panmatch.formats import _decoding, read_labels
from panmatch.formats._decoding import reading_as
from tests.formats import volumes
from tests.formats.test_reading import WRITERS
from tests.formats.volumes import numbered
from tests.platforms import needs_posix

FILES = [suffix for suffix in WRITERS if not suffix.endswith(".zarr")] + [".png"]


def message_for(path: Path) -> str:
    """Return what is said when a file is read, after its name."""
    with pytest.raises(FileError) as caught:
        read_labels(path)
    prefix = f"path={str(path)!r} "
    assert str(caught.value).startswith(prefix)
    assert str(caught.value).count(str(path)) == 1
    return str(caught.value).removeprefix(prefix)


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"case{suffix}"
    if suffix == ".png":
        volumes.save_png(path, numbered((50, 40)))
    else:
        WRITERS[suffix](path, numbered((50, 40, 3), np.uint16))
    return path


@pytest.mark.parametrize("suffix", [*FILES, ".zarr"])
def test_a_missing_file_does_not_exist(tmp_path: Path, suffix: str) -> None:
    assert message_for(tmp_path / f"case{suffix}") == "does not exist."


@pytest.mark.parametrize("suffix", FILES)
def test_a_folder_is_not_a_file(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"case{suffix}").mkdir()
    assert message_for(tmp_path / f"case{suffix}") == "is a folder, not a file."


def test_a_file_is_not_a_zarr_folder(tmp_path: Path) -> None:
    (tmp_path / "case.zarr").touch()
    assert message_for(tmp_path / "case.zarr") == "is a file, not a Zarr folder."


def test_an_empty_folder_is_not_a_zarr_store(tmp_path: Path) -> None:
    (tmp_path / "case.zarr").mkdir()
    assert message_for(tmp_path / "case.zarr").startswith("cannot be read as a Zarr store: ")


@pytest.mark.parametrize("suffix", FILES)
@pytest.mark.parametrize("content", [b"", b"x", b"these are no labels\n" * 100, bytes(1000)])
def test_other_content_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], suffix: str, content: bytes
) -> None:
    path = tmp_path / f"case{suffix}"
    path.write_bytes(content)
    message = message_for(path)
    assert message.startswith("cannot be read as a")
    assert message.endswith(".")
    assert len(message) < 300
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", [s for s in FILES if s not in (".nhdr", ".mhd")])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_truncated_files_are_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, suffix: str, share: float
) -> None:
    path = written(tmp_path, suffix)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert message_for(path).startswith(("cannot be read as a", "is truncated"))
    assert caplog.records == []


def test_one_missing_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "case.nii"
    volumes.save_nifti(path, numbered((10, 10, 10)))
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    assert message_for(path) == (
        "is truncated: its header announces 1352 bytes, but there are 1351."
    )
    path.write_bytes(content + b"more")
    np.testing.assert_array_equal(read_labels(path).labels, numbered((10, 10, 10)))


@pytest.mark.parametrize("cut", [1, 4, 8])
def test_a_gzip_file_without_its_end_is_refused(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path, ".nii.gz")
    path.write_bytes(path.read_bytes()[:-cut])
    assert message_for(path) == (
        "cannot be read as a NIfTI image: Compressed file ended before the end-of-stream marker "
        "was reached."
    )


def test_a_wrong_checksum_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, ".nii.gz")
    content = bytearray(path.read_bytes())
    content[-8] ^= 1
    path.write_bytes(content)
    assert message_for(path).startswith("cannot be read as a NIfTI image: ")


def test_a_text_called_nii_gz_is_not_a_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "case.nii.gz"
    path.write_text("patient,lesions\n1,3\n")
    message = message_for(path)
    assert message.startswith("cannot be read as a NIfTI image: Not a gzipped file")
    path.write_bytes(gzip.compress(b"patient,lesions\n1,3\n"))
    assert message_for(path) == "cannot be read as a NIfTI image: it has no NIfTI header."


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        pytest.param(40, b"\xff\xff", id="dim[0]"),
        pytest.param(42, b"\x00\x80", id="dim[1]"),
        pytest.param(70, b"\xff\x7f", id="datatype"),
        pytest.param(108, b"\x00\x00\xc0\x7f", id="vox_offset NaN"),
        pytest.param(108, b"\x00\x00\x00\x00", id="vox_offset 0"),
    ],
)
def test_an_impossible_nifti_header_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], offset: int, value: bytes
) -> None:
    path = tmp_path / "case.nii"
    volumes.save_nifti(path, numbered())
    content = bytearray(path.read_bytes())
    content[offset : offset + len(value)] = value
    path.write_bytes(content)
    assert message_for(path).startswith("cannot be read as a NIfTI image: ")
    assert capfd.readouterr() == ("", "")


def test_an_odd_header_that_can_be_repaired_is_read_in_silence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "case.nii"
    volumes.save_nifti(path, numbered(), np.eye(4))
    content = bytearray(path.read_bytes())
    content[76:80] = np.float32(3).tobytes()
    path.write_bytes(content)
    np.testing.assert_array_equal(read_labels(path).labels, numbered())
    assert capfd.readouterr() == ("", "")


def test_pages_lost_at_the_end_of_a_stack_are_noticed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import tifffile

    path = tmp_path / "case.tif"
    with tifffile.TiffWriter(path) as file:
        for page in numbered():
            file.write(page)
    with tifffile.TiffFile(path) as file_read:
        last = file_read.pages[-1].offset
    path.write_bytes(path.read_bytes()[:last])
    assert message_for(path).startswith(
        "cannot be read as a TIFF image: pages are missing or damaged (invalid page offset"
    )
    assert capfd.readouterr() == ("", "")


def test_pages_that_ome_metadata_promise_are_not_filled_with_zeros(tmp_path: Path) -> None:
    path = tmp_path / "case.ome.tif"
    volumes.save_tiff(path, numbered(), metadata={"axes": "ZYX"})
    content = path.read_bytes()
    assert content.count(b'SizeZ="5"') == 1
    changed = content.replace(b'SizeZ="5"', b'SizeZ="9"').replace(b'Count="5"', b'Count="9"')
    path.write_bytes(changed)
    assert message_for(path).startswith(
        "cannot be read as a TIFF image: pages are missing or damaged"
    )


def test_a_file_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, ".npz")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", denied)
    assert message_for(path) == "cannot be read as a NumPy archive: Permission denied."


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OSError(5, "Input/output error", "a.nii"), "Input/output error"),
        (OSError("broken PNG file"), "broken PNG file"),
        (KeyError("datasets"), "KeyError('datasets')"),
        (ArithmeticError(), "ArithmeticError"),
        (ValueError("first line:\nsecond line"), "first line"),
        (ValueError("x" * 900), "x" * 200),
    ],
)
def test_causes_are_told_in_few_words(error: Exception, cause: str) -> None:
    with pytest.raises(FileError) as caught, reading_as(Path("a.nii"), "a NIfTI image"):
        raise error
    assert str(caught.value) == f"path='a.nii' cannot be read as a NIfTI image: {cause}."
    assert caught.value.__cause__ is error


def test_want_of_memory_is_not_a_damaged_file() -> None:
    with pytest.raises(MemoryError), reading_as(Path("a.nii"), "a NIfTI image"):
        raise MemoryError


def test_an_interruption_is_not_a_damaged_file() -> None:
    with pytest.raises(KeyboardInterrupt), reading_as(Path("a.nii"), "a NIfTI image"):
        raise KeyboardInterrupt


def test_warnings_are_back_after_readers_in_several_threads_are_done() -> None:
    first_in, second_in = threading.Event(), threading.Event()

    def first() -> None:
        with reading_as(Path("a.nii"), "a NIfTI image"):
            first_in.set()
            second_in.wait(10)

    thread = threading.Thread(target=first)
    before = list(warnings.filters)
    thread.start()
    first_in.wait(10)
    with reading_as(Path("b.nii"), "a NIfTI image"):
        second_in.set()
        thread.join(10)
        warnings.warn("of a library", stacklevel=1)
    assert list(warnings.filters) == before


def test_the_log_of_tifffile_works_again_after_reading(tmp_path: Path) -> None:
    volumes.save_tiff(tmp_path / "case.tif", numbered())
    read_labels(tmp_path / "case.tif")
    assert logging.getLogger("tifffile").filters == []


def test_every_suffix_is_tried_here() -> None:
    from panmatch.formats._reading import READERS

    assert {*FILES, ".zarr", ".ome.zarr"} == set(READERS)


def zeros_as_nifti(path: Path, announced: tuple[int, ...], n_bytes: int) -> Path:
    """Write a compressed volume of zeros whose header may announce another size."""
    header = nibabel.Nifti1Header()
    header.set_data_shape(announced)
    header.set_data_dtype(np.uint8)
    header["vox_offset"], header["magic"] = 352, b"n+1"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(header.binaryblock + bytes(4))
        file.write(bytes(n_bytes))
    return path


def test_a_volume_that_takes_more_than_all_memory_is_refused_before_it_is_unpacked(
    tmp_path: Path,
) -> None:
    bomb = zeros_as_nifti(tmp_path / "bomb.nii.gz", (30_000, 30_000, 30_000), 2**20)
    with pytest.raises(FileError, match=r"bomb.nii.gz' takes 27000.0 GB when unpacked, but only"):
        read_labels(bomb)


def test_no_more_of_a_compressed_volume_is_kept_than_its_header_announces(tmp_path: Path) -> None:
    path = zeros_as_nifti(tmp_path / "long.nii.gz", (8, 8, 8), 64 * 2**20)
    tracemalloc.start()
    labels = read_labels(path).labels
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert labels.shape == (8, 8, 8)
    assert peak < 8 * 2**20


def test_an_archive_that_announces_terabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.npy", bytes(1000))
        archive.getinfo("labels.npy").file_size = 2**42
    with pytest.raises(FileError, match=r"bomb.npz' takes 4398.0 GB when unpacked"):
        read_labels(path)


@pytest.mark.parametrize("suffix", [".tif", ".png", ".mha", ".zarr", ".npz", ".nii.gz"])
def test_every_reader_asks_whether_there_is_room(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, suffix)
    assert read_labels(path).labels.size > 100
    monkeypatch.setattr(_decoding, "free_bytes", lambda: 100)
    monkeypatch.setattr(_decoding, "ALWAYS_FIT", 0)
    with pytest.raises(FileError, match=r"when unpacked, but only 0\.0 GB of memory are free"):
        read_labels(path)


@needs_posix
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.nii.gz")
    with pytest.raises(FileError, match=r"pipe\.nii\.gz' is a pipe or a device, not a file"):
        read_labels(tmp_path / "pipe.nii.gz")
