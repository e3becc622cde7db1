"""How much a ranking depends on the threshold, exactly, and on other choices (D7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from panmatch.datasets._statistics._bootstrap import as_scores
from panmatch.datasets._statistics._ranking import kendall_tau, mean_ranks, places
from panmatch.errors import OptionError, ShapeError
from panmatch.overlap import Floats, Ints
from panmatch.scoring import Curve


@dataclass(frozen=True, slots=True)
class RankInterval:
    """Thresholds start ≤ τ < stop at which the ranking stays the same."""

    start: float  # the ends
    stop: float
    # Models, best first; those that tie are in the order in which they were given.
    order: tuple[str, ...]
    # The rank of each model in `order`, 1 for the best; equal for models that tie.
    ranks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LeadShare:
    """The share of thresholds at which a model is best, alone or together with others."""

    sole: float
    shared: float

    @property
    def total(self) -> float:
        """The share of thresholds at which no model is better."""
        return self.sole + self.shared


@dataclass(frozen=True, slots=True)
class RankSpread:
    """The best (smallest), the median and the worst rank of a model over several rankings."""

    best: float
    median: float
    worst: float


@dataclass(frozen=True, slots=True, eq=False)
class RankStability:
    """How much several rankings of the same models agree."""

    rankings: tuple[str, ...]  # their names
    # Kendall's τ_b of every two of them, shape (rankings, rankings); NaN where undefined.
    tau: Floats
    distinct_orders: int  # how many different rankings there are, ties included
    spread: dict[str, RankSpread]  # best, median and worst rank of every model


def ranking_over_threshold(curves: Mapping[str, Curve]) -> list[RankInterval]:
    """Return the ranking of models by PQ at every threshold in [0, 1).

    Parameters
    ----------
    curves
        The pooled curve of each model. PQ values that differ by at most 1e-12 tie; a model with
        NaN ranks last (D11).

    Returns
    -------
    list of RankInterval
        Ascending and without gaps from 0 to 1, as few as possible: the ranking changes from each
        to the next. There is no grid: the thresholds are those of the curves.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> from panmatch.scoring import curve
    >>> careful = curve(Overlap.from_dense([[3, 0, 0]], ref_sizes=[4], pred_sizes=[3, 9, 9]))
    >>> hasty = curve(Overlap.from_dense([[1]], ref_sizes=[2], pred_sizes=[1]))
    >>> for part in ranking_over_threshold({"careful": careful, "hasty": hasty}):
    ...     print(part.start, part.stop, part.order, part.ranks)
    0.0 0.5 ('hasty', 'careful') (1.0, 2.0)
    0.5 0.75 ('careful', 'hasty') (1.0, 2.0)
    0.75 1.0 ('careful', 'hasty') (1.5, 1.5)
    """
    names = list(curves)
    thresholds, pq = _common_steps(curves)
    ranks = mean_ranks(*places(pq))
    found = []
    for first, start, stop in _runs(thresholds, ranks):
        order = np.argsort(ranks[first], kind="stable")
        models = tuple(names[i] for i in order)
        found.append(RankInterval(start, stop, models, tuple(ranks[first][order].tolist())))
    return found


def lead_share(curves: Mapping[str, Curve]) -> dict[str, LeadShare]:
    """Return the share of [0, 1) on which each model has the best PQ.

    Parameters
    ----------
    curves
        As for `ranking_over_threshold`. A model whose PQ is NaN never leads.

    Examples
    --------
    >>> from panmatch.overlap import Overlap
    >>> from panmatch.scoring import curve
    >>> iou_of = {"half": 1, "all": 2}
    >>> found = lead_share(
    ...     {
    ...         name: curve(Overlap.from_dense([[size]], ref_sizes=[2], pred_sizes=[size]))
    ...         for name, size in iou_of.items()
    ...     }
    ... )
    >>> found["half"], found["all"]
    (LeadShare(sole=0.0, shared=0.0), LeadShare(sole=1.0, shared=0.0))
    """
    thresholds, pq = _common_steps(curves)
    widths = np.diff(thresholds, append=1.0)
    first, last = places(pq)
    best = (first == 0) & ~np.isnan(pq)
    sole, shared = widths @ (best & (last == 0)), widths @ (best & (last > 0))
    return {name: LeadShare(float(sole[i]), float(shared[i])) for i, name in enumerate(curves)}


def rank_stability(rankings: Mapping[str, npt.ArrayLike], models: Sequence[str]) -> RankStability:
    """Summarise how much rankings of the same models agree.

    Parameters
    ----------
    rankings
        What `ranks` returns, each of shape (models,), under a name that says how it was made, such
        as ``"one-to-one, τ = 0.5"``.
    models
        Names of the models, in the order of the ranks.

    Examples
    --------
    >>> found = rank_stability(
    ...     {"τ = 0.3": [1, 2, 3], "τ = 0.5": [1, 3, 2], "τ = 0.7": [1, 2, 3]}, ["a", "b", "c"]
    ... )
    >>> found.distinct_orders, found.spread["b"]
    (2, RankSpread(best=2.0, median=2.0, worst=3.0))
    >>> found.tau[0].round(4).tolist()
    [1.0, 0.3333, 1.0]
    """
    table = _rank_table(rankings, len(models))
    tau = np.array([[kendall_tau(a, b) for b in table] for a in table])
    spread = {
        name: RankSpread(float(column.min()), float(np.median(column)), float(column.max()))
        for name, column in zip(models, table.T, strict=True)
    }
    return RankStability(tuple(rankings), tau, len(np.unique(table, axis=0)), spread)


def _common_steps(curves: Mapping[str, Curve]) -> tuple[Floats, Floats]:
    """Return the thresholds of all curves, and the PQ at each, shape (thresholds, models)."""
    if not curves:
        raise OptionError("curves is empty: pass the curve of at least one model.")
    thresholds: Floats = reduce(np.union1d, [curve.thresholds for curve in curves.values()])
    columns = [curve.sampled(thresholds).pq for curve in curves.values()]
    return thresholds, np.stack(columns, axis=1)


def _runs(thresholds: Floats, rows: Floats | Ints) -> list[tuple[int, float, float]]:
    """Return position, start and stop of the longest runs of equal rows."""
    changes = (rows[1:] != rows[:-1]).any(axis=1)
    at = np.flatnonzero(np.concatenate([[True], changes]))
    starts = thresholds[at].tolist()
    return list(zip(at.tolist(), starts, [*starts[1:], 1.0], strict=True))


def _rank_table(rankings: Mapping[str, npt.ArrayLike], n_models: int) -> Floats:
    if not rankings:
        raise OptionError("rankings is empty: pass the ranks of at least one ranking.")
    table = {name: as_scores(f"rankings[{name!r}]", row) for name, row in rankings.items()}
    for name, row in table.items():
        if len(row) != n_models or np.isnan(row).any():
            raise ShapeError(
                f"rankings[{name!r}] has {len(row)} ranks, of which {np.isnan(row).sum()} are "
                f"NaN, but there are {n_models} models: pass what ranks() returns, one per model."
            )
    return np.stack(list(table.values()))
