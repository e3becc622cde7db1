"""Overlaps with parts, from one joint count (D9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, OptionError, check_choice
from panmatch.labels import connected_components
from panmatch.labels.cells import nearest_labels
from panmatch.labels.chunked.volumes import as_volume, map_labels
from panmatch.labels.validation import LabelArray
from panmatch.labels.void import without_void
from panmatch.overlap.counting import Assembled, assemble, count_jointly
from panmatch.overlap.graph import Overlap
from panmatch.overlap.parts import BACKGROUNDS, Background, Parts, scatter_rows
from panmatch.overlap.types import Ints

UNKNOWN = -1  # a part label that is void


def count_part_overlaps(
    reference: npt.ArrayLike | None,
    prediction: npt.ArrayLike | None,
    reference_parts: npt.ArrayLike,
    prediction_parts: npt.ArrayLike,
    void_part: int | None = None,
    *,
    parts: Sequence[int] | None = None,
    background: Background = "image",
    void: int | npt.ArrayLike | None = None,
    regions: bool = False,
    spacing: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Overlap:
    """Count overlaps of objects and of their parts in one pass (D9).

    Parts add a second quality to a matched reference, the mean IoU of its parts, and change
    nothing else: who is matched is decided by the objects as wholes.

    Parameters
    ----------
    reference, prediction
        Label images of the objects. None makes objects of the connected components of the parts.
    reference_parts, prediction_parts
        Part labels, 0 for none. A part on a voxel without object is an error. Any of the four
        images may be stored in chunks, each in its own way.
    void_part
        Label of voxels whose part is unknown. In the reference they are left out of every
        part's IoU; in the prediction they are no false positives, but misses.
    parts
        Part labels of the class; by default all that occur in either image. Other labels are an
        error. Without any, the overlap has no parts.
    background
        ``"image"``: everything that is no part is one more label, so that the score depends on
        the field of view (the published definition). ``"none"``: only parts count.
    void, threads
        As for `count_overlaps`.
    regions, spacing
        Cut predictions by the cells of the references, as `count_region_overlaps` does.

    Returns
    -------
    Overlap
        Every strategy and curve runs on it.

    Examples
    --------
    >>> reference, prediction = np.array([1, 1, 1, 1, 0, 0]), np.array([7, 7, 7, 7, 0, 0])
    >>> halves, shifted = np.array([1, 1, 2, 2, 0, 0]), np.array([1, 1, 1, 2, 0, 0])
    >>> pt = count_part_overlaps(reference, prediction, halves, shifted, background="none")
    >>> pt.parts.quality(np.array([0]), pt.parts.per_edge(pt.edges.pred), pt.iou)  # ⅔ and ½
    array([0.58333333])
    """
    check_choice("background", background, BACKGROUNDS)
    if not regions and spacing is not None:
        raise OptionError("spacing is used to cut predictions by cells only: pass regions=True.")
    given = _whole(reference, reference_parts, void_part, "reference_parts")
    other = _whole(prediction, prediction_parts, void_part, "prediction_parts")
    more = {"reference_parts": reference_parts, "prediction_parts": prediction_parts}
    if regions:
        known, _ = without_void(given, other, void)
        more["cells"] = nearest_labels(known, spacing, where=other, threads=threads)
    found = count_jointly(given, other, void, threads, **more)
    ref_part, pred_part = (
        mark_unknown(labels, found.counts, void_part, name)
        for labels, name in zip(found.more, ("reference_parts", "prediction_parts"), strict=False)
    )
    outside = found.in_void
    _check_inside(ref_part, (found.ref > 0) | outside, found.counts, "reference")
    _check_inside(pred_part, (found.pred > 0) | outside, found.counts, "prediction")
    labels = _labels(parts, ref_part[~outside], pred_part[~outside])
    built = assemble(found, cells=found.more[2] if regions else None)
    if not len(labels):
        return built.overlap
    for part, name in ((ref_part, "reference_parts"), (pred_part, "prediction_parts")):
        check_part_labels(part[~outside], found.counts[~outside], labels, name)
    counts = np.where(outside, 0, found.counts)
    return replace(
        built.overlap, parts=part_counts(built, ref_part, pred_part, counts, labels, background)
    )


def part_counts(
    built: Assembled,
    ref_part: Ints,
    pred_part: Ints,
    counts: Ints,
    labels: Ints,
    background: Background,
) -> Parts:
    """Add up the counted combinations by part.

    Parameters
    ----------
    ref_part, pred_part
        Part label of every combination on either side: 0 for none, −1 for void.
    counts
        Voxels of every combination, 0 for those in void.
    """
    overlap, n = built.overlap, len(labels)
    sizes = len(overlap.ref_ids), len(overlap.pred_ids), len(overlap.edges)
    ref_at, pred_at = _label_place(labels, ref_part), _label_place(labels, pred_part)
    on_ref, on_pred, on_edge = built.ref >= 0, built.pred >= 0, built.edge >= 0
    unknown_ref, unknown_pred = ref_part == UNKNOWN, pred_part == UNKNOWN
    some_ref, some_pred = ref_at >= 0, pred_at >= 0

    def by_label(chosen: npt.NDArray[np.bool_], place: Ints, label: Ints, size: int) -> Ints:
        rows = scatter_rows(place[chosen] * n + label[chosen], counts[chosen], size * n)
        return rows.reshape(size, n)

    def plain(chosen: npt.NDArray[np.bool_], place: Ints, size: int) -> Ints:
        return scatter_rows(place[chosen], counts[chosen], size)

    return Parts(
        labels=labels,
        ref=by_label(on_ref & some_ref, built.ref, ref_at, sizes[0]),
        ref_unknown=plain(on_ref & unknown_ref, built.ref, sizes[0]),
        pred=by_label(on_pred & some_pred, built.pred, pred_at, sizes[1]),
        pred_unknown=plain(on_pred & unknown_pred, built.pred, sizes[1]),
        hits=by_label(on_edge & some_ref & (ref_at == pred_at), built.edge, ref_at, sizes[2]),
        lost=by_label(on_edge & unknown_ref & some_pred, built.edge, pred_at, sizes[2]),
        lost_unknown=plain(on_edge & unknown_ref & unknown_pred, built.edge, sizes[2]),
        both=plain(on_edge & some_ref & (some_pred | unknown_pred), built.edge, sizes[2]),
        voxels=int(counts.sum()),
        background=background,
    )


def check_part_labels(part: Ints, counts: Ints, labels: Ints, name: str) -> None:
    """Raise a `LabelError` if a part is not among the labels of its class."""
    foreign = (part > 0) & ~np.isin(part, labels)
    if foreign.any():
        label = int(part[foreign][0])
        voxels = int(counts[part == label].sum())
        raise LabelError(
            f"{name} holds part {label} ({voxels} voxels), which is not among the parts of its "
            f"class: {labels.tolist()}. Add it to the parts, or set such voxels to 0."
        )


def _whole(
    labels: npt.ArrayLike | None, parts: npt.ArrayLike, void_part: int | None, name: str
) -> npt.ArrayLike:
    if labels is not None:
        return labels
    known = as_volume(parts, name)
    if void_part is not None:
        known = map_labels(partial(_without, label=void_part), known)
    return connected_components(known, name=name)


def _without(labels: LabelArray, *, label: int) -> LabelArray:
    return np.where(labels == label, 0, labels)


def mark_unknown(labels: Ints, counts: Ints, void_part: int | None, name: str) -> Ints:
    """Return part labels with −1 for void; any other negative one is an error."""
    known = np.ones(len(labels), np.bool_) if void_part is None else labels != void_part
    bad = known & (labels < 0)
    if bad.any():
        raise LabelError(
            f"{name} holds the negative part {labels[bad][0]} ({int(counts[bad].sum())} voxels "
            f"below 0): parts are 0 (none) or positive labels. If it marks unknown parts, pass "
            f"void_part={labels[bad][0]}."
        )
    return np.where(known, labels, UNKNOWN)


def _check_inside(part: Ints, inside: npt.NDArray[np.bool_], counts: Ints, side: str) -> None:
    stray = (part > 0) & ~inside
    if stray.any():
        label = int(part[stray][0])
        voxels = int(counts[stray & (part == label)].sum())
        raise LabelError(
            f"{side}_parts holds part {label} on {voxels} voxels that belong to no {side} "
            f"segment: parts lie inside their parents. Set such voxels to 0, or pass "
            f"{side}=None to make parents of the parts."
        )


def _labels(parts: Sequence[int] | None, ref_part: Ints, pred_part: Ints) -> Ints:
    if parts is None:
        every = np.concatenate([ref_part, pred_part])
        return np.unique(every[every > 0])
    labels = np.unique(np.asarray(list(parts), dtype=np.int64)) if len(parts) else np.zeros(0, int)
    if len(labels) != len(parts) or (labels < 1).any():
        raise OptionError(f"parts={list(parts)!r} must be distinct labels of at least 1.")
    return labels


def _label_place(labels: Ints, part: Ints) -> Ints:
    """Return the position of every part label, −1 for none or void."""
    at = np.minimum(np.searchsorted(labels, part), len(labels) - 1)
    return np.where(labels[at] == part, at, -1)
