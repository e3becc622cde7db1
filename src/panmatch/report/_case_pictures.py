"""Pictures of the cases that went best and worst: PNG, in the colours of `_style`."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

import numpy as np
import numpy.typing as npt

from panmatch.datasets import Case, load_case
from panmatch.errors import OptionError, PanmatchError, check_choice, needs_extra
from panmatch.evaluation import CaseResult, Level, Result
from panmatch.labels import LabelArray, as_spacing
from panmatch.report._matched_class import match_class, statuses_of
from panmatch.report._style import OTHER, STATUSES
from panmatch.report._views import View, as_pair, disagreement, find_view

Indices = npt.NDArray[np.uint8]

# Kinds of objects: 0 is none, 1 one without a status.
REFERENCE_KINDS = {"matched": 2, "missed": 3}
PREDICTION_KINDS = {"matched": 2, "false positive": 3}
COLORS = ("#FFFFFF", OTHER.color, *(look.color for look in STATUSES.values()))
TINT = 0.35  # of filled references
BACKGROUND, PALE, STRONG = 0, 0, len(COLORS)  # where colours begin in the palette
STRIPE_PX, DASH_PX = (8, 3), 5
LINE_PX = 2
LEAST_PIXELS = 16

WORST, BEST = 3, 1
MOST_MODELS = 4


@dataclass(frozen=True, slots=True)
class CasePicture:
    """A case to look at, with its matching under the first matcher, at the first threshold."""

    case: str
    model: str
    level: Level
    png: str = ""  # as base64; empty if the images cannot be read any more
    problem: str = ""  # why there is no picture


def show_cases(
    result: Result, cases: Mapping[tuple[str, str], Case], class_name: str
) -> list[CasePicture]:
    """Return the worst and the best cases of every model, by PQ, worst first."""
    matcher, threshold = result.spec.matching[0], result.spec.thresholds[0]
    found = []
    for series in result.series:
        setting = series.setting
        shown = series.model in result.models[:MOST_MODELS]
        if not shown or (setting.class_name, setting.matcher) != (class_name, matcher):
            continue
        scored = []
        for case, entry in zip(result.evaluated(series.model), series.entries, strict=True):
            level = None if entry is None else entry.level(threshold)
            if level is not None and not math.isnan(level.tally.pq):
                scored.append((level.tally.pq, case.case, case, level))
        scored.sort(key=lambda item: item[:2])
        chosen = scored[:WORST] + scored[WORST:][-BEST:]
        found += [_show(result, case, level, cases, class_name) for _, _, case, level in chosen]
    return found


def case_picture(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    status_of_reference: Mapping[int, str],
    status_of_prediction: Mapping[int, str],
    *,
    spacing: npt.ArrayLike | None = None,
    pixels: int = 480,
) -> bytes:
    r"""Draw references as pale areas and predictions as outlines, in the colours of their status.

    Of an image with more than two axes it is the slice with most disagreement (`find_view`).
    Missed references are striped, and outlines of false positives dashed.

    Parameters
    ----------
    reference, prediction
        Label images of one shape, with two axes or more; 0 is background.
    status_of_reference
        ``"matched"`` or ``"missed"`` by id. What has no status is grey.
    status_of_prediction
        ``"matched"`` or ``"false positive"`` by id.
    spacing
        Distance between voxels along each axis; it decides the proportions of the picture.
    pixels
        Length of the longer side.

    Returns
    -------
    bytes
        A PNG file.

    Examples
    --------
    >>> image = np.array([[0, 7, 7], [0, 7, 0]])
    >>> case_picture(image, image, {7: "matched"}, {7: "matched"})[:4]
    b'\x89PNG'
    """
    ref, pred = as_pair(reference, prediction)
    if isinstance(pixels, bool) or not isinstance(pixels, int) or pixels < LEAST_PIXELS:
        raise OptionError(
            f"pixels={pixels!r} is not a size of a picture: pass {LEAST_PIXELS} or more."
        )
    for status in status_of_reference.values():
        check_choice("status_of_reference", status, REFERENCE_KINDS)
    for status in status_of_prediction.values():
        check_choice("status_of_prediction", status, PREDICTION_KINDS)
    missed = [ref for ref, status in status_of_reference.items() if status != "matched"]
    false = [pred for pred, status in status_of_prediction.items() if status != "matched"]
    sizes = as_spacing(spacing, ref.ndim)
    wrong = disagreement(ref, pred, missed, false)
    view = find_view(ref, pred, wrong, sizes).cropped(ref, pred)
    shown = _enlarged(ref, view, pixels), _enlarged(pred, view, pixels)
    kinds = (
        _kinds(shown[0], status_of_reference, REFERENCE_KINDS),
        _kinds(shown[1], status_of_prediction, PREDICTION_KINDS),
    )
    return _png(_painted(shown[0], shown[1], kinds))


def _show(
    result: Result,
    case: CaseResult,
    level: Level,
    cases: Mapping[tuple[str, str], Case],
    class_name: str,
) -> CasePicture:
    listed = cases.get((case.model, case.case))
    if listed is None:
        return CasePicture(case.case, case.model, level, problem="its files are not listed")
    try:
        resample = any(notice.kind == "resampled" for notice in case.notices)
        loaded = load_case(listed, result.spec, allow_header_mismatch=True, resample=resample)
        found = match_class(
            result.spec,
            reference=loaded.reference.labels,
            prediction=loaded.prediction.labels,
            reference_parts=loaded.reference.parts,
            prediction_parts=loaded.prediction.parts,
            class_name=class_name,
            spacing=case.spacing,
        )
        statuses = statuses_of(found.matching)
        png = case_picture(found.reference, found.prediction, *statuses, spacing=case.spacing)
    except PanmatchError as error:
        return CasePicture(case.case, case.model, level, problem=str(error))
    return CasePicture(case.case, case.model, level, base64.b64encode(png).decode())


def _enlarged(image: LabelArray, view: View, pixels: int) -> LabelArray:
    """Return the view with its true proportions, every pixel the label at its centre."""
    part = image[view.index]
    lengths = [n * step for n, step in zip(part.shape, view.spacing, strict=True)]
    scale = pixels / max(lengths)
    places = []
    for n, length in zip(part.shape, lengths, strict=True):
        size = max(1, round(length * scale))
        places.append(((np.arange(size) + 0.5) * n / size).astype(np.int64))
    return part[np.ix_(*places)]


def _kinds(labels: LabelArray, statuses: Mapping[int, str], kinds: dict[str, int]) -> Indices:
    ids, place = np.unique(labels, return_inverse=True)
    of_id = [0 if i == 0 else kinds.get(statuses.get(i, ""), 1) for i in ids.tolist()]
    return np.array(of_id, np.uint8)[place].reshape(labels.shape)


def _painted(ref: LabelArray, pred: LabelArray, kinds: tuple[Indices, Indices]) -> Indices:
    ref_kind, pred_kind = kinds
    rows, columns = np.ogrid[: ref.shape[0], : ref.shape[1]]
    period, stripe = STRIPE_PX
    striped = (ref_kind == REFERENCE_KINDS["missed"]) & ((rows + columns) % period < stripe)
    dashes = (rows // DASH_PX + columns // DASH_PX) % 2 > 0  # so that no direction has none
    # In the palette, status colours of references and predictions lie one after the other.
    painted = np.where(ref_kind, PALE + ref_kind, BACKGROUND)
    strong = striped | _outline(ref, ref_kind, 1)
    painted = np.where(strong, STRONG + ref_kind, painted)
    gaps = (pred_kind == PREDICTION_KINDS["false positive"]) & dashes
    drawn = _outline(pred, pred_kind, LINE_PX) & ~gaps
    false = pred_kind == PREDICTION_KINDS["false positive"]
    return np.where(drawn, STRONG + pred_kind + false, painted).astype(np.uint8)


def _outline(labels: LabelArray, kind: Indices, line_px: int) -> npt.NDArray[np.bool_]:
    """Return the outermost pixels of every object, except at the edge of the picture."""
    outer = np.zeros(labels.shape, np.bool_)
    for axis in (0, 1):
        along, edge = np.moveaxis(labels, axis, 0), np.moveaxis(outer, axis, 0)
        for step in range(1, line_px + 1):
            differs = along[step:] != along[:-step]
            edge[step:] |= differs
            edge[:-step] |= differs
    return outer & (kind > 0)


def _png(painted: Indices) -> bytes:
    with needs_extra("files", "Pictures"):
        from PIL import Image

    picture = Image.fromarray(painted)
    picture.putpalette(bytes(value for color in palette() for value in color))
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def palette() -> list[tuple[int, int, int]]:
    """Return the colours of a picture: pale ones of areas, then full ones of lines."""
    full = [tuple(bytes.fromhex(color[1:])) for color in COLORS]
    pale = [tuple(round(255 + TINT * (value - 255)) for value in color) for color in full]
    return [*pale, *full]  # type: ignore[list-item]
