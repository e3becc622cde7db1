"""`panmatch spec`: a spec to start from, and what can go into one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from panmatch.cli._layout import screen_width, wrapped
from panmatch.cli._spec_options import preset_lines
from panmatch.errors import FileError, check_choice
from panmatch.formats import write_atomically
from panmatch.matching import STRATEGIES
from panmatch.related import RELATED
from panmatch.spec import Spec, as_spec, preset_names, preset_text, spec_for_dataset, spec_schema


def run_spec(
    preset: str, out: Path | None, reference: Path | None, listed: str | None = None
) -> None:
    """Print or write a preset, a spec that fits references, or what `LISTS` has under a name."""
    text = LISTS[listed]() if listed else _text(preset, reference)
    if out is None:
        print(text, end="")
        return
    if out.exists():
        raise FileError(f"--out {str(out)!r} already exists: name another file, or move it away.")
    write_atomically(out, text.encode())
    print(f"{'Spec' if listed is None else listed.capitalize()}: {out}")


def named_spec(name: str, dataset_json: Path | None) -> Spec:
    """Return a preset or the spec of a file, with the classes of a ``dataset.json`` if given."""
    return as_spec(name) if dataset_json is None else spec_for_dataset(dataset_json, name)


def _text(preset: str, reference: Path | None) -> str:
    if reference is not None:
        from panmatch.datasets import draft_spec

        return draft_spec(reference)
    check_choice("PRESET", preset, preset_names())
    return preset_text(preset)


def _related_lines(width: int) -> Iterator[str]:
    for name, score in RELATED.items():
        options = "".join(f"/{option}={value}" for option, value in score.options.items())
        yield f"{name}: --related {name}{options}"
        for text in (score.about, f"Over several cases: {score.pooled}."):
            yield from (f"  {line}" for line in wrapped(text, width - 2))


def _strategy_lines(width: int) -> Iterator[str]:
    for family in STRATEGIES.values():
        for strategy in family.variants():
            yield f"{strategy.label}: -s {strategy.key}"
            for text in (f"{', '.join(strategy.bounds)}.", strategy.about):
                yield from (f"  {line}" for line in wrapped(text, width - 2))


def _presets() -> Iterator[str]:
    for name in preset_names():
        yield from preset_lines(name, screen_width())


def _as_text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


LISTS: dict[str, Callable[[], str]] = {
    "presets": lambda: _as_text(_presets()),
    "strategies": lambda: _as_text(_strategy_lines(screen_width())),
    "related": lambda: _as_text(_related_lines(screen_width())),
    "schema": lambda: json.dumps(spec_schema(), indent=2) + "\n",
}
