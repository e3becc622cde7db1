"""The whole grid: what is counted is what direct calls and hand-made scores say."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import panmatch as pm
from studies import natural, nuclei, white_cells
from studies.__main__ import main
from studies.agreement import (
    agreement_at_zero,
    ambiguous_share,
    choices,
    duels,
    flips,
    reversals,
    same_orders,
    same_scores,
    shortfalls,
)
from studies.cells import Contest, Grid, Unit, evaluate_grid
from studies.grid import EVERY_WAY, ONE, RULES, THRESHOLDS, whole_grid
from studies.grid_data import sources, thirds, with_thirds
from studies.page import block_of
from studies.whole_grid import run_grid
from tests.studies.tables import tables_of

SETTINGS = tuple(matcher.label for matcher in whole_grid(nuclei.made_up(True)[0].spec).matching)


@pytest.fixture(scope="module")
def grid() -> Grid:
    """Return the grid on small phantoms, with parts and without."""
    return evaluate_grid(sources([nuclei.STUDY, white_cells.STUDY], None, small=True))


def test_the_grid_has_every_strategy_solver_gate_and_region(grid: Grid) -> None:
    whole = {
        "one-to-one (optimal)", "one-to-one (greedy)", "many-to-one (optimal, seed)",
        "many-to-one (merge, seed)", "many-to-one (optimal, edge)", "many-to-one (merge, edge)",
        "one-to-many (optimal)", "one-to-many (best)",
    }  # fmt: skip
    cut = {f"{name} in regions" for name in whole} | {"union"}
    assert set(grid.settings[: len(RULES)]) == whole
    assert set(grid.settings[len(RULES) :]) == cut
    assert len(grid.settings) == len(EVERY_WAY) == 17
    assert tuple(step / 10 for step in range(10)) == THRESHOLDS


def test_scores_of_a_unit_are_those_of_direct_calls(grid: Grid) -> None:
    dataset = nuclei.made_up(True)[0]
    for case in dataset.cases[:3]:
        unit = next(one for one in grid.of("PQ") if one.dataset.startswith("Phantoms for nuclei")
                    and (one.case, one.model) == (case.name, case.model))  # fmt: skip
        whole = pm.count_overlaps(case.reference, case.prediction)
        cut = pm.count_region_overlaps(case.reference, case.prediction, case.spacing)
        for (row, rule), (column, tau) in itertools.product(
            enumerate(RULES), enumerate(THRESHOLDS)
        ):
            strategy = {"one-to-one": pm.OneToOne, "many-to-one": pm.ManyToOne,
                        "one-to-many": pm.OneToMany}[rule["strategy"]](
                **{key: value for key, value in rule.items() if key != "strategy"})  # fmt: skip
            for at, overlap in ((row, whole), (row + len(RULES), cut)):
                expected = pm.match(overlap, strategy, tau).tally.pq
                assert unit.scores[at, column] == pytest.approx(expected, abs=1e-12)
        union = pm.match(cut, pm.RegionUnion(), 0.3).tally.pq
        assert unit.scores[-1, 3] == pytest.approx(union, abs=1e-12)
        assert unit.structure == pm.graph_structure(whole)


def test_parts_are_scored_beside_plain_iou(grid: Grid) -> None:
    case = white_cells.made_up(True)[0].cases[1]  # guessed nuclei
    unit = next(one for one in grid.of("PartPQ") if one.model == case.model)
    assert case.reference_parts is not None
    assert case.prediction_parts is not None
    sides = case.reference, case.prediction, case.reference_parts, case.prediction_parts
    tally = pm.match(pm.count_part_overlaps(*sides, background="none"), threshold=0.5).part_tally
    assert tally is not None
    assert unit.scores[SETTINGS.index(ONE), 5] == pytest.approx(tally.pq, abs=1e-12)
    names = {(one.dataset, one.class_name) for one in grid.of("PartPQ")}
    assert names <= {(one.dataset, one.class_name) for one in grid.of("PQ")}
    assert not any("outline" in one.class_name for one in grid.units)  # the same PQ, twice


def test_data_sets_have_titles_of_their_own() -> None:
    found = sources([nuclei.STUDY, white_cells.STUDY], None, small=True)
    titles = [source.dataset.title for source in found]
    assert len(titles) == len(set(titles)) == 3


def contest(first: float, second: float) -> Contest:
    shape = len(SETTINGS), len(THRESHOLDS)
    return Contest("d", "phantom", "c", "PQ", {"a": np.full(shape, first),
                                               "b": np.full(shape, second)})  # fmt: skip


def test_choices_differ_in_one_thing_only() -> None:
    pairs = choices()
    keys = ("strategy", "solver", "gate", "regions")
    for choice in ("solver", "gate", "regions"):
        for a, b in pairs[choice]:
            differ = [key for key in keys if EVERY_WAY[a].get(key) != EVERY_WAY[b].get(key)]
            assert differ == [choice]
    assert {name: len(found) for name, found in pairs.items()} == {
        "strategy (all optimal)": 10, "solver": 8, "gate": 4, "regions": 8,
    }  # fmt: skip
    for a, b in pairs["strategy (all optimal)"]:
        assert EVERY_WAY[a]["solver"] == EVERY_WAY[b]["solver"] == "optimal"
        assert EVERY_WAY[a]["strategy"] != EVERY_WAY[b]["strategy"]
        assert EVERY_WAY[a].get("regions") == EVERY_WAY[b].get("regions")


def test_one_reversed_cell_is_found_by_every_choice_it_is_part_of() -> None:
    one = contest(0.6, 0.5)
    at = SETTINGS.index("many-to-one (merge, seed)"), 2
    one.scores["a"][at] = 0.4
    found = {flip.choice: flip for flip in flips(Grid(SETTINGS, [], [one]))}
    assert found["threshold"].reversed_ == 9  # with the nine other thresholds
    assert found["solver"].reversed_ == found["gate"].reversed_ == found["regions"].reversed_ == 1
    assert found["strategy (all optimal)"].reversed_ == 0  # it is not optimal
    assert found["threshold"].compared == 17 * 45
    assert found["threshold"].tied == 0
    assert found["parts (PQ or PartPQ)"].compared == 0
    (duel,) = duels([one])
    assert duel.wins == (169, 1, 0)
    assert duel.is_contested


def test_ties_are_neither_reversed_nor_compared() -> None:
    one = contest(0.5, 0.5 + 1e-12)
    one.scores["a"][0, 0] = 0.7
    found = {flip.choice: flip for flip in flips(Grid(SETTINGS, [], [one]))}
    assert (found["threshold"].compared, found["threshold"].tied) == (9, 9)
    assert found["threshold"].reversed_ == 0


def test_parts_reverse_an_order() -> None:
    plain, by_parts = contest(0.6, 0.5), contest(0.3, 0.4)
    parts = Contest("d", "phantom", "c", "PartPQ", by_parts.scores)
    found = {flip.choice: flip for flip in flips(Grid(SETTINGS, [], [plain, parts]))}
    assert found["parts (PQ or PartPQ)"].reversed_ == found["parts (PQ or PartPQ)"].compared == 170


def test_reversals_are_counted_against_one_to_one_at_one_half() -> None:
    one, other, tied = contest(0.6, 0.5), contest(0.5, 0.6), contest(0.5, 0.5)
    one.scores["a"][3, 4] = 0.1
    shares = reversals(Grid(SETTINGS, [], [one, other, tied]))
    assert shares[3, 4] == 0.5  # of two pairs that are decided
    assert shares.sum() == 0.5
    assert np.isnan(reversals(Grid(SETTINGS, [], [tied]))).all()


def test_agreement_is_a_share_of_cells_with_some_score(grid: Grid) -> None:
    units = grid.of("PQ")
    shares, n = same_scores(units)
    scores = [(unit.scores[:, at]) for unit in units for at in range(len(THRESHOLDS))]
    alive = [one for one in scores if one.max() > 0]
    assert n == len(alive)
    for a, b in ((0, 1), (2, 8), (7, 16)):
        expected = np.mean([abs(one[a] - one[b]) <= 1e-9 for one in alive])
        assert shares[a, b] == shares[b, a] == pytest.approx(expected)
    assert (np.diag(shares) == 1).all()
    orders, n_orders = same_orders(grid.contests)
    assert (np.diag(orders) == 1).all()
    assert 0 < n_orders <= len(duels(grid.contests)) * len(THRESHOLDS)


def test_settings_agree_on_units_without_ambiguous_components(grid: Grid) -> None:
    ambiguous, agree = agreement_at_zero(grid.of("PQ"), len(RULES))
    assert (agree[ambiguous == 0] == 1).all()
    assert (agree[ambiguous > 0] < 1).any()


def test_objects_in_ambiguous_components_are_counted() -> None:
    found = pm.graph_structure(pm.count_overlaps([1, 1, 1, 2, 0], [1, 2, 0, 3, 4]))
    assert found.components["1-n"] == found.components["1-1"] == 1
    assert ambiguous_share(found) == 3 / 6
    assert np.isnan(ambiguous_share(pm.GraphStructure()))


def unit_of(overlap: pm.Overlap) -> Unit:
    rules = {"one-to-one (optimal)": pm.OneToOne(), "one-to-one (greedy)": pm.OneToOne("greedy")}
    rest = {label: pm.OneToOne() for label in SETTINGS if label not in rules}
    curves = {label: pm.curve(overlap, (rules | rest)[label]) for label in SETTINGS}
    return Unit("d", "phantom", "one", "m", "c", "PQ", curves, pm.graph_structure(overlap))


def test_greedy_falls_short_where_the_best_edge_takes_a_partner_away() -> None:
    # IoU is 0.43 and 0.4 in the first row, 0.33 in the second: greedy takes 0.43 alone.
    overlap = pm.Overlap.from_dense([[6, 4], [4, 0]], ref_sizes=[10, 6], pred_sizes=[10, 4])
    unit = unit_of(overlap)
    found = shortfalls(Grid(SETTINGS, [unit], []), "PQ")[0]
    curves = unit.curves["one-to-one (optimal)"], unit.curves["one-to-one (greedy)"]
    gaps = [curves[0].at(tau).pq - curves[1].at(tau).pq for tau in np.arange(0, 1, 1e-4)]
    assert found.heuristic == "one-to-one (greedy)"
    assert (found.units, found.always, found.above, found.unproven) == (1, 0, 0.0, 0)
    assert found.worst == pytest.approx(max(gaps), abs=1e-12)
    assert found.mean == pytest.approx(curves[0].autc - curves[1].autc, abs=1e-12)
    assert found.equal == pytest.approx(np.mean(np.abs(gaps) < 1e-9), abs=2e-4)
    assert found.where == "d: one, m"


def test_every_thing_has_thirds_and_stuff_has_none() -> None:
    dataset = with_thirds(natural.made_up(True)[0])
    case = dataset.cases[0]
    assert dataset.spec.classes["segment"].parts
    assert case.reference_parts is not None
    assert set(np.unique(case.reference_parts[case.reference > 0])) == {1, 2, 3}
    assert (thirds(np.array([[0, 4]])) == [[0, 1]]).all()  # too flat for three


def test_the_page_is_written_from_phantoms_alone(tmp_path: Path) -> None:
    grid = run_grid([nuclei.STUDY], None, tmp_path, small=True)
    block = block_of(tmp_path / "grid.md")
    assert block.startswith("On phantoms alone")
    assert f"{len(grid.of('PQ'))} units with an object" in block
    found = tables_of(block)
    assert [row["choice"] for row in found[0].rows] == [flip.choice for flip in flips(grid)]
    assert [row["setting"] for row in found[1].rows] == list(grid.settings)
    assert len(found[3].rows) == 8
    shown = [line.split("](")[1].rstrip(")") for line in block.splitlines() if "](images/" in line]
    assert len(shown) == 4
    assert all((tmp_path / name).stat().st_size > 0 for name in shown)


def test_without_data_the_grid_goes_where_it_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path | None] = []
    monkeypatch.setattr("studies.__main__.run_grid", lambda _, data, __: asked.append(data))
    main(["grid", "--data", str(tmp_path), "--out", str(tmp_path / "out")])
    assert asked == [None]
    assert "grid: phantoms, as ms_lesions and" in capsys.readouterr().err
