"""Advice says what phantoms with known mistakes hold, with the numbers of the library."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.datasets import Advice, Point
from panmatch.errors import PanmatchError

BALLS = phantoms.balls((72, 72), 8, radius=(6, 8), gap=2, seed=1)
TISSUE = phantoms.tissue((96, 96), 30)


def point(advice: Advice, topic: str) -> Point:
    (found,) = [one for one in advice.points if one.topic == topic]
    return found


def topics(advice: Advice) -> list[str]:
    return [one.topic for one in advice.points]


def test_splits_are_named_with_their_pieces_and_what_joining_them_brings() -> None:
    prediction = phantoms.split(BALLS, 2, ids=[2, 5, 7])
    advice = pm.advise(reference=BALLS, prediction=prediction)
    overlap = pm.count_overlaps(BALLS, prediction)
    before, after = (
        pm.match(overlap, name, 0.1).tally.pq for name in ("one-to-one", "many-to-one")
    )
    text = point(advice, "Strategy").evidence[0]
    assert text.startswith("3 of 8 references are split over 6 predictions. ")
    assert f"PQ at τ = 0.1 from {before:.3f} to {after:.3f}" in text
    assert "many-to-one if its pieces will do" in point(advice, "Strategy").choice
    assert advice.strategies == ("one-to-one", "many-to-one")
    assert advice.thresholds == (0.5, 0.1)


def test_pieces_that_are_too_small_to_begin_with_are_said_to_be() -> None:
    reference = np.repeat([[1] * 12], 12, axis=0)
    prediction = np.repeat([[1] * 4 + [2] * 4 + [3] * 4], 12, axis=0)
    text = point(pm.advise(reference=reference, prediction=prediction), "Strategy").evidence[0]
    assert "from 0.167 to 1.000, and at τ = 0.5 not at all: no piece is large enough" in text


def test_merges_are_named_and_seen_below_a_half_only() -> None:
    prediction = phantoms.merge_neighbours(TISSUE, 4)
    advice = pm.advise(reference=TISSUE, prediction=prediction)
    first, components, contacts = point(advice, "Strategy").evidence
    assert first.startswith("4 of 26 predictions cover several references, 8 in all.")
    assert first.endswith("from τ = 0.5 on none can be shared.")
    assert components.endswith("26 components (references–predictions): 22 × 1–1, 4 × n–1.")
    assert contacts == "30 of 30 references touch another one."
    assert advice.strategies == ("one-to-one", "one-to-many/optimal")
    assert advice.thresholds == (0.5, 0.1)
    assert point(advice, "Strategy").section == "when-merged-objects-are-acceptable"


def test_without_splits_and_merges_one_to_one_is_enough() -> None:
    advice = pm.advise(reference=BALLS, prediction=phantoms.miss(BALLS, ids=[3]))
    strategy = point(advice, "Strategy")
    assert strategy.choice.startswith("one-to-one. Nothing is split or merged")
    assert strategy.evidence == (
        "At τ = 0.1 the objects fall into 8 components (references–predictions): 1 × reference "
        "alone, 7 × 1–1.",
    )
    assert (advice.strategies, advice.thresholds) == (("one-to-one",), (0.5,))
    assert point(advice, "Regions").choice == "not needed."


def test_small_objects_want_a_low_threshold_whatever_the_prediction() -> None:
    reference = phantoms.balls((64, 64), 12, radius=(1, 2), gap=2, seed=0)
    advice = pm.advise(reference=reference, prediction=reference)
    threshold = point(advice, "Threshold")
    sizes = pm.count_overlaps(reference, reference).ref_sizes
    assert advice.thresholds == (0.1, 0.5)
    assert threshold.section == "small-objects"
    assert (
        f"{np.count_nonzero(sizes < 18.31)} of 12 references would fall to 0.5"
        in (threshold.evidence[0])
    )
    assert "recall by size" in point(advice, "Report").choice


def test_objects_between_two_thresholds_are_counted() -> None:
    reference = np.zeros((20, 60), int)
    prediction = np.zeros_like(reference)
    for label, shift in enumerate((0, 3, 5, 9), start=1):  # IoU 1, 7/13, 5/15, 1/19
        reference[2:18, 15 * label - 14 : 15 * label - 4] = label
        prediction[2:18, 15 * label - 14 + shift : 15 * label - 4 + shift] = label
    advice = pm.advise(reference=reference, prediction=prediction)
    best = advice.facts["object"].best_ious
    between = int(np.count_nonzero((best > 0.1) & (best <= 0.5)))
    assert between == 1
    near = [int(np.count_nonzero((best > t - 0.05) & (best <= t + 0.05))) for t in (0.1, 0.25, 0.5)]
    text = point(advice, "Threshold").evidence[1]
    assert text.startswith("1 of 4 references has its best IoU between 0.1 and 0.5")
    assert text.endswith(f"{near[0]} at τ = 0.1, {near[1]} at τ = 0.25, {near[2]} at τ = 0.5.")


def test_a_mask_is_offered_regions_on_condition() -> None:
    mask = (TISSUE > 0).astype(int)
    mask[:4] = 0
    reference = np.where(mask > 0, TISSUE, 0)
    reference[:, 48] = 0  # a gap, so that references do not fill the image
    reference[:, ::7] = 0
    regions = point(pm.advise(reference=reference, prediction=mask), "Regions")
    assert regions.choice.startswith("if the predictions are masks")
    assert regions.evidence[1].startswith("1 of 1 prediction reaches into two or more references.")


def test_references_that_fill_the_image_leave_regions_out() -> None:
    prediction = phantoms.merge_neighbours(TISSUE, 4)
    assert (TISSUE > 0).mean() > 0.9
    regions = point(pm.advise(reference=TISSUE, prediction=prediction), "Regions")
    assert regions.choice.startswith("leave them out")
    assert "PQ at τ = 0.5 is 1.000" in regions.evidence[1]


def test_labels_that_look_like_classes_come_first() -> None:
    classes = (BALLS > 0).astype(int)
    advice = pm.advise(reference=classes, prediction=classes)
    assert topics(advice)[0] == "Objects"
    assert advice.points[0].evidence == (
        "1 reference label lies in 8 connected components, but each counts as one object.",
    )
    by_component = {"classes": {"ball": {"labels": 1, "instances": "components"}}}
    fine = pm.advise(reference=classes, prediction=classes, spec=by_component)
    assert "Objects" not in topics(fine)
    assert fine.facts["ball"].n_references == 8
    assert "Ids" not in topics(fine)  # numbers of components mean nothing


def test_equal_ids_are_mentioned_with_a_condition() -> None:
    advice = pm.advise(reference=BALLS, prediction=BALLS)
    assert point(advice, "Ids").evidence[0].startswith("8 of 8 pairs")
    moved = pm.advise(reference=BALLS, prediction=np.where(BALLS > 0, BALLS + 1, 0))
    assert "Ids" not in topics(moved)


def test_parts_are_shown_beside_whole_objects() -> None:
    parts = (BALLS > 0).astype(int)
    parts[::2] *= 2
    spec = {"classes": {"ball": {"parts": [1, 2]}}}
    found = pm.advise(
        reference=BALLS, prediction=BALLS, spec=spec,
        reference_parts=parts, prediction_parts=np.where(parts > 0, 1, 0),
    )  # fmt: skip
    assert point(found, "Parts").evidence[0].startswith("One-to-one at τ = 0.5, PQ is 1.000 and P")
    assert "one-to-one (optimal), PartPQ" in found.summary()


def test_nothing_on_a_side_gives_nothing_to_choose() -> None:
    empty = np.zeros_like(BALLS)
    for reference, prediction, said in (
        (empty, empty, "No reference and no prediction holds an object."),
        (empty, BALLS, "No reference holds an object."),
        (BALLS, empty, "No prediction holds an object."),
    ):
        advice = pm.advise(reference=reference, prediction=prediction)
        assert advice.points[0].evidence[0].startswith(said)
        assert topics(advice) == ["Objects", "Report"]
        assert advice.summary()


def test_advice_on_cases_adds_and_counts_empty_ones() -> None:
    empty = np.zeros_like(BALLS)
    cases = [
        pm.advise(reference=BALLS, prediction=phantoms.split(BALLS, 2, ids=[1])),
        pm.advise(reference=BALLS, prediction=BALLS),
        pm.advise(reference=empty, prediction=empty),
    ]
    total = sum(cases[1:], start=cases[0])
    assert total.facts["object"].n_references == 16
    assert "1 of 16 references is split over 2 predictions" in total.summary().replace(
        "\n    ", " "
    )
    report = " ".join(point(total, "Report").evidence)
    assert "3 cases are too few for an interval (5 is the least)" in report
    assert "1 case has no object on either side." in report
    assert (cases[2] + cases[0] + cases[1]).to_dict() == total.to_dict()


def test_one_case_with_most_objects_is_pointed_out() -> None:
    many = pm.advise(reference=BALLS, prediction=BALLS)
    few = pm.advise(reference=np.where(BALLS == 1, 1, 0), prediction=BALLS)
    text = " ".join(point(many + few, "Report").evidence)
    assert "One case has 89% of the references" in text


def test_classes_are_pooled_in_one_screen_and_single_ones_can_be_asked_for() -> None:
    spec = {"classes": {"a": {"labels": [1, 2, 3]}, "b": {"labels": [4, 5, 6, 7, 8]}}}
    prediction = phantoms.miss(BALLS, ids=[2])
    advice = pm.advise(reference=BALLS, prediction=prediction, spec=spec)
    assert advice.pooled.n_references == 8
    assert advice.pooled.n_cases == 1
    assert point(advice, "Classes").evidence == ("2 classes have references; 'b' has 62% of them.",)
    alone = advice.of("a")
    assert "Classes" not in topics(alone)
    assert alone.facts["a"].n_references == 3
    with pytest.raises(PanmatchError, match="class_name='c' is not known"):
        advice.of("c")


def test_stuff_has_nothing_to_choose() -> None:
    spec = {"classes": {"sky": {"kind": "stuff"}}}
    with pytest.raises(PanmatchError, match="stuff is one segment per image"):
        pm.advise(reference=BALLS, prediction=BALLS, spec=spec).summary()


def test_segments_of_a_panoptic_image_are_looked_at_as_well() -> None:
    kind = [pm.SegmentClass(7, "cell")]
    table = dict.fromkeys(range(1, 9), (7, False))
    image = pm.from_segments(BALLS, table, kind)
    advice = pm.advise(reference=image, prediction=image, spec="coco")
    assert advice.facts["cell"].n_references == 8
    assert "Regions" not in topics(advice)  # not offered for this encoding


def test_few_objects_are_shown_as_a_curve() -> None:
    few = pm.advise(reference=BALLS, prediction=phantoms.shift(BALLS, (2, 0)))
    assert point(few, "AUTC").choice.startswith("show the curve rather than AUTC alone")
    reference = phantoms.balls((160, 160), 24, radius=(5, 7), gap=3, seed=2)
    many = pm.advise(reference=reference, prediction=phantoms.shift(reference, (5, 0)))
    assert point(many, "AUTC").choice.startswith("report it")
    same = pm.advise(reference=reference, prediction=reference)
    assert point(same, "AUTC").choice.startswith("optional")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked_for(width: int) -> None:
    advice = pm.advise(reference=BALLS, prediction=phantoms.split(BALLS, 3, ids=[1, 2, 3]))
    lines = advice.summary(width).splitlines()
    assert max(map(len, lines)) <= width
    assert not any(line.endswith(("τ", "τ =")) for line in lines)
    assert str(advice) == advice.summary()


def test_arguments_are_by_keyword_and_errors_name_them() -> None:
    with pytest.raises(PanmatchError, match="prediction"):
        pm.advise(reference=BALLS, prediction=BALLS[:5])
    with pytest.raises(PanmatchError):
        pm.advise(BALLS, BALLS)  # type: ignore[call-arg]


def test_chunked_images_give_the_same_scores_and_leave_contacts_unknown() -> None:
    dask = pytest.importorskip("dask.array")
    prediction = phantoms.split(BALLS, 2, ids=[1, 2])
    whole = pm.advise(reference=BALLS, prediction=prediction)
    chunks = [dask.from_array(image, chunks=24) for image in (BALLS, prediction)]
    chunked = pm.advise(reference=chunks[0], prediction=chunks[1])
    assert chunked.to_dict()["scores"] == whole.to_dict()["scores"]
    assert chunked.facts["object"].touching_refs is None
    assert whole.facts["object"].touching_refs == 0


def test_the_components_of_the_graph_are_told() -> None:
    reference = np.array([1, 1, 1, 1, 0, 2, 2, 2, 2, 0, 3, 3])
    prediction = np.array([1, 1, 2, 2, 0, 3, 3, 3, 3, 0, 0, 0])
    advice = pm.advise(reference=reference, prediction=prediction)
    strategy = next(point for point in advice.points if point.topic == "Strategy")
    told = (
        "At τ = 0.1 the objects fall into 3 components (references–predictions): "
        "1 × reference alone, 1 × 1–1, 1 × 1–n."
    )
    assert told in strategy.evidence
    assert not [point for point in advice.points if point.topic == "Clustering"]
    facts = advice.to_dict()["facts"]["object"]["components_by_kind"]
    assert facts["1-n"]["predictions"] == 2
    assert (advice + advice).facts["object"].structure.components["1-n"] == 2


def test_a_knot_of_splits_and_merges_calls_for_clustering_scores() -> None:
    reference = np.array([1, 1, 1, 1, 2, 2, 2, 2])
    prediction = np.array([1, 1, 2, 2, 2, 2, 3, 3])
    advice = pm.advise(reference=reference, prediction=prediction)
    point = next(point for point in advice.points if point.topic == "Clustering")
    assert "variation_of_information" in point.choice
    assert point.evidence == (
        "2 of 2 references are in 1 component of several references and several predictions "
        "(IoU above 0.1), 3 predictions in all.",
    )
