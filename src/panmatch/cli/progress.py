"""How far a run is, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from panmatch.datasets import Outcome

QUIET_SECONDS = 10.0  # between two lines where there is no terminal


@contextmanager
def progress(total: int) -> Iterator[Callable[[Outcome], None]]:
    """Yield what to call with every finished case: a bar, or lines where there is no terminal."""
    if sys.stderr.isatty():
        with _bar(total) as watch:
            yield watch
    else:
        yield _lines(total)


@contextmanager
def _bar(total: int) -> Iterator[Callable[[Outcome], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    failed = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("cases", total=total)

        def watch(outcome: Outcome) -> None:
            nonlocal failed
            failed += outcome.result is not None and outcome.result.status == "failed"
            bar.update(
                task, advance=1, description=f"cases, {failed} failed" if failed else "cases"
            )

        yield watch


def _lines(total: int) -> Callable[[Outcome], None]:
    start = last = time.monotonic()
    done = 0

    def watch(_: Outcome) -> None:
        nonlocal done, last
        done += 1
        now = time.monotonic()
        if now - last >= QUIET_SECONDS and done < total:
            last = now
            left = (now - start) / done * (total - done)
            print(f"{done} of {total} cases, about {left:.0f} s left", file=sys.stderr, flush=True)

    return watch
