"""The cases of a dataset: which files belong together, as listed in a COCO file or a manifest."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from panmatch.errors import FileError
from panmatch.formats import CocoPanoptic, read_coco_panoptic

NEEDED = ("case", "reference", "prediction")


@dataclass(frozen=True, slots=True)
class ImageFile:
    """Where one side of a case is stored."""

    path: Path  # a label image, or a COCO panoptic JSON file
    parts: Path | None = None  # its part image, if there is one
    item: str | None = None  # id of the image in a COCO file
    scores: Path | None = None  # confidences of its objects: a CSV file or an image
    instances: bool = False  # whether the COCO file has instances, not a panoptic image


@dataclass(frozen=True, slots=True)
class Case:
    """One case of one model."""

    name: str  # its name in tables
    model: str
    reference: ImageFile | None  # its files; None if missing
    prediction: ImageFile | None
    problem: str = ""  # why it cannot be evaluated; empty if there is no known problem
    # Whether the predictions come from single folds, which cover only some of the references.
    of_some_folds: bool = False
    map_place: str = ""  # where its label maps go, inside the folder of maps


def coco_cases(reference: Path, predictions: Mapping[str, Path]) -> list[Case]:
    """Return one case for each image of the reference and each model."""
    sides = {model: open_coco(path) for model, path in predictions.items()}
    wanted = {str(number): number for number in open_coco(reference).annotations}
    if not wanted:
        raise FileError(f"path={str(reference)!r} does not list any images.")
    cases = []
    for model, side in sides.items():
        there = {str(number) for number in side.annotations}
        for name in wanted:
            problem = "" if name in there else f"{str(side.path)!r} has no annotation for it"
            prediction = ImageFile(side.path, item=name) if name in there else None
            cases.append(Case(name, model, ImageFile(reference, item=name), prediction, problem))
        for name in sorted(there - set(wanted)):
            problem = f"{str(reference)!r} has no annotation for it"
            cases.append(Case(name, model, None, ImageFile(side.path, item=name), problem))
    return cases


def open_coco(path: Path) -> CocoPanoptic:
    """Read a COCO panoptic file, and read it again only if it changes.

    Its images are in a folder of the same name next to it, or if there is none, next to it.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise FileError(f"path={str(path)!r} cannot be read: {error}.") from error
    return _open(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _open(path: Path, _changed: int, _size: int) -> CocoPanoptic:
    folder = path.with_suffix("")
    return read_coco_panoptic(path, folder if folder.is_dir() else path.parent)


def read_manifest(path: Path) -> list[Case]:
    """Read a CSV file with the columns case, reference and prediction.

    The column model names the model if there are several; reference_parts and prediction_parts
    name part images, and scores the confidences of the prediction. Paths are relative to the
    folder of the file. A case with an empty prediction has none. Other columns are ignored.
    """
    rows = _rows(path)
    cases = [_case(path, line, row) for line, row in rows]
    seen: set[tuple[str, str]] = set()
    for (line, _), case in zip(rows, cases, strict=True):
        if (case.name, case.model) in seen:
            model = f" of model {case.model!r}" if case.model else ""
            raise FileError(
                f"{str(path)!r}, line {line}: case {case.name!r}{model} is listed twice."
            )
        seen.add((case.name, case.model))
    return cases


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"path={str(path)!r} cannot be read as a manifest: {error}.") from error
    reader = csv.DictReader(io.StringIO(text))
    columns = [name.strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise FileError(
            f"path={str(path)!r} is not a manifest: its first line must name the columns "
            f"{', '.join(NEEDED)} (and model, if there are several); {missing[0]!r} is missing."
        )
    rows = []
    for row in reader:
        values = [(row[name] or "").strip() for name in reader.fieldnames or ()]
        if any(values):
            rows.append((reader.line_num, dict(zip(columns, values, strict=True))))
    if not rows:
        raise FileError(f"path={str(path)!r} lists no cases.")
    return rows


def _case(manifest: Path, line: int, row: dict[str, str]) -> Case:
    for name in ("case", "reference"):
        if not row[name]:
            raise FileError(f"{str(manifest)!r}, line {line}: {name} is empty.")

    def image(side: str) -> ImageFile:
        parts, scores = row.get(f"{side}_parts"), row.get("scores")
        return ImageFile(
            manifest.parent / row[side],
            manifest.parent / parts if parts else None,
            scores=manifest.parent / scores if scores and side == "prediction" else None,
        )

    prediction = image("prediction") if row["prediction"] else None
    problem = "" if prediction else f"{str(manifest)!r}, line {line}, names no prediction"
    return Case(row["case"], row.get("model", ""), image("reference"), prediction, problem)
