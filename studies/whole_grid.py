"""The study of the whole grid: every setting at every threshold on all data, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import panmatch as pm
from panmatch.scoring import COMPONENT_KINDS, MEANINGS
from studies.agreement import (
    USUAL,
    agreement_at_zero,
    duels,
    flips,
    reversals,
    same_scores,
    shortfalls,
)
from studies.cells import Grid, Quality, Unit, evaluate_grid
from studies.grid import RULES, THRESHOLDS
from studies.grid_data import sources
from studies.grid_figures import pictures
from studies.page import save, write_page
from studies.study import Study
from studies.tables import markdown, number

NAME, TITLE = "grid", "The whole grid: every strategy, threshold, region and part"


def run_grid(
    studies: Sequence[Study], data: Path | None, out: Path, *, small: bool = False
) -> Grid:
    """Evaluate everything, write page and figures, and return the numbers.

    Parameters
    ----------
    studies
        Whose data to use.
    data
        Folder with the real images; None for phantoms alone.
    out
        Where to write; the page may be there already.
    small
        Whether phantoms are to be small, for a quick look.
    """
    out.mkdir(parents=True, exist_ok=True)
    grid = evaluate_grid(sources(studies, data, small=small))
    kind = "phantoms alone" if data is None else "real images and phantoms"
    shown = [save(one, NAME, out) for one in pictures(grid)]
    blocks = [f"On {kind}; panmatch {pm.__version__}.", in_words(grid), *shown, *_blocks(grid)]
    write_page(NAME, TITLE, "\n\n".join(blocks), out)
    return grid


def in_words(grid: Grid) -> str:
    """Return how much was evaluated."""
    plain, by_parts = len(grid.of("PQ")), len(grid.of("PartPQ"))
    cells = len(grid.settings) * len(THRESHOLDS)
    every = duels(grid.contests)
    contested = sum(duel.is_contested for duel in every)
    return (
        f"{len(grid.settings)} settings at {len(THRESHOLDS)} thresholds, {cells} combinations. A "
        f"*unit* is one class of one case as one model sees it: {plain} units with an object, "
        f"{by_parts} of them with parts, from {len({u.dataset for u in grid.units})} data sets. "
        f"{len(every)} pairs of models of the same data set, class and quality are compared; in "
        f"{contested} of them each model wins somewhere."
    )


def _blocks(grid: Grid) -> list[str]:
    return [
        "### What flips",
        "Two combinations that differ in one choice alone: how often the order of two models is "
        "reversed, or changes to or from a tie.",
        flips_table(grid),
        "How often the order of two models is the reverse of the usual choice, one-to-one at τ = "
        "0.5; its ties are left out.",
        reversals_table(grid),
        "### Where settings agree",
        "Components of the graph at τ = 0, and how often two of the eight settings with whole "
        "predictions have the same PQ: at τ = 0, and over all thresholds of the grid.",
        datasets_table(grid),
        "### How often greedy equals optimal",
        "PQ. Shares of thresholds are exact: of [0, 1), averaged over units.",
        shortfall_table(grid, "PQ"),
        "PartPQ of the same matchings, which none of these solvers maximises.",
        shortfall_table(grid, "PartPQ"),
        f"<details><summary>Every contested pair of models, in {len(grid.settings)} × "
        f"{len(THRESHOLDS)} combinations</summary>",
        duels_table(grid),
        "</details>",
    ]


def flips_table(grid: Grid) -> str:
    """Return how often each choice changes the order of two models."""
    head = ["choice", "pairs of combinations", "reversed", "share", "to or from a tie",
            "share without phantoms"]  # fmt: skip
    rows = [
        [one.choice, f"{one.compared:,}", f"{one.reversed_:,}", percent(one.share),
         f"{one.tied:,}", percent(real.share)]
        for one, real in zip(flips(grid), flips(grid.real), strict=True)
    ]  # fmt: skip
    return markdown(head, rows)


def reversals_table(grid: Grid) -> str:
    """Return how often each setting reverses the usual order: at its best, worst and on average."""
    head = ["setting", "at τ = 0", "at τ = 0.5", "least", "most", "mean"]
    rows = []
    for name, shares in zip(grid.settings, reversals(grid), strict=True):
        values = [shares[0], shares[THRESHOLDS.index(USUAL)], shares.min(), shares.max()]
        rows.append([name, *(percent(float(one)) for one in (*values, shares.mean()))])
    return markdown(head, rows)


def datasets_table(grid: Grid) -> str:
    """Return the structure of each data set, and how far settings agree on it."""
    titles = [MEANINGS[kind].title for kind in COMPONENT_KINDS]
    head = ["data set", "kind", "units", *titles, "same PQ at τ = 0", "same PQ"]
    rows = []
    for name in dict.fromkeys(unit.dataset for unit in grid.units):
        units = [unit for unit in grid.of("PQ") if unit.dataset == name]
        total = sum((unit.structure for unit in units), start=pm.GraphStructure())
        shares = [percent(share) for share in total.shares.values()]
        _, at_zero = agreement_at_zero(units, len(RULES))
        rows.append([name, units[0].kind, str(len(units)), *shares,
                     percent(float(at_zero.mean())), percent(_same_pq(units))])  # fmt: skip
    return markdown(head, rows)


def _same_pq(units: Sequence[Unit]) -> float:
    shares, _ = same_scores(units)
    pairs = np.triu_indices(len(RULES), 1)
    return float(shares[pairs].mean())


def shortfall_table(grid: Grid, quality: Quality) -> str:
    """Return how far each heuristic falls short of its optimum."""
    head = ["heuristic", "units", "equal at every τ", "equal, share of τ", "higher, share of τ",
            f"mean loss of {'AUTC' if quality == 'PQ' else 'PartAUTC'}",
            f"largest loss of {quality}", "at τ", "where"]  # fmt: skip
    head += ["optimum not proven"] if quality == "PQ" else []
    rows = []
    for one in shortfalls(grid, quality) if grid.of(quality) else ():
        row = [one.heuristic, str(one.units), str(one.always), percent(one.equal),
               percent(one.above), f"{one.mean:.5f}", number(one.worst),
               number(one.threshold) if one.where else "–", one.where or "–"]  # fmt: skip
        rows.append(row + ([str(one.unproven)] if quality == "PQ" else []))
    return markdown(head, rows)


def duels_table(grid: Grid) -> str:
    """Return who wins how many combinations, for pairs of models of which each wins some."""
    head = ["data set", "class", "by", "models", "wins of the first", "of the second", "ties"]
    rows = [
        [duel.contest.dataset, duel.contest.class_name, duel.contest.quality,
         " and ".join(duel.models), *map(str, duel.wins)]
        for duel in duels(grid.contests)
        if duel.is_contested
    ]  # fmt: skip
    return markdown(head, rows)


def percent(share: float) -> str:
    """Return a share in percent with one digit; a dash for what is undefined.

    Examples
    --------
    >>> percent(0.1234), percent(float("nan"))
    ('12.3 %', '–')
    """
    return "–" if np.isnan(share) else f"{100 * share:.1f} %"
