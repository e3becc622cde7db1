"""Scores that a run must reach, for tests of models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import Result
from panmatch.evaluation.wording import way_title


@dataclass(frozen=True, slots=True)
class Gate:
    """A score and the least value that is accepted."""

    measure: str
    least: float


def read_gates(given: Sequence[str]) -> list[Gate]:
    """Read gates such as ``pq=0.7``.

    Examples
    --------
    >>> read_gates(["pq=0.7"])
    [Gate(measure='pq', least=0.7)]
    """
    gates = []
    for text in given:
        name, _, value = text.partition("=")
        try:
            least = float(value)
        except ValueError:
            least = math.nan
        if not name or not math.isfinite(least):
            raise OptionError(f"--fail-under {text!r} must be a score and a number: pq=0.7.")
        gates.append(Gate(name.strip(), least))
    return gates


def missed_gates(result: Result, gates: Sequence[Gate]) -> list[str]:
    """Return a line for every gate and model that misses it.

    What counts is the pooled score under the first strategy of the spec, at its first threshold,
    averaged over classes where there are several. A score that is not defined misses.
    """
    rows = [row for row in result.average_rows if row.averaging == "pooled"]
    known = sorted({row.measure for row in rows})
    lines = []
    for gate in gates:
        if known:
            check_choice("--fail-under", gate.measure, known)
        for model in result.models:
            found = [row for row in rows if (row.model, row.measure) == (model, gate.measure)]
            means = [row for row in found if row.way[0] == "mean of classes"] or found
            value = means[0].value if means else math.nan
            if not value >= gate.least:
                way = f" under {way_title(means[0].way)}" if means else ""
                named = f"{model}: " if model else ""
                lines.append(f"{named}{gate.measure} is {value:.4f}{way}, below {gate.least:g}.")
    return lines
