"""Stopping a long evaluation: evidence and intervals that may be looked at after every case."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.datasets import (
    DatasetPaths,
    Job,
    RunOptions,
    StopRule,
    load_run,
    pair,
    read_run,
    read_stop_rule,
    run_dataset,
    running_evidence,
    sequence_half_width,
)
from panmatch.datasets._statistics._sequential import BETS, confidence_sequence
from panmatch.datasets._stopping import StopMonitor
from panmatch.errors import OptionError
from panmatch.evaluation import CaseResult
from panmatch.spec import Spec, as_spec
from tests.commands import panmatch
from tests.datasets.covering import write_covering

SPEC = as_spec({"matching": ["one-to-one"], "thresholds": [0.05], "metrics": []})


def paths(folder: Path, models: dict[str, Any]) -> DatasetPaths:
    write_covering(folder, models)
    return DatasetPaths(folder / "ref", {model: folder / model for model in models})


def unknown(who: tuple[str, str]) -> CaseResult:
    raise KeyError(who)


def stopped(
    folder: Path, models: dict[str, Any], rule: str, spec: Spec = SPEC, **options: Any
) -> Any:
    """Run with a rule, and return the result and the notice."""
    stop = read_stop_rule(rule)
    cases = pair(paths(folder, models))
    result = run_dataset(cases, Job(spec.canonical()), folder / "out",
                         RunOptions(stop=stop, **options))  # fmt: skip
    notices = [one for one in read_run(folder / "out")["warnings"] if one["kind"] == "stop-rule"]
    return result, notices


def test_the_evidence_is_a_fair_game_under_symmetry() -> None:
    """Over all signs, the mean of the fortune is exactly 1."""
    sizes = np.array([0.3, 0.01, 0.2, 0.7, 0.05])
    signs = np.array(list(product([-1, 1], repeat=5)))
    fortunes = np.exp(running_evidence(signs * sizes)[:, -1])
    assert fortunes.mean() == pytest.approx(1.0)
    # And so it is at every look, given the past.
    halves = np.exp(running_evidence(signs * sizes)[:, 2]).reshape(8, 4)[:, 0]
    assert halves.mean() == pytest.approx(1.0)


def test_the_evidence_is_the_mean_over_bets() -> None:
    values = [0.1, -0.05, 0.0, math.nan, 0.3]
    used = np.array([0.1, -0.05, 0.3])
    expected = np.mean([np.prod(np.exp(bet * used) / np.cosh(bet * used)) for bet in BETS[:9]])
    terms = [np.prod([2 / (1 + math.exp(-2 * bet * d)) for d in used]) for bet in BETS]
    assert np.mean(terms[:9]) == pytest.approx(expected)
    found = np.exp(running_evidence(values))
    assert found[-1] == pytest.approx(np.mean(terms))
    assert found[1] == found[2] == found[3]  # neither a tie nor NaN changes anything


def test_huge_differences_do_not_overflow() -> None:
    evidence = running_evidence(np.full(5000, 1.0))
    assert np.isfinite(evidence).all()
    assert evidence[-1] == pytest.approx(5000 * math.log(2), rel=1e-3)


def test_the_confidence_sequence_follows_its_formula() -> None:
    values = np.random.default_rng(0).normal(0.6, 0.1, 80)
    found = confidence_sequence([*values, math.nan])
    alpha = 0.05
    rho = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha)) + 1) / 100
    grown = 80 * rho + 1
    half = values.std(ddof=1) * math.sqrt(
        2 * grown / (80**2 * rho) * math.log(math.sqrt(grown) / alpha)
    )
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half))
    assert not confidence_sequence(values[:49]).is_defined
    wider = sequence_half_width(1.0, 100) / (1.96 / 10)
    assert 1.4 < wider < 1.6  # the price of looking all the time


def test_a_run_stops_when_a_model_is_better(tmp_path: Path) -> None:
    models = {"a": [9] * 30, "b": [6] * 30}
    result, notices = stopped(tmp_path, models, "decided")
    n = len(result.evaluated("a"))
    evidence = np.exp(running_evidence(np.full(30, 0.3)))
    assert n == int(np.argmax(evidence >= 40)) + 1 < 10
    assert len(result.evaluated("b")) == n
    assert len(notices) == 1
    assert notices[0]["text"].startswith(
        f"stopped after {n} of 30 cases, in random order: a has a higher PQ than b (evidence of "
        f"{evidence[n - 1]:.0f} to 1, where 40 to 1 was needed for an error rate of 0.05 over all"
    )
    names = {case.case for case in result.evaluated("a")}
    assert names != {f"c{i:02}" for i in range(n)}  # not the first by name
    assert {case.case for case in load_run(tmp_path / "out").evaluated("b")} == names


def test_the_answer_does_not_depend_on_workers_or_resuming(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    models = {
        "a": generator.integers(7, 10, 24).tolist(),
        "b": generator.integers(4, 9, 24).tolist(),
    }
    alone, first = stopped(tmp_path / "one", models, "decided")
    several, second = stopped(tmp_path / "two", models, "decided", workers=2)
    assert first == second
    assert [case.case for case in alone.cases] == [case.case for case in several.cases]
    again, third = stopped(tmp_path / "one", models, "decided", resume=True)
    assert third == first
    assert [case.case for case in again.cases] == [case.case for case in alone.cases]


def test_equal_models_are_evaluated_to_the_end(tmp_path: Path) -> None:
    result, notices = stopped(tmp_path, {"a": [9, 8] * 6, "b": [8, 9] * 6}, "decided")
    assert len(result.evaluated("a")) == 12
    assert notices[0]["text"] == "--stop-when decided was not reached: 12 cases were evaluated."


def test_several_models_share_the_error_rate(tmp_path: Path) -> None:
    models = {"a": [9] * 20, "b": [6] * 20, "c": [5] * 20}
    result, notices = stopped(tmp_path, models, "decided")
    assert "a has a higher PQ than b and c" in notices[0]["text"]
    assert "where 120 to 1 was needed" in notices[0]["text"]  # six ordered pairs
    evidence = np.exp(running_evidence(np.full(20, 0.3)))
    assert len(result.evaluated("a")) == int(np.argmax(evidence >= 120)) + 1


def test_failed_cases_are_skipped(tmp_path: Path) -> None:
    models = {"a": [9] * 20, "b": [6] * 18 + [None] * 2}
    result, notices = stopped(tmp_path, models, "decided")
    both = [case for case in result.cases if case.model == "b"]
    ok = sum(case.status == "ok" for case in both)
    evidence = np.exp(running_evidence(np.full(20, 0.3)))
    assert ok == int(np.argmax(evidence >= 40)) + 1
    assert notices[0]["text"].startswith(f"stopped after {len(both)} of 20 cases")


def test_a_run_stops_when_the_mean_is_known_well_enough(tmp_path: Path) -> None:
    scores = [(7, 8, 9, 8)[i % 4] for i in range(120)]
    result, notices = stopped(tmp_path, {"model": scores}, "half-width=0.022")
    cases = pair(paths(tmp_path, {"model": scores}))
    order = StopMonitor(StopRule("half-width", 0.022), SPEC, cases, unknown).cases
    values = np.array([scores[int(case.name[1:])] / 10 for case in order])
    halves = [
        (ends.high - ends.low) / 2 if (ends := confidence_sequence(values[:n])).is_defined else 1
        for n in range(1, 121)
    ]
    n = int(np.argmax(np.array(halves) <= 0.022)) + 1
    assert 50 <= n < 120
    assert len(result.cases) == n
    ends = confidence_sequence(values[:n])
    assert (
        f"mean PQ of cases is between {ends.low:.3f} and {ends.high:.3f} (95 % over all looks)"
    ) in notices[0]["text"]
    assert "report this answer instead" in notices[0]["text"]


def test_differences_are_known_well_enough_all_together(tmp_path: Path) -> None:
    models = {"a": [9, 8] * 40, "b": [8, 8] * 40, "c": [7, 7] * 40}
    result, notices = stopped(tmp_path, models, "half-width=0.03")
    n = len(result.evaluated("a"))
    assert 50 <= n < 80
    assert "differences in mean PQ of cases: a − b +0.0" in notices[0]["text"]


@pytest.mark.parametrize("text", ["soon", "half-width", "half-width=0", "half-width=x", "width=1"])
def test_a_mistyped_rule_is_explained(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_stop_rule(text)
    assert str(caught.value) == (
        f"stop_when={text!r} is not a rule for stopping: pass decided, or half-width=0.02."
    )


def test_rules_that_cannot_work_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="compares models, but there is only one"):
        stopped(tmp_path, {"a": [9] * 3}, "decided")
    clustered = SPEC.model_copy(
        update={"averaging": SPEC.averaging.model_copy(update={"cluster": "patient"})}
    )
    cases = pair(paths(tmp_path / "more", {"a": [9] * 3}))
    with pytest.raises(OptionError, match="looks at single cases, but cases belong to clusters"):
        StopMonitor(StopRule("half-width", 0.1), clustered, cases, unknown)


def test_the_command_stops_and_says_so(tmp_path: Path) -> None:
    words = write_covering(tmp_path, {"a": [9] * 20, "b": [6] * 20})
    done = panmatch("evaluate", *words, "-o", tmp_path / "out", "-q", "--stop-when", "decided")
    assert done.returncode == 0
    assert "panmatch: note: stopped after " in done.stderr
    done = panmatch("evaluate", *words, "-o", tmp_path / "x", "-q", "--stop-when", "soon")
    assert done.returncode == 2
    assert done.stderr == (
        "panmatch: --stop-when 'soon' is not a rule for stopping: pass decided, or "
        "half-width=0.02.\n"
    )
