"""How many threads a pass over voxels is worth."""

from __future__ import annotations

import os

import numpy as np

from panmatch.errors import OptionError


def thread_count(threads: int | None, voxels: int, *, voxels_per_thread: int) -> int:
    """Return how many threads to use.

    Parameters
    ----------
    threads
        What the user asked for; None means as many as pay.
    voxels
        How much there is to do.
    voxels_per_thread
        Below this a second thread costs more than it saves.

    Examples
    --------
    >>> thread_count(None, voxels=1000, voxels_per_thread=1 << 20)
    1
    """
    if threads is None:
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return max(1, min(cpus or 1, voxels // voxels_per_thread))
    if not isinstance(threads, int | np.integer) or isinstance(threads, bool) or threads < 1:
        raise OptionError(f"threads={threads!r} must be a whole number of at least 1, or None.")
    return min(int(threads), max(1, voxels))
