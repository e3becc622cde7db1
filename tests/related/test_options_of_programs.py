"""Options that make a related score that of a published program, each beside its default."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linear_sum_assignment

import panmatch as pm
from panmatch import related
from panmatch.errors import OptionError
from panmatch.spec import as_spec
from tests.hypothesis_scenes import label_pairs

# |g₁| = 11, |g₂| = 9, |p₁| = 13, |p₂| = 4: p₁ fits g₁ best, but beside (g₂, p₁) there is (g₁, p₂).
CROWDED = pm.Overlap.from_dense([[7, 4], [6, 0]], ref_sizes=[11, 9], pred_sizes=[13, 4])


def test_pairs_below_the_threshold_decide_where_stardist_lets_them() -> None:
    (ours,) = related.stardist_scores(CROWDED, 0.37)
    (theirs,) = related.stardist_scores(CROWDED, 0.37, candidates="all")
    assert (ours.tally.tp, theirs.tally.tp) == (1, 1)
    assert ours.tally.quality == pytest.approx(7 / 17)
    assert theirs.tally.quality == pytest.approx(6 / 16)
    with pytest.raises(OptionError, match="candidates='every' is not known"):
        related.stardist_scores(CROWDED, 0.37, candidates="every")  # type: ignore[arg-type]


def test_a_pair_at_the_threshold_counts_before_the_sum_of_all_others() -> None:
    # IoU(g₁, p₁) is 0.5; the other two pairs are below it, but together have more.
    reference = [1] * 10 + [2] * 6
    prediction = [2] * 2 + [1] * 14
    overlap = pm.count_overlaps(reference, prediction)
    for candidates in ("matching", "all"):
        (found,) = related.stardist_scores(overlap, 0.5, candidates=candidates)
        assert found.tally == pm.Tally(tp=1, fp=1, fn=1, quality=0.5)


@settings(max_examples=60, deadline=None)
@given(label_pairs())
def test_all_candidates_are_scipy_s_assignment(pair: Any) -> None:
    overlap = pm.count_overlaps(*pair)
    n, m = len(overlap.ref_ids), len(overlap.pred_ids)
    iou = np.zeros((n, m))
    iou[overlap.edges.ref, overlap.edges.pred] = overlap.iou
    for threshold in (0.1, 0.3, 0.5):
        (found,) = related.stardist_scores(overlap, threshold, candidates="all")
        if not min(n, m):
            assert found.tally.tp == 0
            continue
        weights = (iou >= threshold) + iou / (2 * min(n, m))
        chosen = linear_sum_assignment(weights, maximize=True)
        assert found.tally.tp == np.count_nonzero(iou[chosen] >= threshold)


def test_aji_of_cellpose_pairs_one_to_one() -> None:
    # One prediction covers two references: by the definition it serves both.
    overlap = pm.Overlap.from_dense([[4], [3]], ref_sizes=[4, 3], pred_sizes=[9])
    assert related.aji(overlap) == pytest.approx((4 + 3) / (4 + 3 + 9 - 7 + 9))
    assert related.aji(overlap, partners="one-to-one") == pytest.approx(4 / 9)
    nothing = pm.count_overlaps(np.zeros(3, int), np.zeros(3, int))
    assert math.isnan(related.aji(nothing, partners="one-to-one"))


def test_ties_of_regions_may_be_scipy_s() -> None:
    # The middle voxel is as near to one component as to the other.
    reference, prediction = np.array([[1, 0, 1]]), np.array([[0, 1, 0]])
    for image in (reference, reference[:, ::-1]):
        found = related.cc_metric(reference=image, prediction=prediction)
        assert found.per_component.tolist() == [0, 0]
    images: dict[str, Any] = {
        "reference": np.array([[1, 1, 0, 0, 1]]),
        "prediction": np.array([[1, 1, 0, 1, 1]]),
    }
    assert related.cc_metric(**images, ties="scipy").per_component.tolist() == pytest.approx(
        related.cc_metric(**images).per_component.tolist()
    )
    with pytest.raises(OptionError, match="ties='first' is not known"):
        related.cc_metric(**images, ties="first")  # type: ignore[arg-type]


def test_regions_may_ignore_the_spacing() -> None:
    # The pixel at (0, 2) is two steps from either component; the smaller id has it.
    reference = np.array([[1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1]])
    prediction = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 1], [0, 0, 1]])
    spec = {
        "whole": [],
        "related": [
            {"score": "cc_metric", "units": "voxel", "name": "voxels_only"},
            {"score": "cc_metric", "name": "spaced"},
        ],
    }
    found = pm.evaluate(reference=reference, prediction=prediction, spec=spec, spacing=(1, 9))
    scores = {one.score.name: one.average.value for one in found.cases[0].class_scores}
    plain = related.cc_metric(reference=reference, prediction=prediction).mean
    spaced = related.cc_metric(reference=reference, prediction=prediction, spacing=(1, 9)).mean
    assert scores["voxels_only"] == plain
    assert scores["spaced"] == spaced
    assert plain != spaced


def test_regions_without_a_prediction_may_have_a_penalty() -> None:
    # A pixel too much beside the first component, nothing beside the second.
    reference, prediction = np.array([[1, 1, 0, 0, 0, 1]]), np.array([[1, 1, 1, 0, 0, 0]])
    entry = {"score": "cc_metric", "metric": "asd_from_prediction"}
    spec = {
        "whole": [],
        "related": [
            {**entry, "name": "found_alone"},
            {**entry, "penalty": 30, "name": "penalised"},
            {**entry, "penalty": "diagonal", "units": "voxel", "name": "diagonal"},
        ],
    }
    result = pm.evaluate(reference=reference, prediction=prediction, spec=spec, spacing=(1, 3))
    scores = {one.score.name: one.average for one in result.cases[0].class_scores}
    assert (scores["found_alone"].value, scores["found_alone"].count) == (1.0, 1)
    assert scores["penalised"].value == (1 + 30) / 2
    assert scores["diagonal"].value == pytest.approx((1 / 3 + 37**0.5) / 2)


def test_cc_metrics_have_the_direction_and_the_unit_of_their_metric() -> None:
    related_scores = [
        {"score": "cc_metric", "metric": metric, "units": units, "name": f"{metric}_{units}"}
        for metric in ("nsd", "hd95")
        for units in ("spacing", "voxel")
    ]
    spec = as_spec({"related": [*related_scores, "cc_metric"]})
    empty = pm.evaluate(reference=[[0]], prediction=[[0]], spec=spec)
    found = {
        name: (empty.known_scores[name].direction, empty.known_scores[name].unit("mm"))
        for name in ("nsd_spacing", "nsd_voxel", "hd95_spacing", "hd95_voxel", "cc_metric")
    }
    assert found == {
        "nsd_spacing": ("higher", ""),
        "nsd_voxel": ("higher", ""),
        "hd95_spacing": ("lower", "mm"),
        "hd95_voxel": ("lower", ""),  # voxels, whatever the unit of the spacing
        "cc_metric": ("higher", ""),
    }


def test_a_metric_that_is_not_known_is_an_error_of_the_spec() -> None:
    with pytest.raises(pm.PanmatchError, match="'hd59' is not known; did you mean 'hd95'"):
        as_spec({"related": [{"score": "cc_metric", "metric": "hd59"}]})


@pytest.mark.parametrize(("score", "empty"), [("dice", 1.0), ("hd95", 0.0), ("f1", 1.0)])
def test_a_case_in_which_nothing_counts_may_have_a_value(score: str, empty: float) -> None:
    function = getattr(related, f"lesionwise_{score}")
    nothing = np.zeros((4, 4, 4), int)
    tiny = nothing.copy()
    tiny[0, 0, 0] = 1
    for sides in ((nothing, nothing), (tiny, tiny)):
        given_ = {"reference": sides[0], "prediction": sides[1], "min_volume": 1.0}
        assert math.isnan(function(**given_))
        assert function(**given_, empty=empty) == empty
    spurious = {"reference": nothing, "prediction": tiny, "empty": empty}
    assert function(**spurious) == (374.0 if score == "hd95" else 0.0)


def test_lesionwise_distances_by_surface_elements() -> None:
    reference, prediction = np.zeros((2, 12, 6, 6), int)
    reference[2:6, 1:5, 1:5] = prediction[2:9, 1:5, 1:5] = 1
    images: dict[str, Any] = {"reference": reference, "prediction": prediction}
    found = related.lesionwise_hd95(**images, metric="hd95_elements")
    whole = pm.measure_whole(reference, prediction, ["hd95_elements", "hd95"]).columns
    assert found == whole["hd95_elements"][0]
    assert related.lesionwise_hd95(**images) == whole["hd95"][0]


def test_components_by_edges_are_between_those_by_faces_and_by_corners() -> None:
    image = np.zeros((4, 4, 4), int)
    image[0, 0, 0] = image[0, 1, 1] = image[1, 2, 2] = 1  # an edge, then a corner
    nothing = np.zeros_like(image)
    images: dict[str, Any] = {"reference": image, "prediction": nothing}
    counts = {
        name: related.lesion_count_difference(**images, connectivity=name)
        for name in ("faces", "edges", "full")
    }
    assert counts == {"faces": 3, "edges": 2, "full": 1}
    prediction = np.zeros_like(image)
    prediction[1, 2, 2] = 1
    volumes = [
        related.false_negative_volume(
            reference=image, prediction=prediction, connectivity=connectivity
        )
        for connectivity in ("faces", "edges", "full")
    ]  # fmt: skip
    assert volumes == [2, 2, 0]
