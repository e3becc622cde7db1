"""A file is held by one process at a time, on POSIX and, as far as that can be told, on Windows."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from panmatch.formats import lock_file, locked
from panmatch.formats._locking import LOCKED_BYTE

TRY = """
import sys
from panmatch.formats import lock_file
with open(sys.argv[1], "ab+") as stream:
    try:
        lock_file(stream, wait=False)
    except BlockingIOError:
        sys.exit(7)
"""


def another_process_can_hold(path: Path) -> bool:
    done = subprocess.run([sys.executable, "-c", TRY, str(path)], check=False)
    assert done.returncode in (0, 7)
    return done.returncode == 0


def test_a_file_is_held_until_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    with path.open("ab+") as stream:
        with locked(stream):
            assert not another_process_can_hold(path)
        assert another_process_can_hold(path)


def test_a_file_is_held_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    with path.open("ab+") as stream:
        lock_file(stream, wait=False)
        assert not another_process_can_hold(path)
    assert another_process_can_hold(path)


class Windows(ModuleType):
    """The calls of msvcrt, which remember what was locked where."""

    LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.calls: list[tuple[int, int, int]] = []
        self.taken = False

    def locking(self, number: int, mode: int, size: int) -> None:
        self.calls.append((mode, os.lseek(number, 0, os.SEEK_CUR), size))
        if self.taken and mode == self.LK_NBLCK:
            raise PermissionError(errno.EACCES, "Permission denied")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Windows:
    """Take fcntl away, and put msvcrt in its place."""
    system = Windows()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", system)
    return system


def test_on_windows_one_byte_beyond_the_content_is_locked(tmp_path: Path, windows: Windows) -> None:
    with (tmp_path / "cases.jsonl").open("ab+", buffering=0) as stream:
        stream.write(b"content")
        stream.seek(3)
        with locked(stream):
            assert windows.calls == [(windows.LK_LOCK, LOCKED_BYTE, 1)]
            assert stream.tell() == 3
        assert windows.calls[1:] == [(windows.LK_UNLCK, LOCKED_BYTE, 1)]
    assert (tmp_path / "cases.jsonl").read_bytes() == b"content"


def test_on_windows_a_file_that_is_held_is_said_to_be(tmp_path: Path, windows: Windows) -> None:
    windows.taken = True
    held = pytest.raises(BlockingIOError, match="another process holds the file")
    with (tmp_path / "cases.jsonl").open("ab+") as stream, held:
        lock_file(stream, wait=False)


def test_without_any_locks_nothing_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    path = tmp_path / "cases.jsonl"
    with path.open("ab+") as stream, locked(stream):
        pass
    assert path.read_bytes() == b""
