"""Why a program's number differs from ours: the objects on which the two disagree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy.typing as npt

from panmatch.evaluation import CaseResult, Images, Result, evaluate_case
from panmatch.labels import Unit
from panmatch.protocols._differences import Difference, find_differences
from panmatch.protocols._models import Protocol
from panmatch.protocols._numbers import case_number, class_labels, protocol_numbers

MOST_OBJECTS = 10


@dataclass(frozen=True, slots=True)
class Compared:
    """A number of the program next to ours."""

    name: str
    theirs: float
    ours: float
    our_name: str  # score, matcher, threshold and averaging (D15)

    @property
    def differ(self) -> bool:
        """Whether the two differ by more than rounding."""
        if math.isnan(self.theirs) or math.isnan(self.ours):
            return math.isnan(self.theirs) != math.isnan(self.ours)
        return self.theirs != self.ours and not abs(self.theirs - self.ours) < 1e-9


@dataclass(frozen=True, slots=True)
class Explanation:
    """A program's numbers next to ours, and the objects behind the difference."""

    protocol: Protocol
    numbers: tuple[Compared, ...]
    differences: tuple[Difference, ...]  # the largest objects first

    def lines(self, most: int = MOST_OBJECTS) -> list[str]:
        """Return it as text: the numbers, at most `most` objects, and how many more there are."""
        found = self._number_lines(2 * most)
        if self.protocol.objects == "voxels":
            return [*found, "The program counts voxels, so no object makes a difference."]
        if not self.differences:
            return [*found, "Both judge every object alike."]
        alike = _same_of_several_classes(self.differences)
        found.append("Objects on which the two disagree, largest first:")
        found += [one.sentence(classes) for one, classes in list(alike.items())[:most]]
        more = len(alike) - most
        return found + ([f"… and {more} more"] if more > 0 else [])

    def _number_lines(self, most: int) -> list[str]:
        shown = self.numbers[:most]
        width = max((len(one.name) for one in shown), default=0)
        first = f"{'':{width}}  {'theirs':>8}  {'ours':>8}  {self.our_setting}"
        lines = [
            f"{one.name:{width}}  {_text(one.theirs):>8}  {_text(one.ours):>8}  {one.our_name}"
            for one in shown
        ]
        more = len(self.numbers) - len(shown)
        return [first, *lines, *([f"… and {more} more"] if more > 0 else [])]

    @property
    def our_setting(self) -> str:
        """How our objects are matched."""
        return self.protocol.our_spec.matching[0].label


def _same_of_several_classes(differences: Iterable[Difference]) -> dict[Difference, list[str]]:
    """Return the distinct differences, each with all classes that share it."""
    found: dict[Difference, list[str]] = {}
    for one in differences:
        found.setdefault(replace(one, class_name=""), []).append(one.class_name)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class CaseExplanation:
    """What `explain` needs from one case: its result with our spec, and where the two disagree."""

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
        The protocol.
    theirs
        The result of the case with the spec of the protocol.
    reference, prediction, spacing, unit, threads
        The case, as for `evaluate_case`.
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
    """Return an explanation for each model of a result.

    Parameters
    ----------
    protocol, result
        The protocol and its result.
    cases
        What `explain_case` returns, for each case of the result.
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


def _compared(protocol: Protocol, theirs: dict[str, float], ours: Result) -> Iterator[Compared]:
    labels = class_labels(protocol.as_spec)
    names = list(protocol.as_spec.classes) or sorted(
        {one.setting.class_name for one in ours.all_series}
    )
    found: dict[str, Compared] = {}
    for template, number in protocol.numbers.items():
        wanted = number.ours
        if wanted is None:
            continue
        over = number.over_cases or protocol.over_cases
        for class_name in [number.of] if number.of else names:
            words = {"class": class_name, "label": labels.get(class_name, class_name)}
            own = template.format(**words)
            name = own if own in theirs else f"{class_name}/{own}"
            value = case_number(ours, wanted.score, wanted.threshold, class_name, over)
            our_name = _our_name(ours, wanted.score, wanted.threshold, over, number.of)
            if name in theirs:
                found[name] = Compared(name, theirs[name], value, our_name)
    yield from (found[name] for name in theirs if name in found)


def _our_name(ours: Result, score: str, threshold: float | None, over: str, of: str) -> str:
    known = ours.known_scores.get(score)
    title = score.upper() if known is None else known.title
    at = "" if threshold is None else f" at {threshold:g}"
    how = {"mean": "mean of cases", "pooled": "pooled", "sum": "sum of cases"}[over]
    words = [f"{title}{at}", of, how if len(ours.cases) > 1 else ""]
    return ", ".join(word for word in words if word)


def _text(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4g}" if value % 1 else f"{value:.0f}"


def explanation_lines(explanations: Sequence[Explanation], models: Sequence[str]) -> list[str]:
    """Return the explanations of several models, one after the other."""
    found: list[str] = []
    for model, one in zip(models, explanations, strict=True):
        found += [*([f"{model}:"] if len(models) > 1 else []), *one.lines()]
    return found
