"""A small cluster of processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def local_cluster(workers: int = 2) -> Iterator[Any]:
    """Start workers of one thread; several clusters may run side by side."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=100
    ) as cluster:
        yield cluster
