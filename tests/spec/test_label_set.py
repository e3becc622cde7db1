"""Labels as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import SpecError
from panmatch.spec import ClassSpec, as_spec


@pytest.mark.parametrize(
    ("written", "kept", "numbers"),
    [
        (3, (3,), (3,)),
        ([1, 3], (1, 3), (1, 3)),
        ((3, 1), (3, 1), (3, 1)),
        ("100-102", ("100-102",), (100, 101, 102)),
        (" 7 - 8 ", ("7-8",), (7, 8)),
        ("007-9", ("7-9",), (7, 8, 9)),
        ([1, "5-7", 9], (1, "5-7", 9), (1, 5, 6, 7, 9)),
        ("4-4", ("4-4",), (4,)),
        ("1-1000000", ("1-1000000",), tuple(range(1, 1_000_001))),
        ("all", "all", None),
    ],
)
def test_labels_stay_as_written_and_know_their_numbers(
    written: Any, kept: Any, numbers: Any
) -> None:
    found = ClassSpec(labels=written)
    assert found.labels == kept
    assert found.numbers == numbers


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (-1, (-1,)),
        ("-3--1", (-3, -2, -1)),
        (" -1 - 1 ", (-1, 0, 1)),
        ([-9, "-2-0"], (-9, -2, -1, 0)),
    ],
)
def test_markers_may_be_negative_also_in_ranges(written: Any, numbers: tuple[int, ...]) -> None:
    spec = as_spec({"background": written})
    assert spec.background_labels == numbers
    assert as_spec(spec.model_dump()).background == spec.background


NO_LABEL = "is not a label: write 3, [1, 3], '100-199' or, for a class, 'all'"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("7-3", "the range '7-3' must be ascending, with fewer than 1,000,000 labels"),
        ("1-1000001", "the range '1-1000001' must be ascending, with fewer than 1,000,000 labels"),
        ([2, "1-3"], "names the label 2 more than once"),
        (["1-5", "5-9"], "names the label 5 more than once"),
        ([4, 4], "names the label 4 more than once"),
        (-1, f"-1 {NO_LABEL}"),
        ("-3-5", f"'-3-5' {NO_LABEL}"),
        ("-3--1", f"'-3--1' {NO_LABEL}"),
        (True, f"True {NO_LABEL}"),
        (2.0, f"2.0 {NO_LABEL}"),
        (None, f"None {NO_LABEL}"),
        ("3", f"'3' {NO_LABEL}"),
        ("1-2-3", f"'1-2-3' {NO_LABEL}"),
        (["all"], f"'all' {NO_LABEL}"),
        ([], "labels is empty: name at least one, or 'all'"),
    ],
)
def test_anything_else_is_refused_with_its_place(written: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        as_spec({"classes": {"cell": {"labels": written}}})
    assert message in str(caught.value)
    assert "\n  classes.cell" in str(caught.value)


@pytest.mark.parametrize("key", ["void", "background", "not_parts"])
def test_only_classes_may_have_all_labels(key: str) -> None:
    with pytest.raises(SpecError, match=rf"\n  {key}: 'all' is not a label"):
        as_spec({key: "all"})
    assert as_spec({key: [255, "7-9"]}).model_dump()[key] == (255, "7-9")
    assert as_spec({key: []}).model_dump()[key] == ()


def test_a_class_may_have_one_part_or_several() -> None:
    assert as_spec({"classes": {"cell": {"parts": 1}}}).has_parts
    assert as_spec({"classes": {"cell": {"parts": "4-4"}}}).has_parts
    assert ClassSpec(parts="4-5").parts == ("4-5",)  # type: ignore[arg-type]
    assert ClassSpec().parts == ()


@pytest.mark.parametrize("key", ["void", "background"])
def test_labels_that_mark_no_objects_may_be_negative(key: str) -> None:
    assert as_spec({key: [-1, "7-9"]}).model_dump()[key] == (-1, "7-9")
    with pytest.raises(SpecError, match="names the label -1 more than once"):
        as_spec({key: [-1, -1]})


def test_all_labels_of_no_class_may_be_background() -> None:
    spec = as_spec(
        {"classes": {"a": {"labels": 1}, "b": {"labels": [2, 3]}}, "background": "others"}
    )
    reference, prediction = np.array([1, 1, 9, 2, 2, -4, 3]), np.array([1, 1, 1, 2, 10**15, 0, 3])
    known = [np.where(np.isin(side, [1, 2, 3]), side, 0) for side in (reference, prediction)]
    found = pm.evaluate(reference=reference, prediction=prediction, spec=spec)
    expected = pm.evaluate(reference=known[0], prediction=known[1], spec=spec)
    assert found.scores.equals(expected.scores)
    assert found.scores["tp"].sum() > 0
    assert as_spec(spec.model_dump(mode="json")) == spec
    with pytest.raises(pm.PanmatchError, match="label"):
        pm.evaluate(
            reference=reference, prediction=prediction,
            spec=spec.model_copy(update={"background": ()}),
        )  # fmt: skip


def test_all_others_are_none_where_a_class_has_all_labels() -> None:
    with pytest.raises(SpecError, match=r"classes\.a has all labels, so there are none left"):
        as_spec({"classes": {"a": {"labels": "all"}}, "background": "others"})
