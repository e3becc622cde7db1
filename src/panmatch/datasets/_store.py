"""Results of cases on disk: each is appended as soon as it is there, whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO

from panmatch.datasets._worker import Outcome
from panmatch.errors import FileError
from panmatch.evaluation import CaseResult, Json

FILE = "cases.jsonl"

Who = tuple[str, str]  # model and case


class CaseStore:
    """One line of JSON per result; of several for one case the last one counts.

    A line that was not written to its end, as a killed process leaves it, is dropped, and so is a
    result of another job.

    Parameters
    ----------
    folder
        Where the file is.
    job
        Fingerprint of what is asked for.
    """

    def __init__(self, folder: Path, job: str) -> None:
        self.path, self._job = folder / FILE, job
        self._stream: IO[bytes] | None = None
        self._lines: dict[Who, Json] = {}

    def open(self) -> None:
        """Read what is there, and make ready to append; one run at a time."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self.path.open("ab+", buffering=0)
            _lock(self._stream)
            whole = self._read()
            self._stream.truncate(whole)
        except BlockingIOError as error:
            raise FileError(f"another run is writing to {str(self.path.parent)!r}.") from error
        except OSError as error:
            raise FileError(
                f"OUT={str(self.path.parent)!r} cannot be written: {error.strerror or error}. "
                f"Name another folder with -o."
            ) from error

    def holds_results(self) -> bool:
        """Return whether a case was evaluated, by whichever job; nothing is touched."""
        try:
            content = self.path.read_bytes()
        except OSError:
            return False
        return any(_is_evaluated(text) for text in content.splitlines())

    def clear(self) -> None:
        """Forget everything."""
        assert self._stream is not None
        self._stream.truncate(0)
        self._lines.clear()

    def append(self, outcome: Outcome) -> None:
        """Write one result; if the disk is full, nothing of it stays."""
        assert self._stream is not None
        assert outcome.result is not None
        line = {
            "job": self._job,
            "key": outcome.key,
            "seconds": outcome.seconds,
            **outcome.result.to_dict(),
        }
        content = json.dumps(line, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        end = self._stream.seek(0, os.SEEK_END)
        try:
            left = memoryview(content)
            while left:
                left = left[self._stream.write(left) :]
        except OSError as error:
            self._stream.truncate(end)
            raise FileError(
                f"OUT={str(self.path.parent)!r} cannot be written: {error.strerror or error}. "
                f"What was finished before is kept: make room, and run again with --resume."
            ) from error
        self._lines[outcome.result.model, outcome.result.case] = line

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()

    def keys(self) -> dict[Who, str]:
        """Return the keys of results that did not fail, by model and case."""
        return {who: line["key"] for who, line in self._lines.items() if line["status"] == "ok"}

    def facts(self, who: Who) -> Json:
        """Return what is known about how a result was made."""
        line = self._lines[who]
        return {name: line[name] for name in ("case", "model", "status", "key", "seconds")}

    def results(self) -> dict[Who, CaseResult]:
        """Return all results, by model and case."""
        return {who: _result(line) for who, line in self._lines.items()}

    def _read(self) -> int:
        """Read all whole lines, and return where they end."""
        assert self._stream is not None
        self._stream.seek(0)
        content = self._stream.read()
        whole = content.rfind(b"\n") + 1
        for text in content[:whole].splitlines():
            try:
                line = json.loads(text)
                if line["job"] == self._job:
                    self._lines[line["model"], line["case"]] = line
            except (ValueError, KeyError, TypeError):
                continue  # it is evaluated again
        return whole


def read_results(folder: Path, job: str) -> dict[Who, CaseResult]:
    """Return the results of a run by model and case, without touching them."""
    store = CaseStore(folder, job)
    try:
        store._stream = store.path.open("rb", buffering=0)
        store._read()
        return store.results()
    except OSError as error:
        raise FileError(
            f"path={str(folder)!r} holds no results of `panmatch evaluate`: {error.strerror}."
        ) from error
    finally:
        store.close()


def _is_evaluated(text: bytes) -> bool:
    try:
        return bool(json.loads(text)["status"] == "ok")
    except (ValueError, KeyError, TypeError):
        return False


def _result(line: Json) -> CaseResult:
    content = {name: value for name, value in line.items() if name not in ("job", "key", "seconds")}
    return CaseResult.from_dict(content)


def _lock(stream: IO[bytes]) -> None:
    """Take the file for this process, until it ends, where the system offers that."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
