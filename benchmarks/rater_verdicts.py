"""How often the verdict on a model among raters is right, and how often it is wrong.

``make coverage`` writes the table of docs/how-to/several-raters.md. Each rater, and the model,
lacks some skill, and each case has a difficulty that they share. PQ of one against another falls
with the lack of skill of both, with the difficulty, and with a random part of the pair. The true
verdict follows from the skills.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np

from benchmarks.coverage import write_tables
from panmatch.datasets import Resampling, Spread, compare_with_raters
from panmatch.evaluation import Score, Setting
from panmatch.overlap import Floats
from panmatch.spec import as_spec

DATASETS = 400
CASES = (10, 30, 100)
PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "several-raters.md"
BEGIN = "<!-- written by benchmarks.rater_verdicts -->"
VERDICTS = ("inside", "below", "above", "unclear")

# The lack of skill of three raters, and of the model; and the true verdict.
SCENARIOS: dict[str, tuple[tuple[float, float, float], float, str]] = {
    "raters alike, model like them": ((0.1, 0.1, 0.1), 0.1, "inside"),
    "raters differ, model in the middle": ((0.05, 0.1, 0.15), 0.1, "inside"),
    "raters differ, model like the worst": ((0.05, 0.1, 0.15), 0.15, "inside"),
    "model below all raters": ((0.05, 0.1, 0.15), 0.2, "below"),
    "model above all raters": ((0.05, 0.1, 0.15), 0.0, "above"),
}


def drawn_scores(
    skills: Sequence[float], model: float, n_cases: int, generator: np.random.Generator
) -> dict[tuple[str, str], Floats]:
    """Return PQ of each case for every rater as reference and everyone else as prediction."""
    lack = {f"r{i}": one for i, one in enumerate(skills)} | {"model": model}
    hard = generator.gamma(2.0, 0.05, n_cases)  # skewed: a few cases are much harder
    found: dict[tuple[str, str], Floats] = {}
    for one, other in permutations(lack, 2):
        if (other, one) in found:
            found[one, other] = found[other, one]  # one-to-one: PQ is symmetric
            continue
        own = generator.normal(0.0, 0.06, n_cases)
        found[one, other] = np.clip(0.9 - hard - lack[one] - lack[other] + own, 0.0, 1.0)
    return found


def verdicts(
    scenario: str, n_cases: int, margin: float = 0.0, datasets: int = DATASETS
) -> Counter[str]:
    """Return how often each verdict is given."""
    skills, model, _ = SCENARIOS[scenario]
    setting = Setting("object", "things", as_spec("cells").matching[0])
    resampling = Resampling.of(n_cases, n_resamples=1000)
    found: Counter[str] = Counter()
    for seed in range(datasets):
        generator = np.random.default_rng([seed, n_cases])
        scores = drawn_scores(skills, model, n_cases, generator)
        raters = tuple(f"r{i}" for i in range(len(skills)))
        differences = compare_with_raters(scores, raters, "model", resampling)
        found[Spread("model", setting, 0.5, Score("pq"), differences).verdict(margin)] += 1
    return found


def table() -> list[str]:
    """Return the table of the page."""
    lines = [
        f"| scenario | margin | cases | {' | '.join(VERDICTS)} |",
        f"|---|---|---|{'---|' * len(VERDICTS)}",
    ]
    for scenario, (_, _, truth) in SCENARIOS.items():
        for margin in (0.0, 0.03):
            for n_cases in CASES:
                found = verdicts(scenario, n_cases, margin)
                cells = [
                    f"**{100 * found[one] / DATASETS:.0f} %**"
                    if one == truth
                    else f"{100 * found[one] / DATASETS:.0f} %"
                    for one in VERDICTS
                ]
                lines.append(f"| {scenario} | {margin:g} | {n_cases} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    write_tables(PAGE, BEGIN, table())
