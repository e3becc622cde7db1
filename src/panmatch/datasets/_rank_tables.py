"""A ranking as tables: the models, the criteria, resamples, tests, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING

from panmatch.evaluation import Row, Table

if TYPE_CHECKING:
    from panmatch.datasets._model_ranks import Ranking


def rank_tables(ranking: Ranking, left_out: str | None = None) -> dict[str, Table]:
    """Return all tables of a ranking, by the names of their files."""
    found = {
        "ranking": list(_models(ranking)),
        "ranking_criteria": list(_criteria(ranking)),
        "ranking_stability": list(_shares(ranking)),
        "ranking_significance": list(_tests(ranking)),
    }
    if left_out is not None:
        found["ranking_left_out"] = list(_left_out(ranking, left_out))
    return {name: Table.of_rows(rows) for name, rows in found.items()}


def _rule(ranking: Ranking) -> Row:
    return {"method": ranking.rule.method, "aggregate": ranking.rule.aggregate}


def _models(ranking: Ranking) -> Iterator[Row]:
    for one in ranking.placings:
        yield _rule(ranking) | {
            "model": one.model,
            "rank": one.rank,
            "points": one.points,
            "rank_median": one.median,
            "rank_low": one.low,
            "rank_high": one.high,
            "first_share": one.first_share,
            "cases": len(ranking.cases),
        }


def _criteria(ranking: Ranking) -> Iterator[Row]:
    """Yield what each model is ranked by under each criterion."""
    for weighted in ranking.criteria:
        criterion = weighted.criterion
        for model, value, rank in zip(
            ranking.models,
            ranking.points[criterion].tolist(),
            ranking.criterion_ranks[criterion].tolist(),
            strict=True,
        ):
            yield criterion.columns | _rule(ranking) | {
                "weight": weighted.weight,
                "model": model,
                "points": value,
                "rank": rank,
            }  # fmt: skip


def _shares(ranking: Ranking) -> Iterator[Row]:
    """Yield the share of resamples in which each model has each rank."""
    for model, shares in zip(ranking.models, ranking.rank_shares.tolist(), strict=True):
        for i, share in enumerate(shares):
            yield _rule(ranking) | {"model": model, "rank": i + 1, "share": share}


def _tests(ranking: Ranking) -> Iterator[Row]:
    """Yield a one-sided test for each ordered pair of models under each criterion."""
    for criterion, found in ranking.significance.items():
        for a, b in permutations(range(len(ranking.models)), 2):
            yield criterion.columns | {
                "better": ranking.models[a],
                "than": ranking.models[b],
                "p": float(found.p_values[a, b]),
                "p_holm": float(found.p_holm[a, b]),
                "p_holm_all": float(ranking.p_holm_all[criterion][a, b]),
                "significant": "yes" if found.p_holm[a, b] <= ranking.rule.alpha else "",
            }


def _left_out(ranking: Ranking, what: str) -> Iterator[Row]:
    for one in ranking.leave_out(what):
        for model, rank in zip(ranking.models, one.ranks.tolist(), strict=True):
            yield _rule(ranking) | {
                "left_out": one.what,
                "name": one.name,
                "cases": one.cases,
                "model": model,
                "rank": int(rank),
                "tau": one.tau,
                "same_winner": "yes" if one.same_winner else "",
            }
