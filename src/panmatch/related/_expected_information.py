"""The mutual information that two clusterings share by chance, given the sizes of their segments.

How many voxels two segments share is then hypergeometric, and every pair of sizes has an
expectation of its own. It is a smooth function of both sizes, so thousands of different sizes need
its values at a few dozen only: polynomials through these give all others to the last digits.
"""

from __future__ import annotations

import math

import numpy as np

from panmatch.overlap import Areas, Floats

BITS_OF_TAILS = 93.0  # 2 ln of what the tails of a distribution that we cut off may weigh, 1e-20
MOST_TERMS = 1 << 20  # of sums that are computed at once
SMALLEST = 256  # sizes from here on, up to half of all voxels, are far from the ends of the range
NODES = 16  # of polynomials, and more for every factor e between the sizes
NODES_PER_E = 6


def expected_information(ref_sizes: Areas, pred_sizes: Areas, voxels: float) -> float:
    """Return the expected mutual information of random clusterings with these sizes, in bits.

    The probabilities of a hypergeometric distribution follow from one another, so they are products
    of ratios, scaled to add up to 1: large factorials never occur. Only counts near the mean are
    looked at; the others weigh less than 1e-20 together.
    """
    refs, ref_times = _weighted_sizes(ref_sizes, voxels)
    preds, pred_times = _weighted_sizes(pred_sizes, voxels)
    terms: list[float] = []
    for size, times in zip(refs.tolist(), ref_times.tolist(), strict=True):
        terms += (times * pred_times * _means(size, preds, voxels)).tolist()
    return math.fsum(terms)


def _weighted_sizes(sizes: Areas, voxels: float) -> tuple[Floats, Floats]:
    """Return different sizes, and how often each occurs.

    If many are of a middle size, they are replaced by the nodes of a polynomial with weights such
    that the sum of a smooth function over them is the same. Weights may then be negative.
    """
    different, times = np.unique(sizes.astype(np.float64), return_counts=True)
    middle = (different >= SMALLEST) & (different <= voxels / 2)
    if middle.any():
        low, high = np.log(different[middle][[0, -1]])
        n_nodes = math.ceil(NODES + NODES_PER_E * (high - low))
        if np.count_nonzero(middle) > n_nodes:
            at = (np.log(different[middle]) - low) * 2 / (high - low) - 1
            nodes, weights = _replaced(at, times[middle].astype(np.float64), n_nodes)
            sizes_there = np.exp(low + (nodes + 1) / 2 * (high - low))
            different = np.concatenate([different[~middle], sizes_there])
            times = np.concatenate([times[~middle], weights])
    return different, times.astype(np.float64)


def _replaced(places: Floats, weights: Floats, n: int) -> tuple[Floats, Floats]:
    """Return n Chebyshev nodes in [−1, 1], and weights that sum polynomials alike.

    Examples
    --------
    >>> nodes, weights = _replaced(np.array([-0.5, 0.1, 0.4]), np.array([1.0, 2.0, 1.0]), 4)
    >>> round(float((weights * nodes**3).sum()), 12) == round(-(0.5**3) + 2 * 0.1**3 + 0.4**3, 12)
    True
    """
    angles = (np.arange(n) + 0.5) * math.pi / n
    degrees = np.arange(n)
    # Values of Chebyshev polynomials: sums over the places, then back to the nodes.
    moments = (np.cos(np.arccos(places.clip(-1, 1))[:, np.newaxis] * degrees).T * weights).sum(1)
    moments[1:] *= 2
    back = (np.cos(angles[:, np.newaxis] * degrees) * (moments / n)).sum(axis=1)
    return np.cos(angles), back


def _means(size: float, others: Floats, n: float) -> Floats:
    """Return the expectation for one size with all others, block by block."""
    per_block = max(1, MOST_TERMS // _longest(size, others, n))
    blocks = [
        _mean_information(size, others[start : start + per_block], n)
        for start in range(0, len(others), per_block)
    ]
    return np.concatenate(blocks)


def _bounds(size: float, others: Floats, n: float) -> tuple[Floats, Floats]:
    """Return the least and the largest number of shared voxels that are looked at."""
    mean = size * others / n
    variance = mean * (1 - size / n) * (n - others) / max(n - 1, 1)
    reach = 16 + np.sqrt(256 + BITS_OF_TAILS * variance)
    low = np.maximum(np.floor(mean - reach), np.maximum(0, size + others - n))
    return low, np.minimum(np.ceil(mean + reach), np.minimum(size, others))


def _longest(size: float, others: Floats, n: float) -> int:
    low, high = _bounds(size, others, n)
    return int((high - low).max()) + 1


def _mean_information(size: float, others: Floats, n: float) -> Floats:
    """Return E[k/n · log2(n k / (size · other))] for a hypergeometric k, for every other size."""
    low, high = _bounds(size, others, n)
    shared = low[:, None] + np.arange(int((high - low).max()) + 1)
    inside = shared <= high[:, None]
    other = others[:, None]
    # From k − 1 to k the probability changes by this factor.
    up = (size - shared + 1) * (other - shared + 1)
    down = shared * (n - size - other + shared)
    steps = np.where(inside & (shared > low[:, None]), up / np.where(down > 0, down, 1), 1.0)
    logs = np.cumsum(np.log(np.where(steps > 0, steps, 1.0)), axis=1)
    highest = logs.max(axis=1, where=inside, initial=-np.inf)
    weights = np.where(inside, np.exp(logs - highest[:, None]), 0.0)
    weights /= weights.sum(axis=1)[:, None]
    bits = np.log2(np.where(shared > 0, n * shared / (size * other), 1.0))
    means: Floats = (weights * shared / n * bits).sum(axis=1)
    return means
