"""What earlier versions wrote can still be read, and holds the same numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import panmatch as pm
from panmatch.cli import _json
from panmatch.datasets import _outputs, load_run
from panmatch.evaluation import Result, _case_result, _result
from panmatch.overlap import _graph
from panmatch.spec import as_spec
from tests.stored_formats import FOLDER, SPEC, scores_of, sides, write_run_sample

OVERLAPS = sorted(FOLDER.glob("panmatch-overlap-*"))
RESULTS = sorted(path for path in FOLDER.glob("panmatch-result-*") if path.suffixes == [".json"])
RUNS = sorted(FOLDER.glob("panmatch-run-*"))


def scores_in(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"))


def test_there_are_samples_of_every_format() -> None:
    assert [path.suffix for path in OVERLAPS] == [".json", ".npz"]
    assert RESULTS
    assert RUNS


@pytest.mark.parametrize("path", OVERLAPS, ids=lambda path: path.name)
def test_stored_overlaps_are_what_was_counted(path: Path) -> None:
    assert pm.load_overlap(path) == pm.count_overlaps(*sides())


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_stored_results_have_the_scores_of_their_day(path: Path) -> None:
    found = Result.load(path)
    assert scores_of(found) == scores_in(path.with_suffix(".scores.json"))
    assert found.spec == as_spec(SPEC)


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_stored_runs_have_the_scores_of_their_day(path: Path) -> None:
    assert scores_of(load_run(path)) == scores_in(path / "scores.json")


def test_the_newest_samples_are_what_is_written_today() -> None:
    reference, prediction = sides()
    overlap = pm.count_overlaps(reference, prediction)
    assert overlap.to_json() == (FOLDER / "panmatch-overlap-1.json").read_text(encoding="utf-8")
    result = pm.evaluate(reference=reference, prediction=prediction, spec=SPEC, spacing=(1, 0.5))
    name = json.loads(result.to_json())["format"]
    assert name in {path.stem for path in RESULTS}, "python -m tests.stored_formats"


def test_the_format_of_runs_has_a_sample(tmp_path: Path) -> None:
    write_run_sample(tmp_path, tmp_path)
    (name,) = (path.name for path in tmp_path.glob("panmatch-run-*"))
    assert name in {path.name for path in RUNS}, "python -m tests.stored_formats"


def test_the_page_on_stability_names_the_formats_of_today() -> None:
    page = (FOLDER.parents[2] / "docs" / "about" / "stability.md").read_text(encoding="utf-8")
    for module in (_graph, _result, _case_result, _outputs, _json):
        names = [value for value in vars(module).values() if isinstance(value, str)]
        formats = [name for name in names if re.fullmatch(r"panmatch-\w+-\d+", name)]
        assert formats
        assert all(f"`{name}`" in page for name in formats)
