"""Maximum PartPQ by trying every matching, voxel by voxel, as D3 to D10 say it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import panmatch as pm
from tests.part_oracle import VOID, part_quality

Labels = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Pair = tuple[int, int]  # a reference and a vertex, by their places
VOID_PART = 9
LABELS = [1, 2, 3]


@dataclass
class PartScene:
    """Images with parts; the vertices are predictions, or their pieces in Voronoi regions (D8)."""

    reference: Labels
    prediction: Labels
    reference_parts: Labels
    prediction_parts: Labels
    void: Mask
    background: str
    regions: bool = False
    _known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen = np.where(self.void, 0, self.reference)
        self.refs = [int(g) for g in np.unique(seen) if g]
        self.preds = [int(p) for p in np.unique(self.prediction) if p]
        cells = pm.labels.nearest_labels(seen) if self.regions and self.refs else None
        self.vertices = [
            (p, self.prediction == p)
            if cells is None
            else (p, (self.prediction == p) & (cells == cell))
            for p in self.preds
            for cell in ([0] if cells is None else self.refs)
        ]
        self.pairs = {
            (g, v): self.iou(g, v)
            for g in range(len(self.refs))
            for v in range(len(self.vertices))
            if (self.ref_mask(g) & self.pred_mask((v,))).any()
        }

    def overlap(self) -> pm.Overlap:
        """The same scene as panmatch counts it."""
        return pm.count_part_overlaps(
            self.reference,
            self.prediction,
            self.reference_parts,
            self.prediction_parts,
            void=self.void,
            void_part=VOID_PART,
            parts=LABELS,
            background=self.background,  # type: ignore[arg-type]
            regions="voronoi" if self.regions else None,
        )

    def ref_mask(self, g: int) -> Mask:
        mask: Mask = (self.reference == self.refs[g]) & ~self.void
        return mask

    def pred_mask(self, vertices: tuple[int, ...]) -> Mask:
        found = np.zeros(self.void.shape, np.bool_)
        for v in vertices:
            found |= self.vertices[v][1]
        return found & ~self.void

    def iou(self, g: int, v: int) -> float:
        ref, pred = self.ref_mask(g), self.pred_mask((v,))
        return int((ref & pred).sum()) / int((ref | pred).sum())

    def quality(self, g: int, vertices: tuple[int, ...]) -> float:
        """Part quality of a reference with the union of some vertices (D9)."""
        if (g, vertices) not in self._known:
            sides = [self.reference_parts, self.prediction_parts]
            self._known[g, vertices] = part_quality(
                self.ref_mask(g),
                self.pred_mask(vertices),
                *[np.where(side == VOID_PART, VOID, side) for side in sides],
                labels=LABELS,
                background=self.background,
                left_out=self.void,
            )
        return self._known[g, vertices]

    def is_dismissible(self, pred: int) -> bool:
        mine = self.prediction == pred
        return 2 * int((mine & self.void).sum()) > int(mine.sum())

    def part_pq(self, matching: dict[int, tuple[int, ...]]) -> float:
        """PartPQ of the vertices given to each matched reference (D3, D9); 0 if undefined."""
        used = {self.vertices[v][0] for members in matching.values() for v in members}
        tp, fn = len(matching), len(self.refs) - len(matching)
        fp = sum(p not in used and not self.is_dismissible(p) for p in self.preds)
        whole = tp + fp / 2 + fn / 2
        return sum(self.quality(g, members) for g, members in matching.items()) / (whole or 1.0)

    def best(self, strategy: str, threshold: float) -> float:
        """The highest PartPQ of any matching of the strategy."""
        passing = {pair for pair, iou in self.pairs.items() if iou > threshold}
        if strategy.startswith("many"):
            return max(map(self.part_pq, self._merges(passing, gate=strategy.split("/")[2])))
        return max(map(self.part_pq, self._covers(passing, shared="to-many" in strategy)))

    def _covers(self, passing: set[Pair], *, shared: bool) -> Iterator[dict[int, tuple[int, ...]]]:
        options = [
            [None, *(v for h, v in sorted(passing) if h == g)] for g in range(len(self.refs))
        ]
        for given in product(*options):
            used = [v for v in given if v is not None]
            if shared or len(set(used)) == len(used):
                yield {g: (v,) for g, v in enumerate(given) if v is not None}

    def _merges(self, passing: set[Pair], gate: str) -> Iterator[dict[int, tuple[int, ...]]]:
        usable = passing if gate == "edge" else set(self.pairs)
        options = [
            [None, *(g for g, u in sorted(usable) if u == v)] for v in range(len(self.vertices))
        ]
        for takers in product(*options):
            sets: dict[int, tuple[int, ...]] = {}
            for v, g in enumerate(takers):
                if g is not None:
                    sets[g] = (*sets.get(g, ()), v)
            if all(any((g, v) in passing for v in members) for g, members in sets.items()):
                yield sets


def random_part_scene(
    rng: np.random.Generator, *, void: bool, background: str, regions: bool = False
) -> PartScene:
    """Return up to four references and predictions, whose parts agree more or less."""
    shape = (int(rng.integers(3, 9)), int(rng.integers(3, 9)))
    reference, prediction = (_blocks(rng, shape) for _ in range(2))
    noise = [rng.choice([0, 1, 2, 3, VOID_PART], shape, p=[0.1, 0.3, 0.3, 0.2, 0.1]) for _ in "ab"]
    coarse = _blocks(rng, shape) % 4
    parts = [np.where(rng.random(shape) < rng.random(), one, coarse) for one in noise]
    left_out = (_blocks(rng, shape) == 1) & (rng.random(shape) < 0.9)
    return PartScene(
        reference,
        prediction,
        np.where(reference > 0, parts[0], 0),
        np.where(prediction > 0, parts[1], 0),
        left_out if void else np.zeros(shape, np.bool_),
        background,
        regions,
    )


def _blocks(rng: np.random.Generator, shape: tuple[int, int]) -> Labels:
    """Return labels 0 to 4 in blocks, of which some voxels are changed."""
    side = int(rng.integers(1, 4))
    coarse = rng.integers(0, 5, [-(-n // side) for n in shape])
    labels = np.kron(coarse, np.ones((side, side), int))[: shape[0], : shape[1]]
    changed = rng.random(shape) < rng.choice([0.0, 0.2])
    return np.where(changed, rng.integers(0, 5, shape), labels)
