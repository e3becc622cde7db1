"""Matchings of the same two images, with every pair of objects measured once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, OverlapError
from panmatch.labels import (
    ChunkedLabels,
    Geometry,
    Regions,
    Void,
    Volume,
    as_labels,
    find_regions,
    segment_geometry,
)
from panmatch.matching import Matching
from panmatch.overlap import Overlap
from panmatch.scoring.comparison import Comparison, Rows
from panmatch.scoring.matched_rows import PieceImage, cut_out, rows_of
from panmatch.scoring.measurements import Measurements
from panmatch.scoring.metrics import Metric, resolve_metrics
from panmatch.scoring.settings import Penalty, settings_for

Metrics = str | Metric | Iterable[str | Metric]
Columns = dict[str, npt.NDArray[Any]]


class Measurer:
    """Measures matchings of two images.

    Strategies and thresholds mostly agree on who belongs to whom: what was measured for one
    matching is not measured again for the next. Parameters are those of `measure`.

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
        tolerance_mm: float = 1.0,
        boundary_width_mm: float | None = None,
        penalty_mm: Penalty = None,
        threads: int | None = None,
    ) -> None:
        unknown = Void.of(reference, prediction, void)
        ref, pred = unknown.clear(reference, prediction)
        self._metrics, self._threads = resolve_metrics(metrics), threads
        whole = bool(need_voxels(self._metrics)) or ref.ndim == 0
        self._images = _held(ref, "reference", whole), _held(pred, "prediction", whole)
        self._settings = settings_for(
            self._images[0].shape, spacing, tolerance_mm, boundary_width_mm, penalty_mm
        )
        self._has_void, self._regions = bool(unknown), regions
        self._pieces: tuple[PieceImage, Geometry] | None = None
        self._blocks: list[Columns] = []
        self._at: dict[tuple[int, str, float, float, float], int] = {}

    def measure(self, matching: Matching) -> Measurements:
        """Measure every matched, missed and false object."""
        if matching.overlap.pieces is not None:
            columns = self._measured_in_regions(matching)
        else:
            columns = self._looked_up(matching)
        return Measurements(columns, self._metrics, matching.tally, self._settings)

    def _measured_in_regions(self, matching: Matching) -> Columns:
        """Return the columns of a matching whose objects are pieces of its own making."""
        if self._pieces is None:
            self._pieces = self._cut_out(matching.overlap)
        pieces, geometry = self._pieces
        objects = Comparison(
            rows_of(matching, pieces),
            self._images[0],
            pieces.image,
            self._settings,
            self._threads,
            (self._segments[0], geometry),
        )
        return self._described(objects, matching)

    def _looked_up(self, matching: Matching) -> Columns:
        rows = rows_of(matching)
        sizes = (rows.ref_voxels.tolist(), rows.pred_voxels.tolist(), rows.shared.tolist())
        keys = list(zip(rows.ref_ids.tolist(), rows.names, *sizes, strict=True))
        new = [row for row, key in enumerate(keys) if key not in self._at]
        if new or not self._blocks:
            some = rows.take(np.array(new, np.int64))
            objects = Comparison(some, *self._images, self._settings, self._threads, self._segments)
            self._blocks.append(self._described(objects, matching))
            self._at |= {keys[row]: len(self._at) + i for i, row in enumerate(new)}
        at = np.array([self._at[key] for key in keys], np.int64)
        return {
            name: np.concatenate([block[name] for block in self._blocks])[at]
            for name in self._blocks[0]
        }

    def _described(self, objects: Comparison, matching: Matching) -> Columns:
        _check_images(objects, matching, self._has_void)
        return describe(objects, self._metrics)

    def _cut_out(self, overlap: Overlap) -> tuple[PieceImage, Geometry]:
        """Return what the regions of the references cut predictions into, and where it lies."""
        ref, pred = self._images
        regions = self._regions
        if regions is None:
            regions = find_regions(ref, pred, self._settings.spacing, threads=self._threads)
        image = _held(regions.image, "regions", regions.image.ndim == 0)
        pieces = cut_out(overlap, pred, image, self._threads)
        return pieces, segment_geometry(pieces.image, threads=self._threads)

    @cached_property
    def _segments(self) -> tuple[Geometry, Geometry]:
        ref, pred = self._images
        return (
            segment_geometry(ref, threads=self._threads),
            segment_geometry(pred, threads=self._threads),
        )


def need_voxels(metrics: Iterable[Metric]) -> list[str]:
    """Return the metrics that look at voxels, and not only at counts, centres and boxes."""
    return [one.name for one in metrics if one.needs not in ("overlap", "geometry")]


def _held(image: Volume, name: str, whole: bool) -> Volume:
    """Return an image with one axis at least, in memory if it is needed as a whole."""
    if isinstance(image, ChunkedLabels) and not whole:
        return image
    return np.atleast_1d(as_labels(image, name))


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


def describe(objects: Comparison, metrics: tuple[Metric, ...]) -> dict[str, npt.NDArray[Any]]:
    """Return all columns of a comparison: who, how large, where, and the metrics."""
    columns = _description(objects)
    clash = [metric.name for metric in metrics if metric.name in columns]
    if clash:
        raise OptionError(f"metrics: {clash[0]!r} is the name of a column that is always there.")
    for metric in metrics:
        columns[metric.name] = metric.values(objects)
    return columns


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
