"""Why a number of a program is not ours: the objects on which the two disagree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy.typing as npt

from panmatch.evaluation import CaseResult, Images, Result, evaluate_case
from panmatch.labels import Unit
from panmatch.protocols._differences import Difference, find_differences
from panmatch.protocols._models import Protocol, template_fields
from panmatch.protocols._numbers import GROUPS, case_number, class_labels, protocol_numbers

MOST_OBJECTS = 10


@dataclass(frozen=True, slots=True)
class Compared:
    """A number of the program beside ours."""

    name: str
    theirs: float
    ours: float
    our_name: str  # score, matcher, threshold and averaging (D15)

    @property
    def differ(self) -> bool:
        """Whether the two are more than rounding apart."""
        if math.isnan(self.theirs) or math.isnan(self.ours):
            return math.isnan(self.theirs) != math.isnan(self.ours)
        return self.theirs != self.ours and not abs(self.theirs - self.ours) < 1e-9


@dataclass(frozen=True, slots=True)
class Explanation:
    """Numbers of a program beside ours, and the objects that make the difference."""

    protocol: Protocol
    numbers: tuple[Compared, ...]
    differences: tuple[Difference, ...]  # the largest objects first

    def lines(self, most: int = MOST_OBJECTS) -> list[str]:
        """Return it in words: the numbers, at most so many objects, and how many more there are."""
        width = max((len(one.name) for one in self.numbers), default=0)
        found = [
            f"{one.name:{width}}  {_text(one.theirs):>8}  ours {_text(one.ours):>8}  {one.our_name}"
            for one in self.numbers
        ]
        if self.protocol.objects == "voxels":
            return [*found, f"{self.protocol.program} counts voxels, so no object is to blame."]
        if not self.differences:
            return [*found, "Both judge every object alike."]
        found.append("Objects on which the two disagree, largest first:")
        found += [one.sentence for one in self.differences[:most]]
        more = len(self.differences) - most
        return found + ([f"… and {more} more"] if more > 0 else [])


@dataclass(frozen=True, slots=True, eq=False)
class CaseExplanation:
    """What `explain` needs of one case: its result with our spec, and where the two disagree."""

    ours: CaseResult
    differences: tuple[Difference, ...]


def explain_case(
    protocol: Protocol,
    theirs: CaseResult,
    reference: Images,
    prediction: Images,
    spacing: npt.ArrayLike | None = None,
    unit: Unit | None = None,
    threads: int | None = None,
) -> CaseExplanation:
    """Return our result of a case, and the objects that the protocol judges differently.

    Parameters
    ----------
    protocol
        What was reproduced.
    theirs
        The result of the case with the spec of the protocol.
    reference, prediction, spacing, unit, threads
        The case, as `evaluate_case` takes it.
    """
    ours = evaluate_case(
        reference, prediction, protocol.our_spec, case=theirs.case, model=theirs.model,
        spacing=spacing, unit=unit, threads=threads,
    )  # fmt: skip
    found = find_differences(protocol, theirs, ours, reference, prediction)
    return CaseExplanation(ours, tuple(found))


def explain(
    protocol: Protocol, result: Result, cases: Iterable[CaseExplanation]
) -> list[Explanation]:
    """Return the explanation of every model of a result.

    Parameters
    ----------
    protocol, result
        What was reproduced, and what came out.
    cases
        From `explain_case`, one for each case of the result.
    """
    known = list(cases)
    numbers = protocol_numbers(result, protocol)
    found = []
    for model in result.models:
        own = [one for one in known if one.ours.model == model]
        theirs = {one.name: one.value for one in numbers if one.case is None and one.model == model}
        our_result = Result(protocol.our_spec, tuple(one.ours for one in own))
        differences = [difference for one in own for difference in one.differences]
        differences.sort(key=lambda one: (-one.voxels, one.case, one.side, one.id))
        compared = tuple(_compared(protocol, theirs, our_result)) if own else ()
        found.append(Explanation(protocol, compared, tuple(differences)))
    return found


def _compared(protocol: Protocol, theirs: dict[str, float], ours: Result) -> Iterable[Compared]:
    labels = class_labels(protocol.as_spec)
    names = list(protocol.as_spec.classes) or sorted(
        {one.setting.class_name for one in ours.all_series}
    )
    for template, number in protocol.numbers.items():
        wanted = number.ours
        if wanted is None:
            continue
        over = number.over_cases or protocol.over_cases
        for class_name in names if template_fields(template) else [number.of or names[0]]:
            name = template.format(**{"class": class_name, "label": labels.get(class_name, "")})
            value = case_number(ours, wanted.score, wanted.threshold, class_name, over)
            if name in theirs:
                words = _our_name(ours, wanted.score, wanted.threshold, over, class_name)
                yield Compared(name, theirs[name], value, words)


def _our_name(ours: Result, score: str, threshold: float | None, over: str, class_name: str) -> str:
    known = ours.known_scores.get(score)
    title = score.upper() if known is None else known.title
    by = "" if threshold is None else f" {ours.spec.matching[0].label} at {threshold:g}"
    of_classes = class_name if class_name.partition(" of ")[2] in GROUPS else ""
    how = {"mean": "mean of cases", "pooled": "pooled", "sum": "sum of cases"}[over]
    several = len(ours.cases) > 1
    return f"{title}{by}{f', {of_classes}' if of_classes else ''}{f', {how}' if several else ''}"


def _text(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4g}" if value % 1 else f"{value:.0f}"


def explanation_lines(explanations: Sequence[Explanation], models: Sequence[str]) -> list[str]:
    """Return the explanations of several models below each other."""
    found: list[str] = []
    for model, one in zip(models, explanations, strict=True):
        found += [*([f"{model}:"] if len(models) > 1 else []), *one.lines()]
    return found
