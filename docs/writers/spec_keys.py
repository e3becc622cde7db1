"""The page about all keys of a spec, written from its models: ``make docs`` keeps it."""

from __future__ import annotations

import math
import re
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from panmatch.labels import REGION_RULES
from panmatch.matching import STRATEGIES, Matcher
from panmatch.overlap import Score
from panmatch.related import RELATED
from panmatch.spec import (
    Averaging,
    ClassSpec,
    ConfidenceSpec,
    EdgeCase,
    MetricOptions,
    Spec,
    key_meanings,
    preset_names,
    preset_text,
)

INTRODUCTION = """\
# Spec keys

<!-- Written by docs/writers/spec_keys.py. -->

A spec says what to evaluate and how. It is the name of a preset, a YAML or JSON file, or a Python
mapping: `--spec` on the command line, `spec=` in Python. Every key has a default, so write only
what you change. An unknown key is an error that names the nearest one. `panmatch spec` prints a
file with all keys and comments, and `panmatch spec --schema` a JSON Schema for editors that check
them. [Write a spec](../how-to/write-a-spec.md) shows specs in use.

D1 to D18 are [the definitions](../explanation/definitions.md).

## Presets

With `preset: NAME` at the top, a file starts from the keys of a preset and replaces those that it
lists itself. `null` drops a class.
"""

LABELS = """\
**Labels** are written `3`, `[1, 3]` or `"100-199"`, and in a class also `all`.
"""

MATCHING = """\
## matching

A list; each entry is the name of a [strategy](strategies.md), or a mapping:
"""

RELATED_SCORES = """\
## related

A list; each entry is the name of a score, or a mapping with `score`, its options, and `name`, which
replaces the score's name in columns of tables. [What they are](../explanation/related.md).
"""

EDGE_CASES = """\
## edge_cases

By the name of a score: a number, `nan` or `inf` for all of these, or a mapping with some of them.
A metric of `metrics` stands for its mean over true positives. A value can only be chosen where the
definition leaves the score undefined or makes it a mean of nothing.
"""

CONFIDENCE = """\
`confidence: {}` takes all defaults. `panmatch evaluate --scores` says where the files are; without
it, the CSV file of a case is next to its prediction. [Detections](../how-to/detections.md) shows
what follows from confidences."""

WORDS = {bool: "true, false", int: "whole number", float: "number", str: "text"}


def spec_keys_page() -> str:
    """Return the page as Markdown."""
    presets = ["| preset | objects |", "|---|---|"]
    presets += [f"| `{name}` | {_about(name)} |" for name in preset_names()]
    sections = [
        "\n".join([INTRODUCTION, *presets, ""]),
        _model("All keys", Spec) + f"\n{LABELS}",
        _model("classes", ClassSpec, "Each class, by its name, has these keys."),
        MATCHING + "\n" + _matching() + "\n",
        _model("metric_options", MetricOptions, "Options of the [metrics](metrics.md)."),
        RELATED_SCORES + "\n" + _related() + "\n",
        EDGE_CASES + "\n" + _edge_cases() + "\n",
        _model("averaging", Averaging),
        _model("confidence", ConfidenceSpec, CONFIDENCE),
    ]
    return "\n".join(sections)


def _about(preset: str) -> str:
    """Return what the comment on top of a preset says first."""
    lines = []
    for line in preset_text(preset).splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines).split(". ")[0].rstrip(".") + "."


def _model(title: str, model: type[BaseModel], about: str = "") -> str:
    texts = attribute_texts(model)
    lines = [f"## {title}", "", *([about, ""] if about else [])]
    lines += ["| key | values | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        values, default = _values(field.annotation, field), _default(field)
        lines.append(f"| `{name}` | {values} | {default} | {texts[name]} |")
    return "\n".join([*lines, ""])


def attribute_texts(model: type) -> dict[str, str]:
    """Return what the docstring says about each attribute, as Markdown."""
    return {name: _markdown(text) for name, text in key_meanings(model).items()}


def _markdown(text: str) -> str:
    """Return docstring text with code and links as Markdown has them."""
    text = re.sub(r"``\"?(.+?)\"?``", r"`\1`", text).replace("|", "\\|")
    text = text.replace("None", "`null`")
    return re.sub(r"\(D(\d+)\)", r"([D\1](../explanation/definitions.md#d\1))", text)


def _values(kind: object, field: FieldInfo | None = None) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in WORDS:
        assert isinstance(kind, type)
        return WORDS[kind] + _limits(field)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (Union, UnionType):
        return ", ".join("`null`" if one is NoneType else _values(one, field) for one in inner)
    if kind == tuple[int | str, ...]:
        return "labels"
    if origin is tuple:
        return f"list of {_plural(inner[0])}"
    if origin is dict:
        return "mapping by name"
    return "mapping" if _is_model(kind) else _values(*inner[:2])  # Annotated


def _plural(kind: object) -> str:
    words = {Matcher: "matchers", float: "numbers", str: "names"}
    inner = get_args(kind)[0] if get_args(kind) else kind
    assert isinstance(inner, type)
    return words.get(inner, "scores")


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _limits(field: FieldInfo | None) -> str:
    limits = {"ge": "at least", "gt": "above"}
    for one in field.metadata if field else ():
        for name, words in limits.items():
            if getattr(one, name, None) is not None:
                return f" {words} {getattr(one, name)}"
    return ""


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel) or _holds_models(value):
        return "see below"
    if isinstance(value, tuple) and value and isinstance(value[0], Matcher):
        return ", ".join(f"`{matcher.name}`" for matcher in value)
    return f"`{_yaml(value)}`"


def _holds_models(value: object) -> bool:
    return isinstance(value, dict) and any(isinstance(one, BaseModel) for one in value.values())


def _yaml(value: object) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_yaml, value))}]"
    if isinstance(value, dict):
        return "{}"
    words = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    return "nan" if isinstance(value, float) and math.isnan(value) else str(value)


def _matching() -> str:
    options: dict[str, list[str]] = {}
    for name, family in STRATEGIES.items():
        for option, values in family().choices().items():
            listed = ", ".join(f"`{value}`" for value in values)
            options.setdefault(option, []).append(f"{listed} (`{name}`)")
    rows = [
        ("strategy", ", ".join(f"`{name}`" for name in STRATEGIES), "required", "How to match"),
        *(
            (option, "; ".join(values), "the first", "Option of the strategy")
            for option, values in options.items()
        ),
        ("score", ", ".join(f"`{name}`" for name in get_args(Score)), "`iou`",
         "What is compared with the threshold ([D2](../explanation/definitions.md#d2))"),
        ("regions", "true, false, " + ", ".join(f"`{name}`" for name in REGION_RULES), "`false`; "
         "`true` for `union`", "Whether predictions are cut by the regions of the references "
         "([D8](../explanation/definitions.md#d8))"),
        ("strict", "true, false", "`true`", "Whether a score must exceed the threshold; with "
         "false it may equal it"),
    ]  # fmt: skip
    lines = ["| key | values | default | meaning |", "|---|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| `{row[0]}` | {row[1]} | {row[2]} | {row[3]}. |" for row in rows)]
    )


def _related() -> str:
    lines = ["| score | options and defaults | meaning | over several cases |", "|---|---|---|---|"]
    for name, score in RELATED.items():
        options = ", ".join(f"`{key}: {_yaml(value)}`" for key, value in score.options.items())
        lines.append(f"| `{name}` | {options or '–'} | {_markdown(score.about)} | {score.pooled} |")
    return "\n".join(lines)


def _edge_cases() -> str:
    lines = ["| key | where |", "|---|---|"]
    return "\n".join(
        [*lines, *(f"| `{k}` | {text} |" for k, text in attribute_texts(EdgeCase).items())]
    )
