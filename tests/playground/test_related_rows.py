"""Other metrics beside the page: the library's values, or null with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import related
from panmatch.labels import connected_components
from panmatch.playground._score_rows import (
    LabelPair,
    image_metric_rows,
    overlap_metric_rows,
    pending_rows,
)
from panmatch.playground._validation import Message
from tests.playground.drawn_scenes import MIXED

REFERENCE = np.zeros((12, 14, 16), np.int32)
REFERENCE[1:5, 1:6, 1:7], REFERENCE[1:5, 6:9, 1:7], REFERENCE[7:11, 3:9, 9:15] = 5, 6, 9
PREDICTION = np.zeros_like(REFERENCE)
PREDICTION[2:6, 1:9, 2:7], PREDICTION[8:11, 3:6, 9:15], PREDICTION[0, 12, 14] = 2, 4, 7
SPACING = (3.0, 1.0, 0.5)


def values(rows: list[Message]) -> dict[str, float | None]:
    return {row["id"]: row["value"] for row in rows}


def test_metrics_of_the_overlap_are_those_of_the_library() -> None:
    overlap = pm.count_overlaps(REFERENCE, PREDICTION)
    both = np.count_nonzero((REFERENCE > 0) & (PREDICTION > 0))
    sizes = np.count_nonzero(REFERENCE) + np.count_nonzero(PREDICTION)
    assert values(overlap_metric_rows(overlap, 0.3)) == {
        "foreground-dice": 2 * both / sizes,
        "foreground-iou": both / (sizes - both),
        "sorted-ap": related.sorted_ap(overlap),
        "npq": related.npq(overlap),
        "aji": related.aji(overlap),
        "accuracy": related.stardist_scores(overlap, 0.3)[0].accuracy,
    }


def test_metrics_of_components_are_those_of_the_library_with_spacing() -> None:
    found = values(image_metric_rows(LabelPair(REFERENCE, PREDICTION, SPACING)))
    images: dict[str, Any] = {"reference": REFERENCE, "prediction": PREDICTION}
    components = pm.count_overlaps(*map(connected_components, images.values()))
    assert len(components.ref_ids) == 2  # two of the three labels touch
    assert found == {
        "cc-dice": related.cc_metric(**images, metric="dice", spacing=SPACING).mean,
        "ccdice": related.ccdice(components),
        "cluster-dice": related.cluster_dice(**images),
        "lesionwise-dice": related.lesionwise_dice(**images, spacing=SPACING),
    }
    assert (
        found["cc-dice"] != values(image_metric_rows(LabelPair(REFERENCE, PREDICTION)))["cc-dice"]
    )


def test_a_row_has_a_name_a_line_about_it_and_a_note_only_where_it_is_undefined() -> None:
    overlap = pm.count_overlaps(REFERENCE, PREDICTION)
    rows = overlap_metric_rows(overlap, 0.0) + image_metric_rows(LabelPair(REFERENCE, PREDICTION))
    assert all(row["name"] and row["about"] for row in rows)
    assert len({row["id"] for row in rows}) == len(rows)
    without = [row for row in rows if row["value"] is None]
    assert [row["id"] for row in without] == ["accuracy"]
    assert "Undefined at τ = 0" in without[0]["note"]
    assert all(row["note"] is None for row in rows if row["value"] is not None)


@pytest.mark.parametrize(("n_ref", "n_pred"), [(0, 0), (0, 1), (1, 0)])
def test_undefined_metrics_are_null_with_the_reason(n_ref: int, n_pred: int) -> None:
    reference, prediction = REFERENCE * n_ref, PREDICTION * n_pred
    rows = overlap_metric_rows(pm.count_overlaps(reference, prediction), 0.5)
    rows += image_metric_rows(LabelPair(reference, prediction))
    undefined = {row["id"]: row["note"] for row in rows if row["value"] is None}
    if n_ref:
        assert undefined == {}
    elif n_pred:
        assert list(undefined) == ["cc-dice"]
        assert "no reference" in undefined["cc-dice"]
    else:
        assert len(undefined) == len(rows)
        assert "neither side" in undefined["npq"]
    assert [row["value"] for row in rows if row["value"] is not None] == [0.0] * (
        len(rows) - len(undefined)
    )


def test_rows_that_are_not_known_yet_are_those_that_come_later() -> None:
    pending = pending_rows()
    final = image_metric_rows(LabelPair(*MIXED.label_images()))
    assert [row["id"] for row in pending] == [row["id"] for row in final]
    assert all(row["value"] is None and "Computing" in row["note"] for row in pending)
