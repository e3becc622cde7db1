"""How often tests err: false positives of every test, at a level of 5 %, and the power of plans.

``make error-rates`` writes the tables of docs/explanation/error-rates.md. Differences between
models are drawn from known distributions, in which no model is better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.coverage import SETTINGS, true_score, write_tables
from panmatch.datasets import (
    FEWEST_LOOKED_AT,
    RankedScore,
    holm,
    interaction_p,
    running_evidence,
    sample_size,
    sequence_half_width,
    signed_rank_p,
    significance_map,
)
from panmatch.overlap import Floats

ALPHA = 0.05
CASES = (6, 10, 20, 50, 150)
DATASETS = 4000
MODELS = 5
LOOKS = 500  # cases that a sequential rule may see
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "error-rates.md"
BEGIN = "<!-- written by benchmarks.error_rates -->"

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


def normal(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Normal differences."""
    return generator.normal(0.0, 0.1, shape)


def heavy_tails(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Differences with the distribution of Student's t with 3 degrees of freedom."""
    return 0.05 * generator.standard_t(3, shape)


def half_tied(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Differences of which half are 0, because both models solve the case."""
    return np.where(generator.random(shape) < 0.5, 0.0, generator.normal(0.0, 0.1, shape))


def coarse(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Differences in steps of 0.1, so most of them are tied."""
    return generator.normal(0.0, 0.15, shape).round(1)


def skewed(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Differences with mean 0 that are not symmetric: many small losses, few large gains."""
    return 0.1 * (generator.exponential(1.0, shape) - 1.0)


SYMMETRIC: dict[str, Draw] = {
    "normal": normal,
    "heavy tails": heavy_tails,
    "half of them 0": half_tied,
    "steps of 0.1": coarse,
}
DIFFERENCES = {**SYMMETRIC, "skewed, mean 0": skewed}


def wilcoxon_error(draw: Draw, n: int, datasets: int = DATASETS, seed: int = 1) -> float:
    """Return how often the signed-rank test finds a difference."""
    rows = draw(np.random.default_rng(seed), (datasets, n))
    return float(np.mean([signed_rank_p(row) <= ALPHA for row in rows]))


def clustered_error(
    n_clusters: int, cases: int = 5, *, by_cluster: bool, datasets: int = DATASETS, seed: int = 1
) -> float:
    """Return the same where the differences of a patient have a correlation of 0.5."""
    generator = np.random.default_rng(seed)
    owner = np.repeat(np.arange(n_clusters), cases)
    shared = generator.normal(0.0, 0.1, (datasets, n_clusters))[:, owner]
    rows = shared + generator.normal(0.0, 0.1, (datasets, len(owner)))
    units = owner if by_cluster else None
    return float(np.mean([signed_rank_p(row, units) <= ALPHA for row in rows]))


def equal_models(generator: np.random.Generator, n: int, models: int = MODELS) -> Floats:
    """Return scores of equal models, with easy and hard cases, shape (cases, models)."""
    return generator.normal(0.6, 0.15, (n, 1)) + generator.normal(0.0, 0.1, (n, models))


def family_error(n: int, datasets: int = DATASETS, seed: int = 1) -> float:
    """Return how often Holm's correction over all pairs lets any of five equal models win."""
    generator, wrong = np.random.default_rng(seed), 0
    for _ in range(datasets):
        table = equal_models(generator, n)
        p = [
            signed_rank_p(table[:, a] - table[:, b])
            for a in range(MODELS)
            for b in range(a + 1, MODELS)
        ]
        wrong += bool((holm(p) <= ALPHA).any())
    return wrong / datasets


def map_error(n: int, datasets: int = DATASETS, seed: int = 1) -> float:
    """Return how often the significance map has any win among five equal models."""
    generator, wrong = np.random.default_rng(seed), 0
    for _ in range(datasets):
        found = significance_map(RankedScore(equal_models(generator, n)), np.arange(n))
        wrong += bool((found.p_holm <= ALPHA).any())
    return wrong / datasets


def interaction_error(n: int, datasets: int = DATASETS, seed: int = 1) -> float:
    """Return how often scores seem to depend on three groups that do not matter."""
    rows = skewed(np.random.default_rng(seed), (datasets, n))
    groups = np.arange(n) % 3
    found = [interaction_p(row, groups, permutations=999, seed=i) for i, row in enumerate(rows)]
    return float(np.mean(np.array(found) <= ALPHA))


def decided_error(
    draw: Draw | None, models: int = 2, datasets: int = DATASETS, seed: int = 1
) -> float:
    """Return how often --stop-when decided ever finds a model better than another equal one.

    `draw` gives the differences of two models; None stands for scores of several.
    """
    generator, wrong = np.random.default_rng(seed), 0
    needed = np.log(models * (models - 1) / ALPHA)
    for _ in range(datasets):
        if draw is None:
            table = equal_models(generator, LOOKS, models)
            pairs = [table[:, a] - table[:, b] for a in range(models) for b in range(a)]
        else:
            pairs = list(draw(generator, (1, LOOKS)))
        every = np.stack([*pairs, *(-one for one in pairs)])
        wrong += bool((running_evidence(every) >= needed).any())
    return wrong / datasets


def peeking_error(most: int = 100, datasets: int = 1000, seed: int = 1) -> float:
    """Return how often Wilcoxon's test ever finds a difference if it is made after each case."""
    rows = normal(np.random.default_rng(seed), (datasets, most))
    wrong = (any(signed_rank_p(row[:n]) <= ALPHA for n in range(6, most + 1)) for row in rows)
    return float(np.mean(list(wrong)))


def sequence_miss(setting: str, datasets: int = DATASETS, seed: int = 1) -> float:
    """Return how often a confidence sequence ever misses the true mean, from 50 cases on."""
    draw = SETTINGS[setting]
    scores, _ = draw(np.random.default_rng(seed), (datasets, LOOKS))
    n = np.arange(1, LOOKS + 1)
    means = np.cumsum(scores, axis=1) / n
    squares = np.cumsum(scores**2, axis=1) / n - means**2
    deviations = np.sqrt(np.maximum(squares, 0.0) * n / np.maximum(n - 1, 1))
    missed = np.abs(means - true_score(draw)) > sequence_half_width(deviations, n)
    return float(missed[:, FEWEST_LOOKED_AT - 1 :].any(axis=1).mean())


def cases_until_decided(effect: float, datasets: int = DATASETS, seed: int = 1) -> list[float]:
    """Return quartiles of the number of cases until one of two models is found to be better."""
    rows = np.random.default_rng(seed).normal(0.1 * effect, 0.1, (datasets, LOOKS))
    reached = running_evidence(rows) >= np.log(2 / ALPHA)
    first = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, LOOKS)
    quartiles: list[float] = np.quantile(first, [0.25, 0.5, 0.75]).tolist()
    return quartiles


def planned(pilot: int, draw: Draw, wanted: float, pilots: int = 200, seed: int = 1) -> list[float]:
    """Return the quartiles of suggested numbers, and the mean power of studies of these sizes."""
    generator = np.random.default_rng(seed)
    units, found = [], []
    for row in draw(generator, (pilots, pilot)):
        n = int(sample_size(row, wanted).units)
        units.append(n)
        for new in draw(generator, (20, n)):
            moved = np.where(new == 0, 0.0, new + wanted / (0.5 if draw is half_tied else 1.0))
            found.append(signed_rank_p(moved) <= ALPHA)
    return [*np.quantile(units, [0.25, 0.5, 0.75]).tolist(), float(np.mean(found))]


def tables(datasets: int = DATASETS) -> Iterator[str]:
    """Yield the lines of all tables."""
    yield f"| test | {' | '.join(f'{n} cases' for n in CASES)} |"
    yield "|---|" + "---|" * len(CASES)
    for name, draw in DIFFERENCES.items():
        yield _row(f"Wilcoxon, {name}", [wilcoxon_error(draw, n, datasets) for n in CASES])
    few = datasets // 2
    yield _row("five equal models, Holm over pairs", [family_error(n, few) for n in CASES])
    yield _row("five equal models, significance map", [map_error(n, few) for n in CASES])
    yield _row("interaction of three groups", [interaction_error(n, few) for n in CASES])
    yield ""
    yield "| Wilcoxon over | 6 patients of 5 | 10 patients of 5 | 20 patients of 5 |"
    yield "|---|---|---|---|"
    for by_cluster, what in ((False, "cases"), (True, "patients")):
        yield _row(what, [clustered_error(n, by_cluster=by_cluster, datasets=datasets)
                          for n in (6, 10, 20)])  # fmt: skip
    yield ""
    yield "| after every case | errs in |"
    yield "|---|---|"
    yield _row("Wilcoxon with p ≤ 0.05, up to 100 cases", [peeking_error()])
    for name, draw in SYMMETRIC.items():
        yield _row(f"`decided`, two models, {name}", [decided_error(draw, datasets=datasets)])
    yield _row("`decided`, four models", [decided_error(None, 4, few)])
    for name in list(SETTINGS)[:4]:
        shown = name.replace("mean of cases, ", "")
        yield _row(f"`half-width`, {shown}", [sequence_miss(name, datasets)])
    yield ""
    yield "| true difference | cases until `decided` (quartiles) | cases for 80 % power, fixed |"
    yield "|---|---|---|"
    for effect in (0.25, 0.5, 1.0):
        low, median, high = cases_until_decided(effect, datasets)
        rows = normal(np.random.default_rng(2), (1, 5000))[0]
        fixed = sample_size(rows, 0.1 * effect).by_t_test
        cells = f"{low:.0f}, {median:.0f}, {high:.0f} | {fixed:.0f}"
        yield f"| {effect:g} · standard deviation | {cells} |"
    yield ""
    yield "| pilot | suggested cases (quartiles) | power of these studies |"
    yield "|---|---|---|"
    for name, draw in (("normal", normal), ("half of them 0", half_tied)):
        for pilot in (10, 20, 50):
            low, median, high, power = planned(pilot, draw, 0.05)
            cells = f"{low:.0f}, {median:.0f}, {high:.0f} | {100 * power:.0f} %"
            yield f"| {pilot} cases, {name} | {cells} |"


def _row(name: str, shares: list[float]) -> str:
    return f"| {name} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |"


if __name__ == "__main__":
    write_tables(PAGE, BEGIN, tables())
