"""Pictures of the best and worst cases: outlines of objects, over the image if there is one."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Literal

import numpy as np

from panmatch.datasets import Case, load_case
from panmatch.errors import PanmatchError, needs_extra
from panmatch.evaluation import CaseResult, Level, Result, plural
from panmatch.formats import StoredImage, grid_difference, read_grey, turned_like
from panmatch.labels import LabelArray, as_spacing, mask_of
from panmatch.report._matched_class import (
    MatchedClass,
    ShownMistake,
    largest_mistake,
    match_class,
    statuses_of,
)
from panmatch.report._outlines import outline_path
from panmatch.report._views import Mask, Turn, View, check_axes, disagreement, find_view

Side = Literal["reference", "prediction"]
STATUSES = ("matched", "missed", "false positive", "other")  # other: dismissed (D10)

LONGEST_SIDE = 480  # of a picture, in the units of its drawing

# Larger slices are thinned out. All hold where there are few pictures; many share the same room.
MOST_PIXELS = 512  # along a side
MOST_EDGES = 30_000  # of voxels, along all outlines; about 3 bytes each
FEW_PICTURES = 12

BOX_MARGIN = 5  # around the largest mistake, in the units of the drawing
QUALITY = 70  # of compressed images, out of 100

WORST, BEST = 3, 1
MOST_MODELS = 4
MOST_PICTURES = 60  # of all classes; with many of them each one has fewer
MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Layer:
    """The objects of one side that have the same status."""

    side: Side
    status: str
    path: str  # their outlines, as SVG spells them, in voxels


@dataclass(frozen=True, slots=True)
class Drawing:
    """A slice of a case, ready to be drawn.

    Attributes
    ----------
    width, height
        In units of which the longer side has `LONGEST_SIDE`; voxels keep their proportions.
    scale
        From voxels of the layers to these units, along x and y.
    layers
        References, then predictions.
    box
        Around the objects of `mistake`: x, y, width and height; None if nothing is wrong.
    grey, grey_size
        The background image as a data URL, with its width and height; empty if there is none.
    slice_text, mistake
        Which slice it is, and what is in the box; empty if there is neither.
    """

    width: float
    height: float
    scale: tuple[float, float]
    layers: tuple[Layer, ...]
    box: tuple[float, float, float, float] | None = None
    grey: str = ""
    grey_size: tuple[float, float] = (0.0, 0.0)
    slice_text: str = ""
    mistake: str = ""

    @property
    def n_bytes(self) -> int:
        """Roughly how much space it takes in the page."""
        return len(self.grey) + sum(len(layer.path) for layer in self.layers)


@dataclass(frozen=True, slots=True)
class CasePicture:
    """A case to look at, with its matching under the first matcher, at the first threshold."""

    case: str
    model: str
    level: Level
    drawing: Drawing | None = None  # none if the images cannot be read any more
    problem: str = ""  # why there is no picture
    lacks_image: bool = False  # whether there should be an image below, but none has this name
    image_problem: str = ""  # why the image that has this name is not below


def show_cases(
    result: Result,
    cases: Mapping[tuple[str, str], Case],
    class_name: str,
    *,
    images: Mapping[str, Path] | None = None,
    n_classes: int = 1,
) -> list[CasePicture]:
    """Return the worst and the best cases of every model, by PQ, worst first.

    Parameters
    ----------
    cases
        The files of every case, by model and case.
    images
        Background images for the labels, by case; None for no images.
    n_classes
        How many classes are shown in all.
    """
    matcher, threshold = result.spec.matching[0], result.spec.thresholds[0]
    models = result.models[:MOST_MODELS]
    room = max(1, min(WORST + BEST, MOST_PICTURES // (n_classes * len(models))))
    best = BEST if room > BEST else 0
    detail = min(1.0, FEW_PICTURES / (room * n_classes * len(models)))
    found = []
    for series in result.series:
        setting = series.setting
        wanted = series.model in models and setting.class_name == class_name
        if not wanted or setting.matcher != matcher:
            continue
        scores = zip(series.counts[threshold].tallies.pq.tolist(), series.results, strict=True)
        scored = [(pq, case.case, case) for pq, case in scores if not math.isnan(pq)]
        scored.sort(key=lambda item: item[:2])
        worst = room - best
        for _, _, case in scored[:worst] + (scored[worst:][-best:] if best else []):
            entry, listed = case.entry(setting), cases.get((case.model, case.case))
            if entry is not None:
                level = entry.level(threshold)
                found.append(_show(result, case, level, listed, class_name, images, detail))
    return found


def image_notes(pictures: Sequence[CasePicture]) -> list[str]:
    """Return sentences about images that are missing, or do not fit, each one once."""
    missing = list(dict.fromkeys(picture.case for picture in pictures if picture.lacks_image))
    notes = []
    if missing:
        named, more = ", ".join(missing[:MOST_NAMES]), len(missing) - MOST_NAMES
        rest = f" and {more} more" if more > 0 else ""
        told = f"{plural(len(missing), 'case')} shown here ({named}{rest})"
        notes.append(f"No background image for {told}.")
    unfit = {picture.case: picture.image_problem for picture in pictures if picture.image_problem}
    return notes + [f"No background image for {case}: {why}." for case, why in unfit.items()]


def draw_case(
    found: MatchedClass,
    *,
    spacing: Sequence[float] | None = None,
    orientation: str | None = None,
    grey: LabelArray | None = None,
    detail: float = 1.0,
) -> Drawing:
    """Draw the slice that shows most of the largest mistake, cropped to its objects.

    Parameters
    ----------
    found
        Label images with two axes or more, and their matching.
    spacing
        Distance between voxels along each axis; it decides the proportions of the picture.
    orientation
        Where each axis points, as `StoredImage` says: slices are then axial, coronal or sagittal,
        with the patient upright. None leaves them as they are stored.
    grey
        Background image of the same shape, in grey levels from 0 to 255.
    detail
        How much space the picture may take, from 0 to 1.

    Examples
    --------
    >>> from panmatch.spec import Spec
    >>> reference, prediction = np.array([[0, 7, 0, 9]]), np.array([[0, 7, 0, 0]])
    >>> drawing = draw_case(match_class(Spec(), reference=reference, prediction=prediction))
    >>> drawing.mistake
    'missed reference 9'
    >>> [(layer.side, layer.status, layer.path) for layer in drawing.layers][1]
    ('reference', 'missed', 'M3 0h1v1h-1z')
    """
    check_axes(found.reference.ndim)
    turn = Turn.upright(orientation, found.reference.ndim)
    steps = as_spacing(spacing, found.reference.ndim)[list(turn.order)]
    mistake = largest_mistake(found.matching)
    focus = turn.turned(_focus(found, mistake))
    ref, pred = turn.turned(found.reference), turn.turned(found.prediction)
    view = find_view(ref, pred, focus, steps).cropped(ref, pred).widened(ref.shape)
    rows, columns = ref[view.index].shape
    longest = max(rows * view.spacing[0], columns * view.spacing[1])
    y_unit, x_unit = (LONGEST_SIDE * length / longest for length in view.spacing)  # of a voxel
    step = _thinning(ref[view.index], pred[view.index], detail)
    shown = _thinned(ref[view.index], step), _thinned(pred[view.index], step)
    drawing = Drawing(
        round(columns * x_unit, 2),
        round(rows * y_unit, 2),
        (round(step * x_unit, 6), round(step * y_unit, 6)),
        tuple(_layers(shown, found)),
        None if mistake is None else _box(ref, pred, view, mistake, (x_unit, y_unit)),
        slice_text=turn.slice_text(view, ref.shape),
        mistake="" if mistake is None else mistake.text,
    )
    if grey is None:
        return drawing
    url, (n_rows, n_columns) = _data_url(turn.turned(grey)[view.index], detail)
    size = round(n_columns * x_unit, 2), round(n_rows * y_unit, 2)
    return replace(drawing, grey=url, grey_size=size)


def _focus(found: MatchedClass, mistake: ShownMistake | None) -> Mask:
    """Return the voxels to look for: those of one mistake, or all that are wrong."""
    ref, pred, matching = found.reference, found.prediction, found.matching
    wrong = disagreement(ref, pred, matching.missed.tolist(), matching.false_positives.tolist())
    if mistake is None:
        return wrong
    objects = _objects(ref, pred, mistake)
    return wrong & objects if (wrong & objects).any() else objects


def _objects(ref: LabelArray, pred: LabelArray, mistake: ShownMistake) -> Mask:
    there: Mask = mask_of(ref, mistake.ref_ids) | mask_of(pred, mistake.pred_ids)
    return there


def _thinning(ref: LabelArray, pred: LabelArray, detail: float) -> int:
    """Return 1, or the step at which to sample slices that are large or full of tiny objects."""
    step: int = math.ceil(max(ref.shape) / MOST_PIXELS)
    while sum(_n_edges(_thinned(labels, step)) for labels in (ref, pred)) > MOST_EDGES * detail:
        step += 1
    return step


def _thinned(labels: LabelArray, step: int) -> LabelArray:
    """Return the voxel in the middle of every block, or the last one of a block that is cut."""
    places = [np.minimum(np.arange(0, n, step) + step // 2, n - 1) for n in labels.shape]
    return labels[np.ix_(*places)]


def _n_edges(labels: LabelArray) -> int:
    along = int(np.count_nonzero(labels[1:] != labels[:-1]))
    return along + int(np.count_nonzero(labels[:, 1:] != labels[:, :-1]))


def _layers(shown: tuple[LabelArray, LabelArray], found: MatchedClass) -> list[Layer]:
    layers = []
    sides: tuple[Side, Side] = ("reference", "prediction")
    for side, labels, known in zip(sides, shown, statuses_of(found.matching), strict=True):
        ids: dict[str, set[int]] = {status: set() for status in STATUSES}
        for number in np.unique(labels).tolist():
            if number:
                ids[known.get(number, "other")].add(number)
        paths = {status: outline_path(labels, there) for status, there in ids.items() if there}
        layers += [Layer(side, status, path) for status, path in paths.items()]
    return layers


def _box(
    ref: LabelArray,
    pred: LabelArray,
    view: View,
    mistake: ShownMistake,
    units: tuple[float, float],
) -> tuple[float, float, float, float] | None:
    """Return x, y, width and height of the box around a mistake, inside the picture."""
    there = _objects(ref[view.index], pred[view.index], mistake)
    if not there.any():
        return None
    ends = []
    for axis, unit in ((1, units[0]), (0, units[1])):
        along = np.flatnonzero(there.any(axis=1 - axis))
        low = max(float(along[0] * unit) - BOX_MARGIN, 1.0)
        high = min(float((along[-1] + 1) * unit) + BOX_MARGIN, there.shape[axis] * unit - 1.0)
        ends.append((round(low, 1), round(high - low, 1)))
    (x, width), (y, height) = ends
    return x, y, width, height


def _show(
    result: Result,
    case: CaseResult,
    level: Level,
    listed: Case | None,
    class_name: str,
    images: Mapping[str, Path] | None,
    detail: float,
) -> CasePicture:
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
        path = None if images is None else images.get(case.case)
        grey, problem = _grey_below(path, loaded.grid, found.reference.shape)
        orientation = None if loaded.grid is None else loaded.grid.orientation
        drawing = draw_case(
            found, spacing=case.spacing, orientation=orientation, grey=grey, detail=detail
        )
    except PanmatchError as error:
        return CasePicture(case.case, case.model, level, problem=str(error))
    lacks = images is not None and path is None
    return CasePicture(case.case, case.model, level, drawing, "", lacks, problem)


def _grey_below(
    path: Path | None, grid: StoredImage | None, shape: tuple[int, ...]
) -> tuple[LabelArray | None, str]:
    """Return the background image for labels of this shape, or why there is none."""
    if path is None:
        return None, ""
    try:
        read = read_grey(path)
    except PanmatchError as error:
        return None, str(error).rstrip(".")
    image = read if grid is None else turned_like(read, grid)
    if image.labels.shape != shape:
        return None, f"its image has shape {read.labels.shape}, but its labels have shape {shape}"
    problem = None if grid is None else grid_difference(grid, image, ("labels", "image"))
    if problem is not None:
        return None, f"its image and its labels {problem.split(':')[0]}"
    return np.asarray(image.labels), ""


def _data_url(levels: LabelArray, detail: float) -> tuple[str, tuple[int, int]]:
    """Return a compressed image, and how many rows and columns of voxels it covers."""
    with needs_extra("files", "Images below pictures"):
        from PIL import Image, features

    kind = "webp" if features.check("webp") else "jpeg"
    step = math.ceil(max(levels.shape) / (MOST_PIXELS * math.sqrt(detail)))
    picture = Image.fromarray(np.ascontiguousarray(levels, np.uint8)).reduce(step)
    file = BytesIO()
    picture.save(file, kind, quality=QUALITY)
    covered = picture.height * step, picture.width * step
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}", covered
