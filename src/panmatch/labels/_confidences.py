"""Confidence of every segment from an image of probabilities."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, ShapeError, check_choice
from panmatch.labels._arrays import as_labels, check_is_array

Reduction = Literal["max", "mean"]


def confidences_from_image(
    prediction: npt.ArrayLike, probability: npt.ArrayLike, reduce: Reduction = "max"
) -> dict[int, float]:
    """Reduce an image of probabilities to one confidence per predicted segment.

    Parameters
    ----------
    prediction
        Label image; 0 is background.
    probability
        Image of the same shape.
    reduce
        ``"max"``: the highest value inside a segment. ``"mean"``: the mean.

    Returns
    -------
    dict
        Confidence by id, for `Overlap.with_confidence`.

    Examples
    --------
    >>> import panmatch as pm
    >>> pm.confidences_from_image([[4, 4, 0, 7]], [[0.5, 0.75, 0.1, 0.25]], reduce="mean")
    {4: 0.625, 7: 0.25}
    """
    check_choice("reduce", reduce, ("max", "mean"))
    labels = as_labels(prediction, "prediction")
    check_is_array(probability, "probability")
    values = np.asarray(probability, np.float64)
    if values.shape != labels.shape:
        raise ShapeError(
            f"probability has shape {values.shape}, but prediction {labels.shape}: both must cover "
            f"the same voxels."
        )
    inside = labels != 0
    ids, place = np.unique(labels[inside], return_inverse=True)
    shown = values[inside]
    bad = np.flatnonzero(~np.isfinite(shown))
    if len(bad):
        raise LabelError(
            f"probability is {shown[bad[0]]} inside segment {ids[place[bad[0]]]}; it must be a "
            f"finite number wherever something is predicted."
        )
    if reduce == "max":
        found = np.full(len(ids), -np.inf)
        np.maximum.at(found, place, shown)
    else:
        found = np.bincount(place, shown, len(ids)) / np.bincount(place, minlength=len(ids))
    return dict(zip(ids.tolist(), found.tolist(), strict=True))
