"""`--wide` on the command line, and `compare` with TSV files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.terminals import assert_pictured, in_terminal
from tests.commands import panmatch
from tests.datasets.folders import make_folders

MODELS = ("near", "far", "zeta")
ONE = ("-s", "one-to-one", "-t", "0.3", "-m", "iou,dice,hd95")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of three models, the last of which lacks a case."""
    folder = tmp_path_factory.mktemp("wide")
    make_folders(folder, 8, MODELS)
    models = [f"--model={name}={name}" for name in MODELS]
    done = panmatch("evaluate", "ref", *models, *ONE, "-o", "out", "--wide", cwd=folder)
    assert done.returncode == 0, done.stderr
    place = "For panoptica: out/wide/far.tsv and 2 more files there (without hd95)"
    assert place in done.stdout
    for name in MODELS:
        shutil.copy(folder / "out" / "wide" / f"{name}.tsv", folder / f"{name}.tsv")
    lines = (folder / "zeta.tsv").read_text().splitlines(keepends=True)
    (folder / "zeta.tsv").write_text("".join(lines[:-1]))
    return folder


def test_a_single_file_is_named(folder: Path) -> None:
    arguments = ("evaluate", "ref", "near", *ONE, "--wide", "--overwrite", "-o", "one")
    shown = in_terminal(80, *arguments, cwd=folder)
    assert shown.code == 0
    assert_pictured("evaluate-wide-80", shown.text)
    assert (folder / "one" / "wide.tsv").is_file()
    also = ("-o", "also", "--also", "wide.tsv", "--json")
    printed = panmatch("evaluate", "ref", "near", *ONE, *also, cwd=folder)
    files = json.loads(printed.stdout)["files"]
    assert files == {"tables": "also", "report": None, "wide": [str(Path("also", "wide.tsv"))]}
    assert (folder / "also" / "wide.tsv").read_bytes() == (folder / "one" / "wide.tsv").read_bytes()


@pytest.mark.parametrize("width", [80, 120])
def test_files_compare_on_one_screen(folder: Path, width: int) -> None:
    shown = in_terminal(width, "compare", *(f"{name}.tsv" for name in MODELS), cwd=folder)
    assert shown.code == 0, shown.errors
    assert max(map(len, shown.lines)) <= width
    assert_pictured(f"compare-files-{width}", shown.text)


def test_files_give_all_tables_and_json(folder: Path) -> None:
    files = [f"{name}.tsv" for name in MODELS]
    done = panmatch("compare", *files, "--score", "sq_dice", "-o", "t", "--json", cwd=folder)
    content = json.loads(done.stdout)
    assert content["models"] == list(MODELS)
    assert content["cases"] == 7
    assert content["left_out"] == {"near": [], "far": [], "zeta": ["case07"]}
    assert {row["measure"] for row in content["rankings"]} == {"sq_dsc"}
    assert (folder / "t" / "differences.csv").is_file()
    everything = panmatch("compare", *files, "--all", cwd=folder).stdout
    for title in ("PQ", "SQ", "PQ (dsc)", "prec", "fn"):
        assert f"Ranking by {title} (ungrouped" in everything


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("near.tsv", "out"), "OUT='near.tsv' is a file, but others are not: name either output "
         "folders of `panmatch evaluate` or TSV files, which `panmatch evaluate --wide` writes."),
        (("near.tsv", "far.tsv", "--score", "pq_dcs"),
         "--score 'pq_dcs' is not known; did you mean 'pq_dsc'?"),
        (("near.tsv", "none.tsv"), "path='none.tsv' does not exist."),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_one_line(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = panmatch("compare", *arguments, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"panmatch: {said}")
    assert done.stderr.count("\n") == 1
