"""The demo as a newcomer runs it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch.cli._demo import make_scene
from tests.commands import STRICT_PYTHON


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [*STRICT_PYTHON, "-m", "panmatch", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo")
    done = run("demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    # On a busy machine progress is told every ten seconds; nothing else may be.
    assert all(line.startswith("panmatch: ") for line in done.stderr.splitlines()), done.stderr
    assert "warning" not in done.stderr
    return folder, done.stdout


def test_it_ranks_three_models_whose_order_depends_on_the_strategy(demo: tuple[Path, str]) -> None:
    scores = pd.read_csv(demo[0] / "panmatch-demo" / "results" / "scores.csv")
    some = scores[(scores["class"] == "metastasis") & (scores.threshold == 0.1)]
    for strategy in ("one-to-one", "many-to-one"):
        means = some[some.strategy == strategy].groupby("model").pq.mean()
        order = " > ".join(
            f"{model} {value:.3f}" for model, value in means.sort_values(ascending=False).items()
        )
        assert order in demo[1]
        assert (order.split()[0] == "splits") == (strategy == "many-to-one")
    assert "12 settings give 2 rankings" in demo[1]


def test_the_folders_it_leaves_can_be_evaluated_as_it_says(demo: tuple[Path, str]) -> None:
    command = demo[1].split("adapt these commands:")[1].replace("\\\n", " ").strip().splitlines()
    done = run(*command[0].split()[1:], cwd=demo[0])
    assert done.returncode == 0, done.stderr
    results = demo[0] / "panmatch-demo" / "results"
    mine = demo[0] / "mine"
    assert (mine / "scores.csv").read_bytes() == (results / "scores.csv").read_bytes()
    assert (mine / "report.html").stat().st_size > 1_000_000
    compared = run(*command[1].split()[1:], cwd=demo[0])
    assert "12 settings of the spec give 2 rankings." in compared.stdout


def test_comparing_and_the_report_answer_for_the_class_that_is_printed(
    demo: tuple[Path, str],
) -> None:
    results = demo[0] / "panmatch-demo" / "results"
    compared = run("compare", "--all", str(results), cwd=demo[0]).stdout
    assert "mean of classes" not in compared.split("Ranking by pooled PQ over all")[0]
    printed = re.findall(r"(\w+) (0\.\d{3})", demo[1].split("Rank stability")[0])
    assert len(printed) == 3 * 24
    ranked = compared.split("Ranking by pooled PQ over all")[0]
    for model, value in printed:
        assert f"{model} {value} [" in ranked
    answer = re.search(r'class="answer">([^<]*)', (results / "report.html").read_text())
    assert answer is not None
    assert answer[1].startswith(f"{printed[0][0]} has the highest mean PQ of cases")
    assert "metastasis" in answer[1]


def test_no_line_is_wider_than_a_terminal(demo: tuple[Path, str]) -> None:
    assert max(len(line) for line in demo[1].splitlines()) <= 80
    assert "…" not in demo[1]


def test_the_figure_is_where_it_says(demo: tuple[Path, str]) -> None:
    from matplotlib.image import imread

    found = re.search(r"^Figure: (.+)$", demo[1], re.MULTILINE)
    assert found is not None
    picture = imread(demo[0] / found.group(1))
    assert picture.shape[0] > 800
    assert len(np.unique(picture[..., :3] @ np.array([1.0, 256.0, 65536.0]))) > 100


def test_the_report_is_where_it_says(demo: tuple[Path, str]) -> None:
    found = re.search(r"^Report: (.+)$", demo[1], re.MULTILINE)
    assert found is not None
    assert "<title>results · panmatch report</title>" in (demo[0] / found.group(1)).read_text()


def test_strategies_disagree_on_the_scene_for_any_seed() -> None:
    for seed in range(8):
        overlap = pm.count_overlaps(*make_scene(seed))
        areas = {
            s.name: pm.curve(overlap, s).autc
            for s in (pm.OneToOne(), pm.ManyToOne(), pm.OneToMany())
        }
        assert areas["one-to-one"] < areas["one-to-many"] < areas["many-to-one"]


def test_an_unusable_folder_is_one_line_and_exit_code_two(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    done = run("demo", "--out", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("panmatch: --out 'taken' cannot be created")
    assert done.stderr.count("\n") == 1


def test_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"panmatch {pm.__version__}\n"
