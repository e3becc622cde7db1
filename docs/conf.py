"""How Sphinx builds the site: ``make docs`` writes it to docs/_build/html."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

import panmatch

HERE = Path(__file__).resolve().parent

project = "panmatch"
author = "The panmatch developers"
copyright = author  # noqa: A001
version = release = panmatch.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "writers"]
templates_path = ["_templates"]
smartquotes = False  # they make –model of --model
default_role = "py:obj"  # `match` in a docstring is a link

# Pages are Markdown that GitHub shows as well, so anchors follow its rules.
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath", "tasklist"]
myst_fence_as_directive = ["math"]  # GitHub's fence for formulas
html_math_renderer = "mathml"  # see `show_formula`: no script, no network
myst_heading_anchors = 4

# `make notebooks` runs them; the site shows the outputs that they keep.
nb_execution_mode = "off"
nb_merge_streams = True

autodoc_mock_imports = ["torch", "torchmetrics"]  # gigabytes, for the page of one class
autodoc_typehints = "none"  # `show_types` has them as they are written in the code
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
autodoc_member_order = "bysource"
autosummary_generate = True
# Files of Curve and curve would be one where case does not tell names apart.
autosummary_filename_map = {
    f"panmatch.{name}": f"panmatch.{name}-function"
    for name in panmatch.__all__
    if any(name == other.lower() for other in panmatch.__all__ if other != name)
}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Of examples and consoles people copy what they type, without prompts and outputs.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_theme = "pydata_sphinx_theme"
html_title = "panmatch"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_show_search_summary = False  # browsers refuse to read pages from disk for it
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}


def copy_notebooks() -> None:
    """Bring the notebooks in: Sphinx reads only what lies below its folder."""
    there, notebooks = HERE / "tutorials", HERE.parent / "notebooks"
    for left in there.glob("*.ipynb"):
        if not (notebooks / left.name).exists():
            left.unlink()
    for notebook in sorted(notebooks.glob("*.ipynb")):
        copy = there / notebook.name
        text = notebook.read_text(encoding="utf-8").replace("](../docs/", "](../")
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")


copy_notebooks()

# What lies outside of this folder and is linked to, and the pages of the site that show it.
ELSEWHERE = {
    "README.md": "/index.md",
    "CONTRIBUTING.md": "/about/contributing.md",
    "CHANGELOG.md": "/about/changes.md",
    "benchmarks/README.md": "/explanation/speed.md",
    "notebooks": "/tutorials/index.md",
}
LINK = re.compile(r"\]\(([^)#:\s]+)(?=[#)])")
INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)
TREE = re.compile(r"^!\[Decision tree[^\]]*\]\(/(choosing/images/[\w-]+\.svg)\)$", re.MULTILINE)
LAST_LINE = re.compile(r"^(```python\n(?:(?!^```).*\n)*?)\n```$", re.MULTILINE)  # for doctest
ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)
RESOURCE = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)="(https?:[^"]*)"')
CODE = re.compile(r"(``.*?``)")
NAME = re.compile(rf"(?<![`:])`({'|'.join(panmatch.__all__)})`(?!`)")
PAGE = re.compile(r"``docs/([\w/-]+)\.md``")
DEFINITION = re.compile(r"\bD(1[0-5]|[1-9])\b")


def adapt_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn what GitHub and doctest want into what MyST does."""
    folder = Path(app.env.doc2path(name)).parent
    text = _adapted_links(LAST_LINE.sub(r"\1```", source[0]), folder)
    text = TREE.sub(lambda found: _drawn(app, HERE / found[1]), text)
    source[0] = INCLUDE.sub(
        lambda found: _included(app, folder / found[1]), ANCHOR.sub(r"(\1)=", text)
    )


def _drawn(app: Sphinx, path: Path) -> str:
    """Return a picture as part of the page, so that one can click on what it links to."""
    app.env.note_dependency(path)
    picture = path.read_text(encoding="utf-8")
    return f'```{{raw}} html\n<div class="decision-tree">\n{picture}</div>\n```'


def _included(app: Sphinx, path: Path) -> str:
    app.env.note_dependency(path)
    return _adapted_links(path.read_text(encoding="utf-8"), path.parent)


def _adapted_links(text: str, folder: Path) -> str:
    """Return links of a file in a folder as links between pages of the site."""

    def adapted(found: re.Match[str]) -> str:
        target = (folder / found[1]).resolve()
        if not target.exists() or not target.is_relative_to(HERE.parent):
            return found[0]  # not a link, but code
        if target.is_relative_to(HERE):
            return f"](/{target.relative_to(HERE)}"
        if target.suffix == ".ipynb":
            return f"](/tutorials/{target.name}"
        return f"]({ELSEWHERE.get(str(target.relative_to(HERE.parent)), found[1])}"

    return LINK.sub(adapted, text)


def adapt_docstring(
    app: Sphinx,  # noqa: ARG001
    what: str,  # noqa: ARG001
    name: str,  # noqa: ARG001
    obj: object,  # noqa: ARG001
    options: object,  # noqa: ARG001
    lines: list[str],
) -> None:
    """Link D1 … D15 and pages, and keep |g| a size: else it would be a substitution."""
    for at, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            texts = CODE.split(PAGE.sub(r":doc:`/\1`", line))  # every other one is code
            texts[::2] = [_adapted(text) for text in texts[::2]]
            lines[at] = "".join(texts)


def _adapted(text: str) -> str:
    plain = re.sub(r"(?<!\\)\|", r"\\|", NAME.sub(r":py:obj:`\1 <panmatch.\1>`", text))
    return DEFINITION.sub(lambda found: f":ref:`D{found[1]} <d{found[1]}>`", plain)


def show_types(
    app: Sphinx,  # noqa: ARG001
    what: str,
    name: str,
    obj: object,
    options: object,  # noqa: ARG001
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """Return a signature with types as the code has them: ArrayLike, not all that it stands for."""
    if name == "panmatch.Spec":
        return "(**keys)", None  # the page of spec keys has all of them
    if what not in ("class", "function", "method") or not callable(obj) or signature is None:
        return signature, returns
    found = inspect.signature(obj)
    if what == "method" and "self" in found.parameters:
        found = found.replace(parameters=list(found.parameters.values())[1:])
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(found)).replace("npt.", "")
    arguments, _, result = text.partition(" -> ")
    return arguments, None if what == "class" else result or None


def show_formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers draw themselves, in the colour of the text."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        raise ExtensionError(f"{node.astext()!r} cannot be a formula: {error}") from error
    formula = formula.replace(">|</mo>", ' lspace="0" rspace="0">|</mo>')  # |g|, not | g |
    translator.body.append(f'<div class="formula">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def refuse_network(app: Sphinx, error: Exception | None) -> None:
    """Fail if opening a page would ask the network for anything; links to click are fine."""
    if error is None:
        for page in sorted(Path(app.outdir).rglob("*.html")):
            found = RESOURCE.search(page.read_text(encoding="utf-8"))
            if found:
                raise ExtensionError(f"{page.name} loads {found[1]}: bring the file along.")


def setup(app: Sphinx) -> None:
    """Register what is particular to this site."""
    app.add_html_math_renderer("mathml", (show_formula, None), (show_formula, None))
    app.connect("source-read", adapt_page)
    app.connect("autodoc-process-docstring", adapt_docstring, priority=900)
    app.connect("autodoc-process-signature", show_types)
    app.connect("build-finished", refuse_network)
