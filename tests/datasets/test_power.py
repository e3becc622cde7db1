"""How many cases a comparison needs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import panmatch as pm
from panmatch.datasets import describe_cases, sample_size, signed_rank_p
from panmatch.datasets._statistics import _power
from panmatch.errors import OptionError
from tests.commands import panmatch
from tests.datasets.covering import SPEC, TWO_CLASSES, covering, write_covering

NAN = math.nan
PILOT = [0.1, 0.05, -0.02, 0.08, 0.03, -0.04, 0.06, 0.0, 0.02, 0.05]
# PQ in tenths, of two models that differ by −1 to 3 tenths.
MODELS = {"a": [9, 8, 9, 7, 9, 6, 8, 9], "b": [8, 8, 6, 7, 7, 7, 6, 9]}


def t_power(n: int, effect: float, alpha: float) -> float:
    """Return the power of a two-sided paired t-test, by scipy's noncentral t."""
    bound, shift = stats.t.ppf(1 - alpha / 2, n - 1), effect * math.sqrt(n)
    return float(stats.nct.sf(bound, n - 1, shift) + stats.nct.cdf(-bound, n - 1, shift))


@pytest.mark.parametrize(("effect", "power", "alpha"), [(0.5, 0.8, 0.05), (0.3, 0.9, 0.01)])
def test_the_t_test_needs_what_the_textbook_says(effect: float, power: float, alpha: float) -> None:
    values = stats.norm.ppf((np.arange(40) + 0.5) / 40)
    values *= 1 / values.std(ddof=1)
    found = sample_size(values, effect, power=power, alpha=alpha)
    n = int(found.by_t_test)
    assert found.deviation == pytest.approx(1.0)
    assert t_power(n, effect, alpha) >= power > t_power(n - 1, effect, alpha)
    if effect == 0.5:
        assert n == 34
    # Wilcoxon's test has an efficiency of 3/π on normal differences.
    assert found.units == pytest.approx(n * math.pi / 3, rel=0.1)


def test_simulated_power_is_that_of_the_test() -> None:
    generator = np.random.default_rng(0)
    pilot = generator.normal(0.0, 1.0, 200)
    found = sample_size(pilot, 0.5)
    new = generator.normal(0.5, 1.0, (400, int(found.units)))
    reached = np.mean([signed_rank_p(row) <= 0.05 for row in new])
    assert reached == pytest.approx(0.8, abs=0.06)


def test_without_a_difference_the_test_finds_as_much_as_chance() -> None:
    """The simulation must not favour either side, however skewed the pilot is."""
    skewed = np.random.default_rng(1).exponential(1.0, 30)
    for n in (20, 200):
        pilot = _power._Pilot(skewed - skewed.mean(), np.full(30, 1e-9), np.arange(30), 0.05, 0)
        assert pilot.power(n) == pytest.approx(0.05, abs=0.015)


def test_the_interval_follows_from_that_of_the_standard_deviation() -> None:
    found = sample_size(PILOT, 0.03)
    low, high = (
        found.deviation * math.sqrt(9 / stats.chi2.ppf(share, 9)) for share in (0.975, 0.025)
    )
    for deviation, n in ((low, found.low), (high, found.high)):
        effect = 0.03 / deviation
        assert t_power(int(n), effect, 0.05) >= 0.8 > t_power(int(n) - 1, effect, 0.05)
    assert found.low < found.by_t_test < found.high
    assert found.pilot_difference == pytest.approx(0.033)


def test_equal_cases_stay_equal() -> None:
    centred, shift = _power.centred_on(np.array([0.0, 0.2, -0.1, 0.0, 0.5]), 0.06)
    assert centred.tolist() == pytest.approx([0, 0, -0.3, 0, 0.3])
    assert shift.tolist() == pytest.approx([0, 0.1, 0.1, 0, 0.1])
    assert (centred + shift).mean() == pytest.approx(0.06)
    centred, shift = _power.centred_on(np.zeros(4), 0.06)
    assert (centred + shift).tolist() == [0.06] * 4


def test_exact_p_values_of_simulated_rows_are_those_of_the_test() -> None:
    rows = np.random.default_rng(2).normal(0.2, 1.0, (60, 11))
    rows[:, 3] = 0.0
    expected = [signed_rank_p(row) for row in rows]
    assert _power._exact_p(rows).tolist() == expected
    many = np.random.default_rng(3).normal(0.2, 1.0, (20, 120))
    many[:, :10] = 0.0
    assert _power._approximate_p(many).tolist() == pytest.approx(
        [signed_rank_p(row) for row in many]
    )


def test_clusters_are_the_units() -> None:
    generator = np.random.default_rng(4)
    owner = np.repeat(np.arange(12), 4)
    values = generator.normal(0, 0.1, 12)[owner] + generator.normal(0, 0.02, 48)
    by_case, by_patient = sample_size(values, 0.05), sample_size(values, 0.05, clusters=owner)
    sums = np.bincount(owner, (values - values.mean()) / 4)
    assert by_patient.deviation == pytest.approx(sums.std(ddof=1), rel=1e-6)
    assert by_patient.cases == 4 * by_patient.units > 2 * by_case.units
    assert (by_patient.pilot_units, by_patient.pilot_cases) == (12, 48)


def test_a_larger_difference_needs_fewer_cases_and_more_power_needs_more() -> None:
    assert sample_size(PILOT, 0.06).units < sample_size(PILOT, 0.03).units
    assert sample_size(PILOT, 0.03, power=0.95).units > sample_size(PILOT, 0.03).units
    assert sample_size(PILOT, 0.03, alpha=0.005).units > sample_size(PILOT, 0.03).units
    assert sample_size(PILOT, 0.03) == sample_size(PILOT, 0.03)  # the seed is fixed


def test_beyond_2000_cases_the_formula_has_to_do() -> None:
    found = sample_size(PILOT, 0.001)
    assert found.units == found.by_t_test > 2000


def test_too_few_cases_say_nothing() -> None:
    found = sample_size([0.1, 0.2, NAN, 0.1, 0.3], 0.03)
    assert math.isnan(found.units)
    assert math.isnan(found.cases)
    assert found.pilot_cases == 4
    assert found.pilot_difference == pytest.approx(0.175)
    assert math.isnan(sample_size([math.inf, 0.1, 0.1, 0.2, 0.2], 0.03).units)


def test_models_of_a_run_are_compared_in_pairs() -> None:
    result = covering({**MODELS, "c": [2, 9, 4, 6, 3, 8, 5, 7]})
    found = pm.power(result, difference=0.1)
    assert [(one.first, one.second) for one in found.pairs] == [("a", "c"), ("b", "c"), ("a", "b")]
    units = [one.found.units for one in found.pairs]
    assert units == sorted(units, reverse=True)
    differences = (np.array(MODELS["a"]) - MODELS["b"]) / 10
    assert found.pairs[-1].found.units == sample_size(differences, 0.1).units
    row = found.tables()["power"].iloc[0]
    assert (row["first"], row["difference"], row["pilot_cases"]) == ("a", 0.1, 8)
    assert found.criterion.threshold == 0.05


def test_a_class_and_clusters_can_be_named(tmp_path: Path) -> None:
    both = {model: [(n, 5) for n in cases] for model, cases in MODELS.items()}
    result = covering(both, TWO_CLASSES)
    assert pm.power(result, difference=0.1).criterion.setting.class_name == "mean of classes"
    found = pm.power(result, difference=0.1, class_name="cell", threshold=0.5, score="sq")
    assert found.criterion.setting.class_name == "cell"
    table = tmp_path / "cases.csv"
    table.write_text("case,patient\n" + "".join(f"c{i},p{i % 6}\n" for i in range(8)))
    by_patient = describe_cases(covering(MODELS), table, cluster="patient")
    found = pm.power(by_patient, difference=0.1)
    assert (found.unit_name, found.pairs[0].found.pilot_units) == ("patient", 6)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"difference": 0}, "difference=0 is not a difference to find: pass a number above 0"),
        ({"difference": math.inf}, "difference=inf is not a difference to find"),
        ({"difference": NAN}, "difference=nan is not a difference to find"),
        ({"power": 1.0}, "power=1.0 is not a probability: pass a number between 0 and 1."),
        ({"alpha": 0.0}, "alpha=0.0 is not a probability"),
        ({"power": 0.04}, "power=0.04 is not above alpha=0.05, which even a test without cases"),
        ({"score": "pqq"}, "score='pqq'"),
        ({"class_name": "lesion"}, "class_name='lesion'"),
    ],
)
def test_what_cannot_be_planned_is_an_error(keywords: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        pm.power(covering(MODELS, SPEC), **{"difference": 0.1, **keywords})
    assert message in str(caught.value)


def test_the_command_prints_and_writes_the_numbers(tmp_path: Path) -> None:
    words = write_covering(tmp_path, MODELS)
    panmatch("evaluate", *words, "-o", tmp_path / "out", "-q", "-s", "one-to-one", "-t", "0.1")
    done = panmatch("power", "out", "--difference", "0.1", "-o", "tables", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    said = " ".join(done.stdout.split())
    assert said.startswith(
        "80 % power to find a mean difference of 0.1 in PQ (object, one-to-one (optimal) at "
        "τ = 0.1) at two-sided α = 0.05: cases needed pilot pair Wilcoxon t-test 95 % interval"
    )
    differences = (np.array(MODELS["a"]) - MODELS["b"]) / 10
    expected = sample_size(differences, 0.1)
    assert f" a − b {expected.units:.0f} {expected.by_t_test:.0f} " in said
    assert (tmp_path / "tables" / "power.csv").is_file()
    document = json.loads(
        panmatch("power", tmp_path / "out", "--difference", "0.1", "--json").stdout
    )
    assert document["format"] == "panmatch-power-1"
    assert document["pairs"][0]["units"] == expected.units
