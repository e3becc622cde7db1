"""One case: from two images and a spec to a result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.evaluation._case_result import (
    CaseResult,
    ClassScore,
    ClassStructure,
    Entry,
    Findings,
    Level,
)
from panmatch.evaluation._class_case import CaseKeywords, ClassCase, class_cases, shape_of
from panmatch.evaluation._class_scores import class_scores
from panmatch.evaluation._confidences import calibration_of, surface_of
from panmatch.evaluation._diagnosis import count_near_threshold, diagnose, worst_mistakes
from panmatch.evaluation._mask_case import MaskCase
from panmatch.evaluation._notices import find_id_mistakes
from panmatch.evaluation._setting import Kind, Setting
from panmatch.evaluation._sides import Images
from panmatch.labels import Unit, as_spacing
from panmatch.matching import QUALITIES, Matcher, Quality, SameId, Tally
from panmatch.scoring import CHOICES, Curve, ErrorBudget, curves, error_budget, graph_structure
from panmatch.spec import Spec

# Of masks that may share voxels, which cannot be repaired: nothing is counted.
NO_BUDGET = ErrorBudget((Tally(tp=0, fp=0, fn=0, quality=0.0),) * len(CHOICES))


def evaluate_case(
    reference: Images,
    prediction: Images,
    spec: Spec,
    *,
    case: str = "case",
    model: str = "",
    **options: Unpack[CaseKeywords],
) -> CaseResult:
    """Evaluate one case of a model.

    Parameters
    ----------
    reference, prediction
        Label images of the same shape with their part images, or `Panoptic` images.
    spec
        What to evaluate, and how.
    case, model
        Their names in tables.
    options
        ``spacing``, ``unit``, ``void``, ``threads`` and ``confidence``, as for `panmatch.evaluate`,
        which also accepts paths and images of other libraries.
    """
    if spec.confidence is not None and options.get("confidence") is None:
        raise OptionError(
            "the spec has the key `confidence`, but this case has no confidences: pass "
            "confidence=…, or leave out the key."
        )
    spacing, shape = options.get("spacing"), shape_of(reference.labels)
    options["unit"] = unit = _unit_of(spec, spacing, options.get("unit"))
    classes = class_cases(reference, prediction, spec, **options)
    entries: list[Entry] = []
    scores: list[ClassScore] = []
    structures: list[ClassStructure] = []
    for class_case in classes:
        entries += evaluate_class(class_case, spec)
        scores += class_scores(class_case, spec)
        structures += find_structures(class_case, spec)
        class_case.forget_images()
    return CaseResult(
        case=case,
        model=model,
        shape=shape,
        spacing=None if spacing is None else tuple(as_spacing(spacing, len(shape)).tolist()),
        unit=unit,
        notices=tuple(
            notice
            for class_case in classes
            if _relies_on_ids(class_case.name, spec)
            for notice in find_id_mistakes(class_case.overlap, class_case.name, case, model)
        ),
        found=Findings(
            tuple(entries),
            tuple(class_case.mask_counts for class_case in classes),
            tuple(scores),
            tuple(structures),
        ),
    )


def find_structures(case: ClassCase | MaskCase, spec: Spec) -> Iterator[ClassStructure]:
    """Yield the components of the graph of a class that occurs: at 0 and at each threshold."""
    kind: Kind = "things" if case.kind.thing else "stuff"
    for threshold in sorted({0.0, *spec.thresholds}) if case.occurs else ():
        found = graph_structure(case.overlap, threshold)
        yield ClassStructure(case.name, kind, threshold, found)


def _relies_on_ids(class_name: str, spec: Spec) -> bool:
    """Return whether partners depend on ids in the images rather than component numbers."""
    known = spec.classes.get(class_name)
    by_id = any(isinstance(matcher.strategy, SameId) for matcher in spec.matching)
    return by_id and (known is None or known.instances == "ids")


def _unit_of(spec: Spec, spacing: npt.ArrayLike | None, unit: Unit | None) -> Unit:
    if spacing is None:
        return unit or "voxel"
    if unit is not None and spec.unit is not None and unit != spec.unit:
        raise OptionError(
            f"unit={unit!r} differs from the spec's unit, {spec.unit!r}: convert the spacing, or "
            f"drop `unit` from the spec."
        )
    return unit or spec.unit or "mm"


def evaluate_class(case: ClassCase | MaskCase, spec: Spec) -> Iterator[Entry]:
    """Yield what each matcher finds in a class."""
    mistakes = diagnose(case.overlap)
    kind: Kind = "things" if case.kind.thing else "stuff"
    cut = None if case.confidence is None else spec.cut
    for matcher in spec.matching:
        overlap = case.overlap_for(matcher)
        qualities: tuple[Quality, ...] = ("iou",) if overlap.parts is None else QUALITIES
        swept: list[Curve] = []
        if spec.curve:
            strategy = matcher.strategy.suited_to(overlap)
            swept = curves(overlap, strategy, score=matcher.score, qualities=qualities)
        yield Entry(
            setting=Setting(case.name, kind, matcher, cut),
            diagnosis=mistakes,
            levels=tuple(
                _level(
                    case,
                    matcher,
                    threshold,
                    with_mistakes=(matcher, threshold) == (spec.matching[0], spec.thresholds[0]),
                )
                for threshold in spec.thresholds
            ),
            curve=swept[0] if swept else None,
            part_curve=swept[1] if len(swept) > 1 else None,
            surface=surface_of(case.all_for(matcher), matcher),
        )


def _level(
    case: ClassCase | MaskCase, matcher: Matcher, threshold: float, *, with_mistakes: bool
) -> Level:
    overlap, whole = case.overlap_for(matcher), case.all_for(matcher)
    matching = matcher.match(overlap, threshold)
    measured = case.measurer_for(matcher).measure(matching)
    every = matching if whole is overlap else matcher.match(whole, threshold)
    spurious = np.zeros(len(measured) - len(matching.overlap.ref_ids))
    by_parts = matching.ref_part_quality
    return Level(
        threshold=matching.threshold,
        tally=matching.tally,
        part_tally=matching.part_tally,
        measurements=measured,
        quality=np.concatenate([matching.ref_quality, spurious]),
        part_quality=None if by_parts is None else np.concatenate([by_parts, spurious]),
        near_threshold=count_near_threshold(matching),
        gap=None if matching.certificate is None else matching.certificate.gap,
        budget=error_budget(matching, case.relabelled(matcher, threshold))
        if case.is_disjoint
        else NO_BUDGET,
        mistakes=worst_mistakes(matching) if with_mistakes and case.is_disjoint else (),
        calibration=calibration_of(every),
    )
