"""Whole runs: the same numbers however they are made, and nothing done twice or lost."""

from __future__ import annotations

import csv
import errno
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch.datasets import Job, Outcome, _store, load_run
from panmatch.datasets._store import CaseStore
from panmatch.errors import FileError
from panmatch.formats import read_labels
from panmatch.spec import as_spec
from tests.datasets.folders import (
    JOB,
    SPACING,
    TABLES,
    make_folders,
    paths_in,
    run,
    save_nifti,
    tables,
)
from tests.platforms import needs_posix

N = 6


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder of cases, and the output of a run over them."""
    folder = tmp_path_factory.mktemp("data")
    run(make_folders(folder, N), folder / "out")
    return folder, folder / "out"


def test_tables_hold_what_evaluate_gives_for_every_case(finished: tuple[Path, Path]) -> None:
    folder, out = finished
    evaluator = pm.Evaluator(as_spec(json.loads(JOB.spec)))
    for at in range(N):
        sides = [
            read_labels(folder / side / f"case{at:02}.nii.gz").labels for side in ("ref", "model")
        ]
        evaluator.update(
            reference=sides[0], prediction=sides[1], case=f"case{at:02}", model="model",
            spacing=SPACING,
        )  # fmt: skip
    expected = evaluator.compute()
    for name in ("scores", "instances", "curves", "diagnosis"):
        found = pd.read_parquet(out / f"{name}.parquet")
        pd.testing.assert_frame_equal(found, getattr(expected, name), check_dtype=False)
        text = pd.read_csv(out / f"{name}.csv", keep_default_na=False)
        assert len(text) == len(found) > 0
    scores = pd.read_csv(out / "scores.csv")
    wanted = ["case", "class", "strategy", "threshold", "tp", "fp", "fn", "pq", "sq", "rq"]
    assert set(wanted) <= set(scores.columns)


def test_the_summary_has_pooled_scores_and_means_of_cases_with_intervals(
    finished: tuple[Path, Path],
) -> None:
    _, out = finished
    scores, summary = pd.read_parquet(out / "scores.parquet"), pd.read_csv(out / "summary.csv")
    one = scores[(scores.strategy == "one-to-one") & (scores.threshold == 0.5)]
    rows = summary[
        (summary.strategy == "one-to-one") & (summary.threshold == 0.5) & (summary.measure == "pq")
    ].set_index("averaging")
    pooled = one.quality.sum() / (one.tp.sum() + (one.fp.sum() + one.fn.sum()) / 2)
    assert rows.value["pooled"] == pytest.approx(pooled, abs=1e-12)
    assert rows.value["mean of cases"] == pytest.approx(one.pq.mean(), abs=1e-12)
    assert (rows.cases == N).all()
    assert (rows.low < rows.value).all()
    assert (rows.value < rows.high).all()
    areas = summary[(summary.measure == "autc") & (summary.strategy == "one-to-one")]
    assert list(areas.averaging) == ["pooled", "mean of cases"]
    assert areas.threshold.isna().all()


def test_run_json_says_how_it_was_made(finished: tuple[Path, Path]) -> None:
    _, out = finished
    facts = json.loads((out / "run.json").read_text())
    assert facts["format"] == "panmatch-run-3"
    assert (facts["status"], facts["cases"], facts["evaluated_now"]) == ("finished", N, N)
    assert facts["spec"] == json.loads(JOB.spec)
    assert facts["versions"]["panmatch"] == pm.__version__
    assert [one["case"] for one in facts["results"]] == [f"case{at:02}" for at in range(N)]
    assert len({one["key"] for one in facts["results"]}) == N
    assert facts["seconds"]["all"] >= facts["seconds"]["evaluation"] > 0


def test_several_workers_write_the_same_bytes(finished: tuple[Path, Path], tmp_path: Path) -> None:
    folder, out = finished
    run(paths_in(folder), tmp_path / "two", workers=2)
    assert tables(tmp_path / "two") == tables(out)


def test_a_run_that_was_cut_off_at_any_byte_resumes_to_the_same_bytes(
    finished: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, out = finished
    whole = (out / "cases.jsonl").read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for at, cut in enumerate([0, ends[0], ends[0] + 100, ends[2] - 1, ends[-1] - 1, ends[-1]]):
        target = tmp_path / str(at)
        target.mkdir()
        (target / "cases.jsonl").write_bytes(whole[:cut])
        seen: list[Outcome] = []
        run(paths_in(folder), target, resume=True, seen=seen)
        assert tables(target) == tables(out)
        again = sum(outcome.result is not None for outcome in seen)
        assert again == N - sum(end <= cut for end in ends)


def test_a_killed_process_loses_no_finished_case(
    finished: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, out = finished
    spec = tmp_path / "spec.yaml"
    spec.write_text(JOB.spec)
    arguments = [
        str(folder / "ref"),
        str(folder / "model"),
        "--spec",
        str(spec),
        "-o",
        str(tmp_path / "o"),
    ]
    command = [sys.executable, "-m", "panmatch", "evaluate", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = tmp_path / "o" / "cases.jsonl"
    while process.poll() is None and not (lines.exists() and lines.read_bytes().count(b"\n") >= 1):
        pass
    process.kill()
    process.wait()
    kept = lines.read_bytes().count(b"\n")
    assert kept >= 1
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=True)
    assert f"{N} cases" in done.stdout
    assert tables(tmp_path / "o") == tables(out)


def test_only_what_changed_is_evaluated_again(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 3)
    out, seen = tmp_path / "out", list[Outcome]()
    run(paths, out)
    changed = tmp_path / "model" / "case01.nii.gz"
    labels = read_labels(changed).labels
    save_nifti(changed, np.where(labels == 1, 0, labels), SPACING)
    result = run(paths, out, resume=True, seen=seen)
    assert [o.case.name for o in seen if o.result is not None] == ["case01"]
    os.utime(tmp_path / "ref" / "case00.nii.gz")  # written again, perhaps with other voxels
    seen.clear()
    run(paths, out, resume=True, seen=seen)
    assert [o.case.name for o in seen if o.result is not None] == ["case00"]
    shutil.copytree(tmp_path / "ref", tmp_path / "copy")  # with the times of its files
    seen.clear()
    run(replace(paths, reference=tmp_path / "copy"), out, resume=True, seen=seen)
    assert [o.case.name for o in seen if o.result is not None] == []
    fresh = run(paths, tmp_path / "fresh")
    assert result.to_json() == fresh.to_json()
    assert tables(out) == tables(tmp_path / "fresh")


def test_another_spec_evaluates_all_again_and_a_lost_case_leaves_the_tables(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 3)
    out, seen = tmp_path / "out", list[Outcome]()
    run(paths, out)
    (tmp_path / "ref" / "case02.nii.gz").unlink()
    (tmp_path / "model" / "case02.nii.gz").unlink()
    other = Job(as_spec({"thresholds": [0.2]}).canonical())
    result = run(paths, out, job=other, resume=True, seen=seen)
    assert all(o.result is not None for o in seen)
    assert [one.case for one in result.cases] == ["case00", "case01"]
    assert set(pd.read_csv(out / "scores.csv").threshold) == {0.2}
    assert load_run(out).to_json() == result.to_json()


def test_a_folder_with_results_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 1)
    run(paths, tmp_path / "out")
    before = tables(tmp_path / "out")
    with pytest.raises(FileError, match=r"already contains results: pass --resume .* --overwrite"):
        run(paths, tmp_path / "out")
    seen = list[Outcome]()
    run(paths, tmp_path / "out", overwrite=True, seen=seen)
    assert [o.result is not None for o in seen] == [True]
    assert tables(tmp_path / "out") == before


def test_a_run_whose_cases_all_failed_may_simply_be_run_again(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 2)
    good = {path: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    for path in good:
        path.write_bytes(b"no gzip")
    assert len(run(paths, tmp_path / "out").failures) == 2
    for path, content in good.items():
        path.write_bytes(content)
    seen = list[Outcome]()
    assert not run(paths, tmp_path / "out", seen=seen).failures
    assert len((tmp_path / "out" / "cases.jsonl").read_bytes().splitlines()) == 2
    run(paths, tmp_path / "fresh")
    assert tables(tmp_path / "out") == tables(tmp_path / "fresh")


def test_a_single_result_of_another_job_is_protected_too(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 2)
    (tmp_path / "model" / "case00.nii.gz").write_bytes(b"no gzip")
    run(paths, tmp_path / "out", job=Job(as_spec({"thresholds": [0.2]}).canonical()))
    before = (tmp_path / "out" / "cases.jsonl").read_bytes()
    (tmp_path / "model" / "case01.nii.gz").write_bytes(b"no gzip")
    with pytest.raises(FileError, match="already contains results"):
        run(paths, tmp_path / "out")
    assert (tmp_path / "out" / "cases.jsonl").read_bytes() == before


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 1)
    holder = CaseStore(tmp_path / "out", "")
    holder.open()
    try:
        with pytest.raises(FileError, match="another run is writing to"):
            run(paths, tmp_path / "out", resume=True)
    finally:
        holder.close()


@needs_posix
def test_two_runs_go_on_where_the_disk_has_no_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    assert not run(make_folders(tmp_path, 1), tmp_path / "out").failures


DAMAGE: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int]] = {
    "nothing": (lambda lines: lines, 0),
    "a digit": (lambda lines: [lines[0].replace(b'"fn":', b'"fn":1', 1), *lines[1:]], 1),
    "cut in the middle": (lambda lines: [lines[0][:90] + b"\n", *lines[1:]], 1),
    "cut at the end": (lambda lines: [*lines[:-1], lines[-1][:-30]], 1),
    "two in one line": (lambda lines: [lines[0].strip(), *lines[1:]], 2),
    "zeros": (lambda lines: [bytes(500) + b"\n", *lines[1:]], 1),
    "other bytes": (lambda lines: [b"\xff\xfe\x80\n", *lines], 0),
    "other JSON": (lambda lines: [b"[1, 2]\n", b"{}\n", b"null\n", *lines], 0),
    "deep brackets": (lambda lines: [b"[" * 100_000 + b"\n", *lines], 0),
    "empty lines": (lambda lines: [b"\n", *lines, b"\n"], 0),
    "twice": (lambda lines: [*lines, *lines], 0),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_lines_that_are_not_as_they_were_written_are_evaluated_again(
    finished: tuple[Path, Path], tmp_path: Path, kind: str
) -> None:
    data, out = finished
    lines = (out / "cases.jsonl").read_bytes().splitlines(keepends=True)
    change, n_again = DAMAGE[kind]
    damaged = change(lines)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "cases.jsonl").write_bytes(b"".join(damaged))
    seen = list[Outcome]()
    run(paths_in(data), tmp_path / "out", resume=True, seen=seen)
    assert sum(outcome.result is not None for outcome in seen) == n_again
    assert tables(tmp_path / "out") == tables(out)
    told = [one["kind"] for one in json.loads((tmp_path / "out/run.json").read_text())["warnings"]]
    # What was cut at the end is how a killed process leaves it, which is nothing to tell of.
    assert ("damaged-results" in told) == (kind not in ("nothing", "cut at the end", "twice"))


@pytest.mark.parametrize("deed", ["removed", "renamed"])
def test_an_output_folder_that_is_gone_is_made_again_with_all_that_was_finished(
    tmp_path: Path, deed: str
) -> None:
    paths, out, seen = make_folders(tmp_path, 4), tmp_path / "out", list[Outcome]()

    class Vandal(list[Outcome]):
        def append(self, outcome: Outcome) -> None:
            super().append(outcome)
            if len(self) in (2, 4):  # the last time, only tables are left to write
                shutil.rmtree(out) if deed == "removed" else out.rename(tmp_path / f"{len(self)}")

    seen = Vandal()
    run(paths, out, seen=seen)
    run(paths, tmp_path / "quiet")
    assert tables(out) == tables(tmp_path / "quiet")
    assert [case.case for case in load_run(out).cases] == [f"case{at:02}" for at in range(4)]
    again = list[Outcome]()
    run(paths, out, resume=True, seen=again)
    assert all(outcome.result is None for outcome in again)


def test_a_run_forgets_results_that_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_store, "MOST_RECENT", 0)
    paths, alive = make_folders(tmp_path, 5), list[weakref.ref[Any]]()

    class Watcher(list[Outcome]):
        def append(self, outcome: Outcome) -> None:
            if outcome.result is not None:
                alive.append(weakref.ref(outcome.result.entries[0].levels[0].quality))
            gc.collect()
            held.append(sum(one() is not None for one in alive))

    held = list[int]()
    result = run(paths, tmp_path / "out", seen=Watcher())
    assert len(result.cases) == len(held) == 5
    assert max(held) <= 2  # the latest one, and the one before while it is being replaced


def test_a_line_that_is_changed_during_the_run_is_an_error_and_resume_fixes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_store, "MOST_RECENT", 0)  # of a small run all is in memory
    paths, out = make_folders(tmp_path, 4), tmp_path / "out"

    class Vandal(list[Outcome]):
        def append(self, outcome: Outcome) -> None:
            super().append(outcome)
            if len(self) == 3:
                content = bytearray((out / "cases.jsonl").read_bytes())
                content[content.index(b"tally") + 10] ^= 1
                with (out / "cases.jsonl").open("r+b") as stream:
                    stream.write(content)

    with pytest.raises(FileError, match="was changed by another program"):
        run(paths, out, seen=Vandal())
    seen = list[Outcome]()
    run(paths, out, resume=True, seen=seen)
    assert [outcome.result is None for outcome in seen].count(False) == 1
    run(paths, tmp_path / "quiet")
    assert tables(out) == tables(tmp_path / "quiet")


def test_no_cell_of_a_table_is_a_formula(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 1, models=("=1+1", "@sum", "-x", "+y", "plain"))
    run(paths, tmp_path / "out")
    for name in ("scores", "summary"):
        text = (tmp_path / "out" / f"{name}.csv").read_text()
        rows = list(csv.DictReader(text.splitlines()))
        assert {row["model"] for row in rows} == {"'=1+1", "'@sum", "'-x", "'+y", "plain"}
        stored = pd.read_parquet(tmp_path / "out" / f"{name}.parquet")
        assert set(stored["model"]) == {"=1+1", "@sum", "-x", "+y", "plain"}


def test_a_failed_case_is_tried_again_on_resume(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 2)
    broken = tmp_path / "model" / "case00.nii.gz"
    good = broken.read_bytes()
    broken.write_bytes(good[:200])
    first = run(paths, tmp_path / "out")
    assert [one.case for one in first.failures] == ["case00"]
    broken.write_bytes(good)
    second = run(paths, tmp_path / "out", resume=True)
    assert not second.failures
    run(paths, tmp_path / "fresh")
    assert tables(tmp_path / "out") == tables(tmp_path / "fresh")


@needs_posix
def test_a_full_disk_keeps_what_was_finished(tmp_path: Path) -> None:
    """A limit on the size of files stands for the end of the disk."""
    import resource

    paths = make_folders(tmp_path, 4)
    run(paths, tmp_path / "whole")
    lines = (tmp_path / "whole" / "cases.jsonl").read_bytes().splitlines(keepends=True)
    limit = len(lines[0]) + len(lines[1]) + len(lines[2]) // 2
    code = (
        "import sys; from pathlib import Path; from tests.datasets.folders import *\n"
        "folder = Path(sys.argv[1])\n"
        "run(DatasetPaths(folder / 'ref', {'model': folder / 'model'}), folder / 'full')\n"
    )

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True, text=True, preexec_fn=limited, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode != 0
    assert "cannot be written: File too large" in done.stderr
    assert "--resume" in done.stderr
    kept = (tmp_path / "full" / "cases.jsonl").read_bytes()
    assert kept.count(b"\n") == 2
    assert kept.endswith(b"\n")
    seen = list[Outcome]()
    run(paths, tmp_path / "full", resume=True, seen=seen)
    assert sum(o.result is None for o in seen) == 2
    assert tables(tmp_path / "full") == tables(tmp_path / "whole")


def test_an_output_that_cannot_be_made_is_an_error_before_anything_is_evaluated(
    tmp_path: Path,
) -> None:
    paths = make_folders(tmp_path, 1)
    (tmp_path / "file").touch()
    seen = list[Outcome]()
    with pytest.raises(FileError, match=r"OUT='.*file/out' cannot be written.*another folder"):
        run(paths, tmp_path / "file" / "out", seen=seen)
    assert seen == []


def test_an_interruption_writes_the_tables_of_what_is_finished(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 4)
    seen = list[Outcome]()

    class Interrupting(list[Outcome]):
        def append(self, outcome: Outcome) -> None:
            super().append(outcome)
            if len(self) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(paths, tmp_path / "out", seen=Interrupting())
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == "interrupted"
    done = set(pd.read_csv(tmp_path / "out" / "scores.csv").case)
    assert {"case00", "case01"} <= done
    run(paths, tmp_path / "out", resume=True, seen=seen)
    assert sum(o.result is None for o in seen) == len(done)
    run(paths, tmp_path / "fresh")
    assert tables(tmp_path / "out") == tables(tmp_path / "fresh")


def test_all_tables_are_there_even_if_every_case_failed(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 1)
    (tmp_path / "model" / "case00.nii.gz").write_bytes(b"no gzip")
    result = run(paths, tmp_path / "out")
    assert len(result.failures) == 1
    for name in TABLES:
        assert (tmp_path / "out" / f"{name}.csv").exists()
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert list(scores.status) == ["failed"]
    assert "case00.nii.gz" in scores.reason[0]


@pytest.mark.parametrize("options", [{}, {"workers": 2}])
def test_the_pooled_score_of_a_run_is_that_of_the_sum_of_its_tallies_to_the_bit(
    finished: tuple[Path, Path], tmp_path: Path, options: Any
) -> None:
    folder, _ = finished
    result = run(paths_in(folder), tmp_path / "out", **options)
    expected: dict[tuple[str, float], pm.Tally] = {}
    curves: dict[str, pm.Curve] = {}
    for i in reversed(range(N)):  # in another order
        reference, prediction = (
            read_labels(folder / side / f"case{i:02}.nii.gz").labels for side in ("ref", "model")
        )
        overlap = pm.count_overlaps(reference, prediction)
        for matcher in result.spec.matching:
            curve = pm.curve(overlap, matcher.strategy)
            before = curves.get(matcher.name)
            curves[matcher.name] = curve if before is None else curve + before
            for threshold in result.spec.thresholds:
                tally = pm.match(overlap, matcher.strategy, threshold).tally
                key = matcher.name, threshold
                expected[key] = tally + expected.get(key, pm.Tally(0, 0, 0, 0.0))
    assert len(expected) == len(result.spec.matching) * len(result.spec.thresholds)
    for series in load_run(tmp_path / "out").series:
        name = series.setting.matcher.name
        for threshold, counts in series.counts.items():
            tally = counts.sum().tallies.tally()
            assert (tally.units, tally) == (
                expected[name, threshold].units,
                expected[name, threshold],
            )
        assert series.pooled_curve is not None
        assert np.array_equal(series.pooled_curve.tallies.counts, curves[name].tallies.counts)
    for average in result.average_scores:
        if (average.score.name, average.averaging) == ("pq", "pooled"):
            assert average.threshold is not None
            assert average.value == expected[average.setting.strategy, average.threshold].pq
