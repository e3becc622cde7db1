"""The answer on one screen: 24 lines and 80 columns, word for word, and the same for machines."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.terminals import assert_pictured, in_terminal
from tests.commands import panmatch
from tests.datasets.folders import SPACING, make_folders, save_nifti, scene

MODELS = ("near", "far", "nnunet_v2_fold0_checkpoint_final", "unet", "zeta")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screen")
    make_folders(folder, 8, MODELS)
    models = [f"--model={name}={name}" for name in MODELS]
    done = panmatch("evaluate", "ref", *models, "-m", "dice,hd95", "-o", "five", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def assert_fits(text: str, errors: str, width: int = 80) -> None:
    """24 lines hold what is printed, warnings included."""
    assert max(map(len, text.splitlines())) <= width
    warnings = sum(-(-len(line) // width) for line in errors.splitlines())
    assert len(text.splitlines()) + warnings <= 24


@pytest.mark.parametrize("width", [80, 120])
def test_one_model_on_a_terminal(folder: Path, width: int) -> None:
    shown = in_terminal(width, "evaluate", "ref", "near", "-o", "one", "--overwrite", cwd=folder)
    assert shown.code == 0
    assert_fits(shown.text, shown.errors, width)
    assert_pictured(f"evaluate-one-model-{width}", shown.text)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", ["show", "compare"])
def test_five_models_on_a_terminal(folder: Path, width: int, command: str) -> None:
    shown = in_terminal(width, command, "five", cwd=folder)
    assert_fits(shown.text, shown.errors, width)
    assert_pictured(f"{command}-five-models-{width}", shown.text)


def test_few_classes_have_a_row_each_and_many_leave_it_to_the_headline(folder: Path) -> None:
    classes = ["--class", "big=1,2", "--class", "small=3-5"]
    few = in_terminal(80, "evaluate", "ref", "near", *classes, "-o", "few", "--overwrite",
                      "--report", cwd=folder)  # fmt: skip
    assert few.code == 0, few.errors
    assert_fits(few.text, few.errors)
    assert_pictured("evaluate-classes-80", few.text)
    models = [f"--model={name}={name}" for name in MODELS]
    many = in_terminal(80, "evaluate", "ref", *models, *classes, "-o", "many", "--overwrite",
                       cwd=folder)  # fmt: skip
    assert_fits(many.text, many.errors)
    assert_pictured("evaluate-classes-five-models-80", many.text)


def test_numbers_on_the_screen_are_those_of_the_tables(folder: Path) -> None:
    shown = panmatch("show", "five", cwd=folder).stdout
    summary = pd.read_csv(folder / "five" / "summary.csv")
    first = summary[(summary.strategy == "one-to-one") & (summary.averaging == "pooled")]
    scores = pd.read_csv(folder / "five" / "scores.csv")
    rows = {line.split()[0]: line.split() for line in shown.splitlines()[4:9]}
    for model in ("far", "near", "unet"):
        mine = first[first.model == model].set_index(["measure", "threshold"]).value
        some = scores[(scores.model == model) & (scores.strategy == "one-to-one")]
        sums = some[some.threshold == 0.1][["tp", "fp", "fn"]].sum()
        expected = [f"{mine['pq', t]:.3f}" for t in (0.1, 0.25, 0.5)]
        expected += [str(sums[name]) for name in ("tp", "fp", "fn")]
        expected += [f"{mine[name, 0.1]:.3f}" for name in ("sq_dice", "sq_hd95")]
        assert rows[model][1:] == expected
    assert "SQ (hd95) mm" in shown


def test_all_shows_what_is_not_on_the_screen(folder: Path) -> None:
    short = panmatch("show", "five", cwd=folder).stdout
    everything = panmatch("show", "--all", "five", cwd=folder).stdout
    assert "many-to-one" not in short
    for text in ("many-to-one (merge, seed)", "mean PQ of cases", "near τ", "Model zeta"):
        assert text in everything
    compared = panmatch("compare", "--all", "five", cwd=folder).stdout
    for text in ("Paired differences of PQ", "Rank stability", "over all thresholds, exactly"):
        assert text in compared


def test_json_is_one_document_and_nothing_else(folder: Path) -> None:
    done = panmatch("evaluate", "ref", "near", "-o", "json", "--overwrite", "--json", cwd=folder)
    content = json.loads(done.stdout)
    assert content["format"] == "panmatch-evaluation-1"
    assert (content["cases"], content["models"], content["failed"]) == (8, ["near"], [])
    assert content["headline"]["strategy"] == "one-to-one"
    assert content["headline"]["threshold"] == 0.1
    assert content["mistakes"]["near"]["missed"] == 12
    losses = content["losses"]["near"]
    assert list(losses)[:2] == ["outline", "missed"]
    pooled = next(row for row in content["scores"] if row["averaging"] == "pooled")
    assert (pooled["measure"], pooled["threshold"]) == ("pq", 0.1)
    assert sum(losses.values()) == pytest.approx(1 - pooled["value"])
    assert content["files"] == {"tables": "json", "report": None}
    assert [one["kind"] for one in content["warnings"]] == ["few-cases"]
    summary = pd.read_csv(folder / "json" / "summary.csv")
    assert [row["value"] for row in content["scores"]] == pytest.approx(summary.value.to_list())
    assert content["scores"][0]["unit"] in ("", None)
    assert content["verdict"].startswith(f"PQ is {content['scores'][0]['value']:.3f}")
    again = json.loads(panmatch("show", "json", "--json", cwd=folder).stdout)
    assert again == content
    compared = json.loads(panmatch("compare", "five", "--json", cwd=folder).stdout)
    assert compared["format"] == "panmatch-comparison-1"
    assert compared["rankings"][0]["model"] == "near"
    assert compared["rankings"][0]["rank"] == 1
    assert len(compared["differences"]) == len(compared["rankings"]) / 5 * 10
    assert compared["verdict"].startswith("near has the highest mean PQ of cases")


def test_quiet_prints_warnings_and_errors_only(folder: Path) -> None:
    done = panmatch("evaluate", "ref", "near", "-o", "quiet", "--quiet", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("panmatch: warning: ")
    assert done.stderr.count("\n") == 1
    shown = in_terminal(80, "evaluate", "ref", "near", "-o", "quiet", "-q", "--overwrite",
                        cwd=folder, errors=True)  # fmt: skip
    assert shown.text == done.stderr
    compared = panmatch("compare", "five", "-q", "-o", "tables", cwd=folder)
    assert compared.stdout == ""
    assert (folder / "tables" / "rankings.csv").exists()
    both = panmatch("show", "five", "--all", "--json", cwd=folder)
    assert both.returncode == 2
    assert both.stderr == "panmatch: --all and --json are both given: pass only one of them.\n"


def test_the_first_failure_is_told_in_full(tmp_path: Path) -> None:
    make_folders(tmp_path, 3)
    for name in ("case00", "case01"):
        (tmp_path / "model" / f"{name}.nii.gz").write_bytes(b"")
    done = panmatch("evaluate", "ref", "model", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert_fits(done.stdout, done.stderr)
    assert "Failed: case00 (model): " in done.stdout
    assert "  … and 1 more: see scores.csv" in done.stdout
    assert "2 of 3 cases failed; out/scores.csv says why." in done.stderr
    for path in (tmp_path / "model").iterdir():
        path.write_bytes(b"")
    nothing = panmatch("evaluate", "ref", "model", "-o", "none", cwd=tmp_path)
    assert nothing.returncode == 1
    assert nothing.stdout.startswith("3 cases, 3 failed")
    assert json.loads(panmatch("show", "none", "--json", cwd=tmp_path).stdout)["scores"] == []


def test_columns_that_do_not_fit_are_counted(folder: Path) -> None:
    done = panmatch("evaluate", "ref", "near", "-t", "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9",
                    "-o", "wide", cwd=folder)  # fmt: skip
    assert_fits(done.stdout, done.stderr)
    note = re.search(r"\((\d) more columns in a wider terminal, or in summary.csv\)", done.stdout)
    assert note is not None
    heads = done.stdout.splitlines()[3].split()
    assert {"TP", "FP", "FN", "0.1"} <= set(heads)
    wide = in_terminal(120, "show", "wide", cwd=folder)
    assert "wider terminal" not in wide.text
    assert len(wide.lines[3].replace("SQ (dice)", "SQdice").split()) == int(note[1]) + len(
        " ".join(heads).replace("SQ (dice)", "SQdice").split()
    )


def test_a_single_empty_case_has_no_number_and_says_why(tmp_path: Path) -> None:
    empty = np.zeros_like(scene(0))
    for side in ("ref", "pred"):
        save_nifti(tmp_path / f"{side}.nii.gz", empty, SPACING)
    done = panmatch("evaluate", "ref.nii.gz", "pred.nii.gz", cwd=tmp_path)
    assert "PQ is undefined: neither side has an object (object)." in done.stdout
