"""From the files of a case to images."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from panmatch.datasets.case import Case, Source
from panmatch.datasets.coco_cases import open_coco
from panmatch.errors import FileError, OptionError
from panmatch.evaluation import Images
from panmatch.formats import StoredImage, check_same_grid, is_chunked_file, open_labels
from panmatch.labels import as_dask
from panmatch.spec import Spec

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """The two sides of a case, and the spacing of their voxels."""

    reference: Images
    prediction: Images
    spacing: tuple[float, ...] | None


def load_case(
    case: Case, spec: Spec, allow_header_mismatch: bool, *, on_dask: bool = False
) -> Loaded:
    """Read all images of a case, and check that they lie on one grid.

    Parameters
    ----------
    on_dask
        Whether images that stay in their chunks are handed over to Dask.
    """
    ref, pred = case.reference, case.prediction
    if case.problem or ref is None or pred is None:
        raise FileError(case.problem or "a file is missing")
    if spec.encoding == "coco":
        return _load_coco(ref, pred)
    first = open_labels(ref.path, colour_ids=spec.colour_ids)
    others = {
        "prediction": open_labels(pred.path, colour_ids=spec.colour_ids),
        "reference_parts": None if ref.parts is None else open_labels(ref.parts),
        "prediction_parts": None if pred.parts is None else open_labels(pred.parts),
    }
    found: dict[str, StoredImage] = {name: one for name, one in others.items() if one is not None}
    for image in found.values():
        check_same_grid(first, image, allow_header_mismatch=allow_header_mismatch)
    images = {"reference": first.labels} | {name: one.labels for name, one in found.items()}
    if on_dask:
        images = {name: as_dask(labels) for name, labels in images.items()}
    return Loaded(
        Images(images["reference"], images.get("reference_parts")),
        Images(images["prediction"], images.get("prediction_parts")),
        first.spacing or found["prediction"].spacing,
    )


def is_chunked_case(case: Case) -> bool:
    """Return whether both images of a case are Zarr folders, or inside of one."""
    sources = (case.reference, case.prediction)
    return all(source is not None and is_chunked_file(source.path) for source in sources)


def _load_coco(ref: Source, pred: Source) -> Loaded:
    if not ref.path.suffix == pred.path.suffix == ".json":
        raise OptionError("encoding 'coco' reads JSON files: pass REF.json and PRED.json.")
    sides = open_coco(ref.path), open_coco(pred.path)
    classes = sides[0].classes
    images = [
        Images(side.image(side.by_name[str(source.item)], classes))
        for side, source in zip(sides, (ref, pred), strict=True)
    ]
    return Loaded(images[0], images[1], None)


def content_hash(case: Case) -> str:
    """Return a fingerprint of the content of all files of a case."""
    digest = hashlib.sha256()
    for source in (case.reference, case.prediction):
        for path in () if source is None else (source.path, source.parts):
            if path is not None:
                _add(digest, path, None if source is None else source.item)
            digest.update(b"\0")
    return digest.hexdigest()


def _add(digest: hashlib._Hash, path: Path, item: str | None) -> None:
    try:
        if item is not None:
            side = open_coco(path)
            annotation = side.annotations[side.by_name[item]]
            digest.update(json.dumps(annotation, sort_keys=True).encode())
            digest.update(repr(side.classes).encode())
            path = side.folder / str(annotation["file_name"])
        for file in _files(path):
            if file != path:
                digest.update(file.relative_to(path).as_posix().encode())
            with file.open("rb") as stream:
                while block := stream.read(BLOCK):
                    digest.update(block)
            digest.update(b"\0")
    except OSError as error:
        raise FileError(f"path={str(path)!r} cannot be read: {error}.") from error


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.is_file())
    else:
        yield path
