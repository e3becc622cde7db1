"""Where the cells of the references meet, as a small picture (D8)."""

from __future__ import annotations

import base64

import numpy as np
import numpy.typing as npt

from panmatch.labels import LabelArray, nearest_labels
from panmatch.playground.plain import Message

STEP = 2  # pixels of the raster per pixel of the picture


def cell_borders(reference: LabelArray) -> Message:
    """Return the pixels at which one cell ends and another one begins.

    Parameters
    ----------
    reference
        Label image with even sides. The cells are those of its blocks of 2 × 2 pixels, each with
        the largest label in it, so that no object is lost.
    """
    borders = _differs(nearest_labels(_coarse(reference)))
    height, width = borders.shape
    bits = base64.b64encode(np.packbits(borders).tobytes()).decode("ascii")
    return {"width": width, "height": height, "bits": bits}


def _coarse(labels: LabelArray) -> LabelArray:
    rows = np.maximum(labels[::STEP], labels[1::STEP])
    return np.maximum(rows[:, ::STEP], rows[:, 1::STEP])


def _differs(cells: LabelArray) -> npt.NDArray[np.bool_]:
    """Return which pixels differ from the one to the right of them or below."""
    borders = np.zeros(cells.shape, np.bool_)
    borders[:, :-1] = cells[:, 1:] != cells[:, :-1]
    borders[:-1] |= cells[1:] != cells[:-1]
    return borders
