"""Scores of detections in every resample of the cases, many resamples at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from panmatch.evaluation import FROC
from panmatch.matching import Weights, limbs_to_floats, ratio
from panmatch.overlap import Floats, Ints
from panmatch.scoring import RECALLS, Surface

AT_ONCE = 1 << 20  # cuts times resamples
COUNTS = 6  # tp, fp, fn and three limbs of quality, as in `Surface.changes`


@dataclass(frozen=True, slots=True, eq=False)
class ResampledCuts:
    """The tallies of some resamples over all cuts, shape (cuts, resamples) each."""

    cuts: Floats  # falling; the first is infinite
    n_cases: Ints  # of each resample
    tp: Ints
    fp: Ints
    fn: Ints
    limbs: Ints  # of the summed quality, shape (cuts, resamples, limbs)

    @property
    def n_refs(self) -> Ints:
        """References in each resample, which do not depend on the cut (D3)."""
        total: Ints = self.tp[0] + self.fn[0]
        return total

    def average_precision(self) -> tuple[Floats, Floats]:
        """Return average precision with all points, and with 101; see `CutCurve`."""
        recall: Floats = ratio(self.tp, self.n_refs)
        precision: Floats = ratio(self.tp, self.tp + self.fp)
        if (np.diff(self.tp, axis=0) < 0).any():
            rising = np.argsort(recall, axis=0, kind="stable")
            recall = np.take_along_axis(recall, rising, axis=0)
            precision = np.take_along_axis(precision, rising, axis=0)
        highest = np.maximum.accumulate(np.nan_to_num(precision)[::-1], axis=0)[::-1]
        areas = (np.diff(recall, axis=0, prepend=0.0) * highest).sum(axis=0)
        ended = np.concatenate([highest, np.zeros((1, highest.shape[1]))])
        sampled = [
            ended[:, i][np.searchsorted(recall[:, i], RECALLS)].mean() for i in range(len(areas))
        ]
        defined = self.n_refs > 0
        return np.where(defined, areas, np.nan), np.where(defined, sampled, np.nan)

    def froc(self) -> dict[str, Floats]:
        """Return the sensitivity at each rate, and the mean of them."""
        recall: Floats = ratio(self.tp, self.n_refs)
        rate: Floats = ratio(self.fp, self.n_cases)
        found = {
            name: np.where(rate <= most, recall, 0.0).max(axis=0) for name, most in FROC.items()
        }
        found = {name: np.where(self.n_refs > 0, one, np.nan) for name, one in found.items()}
        return found | {"cpm": np.mean(list(found.values()), axis=0)}

    def best_cut(self) -> dict[str, Floats]:
        """Return the cut with the highest PQ, and that PQ; NaN if nothing is matched."""
        pq: Floats = ratio(limbs_to_floats(self.limbs), self.tp + (self.fp + self.fn) / 2)
        at = np.nan_to_num(pq, nan=-1.0).argmax(axis=0)
        found = np.take_along_axis(pq, at[np.newaxis], axis=0)[0]
        matched = (self.tp > 0).any(axis=0)
        return {
            "best_cut": np.where(matched, self.cuts[at], np.nan),
            "best_pq": np.where(matched, found, np.nan),
        }

    def recall_of_all(self) -> Floats:
        """Return the recall of all predictions."""
        recall: Floats = ratio(self.tp[-1], self.n_refs)
        return recall


def resampled_cuts(surface: Surface, threshold: float, weights: Weights) -> Iterator[ResampledCuts]:
    """Yield the tallies of a few resamples at a time, over all cuts at a threshold.

    Parameters
    ----------
    weights
        How often each case counts in every resample, shape (resamples, cases).
    """
    held = surface.thresholds <= threshold
    falling, place = np.unique(np.append(-surface.confidences[held], -np.inf), return_inverse=True)
    shape = len(falling), surface.n_cases
    case, changes = surface.case[held], surface.changes[held]
    by_case = [csr_array((changes[:, i], (place[:-1], case)), shape) for i in range(COUNTS)]
    size = max(1, AT_ONCE // len(falling))
    for start in range(0, len(weights), size):
        block = weights[start : start + size].astype(np.int64)
        tp, fp, fn, *limbs = ((one @ block.T).cumsum(axis=0) for one in by_case)
        yield ResampledCuts(-falling, block.sum(axis=1), tp, fp, fn, np.stack(limbs, axis=-1))
