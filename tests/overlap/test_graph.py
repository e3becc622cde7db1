"""The overlap graph as a value: scores, selection, components, addition, text."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import panmatch as pm
from panmatch.errors import OptionError, OverlapError, ThresholdError
from tests import scenes
from tests.hypothesis_scenes import Labels, label_pairs, overlaps

DENSE = pm.Overlap.from_dense([[6, 2], [0, 5]], ref_sizes=[10, 5], pred_sizes=[6, 9])


def test_scores_of_every_edge_by_hand() -> None:
    assert DENSE.iou.tolist() == [6 / 10, 2 / 17, 5 / 9]
    assert DENSE.dice.tolist() == [12 / 16, 4 / 19, 10 / 14]
    assert DENSE.score("prediction-share").tolist() == [1.0, 2 / 9, 5 / 9]
    assert DENSE.score("reference-share").tolist() == [6 / 10, 2 / 10, 1.0]
    assert DENSE.score() is not None
    assert DENSE.score().tolist() == DENSE.iou.tolist()


def test_unknown_score_suggests_the_nearest() -> None:
    with pytest.raises(OptionError, match="score='dise' is not known; did you mean 'dice'"):
        DENSE.score("dise")  # type: ignore[arg-type]


def test_columns_are_attributes_or_items() -> None:
    assert DENSE.edges["ref"] is DENSE.edges.ref
    assert DENSE.edges["intersection"].tolist() == [6, 2, 5]
    assert len(DENSE.edges) == 3
    with pytest.raises(OptionError, match="column='gt'"):
        DENSE.edges["gt"]


def test_areas_from_geometry_stay_floats() -> None:
    found = pm.Overlap.from_dense([[0.5]], [1.5], [2.0])
    assert found.iou.tolist() == [0.5 / 3.0]
    assert found.ref_sizes.dtype == np.float64


def test_selection_is_strict_and_keeps_all_segments() -> None:
    kept = DENSE.above(5 / 9)
    assert kept.edges.intersection.tolist() == [6]
    assert kept.ref_ids.tolist() == kept.pred_ids.tolist() == [1, 2]
    assert DENSE.above(0.5, score="reference-share").edges.intersection.tolist() == [6, 5]


@pytest.mark.parametrize("threshold", [-0.1, 1.0, float("nan"), float("inf"), "half", None])
def test_thresholds_outside_the_unit_interval_are_refused(threshold: Any) -> None:
    for use in (DENSE.above, pm.curve(DENSE).at, lambda tau: pm.match(DENSE, threshold=tau)):
        with pytest.raises(ThresholdError, match=r"threshold=.* is outside \[0, 1\)"):
            use(threshold)


def test_components_join_what_is_linked_and_isolate_the_rest() -> None:
    found = pm.Overlap.from_dense(
        [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]], [3] * 4, [3] * 4
    )
    refs, preds = found.components()
    assert refs.tolist() == [0, 0, 1, 2]
    assert preds.tolist() == [0, 0, 2, 3]


def test_an_overlap_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        DENSE.ref_sizes[0] = 3
    with pytest.raises(AttributeError):
        DENSE.ref_ids = DENSE.pred_ids  # type: ignore[misc]


def test_representation_says_what_is_inside() -> None:
    assert repr(DENSE) == "Overlap(2 references, 2 predictions, 3 edges)"


class TestAddition:
    @given(label_pairs())
    def test_chunks_add_up_to_the_whole_in_any_order(self, pair: tuple[Labels, Labels]) -> None:
        reference, prediction = (labels.reshape(-1) for labels in pair)
        whole = pm.count_overlaps(reference, prediction)
        third = len(reference) // 3
        a, b, c = (
            pm.count_overlaps(reference[piece], prediction[piece])
            for piece in (slice(0, third), slice(third, 2 * third), slice(2 * third, None))
        )
        assert a + b + c == whole
        assert c + (b + a) == whole

    def test_void_adds_too(self) -> None:
        reference, prediction = np.array([9, 1, 9, 2]), np.array([4, 4, 5, 5])
        whole = pm.count_overlaps(reference, prediction, void=9)
        parts = [
            pm.count_overlaps(reference[s], prediction[s], void=9) for s in (slice(1), slice(1, 4))
        ]
        assert parts[0] + parts[1] == whole
        assert whole.pred_void.tolist() == [1, 1]

    def test_ids_are_joined_not_positions(self) -> None:
        total = pm.count_overlaps([5, 5], [8, 8]) + pm.count_overlaps([2, 5], [8, 1])
        assert total.ref_ids.tolist() == [2, 5]
        assert total.ref_sizes.tolist() == [1, 3]
        assert total.edges.intersection.tolist() == [1, 1, 2]

    def test_only_overlaps_add(self) -> None:
        with pytest.raises(TypeError):
            DENSE + 1  # type: ignore[operator]


class TestEquality:
    def test_equal_content_is_equal(self) -> None:
        same = pm.Overlap.from_dense([[6, 2], [0, 5]], [10, 5], [6, 9])
        assert same == DENSE

    @pytest.mark.parametrize(
        ("table", "refs", "preds"),
        [
            ([[6, 3], [0, 5]], [10, 5], [6, 9]),
            ([[6, 2], [0, 5]], [11, 5], [6, 9]),
            ([[6, 2], [0, 5]], [10, 5], [6, 10]),
            ([[6, 2], [1, 4]], [10, 5], [8, 9]),
        ],
    )
    def test_any_difference_is_seen(self, table: Any, refs: Any, preds: Any) -> None:
        assert pm.Overlap.from_dense(table, refs, preds) != DENSE

    def test_other_things_are_not_equal(self) -> None:
        assert DENSE != "overlap"


class TestText:
    @given(overlaps())
    def test_json_columns_and_pickle_lead_back(self, overlap: pm.Overlap) -> None:
        assert pm.Overlap.from_json(overlap.to_json()) == overlap
        assert pm.Overlap.from_columns(overlap.columns()) == overlap
        assert pickle.loads(pickle.dumps(overlap)) == overlap

    def test_large_ids_and_float_areas_survive_json_exactly(self) -> None:
        large = pm.count_overlaps([2**63 - 1], [2**62 + 1])
        areas = pm.Overlap.from_dense([[0.1]], [1 / 3], [0.7])
        for found in (large, areas):
            assert pm.Overlap.from_json(found.to_json()) == found

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "not JSON"),
            ("[]", "not an overlap"),
            ('{"format": "other"}', "not an overlap"),
            ('{"format": "panmatch-overlap-1"}', "of the overlap are missing"),
        ],
    )
    def test_other_text_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(OverlapError, match=message):
            pm.Overlap.from_json(text)


class TestConsistency:
    @pytest.mark.parametrize(
        ("column", "values", "message"),
        [
            ("ref_ids", [2, 1], "ref_ids must be strictly increasing"),
            ("pred_ids", [0, 1], "pred_ids must be strictly increasing"),
            ("ref_ids", [1.0, 2.0], "ref_ids must hold integers"),
            ("ref_sizes", [10, 0], "ref_sizes holds 0"),
            ("ref_sizes", [10], "1-D arrays of the same length"),
            ("ref_sizes", ["a", "b"], "ref_sizes must hold finite numbers"),
            ("pred_sizes", [np.nan, 9.0], "pred_sizes must hold finite numbers"),
            ("pred_void", [7, 0], "pred_void must lie between"),
            ("pred_void", [-1, 0], "pred_void must lie between"),
            ("pred_void", [1, 0], "segment 1 of side 'pred' has size 5"),
            ("edge_ref", [0, 0, 2], "edge_ref points outside ref_ids"),
            ("edge_pred", [0, -1, 1], "edge_pred points outside pred_ids"),
            ("edge_ref", [0, 1, 0], "edges must be sorted"),
            ("edge_pred", [0, 0, 1], "edges must be sorted"),
            ("edge_intersection", [6, 0, 5], "edge_intersection must be positive"),
            ("edge_intersection", [6, 5, 5], "segment 1 of side 'ref' has size 10"),
        ],
    )
    def test_contradictions_are_named(self, column: str, values: Any, message: str) -> None:
        with pytest.raises(OverlapError, match=message):
            pm.Overlap.from_columns({**DENSE.columns(), column: values})

    def test_a_table_of_the_wrong_shape(self) -> None:
        with pytest.raises(OverlapError, match=r"intersections has shape \(1, 2\).*\[ref, pred\]"):
            pm.Overlap.from_dense([[1, 2]], [3, 3], [4])

    def test_negative_intersections(self) -> None:
        with pytest.raises(OverlapError, match="intersections holds -1"):
            pm.Overlap.from_dense([[-1]], [3], [4])

    def test_empty_sides_are_fine(self) -> None:
        assert len(pm.Overlap.from_dense([], [], [3, 4]).pred_ids) == 2
        assert pm.Overlap.from_dense([], [], []) == scenes.EMPTY

    def test_rounding_in_areas_is_tolerated(self) -> None:
        found = pm.Overlap.from_dense([[0.1, 0.2]], [0.3], [0.1, 0.2])  # 0.1 + 0.2 > 0.3
        assert pm.match(found, "many-to-one", 0.5).tally.tp == 1
