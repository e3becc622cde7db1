"""One-to-one matching with as many pairs as there can be."""

from __future__ import annotations

import numpy as np

from panmatch import native
from panmatch.errors import OptionError
from panmatch.matching import Tally
from panmatch.matching._exact_sum import limbs_to_units, to_limbs
from panmatch.overlap import Floats, Ints, Overlap

_SCALE = 60


def most_pairs(overlap: Overlap, score: Floats, at_least: float) -> Ints:
    """Return the edges of a largest one-to-one matching; among several that of highest score.

    Parameters
    ----------
    score
        Of every edge, from 0 to 1.
    at_least
        Only edges with a score of this or more are used: not strictly more, as elsewhere (D2).
    """
    edges = np.flatnonzero(score >= at_least)
    ref, pred = overlap.edges.ref[edges], overlap.edges.pred[edges]
    sizes = len(overlap.ref_ids), len(overlap.pred_ids)
    # All scores together weigh less than one more pair.
    share = score[edges] / (2 * max(1, min(sizes)))
    weight = np.rint(np.ldexp(1.0 + share, _SCALE)).astype(np.int64)
    chosen = native.assign(ref, pred, weight, *sizes)
    matched: Ints = edges[chosen.view(np.bool_)]
    return matched


def as_tally(overlap: Overlap, edges: Ints, score: Floats) -> Tally:
    """Count a one-to-one matching, with the score as quality."""
    tp = len(edges)
    return Tally.from_units(
        tp=tp,
        fp=len(overlap.pred_ids) - tp,
        fn=len(overlap.ref_ids) - tp,
        units=limbs_to_units(to_limbs(score[edges]).sum(axis=0)),
    )


def check_inclusive_threshold(argument: str, value: float) -> float:
    """Return a threshold from (0, 1] that may be reached, or raise."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0 < value <= 1:
        raise OptionError(
            f"{argument}={value!r} must be above 0 and at most 1: scores of {argument} or more "
            f"match."
        )
    return float(value)
