"""AJI: aggregated Jaccard index."""

from __future__ import annotations

import numpy as np

from panmatch.matching import OneToMany, match
from panmatch.overlap import Overlap


def aji(overlap: Overlap) -> float:
    """Return Σ |g∩p| / (Σ |g∪p| + Σ |unused p|), each g with its prediction of highest IoU.

    A reference that overlaps nothing adds its size to the denominator, a prediction that no
    reference chose adds its own. One prediction may serve several references.

    Parameters
    ----------
    overlap
        From `count_overlaps`.

    Returns
    -------
    float
        NaN if both sides are empty.

    References
    ----------
    Kumar et al.: A dataset and a technique for generalized nuclear segmentation for computational
    pathology (2017).

    Examples
    --------
    >>> aji(Overlap.from_dense([[4, 1]], ref_sizes=[6], pred_sizes=[5, 3]))
    0.4
    """
    matching = match(overlap, OneToMany(), threshold=0.0)
    edges = overlap.edges
    shared = float(edges.intersection[matching.edges].sum())
    used = edges.pred[matching.edges]
    unused = np.delete(overlap.pred_areas, used)
    union = float(overlap.ref_sizes.sum() + overlap.pred_areas[used].sum() - shared)
    whole = union + float(unused.sum())
    return shared / whole if whole else float("nan")
