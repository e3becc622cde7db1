"""Drawings of the kinds of components, and of how they change with the threshold.

Both have a light card of their own, so they read well on light and dark pages.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch import phantoms
from panmatch.scoring import COMPONENT_KINDS, MEANINGS

Labels = npt.NDArray[np.integer]

# One component of every kind, from left to right.
REFERENCE = np.array(
    [1, 1, 0, 0, 0, 0, 0, 2, 2, 2, 0, 0, 3, 3, 3, 3, 3, 0, 4, 4, 0, 5, 5, 0, 6, 6, 6, 6, 7, 7, 7]
)
PREDICTION = np.array(
    [0, 0, 0, 0, 1, 1, 0, 0, 2, 2, 2, 0, 3, 3, 0, 4, 4, 0, 5, 5, 5, 5, 5, 0, 6, 6, 7, 7, 7, 7, 7]
)
BLUE, ORANGE, INK, GREY, CARD = "#2d7fb8", "#c25400", "#222222", "#666666", "#ffffff"
VOXEL, LEFT, TOP, RADIUS = 24, 104, 16, 15
STRIPS, VERTICES = (TOP, TOP + 32), (TOP + 96, TOP + 176)  # y of the reference and the prediction
WIDTH, HEIGHT = LEFT + VOXEL * len(REFERENCE) + 16, VERTICES[1] + 62
# Colours of the kinds in the order of `COMPONENT_KINDS`; neighbours differ in lightness, too.
COLOURS = ("#cc79a7", "#e8904f", "#2d7fb8", "#f0c75e", "#5aa57f", "#3d3d3d")
AREA_WIDTH, AREA_HEIGHT, MARGIN = 560, 240, 56


def components_svg() -> str:
    """Return one component of each kind, with its objects above it."""
    overlap = pm.count_overlaps(REFERENCE, PREDICTION)
    lines = [_head(WIDTH, HEIGHT, "One component of every kind"), *_edges(overlap)]
    sides = ((REFERENCE, BLUE, "reference"), (PREDICTION, ORANGE, "prediction"))
    for (labels, colour, name), strip, vertex in zip(sides, STRIPS, VERTICES, strict=True):
        lines += [_text(12, strip + VOXEL / 2, name, GREY, "start")]
        lines += [_text(12, vertex, f"{name}s", GREY, "start")]
        lines += [_voxel(at, strip, int(label), colour) for at, label in enumerate(labels)]
        lines += _vertices(labels, vertex, colour)
    return "\n".join([*lines, *_titles(overlap), "</svg>", ""])


def _edges(overlap: pm.Overlap) -> list[str]:
    lines = []
    for ref, pred, iou in zip(overlap.edges.ref, overlap.edges.pred, overlap.iou, strict=True):
        start = _middle(REFERENCE, int(overlap.ref_ids[ref]))
        stop = _middle(PREDICTION, int(overlap.pred_ids[pred]))
        lines.append(
            f'<line x1="{start:g}" y1="{VERTICES[0]}" x2="{stop:g}" y2="{VERTICES[1]}" '
            f'stroke="{GREY}" stroke-width="{1 + 4 * iou:.1f}"/>'
        )
    return lines


def _titles(overlap: pm.Overlap) -> list[str]:
    """Return the kind of every component, below its middle."""
    of_ref, of_pred = overlap.components()
    lines = []
    for component in range(1 + int(max(of_ref.max(), of_pred.max()))):
        refs = overlap.ref_ids[of_ref == component].tolist()
        preds = overlap.pred_ids[of_pred == component].tolist()
        middles = [_middle(REFERENCE, label) for label in refs]
        middles += [_middle(PREDICTION, label) for label in preds]
        x = (min(middles) + max(middles)) / 2
        words = _kind_of(len(refs), len(preds)).split(" ")
        y = VERTICES[1] + RADIUS + 18
        lines += [_text(x, y + 18 * i, word, INK, "middle", 600) for i, word in enumerate(words)]
    return lines


def _kind_of(refs: int, preds: int) -> str:
    if not preds or not refs:
        return MEANINGS["prediction" if not refs else "reference"].title
    return f"{'1' if refs == 1 else 'n'}–{'1' if preds == 1 else 'n' if refs == 1 else 'm'}"


def _vertices(labels: Labels, y: float, colour: str) -> list[str]:
    lines = []
    for label in np.unique(labels[labels > 0]).tolist():
        x = _middle(labels, label)
        lines.append(f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" fill="{colour}"/>')
        lines.append(_text(x, y, str(label), "#fff", "middle"))
    return lines


def _voxel(at: int, y: float, label: int, colour: str) -> str:
    x, size = LEFT + VOXEL * at + 1, VOXEL - 2
    fill = f'fill="{colour}"' if label else 'fill="none" stroke="#cccccc"'
    box = f'<rect x="{x}" y="{y + 1}" width="{size}" height="{size}" rx="3" {fill}/>'
    return box + (_text(x + size / 2, y + VOXEL / 2, str(label), "#fff", "middle") if label else "")


def _middle(labels: Labels, label: int) -> float:
    return float(LEFT + VOXEL * (np.flatnonzero(labels == label).mean() + 0.5))


def tissue() -> pm.Overlap:
    """Return the overlaps of dense synthetic cells that a simulated model redraws."""
    cells = phantoms.cells((160, 160), 90, seed=3)
    seen = phantoms.SIMULATED_MODELS["redraws"].predict(cells, 3)
    merged = phantoms.merge_neighbours(seen.labels, 12, seed=3)
    return pm.count_overlaps(cells.labels, phantoms.split(merged, 2, ids=[1, 20, 40, 60, 80]))


def over_threshold_svg() -> str:
    """Return which share of the objects is in which kind of component, at every threshold."""
    overlap = tissue()
    steps = np.unique([0.0, *overlap.iou[overlap.iou < 1].tolist()])
    objects = np.array([_objects(overlap, float(tau)) for tau in steps])
    tops = np.cumsum(objects / objects.sum(axis=1, keepdims=True), axis=1)
    width, height = AREA_WIDTH + 3 * MARGIN + 60, AREA_HEIGHT + MARGIN + 26
    lines = [_head(width, height, "Objects by kind of component, over the threshold")]
    bottoms = np.column_stack([np.zeros(len(steps)), tops[:, :-1]])
    for kind, colour in enumerate(COLOURS):
        lines.append(f'<path d="{_area(steps, bottoms[:, kind], tops[:, kind])}" fill="{colour}"/>')
    lines += _axes()
    named = list(zip(COMPONENT_KINDS, COLOURS, strict=True))[::-1]  # as they are stacked
    for row, (name, colour) in enumerate(named):
        x, y = MARGIN + AREA_WIDTH + 18, 26 + 24 * row
        lines.append(f'<rect x="{x}" y="{y}" width="14" height="14" rx="2" fill="{colour}"/>')
        lines.append(_text(x + 22, y + 7, MEANINGS[name].title, INK, "start"))
    return "\n".join([*lines, "</svg>", ""])


def _objects(overlap: pm.Overlap, threshold: float) -> list[int]:
    counts = pm.graph_structure(overlap, threshold).counts
    return [one.references + one.predictions for one in counts]


def _area(steps: npt.NDArray[np.float64], low: Labels, high: Labels) -> str:
    """Return the path around a step function's area."""
    ends = [*steps.tolist(), 1.0]
    above = [f"L{_x(at)} {_y(top)}" for (a, b), top in zip(pairwise(ends), high, strict=True)
             for at in (a, b)]  # fmt: skip
    below = [f"L{_x(at)} {_y(foot)}" for (a, b), foot in
             reversed(list(zip(pairwise(ends), low, strict=True))) for at in (b, a)]  # fmt: skip
    return f"M{above[0][1:]}{''.join(above[1:])}{''.join(below)}Z"


def _x(threshold: float) -> str:
    return f"{MARGIN + AREA_WIDTH * threshold:.1f}"


def _y(share: float) -> str:
    return f"{18 + AREA_HEIGHT * (1 - share):.1f}"


def _axes() -> list[str]:
    lines = []
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        lines.append(_text(float(_x(tick)), float(_y(0)) + 16, f"{tick:g}", INK, "middle"))
        lines.append(_text(MARGIN - 8, float(_y(tick)), f"{tick:g}", INK, "end"))
    middle = MARGIN + AREA_WIDTH / 2
    lines.append(_text(middle, float(_y(0)) + 38, "threshold τ", INK, "middle"))
    turn = f"translate(16 {18 + AREA_HEIGHT / 2:g}) rotate(-90)"
    lines.append(
        f'<text transform="{turn}" fill="{INK}" text-anchor="middle">share of objects</text>'
    )
    return lines


def _head(width: float, height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="15" role="img">'
        f"\n<title>{title}</title>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="{CARD}"/>'
    )


def _text(x: float, y: float, words: str, colour: str, anchor: str, weight: int = 400) -> str:
    bold = "" if weight == 400 else f' font-weight="{weight}"'
    return (
        f'<text x="{x:g}" y="{y + 5:g}" fill="{colour}" text-anchor="{anchor}"{bold}>{words}</text>'
    )
