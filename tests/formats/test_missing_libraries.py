"""Formats whose library is not installed: the error says how to install it."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from panmatch.errors import MissingExtraError, PanmatchError
from panmatch.formats import open_labels, read_coco_panoptic, read_labels
from tests.formats import volumes
from tests.formats.volumes import numbered


def save_lzw(path: Path) -> None:
    from PIL import Image

    Image.fromarray(numbered((5, 4))).save(path, compression="tiff_lzw")


def message_without(name: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as caught:
        read_labels(path)
    assert isinstance(caught.value, PanmatchError)
    return str(caught.value)


@pytest.mark.parametrize(
    ("file", "library", "message"),
    [
        ("a.nii", "nibabel", "NIfTI files need nibabel, which is not installed: {files}"),
        ("a.nii.gz", "nibabel", "NIfTI files need nibabel, which is not installed: {files}"),
        ("a.png", "PIL", "PNG files need PIL, which is not installed: {files}"),
        ("a.tif", "tifffile", "TIFF files need tifffile, which is not installed: {files}"),
        ("a.nrrd", "SimpleITK", "NRRD and MetaImage files need SimpleITK, which is not {itk}"),
        ("a.mha", "SimpleITK", "NRRD and MetaImage files need SimpleITK, which is not {itk}"),
        ("a.zarr", "zarr", "Zarr folders need zarr, which is not installed: {zarr}"),
    ],
)
def test_a_missing_library_is_an_error_that_prints_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, library: str, message: str
) -> None:
    path = tmp_path / file
    path.mkdir() if file.endswith(".zarr") else path.touch()
    expected = message.format(
        files="pip install 'panmatch[files]'.",
        itk="installed: pip install 'panmatch[itk]'.",
        zarr="pip install 'panmatch[zarr]'.",
    )
    assert message_without(library, path, monkeypatch) == expected


def test_stores_that_stay_in_their_chunks_need_zarr_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volumes.save_zarr(tmp_path / "a.zarr", numbered())
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'panmatch\[zarr\]'\.$"):
        open_labels(tmp_path / "a.zarr")


def test_lzw_needs_pillow_and_other_stacks_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_lzw(tmp_path / "lzw.tif")
    volumes.save_tiff(tmp_path / "plain.tif", numbered())
    assert message_without("PIL", tmp_path / "lzw.tif", monkeypatch) == (
        "TIFF files compressed with LZW need PIL, which is not installed: "
        "pip install 'panmatch[files]'."
    )
    np.testing.assert_array_equal(read_labels(tmp_path / "plain.tif").labels, numbered())


def test_coco_images_need_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gt.json"
    path.write_text('{"annotations": [{"image_id": 1, "file_name": "1.png", "segments_info": []}]}')
    side = read_coco_panoptic(path, tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"^PNG files need PIL, .*'panmatch\[files\]'\.$"):
        side.image(1, ())


def test_numpy_files_need_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIL", "SimpleITK", "isal", "nibabel", "tifffile", "zarr"):
        monkeypatch.setitem(sys.modules, name, None)
    np.save(tmp_path / "a.npy", numbered())
    np.savez(tmp_path / "a.npz", numbered())
    for name in ("a.npy", "a.npz"):
        np.testing.assert_array_equal(read_labels(tmp_path / name).labels, numbered())


def test_compressed_volumes_are_read_without_isal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "isal", None)
    volumes.save_nifti(tmp_path / "a.nii.gz", numbered(), np.eye(4))
    np.testing.assert_array_equal(read_labels(tmp_path / "a.nii.gz").labels, numbered())


@pytest.mark.parametrize("cut", [1, 4, 8, 200])
def test_truncated_volumes_are_refused_without_isal_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    volumes.save_nifti(tmp_path / "a.nii", np.random.default_rng(1).integers(0, 99, (9, 9, 9)))
    path = tmp_path / "a.nii.gz"
    path.write_bytes(gzip.compress((tmp_path / "a.nii").read_bytes())[:-cut])
    messages = []
    for missing in (False, True):
        if missing:
            monkeypatch.setitem(sys.modules, "isal", None)
        with pytest.raises(PanmatchError) as caught:
            read_labels(path)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
