"""The example data of challengeR, drawn by R's own generator of random numbers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtri

Floats = npt.NDArray[np.float64]
CASES, MODELS = 50, 5


class RandomR:
    """R's generator: the Mersenne Twister with R's seeding, and normal numbers by inversion."""

    def __init__(self, seed: int) -> None:
        words = []
        for at in range(50 + 625):
            seed = (69069 * seed + 1) % 2**32
            if at >= 50:
                words.append(seed)
        self._bits = np.random.MT19937()
        self._bits.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(words[1:], np.uint32), "pos": 624},
        }

    def uniform(self) -> float:
        return float(self._bits.random_raw()) * 2.3283064365386963e-10

    def normal(self) -> float:
        big = 134217728
        return float(ndtri((int(big * self.uniform()) + self.uniform()) / big))


def random_challenge() -> Floats:
    """Five models that do not differ, on 50 cases; shape (cases, models)."""
    generator = RandomR(1)
    values = expit([1.5 + generator.normal() for _ in range(CASES * MODELS)])
    return np.asarray(values).reshape(MODELS, CASES).T


def ideal_challenge() -> Floats:
    """Five models of which each is better than the next in every case; shape (cases, models)."""
    generator = RandomR(4)
    for _ in range(CASES):
        generator.uniform()
    ends = [(0.9, 1.0), (0.8, 0.89), (0.7, 0.79), (0.6, 0.69), (0.5, 0.59)]
    columns = [[low + (high - low) * generator.uniform() for _ in range(CASES)]
               for low, high in ends]  # fmt: skip
    return np.array(columns).T


def worst_challenge() -> Floats:
    """All 120 orders of five models, each in one case: no ranking makes sense."""
    return np.array([np.linspace(0.8, 1, 5)[list(order)] for order in permutations(range(5))])
