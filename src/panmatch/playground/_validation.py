"""Input from links, messages and callers, checked by pydantic, with error messages of our own."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self, TypeVar, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from panmatch.errors import OptionError, PanmatchError, nearest_name

Message = dict[str, Any]  # a JSON object; its reader knows what is in it
Whole = Annotated[int, Field(strict=True)]
Position = Annotated[int, Field(strict=True, ge=0)]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]

T = TypeVar("T")

UNKNOWN_KEY = "unexpected_keyword_argument"
LONGEST_SHOWN = 60  # characters of a refused value
_MODELS: dict[str, list[str]] = {}  # keys of every checked class, by its name in lower case


class Checked:
    """Base of the classes that `checked` creates: they read and write JSON objects."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]

    @classmethod
    def from_dict(cls, given: object) -> Self:
        """Read what `to_dict` writes, or raise an `OptionError`."""
        try:
            return TypeAdapter(cls).validate_python(given)
        except ValidationError as error:
            raise _refusal(error) from error

    def to_dict(self) -> Message:
        """Return the value as JSON knows it, with all keys."""
        written: Message = TypeAdapter(type(self)).dump_python(self, mode="json")
        return written


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def checked(cls: type[T]) -> type[T]:
    """Make a frozen dataclass whose values are checked, however it is created.

    Examples
    --------
    >>> @checked
    ... class Dot(Checked):
    ...     x: Finite
    >>> Dot.from_dict({"y": 1})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    panmatch.errors.OptionError: the key 'y' of dot is not known. Accepted: x.
    """
    made: Any = dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))(cls)
    check = made.__init__

    @functools.wraps(check)
    def __init__(self: object, *args: object, **values: object) -> None:  # noqa: N807
        try:
            check(self, *args, **values)
        except ValidationError as error:
            raise _refusal(error) from error

    made.__init__ = __init__
    _MODELS[cls.__name__.lower()] = [field.name for field in dataclasses.fields(made)]
    return made  # type: ignore[no-any-return]


def need_keys(given: object, *keys: str) -> object:
    """Return what is given; refuse a mapping without keys that have a default in Python only."""
    missing = [key for key in keys if isinstance(given, Mapping) and key not in given]
    if missing:
        raise OptionError(f"the key {missing[0]!r} is missing. Needed: {', '.join(keys)}.")
    return given


def read_json(text: str) -> object:
    """Return what a JSON text says, or raise an `OptionError`.

    It must be standard JSON: no NaN, no infinity, and every key only once.

    Examples
    --------
    >>> read_json('{"r": 1.5}')
    {'r': 1.5}
    """
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise OptionError("the JSON is nested too deeply.") from error
    except json.JSONDecodeError as error:
        there = shown(text[error.pos : error.pos + 20])
        raise OptionError(f"not JSON: {error.msg} at character {error.pos}, {there}.") from error
    except PanmatchError:
        raise
    except ValueError as error:
        raise OptionError(f"not JSON: {error}.") from error


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


def _refusal(error: ValidationError) -> PanmatchError:
    """Return an error that names the key, the value and what is accepted."""
    # A key that is not known often explains why another one is missing.
    details = error.errors(include_url=False)
    first = min(details, key=lambda detail: detail["type"] != UNKNOWN_KEY)
    model, value, context = error.title.lower(), first["input"], first.get("ctx", {})
    where = _named(first["loc"], model)
    path = _path(where) or model
    cause = context.get("error")
    if isinstance(cause, PanmatchError):
        return type(cause)(f"{path}: {cause}" if where else str(cause))
    if first["type"] == UNKNOWN_KEY:
        *above, key = where
        owner = str(above[-1]) if above else model
        place = "" if _path(above) in ("", owner) else f"{_path(above)}: "
        return OptionError(place + unknown(f"the key {shown(key)} of {owner}", key, _MODELS[owner]))
    if first["type"] == "missing":
        return OptionError(f"{path} is missing.")
    if "discriminator" in context:
        key = context["discriminator"].strip("'")
        accepted = [name for name, keys in _MODELS.items() if key in keys]
        tag = value.get(key) if isinstance(value, dict) else None
        return OptionError(unknown(f"{path}.{key}={shown(tag)}", tag, accepted))
    if "expected" in context:
        accepted = re.findall(r"'([^']*)'", context["expected"]) or [context["expected"]]
        return OptionError(unknown(f"{path}={shown(value)}", value, accepted))
    reason = re.sub(r"^\w+ should", "must", first["msg"]).replace(" after validation", "")
    return OptionError(f"{path}={shown(value)} {reason.replace('tuple', 'list')}.")


def _named(location: tuple[int | str, ...], model: str) -> tuple[int | str, ...]:
    """Return where an error is, with the key instead of the position of an argument."""
    if location and isinstance(location[0], int):
        return (*_MODELS[model][location[0] : location[0] + 1], *location[1:])
    return location


def _path(where: Sequence[int | str]) -> str:
    """Return keys and positions; the kind of a shape, which follows its position, is left out.

    Examples
    --------
    >>> _path(("scene", "reference", 2, "stroke", "points", 0, 1))
    'scene.reference[2].points[0][1]'
    """
    path = ""
    for before, step in zip(("", *where), where, strict=False):
        if isinstance(step, int):
            path += f"[{step}]"
        elif not isinstance(before, int):
            path += f".{step}"
    return path.removeprefix(".")


def _mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise OptionError(f"the key {shown(twice)} is written twice.")
    return mapping


def _refuse_constant(name: str) -> None:
    raise OptionError(f"{name} is not a valid JSON number; numbers must be finite.")
