"""One case: from two images and a spec to a result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.evaluation._case_result import (
    CaseResult,
    ClassScore,
    ClassStructure,
    Entry,
    Findings,
)
from panmatch.evaluation._class_case import CaseKeywords, ClassCase, class_cases, shape_of
from panmatch.evaluation._class_scores import class_scores
from panmatch.evaluation._confidences import surface_of
from panmatch.evaluation._diagnosis import diagnose
from panmatch.evaluation._kept_overlaps import ClassOverlap
from panmatch.evaluation._levels import LevelMaker
from panmatch.evaluation._mask_case import MaskCase
from panmatch.evaluation._notices import find_id_mistakes
from panmatch.evaluation._setting import Kind, Setting
from panmatch.evaluation._sides import Images
from panmatch.labels import Unit, as_spacing
from panmatch.matching import QUALITIES, Quality, SameId
from panmatch.scoring import Curve, GraphStructure, KnownSteps, curves, graph_structure
from panmatch.spec import Spec


def evaluate_case(
    reference: Images,
    prediction: Images,
    spec: Spec,
    *,
    case: str = "case",
    model: str = "",
    keep_overlaps: bool = False,
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
    keep_overlaps
        Whether the result keeps the graph of every class, to align the objects of several raters.
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
            tuple(map(_class_overlap, classes)) if keep_overlaps else (),
        ),
    )


def _class_overlap(case: ClassCase) -> ClassOverlap:
    kind: Kind = "things" if case.kind.thing else "stuff"
    return ClassOverlap(case.name, kind, case.overlap.without_parts())


def find_structures(case: ClassCase | MaskCase, spec: Spec) -> Iterator[ClassStructure]:
    """Yield the components of the graph of a class that occurs: at 0 and at each threshold."""
    kind: Kind = "things" if case.kind.thing else "stuff"
    if not case.occurs:
        return
    known: dict[bytes, GraphStructure] = {}  # thresholds mostly keep the same edges
    iou = case.overlap.iou
    for threshold in sorted({0.0, *spec.thresholds}):
        edges = (iou > threshold).tobytes()
        if edges not in known:
            known[edges] = graph_structure(case.overlap, threshold)
        yield ClassStructure(case.name, kind, threshold, known[edges])


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
    mistakes, maker = diagnose(case.overlap), LevelMaker(case)
    known: KnownSteps = {}
    kind: Kind = "things" if case.kind.thing else "stuff"
    cut = None if case.confidence is None else spec.cut
    for matcher in spec.matching:
        overlap = case.overlap_for(matcher)
        qualities: tuple[Quality, ...] = ("iou",) if overlap.parts is None else QUALITIES
        swept: list[Curve] = []
        if spec.curve:
            strategy = matcher.strategy.suited_to(overlap)
            swept = curves(
                overlap, strategy, score=matcher.score, qualities=qualities, known_steps=known
            )
        yield Entry(
            setting=Setting(case.name, kind, matcher, cut),
            diagnosis=mistakes,
            levels=tuple(
                maker.level(
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
