"""Results of cases on disk: each is appended as soon as it is there, whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from panmatch.datasets._worker import Outcome
from panmatch.errors import FileError
from panmatch.evaluation import CaseResult, Json, Status

FILE = "cases.jsonl"
SEAL = b',"digest":"'  # comes last in a line, and vouches for everything before it
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of file systems that have none

Who = tuple[str, str]  # model and case


@dataclass(frozen=True, slots=True)
class _Stored:
    """Where a result stands in the file, and how it was made."""

    start: int  # of its line
    length: int
    status: Status
    key: str  # of job and files
    seconds: float


class CaseStore:
    """One line of JSON per result; of several for one case the last one counts.

    Results stay in the file until they are asked for, so that memory does not grow with the number
    of cases. Every line ends in a digest of itself. One that was not written to its end, as a
    killed process leaves it, or that was changed since is dropped, and so is a result of another
    job.

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
        self._latest: tuple[_Stored, CaseResult] | None = None  # often the only one, and huge
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
            with self.path.open("rb") as stream:
                lines = map(_unsealed, stream)
                return any(line is not None and line["status"] == "ok" for line in lines)
        except OSError:
            return False

    def clear(self) -> None:
        """Forget everything."""
        assert self._stream is not None
        self._stream.truncate(0)
        self._stored.clear()
        self.n_damaged = 0

    def append(self, outcome: Outcome) -> None:
        """Write one result; if the disk is full, nothing of it stays."""
        result = outcome.result
        assert result is not None
        self.restore()
        line = _sealed(self._job, outcome.key, outcome.seconds, result)
        start = self._write(line)
        stored = _Stored(start, len(line), result.status, outcome.key, outcome.seconds)
        self._stored[result.model, result.case] = stored
        self._latest = stored, result

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
        removed, known = self._stream, self._stored
        try:
            self._stored = {}
            self.open()
            for who, one in known.items():  # what has lost its name is there as long as it is open
                start = self._write(_bytes_at(removed, one))
                self._stored[who] = replace(one, start=start)
        except FileError:
            self._stream, self._stored = removed, known
            raise
        removed.close()
        self._latest = None

    def _write(self, content: bytes) -> int:
        """Append a line, and return where it begins."""
        assert self._stream is not None
        end = self._stream.seek(0, os.SEEK_END)
        try:
            left = memoryview(content)
            while left:
                left = left[self._stream.write(left) :]
        except OSError as error:
            self._stream.truncate(end)
            raise self._cannot_be_written(error) from error
        return end

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
        return {who: one.key for who, one in self._stored.items() if one.status == "ok"}

    def facts(self, who: Who) -> Json:
        """Return what is known about how a result was made."""
        one = self._stored[who]
        model, case = who
        return {
            "case": case, "model": model, "status": one.status, "key": one.key,
            "seconds": one.seconds,
        }  # fmt: skip

    def results(self) -> dict[Who, CaseResult]:
        """Read all results, by model and case."""
        return {who: self._result(one) for who, one in self._stored.items()}

    def _result(self, stored: _Stored) -> CaseResult:
        if self._latest is not None and self._latest[0] is stored:
            return self._latest[1]
        assert self._stream is not None
        line = _unsealed(_bytes_at(self._stream, stored))
        if line is None:
            raise FileError(
                f"path={str(self.path)!r} was changed by somebody else during the run: evaluate "
                f"what was lost with --resume."
            )
        return CaseResult.from_dict(line)

    def _read(self) -> int:
        """Look at all whole lines, and return where they end."""
        assert self._stream is not None
        self._stream.seek(0)
        end = 0
        with os.fdopen(os.dup(self._stream.fileno()), "rb") as lines:
            for text in lines:
                if not text.endswith(b"\n"):
                    break
                line = _unsealed(text)
                if line is None:
                    self.n_damaged += 1  # its case is evaluated again
                elif line["job"] == self._job:
                    self._stored[line["model"], line["case"]] = _Stored(
                        end, len(text), line["status"], line["key"], line["seconds"]
                    )
                end += len(text)
        return end


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


def _bytes_at(stream: IO[bytes], stored: _Stored) -> bytes:
    stream.seek(stored.start)
    pieces, left = [], stored.length
    while left and (piece := stream.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _sealed(job: str, key: str, seconds: float, result: CaseResult) -> bytes:
    """Return a result as a line with its digest."""
    content = {"job": job, "key": key, "seconds": seconds, **result.to_dict()}
    body = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()[:-1]
    return b"".join((body, SEAL, _digest(body), b'"}\n'))


def _unsealed(text: bytes) -> Json | None:
    """Return what a line says; None if it is not as it was written."""
    body, seal, rest = text.rpartition(SEAL)
    if not seal or rest != _digest(body) + b'"}\n':
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
