"""A run as text for a paper: a methods paragraph, a results paragraph, and what to cite."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import panmatch
from panmatch.datasets._citations import (
    CITATIONS,
    FRAMEWORK,
    OF_RELATED,
    PANOPTICA,
    PLAIN_COUNTS,
    Citation,
    citations_of,
    without_citation,
)
from panmatch.datasets._comparison import compare
from panmatch.datasets._criteria import Difference
from panmatch.datasets._outputs import read_run
from panmatch.datasets._paper_sentences import (
    MARK,
    listed,
    mark,
    marked_methods,
    matcher_text,
    results_sentence,
)
from panmatch.datasets._run import load_run
from panmatch.datasets._verdict import headline_rankings
from panmatch.errors import FileError, check_choice
from panmatch.evaluation import MEANS, Result, number, p_text
from panmatch.scoring import Metric
from panmatch.spec import ClassSpec, Spec

PaperFormat = Literal["text", "markdown", "latex"]
MOST_CLASSES = 6  # that are described; of more, only the names are listed
ENCODINGS = {
    "coco": "COCO panoptic files",
    "cityscapes": "Cityscapes instance ids",
    "panoptic-parts": "Panoptic Parts ids",
}
NEIGHBOURS = {"full": {2: 8, 3: 26}, "faces": {2: 4, 3: 6}}  # by axes of the image
UNDEFINED = {
    "skip": "were left out of means over cases",
    "zero": "counted as 0 in means over cases",
    "one": "counted as 1 in means over cases",
}
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
        render = {"text": _with_names, "markdown": str, "latex": _as_latex}[form]
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
    methods = [
        _classes_sentence(result),
        marked_methods(result, version),
        _framework_sentence(),
        _settings_sentence(result),
        *_metric_sentences(result),
        *_special_sentences(result),
        _protocol_sentence(protocol),
    ]
    if differences:
        methods.append(
            "Models were compared by the mean PQ of the cases that all of them have, and paired "
            "differences tested by Wilcoxon's signed-rank test, with p-values corrected by Holm's "
            "method over pairs of models."
        )
    results = [results_sentence(result), *map(_difference_sentence, differences)]
    works = [*citations_of(spec, version), *_protocol_works(protocol)]
    return PaperText(_paragraph(methods), _paragraph(results), tuple(works), without_citation(spec))


def run_text(folder: Path) -> PaperText:
    """Return text for a paper about a run, from the folder that `panmatch evaluate` wrote."""
    run = read_run(folder)
    return paper_text(load_run(folder), run["versions"]["panmatch"], run.get("protocol"))


def _paragraph(sentences: Sequence[str]) -> str:
    return " ".join(filter(None, sentences))


def _framework_sentence() -> str:
    return (
        f"Matching strategies and the counting of objects follow the unified framework for "
        f"instance matching{mark(FRAMEWORK)}."
    )


def _classes_sentence(result: Result) -> str:
    """Return what the classes are, and what an object of each is."""
    spec = result.spec
    if spec.encoding in ENCODINGS:
        names = {one.setting.class_name for one in result.series} - set(MEANS)
        n = f"{len(names)} classes" if len(names) > 1 else "one class"
        return f"Labels were read from {ENCODINGS[spec.encoding]}, with {n}."
    if list(spec.classes) == ["object"]:
        return f"Objects were {_class_text(spec.classes['object'], result)}."
    if len(spec.classes) > MOST_CLASSES:
        return f"The {len(spec.classes)} classes were {listed(list(spec.classes))}."
    texts = [f"{name} ({_class_text(one, result)})" for name, one in spec.classes.items()]
    return f"The class{'es were' if len(texts) > 1 else ' was'} {listed(texts)}."


def _class_text(one: ClassSpec, result: Result) -> str:
    """Return what an object of a class is."""
    labels = "all labels" if one.labels == "all" else _labels_text(one.labels)
    if one.kind == "stuff":
        details = [f"{labels} as one segment per image"]
    elif one.instances == "ids":
        details = ["single labels" + ("" if one.labels == "all" else f", {labels}")]
    else:
        each = " each" if one.instances == "label-components" else ""
        details = [f"{_components(one, result)} of {labels}{each}"]
    if one.min_voxels > 1:
        details.append(f"those below {one.min_voxels} voxels ignored on both sides")
    if one.parts:
        details.append(f"parts {_numbers_text(one.parts)}")
    return "; ".join(details)


def _components(one: ClassSpec, result: Result) -> str:
    """Return what components are, by the number of neighbours where the axes are known."""
    axes = {len(case.spacing) for case in result.cases if case.spacing}
    neighbours = NEIGHBOURS[one.connectivity].get(axes.pop()) if len(axes) == 1 else None
    if neighbours is None:
        return f"connected components ({one.connectivity.rstrip('s')} connectivity)"
    return f"{neighbours}-connected components"


def _labels_text(labels: Sequence[int | str]) -> str:
    single = len(labels) == 1 and isinstance(labels[0], int)
    return f"label{'' if single else 's'} {_numbers_text(labels)}"


def _numbers_text(labels: Sequence[int | str]) -> str:
    return listed([str(one).replace("-", " to ") for one in labels])


def _settings_sentence(result: Result) -> str:
    """Return what else was computed: further thresholds and matchers."""
    spec = result.spec
    texts = []
    if len(spec.thresholds) > 1:
        texts.append(f"at thresholds of {listed([f'{one:g}' for one in spec.thresholds[1:]])}")
    if len(spec.matching) > 1:
        others = [matcher_text(one, result) for one in spec.matching[1:]]
        texts.append(f"with objects matched {listed(others)}")
    return f"The same scores were computed {' and '.join(texts)}." if texts else ""


def _metric_sentences(result: Result) -> Iterator[str]:
    """Yield which metrics were measured of objects and of classes."""
    spec = result.spec
    metrics = [one for one in spec.metric_objects if one.name != "iou"]
    if metrics:
        names = listed([_metric_text(one, result) for one in metrics])
        yield f"Matched objects were also measured by {names}{_penalty_text(metrics, result)}."
    if spec.whole:
        names = listed([_metric_text(one, result) for one in spec.whole_objects])
        yield f"Every class was also scored as a single mask by {names}."
    related = list(_related_texts(spec))
    if related:
        beginning = "Further scores were" if len(related) > 1 else "A further score was"
        yield f"{beginning} {listed(related)}."


def _metric_text(metric: Metric, result: Result) -> str:
    text, _, which = metric.title.partition(" (")[0].partition(", ")
    text, options = f"{text} ({which})" if which else text, result.spec.metric_options
    text = text if text[1:2].isupper() or text.startswith("Dice") else text[:1].lower() + text[1:]
    if metric.name == "nsd":
        text += f" at a tolerance of {options.tolerance:g} {result.unit or 'units of the spacing'}"
    if metric.name == "boundary_iou" and options.boundary_width is not None:
        text += f" with a boundary of {options.boundary_width:g}"
    return text


def _penalty_text(metrics: Sequence[Metric], result: Result) -> str:
    penalty = result.spec.metric_options.penalty
    if penalty is None or not any(one.penalised for one in metrics):
        return ""
    unit = f" {result.unit}" if result.unit else ""
    value = "the image diagonal" if penalty == "diagonal" else f"{penalty:g}{unit}"
    return f"; objects without a partner got a distance of {value}"


def _related_texts(spec: Spec) -> Iterator[str]:
    for one in (one for one in spec.related if one.score not in PLAIN_COUNTS):
        name = one.parts[0].title if len(one.parts) == 1 else one.score
        options = ", ".join(f"{option} {value}" for option, value in one.options)
        works = mark(OF_RELATED[one.score]) if one.score in OF_RELATED else ""
        yield f"{name}{f' ({options})' if options else ''}{works}"


def _special_sentences(result: Result) -> Iterator[str]:
    """Yield what is left out, and what undefined scores count as."""
    spec = result.spec
    if spec.void:
        yield (
            f"Voxels of the reference with {_labels_text(spec.void)} were treated as unknown and "
            f"left out."
        )
    if spec.has_parts and spec.part_background == "none":
        yield "Part quality was computed without background."
    if max(len(result.evaluated(model)) for model in result.models or ("",)) > 1:
        yield f"Cases in which a score is undefined {UNDEFINED[spec.averaging.undefined]}."
    if spec.edge_cases:
        names = listed(list(spec.edge_cases))
        yield f"Where nothing can be averaged, values were set for {names}, as the spec lists them."


def _protocol_sentence(protocol: Mapping[str, str] | None) -> str:
    if protocol is None:
        return ""
    return (
        f"The numbers in the table protocol.csv reproduce those of {protocol['program']}, version "
        f"{protocol['version']} ({protocol['source']}){mark(*_protocol_works(protocol))}."
    )


def _protocol_works(protocol: Mapping[str, str] | None) -> list[Citation]:
    name = "" if protocol is None else protocol["name"]
    return [PANOPTICA] if name.startswith("panoptica") else []


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
    return (
        f"The mean PQ of cases was higher for {better} than for {worse} by "
        f"{number(abs(test.mean_difference))} ({between}p {p if p.startswith('<') else f'= {p}'}, "
        f"n = {test.n})."
    )


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
