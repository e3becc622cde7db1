"""Zarr stores that stay in their chunks: the same labels and grids as when they are read."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.errors import FileError
from panmatch.formats import is_chunked_file, open_labels, read_labels
from panmatch.labels import ChunkedLabels
from tests.formats.test_zarr_stores import (
    SPACE,
    fill,
    multiscales,
    new_group,
    ome,
    save_labelled_image,
)
from tests.formats.volumes import numbered, save_zarr

pytestmark = pytest.mark.parametrize("version", [2, 3])


def assert_same(path: Path) -> ChunkedLabels:
    opened, read = open_labels(path), read_labels(path)
    assert isinstance(opened.labels, ChunkedLabels)
    assert isinstance(read.labels, np.ndarray)
    np.testing.assert_array_equal(np.asarray(opened.labels), read.labels)
    assert opened.labels.dtype == read.labels.dtype
    assert (opened.spacing, opened.unit) == (read.spacing, read.unit)
    assert (opened.affine, opened.path) == (read.affine, read.path)
    assert opened.describe() == read.describe()
    return opened.labels


def test_an_array(tmp_path: Path, version: int) -> None:
    save_zarr(tmp_path / "case.zarr", numbered(dtype=np.int32), zarr_format=version)
    assert assert_same(tmp_path / "case.zarr").chunks == ((2, 2, 1), (2, 2), (2, 1))


def test_masks_are_labels(tmp_path: Path, version: int) -> None:
    save_zarr(tmp_path / "case.zarr", numbered() % 3 == 0, zarr_format=version)
    assert assert_same(tmp_path / "case.zarr").dtype == np.uint8


def test_labels_of_an_image(tmp_path: Path, version: int) -> None:
    save_labelled_image(tmp_path / "case.ome.zarr", version, ["cells"])
    assert_same(tmp_path / "case.ome.zarr")
    assert_same(tmp_path / "case.ome.zarr" / "labels" / "cells")


def test_single_times_and_channels_are_dropped(tmp_path: Path, version: int) -> None:
    axes = [{"name": "t", "type": "time", "unit": "second"}, SPACE[0]]
    axes += [{"name": "c", "type": "channel"}, *SPACE[1:]]
    content = multiscales([60.0, 2.0, 1.0, 0.5, 0.25], axes)
    group = new_group(tmp_path / "case.zarr", version, **ome(version, content))
    fill(group, numbered().reshape(1, 5, 1, 4, 3))
    labels = assert_same(tmp_path / "case.zarr")
    assert labels.shape == (5, 4, 3)
    np.testing.assert_array_equal(labels[1:3, :, 2], numbered()[1:3, :, 2])


def test_labels_stored_as_floats_are_read(tmp_path: Path, version: int) -> None:
    save_zarr(tmp_path / "case.zarr", numbered(dtype=np.float32), zarr_format=version)
    labels = open_labels(tmp_path / "case.zarr").labels
    assert isinstance(labels, np.ndarray)
    assert labels.dtype == np.int32
    save_zarr(tmp_path / "wrong.zarr", numbered() + 0.5, zarr_format=version)
    with pytest.raises(FileError, match=r"wrong\.zarr' holds 0\.5 at voxel \(0, 0, 0\)"):
        open_labels(tmp_path / "wrong.zarr")


def test_a_damaged_chunk_names_its_file_when_it_is_read(tmp_path: Path, version: int) -> None:
    path = tmp_path / "case.zarr"
    save_zarr(path, numbered(), zarr_format=version)
    (path / ("2.0.0" if version == 2 else "c/2/0/0")).write_bytes(b"damaged")
    labels = open_labels(path).labels
    np.testing.assert_array_equal(labels[:4], numbered()[:4])
    with pytest.raises(FileError) as caught:
        labels[4]
    assert str(caught.value).startswith(f"path={str(path)!r} cannot be read as a Zarr store: ")


def test_what_is_wrong_with_a_store_is_said_when_it_is_opened(tmp_path: Path, version: int) -> None:
    new_group(tmp_path / "case.zarr", version)
    with pytest.raises(FileError, match="must contain one array or an OME-Zarr image"):
        open_labels(tmp_path / "case.zarr")
    with pytest.raises(FileError, match=r"nowhere\.zarr' does not exist"):
        open_labels(tmp_path / "nowhere.zarr")


def test_it_travels_to_another_process_from_any_folder(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_zarr(tmp_path / "case.zarr", numbered(), zarr_format=version)
    monkeypatch.chdir(tmp_path)
    packed = pickle.dumps(open_labels("case.zarr").labels)
    monkeypatch.chdir("/")
    labels: Any = pickle.loads(packed)
    np.testing.assert_array_equal(labels[...], numbered())


def test_other_files_are_read(tmp_path: Path, version: int) -> None:  # noqa: ARG001
    np.save(tmp_path / "case.npy", numbered())
    np.testing.assert_array_equal(np.asarray(open_labels(tmp_path / "case.npy").labels), numbered())
    assert not is_chunked_file(tmp_path / "case.npy")
    assert is_chunked_file(tmp_path / "case.zarr" / "labels" / "cells")
