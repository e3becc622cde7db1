"""Studies on small phantoms: what is written is what direct calls give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import panmatch as pm
from panmatch.labels import connected_components
from studies import lesions, nuclei, vertebrae, white_cells
from studies.__main__ import STUDIES, main
from studies.page import BEGIN, END, MOST_BYTES, block_of, replace_block, save, write_index
from studies.running import run
from studies.study import Picture
from studies.summing import Lead, joined
from tests.studies.tables import Table, tables_of

Written = dict[str, Path]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Run every study on small phantoms."""
    out = tmp_path_factory.mktemp("studies")
    for study in STUDIES.values():
        run(study, None, out, small=True)
    return {name: out / f"{name}.md" for name in STUDIES}


def grid_of(page: Path) -> Table:
    return next(table for table in tables_of(block_of(page)) if "half at τ" in table.head)


def cell(table: Table, model: str, way: str, column: str) -> float:
    row = next(row for row in table.rows if (row["model"], row["strategy"]) == (model, way))
    return float(row[column])


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_of_phantoms_says_so_and_shows_small_figures(written: Written, name: str) -> None:
    block = block_of(written[name])
    assert block.startswith("On phantoms")
    shown = [line.split("](")[1].rstrip(")") for line in block.splitlines() if "](images/" in line]
    assert len(shown) >= 3
    for image in shown:
        assert 0 < (written[name].parent / image).stat().st_size <= MOST_BYTES


@pytest.mark.parametrize("name", STUDIES)
def test_the_grid_has_every_way_at_every_threshold(written: Written, name: str) -> None:
    grid = grid_of(written[name])
    assert grid.head[2:12] == [f"{step / 10:g}" for step in range(10)]
    ways = [row["strategy"] for row in grid.rows]
    assert len(ways) == 8 * len({row["model"] for row in grid.rows})
    assert set(ways) == {
        "one-to-one (optimal)",
        "many-to-one (merge, seed)",
        "many-to-one (merge, edge)",
        "many-to-one (optimal, seed)",
        "one-to-many (best)",
        "one-to-many (optimal)",
        "many-to-one (merge, seed) in regions",
        "union",
    }


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7])
@pytest.mark.parametrize(
    ("way", "strategy"),
    [
        ("one-to-one (optimal)", pm.OneToOne()),
        ("many-to-one (merge, edge)", pm.ManyToOne(gate="edge")),
        ("one-to-many (optimal)", pm.OneToMany(solver="optimal")),
    ],
)
def test_pooled_pq_of_nuclei_is_that_of_summed_tallies(
    written: Written, way: str, strategy: pm.Strategy, threshold: float
) -> None:
    cases = [one for one in nuclei.made_up(True)[0].cases if one.model == "merges"]
    overlaps = [pm.count_overlaps(one.reference, one.prediction) for one in cases]
    tally = sum(
        (pm.match(one, strategy, threshold).tally for one in overlaps), start=pm.Tally(0, 0, 0, 0.0)
    )
    area = sum((pm.curve(one, strategy) for one in overlaps[1:]), pm.curve(overlaps[0], strategy))
    grid = grid_of(written["nuclei"])
    assert cell(grid, "merges", way, f"{threshold:g}") == pytest.approx(tally.pq, abs=5.01e-4)
    assert cell(grid, "merges", way, "AUTC") == pytest.approx(area.autc, abs=5.01e-4)


def test_union_of_lesions_is_matched_among_components_in_cells(written: Written) -> None:
    cases = [one for one in lesions.made_up(True)[0].cases if one.model == "splits"]
    tally = pm.Tally(0, 0, 0, 0.0)
    for one in cases:
        sides = connected_components(one.reference), connected_components(one.prediction)
        cut = pm.count_region_overlaps(*sides, one.spacing)
        tally += pm.match(cut, pm.RegionUnion(), 0.5).tally
    found = cell(grid_of(written["lesions"]), "splits", "union", "0.5")
    assert found == pytest.approx(tally.pq, abs=5.01e-4)


def test_parts_of_vertebrae_and_cells_count_without_background(written: Written) -> None:
    for module, name, model in (
        (vertebrae, "vertebrae", "splits"),
        (white_cells, "white_cells", "guessed nuclei"),
    ):
        tally = pm.Tally(0, 0, 0, 0.0)
        for one in module.made_up(True)[0].cases:
            if one.model == model:
                sides = one.reference, one.prediction, one.reference_parts, one.prediction_parts
                overlap = pm.count_part_overlaps(*sides, background="none")
                by_parts = pm.match(overlap, "many-to-one", 0.2).part_tally
                assert by_parts is not None
                tally += by_parts
        found = cell(grid_of(written[name]), model, "many-to-one (merge, seed)", "0.2")
        assert found == pytest.approx(tally.pq, abs=5.01e-4)


def test_a_lead_holds_where_the_model_has_the_highest_score(written: Written) -> None:
    cases = nuclei.made_up(True)[0].cases
    curves: dict[str, pm.Curve] = {}
    for one in cases:
        added = pm.curve(pm.count_overlaps(one.reference, one.prediction), "one-to-one")
        curves[one.model] = curves[one.model] + added if one.model in curves else added
    tables = tables_of(block_of(written["nuclei"]))
    leaders = next(table for table in tables if "highest AUTC" in table.head)
    row = next(row for row in leaders.rows if row["strategy"] == "one-to-one (optimal)")
    for words in row["highest pooled PQ, by threshold"].split("; "):
        if words.startswith("changing"):
            continue
        between, names = words.split(" ", 1)
        start, stop = map(float, between.split("–"))
        middle = (start + stop) / 2
        scores = {model: curve.at(middle).pq for model, curve in curves.items()}
        best = sorted(model for model in scores if np.isclose(scores[model], max(scores.values())))
        assert names == ("all equal" if len(best) == len(curves) else " = ".join(best))


def test_the_index_has_a_row_for_every_data_set(written: Written) -> None:
    index = written["lesions"].with_name("index.md")
    linked = [line.split("](")[1].split(".md")[0] for line in block_of(index).splitlines()[2:]]
    assert list(dict.fromkeys(linked)) == list(STUDIES)


def test_rows_of_other_studies_stay_in_the_index(tmp_path: Path) -> None:
    head = "| study | n |\n|---|---|"
    write_index({"a": ["| [A](a.md) | 1 |", "| [A 2](a.md) | 2 |"]}, head, tmp_path)
    write_index({"b": ["| [B](b.md) | 3 |"]}, head, tmp_path)
    write_index({"a": ["| [A](a.md) | 4 |"]}, head, tmp_path)
    rows = block_of(tmp_path / "index.md").splitlines()[2:]
    assert rows == ["| [A](a.md) | 4 |", "| [B](b.md) | 3 |"]


def test_text_around_the_marks_is_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nAfter.\n", encoding="utf-8")
    replace_block(page, "new", "")
    assert page.read_text("utf-8") == f"# Mine\n\n{BEGIN}\n\nnew\n\n{END}\n\nAfter.\n"


def test_leads_of_the_same_model_that_meet_are_one() -> None:
    leads = [Lead(0, 0.2, ("a",)), Lead(0.2, 0.4, ("a",)), Lead(0.4, 1, ("a", "b"))]
    assert joined(leads) == [Lead(0, 0.4, ("a",)), Lead(0.4, 1, ("a", "b"))]


def test_guessed_nuclei_are_the_inner_half_of_every_cell() -> None:
    cells = np.zeros((9, 20), np.int64)
    cells[1:8, 1:8], cells[1:8, 10:17] = 1, 2
    parts = white_cells.guess_nuclei(cells)
    assert (parts[3:6, 3:6] == white_cells.NUCLEUS).all()
    for place in (cells == 1, cells == 2):
        assert (parts[place] == white_cells.NUCLEUS).sum() == 9
    assert (parts[cells == 0] == 0).all()


def test_a_figure_that_is_too_large_says_by_how_much(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 12))
    noise = np.random.default_rng(0).random((1500, 1500, 3))
    figure.figimage(noise)
    with pytest.raises(
        pm.PanmatchError, match=r"lesions-noise\.png has \d+ bytes; .* 150000 at most"
    ):
        save(Picture("noise", "Noise", figure), "lesions", tmp_path)


def test_an_unknown_study_is_an_error_that_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bogus"])
    assert "there is no study 'bogus'; there are lesions, vertebrae" in capsys.readouterr().err


def test_without_data_phantoms_go_where_they_are_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["natural", "--data", str(tmp_path), "--out", str(tmp_path / "out")])
    assert "natural: phantoms, as natural_deeplab2 and" in capsys.readouterr().err
    assert block_of(tmp_path / "out" / "natural.md").startswith("On phantoms")
