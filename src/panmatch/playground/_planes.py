"""How slices are shown: from above or from the side, whatever the order of the stored axes.

An affine says where left, front and top are. Slices are then shown as radiologists expect them:
superior or anterior is up, the patient's right is on the left of the picture, and in sagittal
slices anterior is on the left. Without an affine, slices are shown as they are stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from panmatch.formats import StoredImage
from panmatch.labels import Array
from panmatch.playground._validation import Message

# World axes are left–right, posterior–anterior, inferior–superior, in this order.
OPPOSITES = {"L": "R", "R": "L", "P": "A", "A": "P", "I": "S", "S": "I"}
WORLD_AXIS = {"L": 0, "R": 0, "P": 1, "A": 1, "I": 2, "S": 2}
NAMES = ("sagittal", "coronal", "axial")  # by the world axis that a plane is perpendicular to
SHOWN_UP = ("S", "S", "A")  # at the top of each of these planes
SHOWN_LEFT = ("A", "R", "R")  # at their left


@dataclass(frozen=True, slots=True)
class Plane:
    """How the slices along one axis are shown.

    Attributes
    ----------
    axis
        Axis of the array that slices are perpendicular to; None for a 2-D image.
    rows, columns
        Axes of the array that run down and to the right in the picture.
    flipped_rows, flipped_columns
        Whether they run against the order in which they are stored.
    name
        What to call the plane: axial, coronal, sagittal, or the axis.
    edges
        Letters for the top, right, bottom and left edge of the picture; empty without an affine.
    ends
        Letters for the first and the last slice; empty without an affine.
    """

    axis: int | None
    rows: int
    columns: int
    flipped_rows: bool = False
    flipped_columns: bool = False
    name: str = ""
    edges: str = ""
    ends: str = ""

    def cut(self, volume: Array, index: int) -> Array:
        """Return a slice of an array as it is shown; a view, without a copy.

        Examples
        --------
        >>> import numpy as np
        >>> volume = np.arange(6).reshape(1, 2, 3)
        >>> Plane(0, rows=2, columns=1, flipped_rows=True).cut(volume, 0)
        array([[2, 5],
               [1, 4],
               [0, 3]])
        """
        flat = volume if self.axis is None else volume[(slice(None),) * self.axis + (index,)]
        upright = flat if self.rows < self.columns else flat.T
        return upright[:: -1 if self.flipped_rows else 1, :: -1 if self.flipped_columns else 1]

    def describe(self, shape: tuple[int, ...], spacing: tuple[float, ...] | None) -> Message:
        """Return what the page needs to know about slices of an array of this shape."""
        tall, wide = (1.0, 1.0) if spacing is None else (spacing[self.rows], spacing[self.columns])
        return {
            "name": self.name,
            "axis": self.axis,
            "slices": 1 if self.axis is None else shape[self.axis],
            "shape": [shape[self.rows], shape[self.columns]],
            "axes": [self.rows, self.columns],
            "flips": [self.flipped_rows, self.flipped_columns],
            "aspect": tall / wide,
            "edges": list(self.edges),
            "ends": list(self.ends),
        }


def planes_of(image: StoredImage) -> tuple[Plane, ...]:
    """Return how slices along each axis of an image are shown; a single plane for a 2-D image.

    An oblique image is shown along the axes that are nearest to its own.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> steps = np.diag([-1.0, -1.0, 3.0, 1.0])
    >>> image = StoredImage(np.zeros((4, 5, 6), np.uint8), None, steps, Path("a.nii"))
    >>> [plane.name for plane in planes_of(image)]
    ['sagittal', 'coronal', 'axial']
    >>> planes_of(image)[2].flipped_columns  # stored from right to left, as it is shown
    False
    """
    n = len(image.labels.shape)
    letters = image.orientation if image.frame == "RAS" else None
    axes: list[int | None] = [None] if n == 2 else list(range(n))
    if letters is None:
        return tuple(_as_stored(axis, n) for axis in axes)
    return tuple(_as_radiologists_expect(axis, letters) for axis in axes)


def _as_stored(axis: int | None, n: int) -> Plane:
    rows, columns = (one for one in range(n) if one != axis)
    return Plane(axis, rows, columns, name="" if axis is None else f"axis {axis}")


def _as_radiologists_expect(axis: int | None, letters: str) -> Plane:
    """Return the plane of an array whose axes run towards these letters."""
    by_world = {WORLD_AXIS[letter]: at for at, letter in enumerate(letters)}
    seen = [world for world, at in by_world.items() if at != axis]
    (across,) = {0, 1, 2} - set(seen)
    up, left = SHOWN_UP[across], SHOWN_LEFT[across]
    rows, columns = by_world[WORLD_AXIS[up]], by_world[WORLD_AXIS[left]]
    return Plane(
        axis,
        rows,
        columns,
        flipped_rows=letters[rows] == up,
        flipped_columns=letters[columns] == left,
        name=NAMES[across],
        edges=up + OPPOSITES[left] + OPPOSITES[up] + left,
        ends="" if axis is None else OPPOSITES[letters[axis]] + letters[axis],
    )
