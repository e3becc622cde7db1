"""Input from links, messages and callers, checked, with errors that say what is accepted."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections import Counter
from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
    ClassVar,
    Self,
    TypeVar,
    cast,
    dataclass_transform,
    get_type_hints,
)

from panmatch.errors import OptionError, PanmatchError
from panmatch.playground._checks import (
    Bounds,
    Check,
    RefusedError,
    caused_by,
    check_of,
    missing,
    refuse,
    shown,
    unknown,
    unknown_key,
)

__all__ = [
    "Checked",
    "Finite",
    "Message",
    "Position",
    "Whole",
    "checked",
    "ordinal",
    "read_json",
    "shown",
    "unknown",
]

Message = dict[str, Any]  # a JSON object; its reader knows what is in it
Whole = int
Position = Annotated[int, Bounds(ge=0)]
Finite = float

T = TypeVar("T")


class Checked:
    """Base of the classes that `checked` creates: they read and write JSON objects."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]
    needed: ClassVar[tuple[str, ...]] = ()  # keys of JSON that have a default in Python only

    @classmethod
    def from_dict(cls, given: object) -> Self:
        """Read what `to_dict` writes, or raise an `OptionError`."""
        try:
            model: _Model = _model(cls)  # type: ignore[arg-type]
            return cast(Self, model.read(given))
        except RefusedError as refusal:
            raise refusal.error(cls.__name__.lower()) from None

    def __repr__(self) -> str:
        """Return the call that creates the value, without what is None by default."""
        values = {one: getattr(self, one.name) for one in dataclasses.fields(self) if one.repr}
        written = [
            f"{one.name}={value!r}"
            for one, value in values.items()
            if not (value is None and one.default is None)
        ]
        return f"{type(self).__name__}({', '.join(written)})"

    def to_dict(self) -> Message:
        """Return the value as JSON knows it, with all keys."""
        names = [field.name for field in dataclasses.fields(self)]
        return {name: _plain(getattr(self, name)) for name in names}


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
    made: Any = dataclasses.dataclass(frozen=True, slots=True, repr=False)(cls)
    made.store = made.__init__
    names = [field.name for field in dataclasses.fields(made)]

    @functools.wraps(made.__init__)
    def __init__(self: object, *args: object, **values: object) -> None:  # noqa: N807
        given = dict(zip(names, args, strict=False)) | values
        try:
            made.store(self, **_model(made).check(given))
        except RefusedError as refusal:
            raise refusal.error(cls.__name__.lower()) from None

    made.__init__ = __init__
    return made  # type: ignore[no-any-return]


class _Model:
    """How the values of a checked class are checked."""

    def __init__(self, made: type) -> None:
        hints = get_type_hints(made, include_extras=True)
        fields = dataclasses.fields(made)
        nothing = dataclasses.MISSING
        self._made: Any = made
        self._name = made.__name__.lower()
        self._checks: dict[str, Check] = {
            field.name: check_of(hints[field.name], lambda other: _model(other).read)
            for field in fields
        }
        self._required = {
            field.name
            for field in fields
            if field.default is nothing and field.default_factory is nothing
        }

    def read(self, given: object) -> object:
        """Return what a mapping describes; a value of the class is returned as it is."""
        if type(given) is self._made:
            return given
        if not isinstance(given, Mapping):
            refuse(given, f"must be a dictionary or an instance of {self._made.__name__}")
        try:
            _need_keys(given, self._made.needed)
            made = object.__new__(self._made)
            self._made.store(made, **self.check(given))
        except PanmatchError as error:
            raise caused_by(error) from error
        return made

    def check(self, given: Mapping[Any, object]) -> dict[str, object]:
        """Return values by name as they are kept."""
        for key in given:
            if key not in self._checks:
                raise unknown_key(key, self._name, list(self._checks))
        kept: dict[str, object] = {}
        for name, check in self._checks.items():
            try:
                if name in given:
                    kept[name] = check(given[name])
                elif name in self._required:
                    raise missing()
            except RefusedError as refusal:
                refusal.where.append(name)
                raise
        return kept


_model = functools.cache(_Model)


def _plain(value: object) -> object:
    if isinstance(value, Checked):
        return value.to_dict()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _need_keys(given: Mapping[Any, object], keys: tuple[str, ...]) -> None:
    absent = [key for key in keys if key not in given]
    if absent:
        raise OptionError(f"the key {absent[0]!r} is missing. Needed: {', '.join(keys)}.")


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


def _mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise OptionError(f"the key {shown(twice)} is written twice.")
    return mapping


def _refuse_constant(name: str) -> None:
    raise OptionError(f"{name} is not a valid JSON number; numbers must be finite.")
