"""Cases of COCO panoptic files: one per image."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from panmatch.datasets.case import Case, Source
from panmatch.errors import FileError
from panmatch.formats import CocoPanoptic, read_coco_panoptic


def coco_cases(reference: Path, predictions: Mapping[str, Path]) -> list[Case]:
    """Return one case per image of the reference and model."""
    sides = {model: open_coco(path) for model, path in predictions.items()}
    wanted = {str(number): number for number in open_coco(reference).annotations}
    if not wanted:
        raise FileError(f"path={str(reference)!r} lists no image.")
    cases = []
    for model, side in sides.items():
        there = {str(number) for number in side.annotations}
        for name in wanted:
            problem = "" if name in there else f"{str(side.path)!r} has no annotation for it"
            prediction = Source(side.path, item=name) if name in there else None
            cases.append(Case(name, model, Source(reference, item=name), prediction, problem))
    return cases


def open_coco(path: Path) -> CocoPanoptic:
    """Read a COCO panoptic file, once as long as it does not change.

    Its images are in the folder of the same name beside it, or beside it where there is none.
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
