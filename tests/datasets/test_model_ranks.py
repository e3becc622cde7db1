"""One ranking across scores and classes, how stable it is, and what is left out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.datasets import describe_cases, load_run
from panmatch.errors import OptionError
from tests.commands import panmatch
from tests.datasets.covering import SPEC, TWO_CLASSES, covering, write_covering

# PQ in tenths: a is best on average, b in most cases, c is always worst.
THREE = {"a": [10, 10, 6, 6, 6, 6], "b": [7, 7, 7, 7, 7, 7], "c": [5, 5, 5, 5, 5, 5]}


def ranks(ranking: pm.Ranking) -> dict[str, int]:
    return {one.model: one.rank for one in ranking.placings}


def test_the_methods_disagree_where_they_should() -> None:
    result = covering(THREE)
    by_mean = pm.rank(result)
    assert by_mean.order == "a > b > c"
    assert by_mean.points[by_mean.criteria[0].criterion].tolist() == pytest.approx(
        [44 / 60, 0.7, 0.5]
    )
    by_rank = pm.rank(result, method="rank-then-mean")
    assert by_rank.order == "b > a > c"
    assert [one.points for one in by_rank.placings] == pytest.approx([8 / 6, 10 / 6, 3.0])
    by_median = pm.rank(result, aggregate="median")
    assert by_median.order == "b > a > c"
    # Six cases: the one-sided p of a and b over c is 1/64, times 6 ordered pairs 0.09.
    assert pm.rank(result, method="test-based").order == "a = b = c"
    assert pm.rank(result, method="test-based", alpha=0.1).order == "a = b > c"
    assert repr(by_rank) == "Ranking(b > a > c; rank-then-mean by PQ, 6 cases)"


def test_only_the_first_matcher_and_threshold_count_unless_others_are_named() -> None:
    result = covering(THREE)
    (one,) = pm.rank(result).criteria
    assert (one.criterion.setting.strategy, one.criterion.threshold) == ("one-to-one", 0.05)
    (other,) = pm.rank(result, strategy="many-to-one", threshold=0.5).criteria
    assert (other.criterion.setting.strategy, other.criterion.threshold) == ("many-to-one", 0.5)
    # At 0.5 an IoU of 0.5 is not a match: c has no true positive, and PQ is 0.
    assert pm.rank(result, threshold=0.5).points[
        pm.rank(result, threshold=0.5).criteria[0].criterion
    ].tolist() == pytest.approx([44 / 60, 0.7, 0.0])


def test_classes_and_scores_count_by_their_weights() -> None:
    models = {"a": [(10, 5)] * 6, "b": [(5, 10)] * 6, "c": [(9, 9)] * 6}
    result = covering(models, TWO_CLASSES)
    ranking = pm.rank(result)
    assert [one.criterion.setting.class_name for one in ranking.criteria] == ["cell", "lesion"]
    # Ranks 1, 3, 2 for cells and 3, 1, 2 for lesions.
    assert [one.points for one in ranking.placings] == [2.0, 2.0, 2.0]
    assert ranking.order == "a = b = c"
    assert pm.rank(result, weights={"lesion": 2}).order == "b > c > a"
    assert pm.rank(result, weights={"lesion": 0}).order == "a > c > b"
    assert pm.rank(result, classes=["cell"]).order == "a > c > b"
    several = pm.rank(result, ["pq", "hd95"], weights={"hd95": 0, "cell": 3})
    assert [one.criterion.score.name for one in several.criteria] == ["pq", "pq"]
    assert [one.weight for one in several.criteria] == [3, 1]
    assert several.order == "a > c > b"


def test_lower_distances_are_better_and_a_metric_is_named_without_sq() -> None:
    ranking = pm.rank(covering(THREE), ["hd95"])
    assert ranking.criteria[0].criterion.score.name == "sq_hd95"
    assert ranking.order == "a > b > c"


def test_resamples_say_how_stable_the_ranking_is() -> None:
    ranking = pm.rank(covering(THREE))
    assert ranking.bootstrap.shape == (2000, 3)
    counts = ranking.comparison.resampling.counts
    table = np.array(list(THREE.values())).T / 10
    means = counts @ table / 6
    assert (
        ranking.bootstrap[:, 0].tolist()
        == np.where(
            means[:, 0] > means[:, 1] + 1e-12, 1, np.where(means[:, 0] < means[:, 1] - 1e-12, 2, 1)
        ).tolist()
    )
    first = {one.model: one.first_share for one in ranking.placings}
    assert first["a"] == float((ranking.bootstrap[:, 0] == 1).mean())
    assert 0.3 < first["b"] < 0.5
    assert first["c"] == 0
    assert ranking.rank_shares.sum(axis=1).tolist() == pytest.approx([1, 1, 1])
    assert ranking.rank_shares[2].tolist() == [0, 0, 1]
    same = (ranking.bootstrap == [1, 2, 3]).all(axis=1)
    assert (ranking.bootstrap_tau[same] == 1).all()
    swapped = (ranking.bootstrap == [2, 1, 3]).all(axis=1)
    assert ranking.bootstrap_tau[swapped] == pytest.approx(1 / 3)
    low, high = np.quantile(ranking.bootstrap[:, 1], [0.025, 0.975])
    assert (ranking.placings[1].low, ranking.placings[1].high) == (low, high)


def test_below_five_cases_there_are_no_resamples() -> None:
    ranking = pm.rank(covering({"a": [9, 9, 9, 9], "b": [5, 5, 5, 5]}))
    assert ranking.order == "a > b"
    assert len(ranking.bootstrap) == 0
    assert all(math.isnan(one.first_share) for one in ranking.placings)
    assert np.isnan(ranking.rank_shares).all()


def test_leaving_out_cases_sites_scores_and_classes(tmp_path: Path) -> None:
    table = tmp_path / "cases.csv"
    sites = ["Bern", "Bern", "Ulm", "Ulm", "Ulm", "Ulm"]
    table.write_text("case,site\n" + "".join(f"c{i},{one}\n" for i, one in enumerate(sites)))
    ranking = pm.rank(describe_cases(covering(THREE), table), ["pq", "hd95"])
    by_case = ranking.leave_out("case")
    assert [one.name for one in by_case] == [f"c{i}" for i in range(6)]
    assert by_case[0].cases == 5
    # Without c0: (10 + 4 · 6) / 5 = 6.8 < 7. Without c2: (20 + 3 · 6) / 5 = 7.6.
    assert by_case[0].ranks.tolist() == [2, 1, 3]
    assert by_case[2].ranks.tolist() == [1, 2, 3]
    assert (by_case[0].same_winner, by_case[2].same_winner) == (False, True)
    assert by_case[0].tau == pytest.approx(1 / 3)
    by_site = {one.name: one for one in ranking.leave_out("site")}
    assert by_site["Bern"].ranks.tolist() == [2, 1, 3]
    assert by_site["Ulm"].cases == 2
    assert by_site["Ulm"].ranks.tolist() == [1, 2, 3]
    assert [one.name for one in ranking.leave_out("metric")] == ["pq", "sq_hd95"]
    with pytest.raises(OptionError, match="ranked by only one class, object"):
        ranking.leave_out("class")
    with pytest.raises(OptionError, match="only one site"):
        pm.rank(describe_cases(covering({"a": [9], "b": [8]}), "{site}")).leave_out("site")
    with pytest.raises(
        OptionError, match=r"leave_out='scanner'.*'cluster', 'metric', 'class', 'site'"
    ):
        ranking.leave_out("scanner")
    alone = pm.rank(covering(THREE)).leave_out("cluster")
    assert [one.name for one in alone] == [f"c{i}" for i in range(6)]


def test_clusters_are_resampled_tested_and_left_out_together(tmp_path: Path) -> None:
    table = tmp_path / "cases.csv"
    table.write_text("case,patient\n" + "".join(f"c{i},p{i // 2}\n" for i in range(12)))
    models = {"a": [9, 8] * 6, "b": [5, 6] * 6}
    result = describe_cases(covering(models), table, cluster="patient")
    ranking = pm.rank(result, method="test-based")
    assert ranking.comparison.resampling.n_units == 6
    without = {one.name: one for one in ranking.leave_out("cluster")}
    assert sorted(without) == [f"p{i}" for i in range(6)]
    assert without["p5"].cases == 10
    found = next(iter(ranking.significance.values()))
    assert found.p_values[0, 1] == 1 / 64  # six patients, not twelve cases


def test_tables_hold_everything() -> None:
    ranking = pm.rank(covering(THREE), ["pq", "recall"])
    tables = ranking.tables()
    assert list(tables) == [
        "ranking", "ranking_criteria", "ranking_stability", "ranking_significance"
    ]  # fmt: skip
    assert tables["ranking"].columns.tolist() == [
        "method", "aggregate", "model", "rank", "points", "rank_median", "rank_low", "rank_high",
        "first_share", "cases",
    ]  # fmt: skip
    assert tables["ranking"].model.tolist() == ["a", "b", "c"]
    criteria = tables["ranking_criteria"]
    assert criteria.measure.tolist() == ["pq"] * 3 + ["recall"] * 3
    assert criteria["rank"].tolist() == [1, 2, 3, 1, 1, 1]
    assert len(tables["ranking_stability"]) == 9
    tests = tables["ranking_significance"]
    assert len(tests) == 2 * 6
    pq = tests[tests.measure == "pq"].set_index(["better", "than"])
    assert pq.p["a", "c"] == 1 / 64
    assert pq.p_holm["a", "c"] == pytest.approx(6 / 64)
    assert pq.p_holm_all["a", "c"] == pytest.approx(12 / 64)
    assert set(tests.significant) == {""}
    left_out = ranking.plain_tables("metric")["ranking_left_out"].frame()
    assert left_out["name"].tolist() == ["pq"] * 3 + ["recall"] * 3


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"by": []}, "by is empty: name at least one score, such as pq."),
        ({"by": ["pqq"]}, "by='pqq'"),
        ({"method": "mean"}, "method='mean'"),
        ({"aggregate": "max"}, "aggregate='max'"),
        ({"alpha": 1.5}, "alpha=1.5 is not a significance level: pass a number between 0 and 1."),
        ({"strategy": "union"}, "strategy='union'"),
        ({"threshold": 0.3}, "threshold=0.3 was not evaluated: choose from 0.05, 0.5."),
        ({"classes": ["lesion"]}, "classes='lesion'"),
        ({"weights": {"lesion": 2}}, "weights='lesion'"),
        ({"weights": {"pq": -1}}, "the weight of 'pq' is -1: weights are numbers from 0 on."),
        ({"weights": {"pq": 0}}, "weights are 0 for all criteria: give at least one a weight"),
    ],
)
def test_what_cannot_be_ranked_is_an_error(keywords: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        pm.rank(covering({"a": [9], "b": [8]}), **keywords)
    assert message in str(caught.value)


def test_signed_errors_and_single_models_cannot_be_ranked() -> None:
    spec = {**SPEC, "metrics": ["relative_volume_difference"]}
    with pytest.raises(OptionError, match="is a signed error, of which neither more nor less"):
        pm.rank(covering({"a": [9], "b": [8]}, spec), ["relative_volume_difference"])
    with pytest.raises(OptionError, match="there is only one model"):
        pm.rank(covering({"a": [9]}))


def test_a_class_with_the_name_of_a_score_cannot_have_a_weight() -> None:
    spec = {**SPEC, "classes": {"pq": {"labels": [1]}}}
    with pytest.raises(OptionError, match="weights='pq' is both a score and a class: rename"):
        pm.rank(covering({"a": [9], "b": [8]}, spec), weights={"pq": 2})


@pytest.mark.parametrize("missing", ["fail", "skip", "empty", "worst"])
def test_missing_predictions_count_in_ranks_and_tests_as_asked(
    tmp_path: Path, missing: str
) -> None:
    # a is better in every case that it has, but lacks two of seven.
    models: dict[str, list[int | None]] = {
        "a": [10, 10, 10, 10, 10, None, None],
        "b": [8, 8, 8, 8, 8, 8, 8],
    }
    words = write_covering(tmp_path, models)
    done = panmatch("evaluate", *words, "-o", tmp_path / "out", "--missing", missing, "-q",
                    "-m", "hd95", "-t", "0.1")  # fmt: skip
    assert done.returncode == (1 if missing == "fail" else 0)
    result = load_run(tmp_path / "out")
    by_pq = pm.rank(result, method="rank-then-mean")
    by_hd = pm.rank(result, ["hd95"], method="rank-then-mean")
    pq, hd = (next(iter(one.points.values())).tolist() for one in (by_pq, by_hd))
    mean = next(iter(pm.rank(result, ["hd95"]).points.values())).tolist()
    if missing in ("fail", "skip"):
        assert len(by_pq.cases) == 5  # of both models
        assert pq == hd == [1, 2]
        assert by_pq.comparison.left_out == {"a": ("c05", "c06"), "b": ()}
    else:
        assert len(by_pq.cases) == 7
        assert pq == hd == pytest.approx([9 / 7, 12 / 7])  # the worst rank in two cases
        p = next(iter(by_pq.significance.values())).p_values[0, 1]
        # Ranks 3 five times and 6.5 twice; P(T⁺ ≥ 15) = 31/128 + 16/64 + 1/128.
        assert p == 0.5
    diagonal = math.hypot(1, 12)
    assert mean[0] == pytest.approx(2 * diagonal / 7 if missing == "worst" else 0.0)


def test_the_command_prints_writes_and_documents_the_ranking(tmp_path: Path) -> None:
    words = write_covering(tmp_path, THREE)
    panmatch("evaluate", *words, "-o", tmp_path / "out", "-q", "-m", "hd95", "-t", "0.1",
             "-s", "one-to-one")  # fmt: skip
    done = panmatch("rank", tmp_path / "out", "--by", "pq,hd95", "--leave-out", "case",
                    "--weights", "pq=2", "-o", tmp_path / "tables")  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    said = " ".join(done.stdout.split())
    assert said.startswith(
        "3 models, 6 shared cases: mean-then-rank, mean of cases, by PQ, SQ (hd95) of object "
        "(one-to-one (optimal) at τ = 0.1), with the weights PQ of object 2, SQ (hd95) of object 1"
    )
    assert "This ranking: a > b > c. By other methods: rank-then-mean: b > a > c; " in said
    assert "test-based: a = b = c." in said
    assert "p ≤ 0.05): no model." in said
    assert (
        "Leaving out one case at a time gives the same ranking 4 of 6 times; another model ranks "
        "first without c00, c01."
    ) in said
    assert sorted(path.name for path in (tmp_path / "tables").glob("*.csv")) == [
        "ranking.csv", "ranking_criteria.csv", "ranking_left_out.csv", "ranking_significance.csv",
        "ranking_stability.csv",
    ]  # fmt: skip
    done = panmatch("rank", tmp_path / "out", "--json", "--method", "rank-then-mean")
    document = json.loads(done.stdout)
    assert document["format"] == "panmatch-ranking-1"
    assert [row["model"] for row in document["ranking"]] == ["b", "a", "c"]
    assert list(document)[2:] == [
        "cases", "models", "ranking", "criteria", "stability", "significance"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--weights", "pq"], "--weights 'pq' must be names and numbers, such as pq=2,lesion=3."),
        (["--weights", "pq=much"], "--weights 'pq=much' must be names and numbers"),
        (["--leave-out", "site"], "--leave-out 'site'"),
        (["--by", "pqq"], "--by 'pqq'"),
    ],
)
def test_mistyped_options_are_explained(tmp_path: Path, words: list[str], message: str) -> None:
    run = write_covering(tmp_path, {"a": [9], "b": [8]})
    panmatch("evaluate", *run, "-o", tmp_path / "out", "-q")
    done = panmatch("rank", tmp_path / "out", *words)
    assert done.returncode == 2
    assert message in done.stderr
