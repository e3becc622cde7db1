"""Who is best: ranks with ties, how certain they are, and how much two rankings agree."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._bootstrap import as_scores, check_counts
from panmatch.errors import ShapeError
from panmatch.evaluation import resampled_means
from panmatch.matching import Weights
from panmatch.overlap import Floats, Ints

# Scores that differ by less count as equal: summing in another order changes them less.
TIE = 1e-12


def ranks(scores: npt.ArrayLike, higher_is_better: bool = True) -> Floats:
    """Return the rank of every model, 1 for the best; tied models share their mean rank.

    Parameters
    ----------
    scores
        The score of each model, shape (models,). Neighbours in the ranking that differ by at most
        1e-12 tie. Models with NaN tie for last place.
    higher_is_better
        False for distances.

    Examples
    --------
    >>> ranks([0.5, 0.9, 0.5, float("nan")])
    array([2.5, 1. , 2.5, 4. ])
    >>> ranks([0.5, 0.9, 0.5, float("nan")], higher_is_better=False)
    array([1.5, 3. , 1.5, 4. ])
    """
    first, last = places(as_scores("scores", scores), higher_is_better)
    return mean_ranks(first, last)


def places(scores: Floats, higher_is_better: bool = True) -> tuple[Ints, Ints]:
    """Return the first and last place, from 0, of each entry's group of ties on the last axis.

    Examples
    --------
    >>> places(np.array([[0.5, 0.9, 0.5], [0.1, 0.2, 0.3]]))
    (array([[1, 0, 1],
           [2, 1, 0]]), array([[2, 0, 2],
           [2, 1, 0]]))
    """
    falling = -scores if higher_is_better else scores
    order = np.argsort(falling, axis=-1, kind="stable")
    ahead = np.take_along_axis(falling, order, axis=-1)
    nan = np.isnan(ahead)
    opens = np.ones(ahead.shape, np.bool_)
    with np.errstate(invalid="ignore"):  # two infinities tie
        opens[..., 1:] = (np.diff(ahead) > TIE) | (nan[..., 1:] & ~nan[..., :-1])
    closes = np.ones(ahead.shape, np.bool_)
    closes[..., :-1] = opens[..., 1:]
    place = np.broadcast_to(np.arange(ahead.shape[-1]), ahead.shape)
    first, last = np.empty_like(order), np.empty_like(order)
    starts = np.maximum.accumulate(np.where(opens, place, 0), axis=-1)
    stops = np.minimum.accumulate(np.where(closes, place, place.shape[-1])[..., ::-1], axis=-1)
    np.put_along_axis(first, order, starts, axis=-1)
    np.put_along_axis(last, order, stops[..., ::-1], axis=-1)
    return first, last


def mean_ranks(first: Ints, last: Ints) -> Floats:
    """Return the mean rank, from 1, of groups of ties that range from `first` to `last`."""
    middle: Floats = (first + last) / 2 + 1
    return middle


def rank_counts(scores: npt.ArrayLike, counts: Weights, *, higher_is_better: bool = True) -> Floats:
    """Return how often each model takes each place when cases are resampled.

    Models are ranked by their mean over the cases of a resample, NaN skipped (D11, mean of
    cases). For pooled scores, resample those and use `rank_counts_resampled`.

    Parameters
    ----------
    scores
        Of shape (cases, models).
    counts
        What `resample` returns.
    higher_is_better
        False for distances.

    Returns
    -------
    Floats
        Of shape (models, models): in row i the share of resamples in which model i takes place
        1, 2, …; see `rank_counts_resampled` for ties. NaN where fewer than two cases have any
        score: there is nothing to resample.

    Examples
    --------
    >>> counts = np.array([[1, 1], [2, 0], [0, 2], [1, 1]])
    >>> rank_counts([[0.9, 0.5], [0.6, 0.7]], counts)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    table = as_scores("scores", scores, ndim=2)
    check_counts(counts, len(table))
    means = resampled_means(table, counts)
    if np.count_nonzero(~np.isnan(table).all(axis=1)) < 2:
        means[:] = np.nan
    return rank_counts_resampled(means, higher_is_better=higher_is_better)


def rank_counts_resampled(resampled: npt.ArrayLike, *, higher_is_better: bool = True) -> Floats:
    """Return how often each model takes each place, from scores that are already resampled.

    Parameters
    ----------
    resampled
        Of shape (resamples, models), all models resampled with the same counts. Resamples in
        which every model is NaN are skipped.
    higher_is_better
        False for distances.

    Returns
    -------
    Floats
        Of shape (models, models), [model, place]. Models that tie share the places of their
        group evenly: two that are best together take half of the first and half of the second
        place each. So every row and every column adds up to 1. NaN where nothing is left.

    Examples
    --------
    >>> rank_counts_resampled([[0.5, 0.5, 0.1], [0.4, 0.6, 0.1]])
    array([[0.25, 0.75, 0.  ],
           [0.75, 0.25, 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    table = as_scores("resampled", resampled, ndim=2)
    table = table[~np.isnan(table).all(axis=1)]
    n_models = table.shape[1]
    if not len(table):
        return np.full((n_models, n_models), np.nan)
    first, last = places(table, higher_is_better)
    part = 1 / (last - first + 1)
    columns = [
        np.where((first <= place) & (place <= last), part, 0.0).mean(axis=0)
        for place in range(n_models)
    ]
    return np.stack(columns, axis=1)


def kendall_tau(ranks_a: npt.ArrayLike, ranks_b: npt.ArrayLike) -> float:
    """Return Kendall's τ_b of two rankings of the same models: 1 if alike, −1 if reversed.

    τ_b = (C − D) / √((pairs untied in a) · (pairs untied in b)), where C and D are the pairs of
    models that both rankings order the same way and opposite ways.

    Parameters
    ----------
    ranks_a, ranks_b
        What `ranks` returns, shape (models,).

    Returns
    -------
    float
        NaN if a ranking ties all models, has fewer than two, or contains NaN.

    Examples
    --------
    >>> kendall_tau([1, 2, 3, 4], [1, 2, 4, 3])
    0.6666666666666666
    >>> kendall_tau([1.5, 1.5], [1.5, 1.5])
    nan
    """
    a, b = as_scores("ranks_a", ranks_a), as_scores("ranks_b", ranks_b)
    if a.shape != b.shape:
        raise ShapeError(
            f"ranks_a has {len(a)} models, ranks_b has {len(b)}: pass two rankings of the same."
        )
    above = np.sign(a[:, np.newaxis] - a), np.sign(b[:, np.newaxis] - b)
    agreement = float((above[0] * above[1]).sum())
    untied = math.sqrt(float((above[0] ** 2).sum()) * float((above[1] ** 2).sum()))
    return agreement / untied if untied else math.nan
