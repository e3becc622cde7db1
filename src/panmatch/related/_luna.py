"""Detections as points: nodules of LUNA16, with centre and diameter, and candidates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError
from panmatch.labels import Floats
from panmatch.related._ranked import FALSE, IGNORED, TRUE, Ranked

COLUMNS = 4


def rank_points(nodules: npt.ArrayLike, candidates: npt.ArrayLike) -> Ranked:
    """Judge candidates by whether they lie inside a nodule.

    The most probable candidate inside a nodule is its true positive; others inside it do not count.
    Candidates inside no nodule are false positives.

    Parameters
    ----------
    nodules
        Rows x, y, z and diameter, in one unit.
    candidates
        Rows x, y, z and probability.

    Examples
    --------
    >>> from panmatch import related
    >>> marks = [[1, 0, 0, 0.9], [0, 1, 0, 0.5], [5, 5, 5, 0.7]]
    >>> found = related.rank_points([[0, 0, 0, 4]], marks)
    >>> found.verdict.tolist(), found.n_ref
    ([1, 2, 0], 1)
    """
    spheres, points = _rows(nodules, "nodules"), _rows(candidates, "candidates")
    gaps = points[np.newaxis, :, :3] - spheres[:, np.newaxis, :3]
    inside = (gaps**2).sum(axis=-1) < (spheres[:, 3:] / 2) ** 2
    verdict = np.where(inside.any(axis=0), IGNORED, FALSE).astype(np.int64)
    free = np.ones(len(points), np.bool_)
    for row in inside:  # a candidate serves one nodule
        found = np.flatnonzero(row & free)
        if not len(found):
            continue
        verdict[found[np.argmax(points[found, 3])]] = TRUE
        free[found] = False
    return Ranked(points[:, 3], verdict, len(spheres))


def _rows(values: npt.ArrayLike, name: str) -> Floats:
    rows = np.asarray(values, np.float64)
    rows = rows.reshape(-1, COLUMNS) if rows.size == 0 else rows
    if rows.ndim != 2 or rows.shape[1] != COLUMNS or not np.isfinite(rows).all():
        last = "diameter" if name == "nodules" else "probability"
        raise LabelError(
            f"{name} must hold rows of four finite numbers, x, y, z and {last}, got shape "
            f"{rows.shape}."
        )
    return rows
