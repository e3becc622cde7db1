"""How long proofs of optimality take."""

from __future__ import annotations

from collections.abc import Iterator

import panmatch as pm
from benchmarks.timing import Row, below, best_ms
from panmatch import phantoms

STRATEGIES: dict[str, pm.Strategy] = {
    "many-to-one, seed": pm.ManyToOne(solver="optimal"),
    "many-to-one, edge": pm.ManyToOne(solver="optimal", gate="edge"),
    "one-to-many": pm.OneToMany(solver="optimal"),
}


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    yield from sparse_pieces()
    yield from dense_tissues()


def sparse_pieces() -> Iterator[Row]:
    """A thousand objects, dilated, cut into three thousand pieces and shifted."""
    reference = phantoms.blobs((900, 900), 1000, radius=(8, 11), gap=1, seed=0)
    prediction = phantoms.shift(phantoms.split(phantoms.dilate(reference, 3), 3), (2, 1))
    overlap = pm.count_overlaps(reference, prediction)
    for name, strategy in STRATEGIES.items():
        proof = pm.match(overlap, strategy, 0.1).certificate
        assert proof is not None
        assert proof.proven
        taken = best_ms(lambda: pm.match(overlap, strategy, 0.1), repeats=3)  # noqa: B023
        yield below(f"proven optimum, 1000 × 3000 pieces, {name}, τ = 0.1", taken, "ms", 1000)


def dense_tissues() -> Iterator[Row]:
    """Five hundred touching cells against seven hundred others, in a volume."""
    shape = (70, 70, 70)
    reference, prediction = phantoms.tissue(shape, 500, seed=3), phantoms.tissue(shape, 700, seed=9)
    overlap = pm.count_overlaps(reference, prediction)
    for threshold in (0.0, 0.1):
        for name, strategy in STRATEGIES.items():
            what = f"dense tissue, 500 × 700 cells, {name}, τ = {threshold:g}"
            proof = pm.match(overlap, strategy, threshold).certificate
            assert proof is not None
            yield below(f"optimum, {what}", proof.seconds, "s", 30)
            yield below(f"stated gap, {what}", 100 * proof.gap / proof.value, "%", 1)
