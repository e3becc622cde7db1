"""Results of cases on disk: each is appended as soon as it is there, whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from panmatch.datasets._worker import Outcome
from panmatch.errors import FileError
from panmatch.evaluation import CaseResult, Json

FILE = "cases.jsonl"
SEAL = b',"digest":"'  # comes last in a line, and vouches for everything before it
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of file systems that have none

Who = tuple[str, str]  # model and case


@dataclass(frozen=True, slots=True)
class _Stored:
    """A result, and how it was made."""

    result: CaseResult
    key: str  # of job and files
    seconds: float

    @classmethod
    def of(cls, line: Json) -> _Stored:
        """Read a line."""
        return cls(CaseResult.from_dict(line), line["key"], line["seconds"])

    def line(self, job: str) -> bytes:
        """Return the line to write, with its digest."""
        content = {"job": job, "key": self.key, "seconds": self.seconds, **self.result.to_dict()}
        body = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()[:-1]
        return b"".join((body, SEAL, _digest(body), b'"}\n'))


class CaseStore:
    """One line of JSON per result; of several for one case the last one counts.

    Every line ends in a digest of itself. One that was not written to its end, as a killed process
    leaves it, or that was changed since is dropped, and so is a result of another job.

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
        self._stored: dict[Who, _Stored] = {}
        self.n_damaged = 0  # lines that were dropped because they are not as they were written

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
        lines = map(_unsealed, content.split(b"\n"))
        return any(line is not None and line["status"] == "ok" for line in lines)

    def clear(self) -> None:
        """Forget everything."""
        assert self._stream is not None
        self._stream.truncate(0)
        self._stored.clear()
        self.n_damaged = 0

    def append(self, outcome: Outcome) -> None:
        """Write one result; if the disk is full, nothing of it stays."""
        assert self._stream is not None
        assert outcome.result is not None
        self.restore()
        stored = _Stored(outcome.result, outcome.key, outcome.seconds)
        self._write(stored.line(self._job))
        self._stored[outcome.result.model, outcome.result.case] = stored

    def restore(self) -> None:
        """Write the file again if somebody has removed or renamed it."""
        assert self._stream is not None
        try:
            if os.path.samestat(os.fstat(self._stream.fileno()), self.path.stat()):
                return
        except FileNotFoundError:
            pass
        except OSError as error:
            raise self._cannot_be_written(error) from error
        known, self._stored = self._stored, {}
        self.close()
        self.open()
        for one in known.values():
            self._write(one.line(self._job))
        self._stored |= known

    def _write(self, content: bytes) -> None:
        assert self._stream is not None
        end = self._stream.seek(0, os.SEEK_END)
        try:
            left = memoryview(content)
            while left:
                left = left[self._stream.write(left) :]
        except OSError as error:
            self._stream.truncate(end)
            raise self._cannot_be_written(error) from error

    def _cannot_be_written(self, error: OSError) -> FileError:
        return FileError(
            f"OUT={str(self.path.parent)!r} cannot be written: {error.strerror or error}. "
            f"What was finished before is kept: make room, and run again with --resume."
        )

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()

    def keys(self) -> dict[Who, str]:
        """Return the keys of results that did not fail, by model and case."""
        return {who: one.key for who, one in self._stored.items() if one.result.status == "ok"}

    def facts(self, who: Who) -> Json:
        """Return what is known about how a result was made."""
        one = self._stored[who]
        names = {name: getattr(one.result, name) for name in ("case", "model", "status")}
        return {**names, "key": one.key, "seconds": one.seconds}

    def results(self) -> dict[Who, CaseResult]:
        """Return all results, by model and case."""
        return {who: one.result for who, one in self._stored.items()}

    def _read(self) -> int:
        """Read all whole lines, and return where they end."""
        assert self._stream is not None
        self._stream.seek(0)
        content = self._stream.read()
        whole = content.rfind(b"\n") + 1
        for text in content[:whole].split(b"\n")[:-1]:
            line = _unsealed(text)
            if line is None:
                self.n_damaged += 1  # its case is evaluated again
            elif line["job"] == self._job:
                self._stored[line["model"], line["case"]] = _Stored.of(line)
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


def _unsealed(text: bytes) -> Json | None:
    """Return what a line says; None if it is not as it was written."""
    body, seal, rest = text.rpartition(SEAL)
    if not seal or rest != _digest(body) + b'"}':
        return None
    line: Json = json.loads(body + b"}")
    return line


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:16].encode()


def _lock(stream: IO[bytes]) -> None:
    """Take the file for this process, until it ends, where the system offers that."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
