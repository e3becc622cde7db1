"""Scores by the names under which a training loop logs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from panmatch.matching import Tally
from panmatch.scoring import Curve
from panmatch.scoring.class_scores import ClassCurves, ClassTallies, GroupScore
from panmatch.torch.labelling import key_of

SCORES = ("pq", "sq", "rq")
COUNTS = ("tp", "fp", "fn")
AREAS = ("autc", "autc_sq", "autc_rq")


def name_tallies(
    tallies: ClassTallies, suffix: str = "", *, per_class: bool = False
) -> Iterator[tuple[str, float]]:
    """Yield the names and values of scores and counts at one threshold.

    Parameters
    ----------
    suffix
        What names end with, to tell thresholds apart.
    per_class
        Whether to yield every class as well, as in ``"pq/person"``.

    Examples
    --------
    >>> from panmatch.labels import SegmentClass
    >>> found = ClassTallies((SegmentClass(1, "cell"),), {1: Tally(1, 1, 0, 0.9)})
    >>> {name: round(value, 2) for name, value in name_tallies(found)}
    {'pq': 0.6, 'sq': 0.9, 'rq': 0.67, 'tp': 1, 'fp': 1, 'fn': 0}
    """
    for group, mean in groups(tallies).items():
        for score in SCORES:
            yield f"{score}{group}{suffix}", getattr(mean, score)
    for count in COUNTS:
        yield f"{count}{suffix}", sum(getattr(tally, count) for tally in tallies.values())
    if per_class:
        yield from _of_classes(tallies, tallies, (*SCORES, *COUNTS), suffix)


def name_areas(curves: ClassCurves, *, per_class: bool = False) -> Iterator[tuple[str, float]]:
    """Yield the names and values of the areas under the curves (D7)."""
    for group, mean in groups(curves.at(0.0)).items():
        for area in AREAS:
            values = [getattr(curves[number], area) for number in mean.classes]
            yield f"{area}{group}", float(np.mean(values)) if values else float("nan")
    if per_class:
        yield from _of_classes(curves.at(0.0), curves, AREAS, "")


def groups(tallies: ClassTallies) -> dict[str, GroupScore]:
    """Return means over the classes that occur; of things and stuff where there are both (D10)."""
    means = {"": tallies.all}
    if len({kind.thing for kind in tallies.classes}) > 1:
        means |= {"_things": tallies.things, "_stuff": tallies.stuff}
    return means


def _of_classes(
    tallies: ClassTallies, found: Mapping[int, Tally | Curve], names: tuple[str, ...], suffix: str
) -> Iterator[tuple[str, float]]:
    for kind in tallies.classes:
        for name in names:
            yield f"{name}{suffix}/{key_of(kind)}", getattr(found[kind.id], name)
