"""Python and commands that give the numbers of the page without it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from panmatch.matching import ManyToOne
from panmatch.playground.copying.export import evaluate_command, spec_text
from panmatch.playground.drawing.scene import SIDES, Scene, Side
from panmatch.playground.numbers.counted import playable
from panmatch.playground.numbers.pair import Pair
from panmatch.playground.plain import Message
from panmatch.playground.states.links import write_link
from panmatch.playground.states.state import State
from panmatch.playground.states.strategies import STRATEGIES
from panmatch.playground.states.view import View

FOLDER = Path("panmatch-scene")
LONGEST_ARGUMENT = 100_000  # characters; Linux takes 131,071 bytes

EXACT_AREAS = (
    "The command counts pixels, since files cannot hold exact areas; the Python gives the numbers "
    "shown"
)
SEARCHES_LONGER = (
    "The command searches longer for the optimum than this page: where none is proven, it may find "
    "a higher PQ"
)
TOO_LONG = (
    "# This scene is too large for the arguments of a command. The Python gives its numbers.\n"
)


def answer_code(state: State, pair: Pair | None) -> Message:
    """Return the code of a state, and what is to be known about it."""
    scene, view = state.scene, state.view
    if pair is not None:
        python, command = python_of_pair(pair, view), command_of_pair(pair, view)
    else:
        assert scene is not None
        python, command = python_of_scene(scene, view), command_of_scene(state)
    notes = [EXACT_AREAS] * (view.areas == "analytic")
    notes += [SEARCHES_LONGER] * any(_has_budget(name) for name in _strategies(view))
    return {"python": python, "command": command, "notes": notes}


def python_of_scene(scene: Scene, view: View) -> str:
    """Return a program that draws the scene and prints its numbers."""
    kinds = {type(shape).__name__ for side in SIDES for shape in scene.shapes(side)}
    names = sorted({"Scene", *kinds}) + ["exact_overlap"] * (view.areas == "analytic")
    return _lines(
        "import panmatch as pm",
        f"from panmatch.playground import {', '.join(names)}",
        "",
        "scene = Scene(",
        *(line for side in SIDES for line in _side(side, scene)),
        ")",
        *_counting_of_scene(view),
        *_scoring(view),
    )


def python_of_pair(pair: Pair, view: View) -> str:
    """Return a program that reads the files and prints their numbers."""
    allowed = ", allow_header_mismatch=True" if pair.allow_header_mismatch else ""
    count = "pm.count_overlaps(reference.labels, prediction.labels)"
    if view.regions:
        count = "pm.count_region_overlaps(reference.labels, prediction.labels, spacing)"
    return _lines(
        "import panmatch as pm",
        "from panmatch.formats import check_same_grid, read_labels",
        "",
        f"reference = read_labels({str(pair.reference.path.absolute())!r})",
        f"prediction = read_labels({str(pair.prediction.path.absolute())!r})",
        f"check_same_grid(reference, prediction{allowed})",
        *["spacing = reference.spacing or prediction.spacing"] * view.regions,
        f"overlap = {count}",
        *_scoring(view),
    )


def command_of_scene(state: State) -> str:
    """Return commands that write the scene to files and evaluate them."""
    assert state.scene is not None
    link = write_link(state)
    if len(link) > LONGEST_ARGUMENT:
        return TOO_LONG
    export = ["panmatch", "play", "--export", str(FOLDER), "--link", link]
    return _lines(shlex.join(export), shlex.join(evaluate_command(state, FOLDER)))


def command_of_pair(pair: Pair, view: View) -> str:
    """Return commands that write the spec and evaluate the files by it."""
    files = [str(side.path.absolute()) for side in (pair.reference, pair.prediction)]
    command = ["panmatch", "evaluate", *files, "-s", "panmatch-spec.yaml", "-o", "panmatch-results"]
    command += ["--allow-header-mismatch"] * pair.allow_header_mismatch
    return _lines(
        "cat > panmatch-spec.yaml <<'END'", spec_text(view).rstrip(), "END", shlex.join(command)
    )


def _side(side: Side, scene: Scene) -> list[str]:
    shapes = scene.shapes(side)
    if not shapes:
        return [f"    {side}=(),"]
    return [f"    {side}=(", *(f"        {shape!r}," for shape in shapes), "    ),"]


def _counting_of_scene(view: View) -> list[str]:
    if view.areas == "analytic":
        return ["overlap = exact_overlap(scene)"]
    images = "reference, prediction"
    lines = [f"{images} = scene.label_images()"]
    if view.parts:
        parts = "reference_parts, prediction_parts"
        options = f"background={view.background!r}" + ", regions='voronoi'" * view.regions
        lines.append(f"{parts} = scene.part_images()")
        return [*lines, f"overlap = pm.count_part_overlaps({images}, {parts}, {options})"]
    count = "count_region_overlaps" if view.regions else "count_overlaps"
    return [*lines, f"overlap = pm.{count}({images})"]


def _scoring(view: View) -> list[str]:
    """Return the lines that match, sweep and print."""
    lines = [
        "",
        f"strategy = {_expression(view.strategy)}",
        f"tally = pm.match(overlap, strategy, threshold={view.threshold!r}).tally",
        'print("TP", tally.tp, "FP", tally.fp, "FN", tally.fn)',
        'print("PQ", tally.pq, "SQ", tally.sq, "RQ", tally.rq)',
    ]
    if not view.compared:
        return lines
    return [
        *lines,
        "",
        "compared = {",
        *(f"    {name!r}: {_expression(name)}," for name in view.compared),
        "}",
        "for name, strategy in compared.items():",
        "    steps = pm.curve(overlap, strategy)",
        '    print(name, "AUTC", steps.autc, "AUTC_SQ", steps.autc_sq, "AUTC_RQ", steps.autc_rq)',
    ]


def _expression(name: str) -> str:
    """Return what makes a strategy; one that searches does so no longer than the page."""
    python = STRATEGIES[name].python
    if not _has_budget(name):
        return python
    strategy = playable(name)
    assert isinstance(strategy, ManyToOne)
    return f"{python.removesuffix(')')}, budget=pm.{strategy.budget!r})"


def _has_budget(name: str) -> bool:
    return playable(name) != STRATEGIES[name].strategy


def _strategies(view: View) -> Iterable[str]:
    return dict.fromkeys((view.strategy, *view.compared))


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"
