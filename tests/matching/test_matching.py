"""What a matching tells about itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from tests import scenes

MATCHING = pm.match(scenes.overlap("aaaa.bbb..ccc", "eeee.....d..."), threshold=0.25)


def test_pairs_are_ids_sorted() -> None:
    assert MATCHING.pairs.tolist() == [[1, 5]]
    assert MATCHING.pairs.dtype == np.int64
    assert pm.match(scenes.EMPTY).pairs.shape == (0, 2)


def test_what_was_missed_and_what_was_made_up() -> None:
    assert MATCHING.missed.tolist() == [2, 3]
    assert MATCHING.false_positives.tolist() == [4]
    assert MATCHING.ref_quality.tolist() == [1.0, 0.0, 0.0]


def test_it_remembers_how_it_was_made() -> None:
    assert MATCHING.strategy == pm.OneToOne()
    assert (MATCHING.threshold, MATCHING.score) == (0.25, "iou")
    assert pm.match(scenes.SPLIT, "many-to-one").certificate is None
    assert repr(MATCHING) == "Matching(one-to-one, threshold=0.25: TP=1, FP=1, FN=2, PQ=0.4000)"


class TestTally:
    tally = pm.Tally(tp=3, fp=1, fn=2, quality=2.4)

    def test_scores_by_hand(self) -> None:
        assert self.tally.pq == 2.4 / 4.5
        assert self.tally.sq == pytest.approx(0.8)
        assert self.tally.rq == self.tally.f1 == 3 / 4.5
        assert self.tally.precision == 3 / 4
        assert self.tally.recall == 3 / 5
        assert self.tally.pq == pytest.approx(self.tally.sq * self.tally.rq)

    def test_undefined_ratios_are_nan(self) -> None:
        assert np.isnan(pm.Tally(0, 0, 2, 0.0).precision)
        assert np.isnan(pm.Tally(0, 2, 0, 0.0).recall)
        assert pm.Tally(0, 2, 0, 0.0).precision == 0.0

    def test_sum_pools_tallies(self) -> None:
        total = sum([self.tally, pm.Tally(1, 1, 0, 0.6)], start=pm.Tally(0, 0, 0, 0.0))
        assert (total.tp, total.fp, total.fn, total.quality) == (4, 2, 2, 3.0)
        assert sum([self.tally, self.tally]) == self.tally + self.tally

    def test_only_tallies_add(self) -> None:
        with pytest.raises(TypeError):
            self.tally + 1  # type: ignore[operator]
        with pytest.raises(TypeError):
            1 + self.tally

    @given(
        st.lists(st.tuples(*[st.integers(0, 50)] * 3, st.floats(0, 50)), max_size=6).flatmap(
            lambda rows: st.tuples(st.just(rows), st.permutations(rows))
        )
    )
    def test_the_order_of_addition_does_not_matter(
        self, orders: tuple[list[tuple[int, int, int, float]], ...]
    ) -> None:
        first, second = (
            sum((pm.Tally(*row) for row in rows), pm.Tally(0, 0, 0, 0.0)) for rows in orders
        )
        assert (first.tp, first.fp, first.fn) == (second.tp, second.fp, second.fn)
        assert first.quality == pytest.approx(second.quality, rel=1e-14)
