"""From YAML, a preset's name or a mapping to a `Spec`, with errors that teach."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from panmatch.errors import Argument, SpecError, nearest_name
from panmatch.spec._dataset_json import read_dataset_json
from panmatch.spec._models import Spec

Content = dict[str, object]

SUFFIXES = (".yaml", ".yml", ".json")
PRESETS = files("panmatch.spec") / "presets"  # one commented YAML file each
DEFAULT = "instances"
MOST_VALUES = 100_000  # in a spec; 300 classes with all their keys take a few thousand


SpecLike = Spec | str | os.PathLike[str] | Mapping[str, object]


def as_spec(spec: SpecLike) -> Spec:
    """Return a `Spec` for the name of a preset, a YAML file or a mapping.

    Examples
    --------
    >>> as_spec({"preset": "cells", "thresholds": [0.5, 0.7]}).thresholds
    (0.5, 0.7)
    """
    if isinstance(spec, Spec):
        return spec
    if isinstance(spec, Mapping):
        return _validated(dict(spec), "spec")
    if isinstance(spec, str) and spec in preset_names():
        return _validated({"preset": spec}, spec)
    path = Path(spec)
    if path.suffix.lower() in SUFFIXES:
        return read_spec(path)
    raise SpecError(
        Argument("spec", str(spec)),
        f" is not a preset{nearest_name(spec, preset_names())} Presets: "
        f"{', '.join(preset_names())}; a file must end in {' or '.join(SUFFIXES)}.",
    )


def spec_for_dataset(
    dataset_json: str | os.PathLike[str], spec: str | os.PathLike[str] = DEFAULT
) -> Spec:
    """Return a spec with the classes of nnU-Net's ``dataset.json``.

    The labels of such a dataset are classes, not objects. So each connected component is an object
    unless the spec says otherwise.

    Parameters
    ----------
    dataset_json
        The file with the names and labels of classes and regions; its label ``ignore`` is void.
    spec
        All other keys: a preset, whose own classes are dropped; or a YAML file, which may say more
        about a class of the dataset, such as ``kind: stuff``, or drop a class with null.

    Examples
    --------
    >>> import tempfile
    >>> labels = '{"labels": {"background": 0, "liver": 1, "all": [1, 2], "ignore": 3}}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "dataset.json")
    ...     written = path.write_text(labels)
    ...     found = spec_for_dataset(path, "cells")
    >>> found.classes["all"].numbers, found.classes["all"].instances, found.void
    ((1, 2), 'components', (3,))
    """
    labels, ignored = read_dataset_json(dataset_json)
    given: Content = {"preset": str(spec)}
    if _is_file(spec):
        given = _parsed(*_text_of(spec))
    own, headline = given.pop("classes", None) or {}, given.get("headline")
    content = _with_preset(given)
    if not isinstance(own, dict) or (strays := sorted(set(own) - set(labels))):
        named = f"{strays[0]!r} is" if isinstance(own, dict) else f"{own!r} are"
        raise SpecError(
            f"classes: {named} not in ",
            Argument("dataset_json", os.fspath(dataset_json)),
            f", which has {', '.join(map(repr, labels))}. Use these names, or drop one of the two.",
        )
    content["classes"] = {
        name: {"labels": numbers, "instances": "components", **(own.get(name) or {})}
        for name, numbers in labels.items()
        if name not in own or own[name] is not None
    }
    if headline is None:
        content.pop("headline", None)  # it is a class of the preset
    if ignored:
        content["void"] = [*_listed(content.get("void")), *ignored]
    return _validated(content, os.fspath(spec))


def _is_file(spec: str | os.PathLike[str]) -> bool:
    return spec not in preset_names() and Path(spec).suffix.lower() in SUFFIXES


def _listed(value: object) -> list[object]:
    return [] if value is None else value if isinstance(value, list) else [value]


def read_spec(path: str | os.PathLike[str]) -> Spec:
    """Read a spec from a YAML file."""
    return _validated(_parsed(*_text_of(path)), str(path))


def _text_of(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the text of a file, and its name for error messages."""
    source = Path(path)
    try:
        return source.read_text(encoding="utf-8"), str(source)
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(Argument("spec", str(source)), f" cannot be read: {error}.") from error


class _Loader(yaml.SafeLoader):
    """Loads only plain data, and raises an error for a repeated key."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        keys = set[Hashable]()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is written twice", node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep)


def _parsed(text: str, name: str) -> Content:
    try:
        # A key of more than 1,024 characters is JSON, but not YAML.
        is_json = name.lower().endswith(".json")
        content = json.loads(text, object_pairs_hook=_mapping) if is_json else _from_yaml(text)
        _check_size(content)
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        cause = " ".join(str(error).split())
        kind = "JSON" if name.lower().endswith(".json") else "YAML"
        raise SpecError(Argument("spec", name), f" is not {kind}: {cause}.") from error
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise SpecError(
            Argument("spec", name),
            f" must be a mapping of keys such as 'classes' and 'matching', not a "
            f"{type(content).__name__}. `panmatch spec` writes a template.",
        )
    return content


def _from_yaml(text: str) -> object:
    return yaml.load(text, _Loader)


def _mapping(pairs: list[tuple[str, object]]) -> Content:
    """Return a JSON object as a mapping; a repeated key is an error."""
    found: Content = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is written twice")
        found[key] = value
    return found


def _check_size(content: object) -> None:
    """Raise an error for more values than a spec can have.

    A few lines of anchors that refer to each other can expand to billions of values. They cost
    nothing until something visits them all.
    """
    waiting, n_values = [content], 0
    while waiting:
        value = waiting.pop()
        inside = (*value.keys(), *value.values()) if isinstance(value, dict) else value
        if isinstance(inside, list | tuple):
            waiting += inside
            n_values += len(inside)
        if n_values > MOST_VALUES:
            raise ValueError(f"it has more than {MOST_VALUES:,} values, including repeated anchors")


def _validated(content: Content, name: str) -> Spec:
    try:
        return Spec.model_validate(_with_preset(content))
    except ValidationError as error:
        lines = [_line(one) for one in error.errors()]
        text = " cannot be used:\n  " + "\n  ".join(lines)
        raise SpecError(Argument("spec", name), text) from error


def _with_preset(content: Content) -> Content:
    """Return the content merged into the preset that it names, if any."""
    given = dict(content)
    name = given.pop("preset", None)
    if name is None:
        return given
    if name not in preset_names():
        raise SpecError(
            f"preset={name!r} is not known{nearest_name(name, preset_names())} "
            f"Accepted: {', '.join(preset_names())}."
        )
    merged = merge_keys(_parsed(preset_text(name), name), given)
    classes = merged.get("classes")
    known = classes if isinstance(classes, dict) else {}
    if "headline" not in given and known.get(merged.get("headline")) is None:
        merged.pop("headline", None)  # a class of the preset that was dropped
    return merged


def merge_keys(below: Content, above: Content) -> Content:
    """Merge `above` into `below`: mappings merge, null drops a key, all else replaces it.

    Examples
    --------
    >>> merge_keys({"classes": {"a": {}, "b": {}}, "curve": True}, {"classes": {"b": None}})
    {'classes': {'a': {}}, 'curve': True}
    """
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, dict) and value is None:
            del merged[key]
        elif isinstance(old, dict) and isinstance(value, dict):
            merged[key] = merge_keys(old, value)
        else:
            merged[key] = value
    return merged


def _line(error: ErrorDetails) -> str:
    place = "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in error["loc"])
    shown = "" if isinstance(error["input"], dict | list) else f" (it is {error['input']!r})"
    text = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{place.lstrip('.') + ': ' if place else ''}{text}{shown}."


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of all presets, the default first.

    Examples
    --------
    >>> preset_names()[0]
    'instances'
    """
    names = {file.name.removesuffix(".yaml") for file in PRESETS.iterdir()}
    return DEFAULT, *sorted(names - {DEFAULT})


def preset_text(name: str) -> str:
    """Return the YAML of a preset, comments included."""
    return (PRESETS / f"{name}.yaml").read_text(encoding="utf-8")
