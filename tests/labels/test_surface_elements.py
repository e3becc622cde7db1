"""Surface elements between voxels: their areas, and the distances between them."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.labels._surface_elements import ElementDistances, element_areas

Mask = npt.NDArray[np.bool_]
CORNERS = list(product((0, 1), repeat=3))
Inside = tuple[tuple[int, ...], ...]
# By the voxels inside: the area of the surface between their centres and those of the others.
KNOWN: dict[Inside, float] = {
    ((0, 0, 0),): math.sqrt(3) / 8,
    ((0, 0, 0), (0, 0, 1)): math.sqrt(0.5),
    ((0, 0, 0), (0, 1, 1)): math.sqrt(3) / 4,  # apart, as they share no face
    ((0, 0, 0), (1, 1, 1)): math.sqrt(3) / 4,
    ((0, 0, 0), (0, 0, 1), (0, 1, 0)): 0.5 + 3 * math.sqrt(3) / 8,
    ((0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)): 1.0,
    ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)): 3 * math.sqrt(3) / 4,  # a hexagon
    ((0, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1)): math.sqrt(2.0),
    ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)): math.sqrt(3) / 2,
    ((0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)): math.sqrt(0.5) + math.sqrt(3) / 2,  # a chain
}


def code(inside: Inside) -> int:
    return sum(1 << CORNERS.index(corner) for corner in inside)


@pytest.mark.parametrize("inside", KNOWN)
def test_areas_in_a_unit_cube(inside: Inside) -> None:
    areas = element_areas((1.0, 1.0, 1.0))
    for axes in ((0, 1, 2), (2, 0, 1), (1, 0, 2)):
        turned = tuple(tuple(corner[axis] for axis in axes) for corner in inside)
        assert areas[code(turned)] == pytest.approx(KNOWN[inside], abs=1e-12)
        assert areas[255 - code(turned)] == pytest.approx(KNOWN[inside], abs=1e-12)


def test_areas_follow_the_spacing() -> None:
    areas = element_areas((2.0, 3.0, 5.0))
    assert areas[0] == areas[255] == 0
    sides = {0: 3.0 * 5.0, 1: 2.0 * 5.0, 2: 2.0 * 3.0}
    for axis, area in sides.items():
        assert areas[code(tuple(corner for corner in CORNERS if not corner[axis]))] == area
    # Half the cross product of the sides of the triangle that cuts off a corner.
    assert areas[1] == pytest.approx(0.125 * math.hypot(15, 10, 6))
    assert areas[code(((0, 0, 0), (0, 0, 1)))] == pytest.approx(5 * math.hypot(1, 1.5))


def test_lengths_in_a_plane() -> None:
    lengths = element_areas((3.0, 4.0))
    diagonal = 2.5
    expected = [0, diagonal, diagonal, 4, diagonal, 3, 2 * diagonal, diagonal]
    assert lengths.tolist() == [*expected, *expected[::-1]]


def test_a_box_has_the_area_of_its_faces_but_for_edges_and_corners() -> None:
    mask = np.zeros((9, 9, 9), np.int64)
    mask[2:7, 2:7, 2:7] = 1
    found = distances(mask, mask)
    faces, edges, corners = 6 * 16, 12 * 4 * math.sqrt(0.5), 8 * math.sqrt(3) / 8
    assert found[0].areas.sum() == pytest.approx(faces + edges + corners)
    assert not found[0].values.any()


def distances(
    reference: npt.NDArray[Any], prediction: npt.NDArray[Any]
) -> tuple[ElementDistances, ElementDistances]:
    box = np.array([[0] * reference.ndim]), np.array([reference.shape])
    pairs = pm.labels.ObjectPairs(np.array([1]), np.array([0, 1]), np.array([1]), *box)
    return next(pm.labels.element_distances(reference, prediction, pairs))


def by_pairs(here: npt.NDArray[Any], there: npt.NDArray[Any], spacing: tuple[float, ...]) -> float:
    """Return one directed percentile from every pair of places where voxels meet."""
    places, sizes = [], []
    padded = [np.pad(mask, 1) for mask in (here, there)]
    areas = element_areas(spacing)
    for mask in padded:
        found = {}
        for at in product(*(range(n - 1) for n in mask.shape)):
            cube = [
                mask[tuple(a + c for a, c in zip(at, corner, strict=True))] for corner in CORNERS
            ]
            if 0 < sum(cube) < 8:
                found[at] = areas[sum(int(bool(one)) << i for i, one in enumerate(cube))]
        places.append(np.array(list(found)) * spacing)
        sizes.append(np.array(list(found.values())))
    away = np.linalg.norm(places[0][:, None] - places[1][None], axis=2).min(1)
    order = np.lexsort((sizes[0], away))
    reached = np.cumsum(sizes[0][order]) / sizes[0].sum()
    return float(away[order][int(np.argmax(reached >= 0.95))])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(1.0, 1.0, 1.0), (0.5, 1.0, 3.0)]))
def test_the_percentile_is_that_of_all_pairs(seed: int, spacing: tuple[float, ...]) -> None:
    rng = np.random.default_rng(seed)
    one, other = (rng.random((2, 4, 5, 3)) < 0.5).astype(np.int64)
    found = pm.measure_whole(one, other, ["hd95_elements"], spacing).columns["hd95_elements"][0]
    expected = max(by_pairs(one, other, spacing), by_pairs(other, one, spacing))
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_percentile_weighs_by_area_and_is_one_of_the_distances() -> None:
    found = ElementDistances(np.array([0.0, 1.0, 2.0]), np.array([94.0, 1.0, 5.0]))
    assert [found.quantile(q) for q in (0.5, 0.94, 0.95, 0.951, 1.0)] == [0, 0, 1, 2, 2]


def test_one_object_alone_has_the_penalty() -> None:
    sides = np.ones((2, 2, 2), int), np.zeros((2, 2, 2), int)
    for images in (sides, sides[::-1]):
        found = pm.measure_whole(*images, ["hd95_elements"], penalty=374)
        assert found.columns["hd95_elements"].tolist() == [374]


def test_images_of_other_dimensions_are_refused() -> None:
    image = np.ones((2, 2, 2, 2), int)
    with pytest.raises(OptionError, match=r"hd95_elements needs surface elements, .* use hd95"):
        pm.measure_whole(image, image, ["hd95_elements"])
