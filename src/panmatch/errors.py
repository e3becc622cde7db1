"""The error family of panmatch: every message names the argument, the value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class PanmatchError(ValueError):
    """Base of everything that panmatch raises on purpose."""


class PanmatchWarning(UserWarning):
    """Numbers were computed as asked, but probably not as meant."""


class ShapeError(PanmatchError):
    """Arrays that belong together differ in shape."""


class LabelError(PanmatchError):
    """A label array holds something that is not a label."""


class OverlapError(PanmatchError):
    """The parts of an overlap graph contradict each other."""


class ThresholdError(PanmatchError):
    """A threshold lies outside [0, 1)."""


class StrategyError(PanmatchError):
    """A matching strategy is unknown, or cannot do what was asked."""


class OptionError(PanmatchError):
    """An option has a value that is not accepted."""


class FileError(PanmatchError):
    """A file cannot be read or written as asked."""


class LinkError(PanmatchError):
    """A link to the playground cannot be read."""


class SpecError(PanmatchError):
    """A spec is invalid."""


class MissingExtraError(PanmatchError, ImportError):
    """A library that is an optional extra is not installed."""


@contextmanager
def needs_extra(extra: str, purpose: str) -> Iterator[None]:
    """Turn a failed import inside the block into an error that prints the install command.

    Parameters
    ----------
    extra
        The extra of this package that brings the library, such as ``"files"``.
    purpose
        What the library is needed for, as the beginning of a sentence: ``"NIfTI files"``.

    Examples
    --------
    >>> with needs_extra("report", "Figures"):  # doctest: +IGNORE_EXCEPTION_DETAIL
    ...     import a_library_that_is_not_there
    Traceback (most recent call last):
        ...
    panmatch.errors.MissingExtraError: Figures need a_library_that_is_not_there, which is not …
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "panmatch").partition(".")[0] == "panmatch":
            raise  # ours, and so a bug
        raise MissingExtraError(
            f"{purpose} need {error.name}, which is not installed: pip install 'panmatch[{extra}]'."
        ) from error


def check_choice(argument: str, value: object, accepted: Iterable[str]) -> None:
    """Raise an `OptionError` that suggests the nearest name unless `value` is accepted.

    Examples
    --------
    >>> check_choice("solver", "greedy", ["optimal", "greedy"])
    >>> check_choice("gate", "sed", ["seed", "edge"])  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    panmatch.errors.OptionError: gate='sed' is not known; did you mean 'seed'? Accepted: …
    """
    names = list(accepted)
    if value in names:
        return
    raise OptionError(
        f"{argument}={value!r} is not known{nearest_name(value, names)} "
        f"Accepted: {', '.join(map(repr, names))}."
    )


def nearest_name(value: object, names: Iterable[str]) -> str:
    """Return '; did you mean …?' for the most similar name, or '.' where none is similar."""
    close = difflib.get_close_matches(str(value), list(names), n=1, cutoff=0.4)
    return f"; did you mean {close[0]!r}?" if close else "."
