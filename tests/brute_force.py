"""The definitions, followed to the letter in plain Python: slow, obvious, and our oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

from panmatch import Overlap

Pair = tuple[int, int]
Pairs = frozenset[Pair]


@dataclass(frozen=True)
class Scene:
    """Sizes and intersections by position, as plain numbers."""

    refs: list[int]
    preds: list[int]
    shared: dict[Pair, int]

    @classmethod
    def of(cls, overlap: Overlap) -> Scene:
        edges = zip(
            overlap.edges.ref.tolist(),
            overlap.edges.pred.tolist(),
            overlap.edges.intersection.tolist(),
            strict=True,
        )
        areas = (overlap.pred_sizes - overlap.pred_void).tolist()
        return cls(overlap.ref_sizes.tolist(), areas, {(g, p): n for g, p, n in edges})

    def iou(self, g: int, preds: list[int]) -> Fraction:
        """IoU(union of the predictions, g)."""
        inside = sum(self.shared.get((g, p), 0) for p in preds)
        return Fraction(inside, self.refs[g] + sum(self.preds[p] for p in preds) - inside)

    def score(self, pair: Pair) -> float:
        """The edge's IoU as D1 wants it: whole numbers, divided once in float64."""
        g, p = pair
        return self.shared[pair] / (self.refs[g] + self.preds[p] - self.shared[pair])

    def passing(self, threshold: float) -> list[Pair]:
        return [pair for pair in self.shared if self.score(pair) > threshold]

    def best_first(self, pairs: list[Pair]) -> list[Pair]:
        return sorted(pairs, key=lambda pair: (-self.score(pair), pair))


@dataclass(frozen=True)
class Counts:
    """TP, FP, FN and the exact summed quality (D3)."""

    tp: int
    fp: int
    fn: int
    quality: Fraction

    @property
    def pq(self) -> Fraction:
        return self.quality / (self.tp + Fraction(self.fp + self.fn, 2))


def count_overlaps(
    reference: npt.ArrayLike, prediction: npt.ArrayLike
) -> tuple[Counter[int], Counter[int], Counter[Pair]]:
    """Return the sizes of both sides and of all intersections, voxel by voxel."""
    voxels = list(zip(np.ravel(reference).tolist(), np.ravel(prediction).tolist(), strict=True))
    refs = Counter(g for g, _ in voxels if g)
    preds = Counter(p for _, p in voxels if p)
    return refs, preds, Counter((g, p) for g, p in voxels if g and p)


def count(scene: Scene, pairs: Pairs) -> Counts:
    """Count vertices of a matching (D3)."""
    matched = {g: [p for h, p in pairs if h == g] for g in {g for g, _ in pairs}}
    fp = len(scene.preds) - len({p for _, p in pairs})
    quality = sum((scene.iou(g, preds) for g, preds in matched.items()), Fraction(0))
    return Counts(len(matched), fp, len(scene.refs) - len(matched), quality)


def matchings(pairs: list[Pair]) -> Iterator[Pairs]:
    """Yield every one-to-one matching."""
    if not pairs:
        yield frozenset()
        return
    (g, p), rest = pairs[0], pairs[1:]
    yield from matchings(rest)
    for others in matchings([(h, q) for h, q in rest if h != g and q != p]):
        yield others | {(g, p)}


def one_to_one_optimal(scene: Scene, threshold: float) -> Pairs:
    """Try them all: the largest total IoU, then the most pairs."""

    def value(pairs: Pairs) -> tuple[Fraction, int]:
        return sum((scene.iou(g, [p]) for g, p in pairs), Fraction(0)), len(pairs)

    return max(matchings(scene.passing(threshold)), key=value)


def one_to_one_greedy(scene: Scene, threshold: float) -> Pairs:
    """Take the best remaining edge until none is left."""
    taken: list[Pair] = []
    for g, p in scene.best_first(scene.passing(threshold)):
        if all(g != h and p != q for h, q in taken):
            taken.append((g, p))
    return frozenset(taken)


def merge(scene: Scene, threshold: float, gate: str) -> Pairs:
    """Follow D5 sentence by sentence."""
    members: dict[int, list[int]] = {}
    used: set[int] = set()
    for g, p in scene.best_first(list(scene.shared)):
        passes = scene.score((g, p)) > threshold
        if p in used or (gate == "edge" and not passes):
            continue
        if g not in members:
            if not passes:
                continue
        elif not scene.iou(g, [*members[g], p]) > scene.iou(g, members[g]):
            continue
        members.setdefault(g, []).append(p)
        used.add(p)
    return frozenset((g, p) for g, preds in members.items() for p in preds)


def one_to_many_best(scene: Scene, threshold: float) -> Pairs:
    """Give every reference its best passing edge."""
    best: dict[int, int] = {}
    for g, p in scene.best_first(scene.passing(threshold)):
        best.setdefault(g, p)
    return frozenset(best.items())


STRATEGIES: dict[str, Callable[[Scene, float], Pairs]] = {
    "one-to-one/optimal": one_to_one_optimal,
    "one-to-one/greedy": one_to_one_greedy,
    "many-to-one/merge/seed": lambda scene, threshold: merge(scene, threshold, "seed"),
    "many-to-one/merge/edge": lambda scene, threshold: merge(scene, threshold, "edge"),
    "one-to-many/best": one_to_many_best,
}


def area(scene: Scene, strategy: str, height: Callable[[Counts], Fraction]) -> Fraction:
    """Integrate a score over the threshold, matching anew between all edge scores (D7)."""
    steps = sorted({0.0, *(s for s in map(scene.score, scene.shared) if s < 1)})
    total = Fraction(0)
    for start, stop in zip(steps, [*steps[1:], 1.0], strict=True):
        counts = count(scene, STRATEGIES[strategy](scene, start))
        total += height(counts) * (Fraction(stop) - Fraction(start))
    return total


def random_scene(rng: np.random.Generator, max_side: int = 5) -> Overlap:
    """Return a small scene with many contacts, ties and exact halves."""
    n_ref, n_pred = rng.integers(0, max_side + 1, 2)
    table = rng.integers(0, 7, (n_ref, n_pred)) * (rng.random((n_ref, n_pred)) < rng.random())
    ref_sizes = table.sum(1) + rng.integers(0, 6, n_ref)
    pred_sizes = table.sum(0) + rng.integers(0, 6, n_pred)
    return Overlap.from_dense(table, np.maximum(ref_sizes, 1), np.maximum(pred_sizes, 1))


def random_labels(
    rng: np.random.Generator, shape: tuple[int, ...], labels: int
) -> npt.NDArray[np.int64]:
    """Return blocky labels: neighbours often agree, so that runs and overlaps occur."""
    coarse = rng.integers(0, labels + 1, [-(-n // 3) for n in shape])
    for axis in range(len(shape)):
        coarse = np.repeat(coarse, 3, axis)
    return coarse[tuple(slice(0, n) for n in shape)]


def all_tables(high: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield every 2 × 2 intersection table with entries up to `high`."""
    for entries in product(range(high + 1), repeat=4):
        yield np.array(entries).reshape(2, 2)
