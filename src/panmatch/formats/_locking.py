"""Locks on files, for one process at a time, on systems that support them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

LOCKED_BYTE = 0x7FFFFFFE  # on Windows: far beyond what is written, so others can still read


@contextmanager
def locked(stream: IO[Any]) -> Iterator[None]:
    """Lock a file until the block ends; wait while another process holds the lock."""
    lock_file(stream, wait=True)
    try:
        yield
    finally:
        unlock_file(stream)


def lock_file(stream: IO[Any], *, wait: bool) -> None:
    """Lock a file for this process until it is unlocked, closed, or the process ends.

    This does nothing if the system has no locks.

    Parameters
    ----------
    stream
        An open file.
    wait
        Whether to wait for a process that holds the lock.

    Raises
    ------
    OSError
        If another process holds the lock (a `BlockingIOError` if `wait` is False), or the disk
        does not support locks.
    """
    try:
        import fcntl
    except ImportError:
        _lock_on_windows(stream, wait=wait)
        return
    fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def unlock_file(stream: IO[Any]) -> None:
    """Release the lock of `lock_file`."""
    try:
        import fcntl
    except ImportError:
        _unlock_on_windows(stream)
        return
    fcntl.flock(stream, fcntl.LOCK_UN)


def _lock_on_windows(stream: IO[Any], *, wait: bool) -> None:
    try:
        import msvcrt
    except ImportError:
        return
    system: Any = msvcrt  # type checkers know it only on Windows
    try:
        _at_locked_byte(stream, system.LK_LOCK if wait else system.LK_NBLCK, system)
    except PermissionError as error:  # how Windows says that another process has the lock
        raise BlockingIOError(error.errno, "another process holds the file") from error


def _unlock_on_windows(stream: IO[Any]) -> None:
    try:
        import msvcrt
    except ImportError:
        return
    system: Any = msvcrt
    _at_locked_byte(stream, system.LK_UNLCK, system)


def _at_locked_byte(stream: IO[Any], mode: int, system: Any) -> None:
    """Lock or unlock one byte, and leave the position in the file as it was."""
    number = stream.fileno()
    place = os.lseek(number, 0, os.SEEK_CUR)
    os.lseek(number, LOCKED_BYTE, os.SEEK_SET)
    try:
        system.locking(number, mode, 1)
    finally:
        os.lseek(number, place, os.SEEK_SET)
