"""`panmatch cite`: a run in the words of a paper, and what to cite."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from panmatch.cli._layout import screen_width, wrapped
from panmatch.errors import check_choice

if TYPE_CHECKING:
    from panmatch.datasets import PaperFormat, PaperText

HEADINGS = {"text": "{}\n", "markdown": "## {}\n", "latex": "% {}"}


def cite(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Output of `panmatch evaluate`, or result JSON."),
    ],
    form: Annotated[
        str, typer.Option("--format", help="How to write it: text, markdown or latex.")
    ] = "text",
    bibtex: Annotated[
        bool, typer.Option("--bibtex", help="Print only the BibTeX entries.")
    ] = False,
) -> None:
    """Print methods, results and references for a paper."""
    from panmatch.datasets import PaperFormat, paper_text, run_text
    from panmatch.evaluation import Result

    check_choice("--format", form, get_args(PaperFormat))
    found = paper_text(Result.load(run)) if run.is_file() else run_text(run)
    typer.echo(found.bibtex if bibtex else cited(found, cast("PaperFormat", form), run))


def cited(found: PaperText, form: PaperFormat, path: Path) -> str:
    """Return paragraphs and entries, each below a heading.

    Entries are not LaTeX: they belong in another file, so a comment says how to get them.
    """
    width = screen_width()
    methods, results = ("\n".join(wrapped(one, width)) for one in found.paragraphs(form))
    blocks = {"Methods": methods, "Results": results}
    if form != "latex":
        fence = ("```bibtex\n", "\n```") if form == "markdown" else ("", "")
        blocks["References (BibTeX)"] = found.bibtex.join(fence)
    texts = [f"{HEADINGS[form].format(title)}\n{text}" for title, text in blocks.items()]
    if form == "latex":
        texts.append(f"% References: {shlex.join(['panmatch', 'cite', str(path), '--bibtex'])}")
    indent = "% " if form == "latex" else ""
    remark = "\n".join(wrapped(f"{indent}{found.remark}", width, indent)) if found.remark else ""
    return "\n\n".join(filter(None, [*texts, remark]))
