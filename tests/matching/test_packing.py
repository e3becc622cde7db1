"""The packing problem at random prices, against trying every choice and against the clock."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from panmatch import native
from panmatch.matching import _open_columns as open_columns
from panmatch.matching._maximum_pq import Effort
from panmatch.overlap import Floats, Ints

Bytes = npt.NDArray[np.uint8]


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
    pieces: bool = False  # whether edges are pieces, of which one per prediction saves anything

    @property
    def columns(self) -> tuple[Ints, Ints, Floats, Floats, Bytes, Bytes, Floats, int]:
        """The problem as the native functions take it."""
        return (
            self.ref,
            self.pred,
            self.intersection,
            self.excess,
            np.array(self.counted, np.uint8),
            np.array(self.passes, np.uint8),
            self.ref_size,
            self.n_pred,
        )

    def solve(
        self, nodes: int, rounds: int, *, table: int = 12, columns: int = 0, seconds: float = 60.0
    ) -> tuple[Ints, float, float]:
        found = native.pack(
            *self.columns,
            chosen=np.zeros(len(self.ref), np.uint8),
            pred_price=np.full(self.n_pred, -1.0),
            price=self.price,
            pieces=self.pieces,
            nodes=nodes,
            nodes_per_component=nodes,
            price_rounds=rounds,
            table=table,
            columns=columns,
            seconds=seconds,
        )
        return found[0], found[1], found[2]

    def improve(self, edges: list[int], active: Bytes, kicks: int, seconds: float) -> list[int]:
        """Return the edges after a local search."""
        chosen = np.zeros(len(self.ref), np.uint8)
        chosen[edges] = 1
        found = native.improve(
            *self.columns,
            chosen=chosen,
            active=active,
            price=self.price,
            pieces=self.pieces,
            kicks=kicks,
            seconds=seconds,
        )
        return [int(edge) for edge in np.flatnonzero(found)]

    def worth(self, edges: list[int]) -> float:
        """Return what a choice is worth, -inf where it is not allowed."""
        total = self.price * len({int(self.pred[e]) for e in edges if self.counted[e]})
        for ref in {int(self.ref[e]) for e in edges}:
            mine = [e for e in edges if self.ref[e] == ref]
            if not any(self.passes[e] for e in mine):
                return -np.inf
            inside = sum(self.intersection[e] for e in mine)
            outside = sum(self.excess[e] for e in mine)
            total += inside / (self.ref_size[ref] + outside) - self.price
        return total

    def best(self) -> float:
        if self.pieces:
            some = product([False, True], repeat=len(self.ref))
            return max(self.worth([e for e, t in enumerate(taken) if t]) for taken in some)
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


@pytest.mark.parametrize("table", [0, 2, 12])
@pytest.mark.parametrize("rounds", [0, 1, 10, 300])
@pytest.mark.parametrize(("n_ref", "n_pred"), [(2, 5), (3, 5), (4, 4)])
def test_prices_bound_every_choice(n_ref: int, n_pred: int, rounds: int, table: int) -> None:
    rng = np.random.default_rng(rounds)
    for _ in range(100):
        problem = random_problem(rng, n_ref, n_pred, rng.uniform(0.4, 1.0))
        edges, worth, upper = problem.solve(nodes=0, rounds=rounds, table=table)
        best = problem.best()
        assert worth <= best + 1e-9 <= upper + 2e-9
        assert problem.worth(edges.tolist()) == pytest.approx(worth, abs=1e-9)


@pytest.mark.parametrize("table", [0, 1, 12])
@pytest.mark.parametrize(("nodes", "rounds"), [(10_000, 0), (0, 1), (0, 300)])
def test_pieces_save_a_prediction_once(nodes: int, rounds: int, table: int) -> None:
    rng = np.random.default_rng(rounds)
    proven = 0
    for number in range(120):
        problem = random_problem(rng, 2 + number % 2, 3, rng.uniform(0.5, 1.0))
        problem = replace(problem, pieces=True)
        edges, worth, upper = problem.solve(nodes=nodes, rounds=rounds, table=table)
        best = problem.best()
        assert worth <= best + 1e-9 <= upper + 2e-9
        assert problem.worth(edges.tolist()) >= worth - 1e-9
        proven += upper <= worth + 1e-9
    if table == 12 and nodes:
        assert proven == 120


@pytest.mark.parametrize("table", [0, 12])
def test_columns_of_pieces_contain_the_best_choice(table: int) -> None:
    rng = np.random.default_rng(7)
    open_problems = 0
    for _ in range(400):
        problem = replace(random_problem(rng, 3, 3, 0.9), pieces=True)
        found = native.pack(
            *problem.columns,
            chosen=np.zeros(len(problem.ref), np.uint8),
            pred_price=np.full(3, -1.0),
            price=problem.price,
            pieces=True,
            nodes=0,
            nodes_per_component=0,
            price_rounds=5,
            table=table,
            columns=10_000,
            seconds=60.0,
        )
        columns = open_columns.OpenColumns(*found[6:10], found[12])
        if len(columns.ref) == 0:
            continue
        packed = open_columns.pack_columns(columns, problem.pred, Effort(1000, None))
        assert packed is not None
        rest = found[1] - found[10]
        assert rest + max(found[10], packed.upper) == pytest.approx(problem.best(), abs=1e-9)
        open_problems += 1
    assert open_problems > 5


@pytest.mark.parametrize("price", [0.02, 0.2])
def test_a_search_without_tables_bounds_as_sharply_as_tables_do(price: float) -> None:
    """Both find the best set of every reference, so both give the same bounds at given prices."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        problem = replace(random_problem(rng, 3, 9, 0.8), price=price)
        bounds = [
            native.pack(
                *problem.columns,
                chosen=np.zeros(len(problem.ref), np.uint8),
                pred_price=np.full(9, 0.3 * price),
                price=price,
                pieces=False,
                nodes=0,
                nodes_per_component=0,
                price_rounds=1,
                table=table,
                columns=0,
                seconds=60.0,
            )[2]
            for table in (0, 12)
        ]
        assert bounds[0] == pytest.approx(bounds[1], abs=1e-10)


@pytest.mark.parametrize("table", [0, 12])
def test_bounds_hold_when_no_time_is_given(table: int) -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        problem = random_problem(rng, 3, 5, rng.uniform(0.4, 1.0))
        edges, worth, upper = problem.solve(100, 300, table=table, seconds=0.0)
        assert worth <= problem.best() + 1e-9 <= upper + 2e-9
        assert problem.worth(edges.tolist()) == pytest.approx(worth, abs=1e-9)


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.05])
@pytest.mark.parametrize(
    ("n_ref", "n_pred", "density"),
    [(40, 40, 1.0), (300, 400, 0.05), (2, 2000, 1.0), (1500, 4, 1.0), (1, 5000, 1.0)],
)
def test_native_searches_end_in_time(
    n_ref: int, n_pred: int, density: float, seconds: float
) -> None:
    problem = random_problem(np.random.default_rng(0), n_ref, n_pred, density)
    began = time.process_time()
    edges, worth, upper = problem.solve(100_000, 300, columns=20_000, seconds=seconds)
    assert time.process_time() - began < 1.5 * seconds + 0.25
    assert problem.worth(edges.tolist()) == pytest.approx(worth, abs=1e-6)
    assert worth <= upper
    began = time.process_time()
    improved = problem.improve(edges.tolist(), np.ones(n_ref, np.uint8), 10**6, seconds)
    assert time.process_time() - began < 1.5 * seconds + 0.25
    assert worth - 1e-6 <= problem.worth(improved) <= upper + 1e-6


@pytest.mark.parametrize("kicks", [0, 50])
def test_a_local_search_only_ever_improves(kicks: int) -> None:
    rng = np.random.default_rng(kicks)
    better = optimal = 0
    for _ in range(200):
        problem = random_problem(rng, 4, 5, rng.uniform(0.4, 1.0))
        start = problem.solve(nodes=0, rounds=0)[0].tolist() if rng.random() < 0.5 else []
        found = problem.improve(start, np.ones(4, np.uint8), kicks, 60.0)
        assert len(set(problem.pred[found])) == len(found)
        worth, best = problem.worth(found), problem.best()
        assert problem.worth(start) - 1e-9 <= worth <= best + 1e-9
        better += worth > problem.worth(start) + 1e-9
        optimal += worth >= best - 1e-9
    assert better > 50
    assert optimal >= (190 if kicks else 100)


@pytest.mark.parametrize("kicks", [0, 50])
def test_a_local_search_among_pieces_never_loses(kicks: int) -> None:
    rng = np.random.default_rng(5)
    optimal = 0
    for _ in range(100):
        problem = replace(random_problem(rng, 3, 3, 0.9), pieces=True)
        alone = [e for e in range(len(problem.ref)) if problem.passes[e] and rng.random() < 0.3]
        found = problem.improve(alone, np.ones(3, np.uint8), kicks, 60.0)
        worth, best = problem.worth(found), problem.best()
        assert problem.worth(alone) - 1e-9 <= worth <= best + 1e-9
        optimal += worth >= best - 1e-9
    assert optimal >= (95 if kicks else 50)


def test_a_local_search_leaves_other_references_alone() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        one, other = (random_problem(rng, 2, 3, 0.9) for _ in range(2))
        both = Problem(
            np.concatenate([one.ref, other.ref + 2]),
            np.concatenate([one.pred, other.pred + 3]),
            np.concatenate([one.intersection, other.intersection]),
            np.concatenate([one.excess, other.excess]),
            one.counted + other.counted,
            one.passes + other.passes,
            np.concatenate([one.ref_size, other.ref_size]),
            6,
            one.price,
        )
        found = both.improve([], np.array([0, 0, 1, 1], np.uint8), 20, 60.0)
        assert all(both.ref[edge] >= 2 for edge in found)
