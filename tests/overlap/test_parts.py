"""Parts: by brute force, under every strategy, and the promises of D9."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import panmatch as pm
from panmatch.errors import LabelError, OptionError, OverlapError
from tests.hypothesis_scenes import thresholds
from tests.part_oracle import VOID, part_quality
from tests.strategies import BY_NAME, OPTIMAL

Labels = npt.NDArray[Any]
STRATEGIES = [*BY_NAME.values(), *OPTIMAL.values(), pm.SameId()]
LABELS = [1, 2, 3]


@st.composite
def part_scenes(draw: st.DrawFn) -> dict[str, Any]:
    """Draw objects with parts, some of them void, and sometimes void voxels."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
    objects = hnp.arrays(np.int64, shape, elements=st.integers(0, 3))
    parts = hnp.arrays(np.int64, shape, elements=st.sampled_from([0, 1, 1, 2, 2, 3, 9]))
    reference, prediction = draw(objects), draw(objects)
    return {
        "reference": reference,
        "prediction": prediction,
        "reference_parts": np.where(reference > 0, draw(parts), 0),
        "prediction_parts": np.where(prediction > 0, draw(parts), 0),
        "void_part": 9,
        "parts": LABELS,
        "background": draw(st.sampled_from(["image", "none"])),
        "void": draw(st.none() | hnp.arrays(np.bool_, shape)),
    }


def expected(scene: dict[str, Any], ref: int, preds: list[int], cells: Labels | None) -> float:
    void = scene["void"] if scene["void"] is not None else np.zeros(scene["reference"].shape, bool)
    g = (scene["reference"] == ref) & ~void
    p = np.isin(scene["prediction"], preds) & ~void
    if cells is not None:
        p &= cells == ref
    sides = [scene["reference_parts"], scene["prediction_parts"]]
    parts = [np.where(side == 9, VOID, side) for side in sides]
    return part_quality(g, p, *parts, labels=LABELS, background=scene["background"], left_out=void)


@settings(max_examples=300)
@given(part_scenes(), st.sampled_from(STRATEGIES), thresholds)
def test_quality_is_the_mean_part_iou_and_nothing_else_changes(
    scene: dict[str, Any], strategy: pm.Strategy, threshold: float
) -> None:
    overlap = pm.count_part_overlaps(**scene)
    matching = pm.match(overlap, strategy, threshold)
    plain = pm.match(
        pm.count_overlaps(scene["reference"], scene["prediction"], scene["void"]),
        strategy,
        threshold,
    )
    assert matching.pairs.tolist() == plain.pairs.tolist()
    assert matching.tally == plain.tally
    assert matching.ref_part_quality is not None
    for ref, quality in zip(overlap.ref_ids.tolist(), matching.ref_part_quality, strict=True):
        preds = matching.pairs[matching.pairs[:, 0] == ref, 1].tolist()
        want = expected(scene, ref, preds, None) if preds else 0.0
        assert quality == pytest.approx(want, abs=1e-12)


@settings(max_examples=150)
@given(part_scenes(), st.sampled_from([*BY_NAME.values(), pm.RegionUnion()]), thresholds)
def test_parts_work_within_cells(
    scene: dict[str, Any], strategy: pm.Strategy, threshold: float
) -> None:
    overlap = pm.count_part_overlaps(**scene, regions="voronoi")
    matching = pm.match(overlap, strategy, threshold)
    known = scene["reference"].copy()
    if scene["void"] is not None:
        known[scene["void"]] = 0
    cells = pm.labels.nearest_labels(known)
    assert matching.ref_part_quality is not None
    for ref, quality in zip(overlap.ref_ids.tolist(), matching.ref_part_quality, strict=True):
        preds = matching.pairs[matching.pairs[:, 0] == ref, 1].tolist()
        want = expected(scene, ref, preds, cells) if preds else 0.0
        assert quality == pytest.approx(want, abs=1e-12)


@settings(max_examples=150)
@given(
    part_scenes(),
    st.sampled_from([*BY_NAME.values(), pm.SameId(), pm.RegionUnion()]),
    st.data(),
)
def test_the_curve_equals_the_matching_at_every_threshold(
    scene: dict[str, Any], strategy: pm.Strategy, data: st.DataObject
) -> None:
    regions = "voronoi" if isinstance(strategy, pm.RegionUnion) else None
    overlap = pm.count_part_overlaps(**scene, regions=regions)
    curve, by_parts = pm.curve(overlap, strategy), pm.curve(overlap, strategy, quality="parts")
    steps = [tau for tau in strategy.prepare(overlap).iou.tolist() if tau < 1.0]
    for threshold in [0.0, data.draw(thresholds), *steps]:
        matching = pm.match(overlap, strategy, threshold)
        assert curve.at(threshold) == matching.tally
        assert by_parts.at(threshold) == matching.part_tally


@given(part_scenes())
def test_chunks_add_and_files_keep_parts(scene: dict[str, Any]) -> None:
    whole = pm.count_part_overlaps(**scene)
    half = scene["reference"].shape[0] // 2
    chunks = []
    for chunk in (slice(0, half), slice(half, None)):
        cut: dict[str, Any] = {
            k: v[chunk] if isinstance(v, np.ndarray) else v for k, v in scene.items()
        }
        chunks.append(pm.count_part_overlaps(**cut))
    assert chunks[0] + chunks[1] == whole
    assert pm.Overlap.from_json(whole.to_json()) == whole
    kept = whole.above(0.3)
    tally = pm.match(kept, pm.ManyToOne(gate="edge"), 0.3).part_tally
    assert tally == pm.match(whole, pm.ManyToOne(gate="edge"), 0.3).part_tally


@given(part_scenes(), st.permutations([1, 2, 3]), st.permutations([1, 2, 3]))
def test_other_numbers_give_the_same_scores(
    scene: dict[str, Any], objects: list[int], parts: list[int]
) -> None:
    names = np.array([0, *objects]) * 1000
    part_names = np.zeros(10, int)
    part_names[[1, 2, 3, 9]] = [*(np.array(parts) * 10), 77]
    renamed = scene | {
        "reference": names[scene["reference"]],
        "prediction": names[scene["prediction"]],
        "reference_parts": part_names[scene["reference_parts"]],
        "prediction_parts": part_names[scene["prediction_parts"]],
        "void_part": 77,
        "parts": [10, 20, 30],
    }
    for strategy in (pm.OneToOne(), pm.SameId()):
        before, after = (
            pm.match(pm.count_part_overlaps(**s), strategy, 0.5).part_tally
            for s in (scene, renamed)
        )
        assert before is not None
        assert after is not None
        assert (before.tp, before.fp, before.fn) == (after.tp, after.fp, after.fn)
        assert before.quality == pytest.approx(after.quality, abs=1e-12)


def one_object(size: int = 12, background: Any = "image") -> pm.Overlap:
    """Return an object of 4 with two parts, predicted with one voxel of spill of part 2."""
    images = np.zeros((4, size), int)
    images[0, :4] = images[1, :5] = 1
    images[2, :4], images[3, :5] = [1, 1, 2, 2], [1, 1, 2, 2, 2]
    return pm.count_part_overlaps(*images, background=background)


@pytest.mark.parametrize("size", [12, 20, 120])
def test_padding_changes_the_background_as_predicted(size: int) -> None:
    assert part_quality_of(one_object(size)) == pytest.approx(
        (1 + 2 / 3 + (size - 5) / (size - 4)) / 3
    )
    assert part_quality_of(one_object(size, "none")) == pytest.approx((1 + 2 / 3) / 2)
    assert pm.match(one_object(size)).tally.quality == 0.8


def part_quality_of(overlap: pm.Overlap) -> float:
    tally = pm.match(overlap).part_tally
    assert tally is not None
    return tally.quality


def test_parts_of_unmatched_parents_never_count() -> None:
    overlap = one_object()
    missed = pm.match(overlap, threshold=0.9)
    assert missed.tally == missed.part_tally == pm.Tally(tp=0, fp=1, fn=1, quality=0.0)
    assert pm.part_averages(missed) == {1: pm.Average(0, 0, 0), 2: pm.Average(0, 0, 0)}


def test_a_fragmented_parent_with_right_parts_is_whole_under_many_to_one_only() -> None:
    reference, prediction = np.array([1] * 8 + [0] * 4), np.array([5] * 4 + [6] * 4 + [0] * 4)
    parts = np.array([1] * 4 + [2] * 4 + [0] * 4)
    overlap = pm.count_part_overlaps(reference, prediction, parts, parts)
    assert pm.match(overlap, "many-to-one", 0.4).part_tally == pm.Tally(1, 0, 0, 1.0)
    assert pm.match(overlap, "one-to-one", 0.5).part_tally == pm.Tally(0, 2, 1, 0.0)


def test_mean_part_iou_over_matched_parents() -> None:
    reference = np.array([1, 1, 1, 1, 0, 2, 2, 2, 0])
    reference_parts = np.array([1, 1, 2, 2, 0, 1, 1, 1, 0])
    prediction_parts = np.array([1, 1, 1, 2, 0, 1, 1, 1, 0])
    overlap = pm.count_part_overlaps(reference, reference, reference_parts, prediction_parts)
    found = pm.part_averages(pm.match(overlap))
    assert (found[1].count, found[1].skipped) == (2, 0)
    assert found[1].total == pytest.approx(2 / 3 + 1)
    assert (found[2].total, found[2].count, found[2].skipped) == (0.5, 1, 1)  # on one parent only
    assert pm.part_averages(pm.match(pm.count_overlaps(reference, reference))) == {}


CELL, NUCLEUS = np.array([1, 1, 1, 1, 0]), np.array([0, 1, 1, 0, 0])
FOUND = np.array([1, 1, 1, 0, 0]), np.array([1, 1, 0, 0, 0])


def test_without_a_part_there_is_no_part_quality() -> None:
    overlap = pm.count_part_overlaps(CELL, FOUND[0], 0 * CELL, 0 * CELL, parts=())
    assert overlap.parts is None
    assert pm.match(overlap).tally.quality == 0.75
    assert pm.match(overlap).part_tally is None
    with pytest.raises(OptionError, match="quality='parts' needs an overlap with parts"):
        pm.curve(overlap, quality="parts")


@pytest.mark.parametrize("parts", [(1,), None])
@pytest.mark.parametrize(("background", "want"), [("none", 1 / 3), ("image", (1 / 3 + 2 / 4) / 2)])
def test_a_lone_part_counts(parts: Any, background: Any, want: float) -> None:
    overlap = pm.count_part_overlaps(
        CELL, FOUND[0], NUCLEUS, FOUND[1], parts=parts, background=background
    )
    assert part_quality_of(overlap) == pytest.approx(want)
    assert pm.match(overlap).tally.quality == 0.75


def test_parents_are_made_of_touching_parts() -> None:
    reference = np.array([[1, 2, 2, 0, 0, 1, 9], [1, 1, 2, 0, 0, 2, 2]])
    prediction = np.array([[1, 2, 2, 0, 0, 1, 0], [1, 2, 2, 0, 0, 2, 2]])
    overlap = pm.count_part_overlaps(None, None, reference, prediction, 9)
    tally = pm.match(overlap).tally
    assert (tally.tp, tally.fp, tally.fn) == (2, 0, 0)
    # First parent: ⅔ and ¾, second: 1 and 1; its void voxel is no part of it.
    assert pm.match(pm.count_part_overlaps(None, None, reference, prediction, 9, background="none")
                    ).part_tally == pm.Tally(2, 0, 0, (2 / 3 + 3 / 4) / 2 + 1)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"reference_parts": np.array([1, 1, 2])},
            LabelError,
            r"reference_parts holds part 2 \(1 voxel\) where there is no reference segment",
        ),
        (
            {"prediction_parts": np.array([1, 2, 2])},
            LabelError,
            r"prediction_parts holds part 2 \(1 voxel\) where there is no prediction segment",
        ),
        (
            {"prediction_parts": np.array([1, 7, 0])},
            LabelError,
            r"prediction_parts holds part 7 \(1 voxel\).*parts of its class: \[1, 2\]",
        ),
        (
            {"reference_parts": np.array([1, -1, 0])},
            LabelError,
            r"reference_parts holds the negative part -1 \(1 voxel\).*pass void_part=-1",
        ),
        ({"parts": (1, 1)}, OptionError, r"parts=\[1, 1\] must be distinct labels"),
        ({"background": "all"}, OptionError, "background='all' is not known"),
        ({"spacing": (1,)}, OptionError, "pass regions='voronoi'"),
    ],
)
def test_mistakes_are_named(change: dict[str, Any], error: Any, message: str) -> None:
    images = {
        "reference": np.array([1, 1, 0]),
        "prediction": np.array([1, 1, 0]),
        "reference_parts": np.array([1, 2, 0]),
        "prediction_parts": np.array([1, 2, 0]),
        "parts": (1, 2),
    }
    with pytest.raises(error, match=message):
        pm.count_part_overlaps(**(images | change))  # type: ignore[arg-type]


def test_parts_that_differ_do_not_add() -> None:
    with pytest.raises(OverlapError, match="both have parts or neither"):
        one_object() + pm.count_overlaps([1], [1])
    with pytest.raises(OverlapError, match=r"labels \[1, 2\] with background='image'.*'none'"):
        one_object() + one_object(background="none")
    columns = one_object().columns()
    del columns["part_hits"]
    with pytest.raises(OverlapError, match=r"columns \['part_hits'\], which an overlap with parts"):
        pm.Overlap.from_columns(columns)


def test_the_certificate_is_about_the_parents() -> None:
    matching = pm.match(one_object(), pm.ManyToOne("optimal"), 0.1)
    assert matching.certificate is not None
    assert matching.certificate.value == pytest.approx(0.8)
    assert matching.certificate.proven
    assert matching.tally.pq == matching.certificate.value
    assert matching.part_tally is not None
    assert matching.part_tally.pq != matching.certificate.value
