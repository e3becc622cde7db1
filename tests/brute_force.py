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
    preds: list[int]  # outside void
    shared: dict[Pair, int]
    dismissible: list[bool]
    owners: list[int]  # the whole prediction that each one is, or is a piece of (D8)

    @classmethod
    def of(cls, overlap: Overlap) -> Scene:
        edges = zip(
            overlap.edges.ref.tolist(),
            overlap.edges.pred.tolist(),
            overlap.edges.intersection.tolist(),
            strict=True,
        )
        areas = (overlap.pred_sizes - overlap.pred_void).tolist()
        owners = overlap.pred_ids.tolist()
        crowd = overlap.pred_crowd if overlap.pred_crowd is not None else 0 * overlap.pred_void
        ignored, whole = Counter[int](), Counter[int]()
        for owner, lost, size in zip(
            owners, overlap.pred_void + crowd, overlap.pred_sizes, strict=True
        ):
            ignored[owner] += lost
            whole[owner] += size
        dismissible = [2 * ignored[owner] > whole[owner] for owner in owners]
        shared = {(g, p): n for g, p, n in edges}
        return cls(overlap.ref_sizes.tolist(), areas, shared, dismissible, owners)

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
        """PQ, or 0 where it is undefined because nothing counts."""
        whole = self.tp + Fraction(self.fp + self.fn, 2)
        return self.quality / whole if whole else Fraction(0)


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
    used = {scene.owners[p] for _, p in pairs}
    counted = {o for o, lost in zip(scene.owners, scene.dismissible, strict=True) if not lost}
    fp = len(counted - used)
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
    """Try them all."""
    return best_pq(scene, matchings(scene.passing(threshold)))


def best_pq(scene: Scene, matchings: Iterator[Pairs]) -> Pairs:
    """Return the matching of highest PQ; among equals the one with more true positives."""

    def value(pairs: Pairs) -> tuple[Fraction, int]:
        counts = count(scene, pairs)
        return counts.pq, counts.tp

    return max(matchings, key=value)


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


def merge_optimal(scene: Scene, threshold: float, gate: str) -> Pairs:
    """Try every way to give each prediction to one of its references or to none."""
    passing = set(scene.passing(threshold))
    edges = passing if gate == "edge" else set(scene.shared)
    options = [[None, *(g for g, q in edges if q == p)] for p in range(len(scene.preds))]

    def allowed() -> Iterator[Pairs]:
        for takers in product(*options):
            pairs = frozenset((g, p) for p, g in enumerate(takers) if g is not None)
            if {g for g, _ in pairs} == {g for g, _ in pairs & passing}:
                yield pairs

    return best_pq(scene, allowed())


def cover_optimal(scene: Scene, threshold: float) -> Pairs:
    """Try every way to give each reference one of its predictions or none."""
    passing = scene.passing(threshold)
    options = [[None, *(p for h, p in passing if h == g)] for g in range(len(scene.refs))]

    def allowed() -> Iterator[Pairs]:
        for given in product(*options):
            yield frozenset((g, p) for g, p in enumerate(given) if p is not None)

    return best_pq(scene, allowed())


STRATEGIES: dict[str, Callable[[Scene, float], Pairs]] = {
    "one-to-one/optimal": one_to_one_optimal,
    "one-to-one/greedy": one_to_one_greedy,
    "many-to-one/merge/seed": lambda scene, threshold: merge(scene, threshold, "seed"),
    "many-to-one/merge/edge": lambda scene, threshold: merge(scene, threshold, "edge"),
    "one-to-many/best": one_to_many_best,
    "many-to-one/optimal/seed": lambda scene, threshold: merge_optimal(scene, threshold, "seed"),
    "many-to-one/optimal/edge": lambda scene, threshold: merge_optimal(scene, threshold, "edge"),
    "one-to-many/optimal": cover_optimal,
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


def lopsided_scene(rng: np.random.Generator, n_ref: int, n_pred: int) -> Overlap:
    """Return a scene in which many predictions reach far beyond what they overlap."""
    table = rng.integers(0, 9, (n_ref, n_pred)) * (rng.random((n_ref, n_pred)) < 0.6)
    outside = rng.integers(0, 6, n_pred) * rng.choice([1, 1, 6, 15], n_pred)
    ref_sizes, pred_sizes = table.sum(1) + rng.integers(0, 6, n_ref), table.sum(0) + outside
    return Overlap.from_dense(table, np.maximum(ref_sizes, 1), np.maximum(pred_sizes, 1))


def with_void(rng: np.random.Generator, overlap: Overlap) -> Overlap:
    """Return the same scene with some predictions reaching into void, most of them by half."""
    void = rng.integers(0, 25, len(overlap.pred_ids)) * rng.integers(0, 2, len(overlap.pred_ids))
    columns = overlap.columns()
    return Overlap.from_columns(
        {**columns, "pred_void": void, "pred_sizes": columns["pred_sizes"] + void}
    )


def with_crowd(rng: np.random.Generator, overlap: Overlap) -> Overlap:
    """Return the same scene with some predictions reaching into crowd of their class."""
    crowd = rng.integers(0, 25, len(overlap.pred_ids)) * rng.integers(0, 2, len(overlap.pred_ids))
    columns = overlap.columns()
    return Overlap.from_columns(
        {**columns, "pred_crowd": crowd, "pred_sizes": columns["pred_sizes"] + crowd}
    )


def all_contested(rng: np.random.Generator) -> Overlap:
    """Return a scene in which every prediction overlaps every reference."""
    n_ref, n_pred = rng.integers(1, 5), rng.integers(2, 5)
    table = rng.integers(1, 9, (n_ref, n_pred))
    extra = rng.integers(0, 3, n_ref + n_pred)
    return Overlap.from_dense(table, table.sum(1) + extra[:n_ref], table.sum(0) + extra[n_ref:])


def random_labels(
    rng: np.random.Generator, shape: tuple[int, ...], labels: int
) -> npt.NDArray[np.int64]:
    """Return blocky labels: neighbours often agree, so that runs and overlaps occur."""
    coarse = rng.integers(0, labels + 1, [-(-n // 3) for n in shape])
    for axis in range(len(shape)):
        coarse = np.repeat(coarse, 3, axis)
    return coarse[tuple(slice(0, n) for n in shape)]
