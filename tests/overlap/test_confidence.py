"""Confidences of predictions: given, read from files and images, and cut."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import FileError, LabelError, OverlapError, ShapeError


def overlap() -> pm.Overlap:
    return pm.count_overlaps([1, 1, 0, 2], [4, 4, 7, 9])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.1, 0.2], "confidence has shape (2,), but there are 3 predictions with the ids 4, 7, 9"),
        ([0.1, np.nan, 0.2], "the confidence of prediction 7 is nan"),
        ([0.1, np.inf, 0.2], "the confidence of prediction 7 is inf"),
        (["a", 1, 2], "confidence must hold numbers"),
        ({4: 0.1, 7: 0.2}, "the predictions 9 have no confidence"),
        ({4: 0.1, 7: 0.2, 9: 0.1, 11: 1}, "unknown ids 11; the predictions have the ids 4, 7, 9"),
    ],
)
def test_every_prediction_needs_one_finite_confidence(values: Any, message: str) -> None:
    with pytest.raises(OverlapError, match=re.escape(message)):
        overlap().with_confidence(values)


def test_a_cut_keeps_what_reaches_it() -> None:
    scored = overlap().with_confidence([0.5, 0.2, 0.5])
    assert scored.above_cut(0.5).pred_ids.tolist() == [4, 9]
    assert scored.above_cut(0.5000001).pred_ids.tolist() == []
    kept = scored.above_cut(0.5)
    assert kept.confidence is not None
    assert kept.confidence.tolist() == [0.5, 0.5]
    assert pm.match(kept).pairs.tolist() == [[1, 4], [2, 9]]
    with pytest.raises(OverlapError, match="with_confidence"):
        overlap().above_cut(0.5)


def test_a_cut_equals_counting_without_the_others() -> None:
    rng = np.random.default_rng(0)
    for counted in (pm.count_overlaps, pm.count_region_overlaps):
        for _ in range(20):
            reference, prediction = rng.integers(0, 5, (2, 5, 6))
            ov = counted(reference, prediction)
            confidence = dict(
                zip(ov.predictions.ids.tolist(), rng.random(len(ov.predictions.ids)), strict=True)
            )
            low = [one for one, value in confidence.items() if value < 0.5]
            expected = counted(reference, np.where(np.isin(prediction, low), 0, prediction))
            found = ov.with_confidence(confidence).above_cut(0.5)
            for strategy in ("one-to-one", "many-to-one"):
                assert (
                    pm.match(found, strategy, 0.2).tally == pm.match(expected, strategy, 0.2).tally
                )


def test_a_cut_through_masks_keeps_what_they_share() -> None:
    masks = np.zeros((3, 1, 6), np.bool_)
    masks[0, :, :3] = masks[1, :, 2:5] = masks[2, :, 4:] = True
    ov = pm.Overlap.from_masks([masks.any(axis=0)], masks, confidence=[0.9, 0.8, 0.1])
    assert pm.match(ov.above_cut(0.5), "many-to-one", 0.4).tally.quality == 5 / 6
    assert ov.above_cut(0.85).sharing is None


def test_confidences_of_chunks_are_joined() -> None:
    sides = np.array([[1, 1, 0, 2], [4, 4, 7, 9]])
    left, right = (pm.count_overlaps(*sides[:, cols]) for cols in (slice(0, 3), slice(1, 4)))
    both = left.with_confidence({4: 0.5, 7: 0.1}) + right.with_confidence({4: 0.5, 7: 0.1, 9: 1})
    assert both.confidence is not None
    assert both.confidence.tolist() == [0.5, 0.1, 1]
    with pytest.raises(OverlapError, match=r"prediction 4 has the confidence 0\.5 in one overlap"):
        _ = left.with_confidence([0.5, 0.1]) + right.with_confidence([0.6, 0.1, 1])
    with pytest.raises(OverlapError, match="both have confidences or neither"):
        _ = left + right.with_confidence([0.5, 0.1, 1])


def test_confidences_survive_files(tmp_path: Path) -> None:
    scored = overlap().with_confidence([0.1, 0.2, 1 / 3])
    pm.save_overlap(scored, tmp_path / "overlap.npz")
    assert pm.load_overlap(tmp_path / "overlap.npz") == scored
    assert pm.Overlap.from_json(scored.to_json()) == scored
    assert scored != overlap()


@pytest.mark.parametrize(
    ("reduce", "expected"), [("max", {4: 0.75, 7: 0.25}), ("mean", {4: 0.625, 7: 0.25})]
)
def test_an_image_is_reduced_segment_by_segment(reduce: Any, expected: dict[int, float]) -> None:
    labels, values = np.array([[4, 4, 0, 7]]), np.array([[0.5, 0.75, np.nan, 0.25]])
    assert pm.confidences_from_image(labels, values, reduce) == expected
    assert pm.confidences_from_image(np.zeros((1, 4), int), values, reduce) == {}


def test_errors_of_images_name_the_segment() -> None:
    with pytest.raises(ShapeError, match=re.escape("probability has shape (1,)")):
        pm.confidences_from_image([[1, 2]], [0.5])
    with pytest.raises(LabelError, match="probability is nan inside segment 2"):
        pm.confidences_from_image([1, 2], [0.5, np.nan])


def write(folder: Path, text: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(text)
    return path


def test_files_may_hold_one_case_or_many(tmp_path: Path) -> None:
    assert pm.read_confidences(write(tmp_path, "id,score\n4,0.5\n7,1\n")) == {4: 0.5, 7: 1.0}
    assert pm.read_confidences(write(tmp_path, "confidence,id\n0.5,4\n")) == {4: 0.5}
    several = write(tmp_path, "case,id,score\na,4,0.5\nb,4,0.25\n")
    assert pm.read_confidences(several, case="b") == {4: 0.25}
    assert pm.read_confidences(several, case="c") == {}


@pytest.mark.parametrize(
    ("text", "case", "message"),
    [
        ("id,value\n4,0.5\n", None, "has the columns ['id', 'value']; it needs 'id' and 'score'"),
        ("id,score\n4,high\n", None, "line 2"),
        ("id,score\n4.5,1\n", None, "line 2"),
        ("id,score\n4,1\n4,2\n", None, "line 3 of"),
        ("case,id,score\na,4,1\n", None, "pass case=…"),
        ("id,score\n4,1\n", "a", "does not have a column 'case'"),
        ("", None, "it needs 'id' and 'score'"),
    ],
)
def test_errors_of_files_name_the_line(
    text: str, case: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(FileError, match=re.escape(message)):
        pm.read_confidences(write(tmp_path, text), case)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        pm.read_confidences(tmp_path / "none.csv")


def test_calibration_by_hand() -> None:
    ov = overlap().with_confidence([0.95, 0.85, 0.4])
    found = pm.calibration(pm.match(ov), bins=5)
    assert found.counts.tolist() == [0, 0, 1, 0, 2]
    assert found.matched.tolist() == [0, 0, 1, 0, 1]
    assert found.ece == pytest.approx((0.6 + 0.8) / 3)
    assert found.mce == pytest.approx(0.6)
    twice = found + found
    assert twice.ece == found.ece
    assert twice.counts.sum() == 6
    assert pm.calibration(pm.match(overlap().with_confidence([1, 1, 1])), bins=2).counts[1] == 3


def test_calibration_leaves_out_what_is_dismissed() -> None:
    void = np.array([0, 0, 1, 0], np.bool_)
    ov = pm.count_overlaps([1, 1, 0, 2], [4, 4, 7, 9], void).with_confidence([0.9, 0.9, 0.9])
    assert pm.calibration(pm.match(ov)).counts.sum() == 2


def test_calibration_needs_confidences_from_0_to_1() -> None:
    with pytest.raises(OverlapError, match=r"the confidence of prediction 7 is 1\.5"):
        pm.calibration(pm.match(overlap().with_confidence([0.5, 1.5, 0.5])))
    with pytest.raises(ValueError, match="bins=0"):
        pm.calibration(pm.match(overlap().with_confidence([0.5, 0.5, 0.5])), bins=0)
    found = pm.calibration(pm.match(overlap().with_confidence([0.5, 0.5, 0.5])), bins=3)
    with pytest.raises(ValueError, match="same bins"):
        _ = found + pm.calibration(pm.match(overlap().with_confidence([0.5, 0.5, 0.5])))
