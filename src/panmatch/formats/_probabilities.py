"""Images of probabilities, from which every prediction gets its confidence."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy.typing as npt

from panmatch.errors import FileError
from panmatch.formats._decoding import Origin, name_of
from panmatch.formats._grey import READERS as GREY_READERS
from panmatch.formats._images import LabelImage
from panmatch.labels import LabelArray


def read_probabilities(path: str | os.PathLike[str]) -> LabelImage:
    """Read an image of numbers, as they are stored.

    Axes, spacing and affine are those of `read_labels`.

    Raises
    ------
    FileError
        If the file cannot be read as an image of numbers; the message starts with the path.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/case.npy", np.array([[0.25, 0.0], [0.5, 1.0]]))
    ...     read_probabilities(f"{folder}/case.npy").labels.tolist()
    [[0.25, 0.0], [0.5, 1.0]]
    """
    source = Path(path)
    name = source.name.lower()
    suffix = max((one for one in READERS if name.endswith(one)), key=len, default="")
    if not suffix:
        raise FileError(
            f"path={str(source)!r} does not have the suffix of an image of probabilities. "
            f"Accepted: {', '.join(READERS)}."
        )
    return READERS[suffix](source)


def _as_numbers(values: npt.NDArray[Any], origin: Origin) -> LabelArray:
    if values.dtype.kind not in "biuf":
        raise FileError(
            f"{name_of(origin)} stores values of dtype {values.dtype}; an image of probabilities "
            f"must have one number per voxel."
        )
    return cast(LabelArray, values)  # which holds any numbers here


# The formats of grey images, but for pictures, which hold too few levels.
READERS: dict[str, Callable[[Path], LabelImage]] = {
    suffix: partial(reader.func, decode=_as_numbers)
    for suffix, reader in GREY_READERS.items()
    if isinstance(reader, partial)
}
