"""How good each object is, in voxels and in millimetres."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, OverlapError
from panmatch.labels import Geometry
from panmatch.labels.spacing import as_spacing
from panmatch.labels.validation import as_mask
from panmatch.labels.void import without_void
from panmatch.matching import Matching, Tally
from panmatch.overlap import count_overlaps
from panmatch.scoring.comparison import Comparison, Rows, Settings
from panmatch.scoring.matched_rows import cut_out, rows_of
from panmatch.scoring.measurements import Measurements
from panmatch.scoring.metrics import Metric, resolve_metrics

BOUNDARY_SHARE = 0.02  # default width of a boundary band, as a share of the image diagonal

Metrics = str | Metric | Iterable[str | Metric]
Penalty = float | Literal["diagonal"] | None


def measure(
    matching: Matching,
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    metrics: Metrics = ("iou", "dice"),
    spacing: npt.ArrayLike | None = None,
    *,
    void: int | npt.ArrayLike | None = None,
    tolerance_mm: float = 1.0,
    boundary_width_mm: float | None = None,
    penalty_mm: Penalty = None,
    threads: int | None = None,
) -> Measurements:
    """Measure every matched, missed and false object.

    A matched reference is compared with the union of its predictions. See ``docs/metrics.md``
    for all metrics and the conventions they follow.

    Parameters
    ----------
    matching
        From `match`.
    reference, prediction
        The label images that were counted. Anything else is an error.
    metrics
        Names, such as ``"dice"`` or ``"hd95"``, or `Metric` objects.
    spacing
        Distance between voxels along each axis, in millimetres; voxel units by default.
    void
        As it was given to `count_overlaps`; such voxels are left out on both sides.
    tolerance_mm
        How far a boundary may be off for ``"nsd"``.
    boundary_width_mm
        Width of the bands of ``"boundary_iou"``; by default 2 % of the image diagonal,
        and at least one voxel.
    penalty_mm
        Distance of an object without partner: None for NaN, a number, or ``"diagonal"`` for the
        length of the image diagonal.
    threads
        Number of threads; by default as many as pay. The result does not depend on it.

    Returns
    -------
    Measurements
        ``.columns["dice"]`` is an array: one row per reference, then one per false positive.

    Examples
    --------
    >>> from panmatch.matching import match
    >>> reference = np.array([[1, 1, 1, 0, 2, 2], [1, 1, 1, 0, 2, 2]])
    >>> prediction = np.array([[0, 5, 5, 5, 0, 0], [0, 5, 5, 5, 0, 0]])
    >>> matching = match(count_overlaps(reference, prediction), threshold=0.4)
    >>> found = measure(matching, reference, prediction, ("dice", "hd"), spacing=(1, 0.5))
    >>> found.columns["dice"], found.columns["hd"]
    (array([0.66666667, 0.        ]), array([0.5, nan]))
    >>> found.reasons("hd").tolist()
    ['', 'missed: no prediction to compare with']
    """
    ref, pred = without_void(reference, prediction, void)
    images = np.atleast_1d(ref), np.atleast_1d(pred)
    settings = settings_for(images[0].shape, spacing, tolerance_mm, boundary_width_mm, penalty_mm)
    rows = rows_of(matching)
    if matching.overlap.pieces is not None:
        images = images[0], cut_out(matching, *images, settings.spacing, threads)
    objects = Comparison(rows, *images, settings, threads)
    _check_images(objects, matching, void is not None)
    return _measured(objects, resolve_metrics(metrics), matching.tally)


def measure_whole(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    metrics: Metrics = ("iou", "dice"),
    spacing: npt.ArrayLike | None = None,
    *,
    void: int | npt.ArrayLike | None = None,
    tolerance_mm: float = 1.0,
    boundary_width_mm: float | None = None,
    penalty_mm: Penalty = None,
    threads: int | None = None,
) -> Measurements:
    """Measure all objects of a class as one: everything that is not background.

    Parameters
    ----------
    reference, prediction
        Masks, or label images whose labels are all taken together.
    metrics, spacing, void, tolerance_mm, boundary_width_mm, penalty_mm, threads
        As for `measure`.

    Returns
    -------
    Measurements
        With a single row. If one side is empty its status is ``"missed"`` or
        ``"false positive"``, if both are, ``"empty"``, and every value is NaN.

    Examples
    --------
    >>> found = measure_whole([[1, 1, 0, 2]], [[3, 0, 0, 3]], ("dice", "assd"), spacing=(1, 2))
    >>> found.columns["dice"], found.columns["assd"]
    (array([0.8]), array([0.4]))
    """
    ref, pred = without_void(reference, prediction, void)
    masks = (
        np.atleast_1d(as_mask(ref, "reference")).view(np.uint8),
        np.atleast_1d(as_mask(pred, "prediction")).view(np.uint8),
    )
    settings = settings_for(masks[0].shape, spacing, tolerance_mm, boundary_width_mm, penalty_mm)
    overlap = count_overlaps(*masks, threads=threads)
    sizes = [float(s.sum()) for s in (overlap.ref_sizes, overlap.pred_sizes)]
    shared = float(overlap.edges.intersection.sum())
    ones = np.ones(1, np.int64)
    rows = Rows(
        ref_ids=ones * (sizes[0] > 0),
        pred_first=np.array([0, int(sizes[1] > 0)]),
        pred_ids=ones[: int(sizes[1] > 0)],
        names=["1" if sizes[1] > 0 else ""],
        ref_voxels=np.array(sizes[:1]),
        pred_voxels=np.array(sizes[1:]),
        shared=np.array([shared]),
    )
    both = sizes[0] > 0 and sizes[1] > 0
    tally = Tally(
        tp=int(both),
        fp=int(sizes[1] > 0 and not both),
        fn=int(sizes[0] > 0 and not both),
        quality=shared / (sum(sizes) - shared) if both else 0.0,
    )
    return _measured(Comparison(rows, *masks, settings, threads), resolve_metrics(metrics), tally)


def settings_for(
    shape: tuple[int, ...],
    spacing: npt.ArrayLike | None,
    tolerance_mm: float,
    boundary_width_mm: float | None,
    penalty_mm: Penalty,
) -> Settings:
    """Check the options of `measure` for an image of that shape, and fill in defaults."""
    steps = as_spacing(spacing, len(shape))
    diagonal = float(np.linalg.norm(steps * shape))
    if boundary_width_mm is None:
        boundary_width_mm = max(BOUNDARY_SHARE * diagonal, float(steps.max()))
    elif _distance("boundary_width_mm", boundary_width_mm) < steps.min():
        raise OptionError(
            f"boundary_width_mm={boundary_width_mm!r} is less than the distance between voxels "
            f"({steps.min():g}): such a band holds no voxel."
        )
    if penalty_mm is None:
        penalty_mm = float("nan")
    elif penalty_mm == "diagonal":
        penalty_mm = diagonal
    else:
        penalty_mm = _distance("penalty_mm", penalty_mm)
    return Settings(
        tuple(steps.tolist()),
        _distance("tolerance_mm", tolerance_mm),
        _distance("boundary_width_mm", boundary_width_mm),
        penalty_mm,
    )


def _distance(argument: str, value: Any) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0 <= value < float("inf"):
        choice = ", or 'diagonal'" if argument == "penalty_mm" else ""
        raise OptionError(f"{argument}={value!r} must be a distance: a number from 0 on{choice}.")
    return float(value)


def _check_images(objects: Comparison, matching: Matching, has_void: bool) -> None:
    """Raise an `OverlapError` unless the images hold what was matched."""
    rows = objects.rows
    for name, geometry, voxels in (
        ("reference", objects.ref_geometry, rows.ref_voxels),
        ("prediction", objects.pred_geometry, rows.pred_voxels),
    ):
        wrong = np.flatnonzero(geometry.voxels != voxels)
        if len(wrong):
            raise OverlapError(_why_not_matched(name, wrong[0], geometry, rows, matching, has_void))


def _why_not_matched(
    name: str, row: int, geometry: Geometry, rows: Rows, matching: Matching, has_void: bool
) -> str:
    label = rows.ref_ids[row] if name == "reference" else rows.names[row].replace(" ", "+")
    expected = rows.ref_voxels[row] if name == "reference" else rows.pred_voxels[row]
    remedy = (
        "The overlap has void voxels: pass the same void here."
        if np.any(matching.overlap.pred_void) and not has_void
        else "Pass the two images that were counted, the reference first"
        + ("." if matching.overlap.pieces is None else ", with the same spacing.")
    )
    return (
        f"{name} is not what was matched: label {label} has "
        f"{geometry.voxels[row]} voxels, but {expected:g} in the matching. {remedy}"
    )


def _measured(objects: Comparison, metrics: tuple[Metric, ...], tally: Tally) -> Measurements:
    columns = _description(objects)
    clash = [metric.name for metric in metrics if metric.name in columns]
    if clash:
        raise OptionError(f"metrics: {clash[0]!r} is the name of a column that is always there.")
    for metric in metrics:
        columns[metric.name] = metric.values(objects)
    return Measurements(columns, metrics, tally, objects.settings)


def _description(objects: Comparison) -> dict[str, npt.NDArray[Any]]:
    """Return the columns that every table has: who, how large, and where."""
    rows = objects.rows
    columns: dict[str, npt.NDArray[Any]] = {
        "status": _status(objects),
        "ref_id": rows.ref_ids,
        "pred_ids": np.array(rows.names, dtype=np.str_),
    }
    for side, geometry, centroid in (
        ("ref", objects.ref_geometry, objects.ref_centroid),
        ("pred", objects.pred_geometry, objects.pred_centroid),
    ):
        columns |= {
            f"{side}_voxels": geometry.voxels,
            f"{side}_volume": geometry.voxels * objects.voxel_volume,
            f"{side}_centroid": centroid,
            f"{side}_start": geometry.start,
            f"{side}_stop": geometry.stop,
        }
    return columns


def _status(objects: Comparison) -> npt.NDArray[np.str_]:
    ref, pred = objects.ref_voxels > 0, objects.pred_voxels > 0
    names = np.array(["empty", "false positive", "missed", "matched"])
    status: npt.NDArray[np.str_] = names[2 * ref + pred]
    return status
