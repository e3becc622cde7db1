"""Scenes to start from, from presets.yaml, and a dense one that is drawn at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml

from panmatch.playground._published_links import read_published
from panmatch.playground._shapes import Ellipse, Stroke
from panmatch.playground._spans import HEIGHT, WIDTH
from panmatch.playground._states import Scene, State, View
from panmatch.playground._validation import Checked, Message, checked

FILE = Path(__file__).with_name("presets.yaml")
DENSE_CELLS = "dense cells"  # instead of a scene
PER_ROW, ROWS = 14, 10  # every other row has one cell fewer, offset by half a cell
SEED = 39
SPLIT, MERGED, MISSED, SPURIOUS = 0.07, 0.07, 0.05, 0.05  # shares of the cells


@checked
class Preset(Checked):
    """A named scene, with one or two sentences on what to look at."""

    id: str
    title: str
    about: str
    state: State


def dense_cells() -> Scene:
    """Return touching cells of some 40 units, most found, and others split, merged or missed.

    Examples
    --------
    >>> scene = dense_cells()
    >>> len(scene.reference), len(scene.prediction)
    (127, 126)
    """
    rng = np.random.default_rng(SEED)
    reference: list[Ellipse] = []
    prediction: list[Ellipse | Stroke] = []
    for row in range(ROWS):
        cells = [_cell(row, column, rng) for column in range(PER_ROW - row % 2)]
        while cells:
            true, predicted = _predicted(cells, rng)
            reference += true
            prediction += predicted
    return Scene(tuple(reference), tuple(prediction))


def _predicted(
    cells: list[Ellipse], rng: np.random.Generator
) -> tuple[list[Ellipse], Sequence[Ellipse | Stroke]]:
    """Take one or two cells off the list, and return the true and the predicted shapes."""
    cell, chance = cells.pop(0), rng.uniform()
    if chance < SPLIT:
        return [cell], _pieces(cell)
    if chance < SPLIT + MERGED and cells:
        other = cells.pop(0)
        return [cell, other], [_bridge(cell, other)]
    if chance > 1 - MISSED:
        return [cell], []
    return [cell] if chance < 1 - MISSED - SPURIOUS else [], [_redrawn(cell, rng)]


def _cell(row: int, column: int, rng: np.random.Generator) -> Ellipse:
    return _rounded(
        (column + 0.5 + row % 2 / 2) * WIDTH / PER_ROW + rng.uniform(-1.5, 1.5),
        (row + 0.5) * HEIGHT / ROWS + rng.uniform(-1.5, 1.5),
        rng.uniform(20.5, 23.5),
        rng.uniform(20.5, 23.5),
        rng.uniform(0, 180),
    )


def _redrawn(cell: Ellipse, rng: np.random.Generator) -> Ellipse:
    return _rounded(
        cell.x + rng.uniform(-4, 4),
        cell.y + rng.uniform(-4, 4),
        cell.rx * rng.uniform(0.82, 1.05),
        cell.ry * rng.uniform(0.82, 1.05),
        cell.angle + rng.uniform(-20, 20),
    )


def _pieces(cell: Ellipse) -> list[Ellipse]:
    """Return a cell in two pieces, side by side."""
    angle = math.radians(cell.angle)
    return [
        _rounded(
            cell.x + shift * cell.rx * math.cos(angle),
            cell.y + shift * cell.rx * math.sin(angle),
            width * cell.rx,
            0.85 * cell.ry,
            cell.angle,
        )
        for shift, width in ((-0.36, 0.56), (0.6, 0.32))
    ]


def _bridge(cell: Ellipse, other: Ellipse) -> Stroke:
    """Return one prediction over two cells."""
    return Stroke(((cell.x, cell.y), (other.x, other.y)), width=36)


def _rounded(x: float, y: float, rx: float, ry: float, angle: float) -> Ellipse:
    return Ellipse(round(x, 1), round(y, 1), round(rx, 1), round(ry, 1), round(angle, 1))


def _read_preset(
    *, link: str = "", scene: object = None, view: Message | None = None, **about: str
) -> Preset:
    """Return a preset whose scene is drawn here, given in full, or taken from a published link."""
    if link:
        state, _ = read_published(link)
        state = State(state.scene, View.from_dict({**state.view.to_dict(), **(view or {})}))
    else:
        drawn = dense_cells() if scene == DENSE_CELLS else Scene.from_dict(scene)
        state = State(drawn, View.from_dict(view or {}))
    return Preset.from_dict({**about, "state": state})


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # several times as fast, where it is there
PRESETS = tuple(_read_preset(**entry) for entry in yaml.load(FILE.read_bytes(), _LOADER))
BY_ID = {preset.id: preset for preset in PRESETS}
START = PRESETS[0].state
