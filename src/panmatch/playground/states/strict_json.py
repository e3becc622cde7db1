"""JSON as the standard has it: no NaN, no infinity, and every key once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from panmatch.errors import OptionError
from panmatch.playground.checks import shown


def read_json(text: str) -> Any:
    """Return what a JSON text says, or raise an `OptionError`.

    Examples
    --------
    >>> read_json('{"r": 1.5}')
    {'r': 1.5}
    """
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise OptionError("the JSON is nested too deeply to be read.") from error
    except json.JSONDecodeError as error:
        at = shown(text[error.pos : error.pos + 20])
        raise OptionError(f"no JSON: {error.msg} at character {error.pos}, {at}.") from error
    except ValueError as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"no JSON: {error}.") from error


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise OptionError(f"the key {shown(twice)} is written twice.")
    return found


def _refuse_constant(name: str) -> None:
    raise OptionError(f"{name} is no number of JSON; numbers must be finite.")
