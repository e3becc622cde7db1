"""Greedy merge of predictions that may share voxels, each voxel counted once (D5, D16)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from panmatch.matching._solution import Course
from panmatch.overlap import Floats, Ints, Overlap, Unions


@dataclass(slots=True)
class _Union:
    """The predictions that a reference has taken, and the size of their union."""

    members: list[int] = field(default_factory=list)
    shared: int = 0
    covered: int = 0

    def iou(self, ref_size: int) -> tuple[int, int]:
        """Return numerator and denominator."""
        return self.shared, ref_size + self.covered - self.shared


def walk_shared(overlap: Overlap, walk: Ints, *, seedable: int, unions: Unions) -> Ints:
    """Take edges in the order of `walk` and return the positions of those taken, rising.

    A reference takes its first prediction among the first `seedable` edges, and another one if the
    IoU of the union strictly rises.
    """
    refs, preds = overlap.edges.ref[walk].tolist(), overlap.edges.pred[walk].tolist()
    voxels = overlap.edges.intersection[walk].tolist()
    ref_sizes, pred_sizes = overlap.ref_sizes.tolist(), overlap.pred_areas.tolist()
    taken_by: dict[int, _Union] = {}
    used: set[int] = set()
    taken = []
    for place, (ref, pred) in enumerate(zip(refs, preds, strict=True)):
        if pred in used:
            continue
        have = taken_by.get(ref)
        if have is None and place >= seedable:
            continue
        old = have or _Union()
        inside, known = unions.added(ref, old.members, pred)
        new = _Union(
            [*old.members, pred],
            old.shared + voxels[place] - inside,
            old.covered + pred_sizes[pred] - known,
        )
        if have is not None and not _rises(old, new, ref_sizes[ref]):
            continue
        taken_by[ref] = new
        used.add(pred)
        taken.append(place)
    return np.sort(walk[np.array(taken, np.int64)])


def sweep_shared(overlap: Overlap, walk: Ints, score: Floats) -> Course:
    """Return the merges of all thresholds when only a reference's first edge must pass.

    A merge changes only where a reference loses its first edge. It is then repeated in that part
    of the graph.
    """
    unions, (parts, _) = Unions(overlap), overlap.components()
    of_edge = parts[overlap.edges.ref[walk]]
    courses = [
        _sweep_part(overlap, walk[of_edge == part], score, unions) for part in np.unique(of_edge)
    ]
    none = Course(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    return Course(
        np.concatenate([one.edge for one in [none, *courses]]),
        np.concatenate([one.start for one in [none, *courses]]),
        np.concatenate([one.stop for one in [none, *courses]]),
    )


def _sweep_part(overlap: Overlap, walk: Ints, score: Floats, unions: Unions) -> Course:
    threshold, rows = 0.0, []
    while threshold < 1.0:
        passing = int(np.count_nonzero(score[walk] > threshold))
        taken = walk_shared(overlap, walk, seedable=passing, unions=unions)
        if not len(taken):
            break
        seeds = np.zeros(len(overlap.ref_ids))
        np.maximum.at(seeds, overlap.edges.ref[taken], score[taken])
        stop = min(1.0, float(seeds[overlap.edges.ref[taken]].min()))
        rows.append((taken, threshold, stop))
        threshold = stop
    edges = [edge for edge, _, _ in rows]
    lengths = [len(edge) for edge in edges]
    return Course(
        np.concatenate([np.zeros(0, np.int64), *edges]),
        np.repeat([start for _, start, _ in rows], lengths).astype(np.float64),
        np.repeat([stop for _, _, stop in rows], lengths).astype(np.float64),
    )


def _rises(old: _Union, new: _Union, ref_size: int) -> bool:
    """Whether the IoU of a larger union is higher, in whole numbers."""
    (shared, union), (more, larger) = old.iou(ref_size), new.iou(ref_size)
    return more * union > shared * larger
