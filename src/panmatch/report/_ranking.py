"""The ranking of a report: three methods side by side, resamples as blobs, and who beats whom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np

from panmatch.datasets import Ranking, RankMethod, rank
from panmatch.evaluation import Result
from panmatch.overlap import Floats
from panmatch.report._cautions import can_compare
from panmatch.report._charts import (
    AXIS,
    INK,
    PAPER,
    Chart,
    Layout,
    Trace,
    as_text,
    model_colour,
    named_axis,
    plain_layout,
)

MOST_TESTS = 5000  # more would take long; `panmatch rank` makes them
FEWEST_IN_BLOBS = 3  # models; for two, the table says it all
LARGEST_BLOB = 34  # pixels across, for a rank in all resamples


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A model: its rank by each method, and in resamples by the first one."""

    model: str
    ranks: list[int]
    points: float
    low: float
    high: float
    first_share: float


@dataclass(frozen=True, slots=True)
class Win:
    """How often one model is significantly better than another, over all criteria."""

    wins: int
    share: float
    p_value: float  # NaN if there are several criteria


@dataclass(frozen=True, slots=True)
class RankingSection:
    """What the section shows.

    Attributes
    ----------
    classes, where
        What the models are ranked by: PQ of these classes, matched in this way.
    methods
        Names of the methods, in the order of the ranks.
    rows
        The models by rank.
    cases, resamples, same, tau
        How many cases and resamples there are, the share of resamples with the same ranking, and
        the mean of Kendall's τ with them.
    wins
        For each model by rank, its wins against the others by rank; empty if there are too many
        tests. None on the diagonal.
    n_criteria
        How many criteria there are, that is classes.
    chart
        Ranks in resamples; None for two models, or below 5 cases.
    """

    classes: list[str]
    where: str
    methods: list[str]
    rows: list[RankingRow]
    cases: int
    resamples: int
    same: float
    tau: float
    wins: list[list[Win | None]]
    n_criteria: int
    chart: Chart | None


def ranking_section(result: Result) -> RankingSection | None:
    """Return the ranking by PQ of all classes, under the first matcher and threshold."""
    if not can_compare(result):
        return None
    ranking = rank(result)
    n = len(ranking.models)
    tested = n * (n - 1) * len(ranking.criteria) <= MOST_TESTS
    methods = [name for name in get_args(RankMethod) if tested or name != "test-based"]
    by_method = [ranking.with_method(name).ranks for name in methods]
    at = [ranking.models.index(one.model) for one in ranking.placings]
    rows = [
        RankingRow(one.model, [int(ranks[i]) for ranks in by_method], one.points, one.low, one.high,
                   one.first_share)
        for i, one in zip(at, ranking.placings, strict=True)
    ]  # fmt: skip
    first = ranking.criteria[0].criterion
    return RankingSection(
        classes=[one.criterion.setting.class_name for one in ranking.criteria],
        where=f"{first.setting.label} at τ = {first.level}",
        methods=methods,
        rows=rows,
        cases=len(ranking.cases),
        resamples=len(ranking.bootstrap),
        same=_same(ranking),
        tau=_mean_tau(ranking),
        wins=_wins(ranking, at) if tested else [],
        n_criteria=len(ranking.criteria),
        chart=blob_chart(result, ranking),
    )


def blob_chart(result: Result, ranking: Ranking) -> Chart | None:
    """Return how often each model has each rank in resamples, as areas of circles.

    Diamonds are medians, lines hold 95 % of the ranks. Models are in the order of their ranks.
    """
    if len(ranking.models) < FEWEST_IN_BLOBS or not len(ranking.bootstrap):
        return None
    placings = ranking.placings[::-1]  # the first is drawn at the bottom
    data: list[Trace] = []
    for place, one in enumerate(placings):
        shares = ranking.rank_shares[ranking.models.index(one.model)]
        data += [
            _spread(place, one.low, one.high),
            _blobs(place, one.model, shares, model_colour(result, one.model)),
            _median(place, one.median),
        ]
    n = len(placings)
    ranks: Layout = {"range": [0.4, n + 0.6], "dtick": 1 if n <= 12 else 5, "tick0": 1}
    names = named_axis([one.model for one in placings])
    names |= {"type": "linear", "range": [-0.6, n - 0.4], "showgrid": False}
    layout = plain_layout("rank", "", ranks, names)
    return {"data": data, "layout": layout | {"height": 76 + 44 * n}}


def _blobs(place: int, model: str, shares: Floats, colour: str) -> Trace:
    ranks = np.flatnonzero(shares) + 1
    found = shares[ranks - 1]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": as_text(model),
        "x": ranks.tolist(),
        "y": [place] * len(ranks),
        "text": [f"{100 * share:.1f} %" for share in found],
        "hovertemplate": f"{as_text(model)}: rank %{{x}} in %{{text}} of resamples<extra></extra>",
        "marker": {
            "size": np.maximum(LARGEST_BLOB * np.sqrt(found), 3).round(1).tolist(),
            "color": colour,
            "line": {"width": 0},
        },
    }


def _spread(place: int, low: float, high: float) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [low, high],
        "y": [place, place],
        "line": {"color": AXIS, "width": 2},
        "hoverinfo": "skip",
    }


def _median(place: int, median: float) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [median],
        "y": [place],
        "marker": {
            "symbol": "diamond",
            "size": 9,
            "color": PAPER,
            "line": {"color": INK, "width": 1.5},
        },
        "hovertemplate": "median rank %{x}<extra></extra>",
    }


def _wins(ranking: Ranking, order: list[int]) -> list[list[Win | None]]:
    maps = np.stack([one.p_holm for one in ranking.significance.values()])
    counts = (maps <= ranking.rule.alpha).sum(axis=0)
    single = maps[0] if len(maps) == 1 else np.full(maps.shape[1:], math.nan)
    return [
        [
            None
            if a == b
            else Win(int(counts[a, b]), float(counts[a, b]) / len(maps), float(single[a, b]))
            for b in order
        ]
        for a in order
    ]


def _same(ranking: Ranking) -> float:
    if not len(ranking.bootstrap):
        return math.nan
    return float((ranking.bootstrap == ranking.ranks).all(axis=1).mean())


def _mean_tau(ranking: Ranking) -> float:
    tau = ranking.bootstrap_tau
    tau = tau[~np.isnan(tau)]
    return float(tau.mean()) if len(tau) else math.nan
