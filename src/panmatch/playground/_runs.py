"""Images as runs of equal pixels: drawn from shapes, counted, and painted where pixels are needed.

The numbers of a scene need only its runs, of which there are far fewer than pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.overlap import Overlap, assemble_labels, sum_by
from panmatch.playground._shapes import Shape
from panmatch.playground._spans import COLUMNS, ROWS, Ints, Spans, joined

PIXELS = ROWS * COLUMNS
# A span as one number that sorts by its start: start, length, then the shape.
LENGTH_BITS, SHAPE_BITS = 22, 13

Layers = Sequence[tuple[Shape, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """An image, row by row, as runs of pixels of one value.

    Attributes
    ----------
    stops
        One past the last pixel of every run; runs may be empty, the last one ends the image.
    values
        Value of the topmost shape on every run, 0 where there is none.
    """

    stops: Ints
    values: Ints


def draw_runs(images: Sequence[Layers]) -> list[Runs]:
    """Return images as runs.

    Parameters
    ----------
    images
        For each image its shapes with their values; a later shape covers an earlier one.
    """
    layers = [layer for image in images for layer in image]
    spans = _spans_of([shape for shape, _ in layers])
    offset = PIXELS * np.repeat(np.arange(len(images)), [len(image) for image in images])
    spans = Spans(spans.shape, spans.start + offset[spans.shape], spans.stop + offset[spans.shape])
    stops, topmost = _runs(spans, PIXELS * len(images))
    values = np.array([0, *(value for _, value in layers)])[topmost]
    return [_cut(stops, values, PIXELS * position) for position in range(len(images))]


def paint_images(images: Sequence[Layers], dtype: npt.DTypeLike) -> npt.NDArray[np.unsignedinteger]:
    """Return images with the value of the topmost shape on every pixel, 0 where there is none.

    All images are painted as one array: most of the time is spent on memory that is touched for the
    first time, and one large block can be reused as it is.

    Parameters
    ----------
    images
        As for `draw_runs`.
    dtype
        Of the result, which has shape (images, rows, columns).

    Examples
    --------
    >>> from panmatch.playground import Disc
    >>> nested = paint_images([[(Disc(9, 9, 2), 5), (Disc(9, 9, 1), 7)]], np.uint8)
    >>> nested.shape, np.unique(nested, return_counts=True)
    ((1, 1448, 2400), (array([0, 5, 7], dtype=uint8), array([3474992,     156,      52])))
    """
    runs = draw_runs(images)
    values = np.concatenate([image.values for image in runs]).astype(dtype)
    lengths = np.concatenate([np.diff(image.stops, prepend=0) for image in runs])
    return np.repeat(values, lengths.astype(np.intp)).reshape(len(images), ROWS, COLUMNS)


def count_runs(reference: Runs, prediction: Runs) -> Overlap:
    """Return what `count_overlaps` returns for the two images.

    Examples
    --------
    >>> reference = Runs(np.array([2, 5, 6]), np.array([0, 1, 0]))
    >>> prediction = Runs(np.array([3, 6]), np.array([0, 7]))
    >>> count_runs(reference, prediction).edges.intersection
    array([2])
    """
    ref, pred, lengths = _common_runs(reference, prediction)
    width = int(pred.max()) + 1
    voxels = sum_by(ref * width + pred, lengths, (int(ref.max()) + 1) * width)
    seen = np.flatnonzero(voxels)
    return assemble_labels(*np.divmod(seen, width), voxels[seen])


def _cut(stops: Ints, values: Ints, start: int) -> Runs:
    """Return the runs of the image that starts at a pixel."""
    stop = start + PIXELS
    first, last = np.searchsorted(stops, start, side="right"), np.searchsorted(stops, stop)
    return Runs(np.minimum(stops[first : last + 1], stop) - start, values[first : last + 1])


def _spans_of(shapes: Sequence[Shape]) -> Spans:
    """Return the spans of all shapes, those of one kind together."""
    of_kinds = []
    for kind in {type(shape): None for shape in shapes}:
        positions = [position for position, shape in enumerate(shapes) if type(shape) is kind]
        spans = kind.spans([shapes[position] for position in positions])
        of_kinds.append(Spans(np.array(positions)[spans.shape], spans.start, spans.stop))
    return joined(of_kinds)


def _runs(spans: Spans, pixels: int) -> tuple[Ints, Ints]:
    """Return the stops of runs that fill all pixels, and 1 + the topmost shape of each, or 0."""
    packed = spans.start << LENGTH_BITS | spans.stop - spans.start
    packed = np.sort(packed << SHAPE_BITS | spans.shape)
    shape = packed & (1 << SHAPE_BITS) - 1
    start = packed >> LENGTH_BITS + SHAPE_BITS
    stop = start + (packed >> SHAPE_BITS & (1 << LENGTH_BITS) - 1)
    if (stop[:-1] > start[1:]).any():
        return _covered_runs(Spans(shape, start, stop), pixels)
    bounds = np.empty(2 * len(start) + 2, dtype=np.int64)
    bounds[0], bounds[1:-1:2], bounds[2:-1:2], bounds[-1] = 0, start, stop, pixels
    topmost = np.zeros(len(bounds) - 1, dtype=np.int64)
    topmost[1::2] = shape + 1
    return bounds[1:], topmost


def _covered_runs(spans: Spans, pixels: int) -> tuple[Ints, Ints]:
    """Return the runs where spans cover each other.

    Between two neighbouring ends of spans nothing changes. A span over k such pieces writes its
    shape on the two stretches of 2^n ≤ k pieces that it begins and ends with, on the level n; the
    levels are then handed down, each stretch to its two halves, and the topmost shape remains.
    """
    bounds = np.unique(np.concatenate([[0, pixels], spans.start, spans.stop]))
    first, stop = np.searchsorted(bounds, spans.start), np.searchsorted(bounds, spans.stop)
    level = np.frexp(stop - first)[1] - 1
    topmost = np.zeros(len(bounds) - 1, dtype=np.int64)
    for n in range(int(level.max()), -1, -1):
        size = 1 << n
        topmost[size:] = np.maximum(topmost[size:], topmost[:-size])
        here = level == n
        np.maximum.at(topmost, first[here], spans.shape[here] + 1)
        np.maximum.at(topmost, stop[here] - size, spans.shape[here] + 1)
    return bounds[1:], topmost


def _common_runs(image: Runs, other: Runs) -> tuple[Ints, Ints, Ints]:
    """Return both values and the length of every run on which neither image changes."""
    stops = np.sort(np.concatenate([image.stops << 1, other.stops << 1 | 1]))
    is_other = (stops & 1).astype(np.intp)
    ended = np.cumsum(is_other) - is_other  # runs of the other image that ended before
    values = other.values.take(ended, mode="clip")  # beyond the last run there are no pixels
    ended = np.arange(len(stops)) - ended
    return image.values.take(ended, mode="clip"), values, np.diff(stops >> 1, prepend=0)
