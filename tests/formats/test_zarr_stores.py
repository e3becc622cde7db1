"""Zarr arrays, groups and OME-Zarr images, in both versions of the format."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.errors import FileError
from panmatch.formats import read_labels
from tests.formats.volumes import numbered, save_zarr

pytestmark = pytest.mark.parametrize("version", [2, 3])

SPACE = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]


def new_group(path: Path, version: int, **attributes: Any) -> Any:
    import zarr

    group = zarr.open_group(str(path), mode="w", zarr_format=version)  # type: ignore[arg-type]
    group.attrs.update(attributes)
    return group


def ome(version: int, content: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes as OME-Zarr 0.4 (Zarr 2) and 0.5 (Zarr 3) place them."""
    return content if version == 2 else {"ome": {"version": "0.5", **content}}


def multiscales(
    scale: list[float], axes: list[Any] | None = SPACE, whole: list[float] | None = None
) -> dict[str, Any]:
    coarse = [2 * step for step in scale]
    image: dict[str, Any] = {
        "datasets": [
            {
                "path": name,
                "coordinateTransformations": [
                    {"type": "scale", "scale": level},
                    {"type": "translation", "translation": [7.0] * len(scale)},
                ],
            }
            for name, level in (("fine", scale), ("coarse", coarse))
        ]
    }
    if axes is not None:
        image["axes"] = axes
    if whole is not None:
        image["coordinateTransformations"] = [{"type": "scale", "scale": whole}]
    return {"multiscales": [image]}


def fill(group: Any, array: Any) -> None:
    group.create_array("coarse", data=array[::2])
    group.create_array("fine", data=array)


def test_an_array_is_read(tmp_path: Path, version: int) -> None:
    save_zarr(tmp_path / "case.zarr", numbered(dtype=np.int32), zarr_format=version)
    image = read_labels(tmp_path / "case.zarr")
    assert image.labels.dtype == np.int32
    np.testing.assert_array_equal(image.labels, numbered())
    assert (image.spacing, image.affine, image.unit) == (None, None, "voxel")


def test_the_only_array_of_a_group_is_read(tmp_path: Path, version: int) -> None:
    new_group(tmp_path / "case.zarr", version).create_array("mask", data=numbered())
    np.testing.assert_array_equal(read_labels(tmp_path / "case.zarr").labels, numbered())


def test_a_group_of_several_arrays_lists_them(tmp_path: Path, version: int) -> None:
    path = tmp_path / "case.zarr"
    group = new_group(path, version)
    group.create_array("one", data=numbered())
    group.create_array("two", data=numbered() + 100)
    group.create_group("three")
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value) == (
        f"path={str(path)!r} must contain one array or an OME-Zarr image; it contains the arrays "
        f"['one', 'two'] and the groups ['three']. Pass the path of one of them."
    )
    np.testing.assert_array_equal(read_labels(path / "two").labels, numbered() + 100)


def test_the_finest_level_is_read_with_its_scale(tmp_path: Path, version: int) -> None:
    content = multiscales([2.0, 0.5, 0.25])
    fill(new_group(tmp_path / "case.ome.zarr", version, **ome(version, content)), numbered())
    image = read_labels(tmp_path / "case.ome.zarr")
    np.testing.assert_array_equal(image.labels, numbered())
    assert (image.spacing, image.unit) == ((2.0, 0.5, 0.25), "µm")


def test_the_scale_of_all_levels_is_a_factor(tmp_path: Path, version: int) -> None:
    content = multiscales([2.0, 0.5, 0.25], whole=[1.0, 3.0, 5.0])
    fill(new_group(tmp_path / "case.zarr", version, **ome(version, content)), numbered())
    assert read_labels(tmp_path / "case.zarr").spacing == (2.0, 1.5, 1.25)


def test_lengths_are_given_in_micrometres(tmp_path: Path, version: int) -> None:
    units = [SPACE[0], SPACE[1] | {"unit": "nanometer"}, SPACE[2] | {"unit": "millimeter"}]
    content = multiscales([2.0, 500.0, 0.25], units)
    fill(new_group(tmp_path / "case.zarr", version, **ome(version, content)), numbered())
    image = read_labels(tmp_path / "case.zarr")
    assert (image.spacing, image.unit) == ((2.0, 0.5, 250.0), "µm")


def test_a_scale_without_units_is_in_voxels(tmp_path: Path, version: int) -> None:
    bare = [{"name": axis["name"], "type": "space"} for axis in SPACE]
    for i, axes in enumerate([bare, [SPACE[0], *bare[1:]]]):
        path = tmp_path / f"case_{i}.zarr"
        content = multiscales([2.0, 0.5, 0.25], axes)
        fill(new_group(path, version, **ome(version, content)), numbered())
        image = read_labels(path)
        assert (image.spacing, image.unit) == ((2.0, 0.5, 0.25), "voxel")


def test_a_unit_that_is_not_a_length_leaves_no_spacing(tmp_path: Path, version: int) -> None:
    content = multiscales([2.0, 0.5, 0.25], [axis | {"unit": "pixel"} for axis in SPACE])
    fill(new_group(tmp_path / "case.zarr", version, **ome(version, content)), numbered())
    image = read_labels(tmp_path / "case.zarr")
    assert (image.spacing, image.unit) == (None, "voxel")


def test_single_times_and_channels_are_dropped(tmp_path: Path, version: int) -> None:
    axes = [{"name": "t", "type": "time", "unit": "second"}, SPACE[0]]
    axes += [{"name": "c", "type": "channel"}, *SPACE[1:]]
    content = multiscales([60.0, 2.0, 1.0, 0.5, 0.25], axes)
    group = new_group(tmp_path / "case.zarr", version, **ome(version, content))
    fill(group, numbered().reshape(1, 5, 1, 4, 3))
    image = read_labels(tmp_path / "case.zarr")
    np.testing.assert_array_equal(image.labels, numbered())
    assert image.spacing == (2.0, 0.5, 0.25)


def test_spatial_axes_of_length_one_stay(tmp_path: Path, version: int) -> None:
    content = multiscales([2.0, 0.5, 0.25])
    fill(new_group(tmp_path / "case.zarr", version, **ome(version, content)), numbered((1, 4, 3)))
    image = read_labels(tmp_path / "case.zarr")
    np.testing.assert_array_equal(image.labels, numbered((1, 4, 3)))
    assert image.spacing == (2.0, 0.5, 0.25)


def test_several_times_stay_and_leave_no_spacing(tmp_path: Path, version: int) -> None:
    axes = [{"name": "t", "type": "time"}, *SPACE[1:]]
    content = multiscales([60.0, 0.5, 0.25], axes)
    fill(new_group(tmp_path / "case.zarr", version, **ome(version, content)), numbered())
    image = read_labels(tmp_path / "case.zarr")
    np.testing.assert_array_equal(image.labels, numbered())
    assert image.spacing is None


@pytest.mark.parametrize("axes", [None, ["t", "c", "z", "y", "x"]])
def test_early_axes_have_names_only_or_none(
    tmp_path: Path, version: int, axes: list[str] | None
) -> None:
    content = multiscales([1.0, 1.0, 2.0, 0.5, 0.25], axes)
    group = new_group(tmp_path / "case.zarr", version, **ome(version, content))
    fill(group, numbered().reshape(1, 1, 5, 4, 3))
    image = read_labels(tmp_path / "case.zarr")
    np.testing.assert_array_equal(image.labels, numbered())
    assert image.spacing == (2.0, 0.5, 0.25)


def save_labelled_image(path: Path, version: int, names: list[str]) -> None:
    """Write an intensity image with label images, numbered from 0 and from 100."""
    content = ome(version, multiscales([2.0, 0.5, 0.25]))
    group = new_group(path, version, **content)
    fill(group, np.full((5, 4, 3), 999, np.uint16))
    labels = group.create_group("labels", attributes=ome(version, {"labels": names}))
    for i, name in enumerate(names):
        content = ome(version, multiscales([4.0, 1.0, 0.5]))
        fill(labels.create_group(name, attributes=content), numbered() + 100 * i)


def test_labels_of_an_image_are_read_and_not_the_image(tmp_path: Path, version: int) -> None:
    save_labelled_image(tmp_path / "case.ome.zarr", version, ["cells"])
    image = read_labels(tmp_path / "case.ome.zarr")
    np.testing.assert_array_equal(image.labels, numbered())
    assert image.spacing == (4.0, 1.0, 0.5)


def test_several_label_images_are_listed_and_each_can_be_read(tmp_path: Path, version: int) -> None:
    path = tmp_path / "case.ome.zarr"
    save_labelled_image(path, version, ["cells", "nuclei"])
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value) == (
        f"path={str(path)!r} contains several label images: 'cells', 'nuclei'. Pass the path of "
        f"one of them, such as {str(path / 'labels' / 'cells')!r}."
    )
    labels = read_labels(path / "labels" / "nuclei").labels
    np.testing.assert_array_equal(labels, numbered() + 100)


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ({"multiscales": [{}]}, "KeyError('datasets')"),
        ({"multiscales": [{"datasets": []}]}, "IndexError"),
        (multiscales([2.0, 0.5, 0.25], SPACE[:2]), "its metadata list 2 axes for an array of 3"),
        (multiscales([2.0, 0.5]), "its scale does not have 3 numbers, one per axis"),
        (multiscales([2.0, 0.5, 0.25]) | {"drop": True}, "fine"),
    ],
)
def test_broken_metadata_are_errors_that_name_the_store(
    tmp_path: Path, version: int, content: dict[str, Any], cause: str
) -> None:
    path = tmp_path / "case.zarr"
    group = new_group(path, version, **ome(version, content))
    if "drop" not in content:
        fill(group, numbered())
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"path={str(path)!r} cannot be read as a Zarr store: ")
    assert cause in str(caught.value)


def test_a_damaged_chunk_is_an_error(tmp_path: Path, version: int) -> None:
    path = tmp_path / "case.zarr"
    save_zarr(path, numbered(), zarr_format=version)
    chunk = path / ("0.0.0" if version == 2 else "c/0/0/0")
    chunk.write_bytes(b"damaged")
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"path={str(path)!r} cannot be read as a Zarr store: ")


def test_damaged_metadata_are_an_error(tmp_path: Path, version: int) -> None:
    path = tmp_path / "case.zarr"
    save_zarr(path, numbered(), zarr_format=version)
    (path / (".zarray" if version == 2 else "zarr.json")).write_bytes(b"{")
    with pytest.raises(FileError) as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"path={str(path)!r} cannot be read as a Zarr store: ")


def test_stray_files_in_a_group_do_not_warn(tmp_path: Path, version: int) -> None:
    path = tmp_path / "case.zarr"
    new_group(path, version).create_array("mask", data=numbered())
    (path / ".DS_Store").write_bytes(b"\0")
    (path / "notes").mkdir()
    np.testing.assert_array_equal(read_labels(path).labels, numbered())


def test_pickled_chunks_are_never_loaded(tmp_path: Path, version: int) -> None:
    import pickle

    path = tmp_path / "case.zarr"
    save_zarr(path, numbered((2, 2), np.int32), zarr_format=version)
    if version == 3:
        metadata = json.loads((path / "zarr.json").read_text())
        metadata["data_type"] = "object"
        (path / "zarr.json").write_text(json.dumps(metadata))
    else:
        metadata = json.loads((path / ".zarray").read_text())
        metadata |= {"filters": [{"id": "pickle", "protocol": 5}], "compressor": None}
        (path / ".zarray").write_text(json.dumps(metadata))
        (path / "0.0").write_bytes(pickle.dumps(Unpickled(tmp_path / "unpickled")))
    with pytest.raises(FileError, match=r"case\.zarr' cannot be read as a Zarr store"):
        read_labels(path)
    assert not (tmp_path / "unpickled").exists()


class Unpickled:
    """Leave a mark where it was loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)
