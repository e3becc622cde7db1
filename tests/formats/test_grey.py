"""Images to look at: grey levels of every format, and how they find their cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import numpy.typing as npt
import pytest
import tifffile
from PIL import Image

from panmatch.datasets import find_images
from panmatch.errors import FileError
from panmatch.formats import image_name, read_grey

Values = npt.NDArray[np.float64]

RAMP: Values = np.linspace(-1000.5, 3000.25, 24 * 5).reshape(24, 5)


def expected(values: Values) -> npt.NDArray[np.float64]:
    """Return levels by their definition: percentile 1 is 0, percentile 99 is 255."""
    low, high = np.percentile(values, (1, 99))
    levels: Values = np.clip((values - low) / (high - low), 0, 1) * 255
    return levels


def save_itk(path: Path, values: Values) -> None:
    sitk = pytest.importorskip("SimpleITK")
    sitk.WriteImage(sitk.GetImageFromArray(values.T), str(path))


WRITERS: dict[str, Callable[[Path, Values], object]] = {
    ".nii": lambda path, values: nibabel.save(nibabel.Nifti1Image(values, np.eye(4)), path),
    ".nii.gz": lambda path, values: nibabel.save(nibabel.Nifti1Image(values, np.eye(4)), path),
    ".nrrd": save_itk,
    ".mha": save_itk,
    ".tif": lambda path, values: tifffile.imwrite(path, values),
    ".npy": lambda path, values: np.save(path, values),
    ".npz": lambda path, values: np.savez(path, values),
}


@pytest.mark.parametrize("suffix", list(WRITERS))
def test_every_format_gives_the_same_grey_levels(tmp_path: Path, suffix: str) -> None:
    WRITERS[suffix](tmp_path / f"a{suffix}", RAMP)
    image = read_grey(tmp_path / f"a{suffix}")
    assert image.labels.dtype == np.uint8
    assert np.array_equal(image.labels, np.rint(expected(RAMP)))


def test_outliers_do_not_decide_what_is_white(tmp_path: Path) -> None:
    values = np.arange(1000.0).reshape(20, 50)
    values[0, 0], values[3, 3] = -1e9, 1e12
    np.save(tmp_path / "a.npy", values)
    levels = read_grey(tmp_path / "a.npy").labels
    assert abs(int(levels[10, 0]) - 128) <= 1
    assert (levels[0, 0], levels[3, 3]) == (0, 255)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([[np.nan, 0.0], [1.0, np.inf]], [[0, 0], [255, 255]]),
        ([[np.nan, np.nan]], [[0, 0]]),
        ([[7.0, 7.0], [7.0, 7.0]], [[0, 0], [0, 0]]),
        ([[False, True]], [[0, 255]]),
    ],
)
def test_odd_values_have_a_level(tmp_path: Path, values: object, levels: object) -> None:
    np.save(tmp_path / "a.npy", np.array(values))
    found = read_grey(tmp_path / "a.npy").labels
    clipped = np.where(found < 128, 0, 255)
    assert clipped.tolist() == levels


def test_a_few_bright_voxels_on_black_are_seen(tmp_path: Path) -> None:
    values = np.zeros((30, 30))
    values[4, 5] = 9.0  # less than 1 %
    np.save(tmp_path / "a.npy", values)
    levels = read_grey(tmp_path / "a.npy").labels
    assert levels[4, 5] == 255
    assert np.count_nonzero(levels) == 1


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif"])
def test_colours_become_their_brightness(tmp_path: Path, suffix: str) -> None:
    colours = np.zeros((16, 64, 3), np.uint8)
    colours[:, 32:] = 100
    colours[:, 48:] = 200
    path = tmp_path / f"a{suffix}"
    if suffix == ".tif":
        tifffile.imwrite(path, colours, photometric="rgb")
    else:
        Image.fromarray(colours).save(path)
    levels = read_grey(path).labels
    assert levels.shape == (16, 64)
    assert levels[:, 4].max() <= 3
    assert np.abs(levels[:, 40].astype(int) - 128).max() <= 6
    assert levels[:, 60].min() >= 250


def test_sixteen_bits_of_grey_are_kept(tmp_path: Path) -> None:
    values = np.arange(4000, dtype=np.uint16).reshape(40, 100) * 16
    Image.fromarray(values).save(tmp_path / "a.png")
    levels = read_grey(tmp_path / "a.png").labels
    assert np.abs(levels - expected(values.astype(np.float64))).max() <= 0.5


def test_axes_and_affine_are_those_of_the_file(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(3, 4, 5))
    affine = np.diag([-1.0, 2.0, 3.0, 1.0])
    nibabel.save(nibabel.Nifti1Image(values, affine), tmp_path / "a.nii.gz")
    image = read_grey(tmp_path / "a.nii.gz")
    assert (image.labels.shape, image.orientation) == ((3, 4, 5), "LAS")
    assert np.array_equal(image.labels, np.rint(expected(values)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "does not have the suffix of an image. Accepted: .nii, "),
        ("a.png", b"broken", "cannot be read as an image"),
        ("a.nii.gz", b"broken", "cannot be read as a NIfTI image"),
    ],
)
def test_what_is_not_an_image_is_an_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=message) as caught:
        read_grey(tmp_path / name)
    assert str(caught.value).startswith(f"path={str(tmp_path / name)!r}")


def test_values_must_be_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((2, 2), complex))
    with pytest.raises(FileError, match="an image to look at must have one number per voxel"):
        read_grey(tmp_path / "a.npy")


def test_images_are_listed_by_their_cases(tmp_path: Path) -> None:
    for name in ("a.png", "b_0000.nii.gz", "b_0001.nii.gz", "c.jpg", "c_0000.png", "sub/d.tif",
                 "notes.txt", ".hidden.png", "e.ome.tif"):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = find_images(tmp_path)
    cases = {case: found[case].name for case in ("a", "b", "c", "sub/d", "e")}
    assert cases == {
        "a": "a.png", "b": "b_0000.nii.gz", "c": "c.jpg", "sub/d": "d.tif", "e": "e.ome.tif",
    }  # fmt: skip
    assert "notes" not in found
    assert image_name(tmp_path / "notes.txt") is None


def test_folders_without_images_are_errors(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    with pytest.raises(FileError) as caught:
        find_images(nowhere)
    assert str(caught.value) == f"images={str(nowhere)!r} is not a folder."
    assert caught.value.for_command_line() == f"--images {str(nowhere)!r} is not a folder."
    with pytest.raises(FileError) as caught:
        find_images(tmp_path)
    assert str(caught.value) == f"images={str(tmp_path)!r} contains no images."
