"""Brains and livers hold what they promise: lesions of many sizes, apart, inside, in layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.ndimage import distance_transform_edt

from panmatch.errors import OptionError
from panmatch.labels import connected_components
from panmatch.phantoms import Anatomy, brain_metastases, liver_lesions
from panmatch.spec import as_spec

Maker = Callable[..., Anatomy]
Image = npt.NDArray[np.int32]

LESION_LABELS = {brain_metastases: [1, 2, 3], liver_lesions: [2]}
SCENES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "3-D": ((48, 56, 52), {"radius_mm": (1.5, 7)}),
    "2-D": ((110, 120), {"radius_mm": (1.5, 9)}),
    "thick slices": ((16, 60, 60), {"radius_mm": (2, 8), "spacing": (4, 1, 1)}),
    "small voxels": ((40, 56, 56), {"radius_mm": (0.75, 4), "spacing": (0.5, 0.5, 0.5)}),
}

both = pytest.mark.parametrize("make", [brain_metastases, liver_lesions])
every_scene = pytest.mark.parametrize(("shape", "options"), SCENES.values(), ids=SCENES)


def lesions(make: Maker, anatomy: Anatomy) -> npt.NDArray[np.bool_]:
    return np.isin(anatomy.labels, LESION_LABELS[make])


@both
@every_scene
@pytest.mark.parametrize("n", [0, 1, 7])
def test_every_lesion_is_one_component_and_no_two_touch(
    make: Maker, shape: tuple[int, ...], options: dict[str, Any], n: int
) -> None:
    for seed in range(3):
        anatomy = make(shape, n, seed=seed, **options)
        components = connected_components(lesions(make, anatomy), "full")
        assert int(components.max(initial=0)) == n
        assert np.array_equal(anatomy.objects, components)


@both
@every_scene
def test_lesions_lie_inside_the_organ(
    make: Maker, shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    anatomy = make(shape, 7, **options)
    assert anatomy.room[anatomy.objects > 0].all()
    if make is liver_lesions:
        assert np.array_equal(anatomy.room, anatomy.labels > 0)
    else:
        assert np.array_equal(anatomy.objects > 0, anatomy.labels > 0)


@both
def test_images_are_int32_of_the_shape_and_spacing_asked_for(make: Maker) -> None:
    anatomy = make((16, 60, 60), 3, radius_mm=(2, 6), spacing=(4, 1, 1))
    assert anatomy.labels.shape == anatomy.objects.shape == anatomy.room.shape == (16, 60, 60)
    assert anatomy.labels.dtype == anatomy.objects.dtype == np.int32
    assert anatomy.spacing == (4.0, 1.0, 1.0)
    assert anatomy.parts is None
    assert anatomy.is_semantic


@both
def test_the_seed_decides_and_nothing_else(make: Maker) -> None:
    first, again, other = (make((40, 48, 44), 5, radius_mm=(1, 6), seed=s) for s in (4, 4, 5))
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.labels, other.labels)


@both
@pytest.mark.parametrize("seed", range(3))
def test_sizes_spread_over_two_orders_of_magnitude(make: Maker, seed: int) -> None:
    sizes = np.bincount(make(seed=seed).objects.ravel())[1:]
    assert sizes.max() >= 100 * sizes.min()
    assert np.median(sizes) < sizes.mean() / 1.5  # a few large ones, many small


@both
def test_the_bounds_of_the_radius_are_reached_and_kept(make: Maker) -> None:
    anatomy = make((64, 64, 64), 6, radius_mm=(2, 9), seed=1)
    widths = []
    for number in range(1, 7):
        voxels = np.argwhere(anatomy.objects == number)
        widths.append(int((voxels.max(axis=0) - voxels.min(axis=0)).max()) + 1)
    assert max(widths) <= 19
    assert max(widths) >= 10  # the largest ball of radius 9 is dented, never below 55 %
    assert min(widths) <= 5


@every_scene
def test_every_metastasis_is_oedema_around_enhancing_tumour(
    shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    for seed in range(4):
        brain = brain_metastases(shape, 7, seed=seed, **options)
        composition = [set(np.unique(brain.labels[brain.objects == k])) for k in range(1, 8)]
        assert all(found in ({2, 3}, {1, 2, 3}) for found in composition)
        assert {1, 2, 3} in composition
        assert {2, 3} in composition
        outside = distance_transform_edt(brain.labels > 0, sampling=brain.spacing)
        assert outside[np.isin(brain.labels, [1, 3])].min() > min(brain.spacing)


@every_scene
def test_necrosis_is_wrapped_in_enhancing_tumour(
    shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    for seed in range(4):
        brain = brain_metastases(shape, 7, seed=seed, **options)
        depth = distance_transform_edt(np.isin(brain.labels, [1, 3]), sampling=brain.spacing)
        assert depth[brain.labels == 1].min() > min(brain.spacing)


def test_only_larger_metastases_have_a_necrotic_core() -> None:
    brain = brain_metastases(n=14, seed=3)
    sizes = np.bincount(brain.objects.ravel())
    cores = np.unique(brain.objects[brain.labels == 1])
    others = np.setdiff1d(np.arange(1, 15), cores)
    assert 0 < len(cores) < 14
    assert sizes[cores].min() > sizes[others].max() / 2  # dents make sizes overlap a little
    assert np.median(sizes[cores]) > 5 * np.median(sizes[others])


@pytest.mark.parametrize("classes", [[1, 3], [3]])
def test_core_and_enhancing_tumour_have_one_component_per_metastasis(classes: list[int]) -> None:
    for seed in range(4):
        brain = brain_metastases(seed=seed)
        found = connected_components(np.isin(brain.labels, classes), "full")
        pairs = set(zip(found[found > 0].tolist(), brain.objects[found > 0].tolist(), strict=True))
        assert sorted(lesion for _, lesion in pairs) == list(range(1, 13))


def test_the_brain_is_an_ellipsoid_with_its_middle_in_the_image() -> None:
    room = brain_metastases((41, 61, 51), 0).room
    for axis in range(3):
        assert np.array_equal(room, np.flip(room, axis))
    filled = room.sum() / room.size
    assert abs(filled - np.pi / 6 * 0.94**3) < 0.01


@pytest.mark.parametrize("shape", [(64, 112, 128), (112, 128)])
def test_the_liver_is_one_piece_heavier_on_its_right(shape: tuple[int, ...]) -> None:
    for seed in range(3):
        liver = liver_lesions(shape, 0, seed=seed).room
        assert int(connected_components(liver, "faces").max()) == 1
        half = shape[-1] // 2
        assert liver[..., :half].sum() > 1.5 * liver[..., half:].sum() > 0


@pytest.mark.parametrize(
    ("make", "preset", "labels"),
    [(brain_metastases, "brats-mets", {0, 1, 2, 3}), (liver_lesions, "liver-lesions", {0, 1, 2})],
)
def test_labels_are_those_of_the_preset(make: Maker, preset: str, labels: set[int]) -> None:
    anatomy = make()
    assert set(np.unique(anatomy.labels).tolist()) == labels
    known = {k for one in as_spec(preset).classes.values() for k in one.numbers or ()}
    assert labels - {0} == known == set(anatomy.names)


@both
def test_lesions_smaller_than_a_voxel_still_show(make: Maker) -> None:
    anatomy = make((24, 24, 24), 4, radius_mm=(0.1, 0.2))
    smallest = 7 if make is brain_metastases else 1
    assert np.bincount(anatomy.objects.ravel())[1:].tolist() == [smallest] * 4


def fits_no_more(make: Maker) -> str:
    with pytest.raises(OptionError) as caught:
        make((32, 32), 500, radius_mm=(2, 3))
    return str(caught.value)


@both
def test_too_many_lesions_say_how_many_fitted_and_what_to_change(make: Maker) -> None:
    start, rest = fits_no_more(make).split(" of them in ", 1)
    told, fitted = start.rsplit(" ", 1)
    assert told == "n=500 lesions do not fit: there was room for"
    assert rest == (
        "shape (32, 32) with spacing (1.0, 1.0). Lower n or radius_mm, or enlarge the image."
    )
    assert 3 < int(fitted) < 40


@both
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": -1}, "n=-1 is out of range; pass 0 or more."),
        ({"shape": (9,)}, "shape=(9,) is not an image shape; pass two or three positive whole "
         "numbers, such as (64, 64) or (32, 64, 64)."),
        ({"radius_mm": (0, 4)}, "radius_mm=(0, 4) starts at 0, but a log-normal radius is "
         "never 0; pass a positive smallest radius, such as the finest spacing."),
        ({"radius_mm": (4, 2)}, "radius_mm=(4, 2) has its bounds in the wrong order; pass "
         "(lowest, highest): (2, 4)."),
        ({"radius_mm": 3}, "radius_mm=3 is not a range; pass two finite numbers of mm, 0 or more: "
         "(lowest, highest)."),
        ({"spacing": (1, 0, 1)}, "spacing=(1, 0, 1) must be positive and finite along every "
         "axis."),
        ({"seed": -2}, "seed=-2 is out of range; pass 0 or more."),
    ],
)  # fmt: skip
def test_refusals_name_argument_value_and_remedy(
    make: Maker, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        make(**options)
    assert str(caught.value) == message
