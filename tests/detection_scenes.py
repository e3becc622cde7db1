"""Small random cases with confidences: label images, folders, and COCO instances."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.instance_scenes import random_dataset

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ScoredCase:
    """A case, and the confidence of each predicted id."""

    name: str
    reference: Labels
    prediction: Labels
    confidence: dict[int, float]


def scored_case(seed: int, shape: tuple[int, ...] = (7, 9)) -> ScoredCase:
    """Return a case in which objects are touched, split, missed and made up; confidences tie."""
    rng = np.random.default_rng(seed)
    reference = np.kron(rng.integers(0, 5, shape), np.ones((2,) * len(shape), int))
    other = np.kron(rng.integers(0, 6, shape), np.ones((2,) * len(shape), int))
    prediction = np.where(rng.random(reference.shape) < 0.6, reference, np.roll(other, 1, 0))
    ids = [one for one in np.unique(prediction).tolist() if one]
    return ScoredCase(
        f"c{seed:02}", reference, prediction, {one: float(rng.integers(1, 9)) / 8 for one in ids}
    )


def write_scored(folder: Path, n: int, models: tuple[str, ...] = ("a",)) -> list[ScoredCase]:
    """Write n cases: ``ref``, a folder per model, scores as CSV files, one CSV file and images.

    Return the cases of the first model.
    """
    found = []
    rows: list[list[object]] = []
    for name in ("ref", "probabilities", *models, *(f"scores-{model}" for model in models)):
        (folder / name).mkdir(parents=True)
    for seed in range(n):
        for place, model in enumerate(models):
            case = scored_case(seed + 100 * place)
            name = f"c{seed:02}"
            np.save(folder / model / f"{name}.npy", case.prediction)
            write_scores(folder / f"scores-{model}" / f"{name}.csv", case.confidence)
            if place == 0:
                np.save(folder / "ref" / f"{name}.npy", case.reference)
                image = np.zeros(case.prediction.shape)
                for segment, value in case.confidence.items():
                    image[case.prediction == segment] = value
                np.save(folder / "probabilities" / f"{name}.npy", image)
                rows += [[name, segment, value] for segment, value in case.confidence.items()]
                found.append(case)
    with (folder / "all.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["case", "id", "score"], *rows])
    return found


def write_scores(path: Path, scores: dict[int, float]) -> None:
    """Write a CSV file of one case."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "score"], *scores.items()])


def write_instances(folder: Path, seeds: range) -> tuple[Path, Path]:
    """Write one COCO dataset of several random ones."""
    images: list[Any] = []
    annotations: list[Any] = []
    detections: list[Any] = []
    for seed in seeds:
        drawn = random_dataset(seed)
        reference, shift = drawn["reference"], 1000 * (seed + 1)
        images += [one | {"id": one["id"] + shift} for one in reference["images"]]
        for one in reference["annotations"]:
            moved = {"image_id": one["image_id"] + shift, "id": len(annotations) + 1}
            annotations.append(one | moved)
        detections += [one | {"image_id": one["image_id"] + shift} for one in drawn["prediction"]]
    categories = drawn["reference"]["categories"]
    paths = folder / "instances.json", folder / "detections.json"
    content = {"images": images, "categories": categories, "annotations": annotations}
    for path, side in zip(paths, (content, detections), strict=True):
        path.write_text(json.dumps(side))
    return paths
