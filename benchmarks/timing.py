"""How long things take: best of several runs, and the rows of the table."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


def best_ms(action: Callable[[], object], *, repeats: int = 15) -> float:
    """Return the shortest of several runs in milliseconds: the least disturbed one."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def loop_ms(action: Callable[[], object], *, seconds: float = 1.0) -> float:
    """Return the shortest run in milliseconds of an action that is called again and again."""
    times: list[float] = []
    while sum(times) < seconds:
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def processor_ms(action: Callable[[], object], *, repeats: int = 5) -> float:
    """Return the shortest of several runs, in milliseconds of this process on a processor."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


@dataclass(frozen=True)
class Row:
    """One measured comparison. A target is a bound on the ratio ours/other or other/ours."""

    what: str
    ours: str
    other: str
    ratio: str
    target: str
    met: bool | None = None

    def cells(self) -> list[str]:
        verdict = {True: "yes", False: "NO", None: ""}[self.met]
        return [self.what, self.ours, self.other, self.ratio, self.target, verdict]


def in_words(threads: int) -> str:
    """Return '1 thread' or '2 threads'."""
    return f"{threads} thread{'s' if threads > 1 else ''}"


def at_most(what: str, ours: float, other: float, other_name: str, bound: float | None) -> Row:
    """Ours may take at most `bound` times as long as the other; None sets no target."""
    ratio = ours / other
    target, met = ("", None) if bound is None else (f"≤ {bound:g} ×", ratio <= bound)
    return Row(what, _ms(ours), f"{other_name} {_ms(other)}", f"{ratio:.2f} ×", target, met)


def faster(what: str, ours: float, other: float, other_name: str, bound: float | None) -> Row:
    """The other must take at least `bound` times as long as ours; None sets no target."""
    ratio = other / ours
    target, met = ("", None) if bound is None else (f"≥ {bound:g} ×", ratio >= bound)
    return Row(
        what, _ms(ours), f"{other_name} {_ms(other)}", f"{ratio:.1f} × faster", target, met
    )  # fmt: skip


def not_measured(what: str, other: str, target: str) -> Row:
    """Ours was not measured, because the other is not there."""
    return Row(what, "", other, "not measured", target)


def below(what: str, ours: float, unit: str, bound: float | None) -> Row:
    """Ours must stay below an absolute bound; None sets no target."""
    target, met = ("", None) if bound is None else (f"< {bound:g} {unit}", ours < bound)
    return Row(what, f"{ours:.3g} {unit}", "", "", target, met)


def _ms(value: float) -> str:
    if value < 1:
        return f"{1000 * value:.0f} µs"
    return f"{value:.1f} ms" if value < 1000 else f"{value / 1000:.2f} s"
