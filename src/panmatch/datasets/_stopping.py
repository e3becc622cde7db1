"""When a long evaluation may stop: rules that stay valid although they look after every case."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from panmatch.datasets._cases import Case
from panmatch.datasets._outputs import SEED
from panmatch.datasets._statistics import (
    FEWEST_LOOKED_AT,
    confidence_sequence,
    running_evidence,
)
from panmatch.errors import Argument, OptionError
from panmatch.evaluation import CaseResult, Notice, Result, plural, signed
from panmatch.overlap import Floats
from panmatch.spec import Spec

ALPHA = 0.05
ACCEPTED = "decided, or half-width=0.02"
CAREFUL = (
    "The intervals and p-values of the tables are for a number of cases that was fixed beforehand: "
    "report this answer instead."
)

ResultOf = Callable[[tuple[str, str]], CaseResult]


@dataclass(frozen=True, slots=True)
class StopRule:
    """When to stop.

    Attributes
    ----------
    kind
        ``"decided"``: as soon as one model is better than all others, by mean PQ of cases.
        ``"half-width"``: as soon as mean PQ, or all differences between models, are known well
        enough.
    target
        The largest half-width of the 95 % confidence sequence.
    """

    kind: Literal["decided", "half-width"]
    target: float = 0.0

    def __str__(self) -> str:
        return self.kind if self.kind == "decided" else f"{self.kind}={self.target:g}"


def read_stop_rule(text: str | None) -> StopRule | None:
    """Return the rule that a text names.

    Examples
    --------
    >>> read_stop_rule("half-width=0.02")
    StopRule(kind='half-width', target=0.02)
    """
    if text is None:
        return None
    name, _, number = text.partition("=")
    if text == "decided":
        return StopRule("decided")
    try:
        target = float(number)
    except ValueError:
        target = math.nan
    if name != "half-width" or not 0 < target < math.inf:
        raise OptionError(
            Argument("stop_when", text), f" is not a rule for stopping: pass {ACCEPTED}."
        )
    return StopRule("half-width", target)


class StopMonitor:
    """Follows a run, and says when it may stop.

    Cases are evaluated in random order, and looked at in this order, whatever the order in which
    workers finish them: a case that takes longer may well be a harder one.

    Parameters
    ----------
    rule
        When to stop.
    spec
        What is evaluated. The rule is about PQ of its headline class under its first matcher and
        threshold.
    cases
        All cases of all models.
    result_of
        Returns the result of a model and case that are finished.
    """

    def __init__(
        self, rule: StopRule, spec: Spec, cases: Sequence[Case], result_of: ResultOf
    ) -> None:
        self._rule, self._spec, self._result_of = rule, spec, result_of
        self.models = list(dict.fromkeys(case.model for case in cases))
        self._check()
        by_name: dict[str, list[Case]] = {}
        for case in cases:
            by_name.setdefault(case.name, []).append(case)
        order = np.random.Generator(np.random.PCG64(SEED)).permutation(sorted(by_name))
        self._order = [str(name) for name in order]
        self.cases = [case for name in self._order for case in by_name[name]]
        self._open = {name: {case.model for case in listed} for name, listed in by_name.items()}
        self._models_of = {name: tuple(sorted(models)) for name, models in self._open.items()}
        self._rows: list[list[float]] = []
        self._answer = ""

    def _check(self) -> None:
        shown = Argument("stop_when", str(self._rule))
        if self._spec.averaging.cluster is not None:
            raise OptionError(
                shown, " looks at single cases, but cases belong to clusters: drop it or ",
                Argument("cluster"), ".",
            )  # fmt: skip
        if self._rule.kind == "decided" and len(self.models) < 2:
            raise OptionError(
                shown, " compares models, but there is only one: name a second one, or stop by "
                "half-width=0.02.",
            )  # fmt: skip

    @property
    def enough(self) -> bool:
        """Whether the run may stop."""
        return bool(self._answer)

    def finished(self, case: Case) -> None:
        """Note that a case of a model is finished."""
        self._open[case.name].discard(case.model)
        while not self.enough and len(self._rows) < len(self._order):
            name = self._order[len(self._rows)]
            if self._open[name]:
                return
            self._rows.append(self._scores(name))
            self._answer = self._decide()

    def keeps(self, case: Case) -> bool:
        """Return whether a case belongs to the result: it came before the stop."""
        return not self.enough or case.name in set(self._order[: len(self._rows)])

    @property
    def notice(self) -> Notice:
        """What the rule did."""
        n, total = len(self._rows), len(self._order)
        if not self.enough:
            return Notice(
                "stop-rule",
                f"--stop-when {self._rule} was not reached: {plural(n, 'case')} were evaluated.",
            )
        text = f"stopped after {n} of {plural(total, 'case')}, in random order: {self._answer}."
        return Notice("stop-rule", f"{text} {CAREFUL}")

    def _scores(self, name: str) -> list[float]:
        """Return PQ of each model in a case, NaN if it has none."""
        known = {model: self._result_of((model, name)) for model in self._models_of[name]}
        good = tuple(one for one in known.values() if one.status == "ok")
        result = Result(self._spec, good)
        found: dict[str, float] = {}
        for one in result.average_scores:  # the first setting of the spec comes first
            wanted = result.headline_class, "pq", "mean of cases"
            if (one.setting.class_name, one.score.name, one.averaging) == wanted:
                found.setdefault(one.model, one.value)
        return [found.get(model, math.nan) for model in self.models]

    def _decide(self) -> str:
        table = np.array(self._rows, np.float64).reshape(-1, len(self.models))
        if self._rule.kind == "decided":
            return _winner(table, self.models)
        return _precise(table, self.models, self._rule.target)


def _winner(table: Floats, models: Sequence[str]) -> str:
    """Return which model is better than all others, or nothing while that is open.

    Every ordered pair of models has evidence of its own. All of them together mislead with a
    probability of at most 0.05, because each has to reach their number divided by 0.05.
    """
    n_pairs = len(models) * (len(models) - 1)
    needed = math.log(n_pairs / ALPHA)
    for i, leader in enumerate(models):
        others = [j for j in range(len(models)) if j != i]
        weakest = min(running_evidence(table[:, i] - table[:, j])[-1] for j in others)
        if weakest >= needed:
            rest = " and ".join(models[j] for j in others)
            return (
                f"{leader} has a higher PQ than {rest} (evidence of {math.exp(weakest):.0f} to 1, "
                f"where {math.exp(needed):.0f} to 1 was needed for an error rate of {ALPHA:g} over "
                f"all looks)"
            )
    return ""


def _precise(table: Floats, models: Sequence[str], target: float) -> str:
    """Return all means, or all differences, with their intervals if these are narrow enough."""
    if len(table) < FEWEST_LOOKED_AT:
        return ""
    pairs = list(combinations(range(len(models)), 2))
    columns = {f"{models[a]} − {models[b]}": table[:, a] - table[:, b] for a, b in pairs}
    if not columns:
        columns = {"": table[:, 0]}
    level = 1 - ALPHA / len(columns)
    found = {name: confidence_sequence(values, level) for name, values in columns.items()}
    if any(not (ends.high - ends.low) / 2 <= target for ends in found.values()):
        return ""
    if not pairs:
        ends = found[""]
        return (
            f"mean PQ of cases is between {ends.low:.3f} and {ends.high:.3f} (95 % over all looks)"
        )
    texts = [f"{name} {signed(ends.low)} to {signed(ends.high)}" for name, ends in found.items()]
    return f"differences in mean PQ of cases: {', '.join(texts)} (95 % over all looks)"
