"""The packing problem at random prices, against trying every choice."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from panmatch import native
from panmatch.overlap import Floats, Ints


@dataclass(frozen=True)
class Problem:
    """Edges with the price of half a false positive."""

    ref: Ints
    pred: Ints
    intersection: Floats
    excess: Floats
    counted: list[bool]
    passes: list[bool]
    ref_size: Floats
    n_pred: int
    price: float

    def solve(self, nodes: int, rounds: int) -> tuple[Ints, float, float]:
        found = native.pack(
            self.ref,
            self.pred,
            self.intersection,
            self.excess,
            np.array(self.counted, np.uint8),
            np.array(self.passes, np.uint8),
            self.ref_size,
            self.n_pred,
            chosen=np.zeros(len(self.ref), np.uint8),
            pred_price=np.full(self.n_pred, -1.0),
            price=self.price,
            nodes=nodes,
            nodes_per_component=nodes,
            price_rounds=rounds,
            table=12,
            columns=0,
            seconds=60.0,
        )
        return found[0], found[1], found[2]

    def worth(self, edges: list[int]) -> float:
        """Return what a choice is worth, -inf where it is not allowed."""
        total = 0.0
        for ref in {int(self.ref[e]) for e in edges}:
            mine = [e for e in edges if self.ref[e] == ref]
            if not any(self.passes[e] for e in mine):
                return -np.inf
            inside = sum(self.intersection[e] for e in mine)
            outside = sum(self.excess[e] for e in mine)
            saved = sum(self.counted[e] for e in mine)
            total += inside / (self.ref_size[ref] + outside) + self.price * (saved - 1)
        return total

    def best(self) -> float:
        options = [
            [None, *(e for e in range(len(self.ref)) if self.pred[e] == p)]
            for p in range(self.n_pred)
        ]
        choices = ([e for e in given if e is not None] for given in product(*options))
        return max(self.worth(choice) for choice in choices)


def random_problem(rng: np.random.Generator, n_ref: int, n_pred: int, density: float) -> Problem:
    ref, pred = np.nonzero(rng.random((n_ref, n_pred)) < density)
    n = len(ref)
    counted = rng.random(n_pred) < 0.8
    return Problem(
        ref,
        pred,
        rng.integers(1, 9, n).astype(np.float64),
        rng.integers(0, 9, n) * rng.choice([1.0, 1.0, 6.0], n),
        counted[pred].tolist(),
        (rng.random(n) < 0.5).tolist(),
        rng.integers(9, 40, n_ref).astype(np.float64),
        n_pred,
        float(rng.choice([0.0, 0.05, 0.2, 0.5])),
    )


@pytest.mark.parametrize(("n_ref", "n_pred"), [(1, 6), (2, 5), (3, 5), (4, 4)])
def test_branching_finds_the_best_choice(n_ref: int, n_pred: int) -> None:
    rng = np.random.default_rng(n_ref)
    for _ in range(250):
        problem = random_problem(rng, n_ref, n_pred, rng.uniform(0.4, 1.0))
        edges, worth, upper = problem.solve(nodes=10_000, rounds=0)
        assert worth == pytest.approx(problem.best(), abs=1e-9)
        assert upper == pytest.approx(worth, abs=1e-9)
        assert problem.worth(edges.tolist()) == pytest.approx(worth, abs=1e-9)


@pytest.mark.parametrize("rounds", [0, 1, 10, 300])
@pytest.mark.parametrize(("n_ref", "n_pred"), [(2, 5), (3, 5), (4, 4)])
def test_prices_bound_every_choice(n_ref: int, n_pred: int, rounds: int) -> None:
    rng = np.random.default_rng(rounds)
    for _ in range(150):
        problem = random_problem(rng, n_ref, n_pred, rng.uniform(0.4, 1.0))
        edges, worth, upper = problem.solve(nodes=0, rounds=rounds)
        best = problem.best()
        assert worth <= best + 1e-9 <= upper + 2e-9
        assert problem.worth(edges.tolist()) == pytest.approx(worth, abs=1e-9)
