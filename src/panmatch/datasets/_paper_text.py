"""A run as text for a paper: a methods paragraph, a results paragraph, and what to cite."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import panmatch
from panmatch.datasets._citations import CITATIONS, Citation, citations_of, without_citation
from panmatch.datasets._comparison import compare
from panmatch.datasets._criteria import Difference
from panmatch.datasets._methods_paragraph import methods_sentences, protocol_works
from panmatch.datasets._outputs import read_run
from panmatch.datasets._paper_sentences import MARK, listed, results_sentence
from panmatch.datasets._run import load_run
from panmatch.datasets._verdict import headline_rankings
from panmatch.errors import FileError, check_choice
from panmatch.evaluation import Result, number, p_text

PaperFormat = Literal["text", "markdown", "latex"]
LATEX = {
    "\\": r"\textbackslash{}", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "τ": r"$\tau$", "≥": r"$\geq$", ">": "$>$", "<": "$<$", "−": "$-$", "µ": r"\textmu{}",
    "³": "$^3$",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PaperText:
    """What a paper says about a run; works to cite are marked as ``[@key]`` in the paragraphs.

    Attributes
    ----------
    methods, results
        How it was scored, and what came out.
    citations
        The works to cite.
    without_citation
        Scores whose source panmatch has no entry for.
    """

    methods: str
    results: str
    citations: tuple[Citation, ...]
    without_citation: tuple[str, ...] = ()

    @property
    def bibtex(self) -> str:
        """The entries of all works to cite."""
        return "\n\n".join(one.bibtex for one in self.citations)

    @property
    def remark(self) -> str:
        """What is left to do for the reader; empty where nothing is."""
        names = listed(self.without_citation)
        return f"Add the sources that you follow for {names}: panmatch has none." if names else ""

    def paragraphs(self, form: PaperFormat = "text") -> tuple[str, str]:
        """Return methods and results, with the works cited as a format does it."""
        check_choice("format", form, get_args(PaperFormat))
        render = {"text": _with_names, "markdown": _as_it_is, "latex": _as_latex}[form]
        return render(self.methods), render(self.results)


def paper_text(
    result: Result, version: str = panmatch.__version__, protocol: Mapping[str, str] | None = None
) -> PaperText:
    """Return text for a paper about a result, with the works that its numbers rest on.

    Parameters
    ----------
    result
        One case, or many.
    version
        The version of panmatch that evaluated it.
    protocol
        Name, program, version and source of the protocol that was followed, if any.

    Examples
    --------
    >>> from panmatch.datasets import evaluate
    >>> found = paper_text(evaluate(reference=[[1, 1, 0]], prediction=[[2, 2, 0]]))
    >>> found.paragraphs()[1]
    'On 1 case, PQ (object, one-to-one (optimal) at τ = 0.1) was 1.000 (SQ 1.000, RQ 1.000).'
    >>> [one.short for one in found.citations]
    ['The panmatch developers', 'Großkopf et al.', 'Kirillov et al. 2019', 'Kuhn 1955']
    """
    spec, differences = result.spec, _differences(result)
    methods = [*methods_sentences(result, version, protocol)]
    if differences:
        methods.append(
            "Models were compared by the mean PQ of the cases that all of them have, and paired "
            "differences tested by Wilcoxon's signed-rank test, with p-values corrected by Holm's "
            "method over pairs of models."
        )
    results = [results_sentence(result), *map(_difference_sentence, differences)]
    works = [*citations_of(spec, version), *protocol_works(protocol)]
    return PaperText(_paragraph(methods), _paragraph(results), tuple(works), without_citation(spec))


def run_text(folder: Path) -> PaperText:
    """Return text for a paper about a run, from the folder that `panmatch evaluate` wrote."""
    run = read_run(folder)
    return paper_text(load_run(folder), run["versions"]["panmatch"], run.get("protocol"))


def _paragraph(sentences: Sequence[str]) -> str:
    return " ".join(filter(None, sentences))


def _differences(result: Result) -> list[Difference]:
    """Return how much better the best model is than each other one, in the first setting."""
    if len(result.models) < 2:
        return []
    try:
        comparison = compare(result, ["pq"])
    except FileError:  # no case is shared
        return []
    criterion, placings = next(iter(headline_rankings(comparison).items()))
    found = {
        frozenset((one.first, one.second)): one
        for one in comparison.differences
        if one.criterion == criterion
    }
    return [found[frozenset((placings[0].model, other.model))] for other in placings[1:]]


def _difference_sentence(difference: Difference) -> str:
    test, swapped = difference.test, difference.test.mean_difference < 0
    models = (difference.first, difference.second)
    better, worse = models[::-1] if swapped else models
    if math.isnan(test.mean_difference):
        return f"{better} and {worse} have no case in common on which PQ is defined."
    sign = -1 if swapped else 1
    ends = sorted(sign * end for end in (test.interval.low, test.interval.high))
    between = f"95 % interval {ends[0]:.3f} to {ends[1]:.3f}, " if test.interval.is_defined else ""
    p = p_text(difference.p_holm)
    if test.mean_difference == 0:
        return f"The mean PQ of cases was the same for {better} and {worse} (n = {test.n})."
    return (
        f"The mean PQ of cases was higher for {better} than for {worse} by "
        f"{number(abs(test.mean_difference))} ({between}p {p if p.startswith('<') else f'= {p}'}, "
        f"n = {test.n})."
    )


def _as_it_is(text: str) -> str:
    """Return a text that cites as Pandoc's Markdown does."""
    return text


def _with_names(text: str) -> str:
    """Return a text that cites by authors and year."""

    def named(found: re.Match[str]) -> str:
        return f" [{'; '.join(CITATIONS[key[1:]].short for key in found[1].split('; '))}]"

    return MARK.sub(named, text)


def _as_latex(text: str) -> str:
    r"""Return a text that cites by commands, with characters escaped that LaTeX reads otherwise.

    Examples
    --------
    >>> _as_latex("95 % of cases at τ > 0.1 [@panmatch; @kuhn_hungarian]")
    '95 \\% of cases at $\\tau$ $>$ 0.1~\\cite{panmatch,kuhn_hungarian}'
    """
    parts = MARK.split(text)
    escaped = ["".join(LATEX.get(letter, letter) for letter in part) for part in parts[::2]]
    cited = [f"~\\cite{{{part.replace('; ', ',').replace('@', '')}}}" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(escaped, [*cited, ""], strict=True))
