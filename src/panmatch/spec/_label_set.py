"""Labels as people write them: 3, [1, 3], "100-199" or "all"."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BeforeValidator

MOST_LABELS = 1_000_000

# Ranges stay text, so a spec is written back as it was.
Labels = tuple[int | str, ...]
RANGE = re.compile(r"\s*(-?\d+)\s*-\s*(-?\d+)\s*")


def label_numbers(labels: Labels) -> tuple[int, ...]:
    """Return all labels of a set, with ranges expanded.

    Examples
    --------
    >>> label_numbers((1, "5-7"))
    (1, 5, 6, 7)
    """
    found: list[int] = []
    for one in labels:
        first, last = (one, one) if isinstance(one, int) else _ends(one)
        found.extend(range(first, last + 1))
    return tuple(found)


def _ends(span: str) -> tuple[int, int]:
    first, last = RANGE.fullmatch(span).groups()  # type: ignore[union-attr]
    return int(first), int(last)


def _parse(value: object, markers: bool = False) -> Labels:
    items = list(value) if isinstance(value, list | tuple) else [value]
    labels = tuple(_parse_one(item, markers) for item in items)
    every = sorted(label_numbers(labels))
    twice = [label for label, next_one in pairwise(every) if label == next_one]
    if twice:
        raise ValueError(f"names the label {twice[0]} more than once")
    return labels


def _parse_one(item: object, markers: bool) -> int | str:
    if isinstance(item, int) and not isinstance(item, bool) and (markers or item >= 0):
        return item
    span = RANGE.fullmatch(item) if isinstance(item, str) else None
    if span is None or ("-" in span[1] + span[2] and not markers):
        raise ValueError(
            f"{item!r} is not a label: write 3, [1, 3], '100-199' or, for a class, 'all'"
        )
    first, last = _ends(span[0])
    if not first <= last < first + MOST_LABELS:
        raise ValueError(
            f"the range {item!r} must be ascending, with fewer than {MOST_LABELS:,} labels"
        )
    return f"{first}-{last}"


def _parse_markers(value: object) -> Labels:
    """Read labels that do not mark objects, and so may be negative."""
    return _parse(value, markers=True)


def _parse_or_all(value: object) -> Labels | Literal["all"]:
    return "all" if value == "all" else _parse(value)


LabelSet = Annotated[Labels, BeforeValidator(lambda value: _parse(value))]
MarkerSet = Annotated[Labels, BeforeValidator(_parse_markers)]
MarkerSetOrOthers = Annotated[
    Literal["others"] | Labels,
    BeforeValidator(lambda value: value if value == "others" else _parse_markers(value)),
]
LabelSetOrAll = Annotated[Literal["all"] | Labels, BeforeValidator(_parse_or_all)]
