"""`strict=False`: a score that equals the threshold matches, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import SpecError, ThresholdError
from panmatch.matching import STRATEGIES
from panmatch.overlap import Overlap, Score
from panmatch.spec import as_spec
from tests.brute_force import random_scene

WHOLE = [
    strategy
    for family in STRATEGIES.values()
    for strategy in family.variants()
    if not strategy.needs_regions and strategy.quality == "iou"
]


def thresholds_of(overlap: Overlap) -> list[float]:
    return [*np.unique(overlap.iou).tolist(), 0.0, 0.3, 0.5]


@pytest.mark.parametrize("strategy", WHOLE, ids=lambda strategy: strategy.label)
def test_edges_at_the_threshold_match(strategy: pm.Strategy) -> None:
    """Between two scores of a graph nothing changes, so just below a score it already counts."""
    rng, n_equal = np.random.default_rng(5), 0
    for _ in range(60):
        overlap = random_scene(rng)
        scores = np.unique(overlap.iou)
        for threshold in thresholds_of(overlap):
            if threshold >= 1:
                continue
            below = scores[scores < threshold].max(initial=0.0)
            between = (below + threshold) / 2 if threshold in scores else threshold
            expected = pm.match(overlap, strategy, between)
            found = pm.match(overlap, strategy, threshold, strict=False)
            assert found.tally == expected.tally
            assert found.pairs.tolist() == expected.pairs.tolist()
            n_equal += found.tally != pm.match(overlap, strategy, threshold).tally
    assert n_equal > 20 or strategy.name == "same-id"


def test_the_smallest_scene() -> None:
    half = Overlap.from_dense([[1]], ref_sizes=[2], pred_sizes=[1])
    assert pm.match(half, threshold=0.5).tally.tp == 0
    assert pm.match(half, threshold=0.5, strict=False).tally.tp == 1
    third = Overlap.from_dense([[1]], ref_sizes=[2], pred_sizes=[2])
    assert pm.match(third, threshold=1 / 3, strict=False).tally.tp == 1
    assert pm.match(third, threshold=np.nextafter(1 / 3, 1), strict=False).tally.tp == 0


def test_a_perfect_match_reaches_the_threshold_1() -> None:
    both = Overlap.from_dense([[4, 0], [0, 3]], ref_sizes=[4, 4], pred_sizes=[4, 3])
    matching = pm.match(both, threshold=1, strict=False)
    assert (matching.tally.tp, matching.tally.fp, matching.tally.fn) == (1, 1, 1)
    assert matching.threshold == 1.0
    with pytest.raises(ThresholdError, match="threshold=1 is outside"):
        pm.match(both, threshold=1)


def test_nothing_without_overlap_matches_at_0() -> None:
    apart = Overlap.from_dense([[0]], ref_sizes=[2], pred_sizes=[2])
    assert pm.match(apart, threshold=0.0, strict=False).tally.tp == 0


def test_a_spec_says_it_and_labels_and_tables_show_it() -> None:
    spec = as_spec({"matching": [{"strategy": "one-to-one", "strict": False}, "one-to-one"],
                    "thresholds": 0.5, "curve": False})  # fmt: skip
    inclusive, strict = spec.matching
    assert (inclusive.strict, strict.strict) == (False, True)
    assert inclusive.label == "one-to-one (optimal, ≥ τ)"
    assert as_spec(spec.model_dump(mode="json")) == spec
    rows = pm.evaluate(reference=[[1, 1]], prediction=[[1, 0]], spec=spec).scores
    assert rows["tp"].tolist() == [1, 0]
    assert rows["edge_score"].tolist() == ["iou ≥ threshold", "iou"]
    with pytest.raises(SpecError, match="strict='no' must be true or false"):
        as_spec({"matching": {"strategy": "one-to-one", "strict": "no"}})


@pytest.mark.parametrize("score", ["iou", "dice"])
@pytest.mark.parametrize("strict", [True, False])
def test_it_is_the_chosen_score_that_may_equal(score: Score, strict: bool) -> None:
    overlap = Overlap.from_dense([[1]], ref_sizes=[2], pred_sizes=[1])  # IoU 1/2, Dice 2/3
    at = {"iou": 1 / 2, "dice": 2 / 3}[score]
    assert pm.match(overlap, threshold=at, score=score, strict=strict).tally.tp == (not strict)
