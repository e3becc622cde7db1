"""Tests err as often as they say, and the page says how often they do."""

from __future__ import annotations

import re

import pytest

from benchmarks.error_rates import (
    CASES,
    DIFFERENCES,
    PAGE,
    SYMMETRIC,
    cases_until_decided,
    clustered_error,
    decided_error,
    family_error,
    interaction_error,
    map_error,
    sequence_miss,
    wilcoxon_error,
)

TEXT = PAGE.read_text("utf-8")


def on_the_page(row: str) -> list[float]:
    """Return the percentages of a row of the page's tables."""
    (cells,) = re.findall(rf"^\| {re.escape(row)} \| (.*) \|$", TEXT, re.MULTILINE)
    return [float(one) for one in re.findall(r"([\d.]+) %", cells)]


@pytest.mark.parametrize("name", DIFFERENCES)
def test_wilcoxon_errs_as_the_page_says(name: str) -> None:
    shares = on_the_page(f"Wilcoxon, {name}")
    assert len(shares) == len(CASES)
    for n, share in list(zip(CASES, shares, strict=True))[:3]:
        found = 100 * wilcoxon_error(DIFFERENCES[name], n, datasets=600, seed=9)
        assert found == pytest.approx(share, abs=4.5 if name.startswith("skewed") else 2.7)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_no_test_of_symmetric_differences_errs_more_often_than_its_level(name: str) -> None:
    # 4000 datasets: three standard errors are 1 percentage point.
    assert max(on_the_page(f"Wilcoxon, {name}")) <= 6.0
    assert max(on_the_page(f"`decided`, two models, {name}")) <= 6.0


def test_families_of_tests_err_as_a_whole() -> None:
    for row, measure in (
        ("five equal models, Holm over pairs", family_error),
        ("five equal models, significance map", map_error),
        ("interaction of three groups", interaction_error),
    ):
        shares = on_the_page(row)
        assert max(shares) <= 6.5
        assert 100 * measure(10, datasets=300, seed=9) == pytest.approx(shares[1], abs=3.8)


def test_cases_of_one_patient_need_clusters() -> None:
    by_case, by_patient = on_the_page("cases"), on_the_page("patients")
    assert min(by_case) > 20
    assert max(by_patient) <= 6.0
    found = 100 * clustered_error(10, by_cluster=True, datasets=600, seed=9)
    assert found == pytest.approx(by_patient[1], abs=2.7)


def test_looking_after_every_case_needs_a_rule_for_it() -> None:
    (peeking,) = on_the_page("Wilcoxon with p ≤ 0.05, up to 100 cases")
    assert peeking > 20
    found = 100 * decided_error(SYMMETRIC["normal"], datasets=400, seed=9)
    assert found == pytest.approx(on_the_page("`decided`, two models, normal")[0], abs=3.0)
    (four,) = on_the_page("`decided`, four models")
    assert four <= 6.0


def test_confidence_sequences_miss_as_often_as_the_page_says() -> None:
    for name in ("normal", "skewed", "one in three is 1", "one in ten is 0"):
        (share,) = on_the_page(f"`half-width`, {name}")
        found = 100 * sequence_miss(f"mean of cases, {name}", datasets=1000, seed=9)
        assert found == pytest.approx(share, abs=3.0)


def test_a_clear_difference_is_decided_early() -> None:
    cells = re.findall(r"^\| 1 · standard deviation \| (\d+), (\d+), (\d+) \|", TEXT, re.MULTILINE)
    assert cases_until_decided(1.0, datasets=1000, seed=9) == pytest.approx(
        [float(one) for one in cells[0]], abs=2.0
    )
