"""How often a 95 % interval over cases contains the true score, by method and number of cases.

``make coverage`` writes the tables of docs/explanation/intervals.md. Cases are drawn from known
distributions, so the true score is known. Clusters of correlated cases are resampled once as single
cases, and once as clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np

from panmatch.datasets import (
    RESAMPLES,
    IntervalMethod,
    ResampledScores,
    Resampling,
    interval_ends,
)
from panmatch.overlap import Floats

CASES = (5, 10, 20, 50, 100)
DATASETS = 2000
BLOCK = 500  # datasets in memory at once
LEVEL = 0.95
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "intervals.md"
BEGIN, END = "<!-- written by benchmarks.coverage -->", "<!-- end -->"

# Two numbers per case, of shape (datasets, cases): its share of the numerator and of the
# denominator of the score. A mean of cases has a denominator of 1 for each.
Draw = Callable[[np.random.Generator, tuple[int, int]], tuple[Floats, Floats]]


def normal_scores(generator: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Scores of cases around 0.6, with a standard deviation of 0.15."""
    return generator.normal(0.6, 0.15, shape), np.ones(shape)


def skewed_scores(generator: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Scores of cases with the density of Beta(6, 1.5): mostly high, some low."""
    return generator.beta(6.0, 1.5, shape), np.ones(shape)


def perfect_cases(generator: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Scores of cases of which one in three is exactly 1, the others with Beta(6, 3)."""
    perfect = generator.random(shape) < 1 / 3
    return np.where(perfect, 1.0, generator.beta(6.0, 3.0, shape)), np.ones(shape)


def lost_cases(generator: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Scores of cases with the density of Beta(12, 3), of which one in ten is 0."""
    kept = generator.random(shape) < 0.9
    return kept * generator.beta(12.0, 3.0, shape), np.ones(shape)


def pooled_pq(generator: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Tallies of cases with 1 to about 20 objects, of which some cases lose many."""
    objects = 1 + generator.poisson(9, shape)
    found = generator.binomial(objects, generator.beta(4.0, 1.5, shape))
    spurious = generator.poisson(0.15 * objects)
    quality = found * generator.beta(20.0, 6.0, shape)  # the objects of a case are alike
    return quality, (objects + found + spurious) / 2


SETTINGS: dict[str, Draw] = {
    "mean of cases, normal": normal_scores,
    "mean of cases, skewed": skewed_scores,
    "mean of cases, one in three is 1": perfect_cases,
    "mean of cases, one in ten is 0": lost_cases,
    "pooled PQ": pooled_pq,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """How often intervals contain the true score, and how wide they are."""

    coverage: float
    width: float


def measure(
    draw: Draw, n_cases: int, method: IntervalMethod, datasets: int = DATASETS, seed: int = 1
) -> Measured:
    """Measure the intervals of one method for one distribution of cases."""
    generator = np.random.default_rng(seed)
    resampling = Resampling.of(n_cases, method, n_resamples=RESAMPLES)
    return _measured(
        lambda size: draw(generator, (size, n_cases)), true_score(draw), resampling, datasets
    )


@cache
def true_score(draw: Draw) -> float:
    """Return the score of so many cases that chance no longer matters."""
    above, below = draw(np.random.default_rng(0), (4_000_000, 1))
    return float(above.sum() / below.sum())


def measure_clusters(
    n_clusters: int, cases: int, *, by_cluster: bool, datasets: int = DATASETS, seed: int = 1
) -> Measured:
    """Measure the default interval where the cases of a cluster have a correlation of 0.5."""
    generator = np.random.default_rng(seed)
    names = [str(i) for i in range(n_clusters) for _ in range(cases)]
    resampling = Resampling.of(names if by_cluster else len(names), n_resamples=RESAMPLES)

    def draw(size: int) -> tuple[Floats, Floats]:
        shared = generator.normal(0, 0.1, (size, n_clusters, 1))
        scores = 0.6 + shared + generator.normal(0, 0.1, (size, n_clusters, cases))
        return scores.reshape(size, -1), np.ones((size, len(names)))

    return _measured(draw, 0.6, resampling, datasets)


def _measured(
    draw: Callable[[int], tuple[Floats, Floats]],
    truth: float,
    resampling: Resampling,
    datasets: int,
) -> Measured:
    weights, n = resampling.weights.T.astype(np.float64), len(resampling.counts)
    covered, widths = 0, 0.0
    for start, stop in pairwise([*range(0, datasets, BLOCK), datasets]):
        above, below = draw(stop - start)
        scores = np.asarray(above @ weights / (below @ weights))
        rows = ResampledScores(scores[:, :n], scores[:, n], scores[:, n + 1 :], resampling.counts)
        low, high = (np.clip(end, 0, 1) for end in interval_ends(rows, resampling.method, LEVEL))
        covered += int(np.count_nonzero((low <= truth) & (truth <= high)))
        widths += float((high - low).sum())
    return Measured(covered / datasets, widths / datasets)


def tables(datasets: int = DATASETS) -> Iterator[str]:
    """Yield the lines of all tables."""
    yield f"| score | interval | {' | '.join(f'{n} cases' for n in CASES)} |"
    yield "|---|---|" + "---|" * len(CASES)
    for name, draw in SETTINGS.items():
        for method in get_args(IntervalMethod):
            found = [measure(draw, n, method, datasets) for n in CASES]
            cells = [f"{100 * one.coverage:.0f} % ({one.width:.2f})" for one in found]
            yield f"| {name} | {method} | {' | '.join(cells)} |"
    yield ""
    yield "| resampled | 6 patients of 5 | 10 patients of 5 | 20 patients of 5 |"
    yield "|---|---|---|---|"
    for by_cluster, what in ((False, "cases"), (True, "patients")):
        found = [measure_clusters(n, 5, by_cluster=by_cluster, datasets=datasets)
                 for n in (6, 10, 20)]  # fmt: skip
        cells = [f"{100 * one.coverage:.0f} % ({one.width:.2f})" for one in found]
        yield f"| {what} | {' | '.join(cells)} |"


def write_tables(page: Path, begin: str, lines: Iterable[str]) -> None:
    """Put tables into a page, between two comments, and print them."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(END)[2]
    text = "\n".join(lines)
    page.write_text(f"{before}{begin}\n{text}\n{END}{after}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    write_tables(PAGE, BEGIN, tables())
