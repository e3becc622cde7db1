"""Average precision and recall of pycocotools, with crowd, ranges of areas and limits."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from panmatch import protocols
from panmatch.formats import read_coco_instances, read_labels
from panmatch.related import coco_precision
from tests.commands import panmatch
from tests.instance_scenes import label_dataset, random_dataset
from tests.peers.asking import ask

DATASETS = 220
DATA = Path(__file__).parents[3] / "shared" / "data"
NUCLEI, NATURAL = DATA / "nuclei2d_dsb2018", DATA / "coco_panoptic_sample"
NAMES = ("AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl")


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    drawn = [random_dataset(seed) for seed in range(DATASETS)]
    return [one for one in drawn if one["prediction"]]


@pytest.fixture(scope="module")
def answers(
    questions: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(
        "run_pycocotools_ap.py", tmp_path_factory.mktemp("ap"), questions
    )
    return found


def write(question: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    paths = folder / "reference.json", folder / "prediction.json"
    for path, side in zip(paths, ("reference", "prediction"), strict=True):
        path.write_text(json.dumps(question[side]))
    return paths


@pytest.mark.parametrize("kind", ["segm", "bbox"])
def test_all_numbers_of_the_summary_are_equal(
    kind: str, questions: list[dict[str, Any]], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    name = "coco-instances" if kind == "segm" else "coco-instances/boxes"
    compared = 0
    for question, answer in zip(questions, answers, strict=True):
        reference, prediction = write(question, tmp_path)
        found = protocols.run(name, reference=reference, prediction=prediction)
        expected = dict(zip(NAMES, answer[kind]["stats"], strict=True))
        assert {key: found[key] for key in NAMES} == pytest.approx(expected, abs=1e-12)
        compared += sum(value > 0 for value in expected.values())
    assert len(questions) >= 200
    assert compared > 1500


def real_pairs() -> dict[str, list[tuple[Path, Path]]]:
    """Return reference and prediction of every image, by dataset."""
    found = {
        f"nuclei, {method}": [(NUCLEI / f"{name}_ref.tif", NUCLEI / f"{name}_pred_{method}.tif")
                              for name in ("img2", "img3", "img5", "img6", "stardist2d")]
        for method in ("watershed", "otsu_cc")
    }  # fmt: skip
    photos = sorted(NATURAL.glob("*_ref_panoptic.png"))
    superpixels = "_pred_felzenszwalb.tif"
    found["photos"] = [(one, Path(str(one).replace("_ref_panoptic.png", superpixels)))
                       for one in photos]  # fmt: skip
    return found


@pytest.mark.skipif(not NUCLEI.exists(), reason="the real segmentations are not at hand")
def test_real_segmentations_have_the_same_numbers(tmp_path: Path) -> None:
    asked = [
        label_dataset(
            [(read_labels(a, colour_ids=a.suffix == ".png").labels, read_labels(b).labels)
             for a, b in pairs], seed
        )
        for seed, pairs in enumerate(real_pairs().values())
    ]  # fmt: skip
    given = ask("run_pycocotools_ap.py", tmp_path, asked)
    for question, answer in zip(asked, given, strict=True):
        reference, prediction = write(question, tmp_path)
        for kind, name in (("segm", "coco-instances"), ("bbox", "coco-instances/boxes")):
            found = protocols.run(name, reference=reference, prediction=prediction)
            expected = dict(zip(NAMES, answer[kind]["stats"], strict=True))
            assert {key: found[key] for key in NAMES} == pytest.approx(expected, abs=1e-12)
        assert sum(abs(value) > 1e-3 for value in expected.values()) > 6


def test_every_class_is_equal(
    questions: list[dict[str, Any]], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    for question, answer in zip(questions, answers, strict=True):
        reference = read_coco_instances(write(question, tmp_path)[0])
        prediction = read_coco_instances(tmp_path / "prediction.json", reference)
        found = coco_precision(
            reference.table,
            prediction.table,
            images=list(reference.sizes),
            categories=list(reference.categories),
        )
        for category, expected in answer["segm"]["classes"].items():
            ours = found.average_precision(category=int(category))
            assert (-1 if math.isnan(ours) else ours) == pytest.approx(expected, abs=1e-12)


def test_the_command_line_writes_the_numbers_of_the_program(
    questions: list[dict[str, Any]], answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    for question, answer in list(zip(questions, answers, strict=True))[:5]:
        paths = write(question, tmp_path)
        done = panmatch("evaluate", *paths, "--protocol", "coco-instances", "-q", "-o", "out",
                        cwd=tmp_path)  # fmt: skip
        assert done.returncode == 0, done.stderr
        with (tmp_path / "out" / "protocol.csv").open(newline="") as file:
            found = {row["name"]: float(row["value"]) for row in csv.DictReader(file)}
        expected = dict(zip(NAMES, answer["segm"]["stats"], strict=True))
        assert {key: found[key] for key in NAMES} == pytest.approx(expected, abs=1e-12)
