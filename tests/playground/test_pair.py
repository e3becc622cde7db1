"""A pair of files: read once, checked as `panmatch evaluate` does, and shown slice by slice."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import panmatch as pm
from panmatch.labels import segment_geometry
from panmatch.playground import FilePair, View
from panmatch.playground._answers import answer_numbers, answer_object
from panmatch.playground._slices import answer_slice, to_positions
from panmatch.playground._validation import Message
from tests.commands import panmatch
from tests.datasets.folders import SPACING, save_nifti, scene

IDS = np.array([0, 3, 200, 7, 90, 11, 5], np.uint8)  # labels 1, 2 … become these


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path, IDS[scene(3)], np.roll(scene(3), 2, axis=1))


def write(
    folder: Path,
    reference: npt.NDArray[np.integer],
    prediction: npt.NDArray[np.integer],
    spacing: tuple[float, ...] = SPACING,
) -> tuple[Path, Path]:
    paths = folder / "ref.nii.gz", folder / "pred.nii.gz"
    save_nifti(paths[0], reference, spacing)
    save_nifti(paths[1], prediction, spacing)
    return paths


def decode(message: Message, side: str) -> npt.NDArray[np.integer]:
    """Return the ids in a slice, through the pairs of pixel value and id."""
    dtype = {"uint16": "<u2", "uint32": "<u4"}[message["dtype"]]
    content = zlib.decompress(base64.b64decode(message[side]))
    pixels = np.frombuffer(content, dtype).reshape(message["shape"])
    ids = {0: 0} | dict(message[f"{side}_ids"])
    assert set(np.unique(pixels).tolist()) | {0} == set(ids)
    found: npt.NDArray[np.integer] = np.array([ids[value] for value in pixels.flat])
    return found.reshape(pixels.shape)


def test_the_numbers_are_those_of_the_arrays(files: tuple[Path, Path]) -> None:
    pair = FilePair.open(*files)
    reference, prediction = IDS[scene(3)], np.roll(scene(3), 2, axis=1)
    assert pair.overlap == pm.count_overlaps(reference, prediction)
    for regions in (False, True):
        found = answer_numbers(pair, View(threshold=0.1, regions=regions, voronoi=True))
        expected = (
            pm.count_region_overlaps(reference, prediction, SPACING)
            if regions
            else pm.count_overlaps(reference, prediction)
        )
        assert found["tally"]["pq"] == pm.match(expected, threshold=0.1).tally.pq
        assert found["curves"][0]["autc"] == pm.curve(expected).autc
        assert [one["id"] for one in found["vertices"]["reference"]] == sorted(IDS[1:6].tolist())
        assert found["voronoi"] is None
    assert expected != pm.count_region_overlaps(reference, prediction)  # spacing matters


def test_it_is_described_by_names_and_grid(files: tuple[Path, Path]) -> None:
    assert FilePair.open(*files).describe() == {
        "reference": "ref.nii.gz",
        "prediction": "pred.nii.gz",
        "class_name": None,
        "shape": [18, 20, 14],
        "spacing": list(SPACING),
        "unit": "mm",
        "image": None,
        "scores": None,
        "planes": [
            {"name": "sagittal", "axis": 0, "slices": 18, "shape": [14, 20], "axes": [2, 1],
             "flips": [True, True], "aspect": 2.0, "edges": list("SPIA"), "ends": list("LR")},
            {"name": "coronal", "axis": 1, "slices": 20, "shape": [14, 18], "axes": [2, 0],
             "flips": [True, True], "aspect": 4.0, "edges": list("SLIR"), "ends": list("PA")},
            {"name": "axial", "axis": 2, "slices": 14, "shape": [20, 18], "axes": [1, 0],
             "flips": [True, True], "aspect": 2.0, "edges": list("ALPR"), "ends": list("IS")},
        ],
        "dropped": False,
    }  # fmt: skip


def test_formats_without_a_unit_have_none(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", labels=np.eye(6, dtype=np.uint8), spacing=[2.0, 0.5])
    np.save(tmp_path / "b.npy", np.eye(6, dtype=np.uint8))
    pair = FilePair.open(tmp_path / "b.npy", tmp_path / "a.npz")
    assert (pair.spacing, pair.unit) == ((2.0, 0.5), None)
    assert pair.describe()["planes"][0]["aspect"] == 4.0


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_slice_is_that_of_the_array_through_ids(files: tuple[Path, Path], axis: int) -> None:
    pair = FilePair.open(*files)
    for index in range(0, pair.shape[axis], 3):
        found = answer_slice(pair, axis, index)
        assert (found["axis"], found["index"], found["step"]) == (axis, index, 1)
        # Axes run to the right, to the front and up; slices show left, back and bottom last.
        reference = np.take(IDS[scene(3)], index, axis).T[::-1, ::-1]
        prediction = np.take(np.roll(scene(3), 2, axis=1), index, axis).T[::-1, ::-1]
        assert np.array_equal(decode(found, "reference"), reference)
        assert np.array_equal(decode(found, "prediction"), prediction)


def test_pixels_are_positions_in_the_list_of_vertices(files: tuple[Path, Path]) -> None:
    pair = FilePair.open(*files)
    vertices = answer_numbers(pair, View())["vertices"]["reference"]
    found = answer_slice(pair, 0, 9)
    for value, number in found["reference_ids"]:
        assert vertices[value - 1]["id"] == number


def test_without_an_index_the_middle_slice_is_shown(files: tuple[Path, Path]) -> None:
    pair = FilePair.open(*files)
    assert answer_slice(pair, 2, None) == answer_slice(pair, 2, 7)


@pytest.mark.parametrize(
    ("axis", "index", "message"),
    [(3, 0, "axis=3 must be 0, 1 or 2"), (-1, 0, "axis=-1"), (0, 18, "from 0 to 17"),
     (2, -1, "from 0 to 13")],
)  # fmt: skip
def test_a_slice_that_is_not_there_is_refused(
    files: tuple[Path, Path], axis: int, index: int, message: str
) -> None:
    with pytest.raises(pm.PanmatchError, match=message):
        answer_slice(FilePair.open(*files), axis, index)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("largest", [5, 1 << 40])
def test_positions_of_labels_of_every_kind(dtype: str, largest: int) -> None:
    ids = np.array([1, 4, largest]) if dtype in ("int64", "uint64") else np.array([1, 4, 5])
    labels = np.array([[0, 4, 1], [ids[-1], 0, 4]])
    expected = [[0, 2, 1], [3, 0, 2]]
    if dtype == "bool":
        ids, labels, expected = np.array([1]), labels > 0, [[0, 1, 1], [1, 0, 1]]
    given = labels.astype(dtype).view(np.uint8) if dtype == "bool" else labels.astype(dtype)
    assert to_positions(given, ids, np.dtype("<u2")).tolist() == expected


def test_many_objects_have_wide_positions(tmp_path: Path) -> None:
    labels = np.arange(300 * 300, dtype=np.uint32).reshape(300, 300)
    np.save(tmp_path / "a.npy", labels)
    pair = FilePair.open(tmp_path / "a.npy", tmp_path / "a.npy")
    found = answer_slice(pair, 0, 0)
    assert found["dtype"] == "uint32"
    assert np.array_equal(decode(found, "reference"), labels)


def test_a_pair_without_any_object_can_be_shown(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((5, 6), np.uint8))
    pair = FilePair.open(tmp_path / "a.npy", tmp_path / "a.npy")
    found = answer_slice(pair, 0, 0)
    assert found["reference_ids"] == []
    assert not decode(found, "reference").any()
    assert answer_numbers(pair, View())["tally"]["status"] == "empty"


def test_an_object_has_its_centre_in_voxels(files: tuple[Path, Path]) -> None:
    pair = FilePair.open(*files)
    for side, labels, number in (
        ("reference", IDS[scene(3)], 200),
        ("prediction", np.roll(scene(3), 2, axis=1), 2),
    ):
        found = answer_object(pair, View(), side, number)  # type: ignore[arg-type]
        assert found["centre"] == pytest.approx(np.argwhere(labels == number).mean(0).tolist())
        assert found["size"] == np.count_nonzero(labels == number)
        row = segment_geometry(labels).ids.tolist().index(number)
        assert row != number - 1 or side == "prediction"


@pytest.mark.parametrize("shape", [(12,), (2, 3, 4, 5), (0, 4), (3, 0, 4)])
def test_other_shapes_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "a.npy", np.zeros(shape, np.uint8))
    with pytest.raises(pm.PanmatchError, match="two or three dimensions"):
        FilePair.open(tmp_path / "a.npy", tmp_path / "a.npy")


def test_parts_and_exact_areas_are_for_scenes(files: tuple[Path, Path]) -> None:
    pair = FilePair.open(*files)
    with pytest.raises(pm.PanmatchError, match="--reference-parts"):
        answer_numbers(pair, View(parts=True))
    with pytest.raises(pm.PanmatchError, match="scenes of discs"):
        answer_numbers(pair, View(areas="analytic"))


def reason_of_evaluate(reference: Path, prediction: Path) -> str:
    out = reference.parent / "out"
    panmatch("evaluate", reference, prediction, "-o", out)
    reason: str = pd.read_csv(out / "scores.csv").reason[0]
    return reason


@pytest.mark.parametrize("kind", ["spacing", "place", "permuted", "negative", "missing", "text"])
def test_what_is_wrong_with_files_is_said_as_by_evaluate(tmp_path: Path, kind: str) -> None:
    import nibabel

    ref, pred = write(tmp_path, scene(3), scene(4))
    if kind == "spacing":
        save_nifti(pred, scene(4), (1.0, 1.0, 2.0))
    elif kind == "place":
        affine = np.diag([*SPACING, 1.0])
        affine[0, 3] = 9.0
        nibabel.save(nibabel.Nifti1Image(scene(4).astype(np.uint8), affine), pred)
    elif kind == "permuted":
        save_nifti(pred, scene(4).transpose(), SPACING)
    elif kind == "negative":
        labels = scene(4).astype(np.int16)
        labels[0, 0, 0] = -1
        nibabel.save(nibabel.Nifti1Image(labels, np.diag([*SPACING, 1.0])), pred)
    elif kind == "missing":
        pred = tmp_path / "nowhere.nii.gz"
    else:
        pred.write_text("hello")
    with pytest.raises(pm.PanmatchError) as raised:
        FilePair.open(ref, pred)
    message = " ".join(raised.value.for_command_line().split())
    if kind == "missing":
        assert message == f"path={str(pred)!r} does not exist."
    elif kind == "negative":
        assert "prediction holds the negative label -1" in message
        assert "prediction holds the negative label -1" in reason_of_evaluate(ref, pred)
    else:
        hint = (
            " --resample resamples the prediction to the grid of the reference."  # not offered here
        )
        assert message == reason_of_evaluate(ref, pred).removesuffix(hint)
    if kind in ("spacing", "place"):
        assert "--allow-header-mismatch" in message
        assert FilePair.open(ref, pred, allow_header_mismatch=True).shape == (18, 20, 14)
