"""Columns about cases come from a table or from names, and clusters are drawn as a whole."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import (
    CaseDescription,
    Resampling,
    compare,
    compare_runs,
    describe_cases,
    load_run,
    read_case_table,
    read_run,
    resampling_of,
    summary_table,
)
from panmatch.datasets._case_table import shared_subjects
from panmatch.datasets._notices import few_cases
from panmatch.errors import FileError, OptionError
from panmatch.evaluation import Result
from panmatch.spec import as_spec
from tests.commands import panmatch
from tests.datasets.folders import save_nifti

SPEC = as_spec({"matching": "one-to-one", "thresholds": 0.5, "curve": False})
NAMES = tuple(f"p{patient}-{visit}" for patient in range(6) for visit in "ab")


def made(names: tuple[str, ...] = NAMES, spec: pm.Spec = SPEC, models: str = "xy") -> Result:
    """Return a result whose cases of a patient miss the same number of ten objects."""
    evaluator = pm.Evaluator(spec)
    rng = np.random.default_rng(1)
    reference = np.arange(1, 11).repeat(4)[np.newaxis]
    for model in models:
        for at, name in enumerate(names):
            missed = at // 2 + rng.integers(0, 2) + 2 * (model == "y")
            prediction = np.where(reference <= missed, 0, reference)
            evaluator.update(reference=reference, prediction=prediction, case=name, model=model)
    return evaluator.compute()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_lists_columns_by_case(tmp_path: Path, delimiter: str) -> None:
    rows = ["case|patient|site", "a|ann|Bern", "b.nii.gz|ann|", "|", "c|bob|Köln", "other|x|y"]
    path = tmp_path / "cases.csv"
    path.write_text("\n".join(rows).replace("|", delimiter), encoding="utf-8-sig")
    table = read_case_table(path, ["a", "b", "c", "d", "a"])
    assert table.columns == ("patient", "site")
    assert table.rows == {
        "a": {"patient": "ann", "site": "Bern"},
        "b": {"patient": "ann"},
        "c": {"patient": "bob", "site": "Köln"},
    }
    assert table.unlisted == ("d",)
    assert [one.text for one in table.notices] == [
        f"1 case is not in --cases {str(path)!r} (d): each counts as a cluster of its own, and is "
        f"in no subgroup."
    ]
    assert not read_case_table(path, ["a"]).notices


def test_a_pattern_takes_columns_from_names() -> None:
    table = read_case_table(
        "sub-{patient}_ses-{visit}_*", ["sub-1_ses-2_T1", "sub-1_ses-10_x", "y"]
    )
    assert table.rows["sub-1_ses-10_x"] == {"patient": "1", "visit": "10"}
    assert table.unlisted == ("y",)


def test_bad_tables_and_patterns_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("name,site\na,b\n")
    with pytest.raises(FileError, match="its first line must name the column 'case' and others"):
        read_case_table(path, ["a"])
    path.write_text("case,site\na,b\na,c\n")
    with pytest.raises(FileError, match="line 3: case 'a' is listed twice, with different values"):
        read_case_table(path, ["a"])
    path.write_text("case,site\na,b\na,b\n")
    assert read_case_table(path, ["a"]).rows == {"a": {"site": "b"}}
    with pytest.raises(FileError, match=r"knows none of the cases \(x, y\): check its column"):
        read_case_table(path, ["x", "y"])
    with pytest.raises(FileError, match="cannot be read as a table"):
        read_case_table(tmp_path / "none.csv", ["x"])
    for pattern in ("{a}{a}", "{case}_x", "{*}"):
        with pytest.raises(OptionError, match="is not a pattern: name each column once"):
            read_case_table(pattern, ["x"])


def test_a_cluster_must_be_a_column() -> None:
    with pytest.raises(OptionError, match="cluster='patient' names a column of the case table, but "
                                          "there is none: pass a CSV file"):  # fmt: skip
        describe_cases(made(), cluster="patient")
    with pytest.raises(OptionError, match="cluster='patent' is not known; did you mean 'patient'"):
        describe_cases(made(), "{patient}-{visit}", cluster="patent")


def test_patients_are_drawn_instead_of_cases() -> None:
    result = describe_cases(made(), "{patient}-{visit}", cluster="patient")
    resampling = resampling_of(result, "x")
    assert (resampling.n_units, resampling.n_cases) == (6, 12)
    rows = summary_table(result).frame().query("measure == 'pq' and model == 'x'")
    found = rows.set_index("averaging")
    scores = result.scores.query("model == 'x'").pq.to_numpy()
    expected = Resampling.of([name[:2] for name in NAMES]).mean_interval(scores, bounds=(0, 1))
    mean = found.loc["mean of cases"]
    assert (mean.low, mean.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    alone = summary_table(made()).frame().query("measure == 'pq' and model == 'x'")
    alone = alone.set_index("averaging").loc["mean of cases"]
    assert mean.value == alone.value
    assert mean.high - mean.low > alone.high - alone.low


def test_the_mean_of_clusters_counts_every_patient_once() -> None:
    names = ("ann-1", "ann-2", "ann-3", "bob-1", "col-1", "dan-1", "eve-1")
    result = describe_cases(made(names), "{patient}-{visit}", cluster="patient")
    scores = result.scores.query("model == 'y'").set_index("case").pq
    rows = summary_table(result).frame().query("measure == 'pq' and model == 'y'")
    found = rows.set_index("averaging").loc["mean of clusters"]
    by_patient = scores.groupby(lambda name: name.split("-")[0]).mean()
    assert found.value == pytest.approx(by_patient.mean(), abs=1e-15)
    assert found.value != pytest.approx(scores.mean(), abs=1e-3)
    expected = Resampling.of(5).mean_interval(by_patient, bounds=(0, 1))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found.cases == 5


def test_four_patients_have_no_interval_and_the_warning_counts_patients() -> None:
    result = describe_cases(made(NAMES[:8]), "{patient}-{visit}", cluster="patient")
    assert summary_table(result).frame().low.isna().all()
    assert [one.text for one in few_cases(result)] == [
        "no interval: 4 patients are too few (at least 5 are needed)."
    ]
    assert math.isnan(compare(result, ["pq"]).rankings.popitem()[1][0].first_share)


def test_comparisons_draw_and_test_patients() -> None:
    result = describe_cases(made(), "{patient}-{visit}", cluster="patient")
    found, plain = (compare(one, ["pq"]).differences[0].test for one in (result, made()))
    assert found.mean_difference == plain.mean_difference
    assert found.p_value == pytest.approx(2 / 2**6)  # y misses more in every patient
    assert plain.p_value < found.p_value
    assert compare(result).resampling.n_units == 6


def test_another_interval_can_be_chosen() -> None:
    result = made()
    ends = {
        method: compare(describe_cases(result, interval=method), ["pq"])
        .differences[0]
        .test.interval
        for method in ("studentised", "bca", "percentile")
    }
    assert len(set(ends.values())) == 3
    assert compare(result, ["pq"]).differences[0].test.interval == ends["studentised"]


@pytest.mark.parametrize(
    ("names", "source", "expected"),
    [
        (NAMES, "{patient}-{visit}",
         "12 of 12 cases share their patient with another case (6 patients in all), but are "
         "treated as independent: intervals are too narrow and p-values too small. Pass --cluster "
         "patient."),
        (("a-1", "b-1"), "{patient}-{visit}", ""),
        (("a-1", "a-2"), "{site}-{visit}", ""),
        (("sub-1_ses-1", "sub-1_ses-2", "sub-2_x"), None,
         "2 of 3 cases share their subject with another case (2 subjects in all), but are treated "
         "as independent: intervals are too narrow and p-values too small. Pass --cases "
         "'sub-{patient}_*' --cluster patient."),
    ],
)  # fmt: skip
def test_shared_patients_are_said(
    names: tuple[str, ...], source: str | None, expected: str
) -> None:
    result = describe_cases(made(names), source)
    assert [one.text for one in shared_subjects(result)] == ([expected] if expected else [])
    if source and "patient" in source:
        by_patient = describe_cases(result, cluster="patient")
        assert not list(shared_subjects(by_patient))


def test_a_run_keeps_its_table_and_another_cluster_evaluates_nothing_again(tmp_path: Path) -> None:
    for name in NAMES:
        image = np.arange(8, dtype=np.uint8).repeat(4).reshape(4, 8, 1)
        save_nifti(tmp_path / "ref" / f"{name}.nii.gz", image, (1, 1, 1))
        save_nifti(tmp_path / "pred" / f"{name}.nii.gz", np.where(image == 3, 0, image), (1, 1, 1))
    out = tmp_path / "out"
    command = ["evaluate", tmp_path / "ref", tmp_path / "pred", "-o", out]
    pattern = ["--cases", "{patient}-{visit}"]
    first = panmatch(*command, *pattern)
    assert "12 of 12 cases share their patient with another case" in first.stderr
    assert load_run(out).cases[0].about == {"patient": "p0", "visit": "a"}
    again = panmatch(*command, *pattern, "--cluster", "patient", "--resume")
    assert again.returncode == 0, again.stderr
    assert "share their patient" not in again.stderr
    assert read_run(out)["evaluated_now"] == 0
    assert read_run(out)["bootstrap"]["cluster"] == "patient"
    assert resampling_of(load_run(out), "pred").n_units == 6
    wrong = panmatch(*command, "--cluster", "patient", "--overwrite")
    assert wrong.returncode == 2
    assert "--cluster 'patient' names a column of the case table, but there is none" in wrong.stderr
    copy = Path(shutil.copytree(out, tmp_path / "copy"))
    found = compare_runs([out, copy], ["pq"], CaseDescription(cluster="visit"))
    assert found.resampling.n_units == 2
    printed = panmatch("compare", out, copy, "--cluster", "visit", "--interval", "bca", "--all")
    assert printed.returncode == 0, printed.stderr
    unknown = panmatch("compare", out, copy, "--interval", "bcaa")
    assert "--interval='bcaa' is not known; did you mean 'bca'" in unknown.stderr


def test_a_result_keeps_its_columns_as_json() -> None:
    described = describe_cases(made(), "{patient}-{visit}", cluster="patient")
    again = Result.from_json(described.to_json())
    assert again.cases[1].about == {"patient": "p0", "visit": "b"}
    assert again.spec.averaging.cluster == "patient"
