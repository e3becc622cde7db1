"""The base class of all matching strategies, with the one description that all tools use (D4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from itertools import product
from typing import ClassVar, Literal, Self, get_args, get_origin, get_type_hints

import numpy as np

from panmatch import native
from panmatch.matching._objective import go_together
from panmatch.matching._solution import Course, Solution
from panmatch.matching._tally import Quality
from panmatch.overlap import Floats, Ints, Overlap

Dash = tuple[float, ...]

UNSAID = {"objective": "pq"}  # values of options that go without saying


class Strategy(ABC):
    """A rule that chooses edges of an overlap graph.

    The first word of a strategy's name counts predictions per reference, the second references
    per prediction. Other tools read such names the other way round, so `bounds` spells it out.

    A subclass is a frozen dataclass. Its fields with a `Literal` type are its options. The spec,
    the command line, the tables, the report and the playground read these options, and everything
    else they say about a strategy, from the class.

    Attributes
    ----------
    name
        What people write in a spec.
    max_preds_per_ref, max_refs_per_pred
        Degree bounds; None for any number.
    forgives
        Which mistake costs nothing except the quality of the outline.
    hue
        Colour of its family of lines, on light and on dark ground; families also differ for
        readers who do not see red or green.
    needs_regions
        Whether it works only on predictions that are cut by regions (D8).
    takes_repairs
        Whether joining or cutting predictions can change what it matches.

    Examples
    --------
    >>> import panmatch as pm
    >>> strategy = pm.ManyToOne(gate="edge")
    >>> isinstance(strategy, pm.Strategy), strategy.label, strategy.forgives
    (True, 'many-to-one (merge, edge)', 'split objects')
    >>> strategy.bounds
    ('any number of predictions per reference', 'at most 1 reference per prediction')
    """

    __slots__ = ()

    name: ClassVar[str]
    max_preds_per_ref: ClassVar[int | None]
    max_refs_per_pred: ClassVar[int | None]
    forgives: ClassVar[str]
    hue: ClassVar[tuple[str, str]]
    needs_regions: ClassVar[bool] = False
    takes_repairs: ClassVar[bool] = True

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({options})"

    @property
    @abstractmethod
    def about(self) -> str:
        """One sentence on what it does."""

    @property
    def dash(self) -> Dash:
        """Lengths of strokes and gaps of its lines, in line widths; none for a solid line."""
        return ()

    @property
    def options(self) -> dict[str, str]:
        """The value of every option, except for an objective that is PQ as usual."""
        values = {name: getattr(self, name) for name in self.choices()}
        return {name: value for name, value in values.items() if UNSAID.get(name) != value}

    @property
    def maximises(self) -> str:
        """What an optimal solver maximises, as people call it: PQ or PartPQ."""
        return "PQ" if self.quality == "iou" else "PartPQ"

    @property
    def quality(self) -> Quality:
        """The quality of true positives that an optimal solver maximises (D6, D9)."""
        return "parts" if self.options.get("objective") == "parts" else "iou"

    @property
    def label(self) -> str:
        """Name and options, such as ``"many-to-one (merge, seed)"``."""
        values = ", ".join(self.options.values())
        return f"{self.name} ({values})" if values else self.name

    @property
    def key(self) -> str:
        """Name and options for links and files, such as ``"many-to-one/merge/seed"``."""
        return "/".join([self.name, *self.options.values()])

    @property
    def python(self) -> str:
        """The Python expression that creates it, after ``import panmatch as pm``."""
        options = ", ".join(f'{name}="{value}"' for name, value in self.options.items())
        return f"pm.{type(self).__name__}({options})"

    @property
    def bounds(self) -> tuple[str, str]:
        """Both degree bounds in words."""
        preds = _at_most(self.max_preds_per_ref, "prediction")
        refs = _at_most(self.max_refs_per_pred, "reference")
        return f"{preds} per reference", f"{refs} per prediction"

    @property
    def short_bounds(self) -> str:
        """Both degree bounds in short form: predictions per reference, then the reverse.

        Examples
        --------
        >>> from panmatch.matching import ManyToOne
        >>> ManyToOne().short_bounds
        'any : ≤ 1'
        """
        bounds = (self.max_preds_per_ref, self.max_refs_per_pred)
        return " : ".join("any" if bound is None else f"≤ {bound}" for bound in bounds)

    def is_local(self, overlap: Overlap, threshold: float) -> bool:  # noqa: ARG002
        """Whether parts of a graph without edges between them can be matched one by one."""
        return True

    @classmethod
    @cache
    def choices(cls) -> Mapping[str, tuple[str, ...]]:
        """Return the accepted values of every option, the default first.

        Examples
        --------
        >>> from panmatch.matching import ManyToOne
        >>> ManyToOne.choices()
        {'solver': ('merge', 'optimal'), 'gate': ('seed', 'edge'), 'objective': ('pq', 'parts')}
        """
        types = get_type_hints(cls)
        return {
            field.name: get_args(types[field.name])
            for field in fields(cls)  # type: ignore[arg-type]
            if get_origin(types[field.name]) is Literal
        }

    @classmethod
    def variants(cls) -> list[Strategy]:
        """Return the strategy with every combination of its options, the default first."""
        names = list(cls.choices())
        every = (
            dict(zip(names, values, strict=True)) for values in product(*cls.choices().values())
        )
        return [cls(**options) for options in every if go_together(options)]

    def suited_to(self, overlap: Overlap) -> Self:
        """Return the strategy for one class of several: PartPQ of one without parts is PQ (D9)."""
        return self if overlap.parts is not None else self.without_parts()

    def without_parts(self) -> Self:
        """Return the strategy with PQ as its objective."""
        if self.quality == "iou":
            return self
        return replace(self, objective="pq")  # type: ignore[type-var]

    def prepare(self, overlap: Overlap) -> Overlap:
        """Return the graph that the strategy works on: as it is, unless it says otherwise."""
        return overlap

    @abstractmethod
    def solve(self, overlap: Overlap, score: Floats, threshold: float) -> Solution:
        """Return the edges matched at `threshold`."""

    @abstractmethod
    def sweep(self, overlap: Overlap, score: Floats) -> Course:
        """Return the matchings at all thresholds."""


def best_first(score: Floats) -> Ints:
    """Return edge positions by falling score; ties by reference, then prediction (D4)."""
    return np.argsort(-score, kind="stable")


def best_of_each_ref(ref: Ints, score: Floats) -> Ints:
    """Return the position of every reference's best edge; ties by prediction (D4)."""
    walk = best_first(score)
    return np.sort(walk[np.unique(ref[walk], return_index=True)[1]])


def _at_most(bound: int | None, noun: str) -> str:
    return f"any number of {noun}s" if bound is None else f"at most {bound} {noun}"


def walk_edges(overlap: Overlap, walk: Ints, *, seedable: int, grow: bool) -> Ints:
    """Take edges in the order of `walk` and return the positions of those taken, rising.

    Parameters
    ----------
    walk
        Positions of the edges to visit, best first.
    seedable
        How many edges at the front of `walk` may give a reference its first prediction.
    grow
        Whether a reference takes further predictions that raise the IoU of its union.
    """
    taken = native.merge(*_in_order(overlap, walk), seedable, grow)
    return np.sort(walk[taken.view(np.bool_)])


def sweep_seeds(overlap: Overlap, walk: Ints, score: Floats) -> Course:
    """Return the merges of all thresholds when only a reference's first edge must pass."""
    edge, start, stop = native.merge_sweep(*_in_order(overlap, walk), score[walk])
    return Course(walk[edge], start, stop)


def _in_order(overlap: Overlap, walk: Ints) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    return (
        overlap.edges.ref[walk],
        overlap.edges.pred[walk],
        overlap.edges.intersection[walk].astype(np.float64),
        overlap.ref_sizes.astype(np.float64),
        overlap.pred_areas.astype(np.float64),
    )
