"""A column of vertebrae with their sub-regions, and the discs between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.phantoms._anatomy import Anatomy
from panmatch.phantoms._objects import Box, Floats, Image, Mask
from panmatch.phantoms._options import Shape, check_count, check_grid
from panmatch.phantoms._shapes import waves_on_grid

LEVELS = [f"C{k}" for k in range(1, 8)] + [f"T{k}" for k in range(1, 13)]
LEVELS += [f"L{k}" for k in range(1, 7)]
NAMES = dict(enumerate(LEVELS, start=1))
PART_NAMES = {
    41: "arch",
    42: "spinous process",
    43: "left costal process",
    44: "right costal process",
    45: "left superior articular process",
    46: "right superior articular process",
    47: "left inferior articular process",
    48: "right inferior articular process",
    49: "border of the body",
    50: "body",
    100: "disc",
}
DISC = 100  # labels of discs are those of the vertebrae above them, plus this
NAMES |= {DISC + label: f"disc below {name}" for label, name in NAMES.items()}
VERTEBRAE, DISCS = (1, 28), (100, 199)

# Lengths are in units of the distance between two vertebrae, which the image sets.
EXTENT = (1.25, 2.75, 2.25)  # of one vertebra: down, front to back, side to side
REACH = ((0.7, 0.7, 1.15), (0.9, 1.9, 1.15))  # of its parts from the middle of the body
TOP, FRONT = 0.6, 0.8  # of the middle of the body, from the top and the front of the extent
BEND = 0.22  # how far the column bends forward in the middle
UNEVENNESS = 0.05
LEAST_VOXELS = 6  # between two vertebrae; fewer draw nothing that looks like one


def spine(
    shape: Shape = (128, 80, 72),
    n: int = 5,
    *,
    lowest: int = 24,
    spacing: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Anatomy:
    """Make a column of vertebrae, in the labels of the preset ``vertebrae``.

    Parameters
    ----------
    shape, spacing, seed
        As for `brain_metastases`. Lengths run from head to foot, front to back, and, if there are
        three, right to left. With two, the image is the slice through the middle. The column fills
        the image.
    n
        How many vertebrae; 0 gives an empty image. Too many for the image are an `OptionError`.
    lowest
        Label of the lowest vertebra, from 1 (C1) to 25 (L6); 24 is L5.

    Returns
    -------
    Anatomy
        `labels` has the vertebrae, and between two of them a disc with the label of the upper
        one plus 100. `parts` has 41 to 50 in vertebrae and 100 in discs.

    Examples
    --------
    >>> import numpy as np
    >>> from panmatch.phantoms import spine
    >>> column = spine((64, 48), 3)
    >>> np.unique(column.labels).tolist()
    [0, 22, 23, 24, 122, 123]
    >>> [column.names[label] for label in (22, 24, 122)]
    ['L3', 'L5', 'disc below L3']
    >>> np.unique(column.parts[column.labels == 24]).tolist()
    [41, 42, 49, 50]
    """
    lengths, sizes, rng = check_grid(shape, spacing, seed)
    lowest = check_count("lowest", lowest, lowest=1, highest=len(LEVELS))
    n = check_count("n", n, highest=lowest)
    labels: Image = np.zeros(lengths, dtype=np.int32)
    parts: Image = np.zeros(lengths, dtype=np.int32)
    frames = list(enumerate(_frames(lengths, sizes, n, rng), start=lowest - n + 1))
    for label, frame in frames:
        _paint(labels, parts, frame, _vertebra(frame), label)
    for label, frame in frames[:-1]:
        disc = (np.abs(frame.down - 0.5) < 0.2) & (_radius(frame) < 0.97)
        _paint(labels, parts, frame, [(DISC, disc)], DISC + label)
    room, voxel = np.ones(lengths, dtype=np.bool_), tuple(sizes.tolist())
    kinds = (VERTEBRAE, DISCS)
    return Anatomy(labels, parts, labels, room, voxel, NAMES, PART_NAMES, (49, 50), 0, kinds)


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """The voxels around one vertebra, in its own coordinates: down, backwards and to the left."""

    box: Box
    down: Floats
    back: Floats
    left: Floats


def _frames(
    lengths: tuple[int, ...], sizes: Floats, count: int, rng: np.random.Generator
) -> Iterator[_Frame]:
    """Yield the voxels around every vertebra, from the top; coordinates are slightly uneven."""
    shape, extents = np.array(lengths), np.array(EXTENT[: len(lengths)])
    extents[0] += max(count - 1, 0)
    unit = float((shape * sizes / extents).min())
    if count and unit < LEAST_VOXELS * sizes.max():
        raise OptionError(
            f"n={count} vertebrae do not fit shape {lengths} with spacing "
            f"{tuple(sizes.tolist())}: they would be {unit / sizes.max():.1f} voxels "
            f"apart, but need {LEAST_VOXELS}. Lower n, or enlarge the image along every axis."
        )
    reach = unit * np.array(REACH)[:, : len(lengths)]
    for position in range(count):
        middle = (shape - 1) * sizes / 2  # of the body, in mm
        middle[0] += (position - (count - 1) / 2 + TOP - EXTENT[0] / 2) * unit
        along_column = np.pi * (position + 0.5) / count
        middle[1] += (FRONT - EXTENT[1] / 2 + BEND * (0.5 - np.sin(along_column))) * unit
        lean = float(np.arctan(BEND * np.pi * np.cos(along_column) / count))
        low = np.maximum(((middle - reach[0]) / sizes).astype(np.int64), 0)
        high = np.minimum(((middle + reach[1]) / sizes).astype(np.int64) + 1, shape)
        voxels = [np.arange(*ends) for ends in zip(low, high, strict=True)]
        places = zip(voxels, sizes, middle, strict=True)
        axes = [(along * size - centre) / unit for along, size, centre in places]
        local = np.meshgrid(*axes, indexing="ij")
        for along in local:
            along += UNEVENNESS * (waves_on_grid(axes, rng) - 0.5)
        down = np.cos(lean) * local[0] - np.sin(lean) * local[1]
        back = np.sin(lean) * local[0] + np.cos(lean) * local[1]
        left = local[2] if len(local) == 3 else np.zeros_like(down)
        yield _Frame(tuple(map(slice, low.tolist(), high.tolist())), down, back, left)


def _paint(
    labels: Image, parts: Image, frame: _Frame, regions: Iterable[tuple[int, Mask]], label: int
) -> None:
    """Write an object where there is none yet; where its regions overlap, the first one wins."""
    for part, region in regions:
        free = region & (labels[frame.box] == 0)
        labels[frame.box][free] = label
        parts[frame.box][free] = part


def _vertebra(frame: _Frame) -> Iterator[tuple[int, Mask]]:
    """Yield the regions of a vertebra."""
    down, back, left = frame.down, frame.back, frame.left
    aside = np.abs(left)
    yield 50, _body(frame, 0.30, 0.86)
    yield 49, _body(frame, 0.37, 1.0)
    ring = np.hypot((back - 0.80) / 0.27, left / 0.33)
    low = down - 0.05 - 0.25 * (back - 0.80)
    # A ring would close in front of the canal, too: the arch is behind it and beside it.
    around = (back > 0.8) & (back < 1.2) | (back > 0.3) & (back <= 0.8) & (aside > 0.25)
    yield 41, (ring > 1) & (ring < 1.55) & (np.abs(low) < 0.2) & around
    sunk = down - 0.14 - 0.30 * (back - 1.1)
    end = np.hypot(np.maximum(back - 1.60, 0) / 0.12, sunk / (0.13 + 0.06 * (back - 1.1)))
    yield 42, (back > 1.1) & (back < 1.72) & (aside < 0.10) & (end < 1)
    swept = np.hypot((back - 0.72 - 0.30 * (aside - 0.45)) / 0.10, down / 0.12)
    costal = (aside > 0.40) & (aside < 1.05) & (swept < 1)
    superior = _ellipsoid(down + 0.26, back - 0.90, aside - 0.42) < 1
    inferior = _ellipsoid(down - 0.34, back - 1.04, aside - 0.28) < 1
    for part, region in ((43, costal), (45, superior), (47, inferior)):
        yield part, region & (left > 0)
        yield part + 1, region & (left < 0)


def _body(frame: _Frame, half_height: float, width: float) -> Mask:
    """Return a drum with a waist."""
    waist = width * (0.90 + 0.10 * np.minimum(np.abs(frame.down) / 0.37, 1) ** 2)
    inside: Mask = (np.abs(frame.down) < half_height) & (_radius(frame) < waist)
    return inside


def _radius(frame: _Frame) -> Floats:
    """Return the distance from the axis of the body, 1 at its edge; it is flat at the canal."""
    back = np.where(frame.back > 0, frame.back / 0.46, frame.back / 0.52)
    radius: Floats = (np.abs(back) ** 2.6 + np.abs(frame.left / 0.70) ** 2.6) ** (1 / 2.6)
    return radius


def _ellipsoid(down: Floats, back: Floats, aside: Floats) -> Floats:
    radius: Floats = (down / 0.26) ** 2 + (back / 0.13) ** 2 + (aside / 0.14) ** 2
    return radius
