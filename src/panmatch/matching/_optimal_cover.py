"""Maximum PQ if a reference takes at most one prediction (D6).

The denominator of PQ is half the number of segments, plus half for every true positive that does
not save a false positive. It saves none if its prediction would be dismissed anyway, also serves
another reference, or is a piece of a prediction that is matched elsewhere. PQ decides between these
choices.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.matching._maximum_pq import smallest_denominator
from panmatch.matching._objective import edge_quality
from panmatch.matching._solution import PAIR_TOLERANCE, Certificate, Course, Solution
from panmatch.matching._tally import Quality, Tally, tally_edges
from panmatch.overlap import Floats, Ints, Overlap

Mask = npt.NDArray[np.bool_]
Problem = tuple[Ints, Ints, Floats, Floats, npt.NDArray[np.uint8], int, bool]


def optimal_cover(
    overlap: Overlap, passes: Mask, *, exclusive: bool, quality: Quality = "iou"
) -> Solution:
    """Return the matching of maximum PQ, or PartPQ; polynomial, so always proven.

    Parameters
    ----------
    passes
        Which edges are above the threshold.
    exclusive
        Whether a prediction serves at most one reference. A piece has one possible partner anyway
        (D8), so all pieces of one prediction may be matched.
    quality
        Of true positives: ``"parts"`` to maximise PartPQ (D9).
    """
    began = time.perf_counter()
    usable = np.flatnonzero(passes)
    matched, rounds = native.cover(*_problem(overlap, usable, overlap.iou, exclusive, quality))
    edges = usable[matched.view(np.bool_)]
    return certified(overlap, passes, edges, rounds, began, quality)


def sweep_optimal_covers(
    overlap: Overlap, score: Floats, *, exclusive: bool, quality: Quality = "iou"
) -> Course:
    """Return the matchings of maximum PQ, or PartPQ, at all thresholds on the score of edges."""
    every = np.arange(len(overlap.edges))
    problem = _problem(overlap, every, score, exclusive, quality)
    return Course(*native.cover_sweep(*problem), proven=True)


def certified(
    overlap: Overlap,
    passes: Mask,
    edges: Ints,
    rounds: int,
    began: float,
    quality: Quality = "iou",
) -> Solution:
    """Return a matching that is optimal up to rounding, with its certificate.

    Weights of pairs are rounded and include a bonus for ties. So the largest N − λD may be missed
    by `PAIR_TOLERANCE` per pair.
    """
    tally = tally_edges(overlap, edges, quality)
    value = upper = tally.pq
    if tally.tp:
        upper += PAIR_TOLERANCE * tally.tp / _smallest_denominator(overlap, passes, edges, tally)
    proof = Certificate(value, upper, rounds, 0, time.perf_counter() - began, quality)
    return Solution(edges, proof, tally if quality == "iou" else None)


def _smallest_denominator(overlap: Overlap, passes: Mask, edges: Ints, tally: Tally) -> float:
    if np.count_nonzero(passes) == len(edges):  # what is not matched cannot be
        return 0.5 * (tally.tp + tally.fn + tally.fp)
    return smallest_denominator(overlap, passes)


def _problem(
    overlap: Overlap, usable: Ints, score: Floats, exclusive: bool, quality: Quality
) -> Problem:
    predictions = overlap.predictions
    _, owner = predictions.expand(overlap.edges.pred[usable])
    return (
        overlap.edges.ref[usable],
        owner,
        edge_quality(overlap, quality)[usable],
        score[usable],
        (~predictions.dismissible).view(np.uint8),
        len(overlap.ref_ids),
        exclusive and overlap.pieces is None,
    )
