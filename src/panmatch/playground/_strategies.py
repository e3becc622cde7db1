"""The strategies that the playground offers, by the ids that links carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from panmatch.matching import (
    ManyToOne,
    OneToMany,
    OneToOne,
    RegionUnion,
    SameId,
    Strategy,
)


@dataclass(frozen=True, slots=True)
class ListedStrategy:
    """One strategy with all that is said about it.

    Attributes
    ----------
    strategy
        The strategy itself.
    label
        What menus and legends say.
    about
        One sentence.
    python
        The expression that makes it, after ``import panmatch as pm``.
    spec
        Its entry in the list `matching` of a spec; `regions` is not among its keys.
    only_regions
        Whether it works only on predictions that are cut by the cells of the references (D8).
    """

    strategy: Strategy
    label: str
    about: str
    python: str
    spec: Mapping[str, Any]
    only_regions: bool = False


STRATEGIES: Mapping[str, ListedStrategy] = MappingProxyType(
    {
        "one-to-one/optimal": ListedStrategy(
            OneToOne(solver="optimal"),
            "One-to-one · optimal",
            "Pairs of one prediction and one reference, chosen for the largest total IoU, which "
            "is also maximum PQ.",
            'pm.OneToOne(solver="optimal")',
            {"strategy": "one-to-one", "solver": "optimal"},
        ),
        "one-to-one/greedy": ListedStrategy(
            OneToOne(solver="greedy"),
            "One-to-one · greedy",
            "Pairs of one prediction and one reference, the highest IoU first.",
            'pm.OneToOne(solver="greedy")',
            {"strategy": "one-to-one", "solver": "greedy"},
        ),
        "many-to-one/merge/seed": ListedStrategy(
            ManyToOne(solver="merge", gate="seed"),
            "Many-to-one · merge, seed gate",
            "A reference takes the prediction of highest IoU if it passes the threshold, then "
            "every overlapping one that raises the IoU of the union.",
            'pm.ManyToOne(solver="merge", gate="seed")',
            {"strategy": "many-to-one", "solver": "merge", "gate": "seed"},
        ),
        "many-to-one/merge/edge": ListedStrategy(
            ManyToOne(solver="merge", gate="edge"),
            "Many-to-one · merge, edge gate",
            "As the seed gate, but every prediction that joins must pass the threshold by itself.",
            'pm.ManyToOne(solver="merge", gate="edge")',
            {"strategy": "many-to-one", "solver": "merge", "gate": "edge"},
        ),
        "many-to-one/optimal/seed": ListedStrategy(
            ManyToOne(solver="optimal", gate="seed"),
            "Many-to-one · optimal, seed gate",
            "Any number of predictions per reference, chosen for maximum PQ; one of them must "
            "pass the threshold.",
            'pm.ManyToOne(solver="optimal", gate="seed")',
            {"strategy": "many-to-one", "solver": "optimal", "gate": "seed"},
        ),
        "many-to-one/optimal/edge": ListedStrategy(
            ManyToOne(solver="optimal", gate="edge"),
            "Many-to-one · optimal, edge gate",
            "Any number of predictions per reference, chosen for maximum PQ; each must pass the "
            "threshold.",
            'pm.ManyToOne(solver="optimal", gate="edge")',
            {"strategy": "many-to-one", "solver": "optimal", "gate": "edge"},
        ),
        "one-to-many/best": ListedStrategy(
            OneToMany(solver="best"),
            "One-to-many · best",
            "Every reference takes its best prediction above the threshold, even one that others "
            "have taken.",
            'pm.OneToMany(solver="best")',
            {"strategy": "one-to-many", "solver": "best"},
        ),
        "one-to-many/optimal": ListedStrategy(
            OneToMany(solver="optimal"),
            "One-to-many · optimal",
            "One prediction per reference, any number of references per prediction, chosen for "
            "maximum PQ.",
            'pm.OneToMany(solver="optimal")',
            {"strategy": "one-to-many", "solver": "optimal"},
        ),
        "same-id": ListedStrategy(
            SameId(),
            "Same id",
            "Partners are shapes of equal number: the first with the first, the second with the "
            "second.",
            "pm.SameId()",
            {"strategy": "same-id"},
        ),
        "union": ListedStrategy(
            RegionUnion(),
            "Union in every cell",
            "A reference takes all that is predicted in its cell, if the union passes the "
            "threshold.",
            "pm.RegionUnion()",
            {"strategy": "union"},
            only_regions=True,
        ),
    }
)
