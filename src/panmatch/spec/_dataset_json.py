"""Classes from nnU-Net's ``dataset.json``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from panmatch.errors import Argument, SpecError

BACKGROUND, IGNORE = "background", "ignore"

Labels = int | list[int]
PathText = str | os.PathLike[str]


def read_dataset_json(path: PathText) -> tuple[dict[str, Labels], list[int]]:
    """Return the labels of each class, and the labels to ignore.

    Both versions are accepted: version 2, ``{"background": 0, "tumour": 1, "whole": [1, 2]}``,
    where a list is a region and ``ignore`` a label about which nothing is known; and version 1,
    ``{"0": "background", "1": "liver"}``.

    Raises
    ------
    SpecError
        If the file is something else; the message names file, key and remedy.
    """
    given = _labels(path)
    by_number = all(isinstance(name, str) and name.isdecimal() for name in given)
    pairs = _version_1(given, path) if by_number else given.items()
    classes: dict[str, Labels] = {}
    ignored: list[int] = []
    for name, value in pairs:
        labels = _numbers(name, value, path)
        if name == IGNORE:
            ignored += labels
        elif labels != [0] and name != BACKGROUND:
            _check_has_no_background(name, labels, path)
            classes[name] = labels[0] if isinstance(value, int) else labels
    if not classes:
        raise _refusal(path, "labels only has the background, so there is nothing to evaluate")
    return classes, ignored


def _labels(path: PathText) -> Mapping[str, object]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise _refusal(
            path, f"cannot be read as JSON ({error}): pass nnU-Net's dataset.json"
        ) from error
    given = content.get("labels") if isinstance(content, dict) else None
    if not isinstance(given, dict) or not given:
        raise _refusal(
            path,
            "has no mapping `labels`: write one as nnU-Net does, such as "
            '{"labels": {"background": 0, "tumour": 1}}',
        )
    return given


def _version_1(given: Mapping[str, object], path: PathText) -> Iterable[tuple[str, object]]:
    for number, name in given.items():
        if not isinstance(name, str) or not name.strip():
            raise _refusal(path, f"labels.{number} is {name!r}: write the name of the class")
        repeated = [other for other in given if given[other] == name]
        if len(repeated) > 1:
            raise _refusal(
                path, f"labels {' and '.join(repeated)} are both {name!r}: give each its own name"
            )
        yield name, int(number)


def _numbers(name: str, value: object, path: PathText) -> list[int]:
    listed: list[object] = value if isinstance(value, list) else [value]
    labels = [one for one in listed if type(one) is int and one >= 0]
    if not listed or len(labels) < len(listed):
        raise _refusal(
            path, f"labels.{name} is {value!r}: write a label such as 1, or a region such as [1, 2]"
        )
    return labels


def _check_has_no_background(name: str, labels: list[int], path: PathText) -> None:
    if 0 in labels:
        raise _refusal(path, f"labels.{name} is {labels}: remove 0, which is the background")


def _refusal(path: PathText, problem: str) -> SpecError:
    return SpecError(Argument("dataset_json", os.fspath(path)), f" {problem}.")
