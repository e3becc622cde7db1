"""A small dataset that averages are tried on: four classes, six cases, some of them empty."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import panmatch as pm
from panmatch.evaluation import AverageScore, Result
from panmatch.spec import as_spec
from tests.brute_force import random_labels
from tests.evaluation.by_hand import Labels, rows_of

SPEC = as_spec(
    {
        "classes": {
            "cell": {"labels": "1-4"},
            "lesion": {"labels": [5, 6], "instances": "components"},
            "body": {"labels": 7, "kind": "stuff"},
            "absent": {"labels": 9},
        },
        "matching": ["one-to-one", {"strategy": "many-to-one", "regions": True}],
        "thresholds": [0.1, 0.5],
        "metrics": ["iou", "dice", "hd95"],
    }
)


@cache
def images() -> dict[str, tuple[Labels, Labels]]:
    """Return random cases; the first has nothing, the second no lesion, the third no body."""
    rng = np.random.default_rng(8)
    found = {}
    for at in range(6):
        reference = random_labels(rng, (10, 12), 7)
        prediction = np.where(
            rng.random((10, 12)) < 0.85, reference, random_labels(rng, (10, 12), 7)
        )
        gone = {0: range(10), 1: (5, 6), 2: (7,)}.get(at, ())
        found[f"c{at}"] = tuple(
            np.where(np.isin(image, list(gone)), 0, image) for image in (reference, prediction)
        )
    return found  # type: ignore[return-value]


@cache
def result() -> Result:
    return evaluated(images(), SPEC)


def evaluated(cases: dict[str, tuple[Any, Any]], spec: Any, model: str = "") -> Result:
    evaluator = pm.Evaluator(spec)
    for name, (reference, prediction) in cases.items():
        evaluator.update(reference=reference, prediction=prediction, case=name, model=model)
    return evaluator.compute()


def row_for(
    rows: list[AverageScore],
    score: str,
    averaging: str,
    name: str,
    strategy: str,
    threshold: float | None,
) -> AverageScore:
    found = [
        row
        for row in rows
        if (row.score.name, row.averaging, row.setting.class_name, row.setting.strategy)
        == (score, averaging, name, strategy)
        and row.threshold == threshold
    ]
    assert len(found) == 1
    return found[0]


def scores(name: str, strategy: str, threshold: float, table: str = "scores") -> list[list[Any]]:
    """Return the rows of a class and a way to match, case by case."""
    wanted = {"class": name, "strategy": strategy, "threshold": threshold}
    return [
        [row for row in rows_of(case, table) if wanted.items() <= row.items()]
        for case in result().cases
    ]
