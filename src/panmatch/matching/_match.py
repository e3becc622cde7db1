"""From an overlap graph to a matching."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import get_args

import numpy as np

from panmatch._html import block, number, some_of, table
from panmatch.errors import LabelError, StrategyError, check_choice
from panmatch.labels import Mask
from panmatch.matching._catalogue import option_names, resolve_strategy
from panmatch.matching._many_to_one import ManyToOne
from panmatch.matching._one_to_many import OneToMany
from panmatch.matching._one_to_one import OneToOne
from panmatch.matching._solution import Certificate
from panmatch.matching._strategy import Dash, Strategy
from panmatch.matching._tally import Tally, are_false, tally_edges, union_quality
from panmatch.overlap import Floats, Ints, Overlap, Score, lowest_above


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Chosen edges of an overlap graph, with everything that led to them.

    Attributes
    ----------
    overlap
        The graph that was matched; for ``"union"``, with the pieces of every region united.
    edges
        Positions of the chosen edges in ``overlap.edges``, rising.
    strategy, threshold, score, strict
        How they were chosen.
    certificate
        Proof of optimality (D6); None for heuristics.

    Examples
    --------
    >>> import panmatch as pm
    >>> matching = pm.match(pm.count_overlaps([1, 1, 1, 0, 2, 0], [4, 4, 0, 0, 0, 5]))
    >>> matching
    Matching(one-to-one, threshold=0.5: TP=1, FP=1, FN=1, PQ=0.3333)
    >>> matching.pairs.tolist(), matching.missed.tolist(), matching.false_positives.tolist()
    ([[1, 4]], [2], [5])
    """

    overlap: Overlap
    edges: Ints
    strategy: Strategy
    threshold: float
    score: Score
    certificate: Certificate | None = None
    strict: bool = True
    counted: Tally | None = field(default=None, repr=False)  # the tally, if it is known already

    @property
    def pairs(self) -> Ints:
        """Rows (reference id, prediction id), sorted, each once; shape (n, 2)."""
        if self.overlap.pieces is None:  # edges are sorted, and so are ids
            ids = self.overlap.ref_ids[self._refs], self.overlap.pred_ids[self._preds]
            return np.stack(ids, 1)
        predictions = self.overlap.predictions
        rows, owner = predictions.expand(self._preds)
        pairs = np.stack([self.overlap.ref_ids[self._refs[rows]], predictions.ids[owner]], 1)
        return np.unique(pairs, axis=0)

    @property
    def tally(self) -> Tally:
        """Counts and summed IoU (D3)."""
        return self.counted or tally_edges(self.overlap, self.edges)

    @property
    def part_tally(self) -> Tally | None:
        """The same counts with part quality instead of IoU (D9); None without parts."""
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

    def _repr_html_(self) -> str:
        """Show counts, scores, missed and spurious objects, and the certificate in a notebook."""
        t, by_parts = self.tally, self.part_tally
        cells = {"TP": str(t.tp), "FP": str(t.fp), "FN": str(t.fn)}
        cells |= {"PQ": number(t.pq), "SQ": number(t.sq), "RQ": number(t.rq)}
        if by_parts is not None:
            cells |= {"PartPQ": number(by_parts.pq), "PartSQ": number(by_parts.sq)}
        ids = {"Missed": self.missed.tolist(), "False": self.false_positives.tolist()}
        words = [f"{name}: {some_of(them)}" for name, them in ids.items() if them]
        proof = "" if self.certificate is None else str(self.certificate)
        regions = None if self.overlap.pieces is None else "voronoi"
        how = Matcher(self.strategy, self.score, regions, self.strict).label
        title = f"Matching: {how} at τ = {self.threshold:g}"
        return block(title, table(list(cells), [list(cells.values())], left=0), *words, proof)

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
    strict: bool = True,
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
        What is compared with the threshold, sorts the edges and is maximised: ``"iou"``,
        ``"dice"``, ``"prediction-share"`` or ``"reference-share"``. The quality of a true
        positive, and the growth of a union, are always measured by IoU.
    strict
        If False, an edge may match if its score equals the threshold, as in some other programs.

    Returns
    -------
    Matching
        With `pairs` and `tally`. A side may be empty: then everything is missed, or a false
        positive.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.Overlap.from_dense([[6, 2], [0, 5]], ref_sizes=[10, 5], pred_sizes=[6, 9])
    >>> matching = pm.match(ov, "one-to-one", threshold=0.5)
    >>> matching.pairs.tolist()
    [[1, 1], [2, 2]]
    >>> round(matching.tally.pq, 4)
    0.5778
    """
    check_overlap(overlap)
    chosen, tau = resolve_strategy(strategy), lowest_above(threshold, strict=strict)
    overlap = chosen.prepare(overlap)
    solution = chosen.solve(overlap, overlap.score(score), tau)
    proof = solution.certificate if score == "iou" else None
    return Matching(
        overlap, solution.edges, chosen, float(threshold), score, proof, strict, solution.tally
    )


def check_overlap(overlap: object) -> None:
    """Raise a `LabelError` with the remedy if label images were passed instead of an overlap."""
    if not isinstance(overlap, Overlap):
        raise LabelError(
            f"overlap is a {type(overlap).__name__}, not an Overlap: pass "
            f"count_overlaps(reference, prediction)."
        )


@dataclass(frozen=True, slots=True)
class Matcher:
    """A strategy, the score that edges are judged by, and whether predictions are cut by regions.

    Attributes
    ----------
    strategy
        The rule.
    score
        What an edge is judged by (D2).
    regions
        Rule by which predictions are cut into regions first (D8), such as ``"voronoi"``; None for
        whole predictions.
    strict
        Whether a score must be greater than the threshold, or may equal it.

    Examples
    --------
    >>> from panmatch.matching import ManyToOne
    >>> Matcher(ManyToOne(gate="edge"), regions="voronoi").label
    'many-to-one (merge, edge) in regions'
    """

    strategy: Strategy
    score: Score = "iou"
    regions: str | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        check_choice("score", self.score, get_args(Score))
        if self.strategy.needs_regions and self.regions is None:
            raise StrategyError(
                f"the strategy {self.strategy.name!r} only works on regions: remove "
                f"'regions: false'."
            )

    @property
    def name(self) -> str:
        """Name of the strategy."""
        return self.strategy.name

    @property
    def label(self) -> str:
        """What to call it: the strategy with its options, a score other than IoU, and regions."""
        return _label_of(self)

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines; those in regions begin with a long stroke."""
        inside = self.regions is not None and not self.strategy.needs_regions
        return (14.0, 1.5, *(self.strategy.dash or (4.0, 1.5))) if inside else self.strategy.dash

    @property
    def columns(self) -> dict[str, str]:
        """What distinguishes it from other matchers, as columns of a table."""
        return dict(_columns_of(self))

    def passing(self, overlap: Overlap, threshold: float) -> Mask:
        """Return which edges of an overlap of whole predictions pass a threshold (D2)."""
        return overlap.score(self.score) > lowest_above(threshold, strict=self.strict)

    def match(self, overlap: Overlap, threshold: float) -> Matching:
        """Match an overlap, which must be cut by regions if that is asked for.

        Without parts, PartPQ is PQ, so that is what an optimal solver then maximises (D9).
        """
        strategy = self.strategy.suited_to(overlap)
        return match(overlap, strategy, threshold, score=self.score, strict=self.strict)


# Thousands of rows of a table share these few values.
@lru_cache(256)
def _label_of(matcher: Matcher) -> str:
    values = [*matcher.strategy.options.values()]
    values += [] if matcher.score == "iou" else [f"by {matcher.score}"]
    values += [] if matcher.strict else ["≥ τ"]
    options = f" ({', '.join(values)})" if values else ""
    inside = matcher.regions is not None and not matcher.strategy.needs_regions
    return f"{matcher.name}{options}{' in regions' if inside else ''}"


@lru_cache(256)
def _columns_of(matcher: Matcher) -> dict[str, str]:
    chosen = matcher.strategy.options
    return {
        "strategy": matcher.name,
        **{name: chosen.get(name, "") for name in option_names()},
        "edge_score": matcher.score if matcher.strict else f"{matcher.score} ≥ threshold",
        "regions": matcher.regions or "",
    }


@dataclass(frozen=True, slots=True)
class OptimalityGap:
    """PQ (or PartPQ) of a heuristic next to the best that its strategy allows."""

    heuristic: float  # of the heuristic
    optimal: float  # of the best matching found
    certificate: Certificate  # what is proven of the best matching

    @property
    def gap(self) -> float:
        """PQ that the heuristic misses."""
        return self.optimal - self.heuristic

    @property
    def relative(self) -> float:
        """The gap as a share of the optimum; 0 where the optimum is 0."""
        return self.gap / self.optimal if self.optimal else 0.0


def optimality_gap(
    overlap: Overlap, strategy: str | Strategy = "many-to-one", threshold: float = 0.5
) -> OptimalityGap:
    """Compare the heuristic of a strategy with its optimum (D6).

    Parameters
    ----------
    overlap, threshold
        As for `match`.
    strategy
        A name, or an object whose gate, budget and objective are used. The heuristic is
        ``"greedy"`` for one-to-one, ``"merge"`` for many-to-one and ``"best"`` for one-to-many.

    Examples
    --------
    >>> trap = Overlap.from_dense([[6, 5], [5, 0]], ref_sizes=[11, 10], pred_sizes=[11, 10])
    >>> found = optimality_gap(trap, "one-to-one", threshold=0.0)
    >>> found.heuristic, found.optimal, found.certificate.proven
    (0.1875, 0.3125, True)
    """
    heuristic, optimal = _solvers(resolve_strategy(strategy))
    best = match(overlap, optimal, threshold)
    assert best.certificate is not None
    usual = match(overlap, heuristic, threshold)
    value, most = (tally_edges(one.overlap, one.edges, optimal.quality).pq for one in (usual, best))
    return OptimalityGap(value, most, best.certificate)


def _solvers(strategy: Strategy) -> tuple[Strategy, Strategy]:
    if isinstance(strategy, OneToOne):
        heuristic = replace(strategy, solver="greedy", objective="pq")
        return heuristic, replace(strategy, solver="optimal")
    if isinstance(strategy, ManyToOne):
        return strategy.heuristic, replace(strategy, solver="optimal")
    if isinstance(strategy, OneToMany):
        best = replace(strategy, solver="best", objective="pq")
        return best, replace(strategy, solver="optimal")
    raise StrategyError(
        f"strategy={strategy.name!r} leaves nothing to choose, so there is no heuristic to "
        f"compare with an optimum. Pass 'one-to-one', 'many-to-one' or 'one-to-many'."
    )
