"""Progress of a run: a bar on a terminal, plain lines elsewhere, a log on request."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from panmatch.datasets import Outcome, Phase
from panmatch.evaluation import plural

if TYPE_CHECKING:
    from rich.progress import Progress

LogLevel = Literal["debug", "info", "warning", "error"]

QUIET_SECONDS = 10.0  # between two lines without a terminal
WORDS: dict[Phase, str] = {
    "search": "looking for files",
    "evaluation": "evaluating",
    "bootstrap": "bootstrap",
    "tables": "writing tables",
    "report": "writing the report",
}
LOG = logging.getLogger("panmatch")


class Silent:
    """Keeps track of a run's progress without showing it."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.total = self.done = self.failed = 0

    def enter(self, phase: Phase) -> None:
        """Note that a phase begins."""
        if phase == "evaluation":
            self.start = time.monotonic()

    def expect(self, total: int) -> None:
        """Note the number of cases."""
        self.total = total

    def finished(self, outcome: Outcome) -> None:
        """Note that a case is finished."""
        self.done += 1
        self.failed += outcome.result is not None and outcome.result.status == "failed"

    @property
    def rate(self) -> str:
        """How many cases are done, how fast, and how long the rest will take."""
        seconds = max(time.monotonic() - self.start, 1e-9)
        left = seconds / max(self.done, 1) * (self.total - self.done)
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{self.done} of {plural(self.total, 'case')}{failed}, "
            f"{self.done / seconds:.3g} cases/s, about {left:.0f} s left"
        )


class Lines(Silent):
    """Prints plain lines once a run has taken a while."""

    def __init__(self) -> None:
        super().__init__()
        self._last = time.monotonic()

    def enter(self, phase: Phase) -> None:
        """Print the phase."""
        super().enter(phase)
        self._say(WORDS[phase])

    def finished(self, outcome: Outcome) -> None:
        """Print the progress."""
        super().finished(outcome)
        if self.done < self.total:
            self._say(self.rate)

    def _say(self, text: str) -> None:
        now = time.monotonic()
        if now - self._last >= QUIET_SECONDS:
            self._last = now
            print(f"panmatch: {text}", file=sys.stderr, flush=True)


class Logged(Silent):
    """Logs phases and their times at level info, cases at level debug."""

    def __init__(self) -> None:
        super().__init__()
        self._phase: tuple[Phase, float] | None = None

    def enter(self, phase: Phase) -> None:
        """Log that a phase begins, and how long the previous one took."""
        super().enter(phase)
        self.end()
        self._phase = phase, time.monotonic()
        LOG.info("%s …", WORDS[phase])

    def expect(self, total: int) -> None:
        """Log the number of cases."""
        super().expect(total)
        LOG.info("%s", plural(total, "case"))

    def finished(self, outcome: Outcome) -> None:
        """Log the outcome of a case."""
        super().finished(outcome)
        status = "unchanged" if outcome.result is None else outcome.result.status
        model = f" ({outcome.case.model})" if outcome.case.model else ""
        LOG.debug("%s%s: %s, %.3f s", outcome.case.name, model, status, outcome.seconds)

    def end(self) -> None:
        """Log how long the last phase took."""
        if self._phase is not None:
            phase, start = self._phase
            LOG.info("%s: %.3f s", WORDS[phase], time.monotonic() - start)


class Bar(Silent):
    """Shows a bar that is full only when everything is done, and then disappears."""

    def __init__(self, shown: Progress) -> None:
        super().__init__()
        self._shown = shown
        self._task = shown.add_task(WORDS["search"], total=None, rate="")

    def enter(self, phase: Phase) -> None:
        """Show the phase; outside of the evaluation, the bar has no known end."""
        super().enter(phase)
        self._restart(WORDS[phase], (self.total or None) if phase == "evaluation" else None)

    def finished(self, outcome: Outcome) -> None:
        """Show the progress; there is more to do after the last case."""
        super().finished(outcome)
        if self.done < self.total:
            self._shown.update(self._task, completed=self.done, rate=self.rate)
        else:
            self._restart("collecting results", None)

    def _restart(self, text: str, total: int | None) -> None:
        # rich cannot reset a task to an unknown total.
        self._shown.remove_task(self._task)
        self._task = self._shown.add_task(text, total=total, rate="")


@contextmanager
def show_progress(*, quiet: bool = False, level: LogLevel = "warning") -> Iterator[Silent]:
    """Yield an object to report progress to."""
    if level in ("debug", "info"):
        with _log_to_stderr(level):
            log = Logged()
            yield log
            log.end()
    elif quiet:
        yield Silent()
    elif not sys.stderr.isatty():
        yield Lines()
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(20),
            TextColumn("{task.fields[rate]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
            yield Bar(shown)


@contextmanager
def _log_to_stderr(level: LogLevel) -> Iterator[None]:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(level.upper())
    try:
        yield
    finally:
        LOG.removeHandler(handler)
