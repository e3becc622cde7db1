"""The objects of a class in a pair of files: those that an evaluation finds, with their ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import panmatch as pm
from panmatch.evaluation import CaseResult, Images, evaluate_case
from panmatch.labels import connected_components
from panmatch.playground import FilePair, ShownClass, View
from panmatch.playground._answers import answer_numbers
from panmatch.playground._slices import answer_slice
from panmatch.spec import as_spec
from tests.datasets.folders import SPACING
from tests.playground.class_files import CLASSES, VOID, open_class, write_street
from tests.playground.test_pair import decode


def evaluated(pair: FilePair, kind: str) -> CaseResult:
    sides = Images(pair.reference.labels), Images(pair.prediction.labels)
    return evaluate_case(*sides, CLASSES[kind][0], spacing=pair.spacing)


@pytest.mark.parametrize("kind", CLASSES)
def test_the_objects_of_a_class_are_those_that_evaluate_finds(tmp_path: Path, kind: str) -> None:
    pair = open_class(tmp_path, kind)
    name = CLASSES[kind][1]
    assert pair.describe()["class_name"] == name
    entry = next(one for one in evaluated(pair, kind).entries if one.setting.class_name == name)
    level = entry.levels[0]
    numbers = answer_numbers(pair, View(threshold=level.threshold))
    for score in ("tp", "fp", "fn", "pq", "sq", "rq"):
        assert numbers["tally"][score] == getattr(level.tally, score)
    columns = level.measurements.columns
    shown = [one["id"] for one in numbers["vertices"]["reference"]]
    assert shown == sorted(set(columns["ref_id"][columns["ref_voxels"] > 0].tolist()))
    assert numbers["tally"]["tp"] + numbers["tally"]["fn"] == len(shown)


def test_the_ids_of_a_class_are_in_its_slices(tmp_path: Path) -> None:
    pair = open_class(tmp_path, "components")
    labels = pair.reference.labels
    expected = connected_components((labels > 0) & (labels < VOID))
    assert expected.max() == 4  # lesions, of three labels
    found = answer_slice(pair, 0, 12)
    assert np.array_equal(decode(found, "reference"), expected[12].T[::-1, ::-1])
    assert found["reference_ids"]


def test_related_metrics_of_a_class_leave_void_out(tmp_path: Path) -> None:
    pair = open_class(tmp_path, "void")
    void, labels = pair.reference.labels == VOID, pair.prediction.labels
    reference = np.where(void, 0, pair.reference.labels)
    expected, otherwise = (
        pm.related.lesionwise_dice(reference=reference, prediction=prediction, spacing=SPACING)
        for prediction in (np.where(void, 0, labels), labels)
    )
    found = {row["id"]: row["value"] for row in pair.image_metrics()}
    assert found["lesionwise-dice"] == expected != otherwise


@pytest.mark.parametrize(
    ("spec", "plain"),
    [
        ({"classes": {"cell": {}}, "matching": "union", "thresholds": 0.3}, True),
        ({"classes": {"cell": {"parts": [1]}}}, True),
        ({"classes": {"cell": {"min_voxels": 2}}}, False),
        ({"classes": {"cell": {"kind": "stuff"}}}, False),
        ({"classes": {"cell": {}}, "background": 3}, False),
        ({"classes": {"cell": {}}, "colour_ids": True}, False),
    ],
)
def test_a_class_is_shown_only_if_not_every_label_is_an_object(
    spec: dict[str, object], plain: bool
) -> None:
    assert (ShownClass.of(as_spec(spec), "cell") is None) == plain


def test_colours_of_a_class_are_ids(tmp_path: Path) -> None:
    from PIL import Image

    colours = np.zeros((4, 5, 3), np.uint8)
    colours[1:3, 1:3] = (1, 2, 0)
    Image.fromarray(colours).save(tmp_path / "a.png")
    shown = ShownClass.of(pm.Spec(colour_ids=True), "object")
    pair = FilePair.open(tmp_path / "a.png", tmp_path / "a.png", shown_class=shown)
    assert pair.overlap.ref_ids.tolist() == [513]


def test_what_cannot_be_shown_of_a_class_is_said(tmp_path: Path) -> None:
    spec, _ = CLASSES["cityscapes"]
    files = write_street(tmp_path)
    with pytest.raises(pm.PanmatchError, match=r"has an object of the class 'train', so there is"):
        FilePair.open(*files, shown_class=ShownClass.of(spec, "train"))
    with pytest.raises(pm.PanmatchError, match=r"class='cat' .*did you mean 'car'"):
        ShownClass.of(spec, "cat")
    pair = FilePair.open(*files, shown_class=ShownClass.of(spec, "person"))
    with pytest.raises(pm.PanmatchError, match="not available with the encoding 'cityscapes'"):
        answer_numbers(pair, View(regions=True))
