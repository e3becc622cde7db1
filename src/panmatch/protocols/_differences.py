"""Objects that a protocol judges differently from panmatch, each with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

import numpy as np

from panmatch.evaluation import (
    CaseKeywords,
    CaseResult,
    ClassCase,
    Images,
    Level,
    class_cases,
)
from panmatch.labels import Connectivity, LabelArray, Unit, as_labels, as_spacing
from panmatch.matching import Matcher
from panmatch.overlap import Overlap
from panmatch.protocols._models import Protocol
from panmatch.related import Lesions, cc_metric, find_lesions
from panmatch.spec import Spec

Side = Literal["reference", "prediction"]
Verdict = Literal["matched", "missed", "spurious", "left out", "joined"]
Key = tuple[Side, int]
T = TypeVar("T")

SAME = 1e-12  # IoUs that differ by less are equal up to rounding


@dataclass(frozen=True, slots=True)
class Difference:
    """An object with two verdicts."""

    case: str
    class_name: str
    side: Side
    id: int
    voxels: int
    volume: float
    unit: Unit
    iou: float  # of its match, or with the object that overlaps it best
    theirs: Verdict
    ours: Verdict
    reason: str

    def sentence(self, classes: Sequence[str] = ()) -> str:
        """Return the difference on one line, for all classes that share it."""
        size = f"{self.voxels} voxels" if self.unit == "voxel" else f"{self.volume:g} {self.unit}³"
        named = ", ".join(classes) or self.class_name
        return (
            f"{self.case}, {named}, {self.side} {self.id} ({size}, IoU {self.iou:.3g}): "
            f"{self.theirs}, ours {self.ours}. {self.reason}"
        )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A verdict, the size of the object, the reason, and the IoU of its match."""

    verdict: Verdict
    voxels: int
    reason: str = ""
    iou: float = 0.0


def find_differences(
    protocol: Protocol,
    theirs: CaseResult,
    ours: CaseResult,
    reference: Images,
    prediction: Images,
) -> Iterator[Difference]:
    """Yield all objects of a case on which the verdicts differ.

    Parameters
    ----------
    protocol
        The protocol whose verdicts are compared with ours.
    theirs, ours
        The case with the spec of the protocol, and with our spec.
    reference, prediction
        The images of the case.
    """
    if protocol.objects == "voxels":
        return
    spec = protocol.as_spec
    threshold = 0.5 if 0.5 in spec.thresholds else spec.thresholds[0]
    own = {
        entry.setting.class_name: entry.level(threshold)
        for entry in theirs.entries
        if entry.setting.matcher == spec.matching[0]
    }
    known = {entry.setting.class_name: entry for entry in ours.entries}
    options = CaseKeywords(spacing=ours.spacing, unit=ours.unit)
    for case in class_cases(reference, prediction, protocol.our_spec, **options):
        entry = known[case.name]
        judged = _by_rows(entry.level(threshold))
        if protocol.objects == "matching":
            matchers = spec.matching[0], entry.setting.matcher
            others = _explained(_by_rows(own[case.name]), judged, threshold, *matchers)
        else:
            judge = _by_lesions if protocol.objects == "lesions" else _by_regions
            objects, guesses = (as_labels(image, "image") for image in case.images)
            others = judge(spec, objects, guesses, ours)
        yield from _compare(ours, case, others, judged)


def _compare(
    result: CaseResult,
    case: ClassCase,
    theirs: Mapping[Key, _Judged],
    ours: Mapping[Key, _Judged],
) -> Iterator[Difference]:
    voxel = float(np.prod(as_spacing(result.spacing, len(result.shape))))
    best, partners = _overlaps(case.overlap)
    covered: set[Key] = set()  # predictions already covered by a reference
    for key in sorted(set(theirs) & set(ours), key=lambda key: (key[0] != "reference", key[1])):
        one, other = theirs[key], ours[key]
        if one.verdict == other.verdict or key in covered:
            continue
        covered |= {("prediction", partner) for partner in partners.get(key, ())}
        voxels = max(one.voxels, other.voxels)
        yield Difference(
            result.case, case.name, *key, voxels, voxels * voxel, result.unit,
            best.get(key, 0.0), one.verdict, other.verdict, one.reason,
        )  # fmt: skip


def _overlaps(overlap: Overlap) -> tuple[dict[Key, float], dict[Key, list[int]]]:
    """Return the highest IoU of each object, and the predictions of each reference."""
    best: dict[Key, float] = {}
    partners: dict[Key, list[int]] = {}
    refs = overlap.ref_ids[overlap.edges.ref].tolist()
    preds = overlap.pred_ids[overlap.edges.pred].tolist()
    for ref, pred, iou in zip(refs, preds, overlap.iou.tolist(), strict=True):
        partners.setdefault(("reference", ref), []).append(pred)
        keys: tuple[Key, Key] = ("reference", ref), ("prediction", pred)
        for key in keys:
            best[key] = max(best.get(key, 0.0), iou)
    return best, partners


def _by_rows(level: Level) -> dict[Key, _Judged]:
    """Return the verdicts of a matching."""
    columns = level.measurements.columns
    found: dict[Key, _Judged] = {}
    for status, ref, preds, ref_voxels, pred_voxels, quality in zip(
        *(columns[name] for name in ("status", "ref_id", "pred_ids", "ref_voxels", "pred_voxels")),
        level.quality,
        strict=True,
    ):
        partners = tuple(int(one) for one in str(preds).split())
        if status == "matched":
            found["reference", int(ref)] = _Judged("matched", int(ref_voxels), "", quality)
            for one in partners:
                found["prediction", one] = _Judged("matched", int(pred_voxels), "", quality)
        elif status == "missed":
            found["reference", int(ref)] = _Judged("missed", int(ref_voxels))
        else:
            for one in partners:
                found["prediction", one] = _Judged("spurious", int(pred_voxels))
    return found


def _explained(
    theirs: Mapping[Key, _Judged],
    ours: Mapping[Key, _Judged],
    threshold: float,
    their_matcher: Matcher,
    our_matcher: Matcher,
) -> dict[Key, _Judged]:
    """Return the verdicts of their matching, with the reasons why ours differ."""
    found = {}
    for key, one in theirs.items():
        other = ours.get(key, one)
        iou = max(one.iou, other.iou)
        if abs(iou - threshold) < SAME and their_matcher.strict != our_matcher.strict:
            reason = f"IoU is exactly {threshold:g}: ≥ matches, > does not."
        else:
            reason = f"{their_matcher.label} chooses different pairs from {our_matcher.label}."
        found[key] = _Judged(one.verdict, one.voxels, reason, one.iou)
    return found


def _by_lesions(
    spec: Spec, reference: LabelArray, prediction: LabelArray, case: CaseResult
) -> dict[Key, _Judged]:
    """Return the verdicts of programs that count any overlap, and join or drop lesions."""
    dilation = int(_option(spec, "dilation", 0))
    min_volume = float(_option(spec, "min_volume", 0.0))
    connectivity = cast(Connectivity, _option(spec, "connectivity", "full"))
    lesions = find_lesions(
        reference != 0, prediction != 0, dilation, 0.0, case.spacing, connectivity=connectivity
    )
    voxel = float(np.prod(as_spacing(case.spacing, reference.ndim)))
    found: dict[Key, _Judged] = {}
    places = _places(reference, lesions.reference)
    for number, lesion in places.items():
        row = int(np.searchsorted(lesions.rows.ref_ids, lesion))
        volume = lesions.rows.ref_voxels[row] * voxel
        others = [one for one, its in places.items() if its == lesion and one != number]
        hit = lesions.rows.pred_voxels[row] > 0
        voxels = int(np.count_nonzero(reference == number))
        if volume <= min_volume:
            unit = "voxels" if case.unit == "voxel" else f"{case.unit}³"
            reason = f"{volume:g} {unit}: lesions up to {min_volume:g} {unit} do not count."
            found["reference", number] = _Judged("left out", voxels, reason)
        elif others:
            word = "lesion" if len(others) == 1 else "lesions"
            reason = f"Joined with {word} {_listed(others)} by {_rounds(dilation)} of dilation."
            found["reference", number] = _Judged("joined", voxels, reason)
        else:
            reason = _touching(dilation, "lesion") if hit else "Nothing predicted touches it."
            verdict: Verdict = "matched" if hit else "missed"
            found["reference", number] = _Judged(verdict, voxels, reason)
    found |= _predictions_of(lesions, prediction, min_volume / voxel, dilation)
    return found


def _predictions_of(
    lesions: Lesions, prediction: LabelArray, min_voxels: float, dilation: int
) -> dict[Key, _Judged]:
    rows = lesions.rows
    owners: dict[int, list[int]] = {}
    for row in range(len(rows.ref_ids)):
        for one in rows.pred_ids[rows.pred_first[row] : rows.pred_first[row + 1]].tolist():
            owners.setdefault(one, []).append(row)
    found: dict[Key, _Judged] = {}
    for number, component in _places(prediction, lesions.prediction).items():
        voxels = int(np.count_nonzero(prediction == number))
        mine = owners.get(component, [])
        if not mine:
            judged = _Judged("spurious", voxels, "It touches no lesion.")
        elif all(rows.ref_voxels[row] <= min_voxels for row in mine):
            reason = "It touches only lesions that are too small to count."
            judged = _Judged("left out", voxels, reason)
        else:
            judged = _Judged("matched", voxels, _touching(dilation, "prediction"))
        found["prediction", number] = judged
    return found


def _by_regions(
    _: Spec, reference: LabelArray, prediction: LabelArray, __: CaseResult
) -> dict[Key, _Judged]:
    """Return the verdicts of CC-Metrics: each component gets all predictions in its region."""
    values = cc_metric(reference=reference != 0, prediction=prediction != 0, ties="scipy")
    found: dict[Key, _Judged] = {}
    for number, dice in enumerate(values.per_component.tolist(), 1):
        voxels = int(np.count_nonzero(reference == number))
        verdict: Verdict = "matched" if dice > 0 else "missed"
        reason = f"Everything predicted in its region counts: Dice {dice:.3g}."
        found["reference", number] = _Judged(verdict, voxels, reason)
    for number, voxels in zip(*np.unique(prediction[prediction != 0], return_counts=True),
                              strict=True):  # fmt: skip
        reason = "False positives are not counted; they lower the Dice of a region instead."
        found["prediction", int(number)] = _Judged("matched", int(voxels), reason)
    return found


def _places(objects: LabelArray, lesions: LabelArray) -> dict[int, int]:
    """Return the lesion that contains the first voxel of each object."""
    numbers, first = np.unique(objects, return_index=True)
    owners = np.ravel(lesions)[first]
    return {int(n): int(owner) for n, owner in zip(numbers, owners, strict=True) if n}


def _option(spec: Spec, name: str, default: T) -> T:
    """Return an option of the first related score that has it."""
    for request in spec.related:
        options = dict(request.options)
        if name in options:
            return type(default)(options[name])  # type: ignore[call-arg]
    return default


def _touching(dilation: int, side: str) -> str:
    after = f" after {_rounds(dilation)} of dilation" if dilation else ""
    if side == "lesion":
        return f"Any overlap{after} counts as found; ours needs IoU > 0.5."
    return f"It touches a lesion{after}, so it is not a false positive; ours needs IoU > 0.5."


def _rounds(dilation: int) -> str:
    return f"{dilation} round{'s' if dilation != 1 else ''}"


def _listed(numbers: list[int]) -> str:
    shown = [str(one) for one in numbers[:3]]
    return ", ".join(shown) + (f" and {len(numbers) - 3} more" if len(numbers) > 3 else "")
