"""Results as wide tables, what notebooks show of them, and sentences for papers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch.datasets import (
    FEWEST_CASES,
    averages_with_samples,
    methods_sentence,
    resampling_of,
    results_sentence,
    spread,
    summary_table,
    verdict_on_models,
)
from panmatch.errors import OptionError
from panmatch.evaluation import CaseResult, Result
from tests.report.results import CASES, WORSE, made, row, two_classes, two_models, with_parts
from tests.shown_html import read_html

STRATEGIES = ("one-to-one", "many-to-one", "one-to-many")
LABELS = ("one-to-one (optimal)", "many-to-one (merge, seed)", "one-to-many (best)")
COLUMNS = ["pq", "sq", "rq", "autc", "sq_dice", "tp", "fp", "fn"]


def pooled(cases: dict[str, tuple[str, str]], strategy: str, threshold: float) -> pm.Tally:
    """Return the sum of the tallies of all cases."""
    overlaps = [pm.count_overlaps(row(ref), row(pred)) for ref, pred in cases.values()]
    first, *rest = (pm.match(overlap, strategy, threshold).tally for overlap in overlaps)
    for other in rest:
        first = first + other
    return first


def six_cases(models: tuple[str, ...] = ("good", "poor")) -> Result:
    """Return six different cases, enough for intervals, of up to two models."""
    every = {"good": CASES, "poor": WORSE}
    many = {
        model: {
            f"{name}{i}": (ref, pred[i:] + "." * i)
            for i in range(3)
            for name, (ref, pred) in every[model].items()
        }
        for model in models
    }
    return made(None, many)


def value(table: pd.DataFrame, place: tuple[object, ...], column: str) -> float:
    """Return the cell of a row, which the first columns of a table tell apart."""
    rows = {tuple(row[: len(place)]): row for row in table.to_numpy().tolist()}
    return float(rows[place][table.columns.get_loc(column)])


def test_rows_are_settings_and_columns_scores() -> None:
    found = two_models().table()
    assert list(found.columns) == ["model", "strategy", "threshold", *COLUMNS]
    assert [*found.iloc[:, :3].itertuples(index=False, name=None)] == [
        (model, label, threshold)
        for model in ("good", "poor")
        for label in LABELS
        for threshold in (0.3, 0.5)
    ]
    assert found.attrs == {"class": "object", "averaging": "pooled"}


@pytest.mark.parametrize("model", ["good", "poor"])
@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_pooled_scores_are_those_of_the_summed_tallies(model: str, threshold: float) -> None:
    found = two_models().table()
    for strategy, label in zip(STRATEGIES, LABELS, strict=True):
        tally = pooled({"good": CASES, "poor": WORSE}[model], strategy, threshold)
        place = model, label, threshold
        assert [int(value(found, place, name)) for name in ("tp", "fp", "fn")] == [
            tally.tp, tally.fp, tally.fn,
        ]  # fmt: skip
        for name in ("pq", "sq", "rq"):
            assert value(found, place, name) == pytest.approx(getattr(tally, name), abs=1e-12)


def test_the_mean_of_cases_is_another_number() -> None:
    cases = {"b": CASES["b"], "c": ("aa", "..")}  # the second is missed altogether
    found = made(None, {"": cases}).table(["pq"], averaging="mean of cases")
    assert found.attrs["averaging"] == "mean of cases"
    tallies = [pooled({name: case}, "many-to-one", 0.3) for name, case in cases.items()]
    expected = sum(tally.pq for tally in tallies) / 2
    assert value(found, (LABELS[1], 0.3), "pq") == pytest.approx(expected, abs=1e-12)
    assert abs(expected - pooled(cases, "many-to-one", 0.3).pq) > 1e-3


def test_what_is_the_same_in_all_rows_is_left_out() -> None:
    found = made({"thresholds": 0.3}).table()
    assert list(found.columns) == ["strategy", *COLUMNS]
    assert found.attrs == {"model": "", "class": "object", "threshold": 0.3, "averaging": "pooled"}
    single = made({"thresholds": 0.3, "matching": "one-to-one"}).table(["pq"])
    assert single.strategy.tolist() == ["one-to-one (optimal)"]


def test_classes_have_rows_and_so_has_their_mean_without_counts() -> None:
    found = two_classes().table(["pq", "tp"])
    assert found["class"].unique().tolist() == ["cell", "lesion", "mean of classes"]
    places = [("good", name, LABELS[0], 0.3) for name in ("cell", "lesion", "mean of classes")]
    cell, lesion, mean = (value(found, place, "pq") for place in places)
    assert mean == pytest.approx((cell + lesion) / 2)
    assert (found.tp.isna() == (found["class"] == "mean of classes")).all()
    assert found["tp"].dtype == "Int64"


def test_areas_are_in_every_row_and_parts_next_to_pq() -> None:
    result = with_parts()
    found = result.table()
    names = ["pq", "sq", "rq", "part_pq", "part_sq", "autc", "part_autc"]
    assert list(found.columns[3:10]) == names
    curve = result.series[0].pooled_part_curve
    assert curve is not None
    for threshold in (0.3, 0.5):
        assert value(found, ("cell", LABELS[0], threshold), "part_autc") == curve.autc
    assert found.part_pq[found["class"] == "rest"].isna().all()


def test_scores_that_need_no_matching_are_in_every_row_of_their_class() -> None:
    result = made({"thresholds": [0.3, 0.5], "related": ["cluster_dice"], "whole": ["dice"]})
    found = result.table()
    assert {"cluster_dice", "whole_dice"} <= set(found.columns)
    rows = result.averages
    rows = rows[(rows.measure == "cluster_dice") & (rows.averaging == "pooled")]
    assert found["cluster_dice"].tolist() == pytest.approx([rows.value.item()] * len(found))


def test_intervals_are_those_of_the_summary() -> None:
    result = six_cases()
    found = result.table(["pq", "autc", "tp"], intervals=True)
    assert list(found.columns) == [
        "model", "strategy", "threshold", "pq", "pq_low", "pq_high", "autc", "autc_low",
        "autc_high", "tp",
    ]  # fmt: skip
    rows = summary_table(result).frame()
    rows = rows[(rows.measure == "pq") & (rows.averaging == "pooled")]
    for name, column in (("pq", "value"), ("pq_low", "low"), ("pq_high", "high")):
        assert found[name].tolist() == rows[column].tolist()
    assert (found.pq_low < found.pq_high).any()


def test_few_cases_have_no_interval() -> None:
    assert len(CASES) < FEWEST_CASES
    found = made().table(["pq"], intervals=True)
    assert found.pq_low.isna().all()
    assert found.pq_high.isna().all()
    text = made().table(["pq"], intervals=True, digits=3)
    assert re.fullmatch(r"0\.\d{3}", text.pq[0])


def test_digits_make_texts_for_papers() -> None:
    result = six_cases(("good",))
    numbers = result.table(["pq", "tp"], intervals=True)
    texts = result.table(["pq", "tp"], intervals=True, digits=2)
    assert list(texts.columns) == ["strategy", "threshold", "pq", "tp"]
    for (_, exact), (_, text) in zip(numbers.iterrows(), texts.iterrows(), strict=True):
        assert text.pq == f"{exact.pq:.2f} [{exact.pq_low:.2f}, {exact.pq_high:.2f}]"
        assert text.tp == str(int(exact.tp))
    spec = {"classes": {"cell": {"labels": [1, 2, 3, 4, 5]}, "absent": {"labels": 9}}}
    absent = made(spec).table(["pq"], digits=3)
    assert ((absent.pq == "–") == (absent["class"] == "absent")).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": ["pqq"]}, "scores='pqq' is not known; did you mean 'pq'?"),
        ({"scores": "pq"}, "scores='pq' is a single name: pass a list, ['pq']."),
        ({"averaging": "mean"}, "averaging='mean' is not known"),
    ],
)
def test_names_that_are_not_known_are_errors(options: Any, message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        made().table(**options)


def test_a_result_without_scores_has_an_empty_table() -> None:
    failed = Result(made().spec, (CaseResult("a", status="failed", reason="no <file>"),))
    assert len(failed.table()) == 0
    shown = read_html(failed._repr_html_())
    assert shown.rows == []
    assert "Failed: a: no <file>" in shown.words


def test_a_notebook_shows_scores_and_the_exact_curve() -> None:
    result = two_models()
    shown = read_html(result._repr_html_())
    head, *rows = shown.rows
    assert head == ["model", "strategy", "TP", "FP", "FN", "PQ", "SQ", "RQ", "AUTC",
                    "PQ over τ, 0 to 1"]  # fmt: skip
    table = result.table()
    table = table[table.threshold == 0.3]
    for cells, (_, exact) in zip(rows, table.iterrows(), strict=True):
        assert cells[:2] == [exact.model, exact.strategy]
        counts = [str(int(exact[name])) for name in ("tp", "fp", "fn")]
        scores = [f"{exact[name]:.3f}" for name in ("pq", "sq", "rq", "autc")]
        assert cells[2:9] == counts + scores
    assert len(shown.curves) == len(rows)
    for steps, series in zip(shown.curves, result.series, strict=True):
        curve = series.pooled_curve
        assert curve is not None
        assert [start for start, _, _ in steps] == pytest.approx(curve.thresholds, abs=1e-5)
        assert [value for _, _, value in steps] == pytest.approx(curve.pq, abs=1e-4)
    words = shown.words.splitlines()
    assert words[:2] == ["Result: 2 cases, 2 models", "object, τ = 0.3, pooled over cases"]
    assert words[2].startswith(".table() has all 12 rows")


def test_a_notebook_shows_the_mean_over_classes_as_the_mean_of_their_curves() -> None:
    result = two_classes()
    shown = read_html(result._repr_html_())
    series = [one for one in result.series if one.model == "good"]
    curves = [one.pooled_curve for one in series if one.setting.label == LABELS[0]]
    assert len(curves) == 2
    for start, stop, value in shown.curves[0]:
        middle = (start + stop) / 2
        mean = np.mean([curve.at(middle).pq for curve in curves if curve is not None])
        assert value == pytest.approx(mean, abs=1e-4)
    assert shown.words.splitlines()[1] == "mean of classes, τ = 0.3"
    assert shown.rows[1][2:5] == ["", "", ""]


def test_without_curves_there_is_no_sparkline() -> None:
    shown = read_html(made({"curve": False, "thresholds": 0.3})._repr_html_())
    assert shown.curves == []
    assert shown.rows[0] == ["strategy", "TP", "FP", "FN", "PQ", "SQ", "RQ"]
    assert "table()" not in shown.words


def test_a_notebook_shows_a_comparison_with_its_verdict() -> None:
    result = six_cases()
    comparison = pm.compare(result)
    shown = read_html(comparison._repr_html_())
    words = shown.words.splitlines()
    assert words[0] == "Comparison of 2 models on 6 cases"
    assert words[1] == verdict_on_models(comparison)
    assert "Careful: " in shown.words
    head, *rows = shown.rows
    assert head == ["strategy", "τ", "good", "poor"]
    means = result.table(["pq"], averaging="mean of cases")
    for label, level, good, poor in rows:
        for model, text in (("good", good), ("poor", poor)):
            assert text == f"{value(means, (model, label, float(level)), 'pq'):.3f}"
    assert len(rows) == 6
    assert repr(comparison) == "Comparison(good, poor on 6 cases by PQ, AUTC)"


def test_the_best_model_of_a_row_is_bold() -> None:
    html = pm.compare(two_models())._repr_html_()
    bold = re.findall(r"<b>(0\.\d{3})</b>", html)
    rows = read_html(html).rows[1:]
    assert bold == [max(row[2:]) for row in rows]


def test_the_methods_name_strategy_bounds_threshold_and_intervals() -> None:
    assert methods_sentence(six_cases()) == (
        "Predicted and reference objects were matched one-to-one (optimal: at most 1 prediction "
        "per reference, at most 1 reference per prediction) at an IoU threshold of 0.3 "
        "(IoU > 0.3), and scored by Panoptic Quality (PQ) and the exact area under PQ over all "
        "thresholds (AUTC), pooled over cases with studentised 95 % bootstrap intervals (2000 "
        "resamples of cases), using panmatch 0.1.0."
    )


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"matching": [{"strategy": "many-to-one", "score": "dice", "strict": False}]},
         "were matched many-to-one (merge, seed: any number of predictions per reference, at most 1"
         " reference per prediction) at a Dice threshold of 0.1 (Dice ≥ 0.1), and"),
        ({"matching": ["union"]},
         "were matched by union within the Voronoi regions of the references (any number of "
         "predictions per reference, any number of references per prediction) at"),
        ({"curve": False}, "scored by Panoptic Quality (PQ), pooled over cases, using panmatch"),
    ],
)  # fmt: skip
def test_the_methods_say_what_the_spec_says(spec: Any, words: str) -> None:
    assert words in methods_sentence(made(spec))


def test_the_methods_of_parts_and_of_classes() -> None:
    parts = methods_sentence(with_parts())
    assert "objects of 2 classes were matched" in parts
    assert "(PQ), its part-aware variant (PartPQ) and the exact area" in parts
    assert ", as the mean of classes, using" in parts
    assert "objects (cell) were matched" in methods_sentence(with_parts(headline="cell"))


def test_the_results_have_pq_with_interval_setting_and_cases() -> None:
    result = six_cases(("good",))
    (first,) = (
        one
        for one in averages_with_samples(result, "good")
        if (one.score.name, one.averaging, one.threshold) == ("pq", "pooled", 0.3)
        and one.setting.strategy == "one-to-one"
    )
    ends, table = spread(first, resampling_of(result, "good")), result.table()
    sq, rq = (value(table, (LABELS[0], 0.3), name) for name in ("sq", "rq"))
    assert results_sentence(result) == (
        f"On 6 cases, PQ (object, one-to-one (optimal) at τ = 0.3, pooled) was {first.value:.3f} "
        f"(95 % interval {ends.low:.3f} to {ends.high:.3f}, SQ {sq:.3f}, RQ {rq:.3f}) for good."
    )


def test_the_results_of_several_models_are_in_one_sentence() -> None:
    sentence = results_sentence(two_models())
    good, poor = (pooled(cases, "one-to-one", 0.3).pq for cases in (CASES, WORSE))
    assert re.fullmatch(
        rf"On 2 cases, PQ \(.*\) was {good:.3f} \([^)]*\) for good and {poor:.3f} \([^)]*\) for "
        rf"poor\.",
        sentence,
    )


def test_the_results_say_what_failed_and_what_is_undefined() -> None:
    result = made()
    failed = CaseResult("z", status="failed", reason="broken")
    assert results_sentence(replace(result, cases=(*result.cases, failed))).endswith(
        " 1 case failed."
    )
    assert results_sentence(Result(result.spec, (failed,))) == "No case could be evaluated."
    empty = pm.evaluate(reference=[[0]], prediction=[[0]])
    assert math.isnan(value(empty.table(), (LABELS[0], 0.1), "pq"))
    assert "was undefined." in results_sentence(empty)
