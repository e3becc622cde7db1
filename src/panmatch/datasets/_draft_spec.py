"""A first draft of a spec, from a look at the references."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from panmatch.datasets._label_files import find_label_files
from panmatch.datasets._notices import MANY_PIECES, MOST_LABELS, SPECK_VOXELS
from panmatch.evaluation import plural
from panmatch.formats import read_labels
from panmatch.labels import Connectivity, LabelArray, components_within_labels, distinct_labels

HINT = "# To see everything else that a spec can say: panmatch spec"
CLASSES = (
    "# they look like classes whose components are objects. Name them as you like. If an object",
    "# has several labels (a lesion and its core), combine them in one class: labels: [1, 2].",
)
OBJECTS = (
    "# each label looks like one object. If labels are classes, give each a name:",
    "# liver: {labels: 1, instances: components}.",
    "classes:",
    "  object:",
    "    labels: all",
    "    instances: ids",
)


@dataclass(frozen=True, slots=True)
class SeenLabel:
    """Statistics of one label, over the references that contain it.

    Attributes
    ----------
    cases
        Number of references with the label.
    pieces, by_faces
        Its connected components in all of them, with full connectivity and by faces only.
    specks
        Components of fewer than three voxels.
    """

    cases: int
    pieces: int
    by_faces: int
    specks: int

    def __add__(self, other: SeenLabel) -> SeenLabel:
        return SeenLabel(
            self.cases + other.cases,
            self.pieces + other.pieces,
            self.by_faces + other.by_faces,
            self.specks + other.specks,
        )


def draft_spec(reference: Path) -> str:
    """Return a commented spec, as YAML, for a label file or for all label files in a folder."""
    files = [reference]
    if reference.is_dir():
        files = list(find_label_files(reference, None, "REF").images.values()) or files
    seen: dict[int, SeenLabel] = {}
    for path in files:
        for label, one in look_at(np.asarray(read_labels(path).labels)).items():
            seen[label] = seen[label] + one if label in seen else one
    lines = [f"# From {plural(len(files), 'reference')} in {reference.name}."]
    return "\n".join([*lines, *_spec_lines(dict(sorted(seen.items())), len(files)), HINT, ""])


def look_at(labels: LabelArray) -> dict[int, SeenLabel]:
    """Return the statistics of each label in one reference.

    Examples
    --------
    >>> look_at(np.array([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [2, 0, 0, 0, 1]]))[1]
    SeenLabel(cases=1, pieces=1, by_faces=2, specks=0)
    """
    full, faces = _sizes(labels, "full"), _sizes(labels, "faces")
    return {
        label: SeenLabel(
            1, len(sizes), len(faces[label]), sum(size < SPECK_VOXELS for size in sizes)
        )
        for label, sizes in full.items()
    }


def _sizes(labels: LabelArray, connectivity: Connectivity) -> dict[int, list[int]]:
    (values, _), counts = distinct_labels(
        [labels, components_within_labels(labels, connectivity, "reference")]
    )
    found: dict[int, list[int]] = {}
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        if value > 0:
            found.setdefault(value, []).append(count)
    return found


def _spec_lines(seen: dict[int, SeenLabel], n_files: int) -> list[str]:
    if not seen:
        nothing = "# The references contain no labels, so nothing is known about objects."
        return [nothing, "classes:", "  object: {labels: all}"]
    pieces = sum(max(one.pieces - one.specks, one.cases) for one in seen.values())
    cases = sum(one.cases for one in seen.values())
    each = f"{pieces / cases:.1f} connected components per label and reference"
    if len(seen) == 1:
        why = f"# There is one label, with {each}:"
        lines = [why, "# it looks like a mask whose components are objects.", "classes:"]
        return lines + _class_lines("foreground", *next(iter(seen.items())), n_files)
    if len(seen) <= MOST_LABELS and pieces >= MANY_PIECES * cases:
        lines = [f"# {len(seen)} labels, with {each}:", *CLASSES, "classes:"]
        for label, one in seen.items():
            lines += _class_lines(f"label_{label}", label, one, n_files)
        return lines
    return [f"# {len(seen)} labels, with {each}:", *OBJECTS]


def _class_lines(name: str, label: int, seen: SeenLabel, n_files: int) -> list[str]:
    where = f"in {seen.cases} of {plural(n_files, 'reference')}, {plural(seen.pieces, 'component')}"
    other = (
        "faces gives the same"
        if seen.by_faces == seen.pieces
        else f"faces would give {plural(seen.by_faces, 'component')}"
    )
    lines = [
        f"  {name}:  # {where}",
        f"    labels: {label}",
        "    instances: components",
        f"    connectivity: full  # {other}",
    ]
    if seen.specks:
        text = f"{plural(seen.specks, 'component')} of fewer than {SPECK_VOXELS} voxels"
        lines.append(f"    min_voxels: 1  # {SPECK_VOXELS} would drop {text}")
    return lines
