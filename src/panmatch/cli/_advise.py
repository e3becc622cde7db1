"""`panmatch advise`: what the data say about strategy, threshold and regions."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import panmatch
from panmatch.cli._case_search import find_cases
from panmatch.cli._console import ExitCode
from panmatch.cli._evaluate import print_warnings
from panmatch.cli._json import as_json
from panmatch.cli._layout import screen_width, wrapped
from panmatch.cli._progress import show_progress
from panmatch.datasets import Advice, Case, CasesAdvice, DatasetPaths, Job, advise_on_cases
from panmatch.errors import FileError
from panmatch.evaluation import Json, plural, some_names
from panmatch.spec import Spec

FORMAT = "panmatch-advice-1"
MOST_FAILURES = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read, as for `panmatch evaluate`."""

    allow_header_mismatch: bool = False
    spacing: tuple[float, ...] | None = None
    threads: int | None = None
    resample: bool = False


def run_advise(
    paths: DatasetPaths, spec: Spec, reading: Reading, words: Sequence[str], *, json: bool
) -> int:
    """Look at all cases, print the advice on every model, and return the exit code.

    Parameters
    ----------
    words
        The arguments that name the data, to repeat them in a command to go on with.
    json
        Whether to print one JSON document instead.
    """
    job = Job(
        spec.canonical(), reading.allow_header_mismatch, reading.spacing, reading.threads,
        resample=reading.resample,
    )  # fmt: skip
    try:
        with show_progress(quiet=json) as shown:
            shown.enter("search")
            pairing = find_cases(paths, spec.model_copy(update={"confidence": None}))
            shown.enter("evaluation")
            shown.expect(len(pairing.cases))
            found = {
                model: advise_on_cases(own, job, shown.finished)
                for model, own in _by_model(pairing.cases).items()
            }
    except KeyboardInterrupt:
        print("panmatch: interrupted.", file=sys.stderr)
        return ExitCode.INTERRUPTED
    _check_some(found)
    print(_document(found) if json else _screen(found, words, screen_width()))
    print_warnings(pairing.notices)
    _print_left_out(found)
    failed = any(one.failures for one in found.values())
    return ExitCode.SOME_FAILED if failed else ExitCode.SUCCESS


def _by_model(cases: Sequence[Case]) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.model, []).append(case)
    return found


def _check_some(found: Mapping[str, CasesAdvice]) -> None:
    """Raise a `FileError` with the first reason if no case could be read."""
    if any(one.advice is not None for one in found.values()):
        return
    left_out = [left for one in found.values() for left in one.left_out]
    if len(left_out) == 1:
        raise FileError(left_out[0].reason)
    first = f" The first, {left_out[0].case}: {left_out[0].reason}" if left_out else ""
    raise FileError(f"none of {len(left_out)} cases could be read.{first}")


def _screen(found: Mapping[str, CasesAdvice], words: Sequence[str], width: int) -> str:
    blocks = []
    for model, one in found.items():
        if one.advice is not None:
            head = [f"Model {model}"] if len(found) > 1 else []
            text = "\n".join([*head, one.advice.summary(width)])
            blocks.append("\n".join([text, "", "To try it:", _command(one.advice, words)]))
    return "\n\n".join(blocks)


def _command(advice: Advice, words: Sequence[str]) -> str:
    """Return the command that scores the data as advised."""
    options = [part for key in advice.strategies for part in ("-s", key)]
    options += [part for tau in advice.thresholds for part in ("-t", f"{tau:g}")]
    return f"  {shlex.join(['panmatch', 'evaluate', *words, *options])}"


def _document(found: Mapping[str, CasesAdvice]) -> str:
    models: list[Json] = [
        {
            "model": model,
            **({} if one.advice is None else one.advice.to_dict()),
            "failed": [{"case": left.case, "reason": left.reason} for left in one.failures],
            "left_out": [left.case for left in one.left_out if left.status != "failed"],
        }
        for model, one in found.items()
    ]
    return as_json({"format": FORMAT, "panmatch": panmatch.__version__, "models": models})


def _print_left_out(found: Mapping[str, CasesAdvice]) -> None:
    """Say which cases are not in the advice, and why."""
    for one in found.values():
        missing = [left.case for left in one.left_out if left.status != "failed"]
        if missing:
            text = f"{plural(len(missing), 'case')} without a partner left out"
            print(f"panmatch: note: {text}: {some_names(missing)}.", file=sys.stderr)
        for left in one.failures[:MOST_FAILURES]:
            lines = wrapped(f"panmatch: {left.case} failed: {left.reason}", 120, "  ")
            print("\n".join(lines), file=sys.stderr)
        if (more := len(one.failures) - MOST_FAILURES) > 0:
            print(f"panmatch: {plural(more, 'more case')} failed.", file=sys.stderr)


def repeated_words(*paths: Path | None, **options: object) -> list[str]:
    """Return the arguments that name the data, for another command.

    Examples
    --------
    >>> repeated_words(Path("ref"), Path("pred"), class_=["a", "b"], resample=True, spec=None)
    ['ref', 'pred', '--class', 'a', '--class', 'b', '--resample']
    """
    words = [str(path) for path in paths if path is not None]
    for name, value in options.items():
        option = f"--{name.strip('_').replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            values = value if isinstance(value, list) else [value]
            words += [part for one in values for part in (option, str(one))]
    return words
