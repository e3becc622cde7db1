"""The demo as a newcomer runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import panmatch as pm
from panmatch.cli.demo import STRATEGIES, THRESHOLDS, make_scene


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "panmatch", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo")
    done = run("demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder, done.stdout


def test_it_prints_every_score_and_area(demo: tuple[Path, str]) -> None:
    overlap = pm.count_overlaps(*make_scene(seed=7))
    lines = demo[1].splitlines()
    for strategy in STRATEGIES:
        curve = pm.curve(overlap, strategy)
        tallies = [curve.at(threshold) for threshold in THRESHOLDS]
        for name, scores, area in (
            ("PQ", [t.pq for t in tallies], f"AUTC    {curve.autc:.4f}"),
            ("SQ", [t.sq for t in tallies], f"AUTC_SQ {curve.autc_sq:.4f}"),
            ("RQ", [t.rq for t in tallies], f"AUTC_RQ {curve.autc_rq:.4f}"),
        ):
            row = f"{name} {' '.join(f'{score:.3f}' for score in scores)} {area}"
            assert any(row in line for line in lines), row


def test_it_prints_both_bounds_of_every_strategy(demo: tuple[Path, str]) -> None:
    assert demo[1].count("≤ 1 pred per ref") == 5
    assert demo[1].count("any preds per ref") == 3
    assert demo[1].count("≤ 1 ref per pred") == 6
    assert demo[1].count("any refs per pred") == 2


def test_no_line_is_wider_than_a_terminal(demo: tuple[Path, str]) -> None:
    assert max(len(line) for line in demo[1].splitlines()) <= 80
    assert "…" not in demo[1]


def test_the_figure_is_where_it_says(demo: tuple[Path, str]) -> None:
    from matplotlib.image import imread

    found = re.search(r"^Figure: (.+)$", demo[1], re.MULTILINE)
    assert found is not None
    picture = imread(demo[0] / found.group(1))
    assert picture.shape[0] > 800
    assert len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 100


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
    assert done.stderr.startswith("panmatch: --out 'taken' cannot be made")
    assert done.stderr.count("\n") == 1


def test_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"panmatch {pm.__version__}\n"
