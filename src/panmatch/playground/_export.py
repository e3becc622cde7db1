"""Python code, commands and files that reproduce the numbers of the page."""

from __future__ import annotations

import io
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, OptionError
from panmatch.formats import LabelImage, write_atomically
from panmatch.playground._links import write_link
from panmatch.playground._sources import BUDGET, budgeted_strategy
from panmatch.playground._states import SIDES, STRATEGIES, Scene, Side, State, View
from panmatch.playground._validation import Message

if TYPE_CHECKING:
    from panmatch.playground._file_pair import FilePair
    from panmatch.playground._shown_class import ShownClass

SPEC = "spec.yaml"
FOLDER = Path("panmatch-scene")
LONGEST_ARGUMENT = 100_000  # characters; Linux takes 131,071 bytes

EXACT_AREAS = (
    "The command counts pixels, because files cannot hold exact areas; the Python code gives the "
    "numbers shown"
)
SEARCHES_LONGER = (
    "The command searches longer for the optimum than this page, so it may find a higher PQ where "
    "none is proven here"
)
FROM_THE_PAGE = (
    "The files were opened on this page, so their folder is not known: run this where they are"
)
KEEPS_ALL = (
    "The command scores all predictions, whatever their confidence; the Python code gives the "
    "numbers shown"
)
TOO_LONG = "# This scene is too large for a command line. Copy it as Python instead.\n"


def answer_code(state: State, pair: FilePair | None) -> Message:
    """Return the code of a state, and notes on it."""
    scene, view = state.scene, state.view
    if pair is not None:
        python, command = python_of_pair(pair, view), command_of_pair(pair, view)
    else:
        assert scene is not None
        python, command = python_of_scene(scene, view), command_of_scene(state)
    notes = [EXACT_AREAS] * (view.areas == "analytic")
    notes += [FROM_THE_PAGE] * (pair is not None and pair.dropped)
    notes += [KEEPS_ALL] * (pair is not None and pair.scores is not None and view.cut is not None)
    notes += [SEARCHES_LONGER] * any(_has_budget(name) for name in view.shown_strategies)
    return {"python": python, "command": command, "notes": notes}


def python_of_scene(scene: Scene, view: View) -> str:
    """Return a program that draws the scene and prints its numbers."""
    view = replace(view, parts=view.parts and scene.has_parts)
    kinds = {type(shape).__name__ for side in SIDES for shape in scene.shapes(side)}
    names = sorted({"Scene", *kinds}) + ["exact_overlap"] * (view.areas == "analytic")
    return _lines(
        "import panmatch as pm",
        f"from panmatch.playground import {', '.join(names)}",
        "",
        "scene = Scene(",
        *(line for side in SIDES for line in _side(side, scene)),
        ")",
        *_counting_of_scene(view, scene),
        *_scoring(view, with_confidence=scene.has_confidence),
    )


def python_of_pair(pair: FilePair, view: View) -> str:
    """Return a program that reads the files and prints their numbers."""
    shown = pair.shown_class
    allowed = ", allow_header_mismatch=True" if pair.allow_header_mismatch else ""
    colours = ", colour_ids=True" if shown is not None and shown.spec.colour_ids else ""
    return _lines(
        "import panmatch as pm",
        *["from panmatch.evaluation import Images, class_cases"] * (shown is not None),
        f"from panmatch.formats import {', '.join(_readers(pair))}",
        "",
        f"reference = read_labels({_path(pair, pair.reference)!r}{colours})",
        f"prediction = read_labels({_path(pair, pair.prediction)!r}{colours})",
        f"check_same_grid(reference, prediction{allowed})",
        *["spacing = reference.spacing or prediction.spacing"] * view.regions,
        *(_counting_of_pair(view) if shown is None else _counting_of_class(shown, view)),
        *_confidences_of_pair(pair),
        *_scoring(view, with_confidence=pair.confidences is not None),
    )


def command_of_scene(state: State) -> str:
    """Return commands that write the scene to files and evaluate them."""
    link = write_link(state)
    if len(link) > LONGEST_ARGUMENT:
        return TOO_LONG
    export = ["panmatch", "play", "--export", str(FOLDER), "--link", link]
    return _lines(shlex.join(export), shlex.join(evaluate_command(state, FOLDER)))


def command_of_pair(pair: FilePair, view: View) -> str:
    """Return commands that write the spec and evaluate the files by it."""
    files = [_path(pair, side) for side in (pair.reference, pair.prediction)]
    command = [
        "panmatch",
        "evaluate",
        *files,
        "--spec",
        "panmatch-spec.yaml",
        "-o",
        "panmatch-results",
    ]
    command += ["--allow-header-mismatch"] * pair.allow_header_mismatch
    text = spec_text(view, {} if pair.shown_class is None else pair.shown_class.options)
    return _lines("cat > panmatch-spec.yaml <<'END'", text.rstrip(), "END", shlex.join(command))


def _path(pair: FilePair, image: LabelImage) -> str:
    """Return how code names a file; of one that the page sent, only the name is known."""
    name = image.path.name
    known = f"./{name}" if name.startswith("-") else name  # which would be an option
    return known if pair.dropped else str(image.path.absolute())


def export_scene(state: State, folder: Path) -> list[Path]:
    """Write the images of a scene and a spec, and return where they are.

    Raises
    ------
    OptionError
        If the state has no scene.
    FileError
        If one of the files already exists, or cannot be written.
    """
    if state.scene is None:
        raise OptionError("this link belongs to a pair of files, so there is no scene to export.")
    cut = state.view.cut  # in the files, since `panmatch evaluate` scores all objects in them
    images = dict(zip(SIDES, state.scene.label_images(cut), strict=True))
    files = {f"{side}.png": _png(image) for side, image in images.items()}
    labels = part_labels(state)
    if labels:
        parts = dict(zip(SIDES, state.scene.part_images(cut), strict=True))
        files |= {f"{side}_parts.png": _png(image) for side, image in parts.items()}
    files[SPEC] = spec_text(state.view, _part_options(state.view, labels)).encode()
    taken = [folder / name for name in files if (folder / name).exists()]
    if taken:
        raise FileError(
            f"path={str(taken[0])!r} already exists: choose another folder, or move the file away."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"path={str(folder)!r} cannot be created: {error}.") from error
    for name, content in files.items():
        write_atomically(folder / name, content)
    return [folder / name for name in files]


def evaluate_command(state: State, folder: Path) -> list[str]:
    """Return the arguments that evaluate an exported scene."""
    command = ["panmatch", "evaluate", *(str(folder / f"{side}.png") for side in SIDES)]
    if part_labels(state):
        for side in SIDES:
            command += [f"--{side}-parts", str(folder / f"{side}_parts.png")]
    return [*command, "--spec", str(folder / SPEC), "-o", str(folder / "scores")]


def spec_text(view: View, more: Message | None = None) -> str:
    """Return a spec that asks for the numbers of a view, with more keys, as YAML.

    Examples
    --------
    >>> print(spec_text(View(compared=(), threshold=0.25)), end="")
    matching:
    - strategy: one-to-one
      solver: optimal
    thresholds:
    - 0.25
    """
    import yaml

    regions = {"regions": True} if view.regions else {}
    strategies = [STRATEGIES[key] for key in view.shown_strategies]
    if "part_background" not in (more or {}):
        strategies = [one.without_parts() for one in strategies]
    content: Message = {
        "matching": [{"strategy": one.name, **one.options, **regions} for one in strategies],
        "thresholds": [view.threshold],
        **(more or {}),
    }
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))


def _part_options(view: View, parts: list[int]) -> Message:
    if not parts:
        return {}
    return {"classes": {"object": {"parts": parts}}, "part_background": view.background}


def part_labels(state: State) -> list[int]:
    """Return the parts that occur, if the view asks for parts (D9)."""
    if state.scene is None or not _by_parts(state):
        return []
    images = state.scene.part_images(state.view.cut)
    labels = {int(part) for image in images for part in np.unique(image)} - {0}
    return sorted(labels)


def _by_parts(state: State) -> bool:
    return state.view.parts and state.scene is not None and state.scene.has_parts


def _side(side: Side, scene: Scene) -> list[str]:
    shapes = scene.shapes(side)
    if not shapes:
        return [f"    {side}=(),"]
    return [f"    {side}=(", *(f"        {shape!r}," for shape in shapes), "    ),"]


def _counting_of_scene(view: View, scene: Scene) -> list[str]:
    lines, count = _drawing(view, scene)
    return [
        *lines,
        f"overlap = {f'scene.with_confidence({count})' if scene.has_confidence else count}",
    ]


def _drawing(view: View, scene: Scene) -> tuple[list[str], str]:
    """Return the lines that paint images, and the expression that counts their overlap."""
    if view.areas == "analytic":
        return [], "exact_overlap(scene)"
    images = "reference, prediction"
    # Parts cannot be cut once they are counted, so that what is below the cut is not painted.
    cut = f"cut={view.cut!r}" if view.parts and _cuts(view, scene) else ""
    lines = [f"{images} = scene.label_images({cut})"]
    if view.parts:
        parts = "reference_parts, prediction_parts"
        options = f"background={view.background!r}" + ", regions='voronoi'" * view.regions
        lines.append(f"{parts} = scene.part_images({cut})")
        return lines, f"pm.count_part_overlaps({images}, {parts}, {options})"
    count = "count_region_overlaps" if view.regions else "count_overlaps"
    return lines, f"pm.{count}({images})"


def _cuts(view: View, scene: Scene) -> bool:
    return view.cut is not None and scene.has_confidence


def _readers(pair: FilePair) -> list[str]:
    names = ["check_same_grid", "read_labels"]
    return names if _scores_in_csv(pair) else [*names, "read_probabilities", "turned_like"]


def _scores_in_csv(pair: FilePair) -> bool:
    return pair.scores is None or pair.scores.suffix.lower() == ".csv"


def _confidences_of_pair(pair: FilePair) -> list[str]:
    if pair.scores is None:
        return []
    path = str(pair.scores.name if pair.dropped else pair.scores.absolute())
    if _scores_in_csv(pair):
        return [f"overlap = overlap.with_confidence(pm.read_confidences({path!r}))"]
    return [
        f"probabilities = turned_like(read_probabilities({path!r}), prediction).labels",
        "confidences = pm.confidences_from_image(prediction.labels, probabilities)",
        "overlap = overlap.with_confidence(confidences)",
    ]


def _counting_of_pair(view: View) -> list[str]:
    images = "reference.labels, prediction.labels"
    if view.regions:
        return [f"overlap = pm.count_region_overlaps({images}, spacing)"]
    return [f"overlap = pm.count_overlaps({images})"]


def _counting_of_class(shown: ShownClass, view: View) -> list[str]:
    options = ", ".join(f"{key}={value!r}" for key, value in shown.options.items())
    count = "chosen.overlap"
    if view.regions:
        count = "pm.count_region_overlaps(*chosen.images, spacing, void=chosen.void)"
    return [
        "",
        f"spec = pm.Spec({options})",
        "classes = class_cases(Images(reference.labels), Images(prediction.labels), spec)",
        f"chosen = next(one for one in classes if one.name == {shown.name!r})",
        f"overlap = {count}",
    ]


def _scoring(view: View, *, with_confidence: bool) -> list[str]:
    """Return the lines that match, sweep and print."""
    part, quality = ("Part", ', quality="parts"') if view.parts else ("", "")
    lines = [
        "",
        f"strategy = {_expression(view.strategy, view.parts)}",
        *(_cutting(view) if with_confidence and not view.parts else []),
        f"matching = pm.match(overlap, strategy, threshold={view.threshold!r})",
        f"tally = matching.{'part_tally' if view.parts else 'tally'}",
        'print("TP", tally.tp, "FP", tally.fp, "FN", tally.fn)',
        f'print("{part}PQ", tally.pq, "{part}SQ", tally.sq, "RQ", tally.rq)',
    ]
    if not view.compared:
        return lines
    return [
        *lines,
        "",
        "compared = {",
        *(f"    {name!r}: {_expression(name, view.parts)}," for name in view.compared),
        "}",
        "for name, strategy in compared.items():",
        f"    steps = pm.curve(overlap, strategy{quality})",
        f'    print(name, "{part}AUTC", steps.autc, "{part}AUTC_SQ", steps.autc_sq, '
        f'"AUTC_RQ", steps.autc_rq)',
    ]


def _cutting(view: View) -> list[str]:
    """Return the lines that print what depends on all confidences, and cut."""
    return [
        f"found = pm.surface(overlap, strategy).over_cuts({view.threshold!r})",
        'print("AP", found.average_precision(), found.best())',
        *[f"overlap = overlap.above_cut({view.cut!r})"] * (view.cut is not None),
    ]


def _expression(name: str, parts: bool) -> str:
    """Return the code of a strategy; an optimal one gets the same budget as on the page."""
    strategy = STRATEGIES[name]
    python = (strategy if parts else strategy.without_parts()).python
    if not _has_budget(name):
        return python
    return f"{python.removesuffix(')')}, budget=pm.{BUDGET!r})"


def _has_budget(name: str) -> bool:
    return budgeted_strategy(name) != STRATEGIES[name]


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def _png(image: npt.NDArray[np.unsignedinteger]) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "png")
    return buffer.getvalue()
