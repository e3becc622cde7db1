"""Confidences in Python: a mapping, a CSV file, or an image of probabilities."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, MissingFileError, OptionError
from panmatch.evaluation import Confidences
from panmatch.formats import ConfidenceTable, ImageLike, open_confidences, read_probabilities
from panmatch.spec import Spec

ConfidenceLike: TypeAlias = Mapping[int, float] | str | os.PathLike[str] | ImageLike

TABLE = ".csv"


def expect_confidence(spec: Spec, confidence: ConfidenceLike | None) -> Spec:
    """Return a spec with the key ``confidence`` if a case has confidences.

    Examples
    --------
    >>> expect_confidence(Spec(), {1: 0.9}).confidence.source
    'csv'
    >>> expect_confidence(Spec(), None) == Spec()
    True
    """
    if confidence is None or spec.confidence is not None:
        return spec
    named = isinstance(confidence, Mapping) or is_table(confidence)
    content = spec.model_dump() | {"confidence": {"source": "csv" if named else "image"}}
    return Spec.model_validate(content)


def is_table(source: object) -> bool:
    """Return whether this is the path of a CSV file."""
    return isinstance(source, str | os.PathLike) and Path(source).suffix.lower() == TABLE


def read_confidence_like(
    confidence: ConfidenceLike | None, spec: Spec, case: str | None
) -> Confidences | None:
    """Return the confidences of a case, whatever they are given as."""
    if confidence is None:
        return None
    if spec.confidence is None:
        raise OptionError(
            "confidence is given, but the spec does not expect confidences: write "
            "`confidence: {}` in the spec, or leave them out."
        )
    if isinstance(confidence, Mapping):
        return Confidences(confidence)
    if isinstance(confidence, str | os.PathLike):
        return confidences_from_file(Path(confidence), case)
    return Confidences(_probabilities(confidence))


def confidences_from_file(path: Path, case: str | None) -> Confidences:
    """Read a CSV file, of one case or of many, or an image of probabilities."""
    source = f"path={str(path)!r}"
    if not is_table(path):
        return Confidences(read_probabilities(path).labels, source)  # type: ignore[arg-type]
    table = open_table(path)
    return Confidences(table.of(case if table.has_cases else None), source)


def open_table(path: Path) -> ConfidenceTable:
    """Read a CSV file, and read it again only if it changes: all cases may share one."""
    try:
        state = path.stat()
    except OSError as error:
        raise MissingFileError(f"path={str(path)!r} cannot be read: {error.strerror}.") from error
    return _open(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _open(path: Path, _changed: int, _size: int) -> ConfidenceTable:
    return open_confidences(path)


def _probabilities(image: ImageLike) -> npt.NDArray[np.floating]:
    values = np.asarray(getattr(image, "dataobj", image))  # of a nibabel image
    if values.dtype.kind not in "fiub":
        raise LabelError(
            f"confidence has dtype {values.dtype}; pass a mapping from id to number, a CSV file, "
            f"or an image of probabilities."
        )
    return values
