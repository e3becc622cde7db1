"""Fingerprints of everything that native code computes, on the scenes of the brute-force tests.

`python -m tests.native.numbers` compares them with the recorded ones, and is run by
`make native-arm` on an emulated processor; with ``--record`` it writes them anew. Every bit counts:
a processor, a compiler or a library that rounds or sorts differently shows here.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch.labels import connected_components, find_regions
from tests import brute_force
from tests.strategies import BY_NAME, OPTIMAL

RECORD = Path(__file__).parents[1] / "data" / "native_numbers.json"
UNHURRIED = pm.Budget(seconds=None)  # an emulated processor is slow
STRATEGIES = {
    name: replace(strategy, budget=UNHURRIED) if isinstance(strategy, pm.ManyToOne) else strategy
    for name, strategy in (BY_NAME | OPTIMAL).items()
}
SPACINGS = (None, (1.5, 0.7, 0.7))
METRICS = ("hd", "hd95", "assd", "nsd", "boundary_iou", "centre_distance")

Labels = npt.NDArray[np.integer]
Value = npt.ArrayLike | str | None
Values = Iterator[tuple[str, Value]]  # what it is, and its value


def graph_scenes(rng: np.random.Generator) -> Iterator[pm.Overlap]:
    """Return scenes of a few segments each, all kinds that the brute-force tests have."""
    for _ in range(25):
        scene = brute_force.random_scene(rng)
        yield from (scene, brute_force.with_void(rng, scene), brute_force.with_crowd(rng, scene))
        yield brute_force.all_contested(rng)
        yield brute_force.lopsided_scene(rng, 3, 8)
    yield brute_force.lopsided_scene(rng, 4, 12)


def matchings() -> Values:
    """Return matchings, certificates and curves of every strategy."""
    for scene in graph_scenes(np.random.default_rng(1)):
        for name, strategy in STRATEGIES.items():
            for threshold in (0.0, 0.25, 0.5):
                found = pm.match(scene, strategy, threshold)
                yield f"pairs, {name}", found.pairs
                yield f"tallies, {name}", repr(found.tally)
                if found.certificate is not None:
                    yield (
                        f"certificates, {name}",
                        [found.certificate.value, found.certificate.upper_bound],
                    )
            curve = pm.curve(scene, strategy)
            yield f"curves, {name}", curve.thresholds
            yield f"proofs, {name}", repr(curve.proven)
            yield f"areas, {name}", [curve.autc, curve.autc_sq, curve.autc_rq]


def label_scenes(rng: np.random.Generator) -> Iterator[tuple[Labels, ...]]:
    """Return pairs of label images of all integer types, large enough for whole words of voxels."""
    for code in "bBhHiIqQ":
        for shape in ((7, 9, 11), (5, 40, 150)):
            pair = (brute_force.random_labels(rng, shape, 9) for _ in range(2))
            yield tuple(labels.astype(code) for labels in pair)


def voxels() -> Values:
    """Return counts, components, Voronoi regions and distances between surfaces."""
    for reference, prediction in label_scenes(np.random.default_rng(2)):
        overlap = pm.count_overlaps(reference, prediction)
        for name, column in overlap.columns().items():
            yield f"counts, {name}", column
        yield "components", connected_components(reference != 0)
        matching = pm.match(overlap, threshold=0.0)
        for spacing in SPACINGS:
            yield "regions", np.asarray(find_regions(reference, prediction, spacing).image)
            cut = pm.count_region_overlaps(reference, prediction, spacing)
            for name, column in cut.columns().items():
                yield f"pieces, {name}", column
            measured = pm.measure(matching, reference, prediction, METRICS, spacing=spacing)
            for name in METRICS:
                yield f"metrics, {name}", measured.columns[name]


def fingerprints() -> dict[str, str]:
    """Return a digest per kind of number."""
    digests: dict[str, hashlib._Hash] = {}
    for part in (matchings, voxels):
        for kind, value in part():
            digests.setdefault(kind, hashlib.sha256()).update(_bytes_of(value))
    return {kind: digest.hexdigest()[:16] for kind, digest in sorted(digests.items())}


def _bytes_of(value: Value) -> bytes:
    if isinstance(value, str):
        return value.encode()
    array = np.asarray(value)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)  # of all bits that mean NaN, the usual
    else:
        array = array.astype(np.int64)  # some types depend on the system
    return repr(array.shape).encode() + array.tobytes()


def main() -> int:
    """Compare with what was recorded, or record."""
    found = fingerprints()
    if "--record" in sys.argv:
        RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    recorded: dict[str, str] = json.loads(RECORD.read_text(encoding="utf-8"))
    differing = [kind for kind in sorted(recorded | found) if recorded.get(kind) != found.get(kind)]
    machine = f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}"
    print(f"{machine}: {len(found) - len(differing)} of {len(recorded)} kinds of numbers agree")
    for kind in differing:
        print(f"  differs: {kind}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
