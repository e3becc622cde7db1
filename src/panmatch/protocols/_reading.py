"""Protocols by name: one YAML file each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import yaml

from panmatch.errors import Argument, OptionError, check_choice
from panmatch.protocols._models import Protocol
from panmatch.spec import merge_keys

FILES = files("panmatch.protocols") / "definitions"
T = TypeVar("T")
KEYS = ("classes", "background", "void", "headline")  # keys of a spec that come with free classes


@cache
def protocol_names() -> tuple[str, ...]:
    """Return the names of all protocols.

    Examples
    --------
    >>> "stardist" in protocol_names()
    True
    """
    return tuple(sorted(file.name.removesuffix(".yaml") for file in FILES.iterdir()))


def protocol_text(name: str) -> str:
    """Return the YAML of a protocol, comments included."""
    check_choice(Argument("protocol"), name, protocol_names())
    return (FILES / f"{name}.yaml").read_text(encoding="utf-8")


def find_protocol(name: str, keys: Mapping[str, object] | None = None) -> Protocol:
    """Return a protocol, or a variant of it.

    Parameters
    ----------
    name
        Name of the protocol, and after a slash that of a variant.
    keys
        ``classes`` and related keys of a spec, to use instead of the protocol's own.

    Examples
    --------
    >>> find_protocol("stardist").version
    '0.9.2'
    >>> find_protocol("stardits")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    panmatch.errors.OptionError: protocol='stardits' is not known; did you mean 'stardist'? …
    """
    base, slash, variant = str(name).partition("/")
    found = _read(base)
    if slash:
        check_choice(f"variant of {base}", variant, found.variants)
        chosen = found.variants[variant]
        found = found.model_copy(
            update={
                "name": name,
                "spec": merge_keys(found.spec, chosen.spec),
                "ours": merge_keys(found.ours, chosen.ours),
            }
        )
    if not keys:
        return found
    if found.classes == "fixed":
        raise OptionError(
            f"the protocol {base!r} uses the classes of its program: leave out ",
            Argument("classes", flag="--spec"),
            ", and any other option that names classes.",
        )
    return found.model_copy(
        update={"spec": _with_classes(found.spec, keys), "ours": _with_classes(found.ours, keys)}
    )


def _with_classes(spec: Mapping[str, object], keys: Mapping[str, object]) -> dict[str, object]:
    """Return keys of a spec with other classes, but keep what the protocol says about objects."""
    known = {key: value for key, value in spec.items() if key not in KEYS}
    own = spec.get("classes")
    default: dict[str, object] = next(iter(own.values()), {}) if isinstance(own, dict) else {}
    how = {key: value for key, value in default.items() if key not in ("labels", "parts")}
    given = keys.get("classes")
    if not isinstance(given, Mapping) or not given:
        raise OptionError(
            f"classes={given!r} must be a mapping such as {{'lesion': {{'labels': 1}}}}."
        )
    if not own:
        return known  # the other spec has all classes
    classes = {name: {**_described(one), **how} for name, one in given.items()}
    others = {key: keys[key] for key in KEYS[1:] if keys.get(key) is not None}
    return known | others | {"classes": classes}


def _described(one: object) -> dict[str, object]:
    """Return a class as a mapping, even if it is given as labels alone."""
    return dict(one) if isinstance(one, Mapping) else {"labels": one}


@cache
def _read(name: str) -> Protocol:
    content = yaml.safe_load(protocol_text(name))
    thresholds = content["spec"].get("thresholds", ())
    content["spec"]["related"] = _at_thresholds(content["spec"].get("related", []), thresholds)
    content["numbers"] = dict(_at_thresholds(content["numbers"].items(), thresholds))
    return Protocol.model_validate({"name": name, **content})


def _at_thresholds(entries: Iterable[T], thresholds: Sequence[float]) -> list[T]:
    """Return entries, repeating those with ``{tau}`` or ``{percent}`` for each threshold.

    Examples
    --------
    >>> _at_thresholds(["aji", {"threshold": "{tau}", "name": "at{percent}"}], [0.5, 0.75])
    ['aji', {'threshold': 0.5, 'name': 'at50'}, {'threshold': 0.75, 'name': 'at75'}]
    """
    found: list[T] = []
    every = [{"{tau}": f"{tau:g}", "{percent}": f"{100 * tau:g}"} for tau in thresholds]
    for entry in entries:
        spread = [_with_words(entry, words) for words in every]
        found += spread if spread and spread[0] != entry else [entry]
    return found


def _with_words(entry: Any, words: Mapping[str, str]) -> Any:
    """Return an entry with words replaced in its texts; a lone ``{tau}`` becomes a number."""
    if entry == "{tau}":
        return float(words[entry])
    if isinstance(entry, str):
        for word, text in words.items():
            entry = entry.replace(word, text)
    if isinstance(entry, dict):
        return {key: _with_words(value, words) for key, value in entry.items()}
    if isinstance(entry, list | tuple):
        return type(entry)(_with_words(one, words) for one in entry)
    return entry
