"""Every reason why a program and we disagree about an object, on a scene made for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch.evaluation import Images
from panmatch.protocols import Explanation, explain, explain_case, find_protocol

Labels = npt.NDArray[np.int64]
SHAPE = (30, 12, 12)


def explained(name: str, reference: Any, prediction: Any, spacing: Any = 1) -> Explanation:
    protocol = find_protocol(name)
    one, other = np.asarray(reference), np.asarray(prediction)
    result = pm.evaluate(
        reference=one, prediction=other, spec=protocol.as_spec, spacing=spacing, case="p7"
    )
    (theirs,) = result.cases
    case = explain_case(protocol, theirs, Images(one), Images(other), theirs.spacing, theirs.unit)
    (found,) = explain(protocol, result, [case])
    return found


def boxes(*slabs: tuple[int, int, int]) -> Labels:
    """Return boxes of a label 3: from and to along the first axis, and their width."""
    image = np.zeros(SHAPE, np.int64)
    for start, stop, width in slabs:
        image[start:stop, :width, :width] = 3
    return image


def verdicts(found: Explanation, class_name: str = "ET") -> list[tuple[str, int, str, str, str]]:
    return [
        (one.side, one.id, one.theirs, one.ours, one.reason)
        for one in found.differences
        if one.class_name == class_name
    ]


def test_an_iou_that_equals_the_threshold() -> None:
    found = explained("stardist", [[1, 1, 1, 1, 0, 2]], [[4, 4, 0, 0, 0, 5]], (1, 2))
    (one,) = found.differences
    assert verdicts(found, "object")[0][:4] == ("reference", 1, "matched", "missed")
    assert (one.voxels, one.volume, one.iou) == (4, 8.0, 0.5)
    assert one.reason == "IoU is exactly 0.5: ≥ matches, > does not."
    numbers = {number.name: (number.theirs, number.ours) for number in found.numbers}
    assert list(numbers["tp"]) == [2, 1]
    assert list(numbers["panoptic_quality"]) == [0.75, 0.5]
    assert found.numbers[0].our_name == "FP at 0.5"
    assert found.our_setting == "one-to-one (optimal)"


def test_a_lesion_that_is_too_small_to_count() -> None:
    reference = boxes((0, 8, 8), (20, 25, 2))
    found = explained("brats-2023-lesionwise", reference, reference)
    expected = "20 mm³: lesions up to 50 mm³ do not count."
    assert verdicts(found) == [("reference", 2, "left out", "matched", expected)]
    assert explained("brats-mets", reference, reference).differences == ()


def test_a_lesion_of_exactly_the_smallest_volume_does_not_count() -> None:
    reference = np.zeros(SHAPE, np.int64)
    reference[:5, :5, :2] = 3
    found = explained("brats-2023-lesionwise", reference, reference)
    assert verdicts(found)[0][4] == "50 mm³: lesions up to 50 mm³ do not count."
    reference[5, 0, 0] = 3
    assert explained("brats-2023-lesionwise", reference, reference).differences == ()


def test_lesions_that_dilation_joins() -> None:
    reference = boxes((0, 6, 4), (12, 18, 5))  # 6 apart: three rounds from either side meet
    found = explained("brats-2023-lesionwise", reference, reference)
    assert verdicts(found) == [
        ("reference", 2, "joined", "matched", "Joined with lesion 1 by 3 rounds of dilation."),
        ("reference", 1, "joined", "matched", "Joined with lesion 2 by 3 rounds of dilation."),
    ]
    apart = boxes((0, 6, 4), (13, 19, 5))
    assert explained("brats-2023-lesionwise", apart, apart).differences == ()


def test_any_overlap_finds_a_lesion() -> None:
    found = explained("isles-2022", boxes((0, 8, 4)), boxes((7, 9, 4)))
    expected = "Any overlap counts as found; ours needs IoU > 0.5."
    assert verdicts(found, "lesion") == [("reference", 1, "matched", "missed", expected)]
    numbers = {number.name: (number.theirs, number.ours) for number in found.numbers}
    assert numbers["lesion_f1_score"] == (1, 0)


def test_a_prediction_beside_a_lesion_belongs_to_it_after_dilation() -> None:
    found = explained("brats-2023-lesionwise", boxes((0, 8, 4)), boxes((9, 12, 4)))
    assert verdicts(found) == [
        ("reference", 1, "matched", "missed",
         "Any overlap after 3 rounds of dilation counts as found; ours needs IoU > 0.5."),
        ("prediction", 1, "matched", "spurious",
         "It touches a lesion after 3 rounds of dilation, so it is not a false positive; ours "
         "needs IoU > 0.5."),
    ]  # fmt: skip


def test_a_prediction_of_a_lesion_that_is_too_small_is_left_out() -> None:
    found = explained("brats-2023-lesionwise", boxes((0, 4, 2)), boxes((5, 9, 3)))
    assert [one[:4] for one in verdicts(found)] == [
        ("prediction", 1, "left out", "spurious"),
        ("reference", 1, "left out", "missed"),
    ]
    assert verdicts(found)[0][4] == "It touches only lesions that are too small to count."


def test_cc_metrics_counts_no_false_positives() -> None:
    reference, prediction = boxes((0, 8, 4)), boxes((0, 3, 4), (20, 22, 4))
    found = explained("cc-metrics-0.0.3", reference, prediction)
    assert [one[:4] for one in verdicts(found, "lesion")] == [
        ("reference", 1, "matched", "missed"),
        ("prediction", 2, "matched", "spurious"),
    ]
    assert verdicts(found, "lesion")[0][4] == (
        "Everything predicted in its region counts: Dice 0.462."
    )


def test_nnunet_counts_voxels() -> None:
    lines = explained("nnunet-summary", boxes((0, 8, 4)), boxes((0, 3, 4))).lines()
    assert lines[-1] == "The program counts voxels, so no object makes a difference."


def test_nothing_to_explain() -> None:
    reference = boxes((0, 8, 4))
    found = explained("brats-mets", reference, reference)
    assert found.lines()[-1] == "Both judge every object alike."
    assert not any(number.differ for number in found.numbers if "Num" in number.name)


def test_the_largest_come_first_and_classes_that_agree_share_a_line() -> None:
    reference = np.zeros((100, 12, 12), np.int64)
    for i in range(12):
        reference[8 * i, : 1 + i % 4, : i // 4 + 1] = 3
    found = explained("brats-2023-lesionwise", reference, reference)
    lines = found.lines(most=5)
    at = lines.index("Objects on which the two disagree, largest first:")
    assert lines[at + 1].startswith("p7, WT, TC, ET, reference 12 (12 mm³, IoU 1): left out, ours ")
    assert len(lines[at + 1 :]) == 6
    assert lines[-1] == "… and 7 more"
    sizes = [one.voxels for one in found.differences]
    assert sizes == sorted(sizes, reverse=True)
