"""Advice on how to score data like these: the facts of every class, and what they suggest."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from panmatch.datasets._advice_points import (
    ONE,
    PAGE,
    THRESHOLDS,
    UNION,
    Point,
    advised_strategies,
    advised_thresholds,
    find_points,
)
from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import DataFacts, number, plural, table
from panmatch.matching import STRATEGIES

WIDTH, INDENT = 80, "  "
MOST_CLASSES = 8  # with a line of their own
CAUTION = (
    "Sizes and contacts come from the references alone. Everything else also depends on these "
    "predictions, so decide before you compare models, not after."
)
# As ``--strategy`` takes them: the name alone for the default options.
KEYS = {
    strategy.label: strategy.key if place else strategy.name
    for family in STRATEGIES.values()
    for place, strategy in enumerate(family.variants())
}


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """How to score data like these: what was seen in them, and what that suggests.

    The data can show what a choice would change. What counts as one object, and which mistakes
    matter, is for your question to decide. Advice on several cases adds.

    Attributes
    ----------
    facts
        What was seen, by class; see `panmatch.evaluation.DataFacts`. Stuff has none.

    Examples
    --------
    >>> import panmatch as pm
    >>> reference = [[1, 1, 1, 1, 1, 0, 2, 2, 2]]
    >>> prediction = [[3, 3, 3, 4, 4, 0, 5, 5, 5]]
    >>> advice = pm.advise(reference=reference, prediction=prediction)
    >>> advice.points[0].topic, advice.points[0].evidence[0][:54]
    ('Strategy', '1 of 2 references is split over 2 predictions. Taken t')
    >>> advice.strategies, advice.thresholds
    (('one-to-one', 'many-to-one'), (0.5, 0.1))
    """

    facts: Mapping[str, DataFacts]

    @property
    def pooled(self) -> DataFacts:
        """The facts of all classes together."""
        if not self.facts:
            raise OptionError(
                "no class of things is there to give advice on: stuff is one segment per image, "
                "so every strategy gives the same."
            )
        first, *others = self.facts.values()
        if not others:
            return first
        # Classes share their cases: these are counted once, and not compared by their references.
        return replace(
            sum(others, start=first),
            n_cases=max(one.n_cases for one in self.facts.values()),
            n_empty_cases=0,
            refs_per_case=np.zeros(0, np.int64),
        )

    @property
    def points(self) -> tuple[Point, ...]:
        """What to choose, each with its evidence."""
        return find_points(
            self.pooled, {name: one.n_references for name, one in self.facts.items()}
        )

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies to report, as ``--strategy`` takes them, the main one first."""
        return tuple(KEYS[label] for label in advised_strategies(self.pooled))

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The thresholds to report, the main one first."""
        return tuple(advised_thresholds(self.pooled))

    def of(self, class_name: str) -> Advice:
        """Return the advice on one class alone."""
        check_choice("class_name", class_name, self.facts)
        return Advice({class_name: self.facts[class_name]})

    def summary(self, width: int = WIDTH) -> str:
        """Return everything as text, on lines of a width."""
        blocks = [[_headline(self)], _scores(self.pooled)]
        if len(self.facts) > 1:
            blocks.append(_class_lines(self.facts))
        blocks += [_point_lines(point, width) for point in self.points]
        blocks.append([*_wrapped(CAUTION, width), f"The reasons: {PAGE}"])
        return "\n\n".join("\n".join(lines) for lines in blocks)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "strategies": list(self.strategies),
            "thresholds": list(self.thresholds),
            "points": [
                {
                    "topic": point.topic,
                    "choice": point.choice,
                    "evidence": list(point.evidence),
                    "link": point.link,
                }
                for point in self.points
            ],
            "scores": _score_rows(self.pooled),
            "facts": {name: facts.to_dict() for name, facts in self.facts.items()},
            "caution": CAUTION,
        }

    def __add__(self, other: Advice) -> Advice:
        if not isinstance(other, Advice):
            return NotImplemented
        names = dict.fromkeys([*self.facts, *other.facts])
        both = {
            name: [one.facts[name] for one in (self, other) if name in one.facts] for name in names
        }
        return Advice({name: sum(found[1:], start=found[0]) for name, found in both.items()})

    def __radd__(self, other: object) -> Advice:
        return self if other == 0 else NotImplemented  # sum() begins with 0

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Advice({_headline(self)})"


def _headline(advice: Advice) -> str:
    facts, names = advice.pooled, list(advice.facts)
    of = f"class {names[0]}" if len(names) == 1 else f"{len(names)} classes together"
    return (
        f"{plural(facts.n_cases, 'case')}, {of}: "
        f"{plural(facts.n_references, 'reference')}, {plural(facts.n_predictions, 'prediction')}"
    )


def _title(label: str) -> str:
    return "union in Voronoi regions" if label == UNION else label


def _scores(facts: DataFacts) -> list[str]:
    """Return a table of PQ under every strategy, and its area."""
    pooled = ", pooled" if facts.n_cases > 1 else ""
    head = [f"PQ{pooled}", *(f"τ = {threshold:g}" for threshold in THRESHOLDS), "AUTC"]
    rows = [
        [_title(label), *(number(facts.pq(label, one)) for one in THRESHOLDS), number(curve.autc)]
        for label, curve in facts.curves.items()
    ]
    if (parts := facts.part_curve) is not None:
        cells = [number(parts.at(threshold).pq) for threshold in THRESHOLDS]
        rows.append([f"{ONE}, PartPQ", *cells, number(parts.autc)])
    return table([head, *rows], left=1)


def _score_rows(facts: DataFacts) -> list[dict[str, Any]]:
    """Return the same for JSON."""
    curves = {(label, "iou"): curve for label, curve in facts.curves.items()}
    if facts.part_curve is not None:
        curves[ONE, "parts"] = facts.part_curve
    return [
        {
            "strategy": label,
            "regions": "voronoi" if label == UNION else None,
            "quality": quality,
            "pq": {f"{threshold:g}": curve.at(threshold).pq for threshold in THRESHOLDS},
            "autc": curve.autc,
        }
        for (label, quality), curve in curves.items()
    ]


def _class_lines(facts: Mapping[str, DataFacts]) -> list[str]:
    """Return a line for each of the classes with most references."""
    order = sorted(facts, key=lambda name: -facts[name].n_references)
    shown = order[:MOST_CLASSES]
    head = ["class", "references", "predictions", "split", "merged", "PQ at 0.5"]
    rows = [
        [
            name,
            *(str(n) for n in (one.n_references, one.n_predictions, one.n_split, one.n_merged)),
            number(one.pq(ONE, THRESHOLDS[-1])),
        ]
        for name, one in ((name, facts[name]) for name in shown)
    ]
    more = len(order) - len(shown)
    rest = [f"({more} more {'class' if more == 1 else 'classes'} with fewer)"] if more else []
    return [*table([head, *rows], left=1), *rest]


def _point_lines(point: Point, width: int) -> list[str]:
    lines = _wrapped(f"{point.topic}: {point.choice}", width, "", INDENT)
    for text in point.evidence:
        lines += _wrapped(text, width, f"{INDENT}- ", f"{INDENT}  ")
    return [*lines, f"{INDENT}→ #{point.section}"]


def _wrapped(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Return a paragraph as lines; a threshold is not torn apart."""
    tied = text.replace("τ = ", "τ\u00a0=\u00a0")
    lines = textwrap.wrap(
        tied, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False
    )
    return [line.replace("\u00a0", " ") for line in lines]
