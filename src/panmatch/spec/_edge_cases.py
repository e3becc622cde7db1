"""The values of scores when there is nothing to average, as written in a spec."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import PlainSerializer, PlainValidator

from panmatch.errors import nearest_name
from panmatch.scoring import Metric
from panmatch.spec._related import RelatedRequest

EdgeState = Literal["both_empty", "no_reference", "no_prediction", "no_match"]
Word = Literal["nan", "inf"]  # JSON has no such numbers
EdgeValue = float | Word

LARGEST = sys.float_info.max
WORDS: Mapping[str, Word] = {"nan": "nan", "inf": "inf"}
STATES: tuple[EdgeState, ...] = ("both_empty", "no_reference", "no_prediction", "no_match")
IN_WORDS: Mapping[EdgeState, str] = {
    "both_empty": "without any object",
    "no_reference": "without a reference",
    "no_prediction": "without a prediction",
    "no_match": "without a match",
}
EMPTY: tuple[EdgeState, ...] = ("both_empty",)
# Scores of every matcher, and when they are 0/0 or a mean of nothing; otherwise D3 defines them.
PLAIN: Mapping[str, tuple[EdgeState, ...]] = {
    "pq": EMPTY,
    "sq": STATES,
    "rq": EMPTY,
    "precision": ("both_empty", "no_prediction"),
    "recall": ("both_empty", "no_reference"),
}
PARTS: Mapping[str, tuple[EdgeState, ...]] = {"part_pq": EMPTY, "part_sq": STATES}
AREAS = dict.fromkeys(("autc", "autc_sq", "autc_rq"), EMPTY)
PART_AREAS = dict.fromkeys(("part_autc", "part_autc_sq"), EMPTY)


@dataclass(frozen=True, slots=True)
class EdgeCase:
    """The values of one score, by what is missing; None keeps the defined value (D11).

    Attributes
    ----------
    both_empty
        Neither side has an object.
    no_reference
        There are predictions, but no reference.
    no_prediction
        There are references, but no prediction.
    no_match
        Both have objects, but nothing is matched; for scores without a matcher, no shared voxels.
    """

    both_empty: EdgeValue | None = None
    no_reference: EdgeValue | None = None
    no_prediction: EdgeValue | None = None
    no_match: EdgeValue | None = None

    @property
    def given(self) -> dict[EdgeState, EdgeValue]:
        """The values that replace the defined ones."""
        values = {state: getattr(self, state) for state in STATES}
        return {state: value for state, value in values.items() if value is not None}

    @property
    def numbers(self) -> dict[EdgeState, float]:
        """The same values as numbers."""
        return {state: float(value) for state, value in self.given.items()}

    def __str__(self) -> str:
        given = self.given
        if len(given) == len(STATES) and len(set(given.values())) == 1:
            return _shown(given["both_empty"])
        return ", ".join(f"{_shown(value)} {IN_WORDS[state]}" for state, value in given.items())


def parse_edge_case(given: object) -> EdgeCase:
    """Return the values of one score: one for all, or a mapping with some of the four keys.

    Examples
    --------
    >>> parse_edge_case({"both_empty": 1, "no_match": float("inf")}).given
    {'both_empty': 1.0, 'no_match': 'inf'}
    >>> set(parse_edge_case("nan").given.values())
    {'nan'}
    """
    if isinstance(given, EdgeCase):
        return given
    if not isinstance(given, Mapping):
        value = _value(given)
        return EdgeCase(value, value, value, value)
    for key in given:
        if key not in STATES:
            raise ValueError(
                f"the key {key!r} is not known{nearest_name(str(key), list(STATES))} Accepted: "
                f"{', '.join(STATES)}"
            )
    return EdgeCase(
        **{key: _value(value, f"{key}: ") for key, value in given.items() if value is not None}
    )


def _value(given: object, place: str = "") -> EdgeValue:
    """Return a number, or one of the two words for numbers that JSON lacks."""
    if isinstance(given, int | float) and not isinstance(given, bool) and abs(given) <= LARGEST:
        return float(given)
    text = str(given).lower().removeprefix(".")
    if text in WORDS:
        return WORDS[text]
    shown = f", not {given!r}" if place else ""  # otherwise the message shows the whole entry
    raise ValueError(f"{place}must be a number, nan or inf{shown}")


def _shown(value: EdgeValue) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def edge_case_as_dict(case: EdgeCase) -> dict[EdgeState, EdgeValue]:
    """Return what `parse_edge_case` reads."""
    return case.given


EdgeCaseEntry = Annotated[
    EdgeCase, PlainValidator(parse_edge_case), PlainSerializer(edge_case_as_dict)
]


@dataclass(frozen=True, slots=True)
class EdgeScore:
    """A score that `edge_cases` can name."""

    column: str  # in tables
    states: tuple[EdgeState, ...]  # in which its value can be chosen


def edge_scores(
    metrics: Iterable[Metric],
    whole: Iterable[Metric],
    related: Iterable[RelatedRequest],
    *,
    parts: bool,
    curve: bool,
) -> dict[str, EdgeScore]:
    """Return all scores that `edge_cases` can name.

    A metric means its average over true positives; every other score goes by its column name.

    Examples
    --------
    >>> from panmatch.scoring import resolve_metrics
    >>> found = edge_scores(resolve_metrics(["hd"]), (), (), parts=False, curve=False)
    >>> list(found), found["hd"].column
    (['pq', 'sq', 'rq', 'precision', 'recall', 'hd'], 'sq_hd')
    """
    columns: dict[str, tuple[EdgeState, ...]] = {**PLAIN}
    if parts:
        columns |= PARTS
    if curve:
        columns |= {**AREAS, **(PART_AREAS if parts else {})}
    found = {name: EdgeScore(name, states) for name, states in columns.items()}
    for metric in metrics:
        by_iou = metric.name == "iou"
        found[metric.name] = EdgeScore("sq" if by_iou else f"sq_{metric.name}", STATES)
        if metric.is_share and not by_iou:
            found[f"pq_{metric.name}"] = EdgeScore(f"pq_{metric.name}", EMPTY)
    others = [f"whole_{metric.name}" for metric in whole]
    others += [column for request in related for column in request.columns]
    return found | {name: EdgeScore(name, STATES) for name in others}


def by_column(given: Mapping[str, EdgeCase], known: Mapping[str, EdgeScore]) -> dict[str, EdgeCase]:
    """Return the values by table column, or raise an error for an unknown name."""
    found: dict[str, EdgeCase] = {}
    for name, case in given.items():
        if name not in known:
            near = nearest_name(name, list(known))
            raise ValueError(
                f"edge_cases: {name!r} is not a score of this spec{near} Accepted: "
                f"{', '.join(known)}"
            )
        score = known[name]
        if score.column in found:
            raise ValueError(f"edge_cases: {name!r} is {score.column!r}, which is already listed")
        fixed = [state for state in case.given if state not in score.states]
        if fixed:
            raise ValueError(
                f"edge_cases.{name}: {fixed[0]} cannot be chosen, because {name} is defined there. "
                f"Write a mapping with {' or '.join(score.states)}"
            )
        found[score.column] = case
    return found
