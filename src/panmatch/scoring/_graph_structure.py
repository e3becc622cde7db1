"""What kinds of components the graph of overlapping objects falls into, whatever the strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from panmatch import native
from panmatch.errors import OverlapError, check_choice
from panmatch.matching import check_overlap, ratio
from panmatch.overlap import Areas, Ints, Overlap, Score, check_threshold, sum_by

ComponentKind = Literal["reference", "prediction", "1-1", "1-n", "n-1", "n-m"]
COMPONENT_KINDS: tuple[ComponentKind, ...] = get_args(ComponentKind)


class ComponentMeaning(NamedTuple):
    """What people call a kind of component, what it holds, and which question it asks.

    `answer` is what answers the question; empty if there is none.
    """

    title: str
    holds: str
    question: str
    answer: str = ""


MEANINGS: Mapping[ComponentKind, ComponentMeaning] = MappingProxyType(
    {
        "reference": ComponentMeaning(
            "reference alone",
            "a reference that nothing overlaps",
            "none: it is missed under every strategy",
        ),
        "prediction": ComponentMeaning(
            "prediction alone",
            "a prediction that overlaps nothing",
            "none: it is spurious under every strategy",
        ),
        "1-1": ComponentMeaning(
            "1–1",
            "one reference and one prediction",
            "none: there is one way to match it",
        ),
        "1-n": ComponentMeaning(
            "1–n",
            "one reference and several predictions",
            "do pieces of an object count? many-to-one says yes, one-to-one no",
            "many-to-one",
        ),
        "n-1": ComponentMeaning(
            "n–1",
            "several references and one prediction",
            "may objects share a prediction? one-to-many says yes, one-to-one no",
            "one-to-many",
        ),
        "n-m": ComponentMeaning(
            "n–m",
            "several references and several predictions",
            "no assignment explains all overlaps: ask the clustering question as well",
            "clustering scores",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class ComponentCounts:
    """How many components there are, and what is in them; counts add.

    Attributes
    ----------
    components, references, predictions
        How many.
    ref_voxels, pred_voxels
        Voxels of these references, and of these predictions outside void.
    shared_voxels
        Voxels that belong to a reference and to a prediction of the same component.

    Examples
    --------
    >>> import panmatch as pm
    >>> found = pm.graph_structure(pm.count_overlaps([1, 1, 0, 2], [4, 4, 5, 0]))
    >>> found["1-1"].components, found["1-1"].shared_voxels, found.total.references
    (1, 2, 2)
    """

    components: int = 0
    references: int = 0
    predictions: int = 0
    ref_voxels: float = 0
    pred_voxels: float = 0
    shared_voxels: float = 0

    def __add__(self, other: ComponentCounts) -> ComponentCounts:
        if not isinstance(other, ComponentCounts):
            return NotImplemented
        return ComponentCounts(
            self.components + other.components,
            self.references + other.references,
            self.predictions + other.predictions,
            self.ref_voxels + other.ref_voxels,
            self.pred_voxels + other.pred_voxels,
            self.shared_voxels + other.shared_voxels,
        )

    @property
    def columns(self) -> dict[str, float]:
        """All counts by name; thousands of them are stored and tabulated."""
        return {name: getattr(self, name) for name in _COUNTS}


_COUNTS = tuple(field.name for field in fields(ComponentCounts))


@dataclass(frozen=True, slots=True)
class GraphStructure:
    """How many components of the graph are of which kind; structures of images add exactly.

    An edge joins a reference and a prediction whose score is above the threshold (D2). The first
    number of a kind counts references, the second predictions, as in every table [ref, pred].

    Attributes
    ----------
    counts
        One for each of `COMPONENT_KINDS`, in that order: a reference alone, a prediction alone,
        1–1, 1–n, n–1 and n–m. A prediction without an edge that is dismissed because of void or
        crowd is not counted (D10).

    Examples
    --------
    >>> import panmatch as pm
    >>> table = [[4, 5, 0, 0], [0, 0, 6, 0], [0, 0, 5, 0], [0, 0, 0, 0]]
    >>> found = pm.graph_structure(pm.Overlap.from_dense(table, [9, 7, 6, 8], [4, 5, 12, 9]))
    >>> found.components
    {'reference': 1, 'prediction': 1, '1-1': 0, '1-n': 1, 'n-1': 1, 'n-m': 0}
    >>> found["1-n"].predictions, found.shares["n-1"], (found + found).total.components
    (2, 0.25, 8)
    """

    counts: tuple[ComponentCounts, ...] = (ComponentCounts(),) * len(COMPONENT_KINDS)

    def __getitem__(self, kind: ComponentKind) -> ComponentCounts:
        check_choice("kind", kind, COMPONENT_KINDS)
        return self.counts[COMPONENT_KINDS.index(kind)]

    @property
    def components(self) -> dict[ComponentKind, int]:
        """Number of components of every kind."""
        return {
            kind: one.components for kind, one in zip(COMPONENT_KINDS, self.counts, strict=True)
        }

    @property
    def total(self) -> ComponentCounts:
        """Counts over all kinds."""
        return sum(self.counts, start=ComponentCounts())

    @property
    def shares(self) -> dict[ComponentKind, float]:
        """Share of the components that are of each kind; NaN without any object (D11)."""
        found = self.components
        n = sum(found.values())
        return {kind: ratio(count, n) for kind, count in found.items()}

    @property
    def answers(self) -> tuple[str, ...]:
        """What answers the questions that occur, besides one-to-one; empty if there is none."""
        return tuple(
            MEANINGS[kind].answer
            for kind, count in self.components.items()
            if count and MEANINGS[kind].answer
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return plain data for JSON, by kind."""
        return {kind: self[kind].columns for kind in COMPONENT_KINDS}

    @classmethod
    def from_dict(cls, content: Mapping[str, Mapping[str, Any]]) -> GraphStructure:
        """Read what `to_dict` returned."""
        return cls(tuple(ComponentCounts(**content[kind]) for kind in COMPONENT_KINDS))

    def __add__(self, other: GraphStructure) -> GraphStructure:
        if not isinstance(other, GraphStructure):
            return NotImplemented
        pairs = zip(self.counts, other.counts, strict=True)
        return GraphStructure(tuple(one + more for one, more in pairs))

    def __radd__(self, other: object) -> GraphStructure:
        return self if other == 0 else NotImplemented  # sum() starts with 0


# The kind of a component, as a position, by how many references and predictions it has: 0, 1, more.
_KINDS = np.array([[0, 1, 1], [0, 2, 3], [0, 4, 5]])


class GraphComponents(NamedTuple):
    """The components of a graph at a threshold, with what is in each; a row per component.

    `shared` counts all overlaps inside a component, also those that are no edges at the threshold:
    it is the overlap of the union of its references with the union of its predictions.
    """

    refs: Ints
    preds: Ints
    ref_voxels: Areas
    pred_voxels: Areas
    shared: Areas

    @classmethod
    def of(cls, overlap: Overlap, threshold: float, score: Score = "iou") -> GraphComponents:
        """Find the components, without predictions that are alone and dismissed (D10)."""
        check_overlap(overlap)
        if overlap.pieces is not None:
            raise OverlapError(
                "overlap is cut by regions, and a piece overlaps one reference at most, so its "
                "components say nothing: pass count_overlaps(reference, prediction)."
            )
        edges, n_ref = overlap.edges, len(overlap.ref_ids)
        kept = overlap.score(score) > check_threshold(threshold)
        found = native.graph_components(
            edges.ref[kept], n_ref + edges.pred[kept], n_ref + len(overlap.pred_ids)
        )
        found = found.astype(np.intp)  # 32 bits in a browser, where NumPy counts nothing wider
        of_ref, of_pred = found[:n_ref], found[n_ref:]
        n = 1 + found.max(initial=-1)
        inside = of_ref[edges.ref] == of_pred[edges.pred]
        every = cls(
            np.bincount(of_ref, minlength=n),
            np.bincount(of_pred, minlength=n),
            sum_by(of_ref, overlap.ref_sizes, n),
            sum_by(of_pred, overlap.pred_areas, n),
            sum_by(of_ref[edges.ref[inside]], edges.intersection[inside], n),
        )
        dismissed = np.bincount(of_pred[overlap.dismissible], minlength=n) > 0
        counted = (every.refs > 0) | ~dismissed
        return cls(*(column[counted] for column in every))

    @property
    def kinds(self) -> Ints:
        """The kind of every component, as a position in `COMPONENT_KINDS`."""
        return _KINDS[np.minimum(self.refs, 2), np.minimum(self.preds, 2)]


def graph_structure(
    overlap: Overlap, threshold: float = 0.0, *, score: Score = "iou"
) -> GraphStructure:
    """Count the components of the graph of overlapping objects by kind.

    The kinds say which question the data ask. If all components of the graph at threshold 0 are 1–1
    or alone, every strategy with whole predictions agrees. A 1–n component is a reference in
    pieces, which many-to-one forgives; n–1 is a prediction over several references, which
    one-to-many forgives. For n–m no assignment explains all overlaps, so ask how well the
    clusterings agree: see `panmatch.related` and ``docs/explanation/which-question.md``.

    Parameters
    ----------
    overlap
        Of whole predictions: from `count_overlaps`.
    threshold
        Edges need a score above it (D2); 0 for any overlap.
    score
        As for `match`.

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 1, 1, 2, 2], [1, 1, 1, 2, 2, 2])
    >>> [kind for kind, n in pm.graph_structure(ov).components.items() if n]
    ['n-m']
    >>> [kind for kind, n in pm.graph_structure(ov, 0.5).components.items() if n]
    ['1-1']
    """
    found = GraphComponents.of(overlap, threshold, score)
    kinds, n = found.kinds, len(COMPONENT_KINDS)
    columns = [np.bincount(kinds, minlength=n), *(sum_by(kinds, column, n) for column in found)]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return GraphStructure(tuple(ComponentCounts(*row) for row in rows))
