"""Tables of a study in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from panmatch.evaluation import AveragingName as Averaging
from studies.grid import MAIN_WAYS, THRESHOLDS
from studies.study import Dataset
from studies.summing import Lead, Summed, joined

SHORTEST = 0.005  # leads over fewer thresholds are not listed one by one
MOST_LEADS = 5


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table.

    Examples
    --------
    >>> print(markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [head, *rows]
    text = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([text[0], "|---" * len(head) + "|", *text[1:]])


def number(value: float) -> str:
    """Return three digits, or a dash for what is undefined."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def cases_table(dataset: Dataset, summed: Summed) -> str:
    """Return what there is, what is wrong with it whatever the strategy, and plain scores."""
    head = ["case", "model", "references", "predictions", "split", "merged", "missed", "spurious"]
    kind = dataset.in_full[0]
    parts = summed.has_parts(kind)
    head += [f"{summed.named(kind, 'PQ')} at 0.5", summed.named(kind, "AUTC")]
    scores = summed.result.scores
    way = scores.strategy == "one-to-one"
    at_half = scores[way & (scores["class"] == kind) & (scores.threshold == 0.5)]
    rows = []
    for row in at_half.sort_values(["case", "model"]).itertuples():
        counts = [row.tp + row.fn, row.tp + row.fp, row.split, row.merged, row.missed]
        counts.append(row.spurious)
        pq, area = (row.part_pq, row.part_autc) if parts else (row.pq, row.autc)
        areas = number(pq), number(area)
        rows.append([row.case, row.model, *map(str, counts), *areas])
    return markdown(head, rows)


def grid_table(summed: Summed, kind: str) -> str:
    """Return pooled PQ of every matcher at every threshold, AUTC, and where PQ has halved."""
    thresholds = [f"{tau:g}" for tau in THRESHOLDS]
    head = ["model", "strategy", *thresholds, summed.named(kind, "AUTC"), "half at τ"]
    rows = []
    for model in summed.models:
        for way in summed.ways:
            scores = [number(summed.pq(model, kind, way, tau)) for tau in THRESHOLDS]
            area = number(summed.area(model, kind, way))
            half = number(summed.half_life(model, kind, way))
            rows.append([model, way, *scores, area, half])
    return markdown(head, rows)


def counts_table(summed: Summed, kind: str, thresholds: Sequence[float]) -> str:
    """Return TP, FP, FN, SQ and RQ of every way at some thresholds."""
    head = ["model", "strategy"]
    head += [f"τ = {tau:g}: TP / FP / FN, {summed.named(kind, 'SQ')}, RQ" for tau in thresholds]
    rows = []
    for model in summed.models:
        for way in summed.ways:
            rows.append([model, way, *(_counts(summed, model, kind, way, t) for t in thresholds)])
    return markdown(head, rows)


def leaders_table(summed: Summed, kind: str) -> str:
    """Return which model is best at which thresholds, and by area."""
    several = len({one.case for one in summed.result.cases}) > 1
    pq, area = summed.named(kind, "PQ"), summed.named(kind, "AUTC")
    head = ["strategy", f"highest pooled {pq}, by threshold", f"highest {area}"]
    head += [f"highest mean {area} of cases"] if several else []
    rows = []
    for way in summed.ways:
        row = [way, _intervals(summed.leads(kind, way), len(summed.models))]
        row.append(_areas(summed, kind, way, "pooled"))
        rows.append(row + ([_areas(summed, kind, way, "mean of cases")] if several else []))
    return markdown(head, rows)


def classes_table(summed: Summed) -> str:
    """Return PQ at ½ and AUTC of every class under the main matchers; by parts where it says so."""
    head = ["class", "model", "by"]
    head += [f"{way}: PQ at 0.5, AUTC" for way in MAIN_WAYS]
    rows = []
    for kind in summed.classes:
        for model in summed.models:
            cells = [
                f"{number(summed.pq(model, kind, way, 0.5))}, "
                f"{number(summed.area(model, kind, way))}"
                for way in MAIN_WAYS
            ]
            rows.append([kind, model, "parts" if summed.has_parts(kind) else "IoU", *cells])
    return markdown(head, rows)


def led_in_words(summed: Summed, kind: str) -> str:
    """Return in how many combinations of the grid each model is best."""
    cells = len(summed.ways) * len(THRESHOLDS)
    led = summed.cells_led(kind)
    each = ", ".join(f"{model} {count}" for model, count in led.items())
    ties = cells - sum(led.values())
    return (
        f"how often a model alone comes first, in {cells} combinations of strategy and threshold: "
        f"{each}. Ties: {ties}."
    )


def _counts(summed: Summed, model: str, kind: str, way: str, threshold: float) -> str:
    tp, fp, fn = summed.counts(model, kind, way, threshold)
    sq, rq = (number(summed.pq(model, kind, way, threshold, name)) for name in ("sq", "rq"))
    return f"{tp} / {fp} / {fn}, {sq}, {rq}"


def _areas(summed: Summed, kind: str, way: str, averaging: Averaging) -> str:
    areas = {model: summed.area(model, kind, way, averaging) for model in summed.models}
    order = sorted(areas, key=lambda model: -np.nan_to_num(areas[model], nan=-1.0))
    return ", ".join(f"{model} {number(areas[model])}" for model in order)


def _intervals(leads: list[Lead], models: int) -> str:
    """Return leads in words; those over few thresholds are only counted."""
    longest = sorted(leads, key=lambda lead: lead.start - lead.stop)[:MOST_LEADS]
    shown = [one for one in leads if one in longest and one.stop - one.start >= SHORTEST]
    short = [one for one in leads if one not in shown]
    words = [f"{one.start:.3f}–{one.stop:.3f} {_named(one, models)}" for one in joined(shown)]
    if short:
        total = sum(one.stop - one.start for one in short)
        words.append(f"changing over the other {total:.3f}" if total >= SHORTEST / 10 else "")
    return "; ".join(filter(None, words))


def _named(lead: Lead, models: int) -> str:
    if len(lead.models) == models:
        return "all equal"
    return " = ".join(lead.models)
