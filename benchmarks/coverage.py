"""How often a 95 % interval over cases holds the true score, by the number of cases.

``python -m benchmarks.coverage`` writes the table of docs/how-to/compare-models.md. Cases are
drawn from a known distribution, so that the true score is known: of normal case scores, of skewed
ones, of those of a model that misses everything in some cases, and of whole objects, whose tallies
are pooled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from panmatch.datasets import RESAMPLES, resample
from panmatch.overlap import Floats

CASES = (2, 5, 10, 20, 40)
DATASETS = 4000
LEVEL = 0.95

# Two numbers per case, of shape (datasets, cases): its share of the numerator and of the
# denominator of the score. A mean of cases has a denominator of 1 for each.
Draw = Callable[[np.random.Generator, tuple[int, int]], tuple[Floats, Floats]]


def normal_scores(generator: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Scores of cases around 0.6, with a standard deviation of 0.15."""
    return generator.normal(0.6, 0.15, shape), np.ones(shape)


def skewed_scores(generator: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Scores of cases with the density of Beta(6, 1.5): mostly high, some low."""
    return generator.beta(6.0, 1.5, shape), np.ones(shape)


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
    "mean of cases, one in ten is 0": lost_cases,
    "pooled PQ": pooled_pq,
}


def coverage(draw: Draw, n_cases: int, seed: int = 1) -> float:
    """Return the share of datasets whose percentile interval holds the true score."""
    generator = np.random.default_rng(seed)
    truth = _ratio(*(part.sum() for part in draw(generator, (4_000_000, 1))))
    counts = resample(n_cases, RESAMPLES).astype(np.float64)
    above, below = draw(generator, (DATASETS, n_cases))
    ends = np.quantile(
        _ratio(above @ counts.T, below @ counts.T), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1
    )
    return float(np.mean((ends[0] <= truth) & (truth <= ends[1])))


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(above / below)


def main() -> None:
    """Print the table."""
    print(f"| score | {' | '.join(f'{n} cases' for n in CASES)} |")
    print("|---|" + "---|" * len(CASES))
    for name, draw in SETTINGS.items():
        shares = [f"{coverage(draw, n):.0%}".replace("%", " %") for n in CASES]
        print(f"| {name} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
