"""Images of probabilities keep their values, whatever the format."""

from __future__ import annotations

from pathlib import Path

import nibabel
import numpy as np
import pytest
import tifffile

from panmatch.errors import FileError
from panmatch.formats import read_probabilities

VALUES = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 32


def test_nifti_files_keep_values_spacing_and_affine(tmp_path: Path) -> None:
    affine = np.diag([2.0, 1.0, 0.5, 1.0])
    nibabel.save(nibabel.Nifti1Image(VALUES, affine), tmp_path / "p.nii.gz")
    found = read_probabilities(tmp_path / "p.nii.gz")
    assert np.array_equal(found.labels, VALUES)
    assert found.spacing == (2.0, 1.0, 0.5)
    assert found.affine is not None


def test_tiff_and_numpy_files_keep_values(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "p.tif", VALUES, photometric="minisblack")
    np.save(tmp_path / "p.npy", VALUES.astype(np.float16))
    np.savez(tmp_path / "p.NPZ.npz", probability=VALUES)
    for name in ("p.tif", "p.npy", "p.NPZ.npz"):
        assert np.array_equal(read_probabilities(tmp_path / name).labels, VALUES)


def test_files_without_numbers_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", VALUES.astype(np.complex64))
    with pytest.raises(FileError, match="stores values of dtype complex64; an image of prob"):
        read_probabilities(tmp_path / "p.npy")
    with pytest.raises(FileError, match=r"does not have the suffix of an image of prob.*\.nii\.gz"):
        read_probabilities(tmp_path / "p.png")
    with pytest.raises(FileError, match=r"absent\.npy"):
        read_probabilities(tmp_path / "absent.npy")
