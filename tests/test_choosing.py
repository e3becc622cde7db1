"""The Choosing pages: every advice and every leaf leads to a section and a scene that exist."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.writers.choosing import (
    ENDINGS,
    FILLED,
    PAGES,
    PARTS_TREE,
    STRATEGY_TREE,
    THRESHOLD_TREE,
    Ending,
)
from docs.writers.tree_svg import WIDTH
from panmatch.datasets import _advice_points as points
from panmatch.playground import PRESETS, read_link
from tests.test_site import anchors

DOCS = Path(__file__).parents[1] / "docs"
PAGE, SCENES = DOCS / "choosing" / "index.md", DOCS / "choosing" / "scenes.md"
TREES = ("strategy", "threshold", "parts-or-not")


def test_advice_leads_to_sections_of_the_page() -> None:
    source = Path(points.__file__).read_text(encoding="utf-8")
    topics = r"^ +\"((?:when|what|many|small|autc|noisy)-[\w-]+)\""
    named = set(re.findall(topics, source, re.MULTILINE))
    named |= set(re.findall(r'"(regions|parts|small-objects|what-to-report)"', source))
    assert len(named) >= 8
    assert named <= anchors(PAGE)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.anchor)
def test_every_leaf_has_a_scene_that_opens_and_a_section_that_explains(ending: Ending) -> None:
    assert ending.anchor in anchors(SCENES)
    assert ending.section in anchors(PAGE)
    assert read_link(f"#{ending.scene}")[0] == {one.id: one for one in PRESETS}[ending.scene].state
    page = PAGE.read_text(encoding="utf-8")
    assert f"scenes.md#{ending.anchor}" in page


@pytest.mark.parametrize("name", TREES)
def test_leaves_of_a_tree_are_links_to_what_is_there(name: str) -> None:
    picture = (DOCS / "choosing" / "images" / f"{name}.svg").read_text(encoding="utf-8")
    links = re.findall(r'<a href="([^"#]+)\.html#([^"]+)">', picture)
    trees = {"strategy": STRATEGY_TREE, "threshold": THRESHOLD_TREE, "parts-or-not": PARTS_TREE}
    assert len(links) == len(trees[name]) + 1
    for page, anchor in links:
        assert anchor in anchors(DOCS / "choosing" / f"{page}.md")


@pytest.mark.parametrize("name", [name for name in PAGES if name.endswith(".svg")])
def test_pictures_are_valid_have_a_title_and_load_nothing(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.find("{http://www.w3.org/2000/svg}title") is not None
    assert not re.search(r'(?:src|xlink:href)=|url\((?!#)|href="http', text)


@pytest.mark.parametrize("name", TREES)
def test_trees_are_narrow_enough_for_a_phone(name: str) -> None:
    root = ElementTree.parse(DOCS / "choosing" / "images" / f"{name}.svg").getroot()
    assert float(root.attrib["width"]) == WIDTH + 2 <= 402
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        wide = float(text.attrib["x"]) + 7.6 * len(text.text or "")
        assert wide <= WIDTH, text.text


def test_only_one_scene_is_not_a_leaf() -> None:
    leaves = {question.leaf.link for tree in (STRATEGY_TREE, THRESHOLD_TREE, PARTS_TREE)
              for question in tree}  # fmt: skip
    others = [ending for ending in ENDINGS if ending.leaf.link not in leaves]
    assert FILLED in others
    assert len(others) == 3  # with the two that remain when every answer is no
