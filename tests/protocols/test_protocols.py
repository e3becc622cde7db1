"""What protocol files promise: specs that hold, names that exist, errors that say what to do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import protocols
from panmatch.errors import OptionError
from panmatch.protocols import Protocol, find_protocol, protocol_names, protocol_numbers
from panmatch.protocols._numbers import COUNTS, PART_QUALITY, SIZES
from tests.peers.protocols.scenes import lesions

VARIANTS = [
    *protocol_names(),
    *(f"{name}/{one}" for name in protocol_names() for one in find_protocol(name).variants),
]
REFERENCE = np.array([[1, 1, 1, 1, 0, 2, 2, 0, 3]])
PREDICTION = np.array([[4, 4, 0, 0, 0, 5, 5, 0, 0]])


def over_cases(name: str, *cases: tuple[Any, Any], classes: Any = None) -> dict[Any, float]:
    """Return the numbers of several cases by case and name; case None is all of them together."""
    protocol = find_protocol(name, classes and {"classes": classes})
    evaluator = pm.Evaluator(protocol.as_spec)
    for reference, prediction in cases:
        evaluator.update(reference=reference, prediction=prediction, spacing=1)
    numbers = protocol_numbers(evaluator.compute(), protocol)
    return {(number.case, number.name): number.value for number in numbers}


def test_every_protocol_says_where_it_departs_and_how_it_was_verified() -> None:
    assert len(protocol_names()) == 12
    for name in protocol_names():
        found = find_protocol(name)
        assert found.source.startswith("https://")
        assert found.departs
        assert "recorded in the tests" in found.verified
        assert all(text.endswith(".") for text in (*found.departs, found.reproduces))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_number_is_one_that_the_result_has(name: str) -> None:
    protocol = find_protocol(name)
    spec, ours = protocol.as_spec, protocol.our_spec
    for number in protocol.numbers.values():
        if number.value is None:
            for score in filter(None, (number.score, number.otherwise, *number.per)):
                assert is_known(score, number.threshold, spec), (name, score)
        if number.ours is not None:
            assert is_known(number.ours.score, number.ours.threshold, ours), (name, number.ours)


def is_known(score: str, threshold: float | None, spec: pm.Spec) -> bool:
    empty = pm.evaluate(reference=[[0]], prediction=[[0]], spec={}).cases
    known = pm.Result(spec, empty[:0]).known_scores
    parts = {"part_pq", "part_sq", PART_QUALITY} if spec.has_parts else set()
    spreads = {f"sq_{metric}_std" for metric in spec.metrics} | {"sq_std"}
    if threshold is None:
        return score in known and not score.startswith(("pq", "sq", "rq"))
    return threshold in spec.thresholds and score in {*known, *COUNTS, *SIZES, *parts, *spreads}


def test_a_name_that_is_not_known_suggests_the_nearest() -> None:
    for name, hint in {"brats-2023": "brats-2023-lesionwise", "star-dist": "stardist"}.items():
        with pytest.raises(
            OptionError, match=f"protocol='{name}' is not known; did you mean '{hint}'"
        ):
            protocols.run(name, reference=REFERENCE, prediction=PREDICTION)
    with pytest.raises(OptionError, match=r"variant of autopet='fourth' is not known.* 'third'"):
        protocols.run("autopet/fourth", reference=REFERENCE, prediction=PREDICTION)


def test_numbers_in_mm_need_a_spacing() -> None:
    with pytest.raises(
        OptionError, match="has no spacing, but isles-2022 reports numbers in mm: pass"
    ):
        protocols.run("isles-2022", reference=REFERENCE, prediction=PREDICTION)
    found = protocols.run("isles-2022", reference=REFERENCE, prediction=PREDICTION, spacing=10)
    assert found["absolute_volume_difference"] == pytest.approx(3 * 100 / 1000)  # pixels of 100 mm²


def test_classes_of_a_program_stay_those_of_the_program() -> None:
    with pytest.raises(OptionError, match="the protocol 'brats-mets' uses the classes of its"):
        protocols.run("brats-mets", reference=REFERENCE, prediction=PREDICTION, classes={"a": 1})
    with pytest.raises(OptionError, match="classes=7 must be a mapping such as"):
        protocols.run("stardist", reference=REFERENCE, prediction=PREDICTION, classes=7)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["brats-2023-lesionwise", "brats-mets"])
@pytest.mark.parametrize("strange", [4, 7, 255, 256, 65536, 10**12, -1, -(2**40)])
def test_brats_takes_all_labels_but_1_to_3_for_background(name: str, strange: int) -> None:
    # Strange labels bridge lesions, cover some of them, and stand alone.
    scene = {one.name: one for one in lesions()}["drawn 5"]
    sides: dict[str, Any] = {
        "reference": scene.reference.astype(np.int64),
        "prediction": scene.prediction.astype(np.int64),
    }
    for i, side in enumerate(sides.values()):
        side[4 + i : 24 : 3, 8:12] = strange
        side[-2:, -2:, -2:] = strange
    known: dict[str, Any] = {
        key: np.where((side > 0) & (side < 4), side, 0) for key, side in sides.items()
    }
    assert any((side != known[key]).any() for key, side in sides.items())
    found = protocols.run(name, **sides, spacing=scene.spacing)
    assert found == protocols.run(name, **known, spacing=scene.spacing)
    assert found != protocols.run(
        name, reference=scene.reference, prediction=scene.prediction, spacing=scene.spacing
    )


def test_one_class_has_the_names_of_the_program_and_several_begin_with_theirs() -> None:
    one = protocols.run("stardist", reference=REFERENCE, prediction=PREDICTION)
    assert one["n_true"] == 3
    classes = {"first": 1, "others": {"labels": [2, 3, 4, 5]}}
    several = protocols.run("stardist", reference=REFERENCE, prediction=PREDICTION, classes=classes)
    assert (several["first/n_true"], several["others/n_true"]) == (1, 2)
    assert "n_true" not in several


def test_what_a_program_makes_of_labels_is_not_for_classes_to_say() -> None:
    image = np.array([[2, 0, 2, 0, 1]])
    classes = {"lesion": {"labels": [1, 2], "instances": "ids"}}
    chosen = find_protocol("isles-2022", {"classes": classes}).as_spec.classes["lesion"]
    assert (chosen.instances, chosen.numbers) == ("components", (1, 2))
    nothing = np.zeros_like(image)
    found = protocols.run(
        "isles-2022", reference=image, prediction=nothing, classes=classes, spacing=1
    )
    assert found["absolute_lesion_difference"] == 3


def test_an_iou_that_equals_the_threshold_matches_where_the_program_lets_it() -> None:
    # 4 overlaps 1 by exactly one half.
    for name in ("stardist", "panoptica-2.1.7"):
        assert protocols.run(name, reference=REFERENCE, prediction=PREDICTION)["tp"] == 2
    assert protocols.run("cellpose", reference=REFERENCE, prediction=PREDICTION)["tp/0.5"] == 2
    assert pm.match(pm.count_overlaps(REFERENCE, PREDICTION), threshold=0.5).tally.tp == 1


def test_cases_are_averaged_pooled_or_added_as_the_program_does() -> None:
    one, other = np.array([[1, 0, 2, 0, 3]]), np.array([[1, 0, 0, 0, 0]])
    cases = (one, one), (other, 2 * other[:, ::-1])
    found = over_cases("stardist", *cases)
    assert found["0000", "f1"] == 1
    assert found["0001", "f1"] == 0
    assert found[None, "tp"] == 3  # added
    assert found[None, "f1"] == pytest.approx(6 / 8)  # pooled
    assert over_cases("cellpose", *cases)[None, "ap/0.5"] == 0.5  # the mean
    assert over_cases("panoptica-2.1.7", *cases)[None, "tp"] == 1.5


def test_a_class_without_any_voxel_makes_the_mean_of_nnunet_undefined() -> None:
    classes = {"a": 1, "b": 2}
    found = over_cases("nnunet-summary", ([[1, 0]], [[1, 1]]), classes=classes)
    assert found[None, "mean/1/Dice"] == pytest.approx(2 / 3)
    assert math.isnan(found[None, "mean/2/Dice"])
    assert math.isnan(found[None, "foreground_mean/Dice"])
    assert found[None, "foreground_mean/TP"] == 0.5
    both = over_cases("nnunet-summary", ([[1, 0]], [[1, 1]]), ([[1, 2]], [[1, 2]]), classes=classes)
    assert both[None, "mean/2/Dice"] == 1  # of the one case that has it
    assert both[None, "foreground_mean/Dice"] == pytest.approx((5 / 6 + 1) / 2)


def test_means_over_classes_leave_out_those_that_do_not_occur() -> None:
    road, sky, car = 7, 23, 26001
    reference = np.array([[road, road, sky, sky, car, car]])
    prediction = np.array([[road, road, sky, car, car, car]])
    found = protocols.run("cityscapes", reference=reference, prediction=prediction)
    assert (found["All/n"], found["Things/n"], found["Stuff/n"]) == (3, 1, 2)
    assert found["Stuff/pq"] == 0.5  # half of the sky is exactly ½, and so not above
    assert found["Things/pq"] == pytest.approx(2 / 3)
    assert found["per_class/8/pq"] == 0


def test_a_protocol_refuses_what_it_does_not_know() -> None:
    content = find_protocol("stardist").model_dump()
    for numbers in ({"{word}": {"score": "pq"}}, {"{class}": {"score": "pq", "of": "a"}}):
        with pytest.raises(ValueError, match=r"may have \{class\} or \{label\}, or `of`"):
            Protocol.model_validate({**content, "numbers": numbers})
    with pytest.raises(ValueError, match="the key 'versoin' is not known; did you mean 'version'"):
        Protocol.model_validate({**content, "versoin": "1"})
