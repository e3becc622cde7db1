"""Scenes hold what they promise: counts, gaps, containment, one piece per object."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt, label

from panmatch.errors import OptionError
from panmatch.phantoms import _scenes, balls, blobs, tissue

Image = npt.NDArray[np.int32]
Maker = Callable[..., Image]

SHAPES = [(60, 80), (30, 36, 40)]
SEPARATE: list[Maker] = [balls, blobs]


def lattice_ball_size(radius: float, ndim: int) -> int:
    """Count the whole-number points within `radius` of the origin, without any clipping."""
    line = np.arange(-int(radius) - 1, int(radius) + 2)
    squares = sum(axis**2 for axis in np.meshgrid(*[line] * ndim, sparse=True))
    return int(np.count_nonzero(np.asarray(squares) <= radius**2))


def smallest_distance_between_objects(image: Image) -> float:
    nearest = np.inf
    for number in range(1, int(image.max()) + 1):
        distance = distance_transform_edt(image != number)
        others = distance[(image != number) & (image != 0)]
        nearest = min(nearest, float(others.min(initial=np.inf)))
    return nearest


def centre(image: Image, number: int) -> npt.NDArray[np.float64]:
    mean: npt.NDArray[np.float64] = np.argwhere(image == number).mean(axis=0)
    return mean


@pytest.mark.parametrize("make", SEPARATE)
@pytest.mark.parametrize("shape", SHAPES)
def test_ids_run_from_one_to_count(make: Maker, shape: tuple[int, ...]) -> None:
    image = make(shape, 9, radius=(2, 5))
    assert image.shape == shape
    assert image.dtype == np.int32
    assert np.unique(image).tolist() == list(range(10))


@pytest.mark.parametrize("make", SEPARATE)
@pytest.mark.parametrize("shape", SHAPES)
def test_separate_objects_follow_the_seed(make: Maker, shape: tuple[int, ...]) -> None:
    first = make(shape, 9, radius=(2, 5), seed=4)
    assert np.array_equal(first, make(shape, 9, radius=(2, 5), seed=4))
    assert not np.array_equal(first, make(shape, 9, radius=(2, 5), seed=5))


@pytest.mark.parametrize("make", SEPARATE)
def test_count_zero_gives_an_empty_image(make: Maker) -> None:
    assert np.array_equal(make((6, 7), 0), np.zeros((6, 7), dtype=np.int32))


@pytest.mark.parametrize(("shape", "count"), [((60, 80), 55), ((30, 36, 40), 60)])
@pytest.mark.parametrize("gap", [0.0, 1.0, 1.75, 3.0])
def test_no_two_objects_are_nearer_than_the_gap(
    shape: tuple[int, ...], count: int, gap: float
) -> None:
    count = count if gap < 3 else count // 2
    image = balls(shape, count, radius=(1.5, 3.5), gap=gap, seed=2)
    assert smallest_distance_between_objects(image) >= gap


@pytest.mark.parametrize("make", SEPARATE)
def test_objects_come_as_near_as_the_gap_allows(make: Maker) -> None:
    assert sorted(make((1, 2), 2, radius=(0, 0), gap=0.9).ravel().tolist()) == [1, 2]
    with pytest.raises(OptionError, match="room for 1 of them"):
        make((1, 2), 2, radius=(0, 0), gap=1.1)


@settings(max_examples=30, deadline=None)
@given(
    gap=st.floats(0, 4),
    bounds=st.tuples(st.floats(0, 4), st.floats(0, 4)),
    seed=st.integers(0, 2**32),
)
def test_gaps_hold_for_any_radius_and_seed(
    gap: float, bounds: tuple[float, float], seed: int
) -> None:
    radius = (min(bounds), max(bounds))
    image = balls((40, 40), 6, radius=radius, gap=gap, seed=seed)
    assert np.unique(image).tolist() == list(range(7))
    assert smallest_distance_between_objects(image) >= gap


@pytest.mark.parametrize("shape", SHAPES)
def test_balls_are_whole_and_have_radii_in_range(shape: tuple[int, ...]) -> None:
    image = balls(shape, 20, radius=(1.5, 4.5), seed=1)
    for number in range(1, 21):
        voxels = np.argwhere(image == number)
        reach = float(np.linalg.norm(voxels - centre(image, number), axis=1).max())
        assert len(voxels) == lattice_ball_size(reach + 1e-9, len(shape))
        assert lattice_ball_size(1.5, len(shape)) <= len(voxels)
        assert reach <= 4.5


def test_ids_do_not_follow_sizes() -> None:
    sizes = np.bincount(balls((128, 128), 20, radius=(1, 9)).ravel())[1:].tolist()
    assert len(set(sizes)) > 1
    assert sizes not in (sorted(sizes), sorted(sizes, reverse=True))


def test_a_ball_may_reach_the_edge_but_not_cross_it() -> None:
    assert np.count_nonzero(balls((5, 5), 1, radius=(2.9, 2.9))) == lattice_ball_size(2.9, 2)
    with pytest.raises(OptionError, match="room for 0 of them"):
        balls((5, 5), 1, radius=(3, 3))


@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 4)])
def test_every_last_voxel_is_found(shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    image = balls(shape, size, radius=(0, 0), gap=0)
    assert sorted(image.ravel().tolist()) == list(range(1, size + 1))


def test_too_many_objects_say_how_many_fitted_and_what_to_change() -> None:
    with pytest.raises(OptionError) as caught:
        balls((4, 5), 21, radius=(0, 0), gap=0)
    assert str(caught.value) == (
        "count=21 objects do not fit: there was room for 20 of them in shape (4, 5) "
        "with radius=(0.0, 0.0) and gap=0.0. Lower count, radius or gap, or enlarge the image."
    )


def test_scenes_too_dense_for_any_order_but_largest_first_are_filled() -> None:
    image = balls((128, 128, 128), 375, radius=(6, 9))
    assert np.unique(image).tolist() == list(range(376))


@pytest.mark.parametrize("shape", SHAPES)
def test_smooth_blobs_are_balls(shape: tuple[int, ...]) -> None:
    round_ones = balls(shape, 9, radius=(2, 5), seed=3)
    assert np.array_equal(blobs(shape, 9, radius=(2, 5), roughness=0, seed=3), round_ones)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("roughness", [0.2, 0.6, 0.95])
def test_blobs_lie_between_the_inner_and_the_outer_ball(
    shape: tuple[int, ...], roughness: float
) -> None:
    outer = balls(shape, 4, radius=(7, 7), seed=6)
    image = blobs(shape, 4, radius=(7, 7), roughness=roughness, seed=6)
    assert np.array_equal(image[image > 0], outer[image > 0])
    for number in range(1, 5):
        voxels = np.argwhere(outer == number)
        inner = np.linalg.norm(voxels - centre(outer, number), axis=1) <= 7 * (1 - roughness)
        assert (image[tuple(voxels[inner].T)] == number).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_no_two_blobs_are_alike(shape: tuple[int, ...]) -> None:
    sizes = np.bincount(blobs(shape, 5, radius=(6, 6), roughness=0.5).ravel())[1:].tolist()
    assert len(set(sizes)) == 5
    assert max(sizes) < lattice_ball_size(6, len(shape))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", [(1, 2), (3, 6)])
@pytest.mark.parametrize("roughness", [0.5, 0.99])
def test_every_blob_is_one_piece(
    shape: tuple[int, ...], radius: tuple[float, float], roughness: float
) -> None:
    for seed in range(20):  # stray voxels are rare: a few seeds in twenty have one to remove
        image = blobs(shape, 6, radius=radius, roughness=roughness, seed=seed)
        assert [label(image == number)[1] for number in range(1, 7)] == [1] * 6


@pytest.mark.parametrize("shape", [(30, 40), (10, 12, 14)])
def test_tissue_has_every_id_and_no_background(shape: tuple[int, ...]) -> None:
    image = tissue(shape, 25)
    assert image.shape == shape
    assert image.dtype == np.int32
    assert np.unique(image).tolist() == list(range(1, 26))


@pytest.mark.parametrize("spare", [0, 1])
def test_tissue_has_every_id_even_when_cells_are_single_voxels(spare: int) -> None:
    for seed in range(5):
        image = tissue((5, 6, 7), 210 - spare, seed=seed)
        assert np.unique(image).tolist() == list(range(1, 211 - spare))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_tissue_cells_are_convex_along_every_line(axis: int) -> None:
    image = np.moveaxis(tissue((14, 15, 16), 30, seed=3), axis, -1)
    for number in range(1, 31):
        inside = (image == number).astype(int)
        starts = np.diff(inside, axis=-1, prepend=0) == 1
        assert starts.sum(axis=-1).max() == 1


def test_tissue_follows_the_seed() -> None:
    assert np.array_equal(tissue((20, 20), 9, seed=1), tissue((20, 20), 9, seed=1))
    assert not np.array_equal(tissue((20, 20), 9, seed=1), tissue((20, 20), 9, seed=2))


def test_tissue_does_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tissue((20, 23), 9)
    monkeypatch.setattr(_scenes, "CHUNK", 7)
    assert np.array_equal(tissue((20, 23), 9), whole)


def test_importing_phantoms_does_not_load_scipy() -> None:
    command = "import sys, panmatch.phantoms; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: balls((5,), 1), "shape=(5,) is not an image shape; pass two or three positive "
         "whole numbers, such as (64, 64) or (32, 64, 64)."),
        (lambda: blobs((5, 0), 1), "shape=(5, 0) is not an image shape; pass two or three "
         "positive whole numbers, such as (64, 64) or (32, 64, 64)."),
        (lambda: tissue((5, 5, 5, 5), 1), "shape=(5, 5, 5, 5) is not an image shape; pass two or "
         "three positive whole numbers, such as (64, 64) or (32, 64, 64)."),
        (lambda: tissue((5.0, 5), 1), "shape=(5.0, 5) is not an image shape; pass two or three "  # type: ignore[arg-type]
         "positive whole numbers, such as (64, 64) or (32, 64, 64)."),
        (lambda: balls((5, 5), -1), "count=-1 is out of range; pass 0 or more."),
        (lambda: balls((5, 5), 1.5), "count=1.5 is not a whole number; pass an int."),  # type: ignore[arg-type]
        (lambda: tissue((5, 5), 0), "count=0 is out of range; pass 1 to 25."),
        (lambda: tissue((5, 5), 26), "count=26 is out of range; pass 1 to 25."),
        (lambda: balls((5, 5), 1, radius=(2, 1)), "radius=(2, 1) has its bounds in the wrong "
         "order; pass (lowest, highest): (1, 2)."),
        (lambda: balls((5, 5), 1, radius=(-1, 1)), "radius=(-1, 1) is not a range; pass two finite "
         "numbers of voxels, 0 or more: (lowest, highest)."),
        (lambda: blobs((5, 5), 1, radius=3), "radius=3 is not a range; pass two finite numbers of "  # type: ignore[arg-type]
         "voxels, 0 or more: (lowest, highest)."),
        (lambda: balls((5, 5), 1, radius=(1, float("inf"))), "radius=(1, inf) is not a range; pass "
         "two finite numbers of voxels, 0 or more: (lowest, highest)."),
        (lambda: balls((5, 5), 1, gap=-0.5), "gap=-0.5 is not a distance; pass a finite number of "
         "voxels, 0 or more."),
        (lambda: balls((5, 5), 1, gap="wide"), "gap='wide' is not a distance; pass a finite number "  # type: ignore[arg-type]
         "of voxels, 0 or more."),
        (lambda: blobs((5, 5), 1, roughness=1), "roughness=1 is out of range; pass 0 (round) up "
         "to, but below, 1."),
        (lambda: balls((5, 5), 1, seed=-1), "seed=-1 is out of range; pass 0 or more."),
    ],
)  # fmt: skip
def test_refusals_name_argument_value_and_remedy(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        call()
    assert str(caught.value) == message
