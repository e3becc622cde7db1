"""Maximum PQ when a prediction may serve any number of references (D6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.matching._certificate import Budget
from panmatch.matching._maximum_pq import Effort, Priced, count_each_once, maximise_pq
from panmatch.matching._one_to_one import TIE, to_weights
from panmatch.matching._strategy import Solution, best_of_each_ref
from panmatch.overlap import Floats, Ints, Overlap


def optimal_cover(
    overlap: Overlap, passes: npt.NDArray[np.bool_], starts: Sequence[Ints]
) -> Solution:
    """Return the one-to-many matching of maximum PQ; polynomial, so always proven.

    Parameters
    ----------
    passes
        Which edges are above the threshold.
    starts
        Feasible matchings to begin with.
    """
    kept = np.flatnonzero(passes)
    iou = overlap.iou
    best = kept[best_of_each_ref(overlap.edges.ref[kept], iou[kept])]

    def solve_at(price: float, _: Effort) -> Priced:
        return count_each_once(
            overlap, price, lambda credited: _solve_at(overlap, kept, best, iou, price, credited)
        )

    return maximise_pq(overlap, passes, starts, solve_at, Budget(seconds=None))


def _solve_at(
    overlap: Overlap,
    kept: Ints,
    best: Ints,
    iou: Floats,
    price: float,
    credited: npt.NDArray[np.bool_],
) -> Priced:
    """Maximise N − λD.

    The first reference on a counted prediction is worth its IoU, any other half a price less. So
    a reference can fall back on its best prediction for max(0, IoU − λ/2), and what it can gain
    by being first somewhere is a maximum-weight assignment.
    """
    ref, pred = overlap.edges.ref, overlap.edges.pred
    fallback = np.zeros(len(overlap.ref_ids))
    fallback[ref[best]] = np.maximum(0.0, iou[best] - 0.5 * price)
    gain = iou[kept] - fallback[ref[kept]]
    useful = (gain > 0) & credited[pred[kept]]
    first = kept[useful]
    sizes = len(overlap.ref_ids), len(overlap.pred_ids)
    taken = native.assign(ref[first], pred[first], to_weights(gain[useful]), *sizes)
    chosen = first[taken.view(np.bool_)]
    others = best[(iou[best] >= 0.5 * price) & ~np.isin(ref[best], ref[chosen])]
    worth = fallback.sum() + gain[useful][taken.view(np.bool_)].sum() + TIE * len(chosen)
    counted = ~overlap.predictions.dismissible
    segments = len(overlap.ref_ids) + int(np.count_nonzero(counted))
    edges = np.sort(np.concatenate([chosen, others]))
    return Priced(edges, float(worth) - 0.5 * price * segments, nodes=0)
