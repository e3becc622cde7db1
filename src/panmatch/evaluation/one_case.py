"""One case: from two images and a spec to a result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.evaluation.case_result import CaseResult
from panmatch.evaluation.class_case import ClassCase, class_cases, shape_of
from panmatch.evaluation.columns import Columns, append_block
from panmatch.evaluation.diagnosis import diagnose
from panmatch.evaluation.result import Result
from panmatch.evaluation.rows import (
    curve_block,
    diagnosis_block,
    instance_block,
    matcher_block,
    score_block,
)
from panmatch.evaluation.sides import Image, Images
from panmatch.matching import match
from panmatch.scoring import curve
from panmatch.spec import Spec, as_spec


def evaluate(
    *,
    reference: Image,
    prediction: Image,
    spec: Spec | str | os.PathLike[str] | Mapping[str, Any] = "instances",
    spacing: npt.ArrayLike | None = None,
    reference_parts: npt.ArrayLike | None = None,
    prediction_parts: npt.ArrayLike | None = None,
    void: npt.ArrayLike | None = None,
    case: str = "case",
    threads: int | None = None,
) -> Result:
    """Evaluate one case.

    Parameters
    ----------
    reference, prediction
        Label images of one shape, or `Panoptic` images, on both sides. Arrays that are stored in
        chunks (Zarr, Dask, HDF5) are read box by box if they are large.
    spec
        A `Spec`, the name of a preset, a YAML file, or a mapping of keys.
    spacing
        Distance between voxels along each axis, in millimetres; voxel units by default.
    reference_parts, prediction_parts
        Part images, for classes with parts that are not labels of the images themselves.
    void
        Mask of voxels about which nothing is known, besides those that the spec calls void.
    case
        What to call the case in tables.
    threads
        Number of threads; by default as many as pay. The result does not depend on it.

    Returns
    -------
    Result
        With pandas tables `scores`, `instances` and `curves`, and `summary()` for people.

    Examples
    --------
    >>> reference, prediction = np.array([1, 1, 1, 0, 2, 2]), np.array([4, 4, 0, 0, 5, 0])
    >>> result = evaluate(reference=reference, prediction=prediction, spec={"thresholds": 0.4})
    >>> result.scores[["strategy", "tp", "fp", "fn", "pq"]].round(3)
          strategy  tp  fp  fn     pq
    0   one-to-one   2   0   0  0.583
    1  many-to-one   2   0   0  0.583
    2  one-to-many   2   0   0  0.583
    """
    chosen = as_spec(spec)
    sides = Images(reference, reference_parts), Images(prediction, prediction_parts)
    found = evaluate_case(*sides, chosen, spacing=spacing, void=void, case=case, threads=threads)
    return Result(chosen, (found,))


def evaluate_case(
    reference: Images,
    prediction: Images,
    spec: Spec,
    *,
    spacing: npt.ArrayLike | None = None,
    void: npt.ArrayLike | None = None,
    case: str = "case",
    model: str = "",
    threads: int | None = None,
) -> CaseResult:
    """Evaluate one case to plain data; parameters are those of `evaluate`."""
    classes = class_cases(reference, prediction, spec, spacing=spacing, void=void, threads=threads)
    tables: dict[str, Columns] = {"scores": {}, "instances": {}, "curves": {}, "diagnosis": {}}
    for one in classes:
        _evaluate_class(one, spec, tables)
    return CaseResult(
        case=case,
        model=model,
        shape=shape_of(reference.labels),
        spacing=None if spacing is None else tuple(np.atleast_1d(spacing).astype(float).tolist()),
        **tables,  # type: ignore[arg-type]
    )


def _evaluate_class(one: ClassCase, spec: Spec, tables: dict[str, Columns]) -> None:
    kind = {
        "class": one.name,
        "kind": "things" if one.kind.thing else "stuff",
    }
    mistakes = diagnose(one.overlap.without_parts())
    append_block(tables["diagnosis"], kind | diagnosis_block(mistakes), 1)
    for matcher in spec.matching:
        overlap, strategy = one.overlap_for(matcher), matcher.made()
        way = kind | matcher_block(matcher)
        steps = curve(overlap, strategy, score=matcher.score) if spec.curve else None
        if steps is not None:
            append_block(tables["curves"], way | curve_block(steps), len(steps.thresholds))
        for threshold in spec.thresholds:
            matching = match(overlap, strategy, threshold, score=matcher.score)
            measured = one.measurer.measure(matching)
            at = way | {"threshold": threshold}
            append_block(tables["scores"], at | score_block(matching, measured, steps, mistakes), 1)
            rows = instance_block(matching, measured)
            append_block(tables["instances"], at | rows, len(measured))
