"""Average precision of COCO instances: the same numbers however the masks are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch import native
from panmatch.errors import FileError, LabelError
from panmatch.related import CocoPrecision, coco_precision
from tests.instance_scenes import random_dataset


def written(question: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    files = folder / "reference.json", folder / "prediction.json"
    for file, side in zip(files, ("reference", "prediction"), strict=True):
        file.write_text(json.dumps(question[side]))
    return files


def precision(files: tuple[Path, Path], decode: bool, threads: int = 1) -> CocoPrecision:
    refs = pm.read_coco_instances(files[0], decode=decode)
    preds = pm.read_coco_instances(files[1], refs, decode=decode)
    found = coco_precision(
        refs.table, preds.table, images=list(refs.sizes), categories=list(refs.categories),
        threads=threads,
    )  # fmt: skip
    assert (refs.table.written is None) == decode
    return found


def check_same(one: CocoPrecision, other: CocoPrecision) -> None:
    for area, values in one.precision.items():
        np.testing.assert_array_equal(values, other.precision[area])
    for key, recall in one.recall.items():
        np.testing.assert_array_equal(recall, other.recall[key])


@pytest.mark.parametrize("seed", range(8))
def test_masks_that_are_read_group_by_group_have_the_same_precision(
    seed: int, tmp_path: Path
) -> None:
    files = written(random_dataset(seed), tmp_path)
    at_once = precision(files, decode=True)
    assert any((values > 0).any() for values in at_once.precision.values())
    for threads in (1, 3):
        check_same(at_once, precision(files, decode=False, threads=threads))
        check_same(at_once, precision(files, decode=True, threads=threads))


def test_a_mask_that_is_written_in_an_unusual_way_is_read_all_the_same(tmp_path: Path) -> None:
    question = random_dataset(1)
    for row in question["prediction"]:
        row["segmentation"] = {"size": row["segmentation"]["size"], "counts": "unusual"}
    files = written(question, tmp_path)
    text = files[1].read_text()
    texts = iter(row["segmentation"]["counts"] for row in random_dataset(1)["prediction"])
    while '"unusual"' in text:
        text = text.replace('"unusual"', json.dumps(next(texts)).replace("\\\\", "\\u005c"), 1)
    files[1].write_text(text)
    assert "\\u005c" in text
    refs = pm.read_coco_instances(files[0], decode=False)
    preds = pm.read_coco_instances(files[1], refs, decode=False)
    assert preds.table.written is not None
    found = coco_precision(
        refs.table, preds.table, images=list(refs.sizes), categories=list(refs.categories)
    )
    check_same(precision(written(random_dataset(1), tmp_path), decode=True), found)


def test_a_damaged_mask_is_an_error_when_it_is_needed(tmp_path: Path) -> None:
    question = random_dataset(2)
    question["prediction"][3]["segmentation"]["counts"] = "11"
    files = written(question, tmp_path)
    refs = pm.read_coco_instances(files[0])
    with pytest.raises(LabelError, match=r"instance 3 of prediction\.json"):
        pm.read_coco_instances(files[1], refs)
    refs = pm.read_coco_instances(files[0], decode=False)
    preds = pm.read_coco_instances(files[1], refs, decode=False)
    ids: dict[str, Any] = {"images": list(refs.sizes), "categories": list(refs.categories)}
    with pytest.raises(LabelError, match=r"instance 3 of prediction\.json"):
        coco_precision(refs.table, preds.table, **ids)
    assert coco_precision(refs.table, preds.table, shape="boxes", **ids).average_precision() >= 0


def test_a_file_that_was_changed_meanwhile_is_an_error(tmp_path: Path) -> None:
    files = written(random_dataset(3), tmp_path)
    refs = pm.read_coco_instances(files[0], decode=False)
    preds = pm.read_coco_instances(files[1], refs, decode=False)
    files[1].write_text("[]")
    ids: dict[str, Any] = {"images": list(refs.sizes), "categories": list(refs.categories)}
    with pytest.raises(FileError, match="was changed after it was read"):
        coco_precision(refs.table, preds.table, **ids)
    with pytest.raises(FileError, match="was changed after it was read"):
        _ = preds.table.masks


def test_a_file_that_was_removed_or_replaced_meanwhile_is_not(tmp_path: Path) -> None:
    files = written(random_dataset(3), tmp_path)
    expected = precision(files, decode=True)
    refs = pm.read_coco_instances(files[0], decode=False)
    preds = pm.read_coco_instances(files[1], refs, decode=False)
    files[0].unlink()
    (tmp_path / "other.json").write_text("[]")
    (tmp_path / "other.json").replace(files[1])
    ids: dict[str, Any] = {"images": list(refs.sizes), "categories": list(refs.categories)}
    check_same(expected, coco_precision(refs.table, preds.table, **ids))


def test_ids_may_be_far_apart_and_negative(tmp_path: Path) -> None:
    """Large ids are searched for, small ones looked up in a table."""
    question = random_dataset(4)
    near = precision(written(question, tmp_path), decode=False)
    for row in [*question["reference"]["annotations"], *question["prediction"]]:
        row["image_id"] = 10**12 * row["image_id"] - 10**12
        row["category_id"] = 10**9 * row["category_id"]
    for key, factor, less in (("images", 10**12, 10**12), ("categories", 10**9, 0)):
        for row in question["reference"][key]:
            row["id"] = factor * row["id"] - less
    check_same(near, precision(written(question, tmp_path), decode=False))


@given(st.lists(st.tuples(st.integers(0, 2**40), st.floats(0, 1).map(lambda s: round(s, 1)))),
       st.integers(1, 2**40))  # fmt: skip
def test_rows_are_ordered_by_group_then_score(rows: list[tuple[int, float]], groups: int) -> None:
    group = np.array([one % groups for one, _ in rows], np.int64)
    score = np.array([score for _, score in rows], np.float64)
    np.testing.assert_array_equal(native.ranked_order(group, score), np.lexsort((-score, group)))
    none = np.zeros(0)
    np.testing.assert_array_equal(
        native.ranked_order(group, none), np.argsort(group, kind="stable")
    )


def test_groups_below_0_and_undefined_scores_are_refused() -> None:
    for group, score in (([-1], [0.5]), ([0], [np.nan]), ([0, 1], [0.5])):
        with pytest.raises(ValueError, match="groups count from 0"):
            native.ranked_order(np.array(group, np.int64), np.array(score))
