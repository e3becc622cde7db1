"""Related metrics by hand, by brute force, on empty sides, and with their options."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from scipy.optimize import linear_sum_assignment

import panmatch as pm
from panmatch import related
from panmatch.errors import LabelError, OptionError, ShapeError
from tests.hypothesis_scenes import label_pairs
from tests.labels.test_voronoi import by_brute_force

Labels = npt.NDArray[np.integer[Any]]
NOTHING = np.zeros((3, 4), int)
SOMETHING = np.pad(np.ones((1, 2), int), 1)
CORNERS = np.ones((3, 3, 3))
WRONG: Any = SOMETHING
WORD: Any = "x"


def plain(labels: Labels) -> pm.Overlap:
    return pm.count_overlaps(labels, labels)


@pytest.mark.parametrize(
    "score",
    [
        lambda r, p: related.cluster_dice(reference=r, prediction=p),
        lambda r, p: related.cluster_iou(reference=r, prediction=p),
        lambda r, p: related.lesionwise_dice(reference=r, prediction=p),
        lambda r, p: related.ccdice(pm.count_overlaps(r, p)),
        lambda r, p: related.sorted_ap(pm.count_overlaps(r, p)),
        lambda r, p: related.sorted_ap(pm.count_overlaps(r, p), integral="trapezoid"),
        lambda r, p: related.npq(pm.count_overlaps(r, p)),
        lambda r, p: related.aji(pm.count_overlaps(r, p)),
        lambda r, p: related.stardist_scores(pm.count_overlaps(r, p))[0].accuracy,
    ],
)
def test_nothing_is_nan_one_empty_side_is_0_and_equality_is_1(score: Any) -> None:
    assert np.isnan(score(NOTHING, NOTHING))
    assert score(NOTHING, SOMETHING) == 0
    assert score(SOMETHING, NOTHING) == 0
    assert score(SOMETHING, SOMETHING) == pytest.approx(1)


def test_cc_metric_without_components_has_no_value() -> None:
    found = related.cc_metric(reference=NOTHING, prediction=SOMETHING)
    assert found.per_component.tolist() == []
    assert np.isnan(found.mean)


def test_a_component_with_an_empty_cell_is_0_or_nan_or_the_penalty() -> None:
    images: dict[str, Any] = {"reference": [[1, 0, 0, 0, 1]], "prediction": [[1, 0, 0, 0, 0]]}
    assert related.cc_metric(**images).per_component.tolist() == [1, 0]
    assert related.cc_metric(**images, metric="nsd").per_component.tolist() == [1, 0]
    distance = related.cc_metric(**images, metric="hd95")
    np.testing.assert_array_equal(distance.per_component, [0, np.nan])
    assert (distance.mean, distance.skipped) == (0, 1)
    stated = related.cc_metric(**images, metric="hd95", penalty=30)
    assert stated.per_component.tolist() == [0, 30]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("metric", ["dice", "iou", "nsd", "hd95", "assd"])
def test_cc_metric_is_the_metric_of_each_component_in_its_cell(seed: int, metric: str) -> None:
    rng = np.random.default_rng(seed)
    noise = ndimage.gaussian_filter(rng.normal(size=(2, 10, 12, 9)), (0, 1, 1, 1))
    reference, prediction = noise > 0.15
    spacing = (3.0, 1.0, 0.5)
    components = ndimage.label(reference, CORNERS)[0]
    cells = by_brute_force(components, spacing)
    want = []
    for g in range(1, components.max() + 1):
        inside = pm.measure_whole(components == g, prediction & (cells == g), metric, spacing)
        want.append(inside.columns[metric][0])
    found = related.cc_metric(
        reference=reference, prediction=prediction, metric=metric, spacing=spacing
    )
    np.testing.assert_allclose(np.sort(found.per_component), np.sort(want), rtol=1e-12)


def test_cases_add_and_their_means_differ_from_the_pooled_mean() -> None:
    one = related.cc_metric(reference=[1, 0, 0, 1], prediction=[1, 0, 0, 0])
    two = related.cc_metric(reference=[1, 1], prediction=[1, 1])
    both = one + two
    assert sum([one, two]).pooled == both.pooled  # type: ignore[union-attr]
    assert both.per_component.tolist() == [1, 0, 1]
    assert both.per_case.tolist() == [0.5, 1]
    assert both.mean == 0.75
    assert both.pooled == pytest.approx(2 / 3)
    assert (two + one).mean == both.mean


def brute_lesionwise(
    reference: Labels, prediction: Labels, dilation: int, smallest: float
) -> float:
    """The rules of BraTS, lesion by lesion."""
    mask, preds = reference != 0, ndimage.label(prediction != 0, CORNERS)[0]
    reach = ndimage.generate_binary_structure(3, 2)
    wide = ndimage.binary_dilation(mask, reach, iterations=dilation) if dilation else mask
    lesions = ndimage.label(wide, CORNERS)[0] * mask
    scores, used = [], set()
    for g in set(lesions[lesions > 0].tolist()):
        lesion = lesions == g
        region = ndimage.binary_dilation(lesion, reach, iterations=dilation) if dilation else lesion
        ids = set(preds[region].tolist()) - {0}
        used |= ids
        hit = np.isin(preds, list(ids))
        if lesion.sum() > smallest:
            scores.append(2 * (hit & lesion).sum() / (hit.sum() + lesion.sum()))
    whole = len(scores) + preds.max() - len(used)
    return float(sum(scores) / whole)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("dilation", [0, 1, 3])
@pytest.mark.parametrize("smallest", [0, 4])
def test_lesionwise_dice_follows_the_rules_of_brats(
    seed: int, dilation: int, smallest: int
) -> None:
    rng = np.random.default_rng(seed)
    noise = ndimage.gaussian_filter(rng.normal(size=(2, 12, 14, 13)), (0, 1, 1, 1))
    reference, prediction = (noise > 0.4).astype(int)
    want = brute_lesionwise(reference, prediction, dilation, smallest)
    found = related.lesionwise_dice(
        reference=reference,
        prediction=prediction,
        dilation=dilation,
        min_volume=smallest * 0.25,
        spacing=(0.5, 1, 0.5),
    )
    assert found == pytest.approx(want, abs=1e-12)


@given(label_pairs(), st.sampled_from([0.1, 0.25, 0.5, 0.7, 1.0]))
def test_as_many_pairs_as_there_can_be(pair: tuple[Labels, Labels], threshold: float) -> None:
    overlap = pm.count_overlaps(*pair)
    passing = np.flatnonzero(overlap.iou >= threshold).tolist()
    ref, pred = overlap.edges.ref, overlap.edges.pred

    def is_matching(edges: tuple[int, ...]) -> bool:
        return len({ref[e] for e in edges}) == len({pred[e] for e in edges}) == len(edges)

    sets = [s for n in range(len(passing) + 1) for s in combinations(passing, n) if n <= 4]
    most = max(len(s) for s in sets if is_matching(s))
    best = max(sum(overlap.iou[list(s)]) for s in sets if is_matching(s) and len(s) == most)
    (found,) = related.stardist_scores(overlap, threshold)
    assert found.tally.tp == most
    assert found.tally.quality == pytest.approx(best, abs=1e-9)


def test_stardist_counts_pairs_before_scores_and_equality_as_a_match() -> None:
    overlap = pm.Overlap.from_dense([[6, 2], [2, 0]], ref_sizes=[8, 4], pred_sizes=[8, 4])
    found = related.stardist_scores(overlap, [0.2, 0.21])
    assert [f.tally.tp for f in found] == [2, 1]
    assert [f.tally.quality for f in found] == pytest.approx([0.4, 0.6])
    assert [f.mean_true_score for f in found] == pytest.approx([0.2, 0.3])
    assert pm.match(overlap, threshold=0.1).tally.tp == 1


def test_three_weak_pairs_come_before_two_strong_ones() -> None:
    table = [[10, 80, 0], [0, 10, 80], [0, 0, 10]]
    chain = pm.Overlap.from_dense(table, ref_sizes=[100, 100, 100], pred_sizes=[10, 90, 90])
    (found,) = related.stardist_scores(chain, 0.05)
    assert found.tally.tp == 3
    assert found.tally.quality < 0.3
    assert pm.match(chain, threshold=0.04).tally.tp == 2


def test_ccdice_reaches_alpha_and_takes_each_object_once() -> None:
    overlap = pm.Overlap.from_dense([[3, 3]], ref_sizes=[6], pred_sizes=[3, 6])
    assert related.ccdice(overlap, 0.5) == pytest.approx(0.5 * (2 / 3 + 2 / 3))
    assert related.ccdice(overlap, 0.51) == pytest.approx(0.5 * (2 / 3 + 0))


def test_connectivity_decides_what_a_cluster_is() -> None:
    images: dict[str, Any] = {"reference": np.eye(2, dtype=int), "prediction": np.diag([1, 0])}
    assert related.cluster_dice(**images) == pytest.approx(2 / 3)
    assert related.cluster_dice(**images, connectivity="faces") == 0.5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: related.ccdice(plain(SOMETHING), 0), OptionError, "alpha=0 must be above 0"),
        (lambda: related.ccdice(WRONG), LabelError, "not an Overlap"),
        (lambda: related.stardist_scores(plain(SOMETHING), 1.2), OptionError, "thresholds=1.2"),
        (lambda: related.sorted_ap(plain(SOMETHING), integral=WORD), OptionError, "integral='x'"),
        (
            lambda: related.cluster_dice(reference=[1], prediction=[1, 1]),
            ShapeError,
            r"reference has shape \(1,\) but prediction has shape \(2,\)",
        ),
        (
            lambda: related.lesionwise_dice(reference=[1], prediction=[1], dilation=-1),
            OptionError,
            "dilation=-1 must be a whole number",
        ),
        (
            lambda: related.lesionwise_dice(reference=[1], prediction=[1], min_volume=WORD),
            OptionError,
            "min_volume='x' must be a volume",
        ),
        (
            lambda: related.cc_metric(reference=[0.5], prediction=[1]),
            LabelError,
            "reference has dtype float64",
        ),
        (
            lambda: related.cc_metric(reference=[1], prediction=[1], metric="dise"),
            OptionError,
            "did you mean 'dice'",
        ),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_labels_are_taken_together() -> None:
    touching = np.array([[1, 1, 2, 2, 0, 3]])
    found = related.cc_metric(reference=touching, prediction=touching)
    assert found.per_component.tolist() == [1, 1]
    assert related.lesionwise_dice(reference=touching, prediction=touching != 0) == 1


@pytest.mark.parametrize(
    "score", [related.cc_metric, related.cluster_dice, related.lesionwise_dice]
)
def test_a_negative_label_is_no_object(score: Any) -> None:
    good, bad = np.array([[1, 0]]), np.array([[1, -1]])
    with pytest.raises(LabelError, match=r"reference holds the negative label -1 \(1 voxel"):
        score(reference=bad, prediction=good)
    with pytest.raises(LabelError, match="prediction holds the negative label -1"):
        score(reference=good, prediction=bad)


def stardist_quality(iou: Any, threshold: float) -> tuple[int, float]:
    """Return stardist's TP and summed score: one assignment, whatever overlaps breaks ties."""
    worth = (iou >= threshold) + iou / (2 * max(1, min(iou.shape)))
    matched = iou[linear_sum_assignment(worth, maximize=True)]
    return int((matched >= threshold).sum()), float(matched[matched >= threshold].sum())


def dense_iou(overlap: pm.Overlap) -> Any:
    table = np.zeros((len(overlap.ref_ids), len(overlap.pred_ids)))
    table[overlap.edges.ref, overlap.edges.pred] = overlap.iou
    return table


@given(label_pairs(), st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.37, 0.5, 0.7, 1.0]))
def test_stardist_differs_only_where_pairs_below_the_threshold_break_a_tie(
    pair: tuple[Labels, Labels], threshold: float
) -> None:
    overlap = pm.count_overlaps(*pair)
    iou = dense_iou(overlap)
    (found,) = related.stardist_scores(overlap, threshold)
    tp, quality = stardist_quality(iou, threshold)
    assert found.tally.tp == tp
    assert quality <= found.tally.quality + 1e-9
    if threshold >= 0.5:
        assert quality == pytest.approx(found.tally.quality, abs=1e-9)
    # Without the scores of pairs that do not match, both are one definition.
    matches_only = np.where(iou >= threshold, iou, 0.0)
    assert stardist_quality(matches_only, threshold)[1] == pytest.approx(
        found.tally.quality, abs=1e-9
    )


def test_a_pair_that_does_not_match_can_cost_stardist_a_better_match() -> None:
    """The scene of docs/explanation/related.md, and the two numbers that the page says."""
    overlap = pm.Overlap.from_dense([[7, 4], [6, 0]], ref_sizes=[11, 9], pred_sizes=[13, 4])
    (found,) = related.stardist_scores(overlap, 0.37)
    tp, quality = stardist_quality(dense_iou(overlap), 0.37)
    assert found.tally.tp == tp == 1
    assert (found.tally.quality, quality) == pytest.approx((7 / 17, 6 / 16))
    assert found.tally.pq == pytest.approx(7 / 17 / 2)
    page = " ".join(
        (Path(__file__).parents[2] / "docs" / "explanation" / "related.md").read_text().split()
    )
    assert f"its PQ is {quality / 2:.3f}, not {found.tally.pq:.3f}" in page
