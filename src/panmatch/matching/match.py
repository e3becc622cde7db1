"""From an overlap graph to a matching."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panmatch.errors import LabelError
from panmatch.matching.catalogue import resolve_strategy
from panmatch.matching.certificate import Certificate
from panmatch.matching.strategy import Strategy
from panmatch.matching.tally import Tally, are_false, tally_edges, union_quality
from panmatch.overlap import Floats, Ints, Overlap, Score, check_threshold


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Chosen edges of an overlap graph, with everything that led to them.

    Attributes
    ----------
    overlap
        The graph that was matched; for ``"union"`` the one with the pieces of a cell united.
    edges
        Positions of the chosen edges in ``overlap.edges``, rising.
    strategy, threshold, score
        How they were chosen.
    certificate
        Proof of optimality (D6); None for heuristics.
    """

    overlap: Overlap
    edges: Ints
    strategy: Strategy
    threshold: float
    score: Score
    certificate: Certificate | None = None

    @property
    def pairs(self) -> Ints:
        """Rows (reference id, prediction id), sorted, each once; shape (n, 2)."""
        predictions = self.overlap.predictions
        rows, owner = predictions.expand(self._preds)
        pairs = np.stack([self.overlap.ref_ids[self._refs[rows]], predictions.ids[owner]], 1)
        return np.unique(pairs, axis=0)

    @property
    def tally(self) -> Tally:
        """Counts and summed IoU (D3)."""
        return tally_edges(self.overlap, self.edges)

    @property
    def part_tally(self) -> Tally | None:
        """The same counts with part quality in place of IoU (D9); None without parts."""
        if self.overlap.parts is None:
            return None
        return tally_edges(self.overlap, self.edges, "parts")

    @property
    def ref_quality(self) -> Floats:
        """IoU of every reference with the union of its predictions, 0 if missed (D3)."""
        return union_quality(self.overlap, self.edges)

    @property
    def ref_part_quality(self) -> Floats | None:
        """Part quality of every reference, 0 if missed (D9); None without parts."""
        if self.overlap.parts is None:
            return None
        return union_quality(self.overlap, self.edges, "parts")

    @property
    def missed(self) -> Ints:
        """Ids of the references without a prediction: the false negatives."""
        return np.delete(self.overlap.ref_ids, self._refs)

    @property
    def false_positives(self) -> Ints:
        """Ids of the predictions without a reference, dismissed ones left out (D10)."""
        return self.overlap.predictions.ids[are_false(self.overlap, self.edges)]

    def __repr__(self) -> str:
        t = self.tally
        return (
            f"Matching({self.strategy.name}, threshold={self.threshold:g}: TP={t.tp}, FP={t.fp}, "
            f"FN={t.fn}, PQ={t.pq:.4f})"
        )

    @property
    def _refs(self) -> Ints:
        return self.overlap.edges.ref[self.edges]

    @property
    def _preds(self) -> Ints:
        return self.overlap.edges.pred[self.edges]


def match(
    overlap: Overlap,
    strategy: str | Strategy = "one-to-one",
    threshold: float = 0.5,
    *,
    score: Score = "iou",
) -> Matching:
    """Match references and predictions (D2–D5).

    Parameters
    ----------
    overlap
        From `count_overlaps`, `count_region_overlaps` or `Overlap.from_dense`.
    strategy
        ``"one-to-one"``, ``"many-to-one"``, ``"one-to-many"``, ``"same-id"``,
        ``"union"`` (regions only), or an object such as ``ManyToOne(gate="edge")``.
    threshold
        An edge needs a score strictly greater than this; in [0, 1).
    score
        What is compared with the threshold, orders the edges and is maximised: ``"iou"``,
        ``"dice"``, ``"prediction-share"`` or ``"reference-share"``. The quality of a true
        positive, and the growth of a union, are measured by IoU whatever the score.

    Returns
    -------
    Matching
        With `pairs` and `tally`. Empty sides are fine: everything is missed, or false.

    Examples
    --------
    >>> ov = Overlap.from_dense([[6, 2], [0, 5]], ref_sizes=[10, 5], pred_sizes=[6, 9])
    >>> matching = match(ov, "one-to-one", threshold=0.5)
    >>> matching.pairs.tolist()
    [[1, 1], [2, 2]]
    >>> round(matching.tally.pq, 4)
    0.5778
    """
    check_overlap(overlap)
    chosen, tau = resolve_strategy(strategy), check_threshold(threshold)
    overlap = chosen.prepare(overlap)
    solution = chosen.solve(overlap, overlap.score(score), tau)
    return Matching(overlap, solution.edges, chosen, tau, score, solution.certificate)


def check_overlap(overlap: object) -> None:
    """Raise a `LabelError` with the remedy if label images were passed for an overlap."""
    if not isinstance(overlap, Overlap):
        raise LabelError(
            f"overlap is a {type(overlap).__name__}, not an Overlap: pass "
            f"count_overlaps(reference, prediction)."
        )
