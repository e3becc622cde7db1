"""Looking at results again and again: evidence and intervals that stay valid at any time.

A fixed test or interval is wrong too often if one looks after every case and stops when the answer
is pleasant. What this module returns holds at all times together.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._bootstrap import Interval, as_scores, check_level
from panmatch.datasets._statistics._ranking import TIE
from panmatch.overlap import Floats

# Bets per unit of the score, for differences from about 0.001 to 1; their mean is a bet as well.
BETS = 2.0 ** np.arange(0, 11)
TIGHTEST = 100  # number of cases at which a confidence sequence is narrowest for its level
# Before so many cases, the normal approximation of the sequence is too rough: see
# benchmarks/error_rates.py.
FEWEST_LOOKED_AT = 50


def running_evidence(differences: npt.ArrayLike) -> Floats:
    """Return the evidence that differences tend to be positive, after each of them.

    If differences are symmetric about 0, as in Wilcoxon's test, the sign of each is a fair coin.
    Then the product of exp(λd)/cosh(λd) is the fortune of a gambler who bets on plus in a fair
    game, for any λ, and so is the mean over several λ. By Ville's inequality it ever reaches 1/α
    with a probability of at most α: one may look after every case, and stop at any time.

    Parameters
    ----------
    differences
        In the order of the cases, shape (…, cases); NaN changes nothing.

    Returns
    -------
    Floats
        The logarithm of the fortune after each case, of the same shape.

    References
    ----------
    J. Ville, Étude critique de la notion de collectif (1939). A. Ramdas, P. Grünwald, V. Vovk,
    G. Shafer, "Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38
    (2023).

    Examples
    --------
    >>> np.exp(running_evidence([0.1] * 8)).round(1).tolist()
    [1.8, 3.2, 5.9, 11.3, 21.8, 42.4, 83.1, 163.4]
    """
    values = np.asarray(differences, np.float64)
    values = np.where(np.isnan(values) | (np.abs(values) <= TIE), 0.0, values)
    steps = math.log(2) - np.logaddexp(0.0, -2 * BETS * values[..., np.newaxis])
    fortunes = np.cumsum(steps, axis=-2)
    highest = fortunes.max(axis=-1, keepdims=True)
    mean: Floats = np.log(np.exp(fortunes - highest).mean(axis=-1)) + highest[..., 0]
    return mean


def sequence_half_width(
    deviations: npt.ArrayLike, n_cases: npt.ArrayLike, level: float = 0.95
) -> Floats:
    """Return the half-width of a confidence sequence of a mean, given standard deviations.

    Examples
    --------
    >>> sequence_half_width(0.15, [50, 100, 500]).round(3).tolist()
    [0.065, 0.046, 0.021]
    """
    alpha = 1 - level
    tuned = -2 * math.log(alpha)
    rho = (tuned + math.log(tuned) + 1) / TIGHTEST
    n = np.asarray(n_cases, np.float64)
    grown = n * rho + 1
    width: Floats = np.asarray(deviations, np.float64) * np.sqrt(
        2 * grown / (n**2 * rho) * np.log(np.sqrt(grown) / alpha)
    )
    return width


def confidence_sequence(values: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Return the interval of the mean after the last of some values.

    It belongs to an asymptotic confidence sequence: the intervals after 50, 51, 52, … values all
    contain the true mean, with the probability `level` for all of them together.

    Parameters
    ----------
    values
        Independent, in the order in which they came; NaN is skipped.
    level
        Confidence level.

    Returns
    -------
    Interval
        Undefined for fewer than 50 values.

    References
    ----------
    I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A. Ramdas, "Time-uniform central limit
    theory and asymptotic confidence sequences", Annals of Statistics 52 (2024).

    Examples
    --------
    >>> found = confidence_sequence([0.6, 0.7, 0.8, 0.7] * 25)
    >>> round(found.low, 3), round(found.high, 3)
    (0.678, 0.722)
    """
    check_level(level)
    scores = as_scores("values", values)
    scores = scores[~np.isnan(scores)]
    if len(scores) < FEWEST_LOOKED_AT:
        return Interval(math.nan, math.nan, level)
    mean = float(scores.mean())
    half = float(sequence_half_width(scores.std(ddof=1), len(scores), level))
    return Interval(mean - half, mean + half, level)
