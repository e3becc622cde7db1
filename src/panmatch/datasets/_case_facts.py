"""What one case says about the choice of a strategy: from images to facts of every class."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from panmatch.datasets._notices import MOST_LABELS, count_pieces
from panmatch.evaluation import (
    IN_REGIONS,
    CaseKeywords,
    ClassCase,
    DataFacts,
    Images,
    SeenObjects,
    class_cases,
    find_facts,
    shape_of,
)
from panmatch.labels import LabelArray, as_labels, cropped, is_chunked, touching_labels
from panmatch.spec import Spec


def case_facts(
    reference: Images, prediction: Images, spec: Spec, **options: Unpack[CaseKeywords]
) -> dict[str, DataFacts]:
    """Return what one case says about every class of things, by name.

    Parameters are those of `evaluate_case`. What the spec wants to be measured is left out, and so
    is stuff: with one segment per image there is nothing to choose.
    """
    plain = spec.model_copy(update={"metrics": (), "whole": (), "related": (), "edge_cases": {}})
    n_axes = sum(length > 1 for length in shape_of(reference.labels))
    found = {}
    for case in class_cases(reference, prediction, plain, **options):
        if case.kind.thing:
            regions = case.overlap_for(IN_REGIONS) if spec.encoding == "labels" else None
            facts = find_facts(
                case.overlap,
                regions,
                n_voxels=case.known_voxels,
                n_axes=n_axes,
                seen=_look_at(case, spec),
            )
            found[case.name] = facts if _has_ids(case, spec) else facts.without_ids()
            case.forget_images()
    return found


def _has_ids(case: ClassCase, spec: Spec) -> bool:
    """Return whether ids are those of the images, not numbers of components."""
    known = spec.classes.get(case.name)
    return known is None or known.instances == "ids"


def _look_at(case: ClassCase, spec: Spec) -> SeenObjects:
    """Return which objects touch, and in how many pieces references lie; images in memory only."""
    reference, prediction = case.images
    if is_chunked(reference) or is_chunked(prediction):
        return SeenObjects()
    ref, pred = as_labels(reference, "reference"), as_labels(prediction, "prediction")
    touching = len(touching_labels(ref, "reference")), len(touching_labels(pred, "prediction"))
    return SeenObjects(*touching, _components(case, ref, spec))


def _components(case: ClassCase, reference: LabelArray, spec: Spec) -> int:
    """Return the connected components of all references, specks left out.

    Labels are only in doubt where they are few. Where they are many, or are components already,
    every reference counts as one.
    """
    ids = case.overlap.ref_ids
    if len(ids) > MOST_LABELS or not _has_ids(case, spec):
        return len(ids)
    pieces = count_pieces(np.ascontiguousarray(cropped(reference)))
    return sum(pieces.get(label, 1) for label in ids.tolist())
