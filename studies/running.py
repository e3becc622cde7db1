"""One study from images to its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import panmatch as pm
from studies.grid import MAIN_WAYS, ONE
from studies.page import save, write_index, write_page
from studies.study import Dataset, Picture, Study
from studies.summing import Summed
from studies.tables import (
    cases_table,
    classes_table,
    counts_table,
    grid_table,
    leaders_table,
    led_in_words,
    number,
)

INDEX_HEAD = (
    "| study | images | models | PQ at 0.5, one-to-one | AUTC, one-to-one "
    "| combinations in which it alone comes first |\n|---|---|---|---|---|---|"
)
COUNTED_AT = (0.1, 0.5)


def run(study: Study, data: Path | None, out: Path, *, small: bool = False) -> list[pm.Result]:
    """Evaluate, write page and figures, and return the results.

    Parameters
    ----------
    study
        Which one.
    data
        Folder with the real images; None for phantoms.
    out
        Where to write; the page may be there already.
    small
        Whether phantoms are to be small, for a quick look.
    """
    out.mkdir(parents=True, exist_ok=True)
    datasets = study.made_up(small) if data is None else study.real(data)
    results = [dataset.evaluate() for dataset in datasets]
    pictures = [save(one, study.name, out) for one in study.draw(datasets, results)]
    kind = "phantoms: synthetic scenes and simulated models" if data is None else "real images"
    blocks = [f"On {kind}; panmatch {pm.__version__}.", *pictures]
    summed = [Summed(result) for result in results]
    for dataset, sums in zip(datasets, summed, strict=True):
        blocks += _blocks(dataset, sums)
    write_page(study.name, study.title, "\n\n".join(blocks), out)
    rows = [
        _index_row(study, dataset, sums) for dataset, sums in zip(datasets, summed, strict=True)
    ]
    write_index({study.name: rows}, INDEX_HEAD, out)
    return results


def _blocks(dataset: Dataset, summed: Summed) -> list[str]:
    words = "Mistakes, which do not depend on the strategy, and scores under one-to-one:"
    blocks = [f"### {dataset.title}", dataset.about, words, cases_table(dataset, summed)]
    if len(summed.classes) > 1:
        blocks += ["Every class under four strategies:", classes_table(summed)]
    for kind in dataset.in_full:
        title = f" ({kind})" if len(dataset.in_full) > 1 else ""
        if len(summed.models) > 1:
            blocks += [
                f"Who is best{title}: {led_in_words(summed, kind)}",
                leaders_table(summed, kind),
            ]
        blocks += [
            f"Pooled {summed.named(kind, 'PQ')}{title} at thresholds τ:",
            grid_table(summed, kind),
        ]
        counts = counts_table(summed, kind, COUNTED_AT)
        blocks += [f"<details><summary>Counts{title}</summary>", counts, "</details>"]
    return blocks


def _index_row(study: Study, dataset: Dataset, summed: Summed) -> str:
    kind = dataset.in_full[0]
    by_score = {model: summed.pq(model, kind, ONE, 0.5) for model in summed.models}
    by_area = {model: summed.area(model, kind, ONE) for model in summed.models}
    led = summed.cells_led(kind)
    cells = [
        f"[{dataset.title}]({study.name}.md)",
        str(len({case.name for case in dataset.cases})),
        str(len(summed.models)),
        _ranked(by_score),
        _ranked(by_area),
        ", ".join(f"{model} {count}" for model, count in led.items()) if len(led) > 1 else "–",
    ]
    return f"| {' | '.join(cells)} |"


def _ranked(scores: dict[str, float]) -> str:
    order = sorted(scores, key=lambda model: -scores[model])
    return ", ".join(f"{model} {number(scores[model])}" for model in order)


def curves(
    name: str, dataset: Dataset, result: pm.Result, kind: str, ways: Sequence[str] = MAIN_WAYS
) -> Picture:
    """Draw PQ over all thresholds of every model under some strategies."""
    parts = bool(dataset.spec.classes[kind].parts)
    words = f"{dataset.title}: pooled {'PartPQ' if parts else 'PQ'} over the threshold"
    quantity: Literal["pq", "part_pq"] = "part_pq" if parts else "pq"
    figure = result.plot.curve(
        quantity=quantity, classes=kind, strategies=list(ways), width="double"
    )
    return Picture(f"{name}curves", words, figure)
