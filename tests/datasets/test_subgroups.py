"""Subgroups have the scores of their cases, and tests and intervals keep their error rates."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import Resampling, Subgroups, describe_cases, subgroup_columns
from panmatch.datasets._statistics import interaction_p
from panmatch.errors import OptionError, ShapeError
from panmatch.evaluation import Result
from panmatch.spec import as_spec

SPEC = as_spec({"matching": "one-to-one", "thresholds": 0.3, "curve": False})
SITES = "ab"


def made(n: int = 14, models: str = "xy") -> Result:
    """Return a result whose model y misses all small objects at site b."""
    evaluator = pm.Evaluator(SPEC)
    rng = np.random.default_rng(1)
    for at in range(n):
        site = SITES[at % 2]
        sizes = rng.integers(2, 40, 9)
        reference = np.repeat(np.arange(1, 10), sizes)
        for model in models:
            shift = rng.integers(0, 3)
            prediction = np.roll(reference, shift)
            if model == "y" and site == "b":
                prediction[np.isin(prediction, np.flatnonzero(sizes < 30) + 1)] = 0
            prediction[:1] = 77
            case = f"{site}_{at:02}"
            evaluator.update(reference=reference, prediction=prediction, case=case, model=model)
    return describe_cases(evaluator.compute(), "{site}_{number}")


def test_a_subgroup_has_the_scores_of_its_cases() -> None:
    result = made()
    family = Subgroups(result, "site").families[1]
    assert (family.model, family.second, family.column) == ("y", "", "site")
    scores = result.scores.query("model == 'y'")
    for one in family.groups:
        mine = scores[scores.case.str.startswith(one.group)]
        assert one.cases == len(mine) == 7
        assert one.value == pytest.approx(mine.pq.mean(), abs=1e-15)
        expected = Resampling.of(7).mean_interval(mine.pq, bounds=(0, 1))
        assert (one.interval.low, one.interval.high) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )
        wider = Resampling.of(7).mean_interval(mine.pq, bounds=(0, 1), level=0.975)
        assert one.simultaneous.low == pytest.approx(wider.low, abs=1e-12)
        kept = tuple(c for c in result.cases if c.model == "y" and c.case.startswith(one.group))
        pooled = Result(result.spec, kept).averages
        pooled = pooled[(pooled.averaging == "pooled") & (pooled.measure == "pq")]
        assert one.pooled == pooled.value.item()
        assert one.pooled_interval.low < one.pooled < one.pooled_interval.high
    assert family.worst is not None
    assert family.worst.group == "b"


def test_the_interaction_of_models_and_sites_is_found() -> None:
    x, y, difference = Subgroups(made(), "site").families
    assert x.p_value > 0.01
    assert y.p_value < 0.01
    assert difference.title == "x − y"
    assert difference.p_value < 0.01
    assert difference.worst is None
    a, b = difference.groups
    assert b.value == pytest.approx(x.groups[1].value - y.groups[1].value)
    assert abs(a.value) < b.value


def test_objects_of_all_sizes_add_up_to_the_tally_exactly() -> None:
    result = made()
    found = Subgroups(result, "size")
    series = result.series[1]
    parts = list(found._by_size(series))
    assert [part.group.split()[0] for part in parts] == ["small", "medium", "large"]
    total = sum((part.counts.sum().tallies.tally() for part in parts), pm.Tally(0, 0, 0, 0))
    assert total == series.counts[0.3].sum().tallies.tally()
    assert total.fp > 0


def test_sizes_are_terciles_of_all_references_and_false_positives_go_by_their_own() -> None:
    evaluator = pm.Evaluator(SPEC)
    for case in "abcdef":
        reference = np.repeat([1, 0, 2, 0, 3, 0, 0], [3, 2, 6, 2, 9, 2, 4])
        prediction = np.repeat([0, 0, 2, 0, 3, 0, 9], [3, 2, 6, 2, 9, 2, 4])
        evaluator.update(reference=reference, prediction=prediction, case=case)
    small, medium, large = Subgroups(evaluator.compute(), "size").families[0].groups
    assert small.group == "small (< 5)"
    assert (small.pooled, medium.pooled, large.pooled) == (0.0, 1.0, 1.0)
    assert small.cases == 6
    found = Subgroups(evaluator.compute(), "size")
    tally = next(iter(found._by_size(evaluator.compute().series[0]))).counts.sum().tallies.tally()
    assert (tally.tp, tally.fp, tally.fn) == (0, 6, 6)  # the spurious object has 4 voxels


def test_the_size_of_objects_is_compared_within_cases() -> None:
    families = Subgroups(made(), "size").families
    y = next(one for one in families if one.title == "y")
    assert y.p_value < 0.01
    assert y.worst is not None
    assert y.worst.group.startswith("small")


def test_all_subgroups_are_one_table() -> None:
    table = Subgroups(made(), "site").table().frame()
    assert len(table) == 6
    assert table.query("model == 'y' and second == ''").worst.tolist() == ["", "yes"]
    assert {"column", "group", "simultaneous_low", "p_interaction"} <= set(table.columns)


def test_columns_with_one_case_per_value_and_patients_are_not_shown() -> None:
    result = made()
    assert subgroup_columns(result) == ["site"]
    assert subgroup_columns(describe_cases(result, "{patient}_{number}")) == []
    assert subgroup_columns(describe_cases(result, cluster="site")) == []


def test_unknown_columns_and_scores_are_explained() -> None:
    with pytest.raises(OptionError, match="column='sight' is not known; did you mean 'site'"):
        Subgroups(made(4), "sight")
    with pytest.raises(OptionError, match="score='autc' is not known"):
        Subgroups(made(4), "site", "autc")
    with pytest.raises(ShapeError, match="values, groups and units differ in length"):
        interaction_p([1, 2], [1])


def test_the_permutation_test_is_the_share_of_all_permutations() -> None:
    values = np.array([0.1, 0.5, 0.4, 0.9, 0.6])
    groups = [0, 0, 0, 1, 1]

    def variation(assigned: tuple[int, ...]) -> float:
        total = 0.0
        for group in (0, 1):
            mine = values[np.array(assigned) == group]
            total += len(mine) * (mine.mean() - values.mean()) ** 2
        return total

    every = [variation(one) for one in set(itertools.permutations(groups))]
    exact = np.mean([one >= variation(tuple(groups)) - 1e-12 for one in every])
    assert interaction_p(values, groups, permutations=19_999) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("design", ["cases", "patients", "within"])
def test_the_interaction_test_keeps_its_error_rate(design: str) -> None:
    """Nothing depends on the group, but the values of a patient have a correlation of 0.5."""
    rng = np.random.default_rng(3)
    rejected = []
    for seed in range(400):
        if design == "cases":
            values, groups, units = rng.beta(4, 1, 18), np.arange(18) % 3, np.arange(18)
        else:
            units = np.repeat(np.arange(8), 3)
            groups = units % 2 if design == "patients" else np.tile(np.arange(3), 8)
            values = rng.normal(0, 1, 8)[units] + rng.normal(0, 1, 24)
        rejected.append(interaction_p(values, groups, units, permutations=199, seed=seed) <= 0.05)
    # Eight patients can be split evenly in 70 ways, so that p jumps from 2/70 to 4/70.
    expected = 2 / 70 if design == "patients" else 0.05
    assert np.mean(rejected) == pytest.approx(expected, abs=0.03)


def test_ignoring_patients_would_find_differences_that_are_not_there() -> None:
    rng = np.random.default_rng(4)
    units = np.repeat(np.arange(8), 5)
    rejected = [
        interaction_p(rng.normal(0, 1, 8)[units] + rng.normal(0, 0.7, 40), units % 2,
                      permutations=199) <= 0.05
        for _ in range(200)
    ]  # fmt: skip
    assert np.mean(rejected) > 0.2


def test_simultaneous_intervals_cover_the_worst_subgroup() -> None:
    """All 15 sites are alike, so the worst is chosen by chance."""
    rng = np.random.default_rng(5)
    resampling = Resampling.of(12, n_resamples=1000)
    alone, together = 0, 0
    for _ in range(300):
        sites = rng.beta(6, 1.5, (15, 12))
        worst = sites[sites.mean(axis=1).argmin()]
        for level in (0.95, 1 - 0.05 / 15):
            ends = resampling.mean_interval(worst, level=level)
            covers = ends.low <= 6 / 7.5 <= ends.high
            alone += covers and level == 0.95
            together += covers and level > 0.95
    assert alone / 300 < 0.9
    assert together / 300 > 0.93


def test_without_a_second_group_there_is_nothing_to_test() -> None:
    assert math.isnan(interaction_p([1.0, 2.0, float("nan")], ["a", "a", "b"]))
