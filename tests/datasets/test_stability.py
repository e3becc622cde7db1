"""Rankings as exact functions of the threshold, and how much several rankings agree."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch.datasets import RankInterval, ranking_over_threshold
from panmatch.datasets._statistics import (
    LeadShare,
    RankSpread,
    lead_share,
    rank_stability,
    ranks,
)
from panmatch.errors import OptionError, ShapeError
from panmatch.matching import Tallies
from tests import brute_force

NAN = float("nan")


def curve_of(thresholds: Iterable[float], pq: Iterable[float]) -> pm.Curve:
    """Return a curve with this PQ on every step; NaN where nothing occurs."""
    tallies = [
        pm.Tally(0, 0, 0, 0.0) if math.isnan(value) else pm.Tally(1, 0, 0, value) for value in pq
    ]
    return pm.Curve(np.array(list(thresholds)), Tallies.of(tallies), pm.OneToOne())


def steps(*pairs: tuple[float, float]) -> pm.Curve:
    return curve_of(*zip(*pairs, strict=True))


CAREFUL = steps((0.0, 0.6), (0.8, 0.0))
HASTY = steps((0.0, 0.9), (0.3, 0.7), (0.4, 0.2), (0.5, 0.0))
EMPTY = steps((0.0, NAN))


@st.composite
def step_functions(draw: st.DrawFn) -> pm.Curve:
    inner = draw(st.sets(st.integers(1, 9), max_size=5))
    thresholds = np.array([0, *sorted(inner)]) / 10
    value = st.integers(0, 4).map(lambda n: n / 4)
    return curve_of(thresholds, [draw(value) for _ in thresholds])


models = st.lists(step_functions(), min_size=1, max_size=4).map(
    lambda found: {f"model {i}": curve for i, curve in enumerate(found)}
)


def value_at(curve: pm.Curve, threshold: float) -> float:
    steps = zip(curve.thresholds, curve.pq, strict=True)
    return [float(value) for start, value in steps if start <= threshold][-1]


def test_the_ranking_by_hand() -> None:
    assert ranking_over_threshold({"careful": CAREFUL, "hasty": HASTY}) == [
        RankInterval(0.0, 0.4, ("hasty", "careful"), (1.0, 2.0)),
        RankInterval(0.4, 0.8, ("careful", "hasty"), (1.0, 2.0)),
        RankInterval(0.8, 1.0, ("careful", "hasty"), (1.5, 1.5)),
    ]


def test_tied_models_keep_the_given_order_and_noise_does_not_separate_them() -> None:
    one = steps((0.0, 0.3), (0.5, 0.1 + 0.2))
    other = steps((0.0, 0.1 + 0.2), (0.5, 0.3))
    best = steps((0.0, 0.5))
    expected = [RankInterval(0.0, 1.0, ("best", "one", "other"), (1.0, 2.5, 2.5))]
    assert ranking_over_threshold({"one": one, "other": other, "best": best}) == expected


def test_a_model_without_a_score_ranks_last_and_never_leads() -> None:
    zero = steps((0.0, 0.0))
    assert ranking_over_threshold({"empty": EMPTY, "zero": zero}) == [
        RankInterval(0.0, 1.0, ("zero", "empty"), (1.0, 2.0))
    ]
    assert lead_share({"empty": EMPTY, "zero": zero}) == {
        "empty": LeadShare(0.0, 0.0),
        "zero": LeadShare(1.0, 0.0),
    }
    assert lead_share({"a": EMPTY, "b": EMPTY})["a"].total == 0.0


@given(models)
def test_the_intervals_are_longest_and_cover_all_thresholds(curves: dict[str, pm.Curve]) -> None:
    found = ranking_over_threshold(curves)
    assert found[0].start == 0.0
    assert found[-1].stop == 1.0
    for left, right in pairwise(found):
        assert left.stop == right.start
        assert (left.order, left.ranks) != (right.order, right.ranks)
    assert all(part.start < part.stop for part in found)


@given(models, st.floats(0, 1, exclude_max=True))
def test_inside_an_interval_the_ranking_is_that_at_any_threshold(
    curves: dict[str, pm.Curve], threshold: float
) -> None:
    for part in ranking_over_threshold(curves):
        inside = [part.start, (part.start + part.stop) / 2, np.nextafter(part.stop, 0)]
        if part.start <= threshold < part.stop:
            inside.append(threshold)
        for tau in inside:
            expected = ranks([value_at(curve, tau) for curve in curves.values()])
            found = dict(zip(part.order, part.ranks, strict=True))
            assert [found[name] for name in curves] == expected.tolist()
        assert list(part.ranks) == sorted(part.ranks)


def test_curves_of_matchings_are_ranked_as_matched_at_the_threshold() -> None:
    rng = np.random.default_rng(19)
    images = [brute_force.lopsided_scene(rng, 4, 9) for _ in range(6)]
    rivals = {name: [pm.curve(ov, name) for ov in images] for name in ("one-to-one", "many-to-one")}
    totals = {name: sum(curves) for name, curves in rivals.items()}
    curves = {name: total for name, total in totals.items() if isinstance(total, pm.Curve)}
    parts = ranking_over_threshold(curves)
    assert len(parts) > 1
    for part in parts:
        tau = (part.start + part.stop) / 2
        pooled = {
            name: sum((pm.match(ov, name, tau).tally for ov in images), pm.Tally(0, 0, 0, 0.0))
            for name in curves
        }
        expected = ranks([pooled[name].pq for name in part.order])
        assert part.ranks == tuple(expected.tolist())


def test_leads_by_hand() -> None:
    three = lead_share({"careful": CAREFUL, "hasty": HASTY, "poor": steps((0.0, 0.1))})
    assert [lead.sole for lead in three.values()] == pytest.approx([0.4, 0.4, 0.2])
    assert [lead.shared for lead in three.values()] == [0.0, 0.0, 0.0]
    two = lead_share({"careful": CAREFUL, "hasty": HASTY})
    assert [lead.sole for lead in two.values()] == pytest.approx([0.4, 0.4])
    assert [lead.shared for lead in two.values()] == pytest.approx([0.2, 0.2])
    assert two["hasty"].total == pytest.approx(0.6)


@given(models)
def test_leads_are_the_widths_of_the_first_places(curves: dict[str, pm.Curve]) -> None:
    found = lead_share(curves)
    for name, lead in found.items():
        sole = shared = 0.0
        for part in ranking_over_threshold(curves):
            rank = part.ranks[part.order.index(name)]
            if rank == part.ranks[0]:
                alone = part.ranks.count(rank) == 1
                sole += (part.stop - part.start) * alone
                shared += (part.stop - part.start) * (not alone)
        assert [lead.sole, lead.shared] == pytest.approx([sole, shared])
    assert sum(lead.total for lead in found.values()) >= 1 - 1e-12


def test_the_summary_by_hand() -> None:
    rankings = {
        "low": np.array([1, 2, 3]),
        "mid": np.array([1, 3, 2]),
        "high": np.array([1.0, 2.0, 3.0]),
        "flat": np.array([2, 2, 2]),
    }
    found = rank_stability(rankings, ["a", "b", "c"])
    assert found.rankings == ("low", "mid", "high", "flat")
    third = 1 / 3
    expected = [[1, third, 1, NAN], [third, 1, third, NAN], [1, third, 1, NAN], [NAN] * 4]
    assert np.array_equal(found.tau, np.array(expected), equal_nan=True)
    assert found.distinct_orders == 3
    assert found.spread == {
        "a": RankSpread(1.0, 1.0, 2.0),
        "b": RankSpread(2.0, 2.0, 3.0),
        "c": RankSpread(2.0, 2.5, 3.0),
    }


def test_wrong_arguments_are_explained() -> None:
    with pytest.raises(OptionError, match="curves is empty"):
        ranking_over_threshold({})
    with pytest.raises(OptionError, match="rankings is empty"):
        rank_stability({}, [])
    with pytest.raises(ShapeError, match=r"rankings\['x'\] has 2 ranks, of which 0 are NaN"):
        rank_stability({"x": [1, 2]}, ["a", "b", "c"])
    with pytest.raises(ShapeError, match="of which 1 are NaN"):
        rank_stability({"x": [1, math.nan]}, ["a", "b"])
