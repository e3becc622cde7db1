"""Models against each other, and how much the answer depends on the matching."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch.datasets import DatasetPaths, Job, RunOptions, compare_runs, pair, run_dataset
from panmatch.errors import FileError, OptionError
from panmatch.evaluation import Score
from panmatch.spec import as_spec

SPEC = as_spec({"matching": ["one-to-one", "many-to-one"], "thresholds": [0.3, 0.5], "metrics": []})

# One object of ten voxels; a model predicts it whole but for some voxels, or in two pieces.
REFERENCE = np.array([1] * 10 + [0] * 4)


def short(missing: int) -> Any:
    return np.where(np.arange(14) < 10 - missing, 1, 0)


def halves(cut: int, missing: int = 0) -> Any:
    """Two pieces, the first of `cut` voxels."""
    return np.where(np.arange(14) < cut, 1, 2 * short(missing))


def make_run(folder: Path, models: dict[str, list[Any]], spec: pm.Spec = SPEC) -> Path:
    n = len(next(iter(models.values())))
    for at in range(n):
        _save(folder / "ref" / f"c{at}.npy", REFERENCE)
    for model, predictions in models.items():
        for at, prediction in enumerate(predictions):
            if prediction is not None:
                _save(folder / model / f"c{at}.npy", prediction)
    paths = DatasetPaths(folder / "ref", {model: folder / model for model in models})
    run_dataset(pair(paths), Job(spec.canonical()), folder / "out", RunOptions())
    return folder / "out"


def _save(path: Path, array: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that covers everything in halves, and one that leaves out four voxels."""
    return make_run(
        tmp_path_factory.mktemp("runs"),
        {"halves": [halves(6)] * 5 + [halves(7)], "short": [short(4)] * 6},
    )


def rows(table: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    for name, value in wanted.items():
        table = table[table[name] == value]
    return table


def test_the_ranking_flips_with_the_strategy(out: Path) -> None:
    found = compare_runs([out]).tables()["rankings"]
    # One-to-one: halves 0.6 / 1.5 and 0.7 / 1.5, short 0.6. Many-to-one: 1 against 0.6.
    first = rows(found, strategy="one-to-one", threshold=0.3, measure="pq")
    assert first.model.tolist() == ["short", "halves"]
    assert first.value.tolist() == pytest.approx([0.6, (5 * 0.4 + 0.7 / 1.5) / 6])
    assert first.first_share.tolist() == [1.0, 0.0]
    second = rows(found, strategy="many-to-one", threshold=0.3, measure="pq")
    assert second.model.tolist() == ["halves", "short"]
    assert second.value.tolist() == [1.0, 0.6]
    stable = compare_runs([out]).stability(Score("pq"))["object"]
    assert stable.distinct_orders == 2
    assert (stable.spread["short"].best, stable.spread["short"].worst) == (1.0, 2.0)
    assert stable.tau.min() == -1.0


def test_differences_are_paired_and_tested(out: Path) -> None:
    found = compare_runs([out]).tables()["differences"]
    (row,) = rows(found, strategy="one-to-one", threshold=0.5, measure="pq").itertuples()
    assert (row.first, row.second, row.wins, row.losses, row.ties) == (
        "halves", "short", 0, 6, 0,
    )  # fmt: skip
    assert row.difference == pytest.approx((5 * 0.4 + 0.7 / 1.5) / 6 - 0.6)
    assert row.p == pytest.approx(2 / 2**6)
    assert row.p_holm == row.p
    assert row.low <= row.difference <= row.high < 0
    assert set(found.measure) == {"pq", "autc"}


def test_p_values_are_corrected_over_the_pairs_of_models(tmp_path: Path) -> None:
    models = {"a": [short(1)] * 6, "b": [short(2)] * 6, "c": [short(2)] * 6}
    found = compare_runs([make_run(tmp_path, models)]).tables()["differences"]
    some = rows(found, strategy="one-to-one", threshold=0.5, measure="pq")
    assert some["first"].str.cat(some["second"]).tolist() == ["ab", "ac", "bc"]
    assert some.p.tolist() == pytest.approx([2 / 64, 2 / 64, 1.0])
    assert some.p_holm.tolist() == pytest.approx([6 / 64, 6 / 64, 1.0])
    assert some.ties.tolist() == [0, 0, 6]


def test_the_threshold_at_which_the_ranking_flips_is_exact(tmp_path: Path) -> None:
    models = {"whole": [short(4)], "cut": [halves(7)]}
    comparison = compare_runs([make_run(tmp_path, models)])
    found = rows(comparison.tables()["stability"], strategy="many-to-one")
    # Seed-gated: the cut object is whole up to 0.7; the other one has 0.6 up to 0.6.
    assert found[["start", "stop"]].to_numpy().tolist() == [[0.0, 0.7], [0.7, 1.0]]
    assert found.order.tolist() == ["cut > whole", "cut = whole"]
    (leads,) = [
        shares
        for setting, shares in comparison.leads.items()
        if setting.matcher.name == "many-to-one"
    ]
    assert leads == {"cut": 1.0, "whole": pytest.approx(0.3)}


def test_only_shared_cases_count_and_the_others_are_named(tmp_path: Path) -> None:
    models = {"a": [short(1), short(1), short(1)], "b": [short(2), None, short(2)]}
    found = compare_runs([make_run(tmp_path, models)])
    assert found.left_out == {"a": (), "b": ("c1",)}
    assert set(rows(found.tables()["differences"], measure="pq").cases) == {2}


def test_runs_of_single_models_are_called_by_their_folders(tmp_path: Path) -> None:
    first = make_run(tmp_path / "first", {"net": [short(1)] * 2})
    second = make_run(tmp_path / "second", {"net": [short(2)] * 2})
    first.rename(tmp_path / "tuesday")
    second.rename(tmp_path / "friday")
    found = compare_runs([tmp_path / "tuesday", tmp_path / "friday"])
    assert found.models == ("friday", "tuesday")


def test_models_that_cannot_be_compared_are_errors(tmp_path: Path) -> None:
    one = make_run(tmp_path / "one", {"a": [short(1)]})
    other = make_run(
        tmp_path / "other", {"b": [short(1)]}, as_spec({"thresholds": 0.3, "metrics": []})
    )
    with pytest.raises(OptionError, match="only one model"):
        compare_runs([one])
    with pytest.raises(OptionError, match=r"different specs.*matching is .* in the other"):
        compare_runs([one, other])
    with pytest.raises(OptionError, match="named twice"):
        compare_runs([one, one])
    with pytest.raises(FileError, match="not an output folder of `panmatch evaluate`"):
        compare_runs([one, tmp_path])
    _save(tmp_path / "third" / "ref" / "x.npy", REFERENCE)
    _save(tmp_path / "third" / "c" / "x.npy", REFERENCE)
    paths = DatasetPaths(tmp_path / "third" / "ref", {"c": tmp_path / "third" / "c"})
    run_dataset(pair(paths), Job(SPEC.canonical()), tmp_path / "third" / "out")
    with pytest.raises(FileError, match="no case in common: a has c0; c has x"):
        compare_runs([one, tmp_path / "third" / "out"])
    two = make_run(tmp_path / "two", {"a": [short(1)], "b": [short(1)]})
    with pytest.raises(OptionError, match="did you mean 'rq'"):
        compare_runs([two], ["rqq"]).tables()["rankings"]


def test_several_classes_are_compared_one_by_one_and_by_their_mean(tmp_path: Path) -> None:
    spec = as_spec(
        {
            "classes": {"left": {"labels": 1}, "right": {"labels": 2}},
            "matching": "one-to-one",
            "metrics": [],
        }
    )
    for at in range(2):
        _save(tmp_path / "ref" / f"c{at}.npy", np.array([1, 1, 1, 1, 2, 2, 2, 2]))
        _save(tmp_path / "a" / f"c{at}.npy", np.array([1, 1, 1, 0, 2, 2, 2, 2]))
        _save(tmp_path / "b" / f"c{at}.npy", np.array([1, 1, 1, 1, 2, 2, 0, 0]))
    paths = DatasetPaths(tmp_path / "ref", {"a": tmp_path / "a", "b": tmp_path / "b"})
    run_dataset(pair(paths), Job(spec.canonical()), tmp_path / "out")
    found = rows(compare_runs([tmp_path / "out"]).tables()["rankings"], measure="pq")
    values = {(row["class"], row["model"]): row["value"] for row in found.to_dict("records")}
    assert values["left", "a"] == 0.75
    assert values["right", "b"] == 0.0  # an IoU of exactly one half is no edge at 0.5
    assert values["mean of classes", "a"] == pytest.approx((0.75 + 1) / 2)
    assert values["mean of classes", "b"] == pytest.approx((1 + 0) / 2)


def test_distances_rank_the_smaller_first(tmp_path: Path) -> None:
    spec = as_spec({"matching": "one-to-one", "thresholds": 0.1, "metrics": "hd"})
    run = make_run(tmp_path, {"near": [short(1)] * 3, "far": [short(4)] * 3}, spec)
    found = compare_runs([run], ["sq_hd"])
    assert found.tables()["rankings"].model.tolist() == ["near", "far"]
    (row,) = found.tables()["differences"].itertuples()
    assert (row.first, row.difference, row.wins) == ("far", 3.0, 0)


def test_what_is_undefined_is_skipped_or_counted_as_the_spec_says(tmp_path: Path) -> None:
    nothing = np.zeros(14, int)
    for undefined, expected in (("skip", 0.9), ("one", 0.95), ("zero", 0.45)):
        folder = tmp_path / undefined
        spec = replace_averaging(undefined)
        for at, reference in enumerate((REFERENCE, nothing)):
            _save(folder / "ref" / f"c{at}.npy", reference)
        for model in "ab":
            _save(folder / model / "c0.npy", short(1))
            _save(folder / model / "c1.npy", nothing)
        paths = DatasetPaths(folder / "ref", {model: folder / model for model in "ab"})
        run_dataset(pair(paths), Job(spec.canonical()), folder / "out")
        found = rows(
            compare_runs([folder / "out"]).tables()["rankings"], strategy="one-to-one", measure="pq"
        )
        assert found.value.tolist() == pytest.approx([expected] * 4)
        assert not math.isnan(found["rank"].iloc[0])


def replace_averaging(undefined: str) -> pm.Spec:
    return as_spec(SPEC.model_dump() | {"averaging": {"undefined": undefined}})
