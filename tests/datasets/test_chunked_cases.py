"""One pair of Zarr images on a cluster: its chunks are shared out, and the tables are the same."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch import phantoms
from panmatch.datasets import Case, DatasetPaths, ImageFile, Job, RunOptions, pair, run_dataset
from panmatch.datasets._loading import is_chunked_case
from panmatch.evaluation import _class_case as in_memory
from panmatch.spec import as_spec
from tests.chunked_arrays import Array, boxes_up_to
from tests.clusters import local_cluster
from tests.datasets.folders import tables
from tests.platforms import needs_posix

SPEC = {
    "classes": {"clump": {"labels": "1-50", "instances": "components"}},
    "background": "51-999",
    "matching": ["one-to-one", "union"],
}
JOB = Job(as_spec(SPEC).canonical(), spacing=(2.0, 1.0, 1.0))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with local_cluster() as found:
        yield found


def scene() -> tuple[Array, Array]:
    reference = phantoms.blobs((40, 36, 30), 9, radius=(3, 6), gap=1, seed=1)
    return reference, phantoms.split(phantoms.shift(reference, (2, 1, 0)), 2, ids=[2, 5])


def save_pair(folder: Path, chunks: tuple[int, ...] = (16, 12, 10)) -> DatasetPaths:
    import zarr

    create: Any = zarr.create_array
    for name, image in zip(("ref", "pred"), scene(), strict=True):
        lengths = chunks if name == "ref" else (20, 36, 7)
        create(str(folder / f"{name}.zarr"), data=np.asarray(image, np.uint16), chunks=lengths)
    return DatasetPaths(folder / "ref.zarr", {"model": folder / "pred.zarr"})


def steps(cluster: Any) -> int:
    """Return how many steps of tasks the scheduler of a cluster has seen."""
    found: int = cluster.scheduler.transition_counter
    return found


def test_tables_are_those_of_a_run_in_memory(cluster: Any, tmp_path: Path) -> None:
    cases, before = pair(save_pair(tmp_path)), steps(cluster)
    run_dataset(cases, JOB, tmp_path / "dask", RunOptions(dask=cluster.scheduler_address))
    assert steps(cluster) > before + 60
    run_dataset(cases, JOB, tmp_path / "memory")
    assert tables(tmp_path / "dask") == tables(tmp_path / "memory")


def test_tables_of_a_run_box_by_box_are_those_of_a_run_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = pair(save_pair(tmp_path))
    run_dataset(cases, JOB, tmp_path / "memory")
    monkeypatch.setattr(in_memory, "SMALL_BYTES", 0)
    with boxes_up_to(1):
        run_dataset(cases, JOB, tmp_path / "boxes")
    assert tables(tmp_path / "boxes") == tables(tmp_path / "memory")


@needs_posix
def test_a_worker_that_is_killed_changes_nothing(cluster: Any, tmp_path: Path) -> None:
    from distributed import Client

    cases, before = pair(save_pair(tmp_path, (10, 9, 10))), steps(cluster)
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))

    def kill_when_work_has_begun() -> None:
        while steps(cluster) < before + 50:
            time.sleep(0.005)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_when_work_has_begun)
    killer.start()
    found = run_dataset(cases, JOB, tmp_path / "dask", RunOptions(dask=cluster.scheduler_address))
    killer.join()
    assert not found.failures
    run_dataset(cases, JOB, tmp_path / "memory")
    assert tables(tmp_path / "dask") == tables(tmp_path / "memory")


def test_several_pairs_are_shared_out_case_by_case(cluster: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        save_pair(tmp_path / name)
    cases = [
        Case(name, "model", ImageFile(folder / "ref.zarr"), ImageFile(folder / "pred.zarr"))
        for name, folder in ((name, tmp_path / name) for name in ("a", "b"))
    ]
    before = steps(cluster)
    run_dataset(cases, JOB, tmp_path / "dask", RunOptions(dask=cluster.scheduler_address))
    assert steps(cluster) < before + 60
    run_dataset(cases, JOB, tmp_path / "memory")
    assert tables(tmp_path / "dask") == tables(tmp_path / "memory")


def test_a_damaged_chunk_fails_its_case_with_a_reason(cluster: Any, tmp_path: Path) -> None:
    cases = pair(save_pair(tmp_path))
    chunk = next(one for one in (tmp_path / "pred.zarr" / "c" / "1").rglob("*") if one.is_file())
    chunk.write_bytes(b"damaged")
    found = run_dataset(cases, JOB, tmp_path / "dask", RunOptions(dask=cluster.scheduler_address))
    (failed,) = found.failures
    assert "pred.zarr' cannot be read as a Zarr store" in failed.reason


def test_which_cases_have_chunks() -> None:
    stored, other = ImageFile(Path("a.zarr/labels/x")), ImageFile(Path("a.nii"))
    assert is_chunked_case(Case("a", "m", stored, stored))
    assert not is_chunked_case(Case("a", "m", stored, other))
    assert not is_chunked_case(Case("a", "m", stored, None))
