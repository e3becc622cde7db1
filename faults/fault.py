"""A fault: something that goes wrong, and what must hold nevertheless."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong.

    Attributes
    ----------
    done
        What is done, as a row of the table says it.
    cause
        Does it in an empty folder, checks what must hold, and returns what happened. Raises
        `BrokenError` where it does not hold, and `UnavailableError` where it cannot be done here.
    """

    done: str
    cause: Callable[[Path], str]


class BrokenError(Exception):
    """What must hold does not."""


class UnavailableError(Exception):
    """A fault needs what this machine does not have."""


def check(holds: bool, otherwise: str) -> None:
    """Raise `BrokenError` unless something holds."""
    if not holds:
        raise BrokenError(otherwise)
