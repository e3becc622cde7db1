"""Clustering scores equal those of scikit-image, scikit-learn and CREMI, and their definitions."""

from __future__ import annotations

import math
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import hypergeom

import panmatch as pm
from panmatch import related
from panmatch.errors import OptionError, OverlapError
from panmatch.formats import read_labels
from panmatch.related._expected_information import SMALLEST, expected_information

DATA = Path(__file__).parents[3] / "shared" / "data"
theirs: Any = import_module("skimage.metrics")
learned: Any = import_module("sklearn.metrics")

Labels = npt.NDArray[np.int64]
Background = Literal["ignore", "include"]
BACKGROUNDS: tuple[Background, ...] = ("ignore", "include")


def images(n: int, seed: int, labels: int = 6) -> tuple[Labels, Labels]:
    """Return two images that agree on most voxels."""
    rng = np.random.default_rng(seed)
    reference = np.repeat(rng.integers(0, labels, -(-n // 7)), 7)[:n]
    changed = rng.uniform(size=n) < 0.3
    return reference, np.where(changed, rng.integers(0, labels + 2, n), reference)


def without_background(
    reference: Labels, prediction: Labels, background: Background
) -> tuple[Labels, Labels]:
    known = slice(None) if background == "include" else reference > 0
    return reference[known], prediction[known]


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("seed", range(40))
def test_scores_are_those_of_other_programs(seed: int, background: Background) -> None:
    check_scores(*images(50 + 37 * seed, seed, 2 + seed % 7), background)


def check_scores(
    reference: Labels, prediction: Labels, background: Background, by_chance: float = 1e-12
) -> None:
    """Compare all scores with those of scikit-image and scikit-learn.

    scikit-learn's expected information is a sum of logarithms of factorials, whose error grows with
    the image; `by_chance` is how much it may differ.
    """
    overlap = pm.count_overlaps(reference, prediction)
    ignored = (0,) if background == "ignore" else ()
    assert related.variation_of_information(overlap, background=background) == close(
        tuple(theirs.variation_of_information(reference, prediction, ignore_labels=ignored))
    )
    assert related.adapted_rand_error(overlap, background=background) == close(
        theirs.adapted_rand_error(reference, prediction, ignore_labels=ignored)[0]
    )
    known = without_background(reference.ravel(), prediction.ravel(), background)
    assert related.rand_index(overlap, background=background) == close(learned.rand_score(*known))
    assert related.adjusted_rand_index(overlap, background=background) == close(
        learned.adjusted_rand_score(*known)
    )
    information = learned.adjusted_mutual_info_score(*known)
    found = related.adjusted_mutual_information(overlap, background=background)
    assert found == pytest.approx(information, rel=by_chance, abs=by_chance)


def together(labels: Labels) -> set[tuple[int, int]]:
    return {
        pair for pair in combinations(range(len(labels)), 2) if labels[pair[0]] == labels[pair[1]]
    }


@settings(max_examples=60)
@given(
    arrays(np.int64, 7, elements=st.integers(0, 3)), arrays(np.int64, 7, elements=st.integers(0, 3))
)
def test_pairs_of_voxels_are_counted_one_by_one(reference: Labels, prediction: Labels) -> None:
    overlap = pm.count_overlaps(reference, prediction)
    for background in BACKGROUNDS:
        known = without_background(reference, prediction, background)
        ref, pred = map(together, known)
        n_pairs = math.comb(len(known[0]), 2)
        rand = related.rand_index(overlap, background=background)
        agree = n_pairs - len(ref ^ pred)
        assert math.isnan(rand) if n_pairs == 0 else rand == agree / n_pairs
        error = related.adapted_rand_error(overlap, background=background)
        f1 = 2 * len(ref & pred) / (len(ref) + len(pred)) if ref or pred else math.nan
        assert error == pytest.approx(1 - f1, abs=1e-12, nan_ok=True)


def cremi_by_definition(reference: Labels, prediction: Labels) -> float:
    """Return the score from a dense table, as the challenge's definition has it."""
    table = np.zeros((reference.max() + 1, prediction.max() + 1))
    np.add.at(table, (reference, prediction), 1)
    counted = table[1:] / table[1:].sum()
    rows, columns = counted.sum(1), counted.sum(0)
    information = 0.0
    for i, j in np.argwhere(counted):
        share = counted[i, j]
        information -= share * (math.log2(share / rows[i]) + math.log2(share / columns[j]))
    alone = table[1:, 0].sum() / len(reference)
    both = (table[1:, 1:] ** 2).sum() + alone
    precision = both / ((table[1:, 1:].sum(0) ** 2).sum() + alone)
    recall = both / (table[1:].sum(1) ** 2).sum()
    return math.sqrt(information * (1 - 2 * precision * recall / (precision + recall)))


@pytest.mark.parametrize("seed", range(20))
def test_the_cremi_score_is_that_of_its_definition(seed: int) -> None:
    reference, prediction = images(400, seed)
    overlap = pm.count_overlaps(reference, prediction)
    expected = cremi_by_definition(reference, prediction)
    assert related.cremi_score(overlap) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [30, 400])
def test_the_expectation_is_that_of_the_hypergeometric_distribution(n: int) -> None:
    rng = np.random.default_rng(n)
    refs, preds = (np.diff(np.sort(np.r_[0, rng.choice(np.arange(1, n), 4), n])) for _ in range(2))
    refs, preds = refs[refs > 0], preds[preds > 0]
    expected = 0.0
    for a in refs.tolist():
        for b in preds.tolist():
            shared = np.arange(max(1, a + b - n), min(a, b) + 1)
            chance = hypergeom(n, a, b).pmf(shared)
            expected += float((chance * shared / n * np.log2(n * shared / (a * b))).sum())
    assert expected_information(refs, preds, n) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("highest", [400, 3000, 60_000])
def test_many_different_sizes_need_few_expectations(highest: int) -> None:
    """Polynomials stand for middle sizes; small and huge ones, and few, are computed one by one."""
    n = 2_000_000
    rng = np.random.default_rng(highest)
    sizes = np.unique(np.geomspace(SMALLEST, highest, 120).astype(int))
    refs = np.r_[rng.choice(sizes, 150), 3, 40, 1_200_000]
    preds = np.r_[rng.choice(sizes, 150), 17, 1_500_000]
    expected = 0.0
    for a, times in zip(*np.unique(refs, return_counts=True), strict=True):
        for part in np.array_split(preds, 20):  # few at a time: nothing is replaced
            expected += times * expected_information(np.array([a]), part, n)
    assert expected_information(refs, preds, n) == pytest.approx(expected, rel=1e-12)


@pytest.mark.skipif(not DATA.exists(), reason="the real images are not at hand")
@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize(
    "names",
    [
        ("nuclei2d_dsb2018/img2_ref.tif", "nuclei2d_dsb2018/img2_pred_watershed.tif"),
        ("nuclei2d_dsb2018/stardist2d_ref.tif", "nuclei2d_dsb2018/stardist2d_pred_otsu_cc.tif"),
        ("nuclei3d_platynereis/ref_gt.tif", "nuclei3d_platynereis/pred_voronoi_otsu.tif"),
        ("wbc_cell_nucleus_parts/ref_instance.tif", "wbc_cell_nucleus_parts/pred_instance.tif"),
    ],
)
def test_scores_of_real_images_are_those_of_other_programs(
    names: tuple[str, str], background: Background
) -> None:
    reference, prediction = (read_labels(DATA / name).labels.astype(np.int64) for name in names)
    check_scores(reference, prediction, background, by_chance=1e-11)
    overlap = pm.count_overlaps(reference, prediction)
    expected = cremi_by_definition(reference.ravel(), prediction.ravel())
    assert related.cremi_score(overlap) == close(expected)


def test_a_large_image_takes_no_large_factorials() -> None:
    """Sums of logarithms of factorials of 2**27 voxels would have an error of 1e-7."""
    sizes = np.full(512, 2**18)
    found = expected_information(sizes, sizes, 2**27)
    # Independent counts: E[MI] is close to (rows − 1)(columns − 1) / (2 N ln 2).
    assert found == pytest.approx(511**2 / (2 * 2**27 * math.log(2)), rel=1e-3)
    overlap = pm.Overlap.from_dense(np.diag(sizes), sizes, sizes, voxels=2**27)
    assert related.adjusted_mutual_information(overlap) == 1.0
    assert related.rand_index(overlap) == related.adjusted_rand_index(overlap) == 1.0
    assert related.variation_of_information(overlap) == (0.0, 0.0)


def test_over_segmentation_is_split_and_under_segmentation_is_merge() -> None:
    whole, halves = np.ones(8, int), np.repeat([1, 2], 4)
    assert related.variation_of_information(pm.count_overlaps(whole, halves)) == (1.0, 0.0)
    assert related.variation_of_information(pm.count_overlaps(halves, whole)) == (0.0, 1.0)
    assert related.variation_of_information(pm.count_overlaps(halves, whole)).total == 1.0


def test_void_is_left_out() -> None:
    reference, prediction = images(300, 3)
    void = np.arange(300) % 5 == 0
    with_void = pm.count_overlaps(reference, prediction, void)
    known = pm.count_overlaps(reference[~void], prediction[~void])
    for background in BACKGROUNDS:
        for score in (related.variation_of_information, related.adjusted_rand_index):
            expected = pytest.approx(score(known, background=background), rel=1e-12)
            assert score(with_void, background=background) == expected


def test_chunks_add_up_with_their_background() -> None:
    reference, prediction = images(300, 4)
    whole = pm.count_overlaps(reference, prediction)
    parts = [
        pm.count_overlaps(reference[at : at + 100], prediction[at : at + 100])
        for at in (0, 100, 200)
    ]
    total = parts[0] + parts[1] + parts[2]
    assert total.voxels == whole.voxels == 300
    assert total == whole
    assert pm.Overlap.from_json(whole.to_json()).voxels == 300


@pytest.mark.parametrize(
    "score",
    [related.adapted_rand_error, related.rand_index, related.adjusted_rand_index,
     related.adjusted_mutual_information],
)  # fmt: skip
def test_nothing_to_cluster_is_undefined(score: object) -> None:
    nothing = pm.count_overlaps(np.zeros(0, int), np.zeros(0, int))
    assert math.isnan(score(nothing))  # type: ignore[operator]


def test_what_cannot_be_known_is_refused() -> None:
    unknown = pm.Overlap.from_dense([[1]], [2], [2])
    with pytest.raises(OptionError, match=r"how many voxels the image has: pass voxels="):
        related.variation_of_information(unknown)
    assert related.variation_of_information(unknown, background="ignore").merge == 0
    cut = pm.count_region_overlaps([1, 1, 2], [1, 1, 1])
    with pytest.raises(OverlapError, match="cut by regions"):
        related.rand_index(cut)
    with pytest.raises(OptionError, match=r"form='x' is not known"):
        related.adapted_rand_error(unknown, form="x")  # type: ignore[arg-type]
