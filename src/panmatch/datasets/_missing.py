"""What happens to references without a prediction, and predictions without a reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from panmatch.datasets._cases import Case
from panmatch.datasets._loading import Loaded
from panmatch.evaluation import (
    EMPTY,
    WORST,
    CaseKeywords,
    CaseResult,
    Entry,
    Findings,
    Images,
    Status,
    evaluate_case,
    shape_of,
)
from panmatch.spec import MetricOptions, Spec, label_numbers

Missing = Literal["fail", "skip", "empty", "worst"]

REMEDY = "use --missing to skip it, or to count it as empty or as the worst prediction"


def without_images(case: Case, decision: Missing) -> CaseResult | None:
    """Return the result of a case that has nothing to compare, or None for other cases."""
    if case.reference is None:
        return _only(case, "extra", case.problem)
    if case.prediction is None and decision == "skip":
        return _only(case, "skipped", case.problem)
    if case.prediction is None and decision == "fail":
        return failed(case, f"{case.problem}: {REMEDY}")
    return None


def failed(case: Case, reason: str) -> CaseResult:
    """Return the result of a case that cannot be evaluated."""
    return _only(case, "failed", reason)


def _only(case: Case, status: Status, reason: str) -> CaseResult:
    return CaseResult(case.name, case.model, status, " ".join(reason.split()))


def evaluate_missing(
    case: Case, loaded: Loaded, spec: Spec, decision: Missing, how: CaseKeywords
) -> CaseResult:
    """Evaluate a reference against an empty prediction, or against the worst one.

    Parameters
    ----------
    loaded
        The images of the case, with an empty prediction.
    decision
        ``"empty"``: every object is missed. ``"worst"``: in addition, a class without references
        gets one spurious object that fills the image, so a score is never undefined where a
        prediction could have been wrong. Distances of objects without a partner are the image
        diagonal, unless the spec sets a penalty.
    """
    if decision != "worst":
        found = _evaluate(case, loaded.reference, loaded.prediction, spec, how)
        return replace(found, reason=EMPTY)
    strict = _with_penalty(spec)
    found = _evaluate(case, loaded.reference, loaded.prediction, strict, how)
    entries, masks, structures = found.entries, found.masks, found.structures
    if spec.encoding == "labels":
        empty = {entry.setting.class_name for entry in entries if _has_nothing(entry)}
        full = {name: _filled(name, loaded, strict, case, how) for name in empty}
        entries = tuple(
            _same_setting(full[name].entries, entry)
            if (name := entry.setting.class_name) in full
            else entry
            for entry in entries
        )
        masks = tuple(
            full[mask.class_name].masks[0] if mask.class_name in full else mask for mask in masks
        )
        others = [one for one in structures if one.class_name not in full]
        structures = (*others, *(one for case in full.values() for one in case.structures))
    every = Findings(entries, masks, found.class_scores, structures)
    return replace(found, found=every, reason=WORST)


def _evaluate(
    case: Case, reference: Images, prediction: Images, spec: Spec, how: CaseKeywords
) -> CaseResult:
    return evaluate_case(reference, prediction, spec, case=case.name, model=case.model, **how)


def _with_penalty(spec: Spec) -> Spec:
    options = spec.metric_options
    penalty = "diagonal" if options.penalty is None else options.penalty
    given = options.model_dump() | {"penalty": penalty}
    return spec.model_copy(update={"metric_options": MetricOptions.model_validate(given)})


def _has_nothing(entry: Entry) -> bool:
    return entry.levels[0].tally.status == "empty"


def _same_setting(entries: tuple[Entry, ...], wanted: Entry) -> Entry:
    return next(entry for entry in entries if entry.setting == wanted.setting)


def _filled(name: str, loaded: Loaded, spec: Spec, case: Case, how: CaseKeywords) -> CaseResult:
    """Return the result of a class without references whose prediction fills the image."""
    shape, label = shape_of(loaded.reference.labels), _a_label_of(name, spec)
    nothing = np.zeros(shape, np.uint8)
    object_everywhere = np.full(shape, label, np.min_scalar_type(label))
    parts = None if loaded.reference.parts is None else nothing
    alone = spec.model_copy(update={"classes": {name: spec.classes[name]}, "headline": None})
    return _evaluate(case, Images(nothing, parts), Images(object_everywhere, parts), alone, how)


def _a_label_of(name: str, spec: Spec) -> int:
    known = spec.classes[name].numbers
    if known is not None:
        return known[0]
    taken = {*label_numbers(spec.void), *spec.background_labels}
    return next(label for label in range(1, len(taken) + 2) if label not in taken)
