"""Results of cases on disk: each is appended as soon as it is ready, completely or not at all."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from panmatch.datasets._sealing import END, digest_of, seal, unseal
from panmatch.datasets._worker import Outcome
from panmatch.errors import FileError
from panmatch.evaluation import CaseResult, Findings, Json, findings_from_dict
from panmatch.formats import lock_file

FILE = "cases.jsonl"
MOST_RECENT = (
    4_000_000  # bytes of lines whose findings stay in memory, where they take a few times more
)
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # from file systems without locks

Who = tuple[str, str]  # model and case
_Key = tuple[int, bytes]


class _Recent:
    """The most recently used findings: all of a small run, a few of a large one, at least one."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._found: dict[_Key, tuple[int, Findings]] = {}  # with lengths, in order of use

    def __reduce__(self) -> tuple[type[_Recent], tuple[int]]:
        return _Recent, (self._most,)  # what is in memory here is not pickled

    def get(self, line: _Line) -> Findings | None:
        found = self._found.pop(line.key, None)
        if found is None:
            return None
        self._found[line.key] = found
        return found[1]

    def keep(self, line: _Line, found: Findings) -> None:
        self._found[line.key] = line.length, found
        self._bytes += line.length
        while self._bytes > self._most and len(self._found) > 1:
            oldest = next(iter(self._found))
            self._bytes -= self._found.pop(oldest)[0]


@dataclass(frozen=True, slots=True)
class _Line:
    """The place of a result in a file; calling it reads the findings."""

    path: Path
    start: int
    length: int
    digest: bytes
    recent: _Recent = field(compare=False, repr=False)

    @property
    def key(self) -> _Key:
        """What distinguishes it from other lines of the file."""
        return self.start, self.digest

    def __call__(self) -> Findings:
        found = self.recent.get(self)
        if found is None:
            found = findings_from_dict(self._content())
            self.recent.keep(self, found)
        return found

    def _content(self) -> Json:
        try:
            with self.path.open("rb", buffering=0) as stream:
                text = self.bytes_in(stream)
        except OSError as error:
            raise FileError(
                f"path={str(self.path)!r} can no longer be read: {error.strerror or error}."
            ) from error
        line = unseal(text)
        if line is None or not text.endswith(self.digest + END):
            raise FileError(
                f"path={str(self.path)!r} was changed by another program: evaluate what was lost "
                f"with --resume."
            )
        return line

    def bytes_in(self, stream: IO[bytes]) -> bytes:
        """Read the line."""
        stream.seek(self.start)
        pieces, left = [], self.length
        while left and (piece := stream.read(left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A result, and how it was made."""

    result: CaseResult  # its findings stay in the file
    line: _Line
    key: str  # identifies job and files
    seconds: float


class CaseStore:
    """One line of JSON per result; if a case has several, the last one counts.

    Results stay in the file until they are needed, so memory does not grow with the number of
    cases. Each line ends with its own digest. Lines that are incomplete, because a process was
    killed, or that have been changed are dropped. So are results of another job.

    Parameters
    ----------
    folder
        Where the file is.
    job
        Fingerprint of the job.
    """

    def __init__(self, folder: Path, job: str) -> None:
        self.path, self._job = folder / FILE, job
        self._stream: IO[bytes] | None = None
        self._stored: dict[Who, _Stored] = {}
        self._recent = _Recent(MOST_RECENT)
        self.n_damaged = 0  # lines that were dropped because they were damaged or changed

    def open(self) -> None:
        """Read existing results and prepare to append; only one run at a time can do so."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self.path.open("ab+", buffering=0)
            _lock(self._stream)
            whole = self._read()
            self._stream.truncate(whole)
        except BlockingIOError as error:
            raise FileError(
                f"another run is writing to {str(self.path.parent)!r}: wait for it, or name "
                f"another folder with -o."
            ) from error
        except OSError as error:
            raise FileError(
                f"OUT={str(self.path.parent)!r} cannot be written: {error.strerror or error}. "
                f"Name another folder with -o."
            ) from error

    def holds_results(self) -> bool:
        """Return whether any job has evaluated a case; this changes nothing."""
        try:
            with self.path.open("rb") as stream:
                lines = map(unseal, stream)
                return any(line is not None and line["status"] == "ok" for line in lines)
        except OSError:
            return False

    def clear(self) -> None:
        """Delete all results."""
        assert self._stream is not None
        self._stream.truncate(0)
        self._stored.clear()
        self.n_damaged = 0

    def append(self, outcome: Outcome) -> None:
        """Write one result completely, or nothing if the disk is full."""
        result = outcome.result
        assert result is not None
        self.restore()
        text = outcome.line or seal(self._job, outcome.key, outcome.seconds, result)
        line = self._write(text)
        if not outcome.line:
            self._recent.keep(line, result.findings)
        self._stored[result.model, result.case] = _Stored(
            replace(result, found=line), line, outcome.key, outcome.seconds
        )

    def restore(self) -> None:
        """Write the file again if it was removed or renamed."""
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
            for who, one in known.items():  # a removed file can be read as long as it is open
                line = self._write(one.line.bytes_in(removed))
                self._stored[who] = replace(one, result=replace(one.result, found=line), line=line)
        except FileError:
            self._stream, self._stored = removed, known
            raise
        removed.close()

    def _write(self, content: bytes) -> _Line:
        """Append a line, and return where it is."""
        assert self._stream is not None
        end = self._stream.seek(0, os.SEEK_END)
        try:
            left = memoryview(content)
            while left:
                left = left[self._stream.write(left) :]
        except OSError as error:
            self._stream.truncate(end)
            raise self._cannot_be_written(error) from error
        return self._line(end, content)

    def _line(self, start: int, content: bytes) -> _Line:
        return _Line(self.path, start, len(content), digest_of(content), self._recent)

    def _cannot_be_written(self, error: OSError) -> FileError:
        return FileError(
            f"OUT={str(self.path.parent)!r} cannot be written: {error.strerror or error}. "
            f"Finished cases are kept: free some space, and run again with --resume."
        )

    @property
    def n_bytes(self) -> int:
        """The size of all results."""
        return sum(one.line.length for one in self._stored.values())

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()

    def keys(self) -> dict[Who, str]:
        """Return the keys of results that did not fail, by model and case."""
        return {who: one.key for who, one in self._stored.items() if one.result.status == "ok"}

    def facts(self, who: Who) -> Json:
        """Return the facts about how a result was made."""
        one = self._stored[who]
        model, case = who
        return {
            "case": case, "model": model, "status": one.result.status, "key": one.key,
            "seconds": one.seconds,
        }  # fmt: skip

    def results(self) -> dict[Who, CaseResult]:
        """Return all results by model and case; their findings are read when needed."""
        return {who: one.result for who, one in self._stored.items()}

    def result(self, who: Who) -> CaseResult:
        """Return the result of a model and case."""
        return self._stored[who].result

    def _read(self) -> int:
        """Read all complete lines, and return where they end."""
        assert self._stream is not None
        self._stream.seek(0)
        end = 0
        with os.fdopen(os.dup(self._stream.fileno()), "rb") as lines:
            for text in lines:
                if not text.endswith(b"\n"):
                    break
                line = unseal(text)
                if line is None:
                    self.n_damaged += 1  # its case is evaluated again
                elif line["job"] == self._job:
                    place = self._line(end, text)
                    self._stored[line["model"], line["case"]] = _Stored(
                        CaseResult.from_dict(line, place), place, line["key"], line["seconds"]
                    )
                end += len(text)
        return end


def read_results(folder: Path, job: str) -> dict[Who, CaseResult]:
    """Return the results of a run by model and case, without changing them."""
    store = CaseStore(folder, job)
    try:
        store._stream = store.path.open("rb", buffering=0)
        store._read()
        return store.results()
    except OSError as error:
        raise FileError(
            f"path={str(folder)!r} contains no results of `panmatch evaluate`: {error.strerror}."
        ) from error
    finally:
        store.close()


def _lock(stream: IO[bytes]) -> None:
    """Lock the file until this process ends, if the file system supports it."""
    try:
        lock_file(stream, wait=False)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
