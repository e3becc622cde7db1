"""Scenes of the playground as pictures that read well on light and on dark."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import pairwise

import numpy as np

from panmatch.labels import nearest_labels
from panmatch.matching import Matching
from panmatch.playground import Disc, Ellipse, Scene, Stroke

REFERENCE, PREDICTION, BOTH, MASK = "#84b6fa", "#ffd757", "#849a55", "#fff"
EDGE, REFERENCE_EDGE, PREDICTION_EDGE, BORDER = "#27303d", "#1d4fbf", "#7a4600", "#808a99"
UNMATCHED = 0.45  # how opaque objects without a match are
STEP = 4  # pixels of the label images per unit


def scene_svg(scene: Scene, matching: Matching, *, title: str, regions: bool = False) -> str:
    """Return a scene: references blue, predictions yellow, green where they agree.

    Parameters
    ----------
    matching
        Objects that it leaves without a partner are pale.
    title
        What the picture shows, for those who cannot see it.
    regions
        Whether to draw the borders of the Voronoi regions.
    """
    missed, false = set(matching.missed.tolist()), set(matching.false_positives.tolist())
    outline = f'fill="none" stroke="{EDGE}" stroke-opacity="0.75" stroke-width="1.2"'
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 362" width="600" height="362" '
        'role="img">',
        f"<title>{title}</title>",
        '<defs><clipPath id="field"><rect width="600" height="362" rx="8"/></clipPath>',
        '<mask id="refs" maskUnits="userSpaceOnUse" x="0" y="0" width="600" height="362">',
        *_filled(scene.reference, MASK),
        "</mask></defs>",
        '<g clip-path="url(#field)">',
        *_filled(scene.reference, REFERENCE, missed),
        *_filled(scene.prediction, PREDICTION, false),
        '<g mask="url(#refs)">',
        *_filled(scene.prediction, BOTH, false),
        "</g>",
        f"<g {outline}>",
        *(f"<{_geometry(shape)}/>" for shape in scene.reference if shape.kind != "stroke"),
        "</g>",
        f'<g {outline} stroke-dasharray="5 3">',
        *(f"<{_geometry(shape)}/>" for shape in scene.prediction if shape.kind != "stroke"),
        "</g>",
        *_parts(scene),
        *(_borders(scene) if regions else ()),
        "</g>",
        f'<rect x="0.5" y="0.5" width="599" height="361" rx="8" fill="none" stroke="{BORDER}" '
        'stroke-opacity="0.6"/>',
        "</svg>",
        "",
    ]
    return "\n".join(lines)


Shape = Disc | Ellipse | Stroke


def _filled(shapes: tuple[Shape, ...], colour: str, pale: Container[int] = ()) -> Iterator[str]:
    """Yield shapes in a colour; strokes have an edge below them, as others get one above."""
    yield f'<g fill="{colour}" stroke-linecap="round" stroke-linejoin="round">'
    for label, shape in enumerate(shapes, start=1):
        opacity = f' opacity="{UNMATCHED}"' if label in pale else ""
        if isinstance(shape, Stroke):
            inner, outer = (_line(shape, colour), _line(shape, EDGE, 2.4))
            yield f"<g{opacity}>{'' if colour == MASK else outer}{inner}</g>"
        else:
            yield f"<{_geometry(shape)}{opacity}/>"
    yield "</g>"


def _line(shape: Stroke, colour: str, wider: float = 0.0) -> str:
    points = shape.points if len(shape.points) > 1 else shape.points * 2
    path = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
    width = f"{shape.width + wider:g}"
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _geometry(shape: object) -> str:
    if isinstance(shape, Disc):
        return f'circle cx="{shape.x:g}" cy="{shape.y:g}" r="{shape.r:g}"'
    assert isinstance(shape, Ellipse)
    turn = f' transform="rotate({shape.angle:g} {shape.x:g} {shape.y:g})"' if shape.angle else ""
    size = f'rx="{shape.rx:g}" ry="{shape.ry:g}"'
    return f'ellipse cx="{shape.x:g}" cy="{shape.y:g}" {size}{turn}'


def _parts(scene: Scene) -> Iterator[str]:
    """Yield the outlines of nested parts."""
    for shapes, colour, dashes in (
        (scene.reference, REFERENCE_EDGE, "none"),
        (scene.prediction, PREDICTION_EDGE, "5 3"),
    ):
        for shape in shapes:
            for inner in shape.nested()[1:]:
                yield (
                    f'<{_geometry(inner)} fill="none" stroke="{colour}" stroke-width="2" '
                    f'stroke-dasharray="{dashes}"/>'
                )


def _borders(scene: Scene) -> Iterator[str]:
    """Yield the borders of the Voronoi regions, as one path along the edges of unit squares."""
    labels = scene.label_images()[0][STEP // 2 :: STEP, STEP // 2 :: STEP]
    regions = nearest_labels(labels)
    steps = [f"M{x + 1} {a}V{b}" for x, a, b in _runs(regions[:, 1:] != regions[:, :-1])]
    steps += [f"M{a} {y + 1}H{b}" for y, a, b in _runs((regions[1:] != regions[:-1]).T)]
    path = f'<path d="{"".join(steps)}" fill="none" stroke-linecap="square" stroke='
    yield f'{path}"#ffffff" stroke-width="3"/>'
    yield f'{path}"{EDGE}" stroke-width="1.2"/>'


def _runs(marks: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Yield column, first row and last row of every run of marks along the first axis."""
    padded = np.zeros((marks.shape[0] + 2, marks.shape[1]), np.int8)
    padded[1:-1] = marks
    changes = np.diff(padded, axis=0)
    for column in np.flatnonzero(marks.any(axis=0)).tolist():
        ends = np.flatnonzero(changes[:, column]).tolist()
        yield from ((column, a, b) for a, b in list(pairwise(ends))[::2])
