"""The error family of panmatch: every message names the argument, the value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import ParamSpec, TypeVar

from panmatch._synonyms import our_word_for

# How similar a name must be to be suggested. Lower values mislead, but short words need one.
LEAST_SIMILARITY, OF_SHORT_WORDS, SHORT = 0.6, 0.5, 3

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument in Python that is an option on the command line.

    Error messages hold it as a separate piece, so each user sees the name they would type.

    Attributes
    ----------
    name
        Name of the argument in Python.
    value
        The value that was passed; without one, only the name appears.
    flag
        The option, if its name differs.

    Examples
    --------
    >>> spacing = Argument("spacing", (1.0, 0.5))
    >>> str(spacing), spacing.option
    ('spacing=(1.0, 0.5)', '--spacing 1,0.5')
    >>> Argument("reference_parts").option
    '--reference-parts'
    """

    name: str
    value: object = None
    flag: str = ""

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"

    @property
    def option(self) -> str:
        """The argument as written on the command line."""
        option = self.flag or f"--{self.name.replace('_', '-')}"
        if self.value is None or self.value is True:
            return option
        if isinstance(self.value, tuple | list):
            return f"{option} {','.join(f'{one:g}' for one in self.value)}"
        return f"{option} {self.value!r}"


class PanmatchError(ValueError):
    """Base class of all errors that panmatch raises on purpose.

    Parameters
    ----------
    message
        Pieces of text, and arguments that are options on the command line.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch.errors import Argument
    >>> error = pm.PanmatchError(Argument("spacing", (1.0,)), " has one number.")
    >>> str(error), error.for_command_line()
    ('spacing=(1.0,) has one number.', '--spacing 1 has one number.')
    """

    def __init__(self, *message: str | Argument) -> None:
        super().__init__(*message)

    def __str__(self) -> str:
        return "".join(map(str, self.args))

    def for_command_line(self) -> str:
        """Return the message with options instead of arguments."""
        return "".join(
            piece.option if isinstance(piece, Argument) else str(piece) for piece in self.args
        )


class PanmatchWarning(UserWarning):
    """Numbers were computed as asked, but probably not as meant.

    Examples
    --------
    >>> import warnings
    >>> import panmatch as pm
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     found = pm.evaluate(
    ...         reference=[[1, 2, 3]], prediction=[[2, 3, 4]], spec={"matching": "same-id"}
    ...     )
    >>> print(str(caught[0].message)[:42])
    predicted ids of object look shifted by +1
    """


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


class CallError(OptionError, TypeError):
    """A function was called in an ambiguous way."""


class FileError(PanmatchError):
    """A file cannot be read or written as asked."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or a folder does not exist."""


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
        What needs the library, to start a sentence with: ``"NIfTI files"``.

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
            raise  # one of our own modules, so this is a bug
        raise MissingExtraError(
            f"{purpose} need {error.name}, which is not installed: pip install 'panmatch[{extra}]'."
        ) from error


def named_only(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function with keyword-only arguments explain itself when called with positional ones.

    Examples
    --------
    >>> @named_only
    ... def score(*, reference, prediction):
    ...     return reference - prediction
    >>> score(reference=3, prediction=1)
    2
    >>> score(3, 1)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    panmatch.errors.CallError: score takes its arguments by name …
    """
    accepted: int = function.__code__.co_argcount

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if len(args) > accepted:
            raise CallError(
                f"{function.__name__} takes its arguments by name, because which side is the "
                f"reference is never guessed from the order: write "
                f"{function.__name__}(reference=…, prediction=…)."
            )
        return function(*args, **kwargs)

    return call


def check_choice(argument: str | Argument, value: object, accepted: Iterable[str]) -> None:
    """Raise an `OptionError` that suggests the nearest name, unless `value` is accepted.

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
    kind = argument if isinstance(argument, str) else argument.name
    given = f"{kind}={value!r}" if isinstance(argument, str) else replace(argument, value=value)
    raise OptionError(
        given,
        f" is not known{nearest_name(value, names, kind)} Accepted: {', '.join(map(repr, names))}.",
    )


def check_size(argument: str, size: int, least: int) -> None:
    """Raise an `OptionError` unless size ≥ least."""
    if size < least:
        raise OptionError(f"{argument}={size!r} is too small: pass {least} or more.")


def nearest_name(value: object, names: Iterable[str], kind: str = "") -> str:
    """Return a suggestion for an unknown name, as the end of a sentence.

    Parameters
    ----------
    value, names
        The name that was given, and the names that are accepted.
    kind
        What the name is for, such as ``"strategy"`` or ``"metrics"``. Other tools' names for it
        are recognised.

    Examples
    --------
    >>> nearest_name("one-two-one", ["one-to-one", "union"])
    "; did you mean 'one-to-one'?"
    >>> nearest_name("jaccard", ["iou", "dice"], "metrics")
    "; panmatch calls it 'iou'."
    """
    if ours := our_word_for(kind, value):
        return f"; panmatch calls it {ours}."
    least = OF_SHORT_WORDS if len(str(value)) <= SHORT else LEAST_SIMILARITY
    close = difflib.get_close_matches(str(value), list(names), n=1, cutoff=least)
    return f"; did you mean {close[0]!r}?" if close else "."
