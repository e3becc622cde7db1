"""Scenes with their matches: references as areas, predictions as outlines."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from panmatch.errors import OverlapError, ShapeError, needs_extra
from panmatch.evaluation import Score
from panmatch.labels import LabelArray, as_spacing, segment_geometry
from panmatch.matching import Matching
from panmatch.overlap import Floats, Ints
from panmatch.report import _style as style
from panmatch.report._curve_figure import (
    Line,
    add_legend,
    area_score,
    draw_steps,
    score_limits_of,
    strategy_look,
)
from panmatch.report._matched_class import counts_in_words, matching_title, statuses_of
from panmatch.report._style import Look, Width
from panmatch.report._views import View, as_pair, disagreement, find_view, slice_view
from panmatch.scoring import Curve

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

Image = npt.NDArray[np.number]

FILL, FILL_OVER_IMAGE = 0.3, 0.15  # how opaque areas are
REFERENCE_PT, PREDICTION_PT, HALO_PT = 0.5, 1.2, 0.4
TALLEST = 1.3  # times the width
LEGEND_ENTRY_IN = 1.7
PADS_IN = 0.08  # between title, axes, words and legend
BRIGHTNESS = (1, 99)  # percentiles of the image that become black and white


@style.in_paper_style
def plot_scene(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    matching: Matching,
    *,
    image: npt.ArrayLike | None = None,
    spacing: npt.ArrayLike | None = None,
    slice_: tuple[int, int] | None = None,
    zoom: bool = True,
    width: Width = "single",
) -> Figure:
    """Draw a two-dimensional image, or the slice of a volume with the most disagreement.

    Parameters
    ----------
    reference, prediction
        Label images of the same shape, with the ids of the matching.
    matching
        From `match`.
    image
        The image that was segmented, shown in grey behind the labels. It has the same shape, or
        one more axis for colours.
    spacing
        Distance between voxels along each axis; it sets the proportions.
    slice_
        Axis and position of the slice; by default `find_view` chooses it.
    zoom
        Whether to crop what is far from all objects.
    width
        As for `plot_curve`.

    Examples
    --------
    >>> import panmatch as pm
    >>> image = np.array([[0, 7, 7], [0, 7, 0]])
    >>> matching = pm.match(pm.count_overlaps(image, image))
    >>> plot_scene(image, image, matching, width="double").get_size_inches()[0].item()
    7.2
    """
    ref, pred = _checked(reference, prediction, matching)
    sizes = as_spacing(spacing, ref.ndim)
    view = _view(ref, pred, matching, sizes, slice_)
    if zoom:
        view = view.cropped(ref, pred)
    behind = None if image is None else _grey(np.asarray(image), ref.shape)[view.index]
    inches = style.width_in(width)
    rows, columns = ref[view.index].shape
    share = rows * view.spacing[0] / (columns * view.spacing[1])
    legend = scene_legend(bool(_dismissed(matching)))
    across = max(1, int(inches / LEGEND_ENTRY_IN))
    lines = 4 + bool(view.slice_text) + -(-len(legend) // across)
    height = inches * min(share, TALLEST) + style.LINE_IN * 1.1 * lines + PADS_IN
    figure = style.new_figure(inches, height)
    ax = figure.subplots()
    _draw_background(ax, behind)
    draw_objects(ax, ref[view.index], pred[view.index], matching, behind is not None)
    words = [counts_in_words(matching), *([view.slice_text] if view.slice_text else [])]
    _describe(ax, matching, words, view.spacing[0] / view.spacing[1])
    ax.set_anchor("N")  # what room is left stays below, not within the words
    figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=across)
    return figure


def draw_objects(
    ax: Axes,
    reference: LabelArray,
    prediction: LabelArray,
    matching: Matching,
    over_image: bool = False,
) -> None:
    """Draw references as areas and predictions as outlines, in the colours of their status."""
    refs, preds = statuses_of(matching)
    for status in ("matched", "missed"):
        ids = {ref for ref, found in refs.items() if found == status}
        _fill(ax, reference, ids, style.STATUSES[status], over_image)
    for status in ("matched", "false positive"):
        ids = {pred for pred, found in preds.items() if found == status}
        _outline(ax, prediction, ids, style.STATUSES[status], over_image)
    _outline(ax, prediction, _dismissed(matching), style.OTHER, over_image)
    rows, columns = reference.shape
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), xticks=[], yticks=[])


def scene_legend(dismissed: bool = False) -> dict[str, Artist]:
    """Return the entries of the legend of a scene, by their text."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: dict[str, Artist] = {}
    for status, words in (("matched", "reference, matched"), ("missed", "reference, missed (FN)")):
        look = style.STATUSES[status]
        entries[words] = Patch(facecolor=(look.color, FILL), edgecolor=look.color,
                               hatch=look.hatch, linewidth=REFERENCE_PT)  # fmt: skip
    outlines = {
        "prediction, matched": style.STATUSES["matched"],
        "false positive (FP)": style.STATUSES["false positive"],
    } | ({"prediction, dismissed": style.OTHER} if dismissed else {})
    for words, look in outlines.items():
        dash = style.line_style(look.dash)
        entries[words] = Line2D([], [], color=look.color, linestyle=dash, linewidth=PREDICTION_PT)
    return entries


def outline_of(labels: LabelArray, ids: Container[int]) -> Path | None:
    """Return the outlines of these objects in one path, holes included; None if none is there.

    Outlines run half-way between voxel centres, in coordinates (column, row). Each object is
    traced in its own box, so many small objects take no longer than one large one.

    Examples
    --------
    >>> path = outline_of(np.array([[0, 7, 0], [0, 7, 0]]), {7})
    >>> path.get_extents().get_points().tolist() if path is not None else None
    [[0.5, -0.5], [1.5, 1.5]]
    """
    from matplotlib.path import Path

    boxes = segment_geometry(labels)
    lines = []
    for number, start, stop in zip(
        boxes.ids.tolist(), boxes.start.tolist(), boxes.stop.tolist(), strict=True
    ):
        if number in ids:
            box = tuple(slice(first, last) for first, last in zip(start, stop, strict=True))
            around = np.pad(labels[box] == number, 1).astype(np.float64)
            corner = np.array(start) - 1
            lines += [(line + corner)[:, ::-1] for line in _contours(around)]
    if not lines:
        return None
    return Path.make_compound_path(*(Path(line, closed=True) for line in lines))


def _contours(mask: Floats) -> list[Floats]:
    with needs_extra("skeleton", "Outlines"):
        from skimage import measure

    trace: Callable[[Floats, float], list[Floats]] = measure.find_contours
    return trace(mask, 0.5)


def _view(
    ref: LabelArray,
    pred: LabelArray,
    matching: Matching,
    spacing: Floats,
    slice_: tuple[int, int] | None,
) -> View:
    if slice_ is not None:
        return slice_view(slice_, ref.shape, spacing)
    wrong = disagreement(ref, pred, matching.missed.tolist(), matching.false_positives.tolist())
    return find_view(ref, pred, wrong, spacing)


def _describe(ax: Axes, matching: Matching, words: list[str], aspect: float) -> None:
    ax.set_title(matching_title(matching))
    ax.set_xlabel("\n".join(words))
    ax.set_aspect(aspect)
    ax.spines[:].set_visible(True)


def _fill(ax: Axes, labels: LabelArray, ids: set[int], look: Look, over_image: bool) -> None:
    from matplotlib.patches import PathPatch

    path = outline_of(labels, ids)
    if path is not None:
        opaque = FILL_OVER_IMAGE if over_image else FILL
        patch = PathPatch(
            path,
            facecolor=(look.color, opaque),
            edgecolor=look.color,
            hatch=look.hatch,
            linewidth=REFERENCE_PT,
        )
        ax.add_patch(patch)


def _outline(ax: Axes, labels: LabelArray, ids: set[int], look: Look, over_image: bool) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.patheffects import Normal, Stroke

    path = outline_of(labels, ids)
    if path is not None:
        dash = style.line_style(look.dash)
        patch = PathPatch(
            path, fill=False, edgecolor=look.color, linestyle=dash, linewidth=PREDICTION_PT
        )
        if over_image:  # so that dark lines are seen on dark images
            solid = {"dash_offset": 0, "dash_list": None}
            halo = PREDICTION_PT + 2 * HALO_PT
            patch.set_path_effects(
                [Stroke(linewidth=halo, foreground="white", dashes=solid), Normal()]
            )
        ax.add_patch(patch)


def _draw_background(ax: Axes, image: Image | None) -> None:
    if image is not None:
        low, high = np.percentile(image, BRIGHTNESS)
        ax.imshow(image, cmap="gray", vmin=low, vmax=max(high, low + 1e-12))


def _dismissed(matching: Matching) -> set[int]:
    return set(matching.overlap.predictions.ids.tolist()) - set(statuses_of(matching)[1])


def _grey(image: Image, shape: tuple[int, ...]) -> Image:
    if image.shape == shape:
        return image
    if image.shape[:-1] == shape:
        grey: Image = image[..., :3].mean(axis=-1)
        return grey
    raise ShapeError(
        f"image has shape {image.shape} but reference has shape {shape}: pass an image on the same "
        f"grid, with or without an axis of colours at the end."
    )


def _checked(
    reference: npt.ArrayLike, prediction: npt.ArrayLike, matching: Matching
) -> tuple[LabelArray, LabelArray]:
    ref, pred = as_pair(reference, prediction)
    known = {"reference": matching.overlap.ref_ids, "prediction": matching.overlap.predictions.ids}
    for name, labels in (("reference", ref), ("prediction", pred)):
        strays = set(known[name].tolist()) - set(np.unique(labels).tolist())
        if strays:
            raise OverlapError(
                f"{name} has no object {min(strays)}, which the matching has: pass the label "
                f"images that were matched."
            )
    return ref, pred


def draw_comparison(
    path: pathlib.Path,
    reference: LabelArray,
    prediction: LabelArray,
    matchings: Sequence[Matching],
    curves: Sequence[Curve],
) -> None:
    """Save the figure that `comparison_figure` draws."""
    comparison_figure(reference, prediction, matchings, curves).savefig(path)


@style.in_paper_style
def comparison_figure(
    reference: LabelArray,
    prediction: LabelArray,
    matchings: Sequence[Matching],
    curves: Sequence[Curve],
) -> Figure:
    """Draw a scene per matching above, and PQ, SQ and RQ over the threshold below."""
    from matplotlib.lines import Line2D

    figure = style.new_figure(3.0 * len(matchings), 6.0)
    axes = figure.subplots(2, len(matchings), height_ratios=(1.1, 1), squeeze=False)
    for ax, matching in zip(axes[0], matchings, strict=True):
        _draw_linked(ax, reference, prediction, matching)
    for ax, name in zip(axes[1], ("pq", "sq", "rq"), strict=False):
        _draw_curves(ax, figure, curves, Score(name))
    match = Line2D([], [], color="black", linewidth=0.9)
    legend = {**scene_legend(), "match, from reference (●) to prediction (○)": match}
    figure.legend(legend.values(), legend.keys(), loc="outside upper center", ncols=len(legend))
    return figure


def _draw_linked(
    ax: Axes, reference: LabelArray, prediction: LabelArray, matching: Matching
) -> None:
    """Draw a 2-D scene with a line along every match."""
    draw_objects(ax, reference, prediction, matching)
    _draw_links(ax, _centres(reference), _centres(prediction), matching.pairs)
    _describe(ax, matching, [counts_in_words(matching)], aspect=1.0)


def _draw_curves(ax: Axes, figure: Figure, curves: Sequence[Curve], score: Score) -> None:
    """Draw PQ, SQ or RQ of several curves, with the areas in the legend."""
    lines = [
        Line(curve.strategy.name, strategy_look(curve.strategy, curve.strategy.dash), curve, score)
        for curve in curves
    ]
    draw_steps(ax, lines, score, score_limits_of(lines))
    add_legend(ax, figure, area_score(score).title, columns=1)


def _draw_links(ax: Axes, refs: dict[int, Floats], preds: dict[int, Floats], pairs: Ints) -> None:
    for ref, pred in pairs.tolist():
        (y0, x0), (y1, x1) = refs[ref], preds[pred]
        ax.plot([x0, x1], [y0, y1], color="black", linewidth=0.9)
        ax.plot(x0, y0, "o", color="black", markersize=3)
        ax.plot(x1, y1, "o", markerfacecolor="white", markeredgecolor="black", markersize=3)


def _centres(labels: LabelArray) -> dict[int, Floats]:
    """Return for every object its voxel nearest to its centroid: a point that lies on it."""
    return {int(i): _inner_point(np.argwhere(labels == i)) for i in np.unique(labels) if i}


def _inner_point(voxels: Ints) -> Floats:
    distances = np.linalg.norm(voxels - voxels.mean(0), axis=1)
    nearest: Floats = voxels[np.argmin(distances)].astype(np.float64)
    return nearest
