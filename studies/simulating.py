"""Phantoms as cases: anatomies that simulated models predict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from panmatch import phantoms
from studies.study import Case


def simulate(anatomies: Iterable[phantoms.Anatomy], models: Iterable[str]) -> Iterator[Case]:
    """Yield every anatomy as every simulated model sees it."""
    names = tuple(models)
    for seed, anatomy in enumerate(anatomies):
        for name in names:
            seen = phantoms.SIMULATED_MODELS[name].predict(anatomy, seed)
            yield Case(
                f"phantom {seed + 1}",
                name,
                anatomy.labels,
                seen.labels,
                anatomy.spacing,
                anatomy.parts,
                seen.parts,
            )
