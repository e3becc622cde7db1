"""Checks that shapes, scenes and views share; every refusal names the key and what is accepted."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any

from panmatch.errors import OptionError, PanmatchError, check_choice, nearest_name

LONGEST_SHOWN = 60  # characters of a refused value


def check_number(key: str, value: object, lowest: float, highest: float) -> float:
    """Return `value` as a float in [lowest, highest], or raise an `OptionError`."""
    number = _as_float(value)
    if not lowest <= number <= highest:
        raise OptionError(
            f"{key}={shown(value)} is not accepted; pass a number from {lowest:g} to {highest:g}."
        )
    return number


def check_finite(key: str, value: object) -> float:
    """Return `value` as a float, or raise an `OptionError` unless it is finite."""
    number = _as_float(value)
    if not math.isfinite(number):
        raise OptionError(f"{key}={shown(value)} is not accepted; pass a finite number.")
    return number


def check_name(key: str, value: object, accepted: Collection[str]) -> None:
    """Raise an `OptionError` that suggests the nearest name unless `value` is accepted."""
    if not isinstance(value, str) or len(value) > LONGEST_SHOWN:
        raise OptionError(f"{key}={shown(value)} is not known. Accepted: {', '.join(accepted)}.")
    check_choice(key, value, accepted)


def check_flag(key: str, value: object) -> bool:
    """Return `value` if it is true or false, or raise an `OptionError`."""
    if not isinstance(value, bool):
        raise OptionError(f"{key}={shown(value)} is neither true nor false.")
    return value


def as_mapping(noun: str, given: object) -> Mapping[str, Any]:
    """Return `given` if it is a mapping, or raise an `OptionError`."""
    if not isinstance(given, dict | Mapping):  # a dict is known at once
        raise OptionError(f"{noun}={shown(given)} is no mapping of keys to values.")
    return given


def check_keys(
    noun: str, given: Mapping[str, Any], *, needed: Collection[str], optional: Collection[str] = ()
) -> None:
    """Raise an `OptionError` for a key that is not known, or for one that is missing."""
    accepted = [*needed, *optional]
    for key in given:
        if key not in accepted:
            raise OptionError(
                f"the key {shown(key)} of {noun} is not known"
                f"{nearest_name(str(key)[:LONGEST_SHOWN], accepted)} "
                f"Accepted: {', '.join(accepted)}."
            )
    for key in needed:
        if key not in given:
            raise OptionError(f"the key {key!r} of {noun} is missing. Needed: {', '.join(needed)}.")


def shown(value: object) -> str:
    """Return how a refused value is written, cut where it is long.

    Examples
    --------
    >>> shown("abc"), len(shown("a" * 1000))
    ("'abc'", 61)
    """
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"


def ordinal(position: int) -> str:
    """Return a position, counted from 0, in words.

    Examples
    --------
    >>> [ordinal(position) for position in (0, 1, 2, 3, 10, 20, 111)]
    ['1st', '2nd', '3rd', '4th', '11th', '21st', '112th']
    """
    number = position + 1
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


@contextmanager
def inside(place: str) -> Iterator[None]:
    """Put the place in front of what an error says."""
    try:
        yield
    except PanmatchError as error:
        raise type(error)(f"{place}: {error}") from error


def _as_float(value: object) -> float:
    """Return NaN, which every range refuses, for what is no number or too large for one."""
    if type(value) is float:  # nearly always, and what follows takes many times as long
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
