"""Chunks on a cluster: counted where they live, whatever becomes of a worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.labels import Stored, connected_components
from tests.chunked_arrays import Array
from tests.clusters import local_cluster
from tests.platforms import needs_posix

CHUNKS = (16, 16, 16)


DEATHS = ("overlaps", "regions", "components")


@contextmanager
def connected(workers: int) -> Iterator[Any]:
    import dask
    from distributed import Client

    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        local_cluster(workers) as cluster,
        Client(cluster) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connected(2) as found:
        yield found


@pytest.fixture(scope="module")
def doomed() -> Iterator[Any]:
    """One worker for every death, and one more: under load they are not always revived."""
    with connected(len(DEATHS) + 1) as found:
        yield found


def scene() -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    reference = np.kron(rng.integers(0, 30, (8, 6, 6)), np.ones((8, 8, 8), np.int64))
    reference[rng.random(reference.shape) < 0.3] = 0
    return reference.astype(np.uint16), np.roll(reference, (3, 2, 0), (0, 1, 2)).astype(np.uint16)


def as_dask(array: Array, chunks: tuple[int, ...] = CHUNKS) -> Any:
    import dask.array

    return dask.array.from_array(array, chunks=chunks)  # type: ignore[no-untyped-call]


def die_once(block: Array, mark: str, block_info: Any = None) -> Array:
    """Kill the worker that reads the eighth chunk, the first time."""
    place = block_info[None]["chunk-location"] if block_info else None
    if place == (1, 0, 1) and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@needs_posix
@pytest.mark.parametrize("what", DEATHS)
def test_a_worker_that_is_killed_changes_nothing(doomed: Any, tmp_path: Path, what: str) -> None:
    reference, prediction = scene()
    mark = tmp_path / "killed"
    fragile = as_dask(reference).map_blocks(die_once, mark=str(mark), dtype=reference.dtype)
    other = as_dask(prediction, (10, 48, 7))
    with doomed.as_current():
        if what == "overlaps":
            assert pm.count_overlaps(fragile, other) == pm.count_overlaps(reference, prediction)
        elif what == "regions":
            want = pm.count_region_overlaps(reference, prediction, (2, 1, 1))
            assert pm.count_region_overlaps(fragile, other, (2, 1, 1)) == want
        else:
            found = np.asarray(connected_components(fragile))
            np.testing.assert_array_equal(found, connected_components(reference))
    assert mark.exists()


def test_chunks_are_counted_where_they_live(client: Any) -> None:
    """Both images lie on the workers, half on each: no chunk travels, only counts do."""
    images = scene()
    workers = sorted(client.nthreads())
    placed = []
    for image in images:
        array = as_dask(image, (32, 48, 48))
        blocks = [
            client.persist(array.blocks[at], workers=[workers[at]], allow_other_workers=False)
            for at in range(2)
        ]
        import dask.array

        placed.append(dask.array.concatenate(blocks))  # type: ignore[no-untyped-call]
    client.run(forget_transfers)
    assert pm.count_overlaps(*placed) == pm.count_overlaps(*images)
    largest = max(client.run(largest_transfer).values())
    assert largest < images[0].nbytes / 8


def forget_transfers(dask_worker: Any) -> None:
    dask_worker.transfer_incoming_log.clear()


def largest_transfer(dask_worker: Any) -> int:
    return max((one["total"] for one in dask_worker.transfer_incoming_log), default=0)


@pytest.mark.usefixtures("client")
def test_findings_meet_in_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """No task takes more than 16 findings, and the client gets one."""
    from dask.core import get_dependencies
    from dask.delayed import Delayed

    reference, prediction = scene()
    graphs = []
    compute: Any = Delayed.compute

    def watched(self: Any, **options: Any) -> Any:
        graphs.append(dict(self.__dask_graph__()))
        return compute(self, **options)

    monkeypatch.setattr(Delayed, "compute", watched)
    chunks = (8, 8, 8)
    found = pm.count_overlaps(as_dask(reference, chunks), as_dask(prediction, chunks))
    assert found == pm.count_overlaps(reference, prediction)
    (graph,) = graphs
    joins = [key for key in graph if str(key).startswith("_join-")]
    assert len(joins) == 18 + 2 + 1  # of 288 chunks
    assert max(len(get_dependencies(graph, key)) for key in joins) <= 16


@pytest.mark.usefixtures("client")
def test_images_of_several_kinds_are_counted_together(tmp_path: Path) -> None:
    import zarr

    reference, prediction = scene()
    create: Any = zarr.create_array
    on_disk = create(str(tmp_path / "a.zarr"), data=reference, chunks=(20, 20, 20))
    void = prediction % 5 == 0
    found = pm.count_overlaps(on_disk, as_dask(prediction), void)
    assert found == pm.count_overlaps(reference, prediction, void)
    assert Stored(on_disk).on_dask is False
