"""The summary for people: tables, mistakes, failures, and both bounds of every strategy."""

from __future__ import annotations

from typing import Any

import pytest

import panmatch as pm
from panmatch.evaluation import CaseResult, Result, number, table
from panmatch.matching import STRATEGIES, Matcher
from panmatch.spec import Spec, as_spec
from tests.scenes import strip


def result_of(spec: Any, *cases: tuple[str, str], model: str = "") -> Result:
    evaluator = pm.Evaluator(spec)
    for at, (reference, prediction) in enumerate(cases):
        evaluator.update(
            reference=strip(reference), prediction=strip(prediction), case=f"c{at}", model=model
        )
    return evaluator.compute()


def failed(case: str, reason: str, model: str = "") -> CaseResult:
    return CaseResult(case, model, status="failed", reason=reason)


def test_a_single_case_word_for_word() -> None:
    spec = {"matching": ["one-to-one", "many-to-one"], "thresholds": 0.5}
    found = result_of(spec, ("aaaaaaaaaabbbbb.....", "aaaaaaccccdddd..eeee"))
    assert (
        found.summary()
        == f"""\
1 case (panmatch {pm.__version__})

class   strategy                     τ  TP  near τ  FP  FN     PQ     SQ     RQ   AUTC
object  one-to-one (optimal)       0.5   2       0   2   0  0.467  0.700  0.667  0.333
object  many-to-one (merge, seed)  0.5   2       0   1   0  0.720  0.900  0.800  0.485

What went wrong, regardless of the strategy:
class   split  merged  missed  spurious
object      1       0       0         1

one-to-one   at most 1 prediction per reference, at most 1 reference per prediction
many-to-one  any number of predictions per reference, at most 1 reference per prediction
near τ: true positives that would be lost if the threshold were 0.05 higher"""
    )


def test_many_cases_show_pooled_scores_and_means_of_cases() -> None:
    spec = {"matching": "one-to-one", "thresholds": 0.5}
    found = result_of(spec, ("aabbcc", "aabbcc"), ("aaaabb", "aaaa.."))
    lines = found.summary().splitlines()
    assert lines[0] == f"2 cases (panmatch {pm.__version__})"
    assert lines[2].split("  ")[-1].strip() == "mean PQ of cases"
    assert "pooled PQ" in lines[2]
    assert lines[3].split() == [
        "object", "one-to-one", "(optimal)", "0.5", "4", "0", "0", "1",
        "0.889", "1.000", "0.889", "0.889", "0.833",
    ]  # fmt: skip


def test_counts_near_the_threshold_are_shown_and_nothing_wrong_is_said() -> None:
    found = result_of({"matching": "one-to-one", "thresholds": 0.7}, ("aaaa", "aaa."))
    assert found.summary().splitlines()[3].split()[3:8] == ["0.7", "1", "1", "0", "0"]
    assert "Nothing is split, merged, missed or spurious." in found.summary()


@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_both_bounds_of_every_strategy_are_said(strategy: str) -> None:
    text = result_of({"matching": strategy}, ("aa", "aa")).summary()
    bounds = STRATEGIES[strategy]().bounds
    assert len(bounds) == 2
    assert any(line.split("  ")[-1].strip() == ", ".join(bounds) for line in text.splitlines())
    assert "per reference, " in text
    assert text.count("per prediction") == 1


def test_means_over_classes_have_no_counts() -> None:
    classes = {"a": {"labels": 1}, "b": {"labels": 2}, "c": {"labels": 3}}
    spec = as_spec(
        {"classes": classes, "matching": "one-to-one", "thresholds": 0.5, "curve": False}
    )
    lines = result_of(spec, ("aab.", "aa..")).summary().splitlines()
    assert "AUTC" not in lines[2]
    assert lines[3].split()[4:] == ["1", "0", "0", "0", "1.000", "1.000", "1.000"]
    assert lines[5].split()[0] == "c"
    assert lines[5].split()[-3:] == ["–", "–", "–"]
    assert lines[6].split() == [
        "mean", "of", "classes", "one-to-one", "(optimal)", "0.5", "0.500", "0.500", "0.500",
    ]  # fmt: skip


def test_failures_are_listed_with_their_reasons() -> None:
    result = result_of(Spec(), ("aa", "aa")) + Result(
        Spec(), tuple(failed(f"f{at:02}", f"reason {at}") for at in range(12))
    )
    text = result.summary()
    assert text.startswith(f"13 cases, 12 failed (panmatch {pm.__version__})\n")
    lines = text.splitlines()
    at = lines.index("Failed:")
    assert lines[at + 1 : at + 12] == [
        *(f"  f{n:02}: reason {n}" for n in range(10)),
        "  … and 2 more",
    ]


def test_models_have_a_table_each() -> None:
    spec = Spec(thresholds=(0.5,))
    result = result_of(spec, ("aa", "aa"), model="good") + result_of(
        spec, ("aa", "a."), model="bad"
    )
    result += Result(spec, (failed("c0", "no file", model="late"),))
    text = result.summary()
    assert text.startswith(f"1 case, 3 models, 1 failed (panmatch {pm.__version__})\n")
    blocks = text.split("\n\n")
    assert [block.splitlines()[0] for block in blocks if block.startswith("Model")] == [
        "Model bad",
        "Model good",
    ]
    assert "  c0 (late): no file" in text
    bad, good = (block.splitlines() for block in blocks if block.startswith("Model"))
    assert [lines[2].split()[8] for lines in (bad, good)] == ["0.000", "1.000"]


def test_nothing_at_all_is_not_an_error() -> None:
    assert Result(Spec(), ()).summary().startswith("0 cases (panmatch")
    text = Result(Spec(), (failed("a", "no such file"),)).summary()
    assert text.startswith("1 case, 1 failed (panmatch")
    assert "\n  a: no such file\n" in text
    empty = result_of(Spec(), ("..", "..")).summary()
    assert empty.splitlines()[3].split()[-8:] == ["0", "0", "0", "0", "–", "–", "–", "–"]


def test_matchers_are_named_after_their_differences() -> None:
    assert Matcher(pm.SameId()).label == "same-id"
    assert Matcher(pm.OneToOne(), "dice").label == "one-to-one (optimal, by dice)"
    matcher = Matcher(pm.ManyToOne(gate="edge"), "dice", "voronoi")
    assert matcher.label == "many-to-one (merge, edge, by dice) in regions"
    assert Matcher(pm.RegionUnion(), regions="voronoi").label == "union"


def test_a_class_with_parts_shows_pq_and_part_pq_by_name() -> None:
    spec = {"classes": {"a": {"labels": [1, 2], "instances": "components", "parts": [1, 2]}},
            "matching": "one-to-one", "part_background": "none"}  # fmt: skip
    found = result_of(spec, ("aabb", "aaab"))
    lines = found.summary().splitlines()
    assert lines[2].split()[-5:] == ["PQ", "SQ", "RQ", "PartPQ", "AUTC"]
    assert lines[3].split()[-5:] == ["1.000", "1.000", "1.000", "0.583", "1.000"]
    assert lines[-1] == "PQ uses IoU; PartPQ uses the mean IoU of the parts (background: none)"


def test_numbers_and_tables() -> None:
    assert number(float("nan")) == "–"
    assert number(2 / 3) == "0.667"
    assert table([["a", "b", "c"], ["dd", "e", "10"]], left=2) == ["a   b   c", "dd  e  10"]
