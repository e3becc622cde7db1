"""`panmatch evaluate --protocol`: a program's spec, and its numbers on screen and in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from panmatch.cli._layout import wrapped
from panmatch.cli._spec import named_spec
from panmatch.cli._spec_options import change_spec
from panmatch.datasets import Case, Job, load_case, write_table
from panmatch.errors import OptionError
from panmatch.evaluation import Json, Result, Row, Table, number
from panmatch.spec import Spec

if TYPE_CHECKING:
    from panmatch.protocols import DetectionProtocol, Explanation, Protocol, ProtocolNumber

    AnyProtocol = Protocol | DetectionProtocol

MOST_LINES = 12  # numbers on one screen
KEYS = {"classes", "background", "void", "headline"}


@dataclass(frozen=True, slots=True)
class SpecChoice:
    """What the command line says about the spec."""

    spec: str | None = None
    dataset_json: Path | None = None
    strategies: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    related: tuple[str, ...] = ()


def chosen_spec(
    choice: SpecChoice, protocol: str | None, default: str, *, explain: bool = False
) -> tuple[Spec, Protocol | None]:
    """Return the spec that the command line asks for, and its protocol if it names one.

    Examples
    --------
    >>> chosen_spec(SpecChoice(thresholds=("0.3",)), None, "cells")[0].thresholds
    (0.3,)
    >>> chosen_spec(SpecChoice(classes=("cell=2",)), "stardist", "cells")[0].classes["cell"].labels
    (2,)
    """
    if protocol is None:
        if explain:
            raise OptionError("--explain needs a protocol to compare: name one with --protocol.")
        return _changed(choice, default), None
    options = {
        "--strategy": choice.strategies,
        "--threshold": choice.thresholds,
        "--metric": choice.metrics,
        "--whole": choice.whole,
        "--related": choice.related,
    }
    for option, values in options.items():
        if values:
            raise OptionError(f"--protocol sets what {option} would change: drop one of them.")
    keys = None
    if choice.spec is not None or choice.dataset_json is not None or choice.classes:
        keys = _changed(choice, default).model_dump(mode="json", include=KEYS)
    from panmatch.protocols import find_protocol

    found = find_protocol(protocol, keys)
    return found.as_spec, found


def _changed(choice: SpecChoice, default: str) -> Spec:
    return change_spec(
        named_spec(choice.spec or default, choice.dataset_json),
        choice.strategies,
        choice.thresholds,
        choice.metrics,
        choice.classes,
        choice.whole,
        choice.related,
    )


def write_numbers(folder: Path, numbers: Sequence[ProtocolNumber]) -> None:
    """Write protocol.csv: a row per model, case and name; a row without a case is for all cases."""
    rows: list[Row] = [
        {"model": one.model, "case": one.case or "", "name": one.name, "value": one.value}
        for one in numbers
    ]
    write_table(folder, "protocol", Table.of_rows(rows, ["model", "case", "name", "value"]))


def protocol_facts(protocol: AnyProtocol) -> dict[str, str]:
    """Return which program a protocol reproduces, for run.json and for JSON."""
    facts = {"name": protocol.name, "program": protocol.program, "version": protocol.version}
    return facts | {"source": protocol.source}


def numbers_document(protocol: AnyProtocol, numbers: Sequence[ProtocolNumber]) -> Json:
    """Return the numbers for JSON; the case is null in numbers of all cases together."""
    return {
        **protocol_facts(protocol),
        "numbers": [
            {"model": one.model, "case": one.case, "name": one.name, "value": one.value}
            for one in numbers
        ],
    }


def explain_run(
    protocol: Protocol, result: Result, cases: Sequence[Case], job: Job
) -> list[Explanation]:
    """Return an explanation for each model; this reads the images of all cases again."""
    from panmatch.protocols import explain, explain_case

    known = {(one.model, one.case): one for one in result.cases if one.status == "ok"}
    found = []
    for case in cases:
        theirs = known.get((case.model, case.name))
        if theirs is None or case.prediction is None:
            continue
        loaded = load_case(case, result.spec, job.allow_header_mismatch, resample=job.resample)
        found.append(
            explain_case(
                protocol, theirs, loaded.reference, loaded.prediction, theirs.spacing,
                theirs.unit if theirs.spacing else None, job.threads,
            )
        )  # fmt: skip
    return explain(protocol, result, found)


def explanation_document(explanations: Sequence[Explanation], models: Sequence[str]) -> list[Json]:
    """Return the explanations for JSON: numbers next to ours, and all objects that differ."""
    return [
        {
            "model": model,
            "numbers": [asdict(one) for one in explanation.numbers],
            "objects": [asdict(one) for one in explanation.differences],
        }
        for model, explanation in zip(models, explanations, strict=True)
    ]


def explanation_text(explanations: Sequence[Explanation], models: Sequence[str], width: int) -> str:
    """Return the explanations as text, wrapped to a width."""
    from panmatch.protocols import explanation_lines

    lines = explanation_lines(explanations, models)
    return "\n".join(part for line in lines for part in wrapped(line, width, "  ") or [""])


def numbers_text(
    protocol: AnyProtocol,
    numbers: Sequence[ProtocolNumber],
    width: int,
    most: int | None = MOST_LINES,
) -> str:
    """Return the numbers of all cases together: a line for each, a column for each model."""
    together = [one for one in numbers if one.case is None]
    models = list(dict.fromkeys(one.model for one in together))
    names = list(dict.fromkeys(one.name for one in together))
    values = {(one.name, one.model): one.value for one in together}
    cases = len({one.case for one in numbers if one.case is not None})
    how = f", {getattr(protocol, 'over_cases', '')} over {cases} cases" if cases > 1 else ""
    lines = wrapped(f"{protocol.name}: {protocol.program} {protocol.version}{how}", width)
    shown = names[:most]
    first = max((len(name) for name in shown), default=0)
    if len(models) > 1:
        lines.append(f"{'':{first}}  " + "  ".join(f"{model:>10.10}" for model in models))
    for name in shown:
        cells = "  ".join(f"{_cell(values[name, model]):>10}" for model in models)
        lines.append(f"{name:{first}}  {cells}")
    more = len(names) - len(shown)
    return "\n".join([*lines, *([f"… and {more} more in protocol.csv"] if more > 0 else [])])


def _cell(value: float) -> str:
    return number(value) if value % 1 else f"{value:.0f}"
