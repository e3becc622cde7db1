"""`panmatch cite`: what a paper says about a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from panmatch.datasets import load_run, paper_text
from tests.commands import panmatch
from tests.datasets.folders import make_folders


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cite")
    make_folders(folder, 2)
    out = folder / "out"
    done = panmatch("evaluate", folder / "ref", folder / "model", "-m", "nsd", "-o", out)
    assert done.returncode == 0, done.stderr
    return out


def test_methods_results_entries_and_what_is_missing_are_printed(run: Path) -> None:
    done = panmatch("cite", run)
    assert done.returncode == 0, done.stderr
    text = paper_text(load_run(run))
    methods, results = text.paragraphs()
    said = " ".join(done.stdout.split())
    assert said.startswith(f"Methods {methods} Results {results} References (BibTeX) @software")
    assert f"References (BibTeX)\n\n{text.bibtex}\n\nAdd the sources" in done.stdout
    assert said.endswith("that you follow for Normalised surface Dice: panmatch has none.")
    assert max(map(len, done.stdout.split("References")[0].splitlines())) <= 80


def test_entries_alone_can_be_added_to_a_file(run: Path) -> None:
    done = panmatch("cite", run, "--bibtex")
    assert done.stdout == paper_text(load_run(run)).bibtex + "\n"


def test_markdown_has_headings_and_a_fence(run: Path) -> None:
    lines = panmatch("cite", run, "--format", "markdown").stdout.splitlines()
    assert [line for line in lines if line.startswith(("##", "```"))] == [
        "## Methods", "## Results", "## References (BibTeX)", "```bibtex", "```",
    ]  # fmt: skip
    assert "[@kirillov_panoptic]" in " ".join(lines)


def test_latex_can_be_included_as_it_is(run: Path) -> None:
    done = panmatch("cite", run, "--format", "latex")
    outside = [line for line in done.stdout.splitlines() if not line.startswith("%")]
    assert "@" not in "".join(outside)
    assert r"~\cite{kirillov_panoptic}" in done.stdout
    assert f"% References: panmatch cite {run} --bibtex" in done.stdout
    assert "\n% Add the sources" in done.stdout


def test_the_version_that_evaluated_is_named(run: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for name in ("run.json", "cases.jsonl"):
        (old / name).write_bytes((run / name).read_bytes())
    content = json.loads((old / "run.json").read_text())
    content["versions"]["panmatch"] = "0.0.7"
    (old / "run.json").write_text(json.dumps(content))
    done = panmatch("cite", old)
    assert "using panmatch 0.0.7" in " ".join(done.stdout.split())
    assert "version = {0.0.7}," in done.stdout


def test_a_protocol_is_remembered_by_the_run(tmp_path: Path) -> None:
    make_folders(tmp_path, 1)
    out = tmp_path / "out"
    command = ("evaluate", tmp_path / "ref", tmp_path / "model", "--protocol", "stardist")
    assert panmatch(*command, "-o", out).returncode == 0
    assert json.loads((out / "run.json").read_text())["protocol"]["name"] == "stardist"
    said = " ".join(panmatch("cite", out).stdout.split())
    assert "protocol.csv reproduce those of stardist (matching.matching, matching_dataset)" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "word"], "--format='word' is not known"),
        (["--format", "latx"], "did you mean 'latex'?"),
    ],
)
def test_an_unknown_format_is_an_error(run: Path, arguments: list[str], message: str) -> None:
    done = panmatch("cite", run, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_folder_without_a_run_is_an_error(tmp_path: Path) -> None:
    done = panmatch("cite", tmp_path)
    assert done.returncode == 2
    assert "is not an output folder of `panmatch evaluate`" in done.stderr
