"""Files that come through the page: read once, from nowhere else, and leaving nothing behind."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import numpy.typing as npt
import pytest
import tifffile

import panmatch as pm
from panmatch import phantoms
from panmatch.playground import FilePair, State, View
from panmatch.playground import _dropped_files as dropped
from panmatch.playground._answers import answer_numbers
from panmatch.playground._dropped_files import (
    DropFolder,
    HeaderMismatchError,
    NamedBytes,
    Role,
    checked_suffix,
    open_bytes,
    shown_name,
)
from panmatch.playground._export import answer_code

LABELS = phantoms.blobs((20, 24), 5, radius=(2, 4), gap=1, seed=4)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a temporary folder of its own, so what is left in it can be seen."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def npy(labels: npt.ArrayLike) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(labels))
    return file.getvalue()


def nifti(labels: npt.NDArray[np.integer], affine: npt.NDArray[np.float64]) -> bytes:
    return bytes(nibabel.Nifti1Image(labels.astype(np.uint8), affine).to_bytes())


def both(name: str, content: bytes) -> dict[Role, NamedBytes]:
    return {"reference": NamedBytes(name, content), "prediction": NamedBytes(name, content)}


def test_numbers_of_dropped_files_are_those_of_the_same_files(tmp_path: Path) -> None:
    prediction = phantoms.shift(LABELS, (1, 1))
    for name, labels in (("ref", LABELS), ("pred", prediction)):
        (tmp_path / f"{name}.npy").write_bytes(npy(labels))
    files: dict[Role, NamedBytes] = {
        "reference": NamedBytes("ref.npy", npy(LABELS)),
        "prediction": NamedBytes("pred.npy", npy(prediction)),
    }
    pair = open_bytes(files)
    direct = FilePair.open(tmp_path / "ref.npy", tmp_path / "pred.npy")
    assert answer_numbers(pair, View()) == answer_numbers(direct, View())
    rows = pm.evaluate(reference=LABELS, prediction=prediction).scores
    (row,) = rows[(rows.strategy == "one-to-one") & (rows.threshold == 0.5)].to_dict("records")
    tally = answer_numbers(pair, View())["tally"]
    assert {key: tally[key] for key in ("tp", "fp", "fn", "pq")} == {
        key: row[key] for key in ("tp", "fp", "fn", "pq")
    }
    assert pair.describe() == {**direct.describe(), "dropped": True}


@pytest.mark.parametrize("name", ["a.npy", "a.nii", "a.nii.gz", "a.tif", "a.png", "A.NPZ", "a.mha"])
def test_every_format_of_one_file_is_read_and_nothing_is_left(
    name: str, tmp_path: Path, temporary: Path
) -> None:
    path = tmp_path / name.lower()
    if name == "a.npy":
        np.save(path, LABELS)
    elif name == "A.NPZ":
        np.savez(path, labels=LABELS)
    elif name == "a.tif":
        tifffile.imwrite(path, LABELS.astype(np.uint8))
    elif name == "a.png":
        from PIL import Image

        Image.fromarray(LABELS.astype(np.uint8)).save(path)
    elif name == "a.mha":
        sitk = pytest.importorskip("SimpleITK")
        sitk.WriteImage(sitk.GetImageFromArray(LABELS.T.astype(np.uint8)), path)
    else:
        nibabel.save(nibabel.Nifti1Image(LABELS.astype(np.uint8), np.eye(4)), path)
    pair = open_bytes(both(name, path.read_bytes()))
    assert np.array_equal(pair.reference.labels, LABELS)
    assert pair.reference.path == Path(name)
    assert list(temporary.iterdir()) == []


def test_an_image_comes_along() -> None:
    files = both("a.npy", npy(LABELS)) | {"image": NamedBytes("grey.npy", npy(LABELS * 2.5))}
    pair = open_bytes(files)
    assert pair.image is not None
    assert (pair.image_name, pair.image.shape, int(pair.image.max())) == ("grey.npy", (20, 24), 255)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.nii.gz", ".nii.gz"), ("../../../etc/x.npy", ".npy"), ("C:\\x\\y.PNG", ".png"),
     ("a b\x00c\n.tif", ".tif"), ("..npy", ".npy"), ("photo.JPG", ".jpg")],
)  # fmt: skip
def test_only_the_end_of_a_name_matters(name: str, suffix: str) -> None:
    assert checked_suffix(name) == suffix


@pytest.mark.parametrize(
    ("name", "message"),
    [("notes.txt", "'notes.txt' is not an image that can be opened here"), ("", "''"),
     (".npy", "is not an image"), ("a.npy/", "is not an image"), ("scan.mhd", "one of the files"),
     ("a.nhdr", "one of the files"), ("a.zarr", "one of the files"), ("a.npy.exe", "'a.npy.exe'")],
)  # fmt: skip
def test_other_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(pm.PanmatchError, match=message):
        checked_suffix(name)


def test_tricks_in_names_lead_nowhere(tmp_path: Path, temporary: Path) -> None:
    outside = tmp_path / "outside.npy"
    for name in (f"../{outside.name}", str(outside), f"x/../../{outside.name}", "a\x00.npy"):
        pair = open_bytes(both(name, npy(LABELS)))
        assert pair.reference.path.parts == (shown_name(name),)
    assert not outside.exists()
    assert list(temporary.iterdir()) == []


def damaged() -> dict[str, tuple[str, bytes, str]]:
    header = nifti(np.zeros((9, 9, 9), np.uint8), np.eye(4))
    huge = bytearray(header)
    huge[40:48] = np.array([3, 32767, 32767, 32767], "<i2").tobytes()
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        start = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            start, {"descr": "|u1", "fortran_order": False, "shape": (1 << 44,)}
        )
        archive.writestr("labels.npy", start.getvalue())
        archive.infolist()[0].file_size = 1 << 44
    return {
        "text": ("a.nii.gz", b"hello", "'a.nii.gz' cannot be read as a NIfTI image"),
        "truncated": ("a.nii", header[:-5], "'a.nii' is truncated"),
        "bomb": ("a.nii.gz", gzip.compress(bytes(huge)), "'a.nii.gz'"),
        "zip bomb": ("a.npz", bomb.getvalue(), "'a.npz'"),
        "broken gzip": ("a.nii.gz", gzip.compress(header)[:-20], "'a.nii.gz' cannot be read"),
        "empty": ("a.tif", b"", "'a.tif' cannot be read as a TIFF image"),
        "half": ("a.png", b"\x89PNG\r\n\x1a\n", "'a.png' cannot be read as a PNG image"),
        "pickle": ("a.npy", npy(np.array([{}], object)), "'a.npy' cannot be read"),
        "floats": ("a.npy", npy([[0.5, 1.0]]), "'a.npy' holds 0.5"),
        "negative": ("a.npy", npy([[-1, 1]]), "negative label -1"),
        "line": ("a.npy", npy([1, 2]), "two or three dimensions"),
    }


@pytest.mark.parametrize("kind", damaged())
def test_a_damaged_file_is_named_and_nothing_is_left(kind: str, temporary: Path) -> None:
    name, content, message = damaged()[kind]
    with pytest.raises(pm.PanmatchError) as raised:
        open_bytes(both(name, content))
    assert message in str(raised.value)
    assert str(temporary) not in str(raised.value)
    assert list(temporary.iterdir()) == []


def test_files_of_different_shape_are_named_with_their_shapes() -> None:
    files: dict[Role, NamedBytes] = {
        "reference": NamedBytes("one.npy", npy(np.eye(3, dtype=int))),
        "prediction": NamedBytes("two.npy", npy(np.eye(4, dtype=int))),
    }
    with pytest.raises(pm.PanmatchError) as raised:
        open_bytes(files)
    for word in ("one.npy", "two.npy", "(3, 3)", "(4, 4)"):
        assert word in str(raised.value)


def test_headers_that_disagree_can_be_ignored() -> None:
    shifted = np.eye(4)
    shifted[0, 3] = 5
    files: dict[Role, NamedBytes] = {
        "reference": NamedBytes("one.nii", nifti(LABELS, np.eye(4))),
        "prediction": NamedBytes("two.nii", nifti(LABELS, shifted)),
    }
    with pytest.raises(
        HeaderMismatchError, match=r"'two\.nii' and 'one\.nii' place the same voxel"
    ):
        open_bytes(files)
    pair = open_bytes(files, allow_header_mismatch=True)
    assert pair.overlap == pm.count_overlaps(LABELS, LABELS)


@pytest.mark.parametrize("missing", ["reference", "prediction"])
def test_both_sides_are_needed(missing: Role) -> None:
    files = both("a.npy", npy(LABELS))
    del files[missing]
    with pytest.raises(pm.PanmatchError, match=f"the {missing} is missing"):
        open_bytes(files)


def nrrd(secret: Path) -> bytes:
    text = "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 3 3\nencoding: raw\n"
    return f"{text}data file: {secret}\n\n".encode()


def mha(secret: Path) -> bytes:
    text = (
        "ObjectType = Image\nNDims = 2\nDimSize = 3 3\nElementType = MET_UCHAR\n"
        f"ElementDataFile = {secret}\n"
    )
    return text.encode()


def ome(secret: Path) -> bytes:
    text = (
        '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
        '<Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint8" SizeX="3" '
        'SizeY="3" SizeZ="1" SizeC="1" SizeT="1"><TiffData IFD="0">'
        f'<UUID FileName="{secret}">urn:uuid:1</UUID></TiffData></Pixels></Image></OME>'
    )
    file = io.BytesIO()
    tifffile.imwrite(file, np.eye(3, dtype=np.uint8), description=text, metadata=None)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"), [("a.nrrd", nrrd), ("a.mha", mha), ("a.ome.tif", ome)]
)
def test_a_file_cannot_lead_to_another_file(
    name: str, content: Callable[[Path], bytes], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.raw"
    secret.write_bytes(bytes(range(9)))
    with pytest.raises(pm.PanmatchError, match=f"'{name}' names another file"):
        open_bytes(both(name, content(secret)))


def test_a_file_that_is_too_large_is_told_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropped, "LARGEST_FILE", 3 << 30)
    with pytest.raises(pm.PanmatchError, match=r"'a.npy' is too large .* at most 3 GB"):
        dropped.check_size("a.npy", (3 << 30) + 1)
    dropped.check_size("a.npy", 3 << 30)


def test_code_names_dropped_files_and_says_that_their_folder_is_unknown() -> None:
    found = answer_code(State(None), open_bytes(both("a.npy", npy(LABELS))))
    assert "read_labels('a.npy')" in found["python"]
    assert "panmatch evaluate a.npy a.npy" in found["command"]
    assert "their folder is not known" in found["notes"][0]
    option = answer_code(State(None), open_bytes(both("--spec.npy", npy(LABELS))))
    assert "panmatch evaluate ./--spec.npy ./--spec.npy" in option["command"]


def test_a_drop_folder_forgets_the_oldest_and_removes_what_was_taken(temporary: Path) -> None:
    drops = DropFolder()
    keys = []
    for at in range(8):
        key, path = drops.new_file(f"{at}.npy")
        path.write_bytes(npy(LABELS + at * (LABELS > 0)))
        drops.keep(key, f"{at}.npy", path)
        keys.append(key)
    (folder,) = temporary.iterdir()
    assert len(list(folder.iterdir())) == 6
    with (
        pytest.raises(pm.PanmatchError, match="the reference has not arrived"),
        drops.take({"reference": keys[0], "prediction": keys[7]}),
    ):
        pass
    with drops.take({"reference": keys[6], "prediction": keys[7]}) as files:
        assert [file.name for file in files.values()] == ["6.npy", "7.npy"]
    assert len(list(folder.iterdir())) == 4
    drops.close()
    assert list(temporary.iterdir()) == []
