"""What a run says while it works: phases, speed, and never 100 % before the end."""

from __future__ import annotations

import io
import json
import re
import time
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from panmatch.cli import _progress as progress
from panmatch.datasets import Case, Outcome, Phase, Stopwatch
from panmatch.evaluation import CaseResult
from tests.cli.terminals import in_terminal
from tests.commands import panmatch
from tests.datasets.folders import make_folders, paths_in, run

PHASES: tuple[Phase, ...] = ("search", "evaluation", "bootstrap", "tables", "report")


def outcome(name: str, status: str = "ok") -> Outcome:
    return Outcome(
        Case(name, "m", None, None), "", CaseResult(name, status=status, reason="x"), 0.25  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_terminal_sees_every_phase_in_turn(tmp_path: Path) -> None:
    make_folders(tmp_path, 3)
    shown = in_terminal(
        80, "evaluate", "ref", "model", "-o", "out", "--report", cwd=tmp_path, errors=True
    )
    assert shown.code == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.text)
    said = ["looking for files", "evaluating", "collecting results", "writing tables", "bootstrap"]
    said += ["writing the report", "3 cases: class object"]
    at = [plain.find(text) for text in said]
    assert -1 not in at
    assert at == sorted(at)


def test_the_bar_is_never_full_while_work_goes_on() -> None:
    with Progress(console=Console(file=io.StringIO()), auto_refresh=False) as shown:
        bar = progress.Bar(shown)
        bar.expect(3)
        for phase in PHASES:
            bar.enter(phase)
            for at in range(3 if phase == "evaluation" else 0):
                bar.finished(outcome(f"c{at}"))
                (task,) = shown.tasks
                assert task.total is None or task.completed < task.total
                assert (task.completed, task.total) == ((at + 1, 3) if at < 2 else (0, None))
            (task,) = shown.tasks
            assert not task.finished
            assert task.total is None
            assert task.description == (
                "collecting results" if phase == "evaluation" else progress.WORDS[phase]
            )


def test_the_rate_shows_cases_per_second_and_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    told = progress.Silent()
    told.expect(20)
    now[0] = 150.0  # looking for files is no part of it
    told.enter("evaluation")
    for at in range(5):
        told.finished(outcome(f"c{at}", "failed" if at == 3 else "ok"))
    now[0] = 152.0
    assert told.rate == "5 of 20 cases, 1 failed, 2.5 cases/s, about 6 s left"


def test_without_a_terminal_there_are_plain_lines_after_a_while(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress.show_progress() as told:
        told.enter("search")
        told.expect(4)
        told.enter("evaluation")
        for at in range(4):
            now[0] += 6.0
            told.finished(outcome(f"c{at}"))
        told.enter("bootstrap")
        now[0] += 11.0
        told.enter("tables")
    assert capsys.readouterr().err == (
        "panmatch: 2 of 4 cases, 0.167 cases/s, about 12 s left\n"
        "panmatch: bootstrap\n"
        "panmatch: writing tables\n"
    )


def test_the_log_has_phases_and_cases(tmp_path: Path) -> None:
    make_folders(tmp_path, 5)
    files = "evaluate", "ref", "model", "-o", "out", "--overwrite"
    info = panmatch(*files, "--log-level", "info", cwd=tmp_path).stderr
    for words in ("looking for files", "evaluating", "bootstrap", "writing tables"):
        assert re.search(rf"INFO {words}: \d+\.\d\d\d s\n", info)
    assert "case00" not in info.split("warning")[0]
    debug = panmatch(*files, "--log-level", "DEBUG", cwd=tmp_path).stderr
    assert len(re.findall(r"DEBUG case0\d \(model\): ok, \d+\.\d+ s\n", debug)) == 5
    assert panmatch(*files, cwd=tmp_path).stderr.startswith("panmatch: warning: ")
    assert panmatch(*files, "--log-level", "error", cwd=tmp_path).stderr == ""
    wrong = panmatch(*files, "--log-level", "loud", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "--log-level 'loud' is not known" in wrong.stderr


def test_seconds_of_every_phase_are_kept(tmp_path: Path) -> None:
    make_folders(tmp_path, 2)
    assert panmatch("evaluate", "ref", "model", "-o", "a", "--report", cwd=tmp_path).returncode == 0
    seconds = json.loads((tmp_path / "a" / "run.json").read_text())["seconds"]
    assert set(seconds) == {*PHASES, "all"}
    assert sum(seconds[phase] for phase in PHASES) <= seconds["all"] + 0.01
    assert min(seconds[phase] for phase in PHASES if phase != "search") > 0
    run(paths_in(tmp_path), tmp_path / "b")
    without = json.loads((tmp_path / "b" / "run.json").read_text())["seconds"]
    assert set(without) == {"evaluation", "bootstrap", "tables", "all"}


def test_a_phase_that_comes_twice_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 1.0, 3.0, 10.0, 14.0, 20.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    clock = Stopwatch()
    for _ in range(2):
        with clock.phase("bootstrap"):
            pass
    assert clock.seconds == {"bootstrap": 6.0, "all": 20.0}
