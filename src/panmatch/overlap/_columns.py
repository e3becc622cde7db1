"""The columns of an overlap graph: their types, their sums, and the rules they must satisfy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OverlapError
from panmatch.labels import Ints

Areas = npt.NDArray[Any]  # int64 voxel counts, or float64 areas from geometry


def sum_by(places: Ints, values: Areas, n: int) -> Areas:
    """Return n sums, one per place, in the dtype of `values`.

    The sums run in float64, which is exact for whole numbers below 2**53.

    Examples
    --------
    >>> sum_by(np.array([0, 2, 0]), np.array([5, 1, 2]), 3)
    array([7, 0, 1])
    """
    sums: Areas = np.bincount(places, values, n).astype(values.dtype)
    return sums


COLUMN_NAMES = (
    "ref_ids",
    "ref_sizes",
    "pred_ids",
    "pred_sizes",
    "pred_void",
    "edge_ref",
    "edge_pred",
    "edge_intersection",
)

PIECE_NAMES = (
    "pred_regions",
    "whole_ids",
    "whole_sizes",
    "whole_ignored",
    "member_vertex",
    "member_owner",
)

AREA_TOLERANCE = 1e-9  # relative: areas from geometry carry rounding


def as_areas(values: npt.ArrayLike, name: str) -> Areas:
    """Return `values` as int64 where they are integers, else as finite float64."""
    array = np.asarray(values)
    if array.size == 0 or array.dtype.kind in "iu":
        return array.astype(np.int64)
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise OverlapError(f"{name} must hold finite numbers, got dtype {array.dtype}: {values!r}.")
    return array.astype(np.float64)


def as_positions(array: Areas, name: str) -> Ints:
    """Return `array` unchanged if it holds integers."""
    if array.dtype != np.int64:
        raise OverlapError(f"{name} must hold integers, got dtype {array.dtype}.")
    return array


def check_consistency(columns: Mapping[str, Areas]) -> None:
    """Raise an `OverlapError` unless ids, sizes and edges fit together."""
    _check_lengths(columns)
    _check_ids(columns["ref_ids"], "ref_ids")
    if "pred_regions" in columns:
        _check_pieces(columns)
    else:
        _check_ids(columns["pred_ids"], "pred_ids")
    for side in ("ref", "pred"):
        if (columns[f"{side}_sizes"] <= 0).any():
            raise OverlapError(
                f"{side}_sizes holds {columns[f'{side}_sizes'].min()}; "
                f"every segment must have a positive size: leave empty segments out."
            )
    void, sizes = columns["pred_void"], columns["pred_sizes"]
    if (void < 0).any() or (void > sizes).any():
        raise OverlapError("pred_void must lie between 0 and pred_sizes for every prediction.")
    crowd = columns.get("pred_crowd")
    if crowd is not None and (len(crowd) != len(sizes) or (crowd < 0).any()):
        raise OverlapError("pred_crowd must have one number of at least 0 for every prediction.")
    _check_edges(columns)
    areas = {"ref": columns["ref_sizes"], "pred": sizes - void}
    for side, area in areas.items():
        if "shared_ref" in columns:
            _check_fit(columns, side, area)
        else:
            _check_disjoint(columns, side, area)
    if "shared_ref" in columns:
        _check_sharing(columns)
    if "confidence" in columns:
        _check_confidence(columns)


def _check_lengths(columns: Mapping[str, Areas]) -> None:
    pieces = "pred_regions" in columns
    for names in (
        ("ref_ids", "ref_sizes"),
        ("pred_ids", "pred_sizes", "pred_void"),
        ("edge_ref", "edge_pred", "edge_intersection"),
        *((("pred_ids", "pred_regions"), PIECE_NAMES[1:4], PIECE_NAMES[4:]) if pieces else ()),
    ):
        shapes = {name: columns[name].shape for name in names}
        if len(set(shapes.values())) != 1 or columns[names[0]].ndim != 1:
            raise OverlapError(f"these must be 1-D arrays of the same length: {shapes}.")


def _check_ids(ids: Ints, name: str) -> None:
    if len(ids) and (ids[0] < 1 or (ids[1:] <= ids[:-1]).any()):
        raise OverlapError(
            f"{name} must be strictly increasing and start at 1 or more; 0 is background."
        )


def _check_pieces(columns: Mapping[str, Areas]) -> None:
    ids, regions = columns["pred_ids"], columns["pred_regions"]
    vertex, owner = columns["member_vertex"], columns["member_owner"]
    _check_ids(columns["whole_ids"], "whole_ids")
    rising = (ids[1:] > ids[:-1]) | ((ids[1:] == ids[:-1]) & (regions[1:] > regions[:-1]))
    if len(ids) and (ids[0] < 1 or not rising.all()):
        raise OverlapError(
            "pieces must be sorted by pred_ids, then pred_regions, without duplicates."
        )
    if len(vertex) and not (
        0 <= vertex.min() <= vertex.max() < len(ids)
        and 0 <= owner.min() <= owner.max() < len(columns["whole_ids"])
    ):
        raise OverlapError("member_vertex or member_owner points outside the predictions.")
    if not np.array_equal(np.unique(vertex), np.arange(len(ids))) or (np.diff(vertex) < 0).any():
        raise OverlapError("member_vertex must list every piece, in increasing order.")
    partner = columns["ref_ids"][columns["edge_ref"]] if len(columns["edge_ref"]) else regions[:0]
    if not np.array_equal(partner, regions[columns["edge_pred"]]):
        raise OverlapError("a piece can only overlap the reference of its own region (D8).")


def _check_edges(columns: Mapping[str, Areas]) -> None:
    ref, pred = columns["edge_ref"], columns["edge_pred"]
    if len(ref) == 0:
        return
    for ends, side in ((ref, "ref"), (pred, "pred")):
        if ends.min() < 0 or ends.max() >= len(columns[f"{side}_ids"]):
            raise OverlapError(f"edge_{side} points outside {side}_ids.")
    rising = (ref[1:] > ref[:-1]) | ((ref[1:] == ref[:-1]) & (pred[1:] > pred[:-1]))
    if not rising.all():
        raise OverlapError(
            "edges must be sorted by reference, then prediction, without duplicates."
        )
    if columns["edge_intersection"].min() <= 0:
        raise OverlapError(
            "edge_intersection must be positive: a pair that shares nothing is not an edge."
        )


def _check_fit(columns: Mapping[str, Areas], side: str, sizes: Areas) -> None:
    ends, shared = columns[f"edge_{side}"], columns["edge_intersection"]
    over = np.flatnonzero(shared > sizes[ends]) if len(ends) else ends
    if len(over):
        worst = over[0]
        raise OverlapError(
            f"segment {columns[f'{side}_ids'][ends[worst]]} of side '{side}' has size "
            f"{sizes[ends[worst]]}, but an intersection of {shared[worst]}."
        )


def _check_sharing(columns: Mapping[str, Areas]) -> None:
    """Masks that share voxels are whole and have no void."""
    ref, first, preds = (columns[f"shared_{name}"] for name in ("ref", "first", "preds"))
    lengths = np.diff(first)
    fits = (
        len(first) == len(ref) + 1 == len(columns["shared_voxels"]) + 1
        and first[0] == 0
        and first[-1] == len(preds)
        and (lengths > 1).all()
        and (columns["shared_voxels"] > 0).all()
        and (not len(ref) or (ref.min() >= -1 and ref.max() < len(columns["ref_ids"])))
        and (not len(preds) or (preds.min() >= 0 and preds.max() < len(columns["pred_ids"])))
    )
    if not fits:
        raise OverlapError("the columns of shared voxels do not fit together (D16).")
    if "pred_regions" in columns or columns["pred_void"].any():
        raise OverlapError("masks that share voxels cannot be cut by regions or reach into void.")


def _check_confidence(columns: Mapping[str, Areas]) -> None:
    ids = columns.get("whole_ids", columns["pred_ids"])
    values = columns["confidence"]
    if values.shape != ids.shape or not np.isfinite(values).all():
        raise OverlapError(
            f"confidence must hold one finite number for each of the {len(ids)} predictions, got "
            f"{values!r}."
        )


def _check_disjoint(columns: Mapping[str, Areas], side: str, sizes: Areas) -> None:
    shared = sum_by(columns[f"edge_{side}"], columns["edge_intersection"], len(sizes))
    over = np.flatnonzero(shared > sizes * (1 + AREA_TOLERANCE))
    if len(over):
        worst = over[0]
        raise OverlapError(
            f"segment {columns[f'{side}_ids'][worst]} of side '{side}' has size {sizes[worst]}, "
            f"but its intersections add up to {shared[worst]}: segments of one side must be "
            f"disjoint (D1)."
        )
