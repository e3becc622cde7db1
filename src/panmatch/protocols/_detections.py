"""Protocols of detections: programs that rank predictions by confidence over a whole dataset."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, OptionError
from panmatch.formats import read_coco_instances
from panmatch.labels import confidences_from_image, connected_components
from panmatch.overlap import Floats, count_overlaps
from panmatch.related import Ranked, coco_precision, rank_most_pairs, rank_points
from panmatch.scoring import Froc

LUNA_RATES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
PICAI_OVERLAP = 0.1


@dataclass(frozen=True, slots=True)
class DetectionProtocol:
    """How to compute the numbers of a program that ranks detections.

    Attributes
    ----------
    name, title, program, version, source
        The program, and where it is published.
    takes
        What reference and prediction are.
    reproduces, verified
        Which numbers, and how that was verified.
    departs
        Where the program departs from its own definition, or ours from it.
    reads_images
        Whether it takes lists of images, which the command line reads from two folders.
    """

    name: str
    title: str
    program: str
    version: str
    source: str
    takes: str
    reproduces: str
    verified: str
    departs: tuple[str, ...]
    numbers: Callable[[Any, Any], dict[str, float]]
    reads_images: bool = False


def run_coco_masks(reference: Any, prediction: Any) -> dict[str, float]:
    """Return the numbers of COCO for masks, given two JSON files."""
    return _coco(reference, prediction, "masks")


def run_coco_boxes(reference: Any, prediction: Any) -> dict[str, float]:
    """Return the numbers of COCO for boxes, given two JSON files."""
    return _coco(reference, prediction, "boxes")


def _coco(reference: Any, prediction: Any, shape: Any) -> dict[str, float]:
    refs = read_coco_instances(reference, decode=False)
    preds = read_coco_instances(prediction, refs, decode=False)
    found = coco_precision(
        refs.table,
        preds.table,
        images=list(refs.sizes),
        categories=list(refs.categories),
        shape=shape,
    )
    sizes = {"s": "small", "m": "medium", "l": "large"}
    numbers = {
        "AP": found.average_precision(),
        "AP50": found.average_precision(0.5),
        "AP75": found.average_precision(0.75),
        **{f"AP{letter}": found.average_precision(area=area) for letter, area in sizes.items()},
        **{f"AR{limit}": found.average_recall(limit) for limit in (1, 10, 100)},
        **{f"AR{letter}": found.average_recall(area=area) for letter, area in sizes.items()},
        **{
            f"AP/{name}": found.average_precision(category=category)
            for category, name in sorted(refs.categories.items())
        },
    }
    return {name: -1.0 if math.isnan(value) else value for name, value in numbers.items()}


def run_picai(reference: Any, prediction: Any) -> dict[str, float]:
    """Return the numbers of PI-CAI, given lists of lesion masks and of detection maps."""
    masks, maps = _cases(reference, "reference"), _cases(prediction, "prediction")
    if len(masks) != len(maps):
        raise OptionError(
            f"reference has {len(masks)} cases and prediction {len(maps)}: pass one mask and one "
            f"detection map per case."
        )
    ranked = [_picai_case(mask, of) for mask, of in zip(masks, maps, strict=True)]
    precision = sum(ranked).over_cuts().average_precision("none")  # type: ignore[union-attr]
    highest = np.array([one.confidence.max(initial=0.0) for one in ranked])
    ill = np.array([one.n_ref > 0 for one in ranked])
    auroc = _auroc(highest[ill], highest[~ill])
    return {"AUROC": auroc, "AP": precision, "score": (auroc + precision) / 2}


def _picai_case(mask: npt.ArrayLike, detections: npt.ArrayLike) -> Ranked:
    """Match the lesions and candidates of a case, both connected in all directions."""
    values = np.asarray(detections).astype(np.float32)
    if values.size and not values.min() >= 0:
        raise OptionError("prediction has a detection map with a negative or undefined confidence.")
    lesions = connected_components(np.asarray(mask) != 0, "full")
    candidates = connected_components(values != 0, "full")
    if int(candidates.max(initial=0)) < len(np.unique(values[values != 0])):
        raise OptionError(
            "prediction has a detection map with more confidences than connected components, such "
            "as a probability image: give all voxels of a candidate the same confidence."
        )
    overlap = count_overlaps(lesions, candidates)
    scored = overlap.with_confidence(confidences_from_image(candidates, values))
    return rank_most_pairs(scored, PICAI_OVERLAP)


def _auroc(positive: Floats, negative: Floats) -> float:
    """Return how often a positive case has the higher value; ties count half."""
    if not len(positive) or not len(negative):
        return math.nan
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive) + np.searchsorted(ordered, positive, side="right")
    return float(below.sum() / (2 * len(positive) * len(negative)))


def run_luna(reference: Any, prediction: Any) -> dict[str, float]:
    """Return the numbers of LUNA16, given nodules and candidates of every scan."""
    nodules, candidates = _points(reference, "diameter_mm"), _points(prediction, "probability")
    scans = sorted({*nodules, *candidates})
    none: list[list[float]] = []
    total = sum(rank_points(nodules.get(one, none), candidates.get(one, none)) for one in scans)
    if not isinstance(total, Ranked):
        raise OptionError("reference has no scans: name every scan, also those without a nodule.")
    froc = total.over_cuts().froc()
    named = {f"sensitivity at {rate:g}": froc.at(rate, "linear") for rate in LUNA_RATES}
    return {"CPM": _cpm(froc), **named}


def _cpm(froc: Froc) -> float:
    return froc.mean_sensitivity(LUNA_RATES, "linear")


def _points(given: Any, last: str) -> Mapping[str, npt.ArrayLike]:
    """Return rows x, y, z and a value by scan, from a mapping or a CSV file of LUNA16."""
    if isinstance(given, Mapping):
        return given
    names = ("coordX", "coordY", "coordZ", last)
    found: dict[str, list[list[float]]] = {}
    try:
        with Path(given).open(newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                values = [float(row[name]) for name in names]
                found.setdefault(row["seriesuid"], []).append(values)
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise FileError(
            f"path={os.fspath(given)!r} cannot be read as a table of LUNA16 with the columns "
            f"seriesuid, {', '.join(names)}: {error!r}."
        ) from error
    return found


def _cases(given: Any, name: str) -> Sequence[Any]:
    if isinstance(given, str | os.PathLike | Mapping) or not isinstance(given, Iterable):
        raise OptionError(f"{name} must be a list with one array per case.")
    return list(given)


_COCO = {
    "program": "pycocotools (cocoeval.py)",
    "version": "2.0.11",
    "source": "https://github.com/ppwwyyxx/cocoapi",
    "takes": "the JSON file of instances, and the JSON list of detections with scores",
    "reproduces": (
        "AP, AP50, AP75, AP and AR for small, medium and large objects, AR with 1, 10 and 100 "
        "detections, and AP of every category."
    ),
    "verified": "All numbers equal those of pycocotools on more than 200 random datasets.",
    "departs": (
        "Predictions are matched by falling score, and an IoU equal to the threshold is enough.",
        "If detections have boxes, the area of the box decides about small, medium and large.",
        "A reference with the id 0 can never be matched; ours can.",
    ),
}  # fmt: skip

DETECTION_PROTOCOLS = {
    one.name: one
    for one in (
        DetectionProtocol("coco-instances", "COCO instances", numbers=run_coco_masks, **_COCO),  # type: ignore[arg-type]
        DetectionProtocol(
            "coco-instances/boxes",
            "COCO boxes",
            numbers=run_coco_boxes,
            **_COCO,  # type: ignore[arg-type]
        ),
        DetectionProtocol(
            "picai",
            "PI-CAI",
            "picai_eval",
            "1.4.13",
            "https://github.com/DIAGNijmegen/picai_eval",
            "a list of lesion masks, and a list of detection maps",
            "AUROC of cases, AP of lesions, and their mean, the score of the ranking.",
            "All numbers equal those of picai_eval on 40 datasets, as recorded in the tests.",
            (
                "An unmatched candidate with enough IoU does not count.",
                "Lesions and candidates are matched once, with all candidates, not at every cut.",
            ),
            run_picai,
            reads_images=True,
        ),
        DetectionProtocol(
            "froc-luna",
            "LUNA16",
            "noduleCADEvaluationLUNA16.py",
            "2016",
            "https://luna16.grand-challenge.org",
            "the CSV files of nodules and candidates, or mappings from scan to rows",
            "CPM and sensitivity at ⅛ to 8 false positives per scan.",
            "Compared with the published rules, written down a second time in the tests.",
            (
                "The program reads sensitivities off a grid of 10,001 rates; ours are exact.",
                "Findings that the program excludes must be left out of the candidates.",
            ),
            run_luna,
        ),
    )
}
