"""The one place that decides what a score is when there is nothing to average (D11)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from panmatch.evaluation._setting import Score
from panmatch.overlap import Floats, Ints
from panmatch.spec import EdgeCase, EdgeState

EdgeCases = Mapping[str, EdgeCase]  # by the name of the score


def settle(
    scores: Mapping[Score, Floats], edge_cases: EdgeCases, counts: Ints
) -> dict[Score, Floats]:
    """Return scores with the spec's values where there is nothing to average.

    Counts stay as they are: sums never contain the value of an edge case (D13).

    Parameters
    ----------
    scores
        Arrays of the same shape: for cases, for their sum, or for resamples.
    edge_cases
        What the spec says, by the name of the score.
    counts
        Shape (…, 3): what both sides share, what only the prediction has, and what only the
        reference has. These are objects for scores of a matching, and voxels for all others.

    Examples
    --------
    >>> counts = np.array([[0, 0, 0], [0, 2, 0], [0, 0, 2], [0, 1, 1], [1, 1, 1]])
    >>> wanted = {"sq_hd": EdgeCase(both_empty=0.0, no_reference="inf", no_match=9.0)}
    >>> scores = {Score("sq_hd"): np.array([np.nan, np.nan, np.nan, np.nan, 3.0])}
    >>> settle(scores, wanted, counts)[Score("sq_hd")]
    array([ 0., inf, nan,  9.,  3.])
    """
    where = _states(counts)
    return {
        score: _settled(values, edge_cases[score.name], where)
        if score.name in edge_cases
        else values
        for score, values in scores.items()
    }


def _settled(
    values: Floats, case: EdgeCase, where: Mapping[EdgeState, npt.NDArray[np.bool_]]
) -> Floats:
    for state, value in case.numbers.items():
        values = np.where(where[state], value, values)
    return values


def _states(counts: Ints) -> dict[EdgeState, npt.NDArray[np.bool_]]:
    both, only_prediction, only_reference = (counts[..., i] > 0 for i in range(3))
    return {
        "both_empty": ~both & ~only_prediction & ~only_reference,
        "no_reference": ~both & only_prediction & ~only_reference,
        "no_prediction": ~both & ~only_prediction & only_reference,
        "no_match": ~both & only_prediction & only_reference,
    }
