"""Error budgets of cases and datasets, in results and tables."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from panmatch.scoring import REPAIRS
from tests.scoring.test_error_budget import random_mistakes

SPEC = {"matching": ["one-to-one", "many-to-one"], "thresholds": [0.25, 0.5]}


@pytest.fixture(scope="module")
def result() -> pm.Result:
    """Four cases of two models, and one without any object."""
    evaluator = pm.Evaluator(SPEC)
    for model in ("a", "b"):
        for seed in range(4):
            reference, prediction = random_mistakes(seed + 10 * (model == "b"))
            evaluator.update(
                reference=reference, prediction=prediction, case=str(seed), model=model
            )
        nothing = np.zeros((2, 2), np.int64)
        evaluator.update(reference=nothing, prediction=nothing, case="empty", model=model)
    return evaluator.compute()


def test_rows_of_cases_are_the_budgets_of_their_matchings(result: pm.Result) -> None:
    rows = result.budget[result.budget["averaging"] == "case"]
    assert len(rows) == 2 * 4 * 2 * 2  # models, cases with objects, matchers, thresholds
    for row in rows.to_dict("records"):
        scene = random_mistakes(int(row["case"]) + 10 * (row["model"] == "b"))
        matching = pm.match(pm.count_overlaps(*scene), row["strategy"], row["threshold"])
        budget = pm.error_budget(matching)
        assert row["pq"] == budget.pq
        for kind in REPAIRS:
            assert row[f"pq_after_{kind}"] == budget.repaired[kind]
            assert row[f"last_{kind}"] == budget.last[kind]
            assert row[f"share_{kind}"] == budget.shares[kind]


def test_pooled_rows_are_the_budgets_of_all_cases_together(result: pm.Result) -> None:
    table = result.budget
    rows = table[table["averaging"] == "pooled"]
    assert (rows["case"] == "").all()
    assert len(rows) == 2 * 2 * 2
    for row in rows.to_dict("records"):
        total = sum(
            pm.error_budget(
                pm.match(
                    pm.count_overlaps(*random_mistakes(seed + 10 * (row["model"] == "b"))),
                    row["strategy"],
                    row["threshold"],
                )
            )
            for seed in range(4)
        )
        assert isinstance(total, pm.ErrorBudget)
        assert row["pq"] == total.pq
        shares = [row[f"share_{kind}"] for kind in REPAIRS]
        assert shares == list(total.shares.values())
        assert sum(shares) == pytest.approx(1 - row["pq"], abs=1e-12)


def test_budgets_survive_storage(result: pm.Result) -> None:
    again = pm.Result.from_json(result.to_json())
    assert again.budget.equals(result.budget)
    levels = [
        (one.budget, other.budget)
        for case, stored in zip(result.cases, again.cases, strict=True)
        for entry, read in zip(case.entries, stored.entries, strict=True)
        for one, other in zip(entry.levels, read.levels, strict=True)
    ]
    assert all(one == other for one, other in levels)
    assert any(len(set(one.tallies)) > 1 for one, _ in levels)
