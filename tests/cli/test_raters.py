"""`panmatch evaluate --reference`: the screen, the files, and options that need one reference."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from panmatch import phantoms
from tests.commands import panmatch

FOLDERS = ("ann", "bob", "model")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six cases that two raters and a model have drawn."""
    for case in range(6):
        truth = phantoms.balls((40, 40), 5, radius=(3, 6), gap=1, seed=case)
        drawn = phantoms.simulate_raters(truth, FOLDERS, misses=0.5, seed=case)
        for name, labels in drawn.items():
            (tmp_path / name).mkdir(exist_ok=True)
            np.save(tmp_path / name / f"case{case}.npy", labels)
    return tmp_path


def raters(data: Path) -> list[str]:
    return [f"--reference={name}={data / name}" for name in ("ann", "bob")]


def test_screen_and_tables_show_the_raters(data: Path) -> None:
    out = data / "out"
    shown = panmatch("evaluate", str(data / "model"), *raters(data), "-t", "0.5", "-o", str(out))
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("Mean PQ of cases against each rater (object, one-to-one (optimal)")
    heads = [line.split() for line in lines]
    assert ["reference", "ann", "bob", "model"] in heads
    assert ["seen", "by", "objects", "recall", "of", "model"] in heads
    assert any("the spread of the raters" in line or "all raters" in line for line in lines)
    assert any(line.startswith("Pooled PQ over all ways") for line in lines)
    assert {path.name for path in out.iterdir() if path.suffix != ".parquet"} == {
        "ann", "bob", "raters.csv", "agreement.csv", "rater_spread.csv", "rater_bounds.csv",
        "raters.json",
    }  # fmt: skip
    assert (out / "ann" / "scores.csv").exists()
    one = panmatch("show", str(out / "ann"))
    assert one.returncode == 0
    assert "bob" in one.stdout


def test_json_holds_every_table(data: Path) -> None:
    shown = panmatch(
        "evaluate", *raters(data), f"--model=m={data / 'model'}", "--margin", "0.1", "--json",
        "-o", str(data / "out"), "--report",
    )  # fmt: skip
    found = json.loads(shown.stdout)
    assert (found["raters"], found["models"], found["cases"]) == (["ann", "bob"], ["m"], 6)
    assert found["margin"] == 0.1
    assert {row["chosen"] for row in found["bounds"]} == {"any rater", "raters who drew it"}
    assert {"pairs", "agreement", "spread"} <= found.keys()
    report = Path(found["files"]["report"]).read_text()
    for section in ("agreement", "spread", "seen", "bounds", "reports"):
        assert f'id="{section}"' in report
    assert 'href="ann/report.html"' in report
    assert (data / "out" / "ann" / "report.html").exists()
    again = panmatch("report", str(data / "out"), "-o", str(data / "again.html"))
    assert again.returncode == 0, again.stderr
    assert (data / "out" / "ann" / "report.html").resolve().as_uri() in (
        data / "again.html"
    ).read_text()


def test_a_finished_run_resumes_without_evaluating_again(data: Path) -> None:
    out = data / "out"
    command = ["evaluate", str(data / "model"), *raters(data), "-o", str(out), "--quiet"]
    assert panmatch(*command).returncode == 0
    written = {path: path.read_bytes() for path in out.rglob("*.csv")}
    again = panmatch(*command)
    assert again.returncode == 2
    assert "already contains results: pass --resume" in again.stderr
    assert panmatch(*command, "--resume").returncode == 0
    assert {path: path.read_bytes() for path in out.rglob("*.csv")} == written
    run = json.loads((out / "ann" / "run.json").read_text())
    assert run["evaluated_now"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--protocol", "stardist"], "--protocol needs a single reference"),
        (["--fail-under", "pq=0.5"], "--fail-under needs a single reference"),
        (["--margin", "2"], "--margin 2 must be a difference in PQ from 0 to below 1"),
        (["--scores", "x"], "--scores needs a single reference"),
        (["--cut", "0.5"], "--cut needs a single reference"),
        (["--stop-when", "decided"], "--stop-when needs a single reference"),
        (["--spec", "coco"], "encoding 'coco', but several references need label images"),
        (["--model", "m=x"], "PRED and --model are both given"),
        (["more"], "with --reference, name only PRED"),
        (["--reference", "model=x"], "'model' is both a rater and a model"),
    ],
)
def test_options_that_need_one_reference_are_errors(
    data: Path, options: list[str], message: str
) -> None:
    shown = panmatch("evaluate", str(data / "model"), *raters(data), *options)
    assert shown.returncode == 2
    assert message in " ".join(shown.stderr.split())


def test_one_rater_is_not_several_and_none_needs_a_reference(data: Path) -> None:
    alone = panmatch("evaluate", str(data / "model"), raters(data)[0])
    assert alone.returncode == 2
    assert "pass two or more raters by name" in alone.stderr
    nobody = panmatch("evaluate")
    assert nobody.returncode == 2
    assert "REF is missing" in nobody.stderr


def test_the_folder_of_raters_is_not_a_run(data: Path) -> None:
    out = data / "out"
    panmatch("evaluate", *raters(data), "-o", str(out), "--quiet")
    shown = panmatch("compare", str(out))
    assert shown.returncode == 2
    assert "it has one for each rater: name the folder of a rater in it" in shown.stderr


def test_the_headline_comes_first_and_other_classes_on_request(tmp_path: Path) -> None:
    names = ("ann", "bob", "eve")
    for case in range(2):
        truth = phantoms.balls((30, 30, 30), 6, radius=(3, 5), gap=1, seed=case)
        for name, labels in phantoms.simulate_raters(truth, names, misses=0.2, seed=case).items():
            (tmp_path / name).mkdir(exist_ok=True)
            np.save(tmp_path / name / f"case{case}.npy", np.where(labels > 0, labels % 3 + 1, 0))
    named = [f"--reference={name}={tmp_path / name}" for name in names]
    command = ["evaluate", *named, "--spec", "brats-mets", "-o", str(tmp_path / "out")]
    brief = panmatch(*command).stdout
    assert brief.count("Mean PQ of cases against each rater") == 1
    assert "(2 more classes with --all)" in brief
    every = panmatch(*command, "--resume", "--all").stdout
    assert every.count("Mean PQ of cases against each rater") == 3
    assert "more class" not in every
