"""How sure a model is of every prediction, and what is left above a cut."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, OverlapError
from panmatch.labels import Floats, Ints, Mask
from panmatch.overlap._pieces import Pieces, Predictions
from panmatch.overlap._sharing import Sharing

if TYPE_CHECKING:
    from panmatch.overlap._graph import Overlap

MOST_NAMED = 5  # ids in a message


def read_confidence(values: npt.ArrayLike | Mapping[int, float], ids: Ints) -> Floats:
    """Return one confidence per id, in the order of the ids.

    Examples
    --------
    >>> read_confidence({2: 0.5, 1: 1.0}, np.array([1, 2]))
    array([1. , 0.5])
    """
    if isinstance(values, Mapping):
        values = _by_id(values, ids)
    try:
        numbers = np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise OverlapError(f"confidence must hold numbers, got {values!r}.") from error
    if numbers.shape != ids.shape:
        raise OverlapError(
            f"confidence has shape {numbers.shape}, but there are {len(ids)} predictions with the "
            f"ids {_some(ids)}: pass one number per prediction, or a mapping from id to number."
        )
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise OverlapError(
            f"the confidence of prediction {ids[bad[0]]} is {numbers[bad[0]]}; it must be a finite "
            f"number."
        )
    return numbers


def needed_confidence(overlap: Overlap) -> Floats:
    """Return the confidences of an overlap, or raise an `OverlapError` with the remedy."""
    if overlap.confidence is None:
        raise OverlapError(
            "the predictions of this overlap have no confidence: add one for each with "
            "overlap.with_confidence(values)."
        )
    return overlap.confidence


def check_cut(cut: float) -> float:
    """Return a cut through the confidences unless it is NaN or not a number."""
    try:
        value = float(cut)
    except (TypeError, ValueError) as error:
        raise OptionError(f"cut={cut!r} must be a number.") from error
    if math.isnan(value):
        raise OptionError("cut=nan must be a number: every comparison with NaN fails.")
    return value


def keep_predictions(overlap: Overlap, kept: Mask) -> Overlap:
    """Return the overlap with some of the whole predictions, and all references.

    Parameters
    ----------
    kept
        Which of ``overlap.predictions`` stay.
    """
    whole = overlap.predictions
    stays = np.zeros(len(overlap.pred_ids), np.bool_)
    stays[whole.vertex[kept[whole.owner]]] = True
    edges, at = overlap.edges, np.cumsum(stays) - 1
    edge_stays = stays[edges.pred]
    changed: dict[str, Any] = {
        name: getattr(overlap, name)[stays]
        for name in ("pred_ids", "pred_sizes", "pred_void", "pred_crowd")
        if getattr(overlap, name) is not None
    }
    return replace(
        overlap,
        **changed,
        edges=type(edges)(
            edges.ref[edge_stays], at[edges.pred[edge_stays]], edges.intersection[edge_stays]
        ),
        pieces=_kept_pieces(overlap, kept, stays),
        parts=None,
        sharing=_kept_sharing(overlap, np.where(stays, at, -1)),
        confidence=None if overlap.confidence is None else overlap.confidence[kept],
    )


def _kept_pieces(overlap: Overlap, kept: Mask, stays: Mask) -> Pieces | None:
    if overlap.pieces is None:
        return None
    whole = overlap.pieces.predictions
    members = kept[whole.owner]
    return Pieces(
        overlap.pieces.regions[stays],
        Predictions(
            whole.ids[kept],
            whole.sizes[kept],
            whole.ignored[kept],
            (np.cumsum(stays) - 1)[whole.vertex[members]],
            (np.cumsum(kept) - 1)[whole.owner[members]],
        ),
    )


def _kept_sharing(overlap: Overlap, places: Ints) -> Sharing | None:
    if overlap.sharing is None:
        return None
    rows = overlap.sharing.moved(np.arange(len(overlap.ref_ids)), places)
    return Sharing.of_rows(rows, refs_overlap=overlap.sharing.refs_overlap)


def _by_id(values: Mapping[int, float], ids: Ints) -> list[float]:
    known = set(ids.tolist())
    unknown = [one for one in values if one not in known]
    if unknown:
        raise OverlapError(
            f"confidence names the unknown ids {_some(unknown)}; the predictions have the ids "
            f"{_some(ids)}."
        )
    missing = [one for one in ids.tolist() if one not in values]
    if missing:
        raise OverlapError(
            f"the predictions {_some(missing)} have no confidence: name every prediction."
        )
    return [values[one] for one in ids.tolist()]


def _some(ids: Any) -> str:
    listed = [str(one) for one in ids]
    more = len(listed) - MOST_NAMED
    return ", ".join(listed[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
