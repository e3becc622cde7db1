"""Label files of every format come back as they were written."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from panmatch.errors import FileError
from panmatch.formats import case_name, is_label_file, read_labels
from panmatch.formats._decoding import as_stored_labels
from tests.formats import volumes
from tests.formats.volumes import numbered

Writer = Callable[[Path, npt.NDArray[Any]], None]

WRITERS: dict[str, Writer] = {
    ".nii": volumes.save_nifti,
    ".nii.gz": volumes.save_nifti,
    ".nrrd": volumes.save_itk,
    ".nhdr": volumes.save_itk,
    ".mha": volumes.save_itk,
    ".mhd": volumes.save_itk,
    ".tif": volumes.save_tiff,
    ".tiff": volumes.save_tiff,
    ".ome.tif": volumes.save_tiff,
    ".ome.tiff": volumes.save_tiff,
    ".npy": np.save,
    ".npz": lambda path, array: np.savez(path, array),
    ".zarr": volumes.save_zarr,
    ".ome.zarr": volumes.save_zarr,
}
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
# OME-XML has no name for integers of 64 bits.
STORABLE = [
    (suffix, dtype)
    for suffix in WRITERS
    for dtype in INTEGERS
    if not (suffix.startswith(".ome.tif") and dtype.endswith("64"))
]


@pytest.mark.parametrize(("suffix", "dtype"), STORABLE)
def test_what_was_written_is_read_with_its_dtype(tmp_path: Path, suffix: str, dtype: str) -> None:
    path, written = tmp_path / f"case{suffix}", numbered(dtype=dtype)
    WRITERS[suffix](path, written)
    image = read_labels(path)
    assert image.path == path
    assert image.labels.dtype == written.dtype
    np.testing.assert_array_equal(image.labels, written)


@pytest.mark.parametrize("suffix", [s for s in WRITERS if s != ".ome.zarr"])
def test_two_dimensional_images_stay_two_dimensional(tmp_path: Path, suffix: str) -> None:
    WRITERS[suffix](tmp_path / f"case{suffix}", numbered((5, 4)))
    np.testing.assert_array_equal(read_labels(tmp_path / f"case{suffix}").labels, numbered((5, 4)))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".tif", ".zarr"])
def test_booleans_become_zero_and_one(tmp_path: Path, suffix: str) -> None:
    WRITERS[suffix](tmp_path / f"case{suffix}", numbered() % 3 == 1)
    labels = read_labels(tmp_path / f"case{suffix}").labels
    assert labels.dtype == np.uint8
    np.testing.assert_array_equal(labels, (numbered() % 3 == 1).astype(np.uint8))


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".mha", ".tif", ".npy", ".npz", ".zarr"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_whole_floating_point_numbers_are_labels(tmp_path: Path, suffix: str, dtype: str) -> None:
    WRITERS[suffix](tmp_path / f"case{suffix}", numbered(dtype=dtype) - 7)
    labels = read_labels(tmp_path / f"case{suffix}").labels
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, numbered(dtype=np.int32) - 7)


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz", ".mha", ".tif", ".npy", ".npz", ".zarr"])
def test_fractions_are_refused_with_the_file_and_the_voxel(tmp_path: Path, suffix: str) -> None:
    values = numbered(dtype=np.float32)
    values[1, 2, 0] = 0.25
    path = tmp_path / f"case{suffix}"
    WRITERS[suffix](path, values)
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value) == (
        f"path={str(path)!r} holds 0.25 at voxel (1, 2, 0), which is not a label. If it is "
        f"a probability map, threshold it; if it was resampled, use nearest-neighbour "
        f"interpolation; if its header scales the values, store whole numbers instead."
    )


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([2.0**31 - 1, -(2.0**31)], np.int32),
        ([2.0**31], np.int64),
        ([-(2.0**31) - 1], np.int64),
        ([2.0**53 - 1, 1 - 2.0**53], np.int64),
        ([], np.int32),
    ],
)
def test_floats_become_the_smaller_dtype_that_fits(values: list[float], dtype: type) -> None:
    labels = as_stored_labels(np.array(values, np.float64), Path("a.npy"))
    assert labels.dtype == dtype
    assert labels.tolist() == [int(value) for value in values]


@pytest.mark.parametrize("value", [2.0**53, -(2.0**53), np.inf, -np.inf, np.nan, 0.5, -1e-9])
def test_the_first_value_that_is_not_a_label_is_shown(value: float) -> None:
    values = np.array([[1, 2, 3], [4, value, 0.75]])
    with pytest.raises(FileError, match=r"^path='a\.npy' holds .* at voxel \(1, 1\)") as caught:
        as_stored_labels(values, Path("a.npy"))
    assert f"holds {np.float64(value)} at" in str(caught.value)


def test_conversion_from_floats_keeps_the_memory_order() -> None:
    values = np.asfortranarray(numbered(dtype=np.float32))
    assert as_stored_labels(values, Path("a.npy")).flags.f_contiguous


def test_integers_and_booleans_are_not_copied() -> None:
    for values in (numbered(dtype=">u2"), numbered() > 3):
        assert np.shares_memory(as_stored_labels(values, Path("a.npy")), values)


@pytest.mark.parametrize("dtype", ["complex64", "U3", "S2", [("r", "u1"), ("g", "u1")], "M8[s]"])
def test_values_that_are_not_numbers_are_refused(tmp_path: Path, dtype: Any) -> None:
    np.save(tmp_path / "case.npy", np.zeros((2, 2), dtype))
    with pytest.raises(FileError, match=r"^path='.*case\.npy' stores values of dtype") as caught:
        read_labels(tmp_path / "case.npy")
    assert str(caught.value).endswith("integers, booleans, or whole floating-point numbers.")


def test_suffixes_are_known_in_any_case(tmp_path: Path) -> None:
    volumes.save_nifti(tmp_path / "case.nii.gz", numbered())
    path = (tmp_path / "case.nii.gz").rename(tmp_path / "Case.Nii.GZ")
    np.testing.assert_array_equal(read_labels(str(path)).labels, numbered())


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("a.b.nii.gz", "a.b"),
        ("a.nii", "a"),
        ("A.NII.GZ", "A"),
        ("a.ome.tif", "a"),
        ("a.OME.tiff", "a"),
        ("a.tif.png", "a.tif"),
        ("a.ome.zarr", "a"),
        ("a.ome.npy", "a.ome"),
    ],
)
def test_the_longest_suffix_is_not_part_of_the_case(name: str, case: str) -> None:
    assert is_label_file(f"some.folder/{name}")
    assert case_name(f"some.folder/{name}") == case


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a", "nii", ".nii.gz", "a.nii.bz2", "x.zarr/0"])
def test_other_names_are_not_label_files_and_stay_whole(name: str) -> None:
    assert not is_label_file(name)
    assert case_name(name) == Path(name).name


def test_an_unknown_suffix_lists_those_that_are_known(tmp_path: Path) -> None:
    (tmp_path / "case.jpg").touch()
    with pytest.raises(FileError) as caught:
        read_labels(tmp_path / "case.jpg")
    assert str(caught.value) == (
        f"path={str(tmp_path / 'case.jpg')!r} does not have the suffix of a label file. Accepted: "
        f".nii, .nii.gz, .nrrd, .nhdr, .mha, .mhd, .tif, .tiff, .ome.tif, .ome.tiff, .png, .npy, "
        f".npz, .zarr, .ome.zarr."
    )
    for many in (tmp_path, tmp_path / "coco.json"):
        with pytest.raises(FileError, match="of many cases, use `panmatch evaluate`"):
            read_labels(many)


def test_an_archive_may_hold_more_if_one_array_is_called_labels(tmp_path: Path) -> None:
    path = tmp_path / "case.npz"
    np.savez(path, scores=np.zeros(3), labels=numbered(), spacing=np.array([3.0, 1.0, 0.5]))
    image = read_labels(path)
    np.testing.assert_array_equal(image.labels, numbered())
    assert (image.spacing, image.unit) == ((3.0, 1.0, 0.5), "voxel")


@pytest.mark.parametrize(
    ("text", "unit"),
    [("mm", "mm"), ("millimeter", "mm"), ("µm", "µm"), ("um", "µm"), ("voxel", "voxel")],
)
def test_an_archive_may_name_the_unit_of_its_spacing(tmp_path: Path, text: str, unit: str) -> None:
    path = tmp_path / "case.npz"
    np.savez(path, mask=numbered(), spacing=np.array([0.6, 1.0, 0.1], np.float32), unit=text)
    image = read_labels(path)
    np.testing.assert_array_equal(image.labels, numbered())
    assert (image.spacing, image.unit) == ((0.6, 1.0, 0.1), unit)


@pytest.mark.parametrize("unit", ["pixel", "cm", 3, ["mm", "mm", "mm"]])
def test_an_unknown_unit_of_an_archive_is_refused(tmp_path: Path, unit: Any) -> None:
    path = tmp_path / "case.npz"
    np.savez(path, labels=numbered(), spacing=np.ones(3), unit=unit)
    with pytest.raises(FileError, match=r"^path='.*' has the unit .*: write 'mm', 'µm' or 'voxel'"):
        read_labels(path)


def test_a_unit_without_a_spacing_says_nothing(tmp_path: Path) -> None:
    np.savez(tmp_path / "case.npz", labels=numbered(), unit="mm")
    image = read_labels(tmp_path / "case.npz")
    assert (image.spacing, image.unit) == (None, "voxel")


def test_the_spacing_of_an_archive_is_not_taken_for_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "case.npz"
    np.savez(path, mask=numbered(), spacing=np.array([3.0, 1.0, 0.5]))
    np.testing.assert_array_equal(read_labels(path).labels, numbered())
    np.savez(path, spacing=np.array([3.0, 1.0, 0.5]))
    with pytest.raises(FileError, match="one called 'labels'; it contains 'spacing'"):
        read_labels(path)


def test_an_archive_of_several_arrays_lists_their_names(tmp_path: Path) -> None:
    path = tmp_path / "case.npz"
    np.savez(path, reference=numbered(), prediction=numbered())
    with pytest.raises(FileError, match=r"it contains 'reference', 'prediction'\.$") as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"path={str(path)!r} must contain a single array")


@pytest.mark.parametrize("spacing", [[1.0, 2.0], [1.0, 2.0, -3.0], [[1.0], [2.0], [3.0]], ["a"]])
def test_a_spacing_that_does_not_fit_is_refused(tmp_path: Path, spacing: list[Any]) -> None:
    path = tmp_path / "case.npz"
    np.savez(path, labels=numbered(), spacing=np.array(spacing))
    with pytest.raises(FileError, match=r"^path='.*' has an unusable array 'spacing': spacing="):
        read_labels(path)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_pickled_arrays_are_never_loaded(tmp_path: Path, suffix: str) -> None:
    path, objects = tmp_path / f"case{suffix}", np.array([{"a": 1}, None], dtype=object)
    WRITERS[suffix](path, objects)
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"path={str(path)!r} cannot be read as a NumPy ar")


def test_a_large_npy_file_is_mapped_and_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "case.npy", np.arange(70_000, dtype=np.int32).reshape(70, 1000))
    labels = read_labels(tmp_path / "case.npy").labels
    assert isinstance(labels.base, np.memmap)
    assert labels[3, 14] == 3014
    assert not labels.flags.writeable


def test_a_small_npy_file_is_read_at_once(tmp_path: Path) -> None:
    np.save(tmp_path / "case.npy", numbered())
    labels = read_labels(tmp_path / "case.npy").labels
    assert not isinstance(labels.base, np.memmap)
    np.testing.assert_array_equal(labels, numbered())
    assert not labels.flags.writeable


def test_the_readers_load_no_library_before_they_read() -> None:
    code = "import sys, panmatch.formats; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = {name.split(".")[0] for name in result.stdout.split()}
    assert "numpy" in loaded
    assert loaded.isdisjoint({"PIL", "SimpleITK", "isal", "nibabel", "scipy", "tifffile", "zarr"})


NUMBERS = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "values",
    [NUMBERS, np.asfortranarray(NUMBERS), NUMBERS.astype(">i4"), NUMBERS[:0], NUMBERS[0, 0, 0],
     NUMBERS.astype(bool), NUMBERS.astype(np.float64)],
    ids=["plain", "fortran", "big-endian", "empty", "scalar", "bool", "float"],
)  # fmt: skip
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("end", [b"", b"more"], ids=["exact", "longer"])
def test_a_small_npy_file_is_read_as_numpy_reads_it(
    tmp_path: Path, values: npt.NDArray[Any], version: tuple[int, int], end: bytes
) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, np.asarray(values), version)
        file.write(end)
    labels = np.asarray(read_labels(tmp_path / "a.npy").labels)
    np.testing.assert_array_equal(labels, np.load(tmp_path / "a.npy"))
    assert labels.shape == np.shape(values)
    assert not labels.flags.writeable or labels.dtype != np.asarray(values).dtype


def test_a_npy_file_whose_numbers_are_not_aligned_is_read(tmp_path: Path) -> None:
    head = b"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3, 4), }\n"
    start = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little")
    (tmp_path / "a.npy").write_bytes(start + head + NUMBERS.tobytes())
    labels = np.asarray(read_labels(tmp_path / "a.npy").labels)
    assert labels.flags.aligned
    np.testing.assert_array_equal(labels, NUMBERS)


def test_a_npy_file_that_was_cut_off_or_holds_objects_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", NUMBERS)
    whole = (tmp_path / "a.npy").read_bytes()
    for content in (whole[:-1], whole[:50], whole[:9], b""):
        (tmp_path / "a.npy").write_bytes(content)
        with pytest.raises(FileError, match=r"cannot be read as a NumPy array"):
            read_labels(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([None, {}]), allow_pickle=True)
    with pytest.raises(FileError, match=r"cannot be read as a NumPy array"):
        read_labels(tmp_path / "a.npy")
