"""The verdict: right for one model, two and many, and short."""

from __future__ import annotations

from typing import Any

import panmatch as pm
from panmatch.datasets import summary_table, verdict, what_would_change
from panmatch.evaluation import CaseResult, Result
from tests.scenes import strip

WHOLE = "aaaaaaaaaabbbbb....."
SPLIT = "aaaaaaccccbbbbb....."  # a in two pieces
CUT = "aaaaaaaa..bbb......."  # both too small
HALF = "aaaaa.....bbb......."


def result_of(spec: Any, cases: int = 1, **predictions: str) -> Result:
    evaluator = pm.Evaluator(spec)
    for model, prediction in predictions.items():
        for at in range(cases):
            evaluator.update(
                reference=strip(WHOLE), prediction=strip(prediction), case=f"c{at}", model=model
            )
    return evaluator.compute()


BOTH = {"matching": ["one-to-one", "many-to-one"], "thresholds": [0.3, 0.5, 0.7]}


def test_one_case_of_one_model() -> None:
    one = {"matching": "one-to-one", "thresholds": 0.5}
    assert verdict(result_of(one, model=CUT)) == (
        "PQ is 0.700 (object, one-to-one (optimal) at τ = 0.5)."
    )
    assert verdict(result_of(BOTH, model=SPLIT)) == (
        "PQ is 0.640 (object, one-to-one (optimal) at τ = 0.3). Over the 6 settings of the spec it "
        "runs from 0.400 (one-to-one (optimal) at τ = 0.7) to 1.000 (many-to-one (merge, seed) at "
        "τ = 0.3)."
    )
    assert verdict(result_of(BOTH, model=WHOLE)).endswith(
        "It is the same in all 6 settings of the spec."
    )


def test_many_cases_of_one_model_have_the_interval_of_the_summary_and_both_averages() -> None:
    evaluator = pm.Evaluator({"matching": "one-to-one", "thresholds": 0.5})
    for at, text in enumerate((CUT, SPLIT, WHOLE, HALF, CUT, WHOLE)):
        evaluator.update(reference=strip(WHOLE), prediction=strip(text), case=f"c{at}")
    result = evaluator.compute()
    table = summary_table(result).frame().set_index(["measure", "averaging"])
    pooled, mean = table.loc["pq", "pooled"], table.loc["pq", "mean of cases"]
    assert pooled.value != mean.value
    assert verdict(result) == (
        f"PQ is {pooled.value:.3f}, 95 % interval {pooled.low:.3f} to {pooled.high:.3f} (object, "
        f"one-to-one (optimal) at τ = 0.5; pooled over 6 cases; mean of cases: {mean.value:.3f})."
    )


def test_a_leader_everywhere_and_one_that_shares_the_lead() -> None:
    start = "a has the highest mean PQ of cases (object: 1.000) under one-to-one (optimal) at "
    assert verdict(result_of(BOTH, a=WHOLE, b=HALF)) == (
        f"{start}τ = 0.3. It leads in every setting of the spec."
    )
    # Under many-to-one both are perfect: nobody else leads, but a does not either.
    assert verdict(result_of(BOTH, a=WHOLE, b=SPLIT)) == (
        f"{start}τ = 0.3. No other model leads alone in any setting of the spec."
    )
    tied = verdict(result_of(BOTH, a=CUT, b=CUT, c=HALF))
    assert tied == (
        "a and b share the highest mean PQ of cases (object: 0.700) under one-to-one (optimal) at "
        "τ = 0.3. No other model leads alone in any setting of the spec."
    )


def test_two_settings_are_named_and_the_others_counted() -> None:
    # The pieces win under many-to-one, as long as the larger one passes the threshold.
    three = BOTH | {"thresholds": [0.2, 0.3, 0.5]}
    assert verdict(result_of(three, cuts=CUT, splits=SPLIT)) == (
        "cuts has the highest mean PQ of cases (object: 0.700) under one-to-one (optimal) at "
        "τ = 0.2. But splits leads under many-to-one (merge, seed) at τ = 0.2, many-to-one (merge, "
        "seed) at τ = 0.3 and 1 more of the 6 settings."
    )
    two = BOTH | {"thresholds": [0.3, 0.5]}
    assert verdict(result_of(two, cuts=CUT, splits=SPLIT)).endswith(
        "But splits leads under many-to-one (merge, seed) at τ = 0.3, many-to-one (merge, seed) at "
        "τ = 0.5."
    )


def test_intervals_and_first_places_are_told_where_there_are_enough_cases() -> None:
    text = verdict(result_of(BOTH, 5, a=WHOLE, b=HALF))
    assert "(object: 1.000, 95 % interval 1.000 to 1.000, first in 100 % of resamples)" in text


def test_models_are_compared_on_what_they_share() -> None:
    spec = {"matching": "one-to-one", "thresholds": 0.5}
    result = result_of(spec, 2, a=WHOLE, b=CUT)
    failed = CaseResult("c2", "b", status="failed", reason="no file")
    more = result_of(spec, 3, a=WHOLE)
    every = (*more.cases, *(case for case in result.cases if case.model == "b"), failed)
    assert verdict(Result(result.spec, every)).startswith(
        "a has the highest mean PQ of cases on the 2 cases that all models have (object: 1.000)"
    )
    late = CaseResult("c0", "c", status="failed", reason="no file")
    alone = Result(result.spec, (*more.cases, late))
    assert verdict(alone).startswith("PQ is 1.000 (object, one-to-one")
    apart = Result(result.spec, (*more.cases[:1], *(case for case in result.cases[3:])))
    assert verdict(apart) == "The models have no case in common, so they cannot be compared."
    assert verdict(Result(result.spec, (late,))) == "No case could be evaluated."


def test_every_choice_that_moves_the_score_of_one_model_is_named_the_largest_first() -> None:
    assert what_would_change(result_of(BOTH, model=SPLIT)) == (
        "PQ moves with the strategy from 0.640 (one-to-one (optimal)) to 1.000 (many-to-one "
        "(merge, seed)), with the threshold from 0.400 (τ = 0.7) to 0.640 (τ = 0.3)."
    )
    assert what_would_change(result_of(BOTH, model=WHOLE)) == (
        "PQ does not depend on the strategy or the threshold."
    )
    assert what_would_change(result_of({"matching": "one-to-one", "thresholds": 0.5}, m=CUT)) == ""
    classes = {"left": {"labels": [1]}, "right": {"labels": [2, 3, 4, 5]}}
    spec = {"classes": classes, "thresholds": 0.5, "matching": "one-to-one"}
    # One of the two classes is lost to a threshold of ½, the other one has an IoU of ⅗.
    assert what_would_change(result_of(spec, model=HALF)) == (
        "PQ moves with the class from 0.000 (left) to 0.600 (right)."
    )


def test_choices_that_put_another_model_in_the_lead_are_named() -> None:
    # Pieces win under many-to-one; at 0.7 each model has lost one of its two objects.
    assert what_would_change(result_of(BOTH, cuts=CUT, splits=SPLIT)) == (
        "Who leads depends on the strategy (many-to-one (merge, seed): splits) and the threshold "
        "(τ = 0.7: cuts and splits)."
    )
    assert what_would_change(result_of(BOTH, a=WHOLE, b=HALF)) == (
        "Who leads does not depend on the strategy or the threshold."
    )
    two = {"matching": ["one-to-one", "many-to-one"], "thresholds": [0.1, 0.3]}
    assert what_would_change(result_of(two, cuts=CUT, splits=SPLIT)) == (
        "Who leads depends on the strategy (many-to-one (merge, seed): splits), but not on the "
        "threshold."
    )


def test_nothing_would_change_without_a_result_or_a_common_case() -> None:
    failed = CaseResult("a", "m", "failed", "broken")
    assert what_would_change(Result(pm.Spec(), (failed,))) == ""
