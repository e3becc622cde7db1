"""How PQ comes about: one term for every true positive (D3, D9)."""

from __future__ import annotations

from typing import Any

import numpy as np

from panmatch.matching import Matching
from panmatch.matching.tally import part_sums, union_areas
from panmatch.overlap import Areas, Floats, Ints
from panmatch.playground.plain import Message

BACKGROUND = 0  # in place of a part's label


def terms(matching: Matching, most: int | None = None) -> list[Message]:
    """Return the terms whose qualities add up to the quality of the tally.

    Intersection and union are those of the reference and the union of its predictions; by parts
    (D9), those of every label that occurs stand beside them, and quality is the mean of their IoU.

    Parameters
    ----------
    matching
        Under any strategy; predictions may be cut by cells, and may have parts.
    most
        How many terms are wanted, the first by the id of the reference; None for all.
    """
    overlap, edges = matching.overlap, matching.edges
    matched = np.unique(overlap.edges.ref[edges])[:most]
    areas = (_exact(values[matched], overlap.ref_sizes) for values in union_areas(overlap, edges))
    columns: tuple[Any, ...] = (
        overlap.ref_ids[matched].tolist(),
        _predictions(matching, matched),
        *(values.tolist() for values in areas),
        matching.ref_quality[matched].tolist(),
        _parts(matching, matched),
    )
    names = ("reference", "predictions", "intersection", "union", "quality", "parts")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _predictions(matching: Matching, matched: Ints) -> list[list[int]]:
    """Return the ids of the whole predictions that each reference is matched to."""
    pairs = matching.pairs
    ids = matching.overlap.ref_ids[matched]
    first = np.searchsorted(pairs[:, 0], ids).tolist()
    last = np.searchsorted(pairs[:, 0], ids, side="right").tolist()
    preds = pairs[:, 1].tolist()
    return [preds[a:b] for a, b in zip(first, last, strict=True)]


def _parts(matching: Matching, matched: Ints) -> list[list[Message] | None]:
    overlap, parts = matching.overlap, matching.overlap.parts
    if parts is None:
        return [None] * len(matched)
    hits, union = parts.label_areas(matched, part_sums(overlap, matching.edges)[matched])
    labels = parts.labels.tolist() + [BACKGROUND] * (parts.background == "image")
    return [_labels(labels, *row) or None for row in zip(hits, union, strict=True)]


def _labels(labels: list[int], hits: Floats, union: Floats) -> list[Message]:
    return [
        {"part": label, "intersection": int(shared), "union": int(whole), "iou": shared / whole}
        for label, shared, whole in zip(labels, hits.tolist(), union.tolist(), strict=True)
        if whole > 0
    ]


def _exact(values: Floats, like: Areas) -> Areas:
    """Return sums of voxels as whole numbers; areas from geometry stay as they are."""
    return values.astype(like.dtype)
