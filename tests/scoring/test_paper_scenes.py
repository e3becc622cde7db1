"""The two published scenes: every strategy, every listed threshold, and the areas, to 1e-9."""

import json
from pathlib import Path
from typing import Any

import pytest

import panmatch as pm
from tests.strategies import BY_NAME, OPTIMAL

SCENES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "paper_scenes.json").read_text()
)
STRATEGIES = BY_NAME | OPTIMAL
CASES = [(scene, name) for scene in SCENES for name in SCENES[scene]["strategies"]]


def overlap_of(scene: str) -> pm.Overlap:
    found = SCENES[scene]
    return pm.Overlap.from_dense(found["intersections"], found["ref_sizes"], found["pred_sizes"])


@pytest.mark.parametrize(("scene", "name"), CASES)
def test_scores_at_every_listed_threshold(scene: str, name: str) -> None:
    expected = SCENES[scene]["strategies"][name]["at"]
    assert len(expected) == 10
    for threshold, row in expected.items():
        tally = pm.match(overlap_of(scene), STRATEGIES[name], float(threshold)).tally
        assert (tally.tp, tally.fp, tally.fn) == (row["tp"], row["fp"], row["fn"])
        assert tally.pq == pytest.approx(row["pq"], abs=1e-9)
        assert tally.sq == pytest.approx(row["sq"], abs=1e-9)
        assert tally.rq == pytest.approx(row["rq"], abs=1e-9)


@pytest.mark.parametrize(("scene", "name"), CASES)
def test_areas_under_the_curves(scene: str, name: str) -> None:
    expected = SCENES[scene]["strategies"][name]
    curve = pm.curve(overlap_of(scene), STRATEGIES[name])
    assert curve.autc == pytest.approx(expected["autc"], abs=1e-9)
    assert curve.autc_sq == pytest.approx(expected["autc_sq"], abs=1e-9)
    assert curve.autc_rq == pytest.approx(expected["autc_rq"], abs=1e-9)
