"""Ids that look shifted or unrelated, where a spec relies on them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.evaluation import Notice, Result
from panmatch.evaluation._notices import find_id_mistakes
from tests.scenes import Labels

BY_ID = {"matching": ["same-id", "one-to-one"], "metrics": []}


def row_of(ids: list[int], size: int = 4) -> Labels:
    """Objects of equal size side by side, with these ids."""
    return np.repeat(np.array(ids), size)[np.newaxis]


def overlap_of(ref: list[int], pred: list[int]) -> pm.Overlap:
    return pm.count_overlaps(row_of(ref), row_of(pred))


def kinds(ref: list[int], pred: list[int]) -> list[str]:
    return [notice.kind for notice in find_id_mistakes(overlap_of(ref, pred), "cell", "a", "")]


@pytest.mark.parametrize("step", [1, -1, 7])
def test_a_constant_difference_is_a_shift(step: int) -> None:
    ids = list(range(10, 20))
    (found,) = find_id_mistakes(overlap_of(ids, [i + step for i in ids]), "cell", "a", "unet")
    assert (found.kind, found.cases, found.model) == ("shifted-ids", ("a",), "unet")
    assert f"predicted ids of cell look shifted by {step:+d}:" in found.text
    assert "use one-to-one" in found.text
    assert found.sentence.startswith("unet: predicted ids")


def test_other_differences_are_unrelated_ids() -> None:
    assert kinds([1, 2, 3, 4], [9, 7, 4, 1]) == ["unrelated-ids"]
    assert kinds([1, 2, 3, 4], [2, 1, 4, 3]) == ["unrelated-ids"]


def test_equal_ids_are_fine_up_to_a_fifth_of_wrong_ones() -> None:
    ids = list(range(1, 11))
    assert kinds(ids, ids) == []
    # 3 of 10 are equal: still fine. 2 of 10: not, and the 8 others are a shift by 20.
    assert kinds(ids, [1, 2, 3, *(i + 20 for i in ids[3:])]) == []
    assert kinds(ids, [1, 2, *(i + 20 for i in ids[2:])]) == ["shifted-ids"]
    assert kinds(ids, [1, 2, 99, *(i + 20 for i in ids[3:])]) == ["unrelated-ids"]


def test_few_partners_say_nothing() -> None:
    assert kinds([1, 2], [2, 3]) == []
    assert kinds([1, 2, 3], [2, 3, 4]) == ["shifted-ids"]
    assert kinds([], []) == []
    # Three partners, but most references have none.
    assert kinds([1, 2, 3, 4, 5, 6], [2, 3, 4, 0, 0, 0]) == ["shifted-ids"]
    assert kinds([1, 2, 3, 4, 5, 6, 7], [2, 3, 4, 0, 0, 0, 0]) == []


def test_partners_share_more_than_half_of_their_union() -> None:
    reference = row_of([1, 2, 3], 4)
    half, more = reference.copy(), reference.copy()
    for at in range(3):
        half[0, 4 * at : 4 * at + 2] = more[0, 4 * at] = 0
    for image, expected in ((half, []), (more, ["shifted-ids"])):
        shifted = np.where(image > 0, image + 1, 0)
        found = find_id_mistakes(pm.count_overlaps(reference, shifted), "cell", "a", "")
        assert [notice.kind for notice in found] == expected


def test_evaluate_warns_only_where_ids_decide() -> None:
    sides: dict[str, Any] = {
        "reference": row_of([1, 2, 3, 4]),
        "prediction": row_of([2, 3, 4, 5]),
    }
    with pytest.warns(pm.PanmatchWarning, match=r"object look shifted by \+1") as caught:
        found = pm.evaluate(**sides, spec=BY_ID)
    assert caught[0].filename == __file__
    assert found.scores.set_index("strategy").pq.to_dict() == {"same-id": 0.0, "one-to-one": 1.0}
    assert [notice.kind for notice in found.notices] == ["shifted-ids"]
    assert "cases" not in found.notices[0].text  # there is one
    assert pm.evaluate(**sides).notices == []  # warnings are errors here


def test_numbers_of_components_are_not_ids() -> None:
    gaps = np.array([[1, 0, 1, 0, 1, 0, 1, 0, 1]])
    classes = {"spot": {"labels": 1, "instances": "components"}}
    spec = BY_ID | {"classes": classes, "thresholds": 0.5}
    without_first = gaps.copy()
    without_first[0, 0] = 0
    found = pm.evaluate(reference=gaps, prediction=without_first, spec=spec)
    assert found.scores.set_index("strategy").pq["same-id"] == 0.0
    assert found.notices == []


def test_cases_with_the_same_mistake_share_a_notice_and_keep_it_in_files() -> None:
    evaluator = pm.Evaluator(BY_ID)
    for model, step in (("a", 1), ("b", 1)):
        for at in range(6):
            by = step if at != 2 else 0
            evaluator.update(
                reference=row_of([1, 2, 3]), prediction=row_of([1 + by, 2 + by, 3 + by]),
                case=f"c{at}", model=model,
            )  # fmt: skip
    with pytest.warns(pm.PanmatchWarning):
        result = evaluator.compute()
    assert [(notice.model, notice.cases) for notice in result.notices] == [
        ("a", ("c0", "c1", "c3", "c4", "c5")),
        ("b", ("c0", "c1", "c3", "c4", "c5")),
    ]
    assert result.notices[0].text.endswith("(5 of 6 cases: c0, c1, c3 and 2 more)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Result.from_json(result.to_json())
    assert again.notices == result.notices


def test_results_of_before_have_no_notices() -> None:
    case = pm.evaluate(reference=[[1]], prediction=[[1]]).cases[0]
    content = case.to_dict()
    del content["notices"]
    assert type(case).from_dict(content).notices == ()
    notice = Notice("few-cases", "no interval", ("a", "b"), "m", "classes: {}")
    assert Notice.from_dict(notice.to_dict()) == notice
