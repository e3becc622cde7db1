"""Annotations as checks: what a value must be, and an error that says where and why it is not.

A page without a server runs this in the browser, where pydantic cannot be relied on: its compiled
core and numpy have no common version there.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin

from panmatch.errors import OptionError, PanmatchError, nearest_name

Check = Callable[[Any], Any]  # returns the value as it is kept, or raises a RefusedError

LONGEST_SHOWN = 60  # characters of a refused value


class RefusedError(Exception):
    """A value that is not accepted.

    Parameters
    ----------
    say
        Returns the error for the path of the value, such as ``"scene.reference[2].r"``.
    """

    def __init__(self, say: Callable[[str], PanmatchError]) -> None:
        super().__init__()
        self.where: list[int | str] = []  # from the inside out
        self._say = say

    def error(self, model: str) -> PanmatchError:
        """Return the error; a value without a path is named after its class."""
        return self._say(path_of(self.where[::-1]) or model)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a number must be at least (``ge``), more than, at most and less than."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None

    def check(self, value: float) -> None:
        """Refuse a number that is out of bounds."""
        if self.ge is not None and value < self.ge:
            refuse(value, f"must be greater than or equal to {self.ge:g}")
        if self.gt is not None and value <= self.gt:
            refuse(value, f"must be greater than {self.gt:g}")
        if self.le is not None and value > self.le:
            refuse(value, f"must be less than or equal to {self.le:g}")
        if self.lt is not None and value >= self.lt:
            refuse(value, f"must be less than {self.lt:g}")


@dataclass(frozen=True, slots=True)
class Length:
    """How many items a list may have."""

    least: int = 0
    most: int | None = None

    def check(self, items: Sequence[object]) -> None:
        """Refuse a list that is too short or too long."""
        if self.most is not None and len(items) > self.most:
            refuse(items, f"must have at most {self.most} items, not {len(items)}")
        if len(items) < self.least:
            plural = "" if self.least == 1 else "s"
            refuse(items, f"must have at least {self.least} item{plural}, not {len(items)}")


@dataclass(frozen=True, slots=True)
class OneOf:
    """Names that are accepted."""

    names: Callable[[], Sequence[str]]

    def check(self, value: object) -> None:
        """Refuse any other value."""
        if not (isinstance(value, str) and value in self.names()):
            _refuse_unknown(value, self.names())


@dataclass(frozen=True, slots=True)
class Then:
    """A function that raises a `PanmatchError` unless a value is right."""

    function: Callable[[Any], object]

    def check(self, value: object) -> None:
        """Pass on what the function says."""
        try:
            self.function(value)
        except PanmatchError as error:
            raise caused_by(error) from error


def refuse(value: object, reason: str) -> NoReturn:
    """Refuse a value, and say what it must be."""
    raise RefusedError(lambda path: OptionError(f"{path}={shown(value)} {reason}."))


def missing() -> RefusedError:
    """Return the refusal of a value that is not there."""
    return RefusedError(lambda path: OptionError(f"{path} is missing."))


def caused_by(error: PanmatchError) -> RefusedError:
    """Return the refusal for which an error of ours is the reason."""

    def say(path: str) -> PanmatchError:
        return type(error)(f"{path}: {error}" if refusal.where else str(error))

    refusal = RefusedError(say)
    return refusal


def unknown_key(key: object, model: str, accepted: Sequence[str]) -> RefusedError:
    """Return the refusal of a key that a class does not have."""

    def say(path: str) -> PanmatchError:
        place = "" if path == model else f"{path}: "
        return OptionError(place + unknown(f"the key {shown(key)} of {model}", key, accepted))

    return RefusedError(say)


def check_of(annotation: object, of_class: Callable[[type], Check]) -> Check:
    """Return the check of an annotation.

    Parameters
    ----------
    annotation
        A number, bool, str, a literal, tuples, ``| None``, classes, and `Annotated` with the
        rules of this module.
    of_class
        Returns the check of any other class.
    """
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        named = any(isinstance(rule, OneOf) for rule in args[1:])  # says all that there is to say
        return _with_rules(_anything if named else check_of(args[0], of_class), args[1:])
    if origin is Literal:
        return _literal(args)
    if origin in (Union, types.UnionType):
        return _union(args, of_class)
    if origin is tuple:
        items = [check_of(item, of_class) for item in args if item is not Ellipsis]
        return _every(items[0]) if args[-1] is Ellipsis else _each(items)
    simple: dict[object, Check] = {float: _number, int: _whole, bool: _truth, str: _text}
    if annotation in simple:
        return simple[annotation]
    if isinstance(annotation, TypeVar) or not isinstance(annotation, type):
        raise TypeError(f"{annotation!r} cannot be checked")
    return of_class(annotation)


def _with_rules(check: Check, rules: Sequence[Any]) -> Check:
    def checked(value: object) -> object:
        kept = check(value)
        for rule in rules:
            try:
                rule.check(kept)
            except RefusedError as refusal:
                if kept is not value and isinstance(rule, Bounds | Length) and not refusal.where:
                    _as_given(rule, kept, value)
                raise
        return kept

    return checked


def _as_given(rule: Bounds | Length, kept: Any, value: Any) -> None:
    """Refuse a value as it was written, not as it is kept: 1 and not 1.0."""
    if kept == value or len(kept) == len(value):
        rule.check(value)


def _literal(accepted: Sequence[object]) -> Check:
    def check(value: object) -> object:
        for one in accepted:
            if type(one) is type(value) and one == value:
                return one
        _refuse_unknown(value, [str(one) for one in accepted])

    return check


def _union(options: Sequence[object], of_class: Callable[[type], Check]) -> Check:
    """Return the check of ``X | None``, or of classes that the key ``kind`` names."""
    some = [option for option in options if option is not types.NoneType]
    if len(some) < len(options):
        check_some = check_of(Union[tuple(some)], of_class)  # noqa: UP007
        return lambda value: None if value is None else check_some(value)
    classes = {one.__name__.lower(): one for one in some if isinstance(one, type)}
    checks = {name: of_class(one) for name, one in classes.items()}

    def check(value: object) -> object:
        if isinstance(value, Mapping):
            kind = value.get("kind")
            if not isinstance(kind, str) or kind not in checks:
                raise _at("kind", lambda: _refuse_unknown(kind, list(checks)))
            return checks[kind](value)
        if type(value) in classes.values():
            return value
        refuse(value, "must be a valid dictionary or object to extract fields from")

    return check


def _every(check_item: Check) -> Check:
    """Return the check of a list of any length."""

    def check(value: object) -> tuple[object, ...]:
        if not isinstance(value, list | tuple):
            refuse(value, "must be a valid list")
        kept = []
        for position, item in enumerate(value):
            try:
                kept.append(check_item(item))
            except RefusedError as refusal:
                refusal.where.append(position)
                raise
        return tuple(kept)

    return check


def _each(checks: Sequence[Check]) -> Check:
    """Return the check of a list with one item for each check."""

    def check(value: object) -> tuple[object, ...]:
        if not isinstance(value, list | tuple):
            refuse(value, "must be a valid list")
        Length(most=len(checks)).check(value)
        kept = []
        for position, check_item in enumerate(checks):
            try:
                if position == len(value):
                    raise missing()
                kept.append(check_item(value[position]))
            except RefusedError as refusal:
                refusal.where.append(position)
                raise
        return tuple(kept)

    return check


def _anything(value: object) -> object:
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        refuse(value, "must be a valid number")
    try:
        number = float(value)
    except OverflowError:
        refuse(value, "must be a valid number")
    if not math.isfinite(number):
        refuse(value, "must be a finite number")
    return number


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(value, "must be a valid integer")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        refuse(value, "must be a valid boolean")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        refuse(value, "must be a valid string")
    return value


def _at(key: str, refusing: Callable[[], NoReturn]) -> RefusedError:
    """Return a refusal as that of the value under a key."""
    try:
        refusing()
    except RefusedError as refusal:
        refusal.where.append(key)
        return refusal


def _refuse_unknown(value: object, accepted: Sequence[str]) -> NoReturn:
    raise RefusedError(lambda path: OptionError(unknown(f"{path}={shown(value)}", value, accepted)))


def shown(value: object) -> str:
    """Return how a refused value is written, cut where it is long.

    Examples
    --------
    >>> shown("abc"), len(shown("a" * 1000))
    ("'abc'", 61)
    """
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"


def unknown(name: str, value: object, accepted: Sequence[str]) -> str:
    """Return the sentence that refuses a value, with the nearest name that is accepted."""
    nearest = nearest_name(value[:LONGEST_SHOWN], accepted) if isinstance(value, str) else "."
    return f"{name} is not known{nearest} Accepted: {', '.join(accepted)}."


def path_of(where: Sequence[int | str]) -> str:
    """Return keys and positions as they would be written in Python.

    Examples
    --------
    >>> path_of(("scene", "reference", 2, "points", 0, 1))
    'scene.reference[2].points[0][1]'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in where)
    return re.sub(r"^\.", "", "".join(steps))
