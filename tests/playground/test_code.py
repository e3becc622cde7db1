"""Copied code prints the numbers of the page: it is run here, and compared digit by digit."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import panmatch as pm
from panmatch.playground import FilePair, Scene, State, Stroke, View, export_scene, write_link
from panmatch.playground._answers import answer_numbers
from panmatch.playground._export import answer_code
from panmatch.playground._sources import DrawnScene, Source
from panmatch.playground._validation import Message
from tests.datasets.folders import SPACING, save_nifti, scene
from tests.playground.class_files import open_class
from tests.playground.drawn_scenes import DISCS, EMPTY, MIXED, STRATEGIES, Image

ALL = tuple(name for name in STRATEGIES if name != "union")
NUMBERS = re.compile(r"(\w+) (-?[\d.e+-]+|nan)(?= |$)")

VIEWS = {
    "plain": View(strategy="one-to-one/greedy", compared=ALL, threshold=0.36),
    "regions": View(
        strategy="union", compared=(*ALL, "union"), threshold=0.35, regions=True, parts=False
    ),
    "parts": View(strategy="many-to-one/merge/seed", threshold=0.2, parts=True),
    "parts and regions": View(
        strategy="many-to-one/optimal/edge",
        compared=("many-to-one/optimal/seed", "same-id"),
        threshold=0.1,
        parts=True,
        regions=True,
        background="none",
    ),
    "nothing compared": View(strategy="same-id", compared=(), threshold=0.0),
}


def run_text(text: str, folder: Path, *program: str) -> str:
    """Run a program with the commands of this Python first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [*program, text],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    warnings = done.stderr.splitlines()
    allowed = "--allow-header-mismatch" in text  # which is then said
    assert all(allowed and "headers of reference and prediction differ" in one for one in warnings)
    return done.stdout


def run_python(text: str, folder: Path) -> str:
    return run_text(text, folder, sys.executable, "-W", "error", "-c")


def run_command(text: str, folder: Path) -> str:
    return run_text(text, folder, "bash", "-euc")


def check_printed(printed: str, numbers: Message) -> None:
    lines = printed.splitlines()
    part = "Part" if numbers["quality"] == "parts" else ""
    tally = dict(NUMBERS.findall(f"{lines[0]} {lines[1]}"))
    names = {"pq": f"{part}PQ", "sq": f"{part}SQ"}
    for name in ("tp", "fp", "fn", "pq", "sq", "rq"):
        value = numbers["tally"][name]
        assert tally[names.get(name, name.upper())] == ("nan" if value is None else repr(value))
    assert len(lines) == 2 + len(numbers["curves"])
    for line, row in zip(lines[2:], numbers["curves"], strict=True):
        assert line.split()[0] == row["strategy"]
        areas = dict(NUMBERS.findall(line.removeprefix(row["strategy"])))
        for area in ("autc", "autc_sq", "autc_rq"):
            name = f"{part if area != 'autc_rq' else ''}{area.upper()}"
            assert areas[name] == ("nan" if row[area] is None else repr(row[area]))


def check_scores(path: Path, source: Source, view: View, class_name: str = "object") -> None:
    """Compare every row of a class in a table with the page's numbers of that strategy."""
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["class"] == class_name]
    names = list(dict.fromkeys((view.strategy, *view.compared)))
    for name, row in zip(names, rows, strict=True):
        shown = "/".join(row[key] for key in ("strategy", "solver", "gate") if row[key])
        assert shown == name
        one = View(**view.to_dict() | {"strategy": name, "compared": (name,)})
        numbers = answer_numbers(source, one)
        part = "part_" if numbers["quality"] == "parts" else ""
        for score in ("tp", "fp", "fn", "pq", "sq", "rq"):
            column = f"{part}{score}" if score in ("pq", "sq") else score
            assert float(row[column]) == numbers["tally"][score]
        for area in ("autc", "autc_sq", "autc_rq"):
            column = f"{part}{area}" if area != "autc_rq" else area
            assert float(row[column]) == numbers["curves"][0][area]
        assert float(row["threshold"]) == view.threshold


@pytest.mark.parametrize("kind", VIEWS)
def test_the_python_of_a_scene_prints_the_numbers_shown(tmp_path: Path, kind: str) -> None:
    state = State(MIXED, VIEWS[kind])
    printed = run_python(answer_code(state, None)["python"], tmp_path)
    check_printed(printed, answer_numbers(DrawnScene(MIXED), state.view))


def test_the_python_of_exact_areas_prints_the_numbers_shown(tmp_path: Path) -> None:
    state = State(DISCS, View(areas="analytic", threshold=0.25))
    code = answer_code(state, None)
    exact = answer_numbers(DrawnScene(DISCS), state.view)
    check_printed(run_python(code["python"], tmp_path), exact)
    assert exact["tally"] != answer_numbers(DrawnScene(DISCS), View(threshold=0.25))["tally"]
    assert any("exact areas" in note for note in code["notes"])


def test_the_python_of_an_empty_scene_prints_nan(tmp_path: Path) -> None:
    printed = run_python(answer_code(State(EMPTY), None)["python"], tmp_path)
    assert "PQ nan SQ nan RQ nan" in printed
    check_printed(printed, answer_numbers(DrawnScene(EMPTY), View()))


@pytest.mark.parametrize("kind", VIEWS)
def test_the_command_of_a_scene_gives_the_numbers_shown(tmp_path: Path, kind: str) -> None:
    state = State(MIXED, VIEWS[kind])
    command = answer_code(state, None)["command"]
    run_command(command, tmp_path)
    folder = tmp_path / "panmatch-scene"
    check_scores(folder / "scores" / "scores.csv", DrawnScene(MIXED), state.view)
    with pytest.raises(pm.PanmatchError, match="already exists: choose another folder"):
        export_scene(state, folder)


def test_parts_that_no_shape_has_are_plain_iou_in_the_command_too(tmp_path: Path) -> None:
    state = State(DISCS, View(parts=True))
    command = answer_code(state, None)["command"]
    assert "parts.png" not in command
    run_command(command, tmp_path)
    scores = tmp_path / "panmatch-scene" / "scores" / "scores.csv"
    check_scores(scores, DrawnScene(DISCS), state.view)


def test_exported_images_are_those_of_the_scene(tmp_path: Path) -> None:
    from PIL import Image as PngImage

    state = State(MIXED, View(parts=True))
    paths = export_scene(state, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [
        "reference.png", "prediction.png", "reference_parts.png", "prediction_parts.png",
        "spec.yaml",
    ]  # fmt: skip
    images: tuple[Image, ...] = (*MIXED.label_images(), *MIXED.part_images())
    for path, expected in zip(paths, images, strict=False):
        with PngImage.open(path) as image:
            assert image.mode == ("L" if "parts" in path.name else "I;16")
            assert np.array_equal(np.asarray(image), expected)
    assert len(export_scene(State(MIXED), tmp_path / "plain")) == 3


def test_only_scenes_can_be_exported(tmp_path: Path) -> None:
    with pytest.raises(pm.PanmatchError, match="no scene to export"):
        export_scene(State(None), tmp_path)
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(pm.PanmatchError, match="cannot be created"):
        export_scene(State(MIXED), tmp_path / "taken" / "below")


@pytest.mark.parametrize("regions", [False, True])
@pytest.mark.parametrize("mismatch", [False, True])
def test_the_code_of_a_pair_gives_the_numbers_shown(
    tmp_path: Path, regions: bool, mismatch: bool
) -> None:
    folder = tmp_path / "it's a $folder"  # must be quoted in either language
    paths = folder / "ref.nii.gz", folder / "pred.nii.gz"
    save_nifti(paths[0], scene(3), SPACING)
    save_nifti(paths[1], np.roll(scene(3), 1, axis=2), (1.0, 1.0, 2.0) if mismatch else SPACING)
    pair = FilePair.open(*paths, allow_header_mismatch=mismatch)
    names = (*ALL, "union") if regions else ALL
    view = View(strategy="one-to-many/best", compared=names, threshold=0.15, regions=regions)
    code = answer_code(State(None, view), pair)
    check_printed(run_python(code["python"], tmp_path), answer_numbers(pair, view))
    run_command(code["command"], tmp_path)
    check_scores(tmp_path / "panmatch-results" / "scores.csv", pair, view)


@pytest.mark.parametrize(
    ("kind", "regions"),
    [("components", False), ("shared labels", True), ("void", False), ("stuff", False),
     ("cityscapes", False), ("panoptic-parts", False)],
)  # fmt: skip
def test_the_code_of_a_class_gives_the_numbers_shown(
    tmp_path: Path, kind: str, regions: bool
) -> None:
    pair = open_class(tmp_path, kind)
    assert pair.shown_class is not None
    view = View(strategy="same-id", compared=ALL, threshold=0.15, regions=regions)
    numbers = answer_numbers(pair, view)
    assert numbers["quality"] == "iou"
    code = answer_code(State(None, view), pair)
    check_printed(run_python(code["python"], tmp_path), numbers)
    run_command(code["command"], tmp_path)
    table = tmp_path / "panmatch-results" / "scores.csv"
    check_scores(table, pair, view, pair.shown_class.name)


def test_a_search_that_may_end_early_is_noted_and_has_the_budget_of_the_page() -> None:
    found = answer_code(State(MIXED, View(strategy="many-to-one/optimal/seed")), None)
    assert "budget=pm.Budget(nodes=2000, seconds=None)" in found["python"]
    assert any("searches longer" in note for note in found["notes"])
    plain = answer_code(State(MIXED), None)
    assert "Budget" not in plain["python"]
    assert plain["notes"] == []


def test_a_link_too_long_for_an_argument_is_not_offered_as_one() -> None:
    points = tuple((float(x % 500) + 0.123456789, 100.0) for x in range(2_000))
    large = State(Scene(reference=tuple(Stroke(points, width) for width in (10, 5, 3))))
    assert len(write_link(large)) > 100_000
    command = answer_code(large, None)["command"]
    assert command.startswith("# This scene is too large")
    assert command.count("\n") == 1
