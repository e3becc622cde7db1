"""`panmatch cite`: a run in the words of a paper, and what to cite."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import cast, get_args

from panmatch.cli._layout import screen_width, wrapped
from panmatch.datasets import PaperFormat, PaperText, paper_text, run_text
from panmatch.errors import check_choice
from panmatch.evaluation import Result

HEADINGS = {"text": "{}\n", "markdown": "## {}\n", "latex": "% {}"}


def run_cite(path: Path, form: str = "text", *, only_entries: bool = False) -> None:
    """Print methods, results and BibTeX entries of a run, or the entries alone."""
    check_choice("--format", form, get_args(PaperFormat))
    found = paper_text(Result.load(path)) if path.is_file() else run_text(path)
    print(found.bibtex if only_entries else cited(found, cast("PaperFormat", form), path))


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
