"""The pages of the site: links that lead somewhere, and generated pages that are current.

The site itself is built by ``make docs``, with warnings as errors.
"""

from __future__ import annotations

import doctest
import inspect
import os
import re
import tomllib
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

import panmatch
from docs.writers import PAGES as GENERATED
from docs.writers.api import BEHIND_SCORES, score_names
from docs.writers.spec_keys import attribute_texts
from panmatch import phantoms, related
from panmatch.spec import Averaging, ClassSpec, MetricOptions, Spec

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILT = ("_build", "generated")
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(
        page
        for page in sorted(DOCS.rglob("*.md"))
        if not set(BUILT) & set(page.relative_to(DOCS).parts)
    ),
]
FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`+[^`]*`+")
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def links(page: Path) -> Iterator[str]:
    text = CODE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
    return (link for link in LINK.findall(text) if "://" not in link)


def slug(title: str) -> str:
    """The anchor of a heading, by GitHub's rules."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    found: dict[str, int] = {}
    for title in map(slug, titles):
        found[title] = found.get(title, -1) + 1
    numbered = {f"{title}-{n}" for title, count in found.items() for n in range(1, count + 1)}
    return {*found, *numbered, *re.findall(r'<a id="([\w-]+)"></a>', text)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_leads_to_a_file_and_an_anchor(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: {target} does not exist"
        if anchor:
            assert anchor in anchors(target), f"{link}: {name_of(target)} has no such anchor"


def test_headings_become_anchors_as_on_github(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('# A `b.c`, d!\n## Same\n## Same\n```\n# no\n```\n<a id="d9"></a>\n')
    assert anchors(page) == {"a-bc-d", "same", "same-1", "d9"}


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {"index"}
    for page in PAGES:
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            lines = [line for line in tree.splitlines() if line and not line.startswith(":")]
            names = [re.sub(r".*<(.+)>$", r"\1", line) for line in lines]
            listed |= {os.path.relpath(page.parent / name, DOCS) for name in names}
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES if DOCS in page.parents}
    assert pages - listed == set()


@pytest.mark.parametrize("name", GENERATED)
def test_generated_pages_are_current(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page == GENERATED[name](), "run `make docs`"


@pytest.mark.parametrize("name", panmatch.__all__)
def test_every_public_name_has_a_page(name: str) -> None:
    page = (DOCS / "reference" / "api" / "index.md").read_text(encoding="utf-8")
    assert re.search(rf"^(   |```{{py:data}} panmatch\.){name}$", page, re.MULTILINE)


def test_scores_of_others_are_on_their_page() -> None:
    assert {"aji", "cc_metric", "npq", "sorted_ap"} <= set(score_names())
    assert set(BEHIND_SCORES) < set(related.__all__)


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in panmatch.__all__ if name != "__version__"),
        *(f"related.{name}" for name in score_names()),
        *(f"phantoms.{name}" for name in phantoms.__all__ if name != "SIMULATED_MODELS"),
    ],
)
def test_examples_of_public_names_run_as_they_are_copied(name: str) -> None:
    doc = inspect.getdoc(attrgetter(name)(panmatch)) or ""
    examples = doc.partition("\nExamples\n--------\n")[2]
    nothing: dict[str, object] = {}  # not even what the module has imported
    test = doctest.DocTestParser().get_doctest(examples, nothing, name, None, None)
    assert test.examples, "add a section Examples to its docstring"
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("model", [Spec, ClassSpec, MetricOptions, Averaging])
def test_every_key_of_a_spec_has_a_meaning(model: type[Spec]) -> None:
    texts = attribute_texts(model)
    assert list(texts) == list(model.model_fields)
    assert all(texts.values())


def test_every_definition_has_an_anchor_and_a_heading() -> None:
    page = (DOCS / "explanation" / "definitions.md").read_text(encoding="utf-8")
    found = re.findall(r'^<a id="d(\d+)"></a>\n\n### D(\d+) \w', page, re.MULTILINE)
    assert found == [(str(n), str(n)) for n in range(1, 19)]


def test_the_citation_says_what_the_citation_file_says() -> None:
    page = (DOCS / "about" / "index.md").read_text(encoding="utf-8")
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for key in ("title", "version", "license"):
        (value,) = re.findall(rf'^{key}: "?(.+?)"?$', cff, re.MULTILINE)
        assert f"  {key} = {{{value}}},\n" in page
    assert "  author = {{The panmatch developers}},\n" in page


def test_the_page_of_extras_lists_what_can_be_installed() -> None:
    page = (DOCS / "start" / "install.md").read_text(encoding="utf-8")
    shown = {
        name: brings.lower() for name, brings in re.findall(r"^\| `(\w+)` \| (.*?) \|", page, re.M)
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        name: ", ".join(re.split(r"[<>=~]", one)[0].lower() for one in needed)
        for name, needed in project["optional-dependencies"].items()
        if name != "all"
    }
    assert {name: sorted(text.split(", ")) for name, text in shown.items()} == {
        name: sorted(text.split(", ")) for name, text in extras.items()
    }


def test_speeds_of_the_readme_were_measured() -> None:
    measured = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    speeds = (ROOT / "README.md").read_text(encoding="utf-8").split("## Speed")[1]
    shown = re.findall(r"\d[\d.]* m?s\b", speeds)
    assert len(shown) == 6
    assert [one for one in shown if one not in measured] == []


QUESTIONS = {
    "How do I install it?": "start/install.md",
    "I have nnU-Net folders. What now?": "how-to/nnunet.md",
    "Which strategy is right for me?": "choosing/index.md",
    "What does this column mean?": "reference/columns.md",
    "How do I cite it?": "about/index.md",
    "How do I reproduce a challenge's number?": "how-to/challenge-numbers.md",
    "How do I add a metric?": "how-to/custom-metric.md",
}


def clicks(start: Path) -> dict[Path, int]:
    """How many links of a page lead to every other page."""
    found, waiting = {start: 0}, [start]
    for page in waiting:
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target not in found:
                found[target] = found[page] + 1
                waiting.append(target)
    return found


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("start", ["index.md", "start/index.md"])
def test_a_newcomer_finds_answers_within_two_clicks(start: str, question: str) -> None:
    assert clicks(DOCS / start)[DOCS / QUESTIONS[question]] <= 2
