"""Runs that leave their findings on disk: block by block the same tables, series and errors."""

from __future__ import annotations

import pickle
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from panmatch.datasets import Job, _run, _store, _table_files, load_run
from panmatch.datasets._scheduling import call_each
from panmatch.datasets._table_files import csv_text
from panmatch.datasets._worker_pool import WorkerPool
from panmatch.errors import FileError
from panmatch.evaluation import CaseSeries, Each, Result, TableName, _result, _series
from panmatch.evaluation._case_counts import weighted_sums
from panmatch.spec import as_spec
from tests.datasets.folders import TABLES, make_folders, paths_in, run, tables

SPEC = as_spec(
    {
        "classes": {"cell": {"labels": "1-9"}, "debris": {"labels": "10-19"}},
        "matching": ["one-to-one", "many-to-one"],
        "thresholds": [0.1, 0.5],
        "metrics": ["dice", "hd"],
        "whole": ["dice"],
        "related": ["aji"],
    }
)
JOB = Job(SPEC.canonical())


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_series, "BLOCK", 2)
    monkeypatch.setattr(_result, "BLOCK", 2)
    monkeypatch.setattr(_store, "MOST_RECENT", 0)


def odd_folders(folder: Path) -> None:
    """Write a broken case first, then cases of two and three axes; debris only in the last."""
    for at in range(7):
        shape = (9, 10) if at < 3 else (4, 9, 10)
        generator = np.random.default_rng(at)
        reference = generator.integers(0, 4, shape).astype(np.uint8)
        prediction = np.roll(reference, 1, axis=-1)
        if at == 6:
            reference[..., :2], prediction[..., :3] = 11, 12
        for side, image in (("ref", reference), ("model", prediction)):
            (folder / side).mkdir(parents=True, exist_ok=True)
            np.save(folder / side / f"case{at:02}.npy", image)
    (folder / "model" / "case00.npy").write_bytes(b"nothing")
    np.save(folder / "model" / "case01.npy", np.zeros((2, 2), np.uint8))


def run_odd(folder: Path, name: str) -> Result:
    return run(paths_in(folder), folder / name, job=JOB)


def test_tables_are_the_same_in_small_blocks(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    odd_folders(tmp_path)
    run_odd(tmp_path, "whole")
    request.getfixturevalue("small_blocks")
    found = run_odd(tmp_path, "blocks")
    assert [case.status for case in found.cases][:3] == ["failed", "failed", "ok"]
    for name in TABLES:
        whole, blocks = (pd.read_csv(tmp_path / out / f"{name}.csv", dtype=str) for out in
                         ("whole", "blocks"))  # fmt: skip
        pd.testing.assert_frame_equal(whole, blocks[whole.columns], obj=name)
        assert len(blocks.columns) == len(whole.columns)
        stored = [pd.read_parquet(tmp_path / out / f"{name}.parquet") for out in
                  ("whole", "blocks")]  # fmt: skip
        pd.testing.assert_frame_equal(stored[0], stored[1][whole.columns], obj=name)


def test_a_pool_writes_the_bytes_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("small_blocks")
    monkeypatch.setattr(_run, "MANY_CASES", 2)
    monkeypatch.setattr(_table_files, "MANY_ROWS", 7)  # so blocks are joined, but not all of them
    odd_folders(tmp_path)
    shutil.copytree(tmp_path / "model", tmp_path / "other")
    paths = paths_in(tmp_path, ("model", "other"))
    run(paths, tmp_path / "one", job=JOB)
    pools: list[WorkerPool] = []

    def watched(pool: WorkerPool) -> AbstractContextManager[Each]:
        pools.append(pool)
        return call_each(pool)

    monkeypatch.setattr(_run, "call_each", watched)
    run(paths, tmp_path / "two", job=JOB, workers=2)
    assert len(pools) == 1
    assert tables(tmp_path / "two") == tables(tmp_path / "one")
    run(paths, tmp_path / "two", job=JOB, workers=2, resume=True)
    assert tables(tmp_path / "two") == tables(tmp_path / "one")


@pytest.mark.usefixtures("small_blocks")
def test_tables_on_disk_are_those_of_the_result(tmp_path: Path) -> None:
    run(make_folders(tmp_path, 5, ("a", "b")), tmp_path / "out")
    result = load_run(tmp_path / "out")
    for name in TABLES[:-1]:
        text = (tmp_path / "out" / f"{name}.csv").read_text(encoding="utf-8")
        assert text == csv_text(result.plain(cast(TableName, name)), head=True), name
        assert text == getattr(result, name).to_csv(index=False), name


def test_a_series_in_blocks_is_the_series_of_all_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd_folders(tmp_path)
    whole = run_odd(tmp_path, "out")
    monkeypatch.setattr(_series, "BLOCK", 2)
    blocks = load_run(tmp_path / "out")
    assert len(whole.series) == len(blocks.series) == 4
    for one, other in zip(whole.series, blocks.series, strict=True):
        assert (one.model, one.setting, one.cases) == (other.model, other.setting, other.cases)
        _assert_same_series(one, other)
    for mask, same in zip(whole.class_series, blocks.class_series, strict=True):
        np.testing.assert_array_equal(mask.there, same.there)
        np.testing.assert_array_equal(mask.all_counts.counts, same.all_counts.counts)
        np.testing.assert_array_equal(mask.all_counts.voxels, same.all_counts.voxels)


def _assert_same_series(one: CaseSeries, other: CaseSeries) -> None:
    np.testing.assert_array_equal(one.there, other.there)
    np.testing.assert_array_equal(one.mistakes, other.mistakes)
    np.testing.assert_array_equal(one.areas, other.areas)
    assert one.pooled_curve is not None
    assert other.pooled_curve is not None
    np.testing.assert_array_equal(one.pooled_curve.thresholds, other.pooled_curve.thresholds)
    np.testing.assert_array_equal(
        one.pooled_curve.tallies.counts, other.pooled_curve.tallies.counts
    )
    for threshold, level in one.levels.items():
        same = other.levels[threshold]
        np.testing.assert_array_equal(level.counts.counts, same.counts.counts)
        np.testing.assert_array_equal(level.budget.counts, same.budget.counts)
        np.testing.assert_array_equal(level.gaps, same.gaps)
        for name, spread in level.deviations.items():
            np.testing.assert_array_equal(spread, same.deviations[name])


@pytest.mark.usefixtures("small_blocks")
def test_a_result_travels_to_another_process(tmp_path: Path) -> None:
    run(make_folders(tmp_path, 3), tmp_path / "out")
    result = load_run(tmp_path / "out")
    travelled = pickle.loads(pickle.dumps(result))
    assert travelled.to_json() == result.to_json()


@pytest.mark.usefixtures("small_blocks")
def test_findings_that_are_gone_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    run(make_folders(tmp_path, 3), tmp_path / "out")
    result = load_run(tmp_path / "out")
    assert [case.case for case in result.cases] == ["case00", "case01", "case02"]
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(FileError, match=r"cases\.jsonl' can no longer be read"):
        _ = result.scores


def test_findings_of_a_small_run_stay_in_memory(tmp_path: Path) -> None:
    result = run(make_folders(tmp_path, 3), tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    assert len(result.scores) == 3 * len(result.series) * len(result.spec.thresholds)


@given(
    arrays(np.int64, (5, 3), elements=st.integers(0, 4)),
    arrays(np.int64, (3, 2), elements=st.integers(-(2**58), 2**58)),
)
def test_weighted_sums_are_exact(
    weights: np.ndarray[tuple[int, int], np.dtype[np.int64]],
    counts: np.ndarray[tuple[int, int], np.dtype[np.int64]],
) -> None:
    expected = [
        [sum(w * c for w, c in zip(row, column, strict=True)) for column in counts.T.tolist()]
        for row in weights.tolist()
    ]
    assert weighted_sums(weights, counts).tolist() == expected


def test_results_that_are_lost_are_an_error_and_resume_fixes_it(tmp_path: Path) -> None:
    paths, out = make_folders(tmp_path, 3), tmp_path / "out"
    run(paths, out)
    lines = (out / "cases.jsonl").read_bytes().splitlines(keepends=True)
    (out / "cases.jsonl").write_bytes(b"".join([lines[0], b"garbage\n", lines[2]]))
    with pytest.raises(FileError, match=r"has lost 1 of 3 results \(case01\).*--resume"):
        load_run(out)
    run(paths, out, resume=True)
    assert len(load_run(out).cases) == 3
