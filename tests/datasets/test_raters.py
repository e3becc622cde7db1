"""Several raters per case: pairs, agreement, spread and bounds (D18)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.datasets import Job, Resampling, Spread, compare_with_raters, load_raters
from panmatch.errors import FileError, OptionError, ShapeError
from panmatch.evaluation import Score, Setting
from panmatch.matching import Matcher
from panmatch.spec import as_spec

Labels = npt.NDArray[np.integer]

SPEC = {"matching": ["one-to-one", "many-to-one"], "thresholds": [0.3, 0.5]}
RATERS = ("ann", "bob", "eve")


def drawn(seed: int) -> dict[str, Labels]:
    """Return what three raters and a model draw of the same objects."""
    truth = phantoms.blobs((40, 40), 6, radius=(3, 6), gap=1, seed=seed)
    names = (*RATERS, "model")
    found = dict(phantoms.simulate_raters(truth, names, misses=0.6, spurious=1, seed=seed))
    largest = int(np.bincount(found["bob"][found["bob"] > 0]).argmax())
    return found | {"bob": phantoms.split(found["bob"], 2, ids=[largest])}


def compared(seed: int, **options: Any) -> pm.RaterComparison:
    images = drawn(seed)
    model = images.pop("model")
    options = {"spec": SPEC, "case": f"case{seed}", **options}
    return pm.compare_raters(references=images, predictions={"model": model}, **options)


@pytest.fixture(scope="module")
def seven() -> pm.RaterComparison:
    return sum((compared(seed) for seed in range(1, 7)), compared(0))


def test_every_pair_has_the_numbers_of_an_evaluation_of_its_own() -> None:
    found, images = compared(3), drawn(3)
    for reference, prediction in permutations((*RATERS, "model"), 2):
        if reference == "model":
            continue
        alone = pm.evaluate(
            reference=images[reference], prediction=images[prediction], spec=SPEC
        ).averages
        rows = found.pairs.query("reference == @reference and prediction == @prediction")
        assert rows.role.unique().tolist() == ["model" if prediction == "model" else "rater"]
        keys = ["strategy", "threshold", "measure", "averaging"]
        values = [table.sort_values(keys).value.tolist() for table in (rows, alone)]
        assert values[0] == pytest.approx(values[1], nan_ok=True)


def test_pq_depends_on_who_plays_the_reference_except_one_to_one() -> None:
    rows = compared(5).pairs.query("measure == 'pq' and averaging == 'pooled'")
    values = {
        (row.strategy, row.threshold, row.reference, row.prediction): row.value
        for row in rows.itertuples()
    }
    differs = 0
    for (strategy, threshold, one, other), value in values.items():
        if other == "model":
            continue
        if strategy == "one-to-one":
            assert value == values[strategy, threshold, other, one]
        differs += value != values[strategy, threshold, other, one]
    assert differs


def test_objects_are_counted_by_how_many_raters_matched_them() -> None:
    images, found = drawn(4), compared(4)
    for strategy, threshold in (("one-to-one", 0.5), ("many-to-one", 0.3)):
        wanted: dict[int, list[bool]] = {k: [] for k in (1, 2, 3)}
        for rater in RATERS:
            seen_by: dict[int, int] = dict.fromkeys(np.unique(images[rater])[1:].tolist(), 1)
            for other in {*RATERS} - {rater}:
                for number in _matched(images[rater], images[other], strategy, threshold):
                    seen_by[number] += 1
            hits = _matched(images[rater], images["model"], strategy, threshold)
            for number, k in seen_by.items():
                wanted[k].append(number in hits)
        rows = found.agreement.query(
            "strategy == @strategy and threshold == @threshold and rater == 'all' "
            "and side == 'reference' and model == 'model'"
        )
        assert rows.seen_by.tolist() == [1, 2, 3]
        assert rows.objects.tolist() == [len(wanted[k]) for k in (1, 2, 3)]
        assert rows.tp.tolist() == [sum(wanted[k]) for k in (1, 2, 3)]


def test_predictions_are_counted_by_how_many_raters_they_match() -> None:
    images, found = drawn(4), compared(4)
    counts = dict.fromkeys(np.unique(images["model"])[1:].tolist(), 0)
    for rater in RATERS:
        overlap = pm.count_overlaps(images[rater], images["model"])
        for _, number in pm.match(overlap, "one-to-one", 0.5).pairs.tolist():
            counts[number] += 1
    rows = found.agreement.query(
        "strategy == 'one-to-one' and threshold == 0.5 and side == 'prediction'"
    )
    wanted = [list(counts.values()).count(k) for k in range(4)]
    assert rows.objects.tolist() == wanted
    assert sum(wanted[1:])


def _matched(reference: Labels, prediction: Labels, strategy: str, threshold: float) -> set[int]:
    matching = pm.match(pm.count_overlaps(reference, prediction), strategy, threshold)
    return {int(number) for number, _ in matching.pairs}


def test_objects_of_all_raters_add_up(seven: pm.RaterComparison) -> None:
    rows = seven.agreement.query("side == 'reference' and model == 'model'")
    for _, group in rows.groupby(["strategy", "threshold", "seen_by"]):
        of_all = group[group.rater == "all"].iloc[0]
        assert group[group.rater != "all"].objects.sum() == of_all.objects
        assert group[group.rater != "all"].tp.sum() == of_all.tp


def test_pq_against_each_rater_is_within_the_bounds(seven: pm.RaterComparison) -> None:
    pooled = seven.pairs.query(
        "role == 'model' and measure == 'pq' and averaging == 'pooled' and strategy == 'one-to-one'"
    )
    bounds = seven.bounds.query("chosen == 'any rater'")
    assert bounds.exact.tolist() == ["yes", "yes"]
    for row in bounds.itertuples():
        values = pooled[pooled.threshold == row.threshold].value
        assert len(values) == 3
        assert row.lower < values.min() <= values.max() < row.upper
    narrow = seven.bounds.query("chosen != 'any rater'")
    assert (narrow.lower.to_numpy() > bounds.lower.to_numpy()).all()


def test_bounds_are_pooled_over_cases(seven: pm.RaterComparison) -> None:
    single = [compared(seed).choices.choices for seed in range(7)]
    for key, choices in seven.choices.choices.items():
        parts = [one[key] for one in single]
        assert sum(parts[1:], parts[0]).bounds() == choices.bounds()
        assert choices.n_groups == sum(one.n_groups for one in parts)


def test_cases_add_up_in_any_order(seven: pm.RaterComparison) -> None:
    backwards = sum(compared(seed) for seed in reversed(range(7)))
    assert isinstance(backwards, pm.RaterComparison)
    for name in ("pairs", "agreement", "spread", "bounds"):
        table, other = getattr(seven, name), getattr(backwards, name)
        order = list(table.columns[:12])
        assert table.sort_values(order).to_csv(index=False) == other.sort_values(order).to_csv(
            index=False
        )


def test_a_model_is_compared_with_a_rater_on_the_references_of_the_others() -> None:
    against = {
        ("a", "b"): [0.2, 0.4], ("a", "c"): [0.6, 0.8], ("a", "m"): [0.5, 0.9],
        ("b", "a"): [0.1, 0.3], ("b", "c"): [0.5, math.nan], ("b", "m"): [0.4, 0.6],
        ("c", "a"): [0.9, 0.7], ("c", "b"): [0.3, 0.1], ("c", "m"): [0.8, 1.0],
    }  # fmt: skip
    arrays = {pair: np.array(values) for pair, values in against.items()}
    found = compare_with_raters(arrays, ("a", "b", "c"), "m", Resampling.of(2))
    # a: against b and c, the model has 0.6 and 0.8, a has 0.5 and 0.5.
    # c: in the second case, b cannot judge c, so the model is not judged by b either.
    assert [round(one.difference, 12) for one in found] == [0.2, 0.55, 0.0]
    assert [round(one.model_value, 12) for one in found] == [0.7, 0.8, 0.675]
    assert [one.cases for one in found] == [2, 2, 2]
    assert not any(one.interval.is_defined for one in found)


def spread_of(differences: Mapping[str, npt.ArrayLike]) -> Spread:
    """Return the spread of a model whose differences from the raters are given, case by case."""
    raters = tuple(differences)
    n = len(np.asarray(next(iter(differences.values()))))
    against = {(one, other): np.zeros(n) for one in raters for other in raters if one != other}
    # With two raters, each difference is judged by the other one alone.
    for rater, other in permutations(raters, 2):
        against[other, "m"] = np.asarray(differences[rater])
    found = compare_with_raters(against, raters, "m", Resampling.of(n))
    matcher: Matcher = as_spec(SPEC).matching[0]
    return Spread("m", Setting("object", "things", matcher), 0.5, Score("pq"), found)


def test_the_verdict_needs_whole_intervals() -> None:
    cases = np.linspace(-0.02, 0.02, 12)
    assert spread_of({"a": cases - 0.2, "b": cases - 0.1}).verdict() == "below"
    assert spread_of({"a": cases + 0.2, "b": cases + 0.1}).verdict() == "above"
    assert spread_of({"a": cases - 0.2, "b": cases + 0.1}).verdict() == "inside"
    assert spread_of({"a": cases - 0.2, "b": cases}).verdict() == "unclear"
    assert spread_of({"a": cases, "b": cases}).verdict() == "unclear"
    assert spread_of({"a": cases, "b": cases}).verdict(margin=0.05) == "inside"
    assert spread_of({"a": cases - 0.2, "b": cases - 0.1}).verdict(margin=0.1) == "unclear"
    assert spread_of({"a": cases - 0.2, "b": cases - 0.1}).verdict(margin=0.15) == "inside"
    assert spread_of({"a": cases[:4] - 0.2, "b": cases[:4] - 0.1}).verdict() == "unclear"


def test_the_end_that_any_rater_can_set_is_corrected_for_their_number() -> None:
    rng = np.random.default_rng(3)
    spread = spread_of({"a": rng.normal(0, 0.1, 30), "b": rng.normal(0.02, 0.1, 30)})
    first, second = spread.differences
    worst, best = spread.over_worst_interval, spread.over_best_interval
    assert first.wide_interval.low < first.interval.low
    assert worst.low == max(first.wide_interval.low, second.wide_interval.low)
    assert worst.high == max(first.interval.high, second.interval.high)
    assert best.low == min(first.interval.low, second.interval.low)
    assert best.high == min(first.wide_interval.high, second.wide_interval.high)


def test_wrong_verdicts_are_rare_where_the_model_is_like_a_rater() -> None:
    wrong = {"below": 0, "above": 0, "inside": 0, "unclear": 0}
    for seed in range(150):
        rng = np.random.default_rng(seed)
        hard = rng.normal(0, 0.1, 20)
        differences = {name: 0.7 * hard + rng.normal(0, 0.07, 20) for name in "ab"}
        wrong[spread_of(differences).verdict()] += 1
    assert wrong["below"] + wrong["above"] <= 12  # at most 5 % in the long run
    assert wrong["unclear"] >= 130


def test_folders_give_the_same_numbers_and_resume(tmp_path: Path) -> None:
    folders = _write(tmp_path, 3)
    model = {"model": folders.pop("model")}
    out = tmp_path / "out"
    found = pm.compare_rater_folders(references=folders, prediction=model, spec=SPEC, out=out)
    expected = sum((compared(seed) for seed in (1, 2)), compared(0))
    for name in ("pairs", "agreement", "spread", "bounds"):
        assert getattr(found, name).equals(getattr(expected, name)), name
    written = {path: path.read_bytes() for path in out.glob("*.csv")}
    keys = [(out / rater / "cases.jsonl").read_bytes() for rater in RATERS]
    again = pm.compare_rater_folders(
        references=folders, prediction=model, spec=SPEC, out=out, workers=2
    )
    assert {path: path.read_bytes() for path in out.glob("*.csv")} == written
    assert keys == [(out / rater / "cases.jsonl").read_bytes() for rater in RATERS]
    loaded, margin = load_raters(out)
    assert (loaded.bounds.equals(again.bounds), margin) == (True, 0.0)


def _write(folder: Path, n: int) -> dict[str, Path]:
    for seed in range(n):
        for name, labels in drawn(seed).items():
            (folder / name).mkdir(exist_ok=True)
            np.save(folder / name / f"case{seed}.npy", labels)
    return {name: folder / name for name in (*RATERS, "model")}


def test_a_case_that_a_rater_lacks_counts_only_for_the_others(tmp_path: Path) -> None:
    folders = _write(tmp_path, 3)
    model = {"model": folders.pop("model")}
    (folders["eve"] / "case2.npy").unlink()
    out = tmp_path / "out"
    found = pm.compare_rater_folders(references=folders, prediction=model, spec=SPEC, out=out)
    assert found.cases == ("case0", "case1")
    assert found.bounds.cases.unique().tolist() == [2]
    rows = found.pairs.query("reference == 'ann' and averaging == 'mean of cases'")
    assert rows[rows.prediction == "bob"].cases.max() == 3


def test_single_files_are_one_case(tmp_path: Path) -> None:
    for name, labels in drawn(1).items():
        np.save(tmp_path / f"scan_{name}.npy", labels)
    files = {name: tmp_path / f"scan_{name}.npy" for name in RATERS}
    model = {"model": tmp_path / "scan_model.npy"}
    found = pm.compare_rater_folders(
        references=files, prediction=model, spec=SPEC, out=tmp_path / "out"
    )
    assert found.cases == ("scan_ann",)
    assert found.bounds.lower.tolist() == compared(1).bounds.lower.tolist()


def test_patterns_tell_raters_from_models(tmp_path: Path) -> None:
    for name, labels in drawn(1).items():
        folder = tmp_path / name
        folder.mkdir()
        suffix = "pred" if name == "model" else "ref"
        np.save(folder / f"s1_{suffix}.npy", labels)
    found = pm.compare_rater_folders(
        references={name: tmp_path / name for name in RATERS},
        prediction={"model": tmp_path / "model"},
        patterns=("{case}_ref.npy", "{case}_pred.npy"),
        spec=SPEC,
        out=tmp_path / "out",
    )
    assert found.cases == ("s1",)


def test_void_leaves_no_bounds_but_everything_else() -> None:
    void = np.zeros((40, 40), bool)
    void[:, :15] = True
    found = compared(2, void=void)
    assert (len(found.bounds), found.choices.skipped) == (0, {"object": 1})
    assert min(len(found.agreement), len(found.pairs)) > 0


def test_raters_alone_need_no_model() -> None:
    images = drawn(1)
    images.pop("model")
    found = pm.compare_raters(references=images, spec=SPEC)
    assert repr(found) == "RaterComparison(raters ann, bob and eve, 1 case)"
    assert len(found.bounds) == len(found.spread) == 0
    assert found.agreement.query("rater == 'all'").objects.sum() > 0


def test_a_run_with_one_reference_keeps_its_fingerprint() -> None:
    spec = as_spec("cells").canonical()
    assert Job(spec).fingerprint == Job(spec, keep_overlaps=False).fingerprint
    assert Job(spec).fingerprint != Job(spec, keep_overlaps=True).fingerprint
    result = pm.evaluate(reference=[[1, 1, 0]], prediction=[[1, 0, 0]])
    assert "overlaps" not in result.cases[0].to_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"references": {"a": [1]}}, "references=['a']: pass two or more raters by name"),
        ({"references": {"a": [1], "b/c": [1]}}, "'b/c' is not a name for a rater"),
        ({"references": {"a": [1], "all": [1]}}, "'all' is not a name for a rater"),
        (
            {"references": {"a": [1], "b": [1]}, "predictions": {"a": [1]}},
            "'a' is both a rater and a model",
        ),
        (
            {"references": {"a": [1], "b": [1]}, "predictions": {"c": [1]}, "prediction": [1]},
            "prediction and predictions are both given",
        ),
        (
            {"references": {"a": [1], "b": [1]}, "spec": {"confidence": {"source": "csv"}}},
            "the objects of raters have none",
        ),
        (
            {"references": {"a": [1], "b": [1]}, "spec": "coco-instances"},
            "encoding 'coco-instances', but several references need label images",
        ),
    ],
)
def test_unusable_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        pm.compare_raters(**options)
    assert message in str(raised.value)


def test_errors_name_the_two_sides() -> None:
    with pytest.raises(ShapeError, match="b as reference, m as prediction"):
        pm.compare_raters(references={"b": [[1]], "a": [[1]]}, predictions={"m": [[1, 1]]})


def test_only_comparisons_of_the_same_raters_add() -> None:
    one = pm.compare_raters(references={"a": [1], "b": [1]}, case="1")
    other = pm.compare_raters(references={"a": [1], "c": [1]}, case="2")
    with pytest.raises(OptionError, match="one has a, b, the other a, c"):
        one + other


def test_a_margin_must_be_a_difference(seven: pm.RaterComparison) -> None:
    with pytest.raises(OptionError, match=r"margin=1.5 must be a difference in PQ"):
        seven.plain("spread", margin=1.5)


def test_folders_of_other_runs_are_not_overwritten(tmp_path: Path) -> None:
    folders = _write(tmp_path, 1)
    model = folders.pop("model")
    out = tmp_path / "out"
    pm.evaluate_folders(reference=folders["ann"], prediction=model, out=out)
    with pytest.raises(FileError, match="contains the results of a run with one reference"):
        pm.compare_rater_folders(references=folders, out=out)
    with pytest.raises(FileError, match=r"not an output folder of `panmatch evaluate --reference`"):
        load_raters(out)
