"""The drawing of two label images and their graph, for the page of definitions.

Its colours have enough contrast on white and on black, so one file serves light and dark pages.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import panmatch as pm

# The example of the page: object 1 split, 2 and 3 merged, 4 missed, prediction 8 spurious.
REFERENCE = np.array([1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 0, 3, 3, 0, 4, 4, 4, 0, 0])
PREDICTION = np.array([5, 5, 5, 5, 5, 6, 6, 6, 0, 7, 7, 7, 7, 7, 7, 7, 0, 0, 0, 0, 8, 8])
BLUE, ORANGE, GREY = "#2d7fb8", "#d55e00", "#7c7c7c"
VOXEL, LEFT, RADIUS = 24, 116, 19
STRIPS, VERTICES = (10, 46), (132, 246)  # y of the reference and of the prediction
WIDTH, HEIGHT = LEFT + VOXEL * len(REFERENCE) + 12, VERTICES[1] + RADIUS + 10


def graph_svg() -> str:
    """Return the drawing."""
    overlap = pm.count_overlaps(REFERENCE, PREDICTION)
    sides = ((REFERENCE, BLUE, "reference"), (PREDICTION, ORANGE, "prediction"))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="16">',
        *_edges(overlap),
    ]
    for (labels, colour, name), strip, vertex in zip(sides, STRIPS, VERTICES, strict=True):
        lines += [_text(0, strip + VOXEL / 2, name, GREY, "start")]
        lines += [_text(0, vertex, f"{name}s", GREY, "start")]
        lines += [_voxel(at, strip, int(label), colour) for at, label in enumerate(labels)]
        lines += _vertices(labels, vertex, colour)
    return "\n".join([*lines, "</svg>", ""])


def _edges(overlap: pm.Overlap) -> list[str]:
    lines = []
    edges = zip(overlap.edges.ref, overlap.edges.pred, overlap.iou, strict=True)
    for at, (ref, pred, iou) in enumerate(edges):
        start = _middle(REFERENCE, int(overlap.ref_ids[ref]))
        stop = _middle(PREDICTION, int(overlap.pred_ids[pred]))
        lines.append(
            f'<line x1="{start:g}" y1="{VERTICES[0]}" x2="{stop:g}" y2="{VERTICES[1]}" '
            f'stroke="{GREY}" stroke-width="{1 + 4 * iou:.1f}"/>'
        )
        side = "start" if at % 2 else "end"  # edges of one vertex come in pairs
        beside = (start + stop) / 2 + (-8 if side == "end" else 8)
        lines.append(_text(beside, sum(VERTICES) / 2, f"{iou:.3f}", GREY, side))
    return lines


def _vertices(labels: npt.NDArray[np.integer], y: float, colour: str) -> list[str]:
    lines = []
    for label in np.unique(labels[labels > 0]).tolist():
        x = _middle(labels, label)
        lines.append(f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" fill="{colour}"/>')
        lines.append(_text(x, y, str(label), "#fff", "middle"))
    return lines


def _voxel(at: int, y: float, label: int, colour: str) -> str:
    x, size = LEFT + VOXEL * at + 1, VOXEL - 2
    fill = f'fill="{colour}"' if label else f'fill="none" stroke="{GREY}" stroke-opacity="0.5"'
    box = f'<rect x="{x}" y="{y + 1}" width="{size}" height="{size}" rx="3" {fill}/>'
    return box + (_text(x + size / 2, y + VOXEL / 2, str(label), "#fff", "middle") if label else "")


def _middle(labels: npt.NDArray[np.integer], label: int) -> float:
    return float(LEFT + VOXEL * (np.flatnonzero(labels == label).mean() + 0.5))


def _text(x: float, y: float, words: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y + 5.5:g}" fill="{colour}" text-anchor="{anchor}">{words}</text>'
