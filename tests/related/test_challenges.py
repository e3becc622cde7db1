"""Scores of BraTS, autoPET and ISLES: by hand, by flood fill over sets of voxels, and pooled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch import related
from panmatch.errors import CallError, LabelError, OptionError, ShapeError
from panmatch.labels import connected_components
from panmatch.related import _lesionwise, _registry
from panmatch.scoring import Average, ComparedObjects, measure_options, resolve_metrics
from tests.hypothesis_scenes import label_pairs

Labels = npt.NDArray[np.integer[Any]]
Voxel = tuple[int, ...]
Voxels = frozenset[Voxel]

NOTHING = np.zeros((3, 4), int)
SOMETHING = np.pad(np.ones((1, 2), int), 1)
SPACINGS = {1: (0.5,), 2: (2.0, 0.5), 3: (3.0, 1.0, 0.5)}
WRONG: Any = "x"


def voxels(image: Labels) -> Voxels:
    return frozenset(tuple(voxel) for voxel in np.argwhere(image).tolist())


def neighbours(voxel: Voxel, reach: int) -> Iterator[Voxel]:
    """Yield voxels that differ by one in at most `reach` axes: 1 for faces, 2 for edges."""
    for step in product((-1, 0, 1), repeat=len(voxel)):
        if 0 < sum(map(abs, step)) <= reach:
            yield tuple(a + b for a, b in zip(voxel, step, strict=True))


def flood(mask: Voxels, reach: int = 3) -> list[Voxels]:
    """Return the connected components of a set of voxels."""
    left, found = set(mask), []
    while left:
        edge = {left.pop()}
        component = set(edge)
        while edge:
            edge = {n for voxel in edge for n in neighbours(voxel, reach)} & left
            component |= edge
            left -= edge
        found.append(frozenset(component))
    return found


def widen(mask: Voxels, rounds: int, shape: tuple[int, ...]) -> Voxels:
    """Dilate by all neighbours but the corner ones, within the image."""
    for _ in range(rounds):
        near = {n for voxel in mask for n in neighbours(voxel, min(2, len(shape)))}
        inside = {n for n in near if all(0 <= i < end for i, end in zip(n, shape, strict=True))}
        mask |= inside
    return mask


def boundary(mask: Voxels) -> list[Voxel]:
    return [voxel for voxel in mask if not mask.issuperset(neighbours(voxel, 1))]


def hd95(one: Voxels, other: Voxels, spacing: tuple[float, ...]) -> float:
    """Follow docs/reference/metrics.md: the larger of both directions, linear percentile."""

    def place(voxel: Voxel) -> list[float]:
        return [i * step for i, step in zip(voxel, spacing, strict=True)]

    def directed(start: Voxels, goal: Voxels) -> float:
        goals = [place(voxel) for voxel in boundary(goal)]
        far = sorted(min(math.dist(place(v), g) for g in goals) for v in boundary(start))
        at = 0.95 * (len(far) - 1)
        low = math.floor(at)
        return far[low] + (at - low) * (far[min(low + 1, len(far) - 1)] - far[low])

    return max(directed(one, other), directed(other, one))


def lesions_by_hand(
    reference: Labels, prediction: Labels, dilation: int, min_voxels: float
) -> tuple[list[tuple[Voxels, Voxels]], int]:
    """Return every lesion that counts with the union of its predictions, and the FP."""
    mask, components = voxels(reference), flood(voxels(prediction))
    pairs, used = [], set()
    for wide in flood(widen(mask, dilation, reference.shape)):
        lesion = wide & mask
        own = [p for p in components if p & wide]
        used |= set(own)
        if len(lesion) > min_voxels:
            pairs.append((lesion, frozenset().union(*own)))
    return pairs, len(components) - len(used)


def brute_hd95(
    pairs: list[tuple[Voxels, Voxels]], false: int, spacing: tuple[float, ...], penalty: float
) -> float:
    values = [hd95(g, p, spacing) if p else penalty for g, p in pairs] + [penalty] * false
    return sum(values) / len(values) if values else math.nan


def brute_f1(pairs: list[tuple[Voxels, Voxels]], false: int) -> float:
    tp = sum(bool(p) for _, p in pairs)
    whole = 2 * tp + false + len(pairs) - tp
    return 2 * tp / whole if whole else math.nan


@given(label_pairs(max_labels=2), st.integers(0, 2), st.sampled_from([0, 1, 3]))
def test_lesionwise_scores_follow_the_rules_lesion_by_lesion(
    pair: tuple[Labels, Labels], dilation: int, min_voxels: int
) -> None:
    reference, prediction = ((image == 1).astype(int) for image in pair)
    spacing = SPACINGS[reference.ndim]
    options: dict[str, Any] = {
        "reference": reference,
        "prediction": prediction,
        "dilation": dilation,
        "min_volume": min_voxels * math.prod(spacing),
        "spacing": spacing,
    }
    pairs, false = lesions_by_hand(reference, prediction, dilation, min_voxels)
    assert related.lesionwise_f1(**options) == pytest.approx(brute_f1(pairs, false), nan_ok=True)
    found = related.lesionwise_hd95(**options, penalty=40)
    want = brute_hd95(pairs, false, spacing, 40.0)
    assert found == pytest.approx(want, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dilation", [0, 1])
@pytest.mark.parametrize("min_voxels", [0, 4])
def test_lesionwise_scores_on_sparse_volumes(seed: int, dilation: int, min_voxels: int) -> None:
    rng = np.random.default_rng(seed)
    reference, prediction = (rng.random((2, 6, 8, 9)) < 0.06).astype(int)
    for image in (reference, prediction):  # grow single voxels into small blobs of many shapes
        grown = image[:, :, :-1] * (rng.random((6, 8, 8)) < 0.7)
        image[:, :, 1:] |= grown.astype(int)
    pairs, false = lesions_by_hand(reference, prediction, dilation, min_voxels)
    options: dict[str, Any] = {"reference": reference, "prediction": prediction}
    options |= {"dilation": dilation, "min_volume": min_voxels}
    want = brute_hd95(pairs, false, (1.0, 1.0, 1.0), 374.0)
    assert related.lesionwise_hd95(**options) == pytest.approx(want, abs=1e-10, nan_ok=True)
    assert related.lesionwise_f1(**options) == pytest.approx(brute_f1(pairs, false), nan_ok=True)


@given(label_pairs(max_labels=2), st.integers(0, 2), st.sampled_from([0.0, 1.0, 3.0]))
def test_the_same_lesions_give_lesionwise_dice(
    pair: tuple[Labels, Labels], dilation: int, min_volume: float
) -> None:
    lesions = _lesionwise.find_lesions(*pair, dilation, min_volume, None)
    options = measure_options(lesions.reference.shape)
    compared = ComparedObjects(lesions.rows, lesions.reference, lesions.prediction, options)
    values = resolve_metrics("dice")[0].values(compared)
    whole = len(values) + lesions.false_positives
    want = values.sum() / whole if whole else math.nan
    found = related.lesionwise_dice(
        reference=pair[0], prediction=pair[1], dilation=dilation, min_volume=min_volume
    )
    assert found == pytest.approx(want, nan_ok=True)


def test_lesionwise_hd95_by_hand() -> None:
    """One lesion off by one voxel of 2 mm along its length, one missed, one false positive."""
    reference = np.zeros((3, 12), int)
    prediction = reference.copy()
    reference[1, 1:3], prediction[1, 1:4] = 1, 1  # lines are all boundary: distances 0, 0, 1 voxel
    reference[1, 9], prediction[2, 6] = 1, 1
    options: dict[str, Any] = {"reference": reference, "prediction": prediction, "spacing": (1, 2)}
    off = 0.9 * 2  # the percentile lies at 1.9 of the distances 0, 0 and 2
    assert related.lesionwise_hd95(**options) == pytest.approx((off + 374 + 374) / 3)
    assert related.lesionwise_hd95(**options, penalty=30) == pytest.approx((off + 60) / 3)
    diagonal = math.hypot(3, 24)
    found = related.lesionwise_hd95(**options, penalty="diagonal")
    assert found == pytest.approx((off + 2 * diagonal) / 3)
    assert related.lesionwise_hd95(**options, penalty=None) == pytest.approx(off)
    left_out = related.lesionwise_hd95.average(**options, penalty=None)
    assert (left_out.count, left_out.skipped) == (1, 2)
    assert related.lesionwise_f1(**options) == 0.5


def test_one_prediction_of_two_lesions_is_measured_with_both() -> None:
    images: dict[str, Any] = {"reference": [[1, 0, 0, 1]], "prediction": [[1, 1, 1, 1]]}
    assert related.lesionwise_hd95(**images) == pytest.approx(2.85)  # 0, 1, 2, 3 to either end
    assert related.lesionwise_f1(**images) == 1


def test_a_lesion_of_the_smallest_volume_itself_does_not_count() -> None:
    images: dict[str, Any] = {"reference": [1, 1, 0, 0, 1], "prediction": [0, 0, 0, 0, 1]}
    assert related.lesionwise_f1(**images) == pytest.approx(2 / 3)
    assert related.lesionwise_f1(**images, min_volume=1) == 0
    assert related.lesionwise_f1(**images, min_volume=1, spacing=1.01) == pytest.approx(2 / 3)
    assert math.isnan(related.lesionwise_f1(**images, min_volume=2))  # and its hit is not false
    assert related.lesionwise_hd95(**images, min_volume=1, penalty=7) == 7
    assert math.isnan(related.lesionwise_hd95(**images, min_volume=2))


def test_dilation_joins_lesions_and_reaches_predictions() -> None:
    images: dict[str, Any] = {
        "reference": [1, 0, 1, 0, 0, 0, 0],
        "prediction": [0, 0, 0, 1, 0, 0, 1],
    }
    assert related.lesionwise_f1(**images) == 0
    assert related.lesionwise_f1(**images, dilation=1) == pytest.approx(2 / 3)
    # Beside the voxel at 6, {0, 2} against {3}: distances 3 and 1 one way, 1 the other.
    found = related.lesionwise_hd95(**images, dilation=1, penalty=10)
    assert found == pytest.approx((1 + 0.95 * 2 + 10) / 2)


REACH = {"full": 3, "faces": 1}


def brute_alone(one: Voxels, other: Voxels, reach: int) -> int:
    return sum(len(c) for c in flood(one, reach) if not c & other)


@given(label_pairs(max_labels=2), st.sampled_from(["full", "faces"]))
def test_volumes_count_components_that_the_other_side_does_not_touch(
    pair: tuple[Labels, Labels], connectivity: Any
) -> None:
    reference, prediction = ((image == 1).astype(int) for image in pair)
    ref, pred, reach = voxels(reference), voxels(prediction), REACH[connectivity]
    spacing = SPACINGS[reference.ndim]
    options: dict[str, Any] = {
        "reference": reference,
        "prediction": prediction,
        "connectivity": connectivity,
        "spacing": spacing,
    }
    volume = math.prod(spacing)
    assert related.false_positive_volume(**options) == brute_alone(pred, ref, reach) * volume
    missed = brute_alone(ref, pred, reach) * volume if ref else math.nan
    assert related.false_negative_volume(**options) == pytest.approx(missed, nan_ok=True)


@given(label_pairs(max_labels=2))
def test_18_neighbours_lie_between_ours(pair: tuple[Labels, Labels]) -> None:
    reference, prediction = ((image == 1).astype(int) for image in pair)
    images: dict[str, Any] = {"reference": reference, "prediction": prediction}
    published = brute_alone(voxels(prediction), voxels(reference), reach=2)
    assert related.false_positive_volume(**images) <= published
    assert published <= related.false_positive_volume(**images, connectivity="faces")


def test_volumes_by_hand() -> None:
    images: dict[str, Any] = {
        "reference": [[1, 1, 0, 0, 0, 3], [0, 0, 0, 0, 0, 3]],
        "prediction": [[0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0]],  # one component, by a corner
    }
    assert related.false_positive_volume(**images) == 0
    assert related.false_positive_volume(**images, connectivity="faces") == 1
    assert related.false_negative_volume(**images) == 2
    assert related.false_negative_volume(**images, spacing=(3, 0.5)) == 3


def test_volumes_of_empty_sides() -> None:
    none: dict[str, Any] = {"reference": NOTHING, "prediction": NOTHING}
    no_prediction: dict[str, Any] = {"reference": SOMETHING, "prediction": NOTHING}
    no_reference: dict[str, Any] = {"reference": NOTHING, "prediction": SOMETHING}
    volumes = [related.false_positive_volume(**c) for c in (none, no_prediction, no_reference)]
    assert volumes == [0, 0, 2]
    assert related.false_negative_volume(**no_prediction) == 2
    assert math.isnan(related.false_negative_volume(**none))
    assert math.isnan(related.false_negative_volume(**no_reference))


@given(label_pairs(max_labels=2), st.sampled_from(["full", "faces"]))
def test_counts_of_isles_by_flood_fill(pair: tuple[Labels, Labels], connectivity: Any) -> None:
    reference, prediction = ((image == 1).astype(int) for image in pair)
    ref, pred = voxels(reference), voxels(prediction)
    refs, preds = flood(ref, REACH[connectivity]), flood(pred, REACH[connectivity])
    images: dict[str, Any] = {"reference": reference, "prediction": prediction}
    difference = related.lesion_count_difference(**images, connectivity=connectivity)
    assert difference == abs(len(refs) - len(preds))
    tp = sum(not c.isdisjoint(pred) for c in refs)
    fp = sum(c.isdisjoint(ref) for c in preds)
    whole = tp + (fp + len(refs) - tp) / 2
    f1 = related.lesion_f1(**images, connectivity=connectivity)
    assert f1 == pytest.approx(tp / whole if whole else math.nan, nan_ok=True)


@given(label_pairs(max_labels=2))
def test_lesion_f1_is_lesionwise_f1_without_dilation(pair: tuple[Labels, Labels]) -> None:
    images: dict[str, Any] = {"reference": pair[0], "prediction": pair[1]}
    one, other = related.lesion_f1(**images), related.lesionwise_f1(**images)
    assert one == pytest.approx(other, nan_ok=True)


@given(label_pairs(max_labels=2), st.sampled_from([0.0, 0.3, 0.7]))
def test_the_difference_of_counts_is_that_of_fp_and_fn(
    pair: tuple[Labels, Labels], threshold: float
) -> None:
    components = [connected_components(image) for image in pair]
    tally = pm.match(pm.count_overlaps(*components), threshold=threshold).tally
    difference = related.lesion_count_difference(reference=pair[0], prediction=pair[1])
    assert difference == abs(tally.fp - tally.fn)


def test_what_is_a_true_positive_of_isles() -> None:
    covers: dict[str, Any] = {"reference": [1, 0, 1, 0, 1], "prediction": [1, 1, 1, 1, 1]}
    assert related.lesion_f1.average(**covers) == _registry.share(6, 6)
    split: dict[str, Any] = {"reference": [1, 1, 1, 1, 1], "prediction": [1, 0, 1, 0, 1]}
    assert related.lesion_f1.average(**split) == _registry.share(2, 2)
    assert related.lesion_count_difference(**covers) == 2
    assert related.lesion_count_difference(**split) == 2
    swapped: dict[str, Any] = {"reference": [1, 0, 0], "prediction": [0, 0, 1]}
    assert related.lesion_count_difference(**swapped) == 0
    assert related.lesion_f1(**swapped) == 0


SHARES: list[Callable[..., float]] = [related.lesion_f1, related.lesionwise_f1]


@pytest.mark.parametrize("score", SHARES)
def test_shares_of_empty_sides(score: Any) -> None:
    assert math.isnan(score(reference=NOTHING, prediction=NOTHING))
    assert score(reference=NOTHING, prediction=SOMETHING) == 0
    assert score(reference=SOMETHING, prediction=NOTHING) == 0
    assert score(reference=SOMETHING, prediction=SOMETHING) == 1


def test_distances_and_differences_of_empty_sides() -> None:
    def score(reference: Labels, prediction: Labels) -> tuple[float, float]:
        images: dict[str, Any] = {"reference": reference, "prediction": prediction}
        return related.lesionwise_hd95(**images), related.lesion_count_difference(**images)

    assert math.isnan(score(NOTHING, NOTHING)[0])
    assert score(NOTHING, NOTHING)[1] == 0
    assert score(NOTHING, SOMETHING) == (374, 1)
    assert score(SOMETHING, NOTHING) == (374, 1)
    assert score(SOMETHING, SOMETHING) == (0, 0)


PER_OBJECT: list[Callable[..., Average]] = [
    related.lesion_f1.average,
    related.lesionwise_f1.average,
    related.lesionwise_hd95.average,
]
PER_CASE: list[Callable[..., Average]] = [
    related.false_positive_volume.average,
    related.false_negative_volume.average,
    related.lesion_count_difference.average,
]


@pytest.mark.parametrize("average", PER_OBJECT)
@given(pairs=st.lists(label_pairs(max_labels=2), min_size=2, max_size=3))
def test_pooled_is_the_score_of_cases_side_by_side(
    average: Any, pairs: list[tuple[Labels, Labels]]
) -> None:
    cases = [[np.atleast_3d(image) for image in pair] for pair in pairs]
    shape = np.max([reference.shape for reference, _ in cases], axis=0)

    def padded(image: Labels) -> Labels:  # far enough apart that nothing touches
        return np.pad(image, [(1, 1 + n - s) for n, s in zip(shape, image.shape, strict=True)])

    sides = [np.concatenate([padded(image) for image in side]) for side in zip(*cases, strict=True)]
    pooled: Any = sum(average(reference=r, prediction=p) for r, p in cases)
    assert pooled == average(reference=sides[0], prediction=sides[1])


@pytest.mark.parametrize("average", PER_CASE)
@given(pairs=st.lists(label_pairs(max_labels=1), min_size=1, max_size=4))
def test_pooled_is_the_mean_over_cases(average: Any, pairs: list[tuple[Labels, Labels]]) -> None:
    found: Any = [average(reference=r, prediction=p) for r, p in pairs]
    values = [one.value for one in found if not math.isnan(one.value)]
    assert sum(found).value == pytest.approx(
        sum(values) / len(values) if values else math.nan, nan_ok=True
    )
    assert sum(found).skipped == len(pairs) - len(values)


MASKS: list[Callable[..., float]] = [
    related.false_positive_volume,
    related.false_negative_volume,
    related.lesion_count_difference,
    related.lesion_f1,
    related.lesionwise_f1,
    related.lesionwise_hd95,
]


@pytest.mark.parametrize("score", MASKS)
def test_mistakes_are_named(score: Any) -> None:
    name = score.__name__
    with pytest.raises(CallError, match=f"{name} takes its arguments by name"):
        score(SOMETHING, SOMETHING)
    with pytest.raises(ShapeError, match=r"reference has shape \(1,\) but prediction has shape"):
        score(reference=[1], prediction=[1, 1])
    with pytest.raises(LabelError, match="reference holds the negative label -1"):
        score(reference=[-1], prediction=[1])
    with pytest.raises(LabelError, match="prediction holds the negative label -1"):
        score(reference=[1], prediction=[-1])


@pytest.mark.parametrize(
    ("score", "option", "message"),
    [
        (related.lesionwise_hd95, "penalty", "penalty='x' must be a distance"),
        (related.lesionwise_hd95, "dilation", "dilation='x' must be a whole number"),
        (related.lesionwise_f1, "min_volume", "min_volume='x' must be a volume"),
        (related.lesion_f1, "connectivity", "connectivity='x' is not known"),
        (related.false_positive_volume, "spacing", "spacing='x' is not a list of numbers"),
        (related.false_negative_volume, "connectivity", "connectivity='x' is not known"),
    ],
)
def test_wrong_options_are_named(score: Any, option: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        score(reference=SOMETHING, prediction=SOMETHING, **{option: WRONG})


def test_labels_are_taken_together_and_memory_order_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, (2, 5, 6, 7))
    for score in MASKS:
        plain = score(reference=labels[0] != 0, prediction=labels[1] != 0)
        fortran = [np.asfortranarray(image.astype(np.uint8)) for image in labels]
        assert score(reference=fortran[0], prediction=fortran[1]) == plain


def test_a_single_voxel_without_axes_is_an_image() -> None:
    images: dict[str, Any] = {"reference": np.array(1), "prediction": np.array(1)}
    assert [score(**images) for score in MASKS] == [0, 0, 0, 1, 1, 0]
