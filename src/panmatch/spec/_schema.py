"""The JSON Schema of a spec, for editors that complete keys and mark mistakes."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_args

from pydantic import BaseModel

from panmatch.labels import REGION_RULES
from panmatch.matching import STRATEGIES
from panmatch.overlap import Score
from panmatch.related import RELATED
from panmatch.scoring import all_metrics
from panmatch.spec._edge_cases import WORDS, EdgeCase
from panmatch.spec._models import Averaging, ClassSpec, ConfidenceSpec, MetricOptions, Spec
from panmatch.spec._reading import preset_names

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VALUE: Schema = {"anyOf": [{"type": "number"}, {"enum": list(WORDS)}]}
LISTS = ("matching", "thresholds", "metrics", "whole", "related")  # one entry may stand alone


def spec_schema() -> Schema:
    """Return the JSON Schema of a spec.

    It describes what people write, with all short forms. A spec that it accepts may still
    contradict itself; reading the spec reports that.

    Examples
    --------
    >>> schema = spec_schema()
    >>> schema["properties"]["averaging"]["properties"]["undefined"]["enum"]
    ['skip', 'zero', 'one']
    """
    keys = _keys(Spec)
    keys["classes"] = {"type": "object", "additionalProperties": _or_null(_model(ClassSpec))}
    keys["matching"] = {"type": "array", "items": _matcher(), "minItems": 1}
    keys["thresholds"]["items"] |= {"minimum": 0, "exclusiveMaximum": 1}
    keys["metrics"]["items"] = keys["whole"]["items"] = {"enum": list(all_metrics())}
    keys["related"] = {"type": "array", "items": _related()}
    keys["edge_cases"] = {"type": "object", "additionalProperties": _edge_case()}
    keys["metric_options"], keys["averaging"] = _model(MetricOptions), _model(Averaging)
    keys["confidence"] = _or_null(_model(ConfidenceSpec))
    for name in LISTS:
        keys[name] = {"anyOf": [keys[name], keys[name]["items"]]}
    for name, text in key_meanings(Spec).items():
        keys[name]["description"] = text
    preset = {
        "enum": list(preset_names()),
        "description": "Preset to start from; keys listed here replace its own.",
    }
    return {
        "$schema": DIALECT,
        "title": "Spec of panmatch",
        "type": "object",
        "properties": {"preset": preset, **keys},
        "additionalProperties": False,
    }


def key_meanings(model: type) -> dict[str, str]:
    """Return the meaning of each key of a model, from its docstring, on one line.

    Examples
    --------
    >>> key_meanings(ClassSpec)["min_voxels"]
    'Smaller objects become background, on both sides.'
    """
    doc = inspect.getdoc(model) or ""
    section = doc.partition("Attributes\n----------\n")[2].partition("\n\n")[0]
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", section):
        names, _, text = block.partition("\n")
        found |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return found


def _model(model: type[BaseModel]) -> Schema:
    keys, meanings = _keys(model), key_meanings(model)
    for name, key in keys.items():
        key["description"] = meanings[name]
    return {"type": "object", "properties": keys, "additionalProperties": False}


def _keys(model: type[BaseModel]) -> dict[str, Schema]:
    """Return the schema of each key, with the short forms of labels."""
    return {
        name: _short_forms(key) for name, key in model.model_json_schema()["properties"].items()
    }


def _short_forms(key: Schema) -> Schema:
    key = {name: value for name, value in key.items() if name not in ("title", "default")}
    choices = key.get("anyOf", [key])
    lists = [one["items"] for one in choices if "items" in one]
    if lists and lists[0].get("anyOf"):  # labels: one alone is enough
        return {"anyOf": [*choices, *lists[0]["anyOf"]]}
    return key


def _or_null(schema: Schema) -> Schema:
    """Allow null, which drops a key of a preset."""
    return {"anyOf": [schema, {"type": "null"}]}


def _matcher() -> Schema:
    options: dict[str, list[str]] = {}
    for family in STRATEGIES.values():
        for option, values in family().choices().items():
            options.setdefault(option, []).extend(v for v in values if v not in options[option])
    names = {"enum": list(STRATEGIES)}
    properties: Schema = {
        "strategy": names,
        **{option: {"enum": values} for option, values in options.items()},
        "score": {"enum": list(get_args(Score))},
        "regions": {"enum": [True, False, *REGION_RULES]},
        "strict": {"type": "boolean"},
    }
    entry = {
        "type": "object",
        "properties": properties,
        "required": ["strategy"],
        "additionalProperties": False,
    }
    return {"anyOf": [names, entry]}


def _related() -> Schema:
    names = {"enum": list(RELATED)}
    properties = {"score": names, "name": {"type": "string"}}
    return {"anyOf": [names, {"type": "object", "properties": properties, "required": ["score"]}]}


def _edge_case() -> Schema:
    places = {"type": "object", "additionalProperties": False}
    keys = dict.fromkeys(key_meanings(EdgeCase), VALUE)
    return {"anyOf": [VALUE, {**places, "properties": keys}]}
