"""Surfaces and calibrations as plain data for JSON; nothing is written without confidences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from panmatch.evaluation._setting import Setting
from panmatch.scoring import Calibration, Surface

Json = dict[str, Any]


def surface_to_dict(surface: Surface | None, cut: float | None) -> Json:
    """Return the keys of an entry that has confidences: its surface, and its cut if it has one.

    JSON has no infinity, which stands for what does not depend on the cut: it becomes None.
    """
    found: Json = {} if cut is None else {"cut": cut}
    if surface is not None:
        values = surface.confidences.tolist()
        found["surface"] = {
            "thresholds": surface.thresholds.tolist(),
            "confidences": [None if one == math.inf else one for one in values],
            "changes": surface.changes.T.tolist(),
            "proven": surface.proven,
        }
    return found


def surface_from_dict(content: Json | None, setting: Setting) -> Surface | None:
    """Return the surface of an entry."""
    if content is None:
        return None
    thresholds = np.array(content["thresholds"], np.float64)
    confidences = [math.inf if one is None else one for one in content["confidences"]]
    shape = len(content["changes"]), len(thresholds)  # which may be 0
    changes = np.array(content["changes"], np.int64).reshape(shape).T
    return Surface(
        thresholds,
        np.array(confidences, np.float64),
        np.zeros(len(thresholds), np.int64),
        np.ascontiguousarray(changes),
        1,
        setting.matcher.strategy,
        setting.matcher.score,
        content["proven"],
    )


def calibration_to_dict(found: Calibration | None) -> Json:
    """Return the key of a level with confidences from 0 to 1."""
    if found is None:
        return {}
    counts = [found.counts.tolist(), found.matched.tolist(), found.limbs.tolist()]
    return {"calibration": counts}


def calibration_from_dict(content: list[Any] | None) -> Calibration | None:
    """Return the calibration of a level."""
    if content is None:
        return None
    counts, matched, limbs = (np.array(one, np.int64) for one in content)
    return Calibration(np.linspace(0.0, 1.0, len(counts) + 1), counts, matched, limbs)
