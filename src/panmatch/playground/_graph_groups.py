"""A graph of many objects in groups: mistakes first, one-to-one matches last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch import native
from panmatch.overlap import Areas, Floats, Ints
from panmatch.playground._matching_rows import GraphEdges, MatchingGraph
from panmatch.playground._validation import Message

MOST_UNGROUPED = 25  # objects of a side; fewer are shown one by one, in the order of their ids
LEAST_SHARE = 0.1  # of an object, from which on an overlap connects it to another one


@dataclass(frozen=True, slots=True, eq=False)
class GraphGroups:
    """The positions of all objects, in the order in which they are shown.

    Two objects are in one group if a path of notable overlaps connects them: those that pass the
    threshold, are chosen, or cover at least a tenth of one of the two objects.

    Attributes
    ----------
    errors
        References and predictions of every group in which something is unmatched, split or
        merged, the largest group first. Predictions follow the reference that they overlap most.
    alone
        References and predictions without a notable overlap.
    clean
        References and predictions of groups of one-to-one matches, by rising IoU: shape (n, 2).
    clean_iou
        IoU of these matches.
    """

    errors: list[tuple[Ints, Ints]]
    alone: tuple[Ints, Ints]
    clean: Ints
    clean_iou: Floats

    @classmethod
    def of(cls, graph: MatchingGraph) -> GraphGroups:
        """Return the groups of a graph."""
        sizes = graph.sizes("reference"), graph.sizes("prediction")
        n, m = len(sizes[0]), len(sizes[1])
        edges = graph.edges.take(_is_notable(graph.edges, *sizes))
        found = native.graph_components(edges.ref, n + edges.pred, n + m)
        group = found.astype(np.intp)  # 32 bits in a browser, where NumPy counts nothing wider
        count = int(group.max(initial=-1)) + 1
        of_ref, of_pred = group[:n], group[n:]
        members = np.bincount(group, minlength=count)
        chosen = edges.take(edges.chosen)
        once = (
            np.bincount(end, minlength=k) == 1 for end, k in ((chosen.ref, n), (chosen.pred, m))
        )
        wrong_ends = np.bincount(group[~np.concatenate([*once])], minlength=count)
        single = members == 1
        right = (wrong_ends == 0) & ~single
        clean = chosen.take(right[of_ref[chosen.ref]])
        clean = clean.take(np.lexsort((clean.ref, clean.iou)))
        wrong = np.flatnonzero(~single & ~right)
        return cls(
            _in_order(wrong, of_ref, of_pred, edges),
            (np.flatnonzero(single[of_ref]), np.flatnonzero(single[of_pred])),
            np.stack([clean.ref, clean.pred], 1),
            clean.iou,
        )

    def first(self, most: int) -> tuple[Ints, Ints]:
        """Return the positions of references and predictions that come first, in rising order."""
        listed = []
        for side in (0, 1):
            order = [group[side] for group in self.errors]
            order += [self.alone[side], self.clean[:, side]]
            listed.append(np.sort(np.concatenate(order)[:most]))
        return listed[0], listed[1]

    def rows(self, refs: Ints, preds: Ints) -> Message:
        """Return the groups as rows of tables that list these references and predictions.

        What is not listed is left out; the summary of matches is about all.
        """
        row_of = [_row_of(listed) for listed in (refs, preds)]

        def rows(side: int, positions: Ints) -> list[int]:
            return [row_of[side][at] for at in positions.tolist() if at in row_of[side]]

        errors = [[rows(0, group[0]), rows(1, group[1])] for group in self.errors]
        pairs = ((row_of[0].get(ref), row_of[1].get(pred)) for ref, pred in self.clean.tolist())
        n = len(self.clean)
        return {
            "errors": [group for group in errors if group[0] or group[1]],
            "alone": [rows(0, self.alone[0]), rows(1, self.alone[1])],
            "clean": [list(pair) for pair in pairs if None not in pair],
            "matches": {
                "count": n,
                "mean_iou": float(self.clean_iou.mean()) if n else None,
                "least_iou": float(self.clean_iou[0]) if n else None,
            },
        }


def _is_notable(edges: GraphEdges, ref_sizes: Areas, pred_sizes: Areas) -> np.ndarray:
    smaller = np.minimum(ref_sizes[edges.ref], pred_sizes[edges.pred])
    return edges.chosen | edges.passes | (edges.intersection >= LEAST_SHARE * smaller)


def _in_order(
    groups: Ints, of_ref: Ints, of_pred: Ints, edges: GraphEdges
) -> list[tuple[Ints, Ints]]:
    """Return references and predictions of some groups, the largest group first."""
    best = np.full(len(of_pred), len(of_ref))  # the reference that a prediction overlaps most
    best[edges.pred[::-1]] = edges.ref[::-1]  # edges are in the order of falling IoU
    refs = np.argsort(of_ref, kind="stable")
    preds = np.lexsort((best, of_pred))
    found = []
    for side, members in ((of_ref, refs), (of_pred, preds)):
        start, stop = (np.searchsorted(side[members], groups, where) for where in ("left", "right"))
        found.append([members[a:b] for a, b in zip(start, stop, strict=True)])
    pairs = list(zip(*found, strict=True))
    return sorted(pairs, key=lambda pair: (-len(pair[0]) - len(pair[1]), int(pair[0][0])))


def _row_of(listed: Ints) -> dict[int, int]:
    return {position: row for row, position in enumerate(listed.tolist())}
