"""Strategies, thresholds, metrics and classes without a YAML file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from panmatch.cli._spec_options import change_spec, read_strategy
from panmatch.errors import OptionError
from panmatch.matching import STRATEGIES, Matcher
from panmatch.spec import Spec, as_spec
from tests.commands import panmatch
from tests.datasets.folders import make_folders


def test_options_on_the_command_line_are_those_of_a_spec(tmp_path: Path) -> None:
    make_folders(tmp_path, 2)
    (tmp_path / "spec.yaml").write_text(
        "matching: [{strategy: many-to-one, solver: optimal, gate: edge}, one-to-one]\n"
        "thresholds: [0.2, 0.6]\n"
        "metrics: [dice, hd95]\n"
        "classes: {first: {labels: [1, 2]}, other: {labels: 4}}\n"
        "background: [3, 5]\n"
    )
    by_file = panmatch("evaluate", "ref", "model", "--spec", "spec.yaml", "-o", "a", cwd=tmp_path)
    by_option = panmatch(
        "evaluate", "ref", "model", "-s", "many-to-one/optimal/edge", "--strategy", "one-to-one",
        "-t", "0.6", "--threshold", "0.2", "-m", "dice,hd95", "--class", "first=1,2",
        "--class", "other=4", "--class", "background=3,5", "-o", "b", cwd=tmp_path,
    )  # fmt: skip
    assert by_option.returncode == 0, by_option.stderr
    assert by_option.stdout.replace("show --all b", "show --all a") == by_file.stdout.replace(
        "Tables: a/", "Tables: b/"
    ).replace("report a", "report b").replace("play a", "play b")
    for name in ("scores", "instances", "summary"):
        found = (tmp_path / "b" / f"{name}.csv").read_text()
        assert found == (tmp_path / "a" / f"{name}.csv").read_text()
    assert sorted(set(pd.read_csv(tmp_path / "b" / "scores.csv").threshold)) == [0.2, 0.6]


def test_scores_without_matching_come_from_options_as_from_a_spec(tmp_path: Path) -> None:
    make_folders(tmp_path, 6, models=("model", "other"))
    (tmp_path / "spec.yaml").write_text(
        "matching: one-to-one\nthresholds: 0.5\nmetrics: []\nwhole: [dice, hd95]\n"
        "related: [cc_dice, {score: lesionwise_dice, dilation: 2, name: wide}]\n"
    )
    models = ("--model", "a=model", "--model", "b=other")
    by_file = panmatch("evaluate", "ref", *models, "--spec", "spec.yaml", "-o", "a", cwd=tmp_path)
    by_option = panmatch(
        "evaluate", "ref", *models, "-s", "one-to-one", "-t", "0.5", "-m", "iou",
        "--whole", "dice,hd95", "--related", "cc_dice",
        "--related", "lesionwise_dice/dilation=2/name=wide", "-o", "b", "--report",
        "--fail-under", "cc_dice=0.99", "--fail-under", "whole_hd95=100", cwd=tmp_path,
    )  # fmt: skip
    assert by_file.returncode == 0, by_file.stderr
    assert by_option.returncode == 3, by_option.stderr
    assert "cc_dice is 0" in by_option.stderr
    assert "(object, no matching, pooled), below 0.99" in by_option.stderr
    assert "whole_hd95" not in by_option.stderr
    assert "no matching" in by_file.stdout
    names = ["whole_dice", "whole_hd95", "cc_dice", "wide"]
    tables = [pd.read_csv(tmp_path / out / "summary.csv") for out in "ab"]
    found = [table[table["measure"].isin(names)].reset_index(drop=True) for table in tables]
    pd.testing.assert_frame_equal(*found)
    assert set(found[0]["measure"]) == set(names)
    assert found[0]["low"].notna().all()
    scores = pd.read_csv(tmp_path / "a" / "scores.csv")
    assert set(names) <= set(scores.columns)
    report = (tmp_path / "b" / "report.html").read_text()
    assert "Scores that need no matching" in report
    assert "CC-Dice" in report
    compared = panmatch("compare", "a", "--score", "cc_dice", cwd=tmp_path)
    assert "mean CC-Dice of cases" in compared.stdout
    assert "under no matching" not in compared.stdout
    shown = panmatch("show", "a", "--all", cwd=tmp_path)
    assert "Scores that need no matching:" in shown.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cc_dcie", "did you mean 'cc_dice'"),
        ("ccdice/alfa=1", "did you mean 'alpha'"),
        ("lesionwise_dice/dilation=much", "dilation must be like 0"),
    ],
)
def test_mistakes_in_related_scores_name_the_option(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        change_spec(Spec(), related=[text])


def test_related_scores_are_listed_with_their_options(tmp_path: Path) -> None:
    listed = panmatch("spec", "--related", cwd=tmp_path)
    assert listed.returncode == 0
    assert "lesionwise_dice: --related lesionwise_dice/dilation=0/min_volume=0.0" in listed.stdout
    assert "Over several cases: voxels of all cases." in listed.stdout


@pytest.mark.parametrize("family", STRATEGIES.values(), ids=list(STRATEGIES))
def test_the_key_of_every_strategy_is_read(family: type) -> None:
    for strategy in family.variants():  # type: ignore[attr-defined]
        assert read_strategy(strategy.key).strategy == strategy
        if not strategy.needs_regions:
            both = read_strategy(f"{strategy.key}/reference-share/regions")
            assert both == Matcher(strategy, "reference-share", "voronoi")


def test_options_replace_those_of_the_spec_and_leave_the_others() -> None:
    cells = as_spec("cells")
    assert change_spec(cells) == cells
    changed = change_spec(cells, thresholds=["0.7", "0.5,0.6"])
    assert changed == cells.model_copy(update={"thresholds": (0.5, 0.6, 0.7)})
    assert change_spec(cells, metrics=["nsd"]).metrics == ("nsd",)
    assert change_spec(cells, ["same-id"]).matching == (read_strategy("same-id"),)


def test_a_class_of_the_spec_alone_leaves_labels_of_the_others_as_background() -> None:
    liver = as_spec("liver-lesions")
    lesion = change_spec(liver, classes=["lesion"])
    assert lesion.classes == {"lesion": liver.classes["lesion"]}
    assert (lesion.background, lesion.headline) == ((1,), "lesion")
    whole = change_spec(liver, classes=["liver"])
    assert (whole.background, whole.headline) == ((), None)  # the liver includes its lesions
    made = change_spec(Spec(), classes=["bone=1,4-7/components/faces", "fat=9/stuff"]).classes
    assert made["bone"].numbers == (1, 4, 5, 6, 7)
    assert (made["bone"].instances, made["bone"].connectivity) == ("components", "faces")
    assert (made["fat"].kind, made["fat"].instances) == ("stuff", "ids")
    assert change_spec(Spec(), classes=["cell=all"]).classes["cell"].labels == "all"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"strategies": ["one-two-one"]}, "did you mean 'one-to-one'"),
        ({"strategies": ["many-to-many"]}, "cluster_dice"),
        ({"strategies": ["one-to-one/edge"]}, "option of one-to-one='edge' is not known"),
        ({"strategies": ["many-to-one/merge/optimal"]}, "solver is given twice"),
        ({"thresholds": ["1"]}, r"--threshold '1' must be a number in \[0, 1\), such as 0.5"),
        ({"thresholds": ["high"]}, "--threshold 'high'"),
        ({"metrics": ["jaccard"]}, "--metric 'jaccard' is not known; panmatch calls it 'iou'"),
        ({"classes": ["liver"]}, "--class 'liver' is not known"),
        ({"classes": ["a=1", "a=2"]}, "the name 'a' is given twice"),
        ({"classes": ["a=x"]}, "--class 'a=x' must be the name of a class in the spec, or a name"),
        ({"classes": ["a=1/blobs"]}, "--class 'blobs' is not known"),
    ],
)
def test_mistakes_name_the_option(given: dict[str, list[str]], text: str) -> None:
    with pytest.raises(OptionError) as error:
        change_spec(Spec(), **given)
    with pytest.raises(AssertionError, match=text):
        raise AssertionError(error.value.for_command_line())
