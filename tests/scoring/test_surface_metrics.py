"""Surface metrics: hand-computed shapes, and every boundary pair by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

import panmatch as pm
from tests.surface_oracle import band, surface_metrics

SURFACE = ("hd", "hd95", "hd95_pooled", "assd", "masd", "asd_from_prediction", "nsd")
Labels = npt.NDArray[np.integer[Any]]


def measured(
    reference: Labels, prediction: Labels, metrics: Any = SURFACE, **options: Any
) -> dict[str, float]:
    """Measure the only pair there is."""
    matching = pm.match(pm.count_overlaps(reference, prediction), threshold=0.0)
    found = pm.measure(matching, reference, prediction, metrics, **options)
    assert found.columns["status"].tolist() == ["matched"]
    return {metric.name: float(found.columns[metric.name][0]) for metric in found.metrics}


def random_shape(rng: np.random.Generator, shape: tuple[int, ...]) -> Labels:
    """Blobs, sheets and crumbs, often touching the border."""
    noise = ndimage.gaussian_filter(rng.normal(size=shape), float(rng.choice([0.0, 0.7, 1.5])))
    shape_of_it: Labels = (noise > np.quantile(noise, rng.uniform(0.3, 0.9))).astype(np.int32)
    return shape_of_it


@pytest.mark.parametrize("seed", range(240))
def test_surface_metrics_equal_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = 1 + seed % 3
    shape = tuple(rng.integers(2, (40, 16, 9)[ndim - 1], ndim).tolist())
    spacing = rng.choice([0.5, 0.7, 1.0, 3.0], ndim)
    reference, prediction = random_shape(rng, shape), random_shape(rng, shape)
    tolerance = float(rng.choice([0.5, 0.7, 1.0, 2.1]))
    if not (reference * prediction).any():
        reference.flat[0] = prediction.flat[0] = 1
    want = surface_metrics(reference != 0, prediction != 0, spacing, tolerance)
    for images in ((reference, prediction), (np.asfortranarray(reference), prediction[...])):
        found = measured(*images, spacing=spacing, tolerance=tolerance, threads=1 + seed % 2)
        assert found == pytest.approx(want, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_objects_far_apart_are_measured_exactly_too(seed: int) -> None:
    """Long ways settle whole axes instead of walking them: the same numbers must come out."""
    rng = np.random.default_rng(seed)
    shape = (60, 50) if seed % 2 else (30, 22, 26)
    reference, prediction = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    corner = tuple(slice(0, n // 3) for n in shape)
    other = tuple(slice(-(n // 3), None) for n in shape)
    reference[corner] = random_shape(rng, reference[corner].shape)
    prediction[other] = random_shape(rng, prediction[other].shape)
    spacing = rng.choice([0.7, 1.0, 3.0], len(shape))
    want = surface_metrics(reference != 0, prediction != 0, spacing, 1.0)
    found = pm.measure_whole(reference, prediction, SURFACE, spacing)
    assert {name: found.columns[name][0] for name in SURFACE} == pytest.approx(want, rel=1e-12)


def test_two_points() -> None:
    reference, prediction = np.zeros((2, 5, 5), int)
    reference[0, 0] = prediction[3, 4] = 1
    found = pm.measure_whole(reference, prediction, SURFACE, spacing=(1, 1))
    for name in SURFACE[:-1]:
        assert found.columns[name].tolist() == [5.0]
    assert found.columns["nsd"].tolist() == [0.0]
    near = pm.measure_whole(reference, prediction, "nsd", spacing=(1, 1), tolerance=5)
    assert near.columns["nsd"].tolist() == [1.0]


def test_directed_percentiles_and_means_are_told_apart() -> None:
    """A line of 21 points against its first point: 21 distances one way, a single 0 back."""
    reference, prediction = np.zeros((2, 1, 21), int)
    reference[0, :] = 1
    prediction[0, 0] = 1
    found = measured(reference, prediction, spacing=(1, 0.5), tolerance=0.5)
    assert found == pytest.approx(
        {
            "hd": 10.0,
            "hd95": 9.5,  # of 0, ½ … 10
            "hd95_pooled": 9.475,  # of those and another 0: place 19.95 of 0 … 21
            "assd": 105 / 22,
            "masd": (5 + 0) / 2,
            "asd_from_prediction": 0.0,
            "nsd": 3 / 22,  # 0 and ½ one way, 0 the other
        }
    )


def medpy_distances(first: Labels, second: Labels, spacing: Any) -> npt.NDArray[np.float64]:
    """Distances as MedPy has them: erosion by faces, then a distance transform."""
    faces = ndimage.generate_binary_structure(first.ndim, 1)
    here, there = (
        image.astype(bool) ^ ndimage.binary_erosion(image, faces) for image in (first, second)
    )
    nearest: npt.NDArray[np.float64] = ndimage.distance_transform_edt(~there, spacing)[here]
    return nearest


@pytest.mark.parametrize("seed", range(20))
def test_pages_say_which_metric_medpy_calls_assd_and_hd95(seed: int) -> None:
    rng = np.random.default_rng(seed)
    reference, prediction = (random_shape(rng, (9, 8, 7)) for _ in range(2))
    reference[4, 4, 4] = prediction[4, 4, 4] = 1
    spacing = (3.0, 1.0, 0.5)
    there = medpy_distances(reference, prediction, spacing)
    back = medpy_distances(prediction, reference, spacing)
    both = np.concatenate([there, back])
    want = {
        ("assd", "As in Metrics Reloaded and MedPy 0.5.2."): both.mean(),
        ("masd", "panoptica and MedPy 0.4.0 call it ASSD"): (there.mean() + back.mean()) / 2,
        ("asd_from_prediction", "As in MedPy (as ASD)"): back.mean(),
        ("hd95_pooled", "As in MedPy and panoptica, which call it HD95."): np.percentile(both, 95),
        ("hd", "As in MedPy, panoptica"): both.max(),
    }
    found = measured(reference, prediction, spacing=spacing)
    for (name, words), value in want.items():
        assert found[name] == pytest.approx(value, rel=1e-12)
        assert words in pm.all_metrics()[name].conventions
    if len(there) != len(back):
        assert found["assd"] != pytest.approx(found["masd"], rel=1e-6)


def test_a_sheet_of_one_voxel_is_all_boundary() -> None:
    reference, prediction = np.zeros((2, 5, 6, 6), int)
    reference[1], prediction[2] = 1, 1
    prediction[1, 0, 0] = 1
    found = measured(reference, prediction, ("hd", "nsd"), spacing=(2, 1, 1), tolerance=1)
    # The prediction's extra voxel lies in the reference; of the reference, that voxel is at 0 and
    # its two neighbours at 1.
    assert found == pytest.approx({"hd": 2.0, "nsd": (3 + 1) / (36 + 37)})


def test_holes_have_a_boundary_of_their_own() -> None:
    solid = np.ones((7, 7), int)
    ring = solid.copy()
    ring[3, 3] = 0
    found = measured(solid, ring, ("hd", "assd"))
    # Around the hole four voxels, each 2 from the outer boundary; the outer boundaries agree.
    assert found == pytest.approx({"hd": 2.0, "assd": 8 / (24 + 28)})


def test_the_border_of_the_image_is_outside() -> None:
    full = np.ones((5, 5), int)
    core = np.zeros((5, 5), int)
    core[1:4, 1:4] = 1
    # 16 border voxels: 12 at distance 1 and the corners at √2; back from the 8 core ones all 1.
    want = (12 + 4 * np.sqrt(2) + 8) / (16 + 8)
    assert measured(full, core, ("assd",))["assd"] == pytest.approx(want)


def test_a_tolerance_that_equals_a_rounded_distance_counts() -> None:
    reference, prediction = np.zeros((2, 8), int)
    reference[0] = prediction[3] = 1
    found = pm.measure_whole(reference, prediction, "nsd", spacing=0.1, tolerance=0.3)
    assert found.columns["nsd"].tolist() == [1.0]


@pytest.mark.parametrize("seed", range(40))
def test_boundary_iou_equals_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (14, 12) if seed % 2 else (8, 7, 7)
    spacing = rng.choice([0.5, 0.7, 1.0], len(shape))
    reference, prediction = random_shape(rng, shape), random_shape(rng, shape)
    width = float(rng.choice([1.0, 1.4, 2.0]))
    bands = [band(image != 0, width, spacing) for image in (reference, prediction)]
    want = (bands[0] & bands[1]).sum() / (bands[0] | bands[1]).sum()
    found = pm.measure_whole(reference, prediction, "boundary_iou", spacing, boundary_width=width)
    assert found.columns["boundary_iou"][0] == pytest.approx(want, abs=1e-12)


def test_boundary_width_is_two_percent_of_the_diagonal_by_default() -> None:
    for shape, spacing, width in (((30, 40), (2, 2), 2.0), ((4, 4), (2, 1), 2.0)):
        image = np.ones(shape, int)
        options = pm.measure_whole(image, image, spacing=spacing).options
        assert options is not None
        assert options.boundary_width == pytest.approx(width)
