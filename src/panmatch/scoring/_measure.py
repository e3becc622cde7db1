"""How good each object is, in voxels and in physical units."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, OverlapError
from panmatch.labels import (
    ChunkedLabels,
    Geometry,
    LabelArray,
    Regions,
    Void,
    Volume,
    as_labels,
    as_mask,
    find_regions,
    is_on_device,
    segment_geometry,
)
from panmatch.matching import Matching, Tally
from panmatch.overlap import Overlap, count_overlaps
from panmatch.scoring._measurements import (
    Columns,
    Measurements,
    ObjectTable,
    TableRows,
)
from panmatch.scoring._metrics import Metric, resolve_metrics
from panmatch.scoring._objects import ComparedObjects, MeasureKeywords, measure_options
from panmatch.scoring._rows import ObjectRows, PieceImage, cut_out, rows_of

Metrics = str | Metric | Iterable[str | Metric]


def measure(
    matching: Matching,
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    metrics: Metrics = ("iou", "dice"),
    spacing: npt.ArrayLike | None = None,
    *,
    void: int | npt.ArrayLike | Void | None = None,
    regions: Regions | None = None,
    threads: int | None = None,
    **options: Unpack[MeasureKeywords],
) -> Measurements:
    """Measure every matched, missed and false object.

    A matched reference is compared with the union of its predictions. See
    ``docs/reference/metrics.md`` for all metrics and the conventions they follow.

    Parameters
    ----------
    matching
        From `match`.
    reference, prediction
        The label images that were counted. Other images are an error.
    metrics
        Names, such as ``"dice"`` or ``"hd95"``, or `Metric` objects.
    spacing
        Distance between voxels along each axis; voxel units by default.
    void
        The same as for `count_overlaps`; such voxels are left out on both sides.
    regions
        Regions that predictions were cut by, if they are known already; by default those of
        `count_region_overlaps` for the same spacing.
    unit
        Unit of the spacing, and so of every distance: ``"mm"``, ``"µm"`` or ``"voxel"``. By
        default ``"mm"`` with a spacing and ``"voxel"`` without.
    tolerance
        How far a boundary may be off for ``"nsd"``.
    boundary_width
        Width of the bands of ``"boundary_iou"``; by default 2 % of the image diagonal,
        and at least one voxel.
    penalty
        Distance of an object without a partner: None for NaN, a number, or ``"diagonal"`` for the
        length of the image diagonal.
    threads
        Number of threads; by default as many as pay off. The result does not depend on it.

    Returns
    -------
    Measurements
        ``.columns["dice"]`` is an array: one row per reference, then one per false positive.

    Examples
    --------
    >>> import numpy as np
    >>> import panmatch as pm
    >>> reference = np.array([[1, 1, 1, 0, 2, 2], [1, 1, 1, 0, 2, 2]])
    >>> prediction = np.array([[0, 5, 5, 5, 0, 0], [0, 5, 5, 5, 0, 0]])
    >>> matching = pm.match(pm.count_overlaps(reference, prediction), threshold=0.4)
    >>> found = pm.measure(matching, reference, prediction, ("dice", "hd"), spacing=(1, 0.5))
    >>> found.columns["dice"], found.columns["hd"]
    (array([0.66666667, 0.        ]), array([0.5, nan]))
    >>> found.reasons("hd").tolist()
    ['', 'missed: no prediction to compare with']
    """
    measurer = Measurer(
        reference, prediction, metrics, spacing, void=void, regions=regions, threads=threads,
        **options,
    )  # fmt: skip
    return measurer.measure(matching)


class Measurer:
    """Measures matchings of two images.

    Strategies and thresholds mostly agree on which objects belong together, so a pair measured for
    one matching is not measured again for the next. Parameters are those of `measure`.

    Examples
    --------
    >>> from panmatch.matching import match
    >>> from panmatch.overlap import count_overlaps
    >>> reference, prediction = np.array([1, 1, 1, 0, 2]), np.array([5, 5, 0, 0, 6])
    >>> measurer, ov = Measurer(reference, prediction, "hd"), count_overlaps(reference, prediction)
    >>> [measurer.measure(match(ov, threshold=tau)).columns["hd"].tolist() for tau in (0.5, 0.8)]
    [[1.0, 0.0], [nan, 0.0, nan]]
    """

    def __init__(
        self,
        reference: npt.ArrayLike,
        prediction: npt.ArrayLike,
        metrics: Metrics = ("iou", "dice"),
        spacing: npt.ArrayLike | None = None,
        *,
        void: int | npt.ArrayLike | Void | None = None,
        regions: Regions | None = None,
        threads: int | None = None,
        **options: Unpack[MeasureKeywords],
    ) -> None:
        unknown = Void.of(reference, prediction, void)
        ref, pred = unknown.clear(reference, prediction)
        self._metrics, self._threads = resolve_metrics(metrics), threads
        whole = bool(need_voxels(self._metrics)) or ref.ndim == 0
        self._images = _loaded(ref, "reference", whole), _loaded(pred, "prediction", whole)
        self._options = measure_options(self._images[0].shape, spacing, **options)
        self._has_void, self._regions = bool(unknown), regions
        self._pieces: tuple[PieceImage, Geometry] | None = None
        self._table = ObjectTable()
        self._at: dict[tuple[int, str, float, float, float], int] = {}

    def measure(self, matching: Matching) -> Measurements:
        """Measure every matched, missed and false object."""
        pieces = None
        if matching.overlap.pieces is not None:
            if self._pieces is None:
                self._pieces = self._cut_out(matching.overlap)
            pieces = self._pieces
        columns = self._looked_up(matching, pieces)
        return Measurements(columns, self._metrics, matching.tally, self._options)

    def _looked_up(
        self, matching: Matching, pieces: tuple[PieceImage, Geometry] | None
    ) -> TableRows:
        """Return the rows of a matching, measuring those that no earlier matching had.

        A piece of a prediction with as many voxels as the prediction is the prediction.
        """
        rows = self._rows(matching, pieces)
        sizes = (rows.ref_voxels.tolist(), rows.pred_voxels.tolist(), rows.shared.tolist())
        keys = list(zip(rows.ref_ids.tolist(), rows.names, *sizes, strict=True))
        new = [row for row, key in enumerate(keys) if key not in self._at]
        if new or not self._table.columns:
            objects = self._compared(rows.take(np.array(new, np.int64)), pieces)
            self._table.append(self._described(objects, matching))
            self._at |= {keys[row]: len(self._at) + i for i, row in enumerate(new)}
        return TableRows(self._table, np.array([self._at[key] for key in keys], np.int64))

    def _rows(self, matching: Matching, pieces: tuple[PieceImage, Geometry] | None) -> ObjectRows:
        return rows_of(matching, None if pieces is None else pieces[0])

    def _compared(
        self, rows: ObjectRows, pieces: tuple[PieceImage, Geometry] | None
    ) -> ComparedObjects:
        (reference, prediction), segments = self._images, self._segments
        if pieces is not None:
            prediction, segments = pieces[0].image, (segments[0], pieces[1])
        return ComparedObjects(rows, reference, prediction, self._options, self._threads, segments)

    def _described(self, objects: ComparedObjects, matching: Matching) -> Columns:
        _check_images(objects, matching, self._has_void)
        return _describe(objects, self._metrics)

    def _cut_out(self, overlap: Overlap) -> tuple[PieceImage, Geometry]:
        """Return the pieces that the regions of the references cut predictions into, and where."""
        ref, pred = self._images
        regions = self._regions
        if regions is None:
            regions = find_regions(ref, pred, self._options.spacing, threads=self._threads)
        image = _loaded(regions.image, "regions", regions.image.ndim == 0)
        pieces = cut_out(overlap, pred, image, self._threads)
        return pieces, segment_geometry(pieces.image, threads=self._threads)

    @cached_property
    def _segments(self) -> tuple[Geometry, Geometry]:
        ref, pred = self._images
        return (
            segment_geometry(ref, threads=self._threads),
            segment_geometry(pred, threads=self._threads),
        )


def measure_whole(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    metrics: Metrics = ("iou", "dice"),
    spacing: npt.ArrayLike | None = None,
    *,
    void: int | npt.ArrayLike | Void | None = None,
    threads: int | None = None,
    **options: Unpack[MeasureKeywords],
) -> Measurements:
    """Measure all objects of a class as one: everything that is not background.

    Parameters
    ----------
    reference, prediction
        Masks, or label images, in which all labels count as one.
    metrics, spacing, void, threads, options
        As for `measure`.

    Returns
    -------
    Measurements
        With a single row. If one side is empty its status is ``"missed"`` or
        ``"false positive"``, if both are, ``"empty"``, and every value is NaN.

    Examples
    --------
    >>> import panmatch as pm
    >>> found = pm.measure_whole([[1, 1, 0, 2]], [[3, 0, 0, 3]], ("dice", "assd"), spacing=(1, 2))
    >>> found.columns["dice"], found.columns["assd"]
    (array([0.8]), array([0.4]))
    """
    ref, pred = Void.of(reference, prediction, void).clear(reference, prediction)
    masks = (
        _with_an_axis(as_mask(ref, "reference", threads=threads)).view(np.uint8),
        _with_an_axis(as_mask(pred, "prediction", threads=threads)).view(np.uint8),
    )
    checked = measure_options(masks[0].shape, spacing, **options)
    overlap = count_overlaps(*masks, threads=threads)
    sizes = [float(s.sum()) for s in (overlap.ref_sizes, overlap.pred_sizes)]
    shared = float(overlap.edges.intersection.sum())
    ones = np.ones(1, np.int64)
    rows = ObjectRows(
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
    objects, chosen = ComparedObjects(rows, *masks, checked, threads), resolve_metrics(metrics)
    columns = TableRows.all_of(_describe(objects, chosen))
    return Measurements(columns, chosen, tally, checked)


def need_voxels(metrics: Iterable[Metric]) -> list[str]:
    """Return the metrics that need voxels, not just counts, centres and boxes."""
    return [metric.name for metric in metrics if metric.needs not in ("overlap", "geometry")]


def _loaded(image: Volume, name: str, whole: bool) -> Volume:
    """Return an image with at least one axis, in memory if it is needed as a whole."""
    if isinstance(image, ChunkedLabels) and not whole:
        return image
    labels: LabelArray = _with_an_axis(image if is_on_device(image) else as_labels(image, name))
    return labels


def _with_an_axis(image: Any) -> Any:
    """Return an array with at least one axis, wherever it is."""
    return image if image.ndim else image.reshape(1)


def _check_images(objects: ComparedObjects, matching: Matching, has_void: bool) -> None:
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
    name: str, row: int, geometry: Geometry, rows: ObjectRows, matching: Matching, has_void: bool
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


def _describe(objects: ComparedObjects, metrics: tuple[Metric, ...]) -> Columns:
    """Return all columns: ids, sizes, positions, and the metrics."""
    columns = _description(objects)
    clash = [metric.name for metric in metrics if metric.name in columns]
    if clash:
        raise OptionError(
            f"metrics: {clash[0]!r} is the name of a built-in column. Give your metric another "
            f"name."
        )
    empty = (objects.ref_voxels == 0) & (objects.pred_voxels == 0)
    for metric in metrics:
        columns[metric.name] = np.where(empty, np.nan, metric.values(objects))
    return columns


def _description(objects: ComparedObjects) -> Columns:
    """Return the columns that every table has: ids, sizes and positions."""
    rows = objects.rows
    columns: Columns = {
        "status": _status(objects),
        "ref_id": rows.ref_ids,
        # One that lists thousands must not make room for as many in every row.
        "pred_ids": np.array(rows.names, dtype=np.object_),
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


def _status(objects: ComparedObjects) -> npt.NDArray[np.str_]:
    ref, pred = objects.ref_voxels > 0, objects.pred_voxels > 0
    names = np.array(["empty", "false positive", "missed", "matched"])
    status: npt.NDArray[np.str_] = names[2 * ref + pred]
    return status
