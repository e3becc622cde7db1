"""Masks of pycocotools: polygons, run-length encodings and their IoUs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch.formats import CocoInstances
from panmatch.labels import read_masks
from panmatch.related._coco_instances import _mask_pairs
from tests.mask_scenes import random_masks, runs_of, text_of
from tests.peers.asking import ask

Polygons = list[list[float]]


def polygons(rng: np.random.Generator, height: int, width: int) -> Polygons:
    """Return one to three polygons: convex or crossing themselves, partly outside, on the grid."""
    found = []
    for _ in range(rng.integers(1, 4)):
        shape = rng.uniform(-3, 3, (rng.integers(3, 9), 2)) * rng.uniform(0.5, 6)
        corners = shape + np.array([rng.uniform(0, width), rng.uniform(0, height)])
        if rng.random() < 0.3:
            corners = np.round(corners * 2) / 2
        if rng.random() < 0.2:
            corners = np.repeat(corners, 2, axis=0)
        found.append(corners.ravel().tolist())
    return found


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(150):
        size = (int(rng.integers(5, 60)), int(rng.integers(5, 60)))
        drawn = [polygons(rng, *size) for _ in range(rng.integers(1, 6))]
        masks = random_masks(rng, int(rng.integers(1, 6)), size)
        rles = [runs_of(mask) for mask in masks]
        found.append({"size": size, "polygons": drawn, "rles": rles})
    return found


@pytest.fixture(scope="module")
def answers(
    questions: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("masks")
    found: list[dict[str, Any]] = ask("run_pycocotools_masks.py", folder, questions)
    return found


def text(masks: Any, i: int) -> str:
    """Return the compressed text of a mask of ours."""
    start, stop = (
        column[masks.first[i] : masks.first[i + 1]] for column in (masks.start, masks.stop)
    )
    edges = np.concatenate([[0], np.stack([start, stop], axis=1).ravel(), [np.prod(masks.shape)]])
    lengths = np.diff(edges).tolist()
    return text_of(lengths if lengths[-1] or len(lengths) == 1 else lengths[:-1])


def test_polygons_have_the_same_pixels(
    questions: list[dict[str, Any]], answers: list[dict[str, Any]]
) -> None:
    drawn = 0
    for question, answer in zip(questions, answers, strict=True):
        masks = read_masks(question["polygons"], "polygons", size=question["size"])
        assert masks.sizes.tolist() == answer["areas"]
        assert [text(masks, i) for i in range(len(masks))] == answer["drawn"]
        drawn += len(masks)
    assert drawn > 400


def test_compressed_texts_are_read_as_they_are_written(
    questions: list[dict[str, Any]], answers: list[dict[str, Any]]
) -> None:
    for question, answer in zip(questions, answers, strict=True):
        plain = read_masks(question["rles"], "rles")
        texts = [{"size": question["size"], "counts": counts} for counts in answer["given"]]
        found = read_masks(texts, "texts")
        for name in ("first", "start", "stop"):
            assert np.array_equal(getattr(plain, name), getattr(found, name))


def test_ious_are_the_same_bits(
    questions: list[dict[str, Any]], answers: list[dict[str, Any]]
) -> None:
    compared = 0
    for question, answer in zip(questions, answers, strict=True):
        ov = pm.Overlap.from_masks(question["polygons"], question["rles"], size=question["size"])
        table = np.zeros((len(question["rles"]), len(question["polygons"])))
        table[ov.pred_ids[ov.edges.pred] - 1, ov.ref_ids[ov.edges.ref] - 1] = ov.iou
        assert np.array_equal(table, np.array(answer["iou"]))
        table[ov.pred_ids[ov.edges.pred] - 1, ov.ref_ids[ov.edges.ref] - 1] = ov.score(
            "prediction-share"
        )
        assert np.array_equal(table, np.array(answer["crowd"]))
        compared += table.size
    assert compared > 1000


@pytest.mark.parametrize("compressed", [False, True])
def test_masks_of_files_have_the_same_ious(
    compressed: bool,
    questions: list[dict[str, Any]],
    answers: list[dict[str, Any]],
    tmp_path: Path,
) -> None:
    for question, answer in zip(questions, answers, strict=True):
        size = question["size"]
        height, width = size
        images = [{"id": i, "height": height, "width": width} for i in (0, 1)]  # 1 has crowd alone
        annotations = [
            {"image_id": i, "category_id": 1, "iscrowd": i, "segmentation": one}
            for i in (0, 1) for one in question["polygons"]
        ]  # fmt: skip
        content = {"images": images, "categories": [{"id": 1}], "annotations": annotations}
        texts = [{"size": size, "counts": text} for text in answer["given"]]
        detections = [
            {"image_id": i, "category_id": 1, "score": 1, "segmentation": one}
            for i in (0, 1) for one in (texts if compressed else question["rles"])
        ]  # fmt: skip
        for name, value in (("refs", content), ("preds", detections)):
            (tmp_path / f"{name}.json").write_text(json.dumps(value))
        refs = pm.read_coco_instances(tmp_path / "refs.json")
        preds = pm.read_coco_instances(tmp_path / "preds.json", refs)
        found = pm.coco_overlaps(refs, preds)
        assert np.array_equal(table_of(found[0, 1], "iou", answer), np.array(answer["iou"]))
        tables = ious_of_ranks(refs, preds)
        for image, name in ((0, "iou"), (1, "crowd")):
            expected, found_there = np.array(answer[name]), tables[image] > 0
            assert np.array_equal(tables[image][found_there], expected[found_there])
            assert found_there[expected >= 0.5].all()  # others may be left out


def table_of(overlap: pm.Overlap, score: Any, answer: dict[str, Any]) -> npt.NDArray[np.float64]:
    """Return a score of every prediction with every reference."""
    table = np.zeros(np.shape(answer["iou"]))
    edges = overlap.edges
    table[overlap.pred_ids[edges.pred] - 1, overlap.ref_ids[edges.ref] - 1] = overlap.score(score)
    return table


def ious_of_ranks(refs: CocoInstances, preds: CocoInstances) -> list[npt.NDArray[np.float64]]:
    """Return the tables [prediction, reference] of both images behind average precision."""
    first, second = (np.array([0, len(side.table) // 2, len(side.table)]) for side in (refs, preds))
    rows, others = np.arange(len(refs.table)), np.arange(len(preds.table))
    ref, pred, iou = _mask_pairs(refs.table, preds.table, rows, others, first, second, None)
    table = np.zeros((len(others), len(rows)))
    table[pred, ref] = iou
    return [table[second[i] : second[i + 1], first[i] : first[i + 1]] for i in (0, 1)]
