"""A column of vertebrae with their sub-regions, and the discs between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import as_spacing
from panmatch.phantoms.anatomy import Anatomy, Image, Mask
from panmatch.phantoms.objects import Floats
from panmatch.phantoms.options import check_count, check_shape, random_numbers
from panmatch.phantoms.outlines import waves_on_grid

LEVELS = [f"C{k}" for k in range(1, 8)] + [f"T{k}" for k in range(1, 13)]
LEVELS += [f"L{k}" for k in range(1, 7)]
VERTEBRA_NAMES = dict(enumerate(LEVELS, start=1))
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
VERTEBRAE, DISCS = (1, 28), (100, 199)

# Lengths are in units of the distance between two vertebrae, which the image sets.
EXTENT = (1.25, 2.75, 2.25)  # of one vertebra: down, front to back, side to side
REACH = ((0.7, 0.7, 1.15), (0.9, 1.9, 1.15))  # of its parts from the middle of the body
TOP, FRONT = 0.6, 0.8  # of the middle of the body, from the top and the front of the extent
BEND = 0.22  # how far the column bends forward in the middle
UNEVENNESS = 0.05
LEAST_VOXELS = 6  # between two vertebrae; fewer draw nothing that looks like one


def spine(
    shape: Sequence[int] = (128, 80, 72),
    n: int = 5,
    *,
    lowest: int = 24,
    spacing: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Anatomy:
    """Make a column of vertebrae, in the labels of the preset ``vertebrae``.

    Parameters
    ----------
    shape
        Lengths in voxels: from head to foot, front to back, and, where there are three, right to
        left. With two it is the slice through the middle. The column fills the image.
    n
        How many vertebrae; 0 gives an empty image.
    lowest
        Label of the lowest vertebra, from 1 (C1) to 25 (L6); 24 is L5.
    spacing
        Distance between voxels along each axis in mm; 1 by default.
    seed
        Equal seeds give equal images.

    Returns
    -------
    Anatomy
        `labels` has the vertebrae, and between two of them a disc with the label of the upper
        one plus 100. `parts` has 41 to 50 in vertebrae and 100 in discs.

    Raises
    ------
    OptionError
        For options out of range, and when there are too few voxels for so many vertebrae.

    Examples
    --------
    >>> column = spine((64, 48), 3)
    >>> np.unique(column.labels).tolist()
    [0, 22, 23, 24, 122, 123]
    >>> [column.names[label] for label in (22, 24, 122)]
    ['L3', 'L5', 'disc below L3']
    >>> np.unique(column.parts[column.labels == 24]).tolist()
    [41, 42, 49, 50]
    """
    lengths, rng = check_shape(shape), random_numbers(seed)
    sizes = as_spacing(spacing, len(lengths))
    lowest = check_count("lowest", lowest, lowest=1, highest=len(LEVELS))
    column = _Column(lengths, sizes, check_count("n", n, highest=lowest))
    labels: Image = np.zeros(lengths, dtype=np.int32)
    parts: Image = np.zeros(lengths, dtype=np.int32)
    frames = [column.frame(position, rng) for position in range(column.count)]
    for position, frame in enumerate(frames):
        _paint(labels, parts, frame, _vertebra(frame), lowest - column.count + 1 + position)
    for position, frame in enumerate(frames[:-1]):
        _paint(labels, parts, frame, _disc(frame), DISC + lowest - column.count + 1 + position)
    spans, names = (VERTEBRAE, DISCS), VERTEBRA_NAMES | _disc_names()
    room = np.ones(lengths, dtype=np.bool_)
    apart = tuple(sizes.tolist())
    return Anatomy(labels, parts, labels, room, apart, names, PART_NAMES, (49, 50), 0, spans)


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """The voxels around one vertebra, in its own coordinates: down, backwards and to the left."""

    box: tuple[slice, ...]
    down: Floats
    back: Floats
    left: Floats


class _Column:
    """Where the vertebrae of an image lie, and how they lean."""

    def __init__(self, lengths: tuple[int, ...], sizes: Floats, count: int) -> None:
        self.count = count
        self._sizes = sizes
        self._lengths = np.array(lengths)
        extents = np.array(EXTENT[: len(lengths)])
        extents[0] += max(count - 1, 0)
        self._unit = float((self._lengths * sizes / extents).min())
        if count and self._unit < LEAST_VOXELS * sizes.max():
            raise OptionError(
                f"n={count} vertebrae do not fit shape {lengths} with spacing "
                f"{tuple(sizes.tolist())}: they would be {self._unit / sizes.max():.1f} voxels "
                f"apart and need {LEAST_VOXELS}. Lower n, or enlarge the image along every axis."
            )

    def frame(self, position: int, rng: np.random.Generator) -> _Frame:
        """Return the voxels around a vertebra with their coordinates, slightly uneven."""
        middle, lean = self._pose(position)
        reach = self._unit * np.array(REACH)[:, : len(middle)]
        low = np.maximum(((middle - reach[0]) / self._sizes).astype(np.int64), 0)
        high = np.minimum(((middle + reach[1]) / self._sizes).astype(np.int64) + 1, self._lengths)
        voxels = [np.arange(*ends) for ends in zip(low, high, strict=True)]
        places = zip(voxels, self._sizes, middle, strict=True)
        axes = [(along * size - centre) / self._unit for along, size, centre in places]
        local = np.meshgrid(*axes, indexing="ij")
        for along in local:
            along += UNEVENNESS * (waves_on_grid(axes, rng) - 0.5)
        down = np.cos(lean) * local[0] - np.sin(lean) * local[1]
        back = np.sin(lean) * local[0] + np.cos(lean) * local[1]
        left = local[2] if len(local) == 3 else np.zeros_like(down)
        return _Frame(tuple(map(slice, low.tolist(), high.tolist())), down, back, left)

    def _pose(self, position: int) -> tuple[Floats, float]:
        """Return the middle of the body in mm, and the angle by which it leans."""
        middle = (self._lengths - 1) * self._sizes / 2
        middle[0] += (position - (self.count - 1) / 2 + TOP - EXTENT[0] / 2) * self._unit
        along = np.pi * (position + 0.5) / self.count
        middle[1] += (FRONT - EXTENT[1] / 2 + BEND * (0.5 - np.sin(along))) * self._unit
        slope = BEND * np.pi * np.cos(along) / self.count
        return middle, float(np.arctan(slope))


def _paint(
    labels: Image, parts: Image, frame: _Frame, regions: Iterator[tuple[int, Mask]], label: int
) -> None:
    """Write an object where there is none yet; of its regions the first has a voxel."""
    around, made_of = labels[frame.box], parts[frame.box]
    for part, region in regions:
        free = region & (around == 0)
        around[free] = label
        made_of[free] = part


def _vertebra(frame: _Frame) -> Iterator[tuple[int, Mask]]:
    """Yield the regions of a vertebra."""
    down, back, left = frame.down, frame.back, frame.left
    aside = np.abs(left)
    yield 50, _body(frame, 0.30, 0.86)
    yield 49, _body(frame, 0.37, 1.0)
    ring = np.hypot((back - 0.80) / 0.27, left / 0.33)
    low = down - 0.05 - 0.25 * (back - 0.80)
    yield 41, (ring > 1) & (ring < 1.55) & (np.abs(low) < 0.2) & _beside_or_behind(frame)
    sunk = down - 0.14 - 0.30 * (back - 1.1)
    end = np.hypot(np.maximum(back - 1.60, 0) / 0.12, sunk / (0.13 + 0.06 * (back - 1.1)))
    yield 42, (back > 1.1) & (back < 1.72) & (aside < 0.10) & (end < 1)
    swept = np.hypot((back - 0.72 - 0.30 * (aside - 0.45)) / 0.10, down / 0.12)
    for part, side in ((43, left > 0), (44, left < 0)):
        yield part, side & (aside > 0.40) & (aside < 1.05) & (swept < 1)
    for part, side in ((45, left > 0), (46, left < 0)):
        yield part, side & (_ellipsoid(down + 0.26, back - 0.90, aside - 0.42) < 1)
    for part, side in ((47, left > 0), (48, left < 0)):
        yield part, side & (_ellipsoid(down - 0.34, back - 1.04, aside - 0.28) < 1)


def _disc(frame: _Frame) -> Iterator[tuple[int, Mask]]:
    """Yield the one region of a disc: it fills what the bodies around it leave."""
    yield DISC, (np.abs(frame.down - 0.5) < 0.2) & (_radius(frame) < 0.97)


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


def _beside_or_behind(frame: _Frame) -> Mask:
    """Return where the arch may be: a ring would close in front of the canal, too."""
    behind: Mask = (frame.back > 0.8) & (frame.back < 1.2)
    return behind | ((frame.back > 0.3) & (frame.back <= 0.8) & (np.abs(frame.left) > 0.25))


def _ellipsoid(down: Floats, back: Floats, aside: Floats) -> Floats:
    radius: Floats = (down / 0.26) ** 2 + (back / 0.13) ** 2 + (aside / 0.14) ** 2
    return radius


def _disc_names() -> dict[int, str]:
    return {DISC + label: f"disc below {name}" for label, name in VERTEBRA_NAMES.items()}
