"""How good each object is, in voxels and in millimetres."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from panmatch.labels import Regions, Void, as_mask
from panmatch.matching import Matching, Tally
from panmatch.overlap import count_overlaps
from panmatch.scoring.comparison import Comparison, Rows
from panmatch.scoring.measurements import Measurements
from panmatch.scoring.measurer import Measurer, Metrics, describe
from panmatch.scoring.metrics import resolve_metrics
from panmatch.scoring.settings import Penalty, settings_for


def measure(
    matching: Matching,
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    metrics: Metrics = ("iou", "dice"),
    spacing: npt.ArrayLike | None = None,
    *,
    void: int | npt.ArrayLike | Void | None = None,
    regions: Regions | None = None,
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
    regions
        Regions that predictions were cut by, if they are known already; by default those of
        `count_region_overlaps` for the same spacing.
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
    measurer = Measurer(
        reference,
        prediction,
        metrics,
        spacing,
        void=void,
        regions=regions,
        tolerance_mm=tolerance_mm,
        boundary_width_mm=boundary_width_mm,
        penalty_mm=penalty_mm,
        threads=threads,
    )
    return measurer.measure(matching)


def measure_whole(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    metrics: Metrics = ("iou", "dice"),
    spacing: npt.ArrayLike | None = None,
    *,
    void: int | npt.ArrayLike | Void | None = None,
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
    ref, pred = Void.of(reference, prediction, void).clear(reference, prediction)
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
    objects, chosen = Comparison(rows, *masks, settings, threads), resolve_metrics(metrics)
    return Measurements(describe(objects, chosen), chosen, tally, settings)
