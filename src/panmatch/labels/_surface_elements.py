"""Surface elements between voxels, each with an area, as in DeepMind's surface-distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels._arrays import Floats, Ints, LabelArray, Mask
from panmatch.labels._object_pairs import ObjectPairs
from panmatch.labels._spacing import as_spacing

Corner = tuple[int, ...]
Triangles = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ElementDistances:
    """Sorted distances from all elements of one boundary to the other, and the elements' areas."""

    values: Floats
    areas: Floats

    def quantile(self, q: float) -> float:
        """Return the first distance at which a share `q` of the area is reached.

        Examples
        --------
        >>> ElementDistances(np.array([0.0, 1.0, 4.0]), np.array([1.0, 2.0, 1.0])).quantile(0.7)
        1.0
        """
        reached = np.cumsum(self.areas) / np.sum(self.areas)
        place = int(np.searchsorted(reached, q))
        return float(self.values[min(place, len(self.values) - 1)])


def element_distances(
    reference: LabelArray,
    prediction: LabelArray,
    pairs: ObjectPairs,
    spacing: npt.ArrayLike | None = None,
) -> Iterator[tuple[ElementDistances, ElementDistances]]:
    """Yield, for every pair, the distances from the reference's boundary and from the prediction's.

    An element lies where 2 × 2 × 2 voxels (2 × 2 in 2-D) meet, some inside and some outside the
    object. It is the piece of surface that marching cubes draws between the centres of those
    voxels. Distances are measured between the locations of elements. Everything beyond the image
    is outside.

    Parameters
    ----------
    reference, prediction, pairs, spacing
        As for `surface_distances`; images are 2-D or 3-D.

    Examples
    --------
    >>> images = np.array([[1, 1, 0, 0]]), np.array([[1, 1, 1, 0]])
    >>> ids, box = (np.array([1]), np.array([0, 1]), np.array([1])), np.array([[[0, 0]], [[1, 4]]])
    >>> _, found = next(element_distances(*images, ObjectPairs(*ids, *box)))
    >>> found.values, found.areas.round(3)[-4:]
    (array([0., 0., 0., 0., 0., 0., 1., 1.]), array([1.   , 1.   , 0.707, 0.707]))
    """
    if reference.ndim not in (2, 3):
        raise OptionError(
            f"metrics: hd95_elements needs surface elements, which are defined only in 2-D and "
            f"3-D, but the images have {reference.ndim} axes: use hd95."
        )
    steps = as_spacing(spacing, reference.ndim)
    areas = element_areas(tuple(steps.tolist()))
    for row, ref_id in enumerate(pairs.ref_ids):
        box = tuple(map(slice, pairs.start[row], pairs.stop[row]))
        ids = pairs.pred_ids[pairs.pred_first[row] : pairs.pred_first[row + 1]]
        codes = _codes(reference[box] == ref_id), _codes(np.isin(prediction[box], ids))
        yield _directed(*codes, areas, steps), _directed(*codes[::-1], areas, steps)


def _directed(here: Ints, there: Ints, areas: Floats, steps: Floats) -> ElementDistances:
    from scipy import ndimage

    last = len(areas) - 1
    away = ndimage.distance_transform_edt((there == 0) | (there == last), sampling=steps)
    elements = (here != 0) & (here != last)
    values, sizes = away[elements], areas[here[elements]]
    order = np.lexsort((sizes, values))
    return ElementDistances(values[order], sizes[order])


def _codes(mask: Mask) -> Ints:
    """Return, wherever voxels meet, which are inside: one bit each, the first voxel the lowest."""
    padded = np.pad(mask, 1).astype(np.int64)
    codes = np.zeros([n - 1 for n in padded.shape], np.int64)
    for bit, corner in enumerate(_corners(mask.ndim)):
        here = tuple(slice(at, n - 1 + at) for at, n in zip(corner, padded.shape, strict=True))
        codes |= padded[here] << bit
    return codes


@cache
def element_areas(spacing: tuple[float, ...]) -> Floats:
    """Return the area (in 2-D the length) of the element of every code.

    Of the voxels inside and outside, the smaller group is used; the inside one if both are equally
    large. Voxels of that group that share a face share a polygon through the midpoints of the edges
    to the other group. A polygon that is not flat is cut into the triangles whose total area is
    largest for cubic voxels, as in the table of surface-distance.

    Examples
    --------
    >>> element_areas((1.0, 1.0)).round(3)[:8]
    array([0.   , 0.707, 0.707, 1.   , 0.707, 1.   , 1.414, 0.707])
    """
    steps = np.array(spacing)
    every = _corners(len(spacing))
    areas = np.zeros(1 << len(every))
    for code in range(1, len(areas) - 1):
        inside = {corner for bit, corner in enumerate(every) if code >> bit & 1}
        fewer = inside if 2 * len(inside) <= len(every) else set(every) - inside
        for group in _groups(fewer):
            points = np.array(_polygon(group)) / 2
            if len(spacing) == 2:
                areas[code] += np.linalg.norm((points[1] - points[0]) * steps)
            else:
                cut = max(_cuts(0, len(points) - 1), key=lambda one: round(_area(points, one), 9))
                areas[code] += _area(points * steps, cut)
    return areas


def _corners(ndim: int) -> list[Corner]:
    return list(product((0, 1), repeat=ndim))


def _neighbours(corner: Corner) -> list[Corner]:
    """Return the corners at the other ends of a corner's edges."""
    return [
        tuple(1 - at if axis == turned else at for axis, at in enumerate(corner))
        for turned in range(len(corner))
    ]


def _groups(corners: set[Corner]) -> list[set[Corner]]:
    """Return the corners, grouped by the edges that connect them."""
    left, groups = set(corners), []
    while left:
        waiting = [left.pop()]
        group = set(waiting)
        while waiting:
            near = left.intersection(_neighbours(waiting.pop()))
            left -= near
            group |= near
            waiting += near
        groups.append(group)
    return groups


def _polygon(group: set[Corner]) -> list[Corner]:
    """Return twice the midpoints of all edges that leave a group, in order around it."""
    cut = {
        tuple(a + b for a, b in zip(corner, other, strict=True)): corner
        for corner in sorted(group)
        for other in _neighbours(corner)
        if other not in group
    }
    if len(next(iter(cut))) == 2:
        return list(cut)
    near: dict[Corner, list[Corner]] = {point: [] for point in cut}
    for one, other in combinations(cut, 2):
        if _share_a_face(one, other, cut[one], cut[other], group):
            near[one].append(other)
            near[other].append(one)
    walk = [next(iter(cut))]
    while onward := [point for point in near[walk[-1]] if point not in walk]:
        walk.append(onward[0])
    return walk


def _share_a_face(
    one: Corner, other: Corner, corner: Corner, other_corner: Corner, group: set[Corner]
) -> bool:
    """Return whether a side of the polygon runs between two points: on a face, around a group."""
    for axis in range(3):
        if one[axis] == other[axis] != 1:
            on_face = {at for at in group if 2 * at[axis] == one[axis]}
            return any({corner, other_corner} <= part for part in _groups(on_face))
    return False


def _cuts(first: int, last: int) -> Iterator[Triangles]:
    """Yield all ways to cut a polygon into triangles."""
    if last - first < 2:
        yield ()
    for middle in range(first + 1, last):
        for left, right in product(_cuts(first, middle), _cuts(middle, last)):
            yield (*left, *right, (first, middle, last))


def _area(points: Floats, triangles: Triangles) -> float:
    a, b, c = points[np.array(triangles).T]
    return float(np.linalg.norm(np.cross(b - a, c - a) / 2, axis=1).sum())
