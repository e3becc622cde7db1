"""An overlap as named columns, which files and JSON hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OverlapError
from panmatch.overlap._columns import (
    COLUMN_NAMES,
    PIECE_NAMES,
    Areas,
    as_areas,
    as_positions,
)
from panmatch.overlap._parts import Parts
from panmatch.overlap._pieces import Pieces, Predictions
from panmatch.overlap._sharing import Sharing

if TYPE_CHECKING:
    from panmatch.overlap._graph import Overlap


def columns_of(overlap: Overlap) -> dict[str, Areas]:
    """Return everything in an overlap as named 1-D arrays."""
    columns = {
        "ref_ids": overlap.ref_ids,
        "ref_sizes": overlap.ref_sizes,
        "pred_ids": overlap.pred_ids,
        "pred_sizes": overlap.pred_sizes,
        "pred_void": overlap.pred_void,
        "edge_ref": overlap.edges.ref,
        "edge_pred": overlap.edges.pred,
        "edge_intersection": overlap.edges.intersection,
    }
    if overlap.pred_crowd is not None:
        columns["pred_crowd"] = overlap.pred_crowd
    if overlap.pieces is not None:
        whole = overlap.pieces.predictions
        values = (whole.ids, whole.sizes, whole.ignored, whole.vertex, whole.owner)
        columns |= dict(zip(PIECE_NAMES, (overlap.pieces.regions, *values), strict=True))
    if overlap.sharing is not None:
        columns |= overlap.sharing.columns()
    if overlap.confidence is not None:
        columns["confidence"] = overlap.confidence
    if overlap.voxels is not None:
        columns["voxels"] = np.array([overlap.voxels])
    return columns | ({} if overlap.parts is None else overlap.parts.columns())


def fields_of(columns: Mapping[str, npt.ArrayLike]) -> dict[str, Any]:
    """Return the fields of an overlap from columns, after checking them; edges as a tuple."""
    missing = [name for name in COLUMN_NAMES if name not in columns]
    if missing:
        raise OverlapError(f"the columns {missing} of the overlap are missing.")
    areas = {name: as_areas(columns[name], name) for name in COLUMN_NAMES}
    edges = (
        as_positions(areas["edge_ref"], "edge_ref"),
        as_positions(areas["edge_pred"], "edge_pred"),
        areas["edge_intersection"],
    )
    return {
        "ref_ids": as_positions(areas["ref_ids"], "ref_ids"),
        "ref_sizes": areas["ref_sizes"],
        "pred_ids": as_positions(areas["pred_ids"], "pred_ids"),
        "pred_sizes": areas["pred_sizes"],
        "edges": edges,
        "pred_void": areas["pred_void"],
        "pred_crowd": as_areas(columns["pred_crowd"], "pred_crowd")
        if "pred_crowd" in columns
        else None,
        "pieces": _pieces_of(columns),
        "parts": Parts.from_columns(columns),
        "voxels": as_areas(columns["voxels"], "voxels").item() if "voxels" in columns else None,
        "sharing": Sharing.from_columns(columns),
        "confidence": np.asarray(columns["confidence"], np.float64)
        if "confidence" in columns
        else None,
    }


def json_columns(text: str, name: str) -> dict[str, Any]:
    """Return the columns in JSON text that has the given format name."""
    import json

    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise OverlapError(f"text is not JSON: {error}.") from error
    if not isinstance(content, dict) or content.get("format") != name:
        raise OverlapError(f"text is JSON, but not an overlap: no 'format': {name!r}.")
    return content


def _pieces_of(columns: Mapping[str, npt.ArrayLike]) -> Pieces | None:
    missing = [name for name in PIECE_NAMES if name not in columns]
    if len(missing) == len(PIECE_NAMES):
        return None
    if missing:
        raise OverlapError(
            f"the columns {missing}, which an overlap cut into pieces needs, are missing."
        )
    regions, *whole = (as_areas(columns[name], name) for name in PIECE_NAMES)
    return Pieces(regions, Predictions(*whole))
