"""The pages in docs/explanation/studies: everything in numbers was written by the scripts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from studies.__main__ import ROOT, STUDIES
from studies.page import BEGIN, END, MOST_BYTES, block_of
from studies.running import run
from studies.whole_grid import TITLE

PAGES = ROOT / "docs" / "explanation" / "studies"
DATA = ROOT.parent / "shared" / "data"
NAMES = [*STUDIES, "grid", "index"]
# Scores have three digits, and counts of one digit occur everywhere.
NUMBER = re.compile(r"(?<![\w.])\d+\.\d{3}(?!\w)|(?<![\w.-])\d{2,}(?![\w.]*\d)(?!\w)")


def text_of(name: str) -> str:
    """Return what people wrote: all but what lies between the marks."""
    before, rest = (PAGES / f"{name}.md").read_text(encoding="utf-8").split(BEGIN)
    return before + rest.split(END)[1]


@pytest.mark.parametrize("name", NAMES)
def test_tables_stand_between_the_marks(name: str) -> None:
    assert not [line for line in text_of(name).splitlines() if line.startswith("|")]
    assert "|---|" in block_of(PAGES / f"{name}.md")


@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_the_text_are_in_the_tables(name: str) -> None:
    known = set(NUMBER.findall(block_of(PAGES / f"{name}.md")))
    assert set(NUMBER.findall(text_of(name))) <= known


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_answers_the_same_questions_as_the_others(name: str) -> None:
    text = text_of(name)
    assert text.startswith(f"# {STUDIES[name].title}\n")
    assert "**How far to trust this.**" in text
    wanted = ("Which is better", "What each strategy forgives", "How much depends on the threshold",
              "What to report")  # fmt: skip
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    for question in wanted:
        assert any(heading.startswith(question) for heading in headings), question


def test_the_whole_grid_says_what_flips_where_settings_agree_and_what_greedy_misses() -> None:
    text, block = text_of("grid"), block_of(PAGES / "grid.md")
    assert text.startswith(f"# {TITLE}\n")
    assert "**How far to trust this.**" in text
    for heading in ("What flips", "Where settings agree", "How often greedy equals optimal"):
        assert f"\n## {heading}" in text
        assert f"\n### {heading}" in block
    shares = set(re.findall(r"\d+\.\d %", text))
    assert shares
    assert shares <= set(re.findall(r"\d+\.\d %", block))


@pytest.mark.parametrize("name", [*STUDIES, "grid"])
def test_committed_pages_are_about_real_images(name: str) -> None:
    assert block_of(PAGES / f"{name}.md").startswith("On real images")


def test_every_figure_is_shown_and_every_shown_figure_is_there() -> None:
    shown = {
        match
        for name in (*STUDIES, "grid")
        for match in re.findall(r"\]\(images/(.+?)\)", (PAGES / f"{name}.md").read_text("utf-8"))
    }
    assert shown == {path.name for path in (PAGES / "images").iterdir()}
    assert all((PAGES / "images" / name).stat().st_size <= MOST_BYTES for name in shown)


def test_links_of_the_index_lead_to_pages() -> None:
    links = set(re.findall(r"\]\((\w+)\.md\)", (PAGES / "index.md").read_text("utf-8")))
    assert links == {*STUDIES, "grid"}


@pytest.mark.skipif(
    not (DATA / "wbc_cell_nucleus_parts").exists(), reason="the white blood cells are not at hand"
)
def test_a_page_is_what_its_script_writes_today(tmp_path: Path) -> None:
    shutil.copy(PAGES / "white_cells.md", tmp_path)
    run(STUDIES["white_cells"], DATA, tmp_path)
    fresh = (tmp_path / "white_cells.md").read_text("utf-8")
    assert fresh == (PAGES / "white_cells.md").read_text("utf-8")


@pytest.mark.skipif(
    not (DATA / "natural_deeplab2").exists(), reason="the natural images are not at hand"
)
def test_persons_and_bear_have_the_scores_that_deeplab2_expects() -> None:
    from studies import natural
    from studies.grid import ONE
    from studies.summing import Summed

    dataset = natural.real(DATA)[0]
    summed = Summed(dataset.evaluate())
    assert summed.pq("deeplab", "person", ONE, 0.5) == pytest.approx(0.702436, abs=1e-6)
    assert summed.pq("deeplab", "bear", ONE, 0.5) == pytest.approx(0.54069, abs=1e-5)
    assert summed.counts("deeplab", "person", ONE, 0.5) == (7, 0, 1)
