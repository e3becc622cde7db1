"""Voxel counts of the parts of segments: everything that part quality needs (D9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, OverlapError
from panmatch.labels import UNKNOWN_PART, Floats, Ints, Mask, refuse_labels
from panmatch.overlap._columns import Areas

Background = Literal["image", "none"]
BACKGROUNDS: tuple[Background, ...] = ("image", "none")


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Counts per part label, for every reference, prediction and edge; all outside void.

    Attributes
    ----------
    labels
        Part labels of the class, rising, shape (L,).
    ref
        Voxels of each part on each reference, shape (references, L).
    ref_unknown
        Voxels of each reference whose part is void; they are left out of every part's IoU.
    pred, pred_unknown
        The same for predictions; a void part there counts as a miss, not as a false positive.
    hits
        Voxels of each edge on which both sides have the part, shape (edges, L).
    lost
        Voxels of the prediction's parts where the part of the edge's reference is void.
    lost_unknown
        Voxels of each edge where both parts are void.
    both
        Voxels of each edge where the reference has a part and the prediction has one, or void.
    voxels
        Voxels of the image.
    background
        ``"image"``: everything outside all parts is one more label (the published definition).
        ``"none"``: only parts count.
    """

    labels: Ints
    ref: Ints
    ref_unknown: Ints
    pred: Ints
    pred_unknown: Ints
    hits: Ints
    lost: Ints
    lost_unknown: Ints
    both: Ints
    voxels: int
    background: Background

    def of_edges(self, keep: Mask | Ints) -> Parts:
        """Return the parts with only some of the edges."""
        return replace(
            self,
            hits=self.hits[keep],
            lost=self.lost[keep],
            lost_unknown=self.lost_unknown[keep],
            both=self.both[keep],
        )

    def per_edge(self, edge_pred: Ints) -> Floats:
        """Return what adds up over the predictions of a reference, one row per edge."""
        return np.column_stack(
            [
                self.hits,
                self.pred[edge_pred] - self.lost,
                self.pred_unknown[edge_pred] - self.lost_unknown,
                self.both,
            ]
        ).astype(np.float64)

    def part_iou(self, ref: Ints, sums: Floats) -> Floats:
        """Return IoU per label, NaN where it occurs on neither side.

        `ref` has the position of a reference per row, `sums` the sums of `per_edge` over its
        matched predictions.
        """
        return _iou(*self._part_areas(ref, sums))

    def label_areas(self, ref: Ints, sums: Floats) -> tuple[Floats, Floats]:
        """Return intersection and union per label, with a last column for background if it counts.

        Parameters are those of `part_iou`.
        """
        hits, union = self._part_areas(ref, sums)
        if self.background == "none":
            return hits, union
        background_hits, background_union = self._background_areas(ref, sums)
        return (
            np.column_stack([hits, background_hits]),
            np.column_stack([union, background_union]),
        )

    def quality(self, ref: Ints, sums: Floats, iou: Floats) -> Floats:
        """Return the mean IoU over the labels that occur, background included if asked for.

        Where no label occurs at all, that is the `iou` of the parents.
        """
        labels = _iou(*self.label_areas(ref, sums))
        occurs = ~np.isnan(labels)
        count = occurs.sum(1)
        total = np.where(occurs, labels, 0.0).sum(1)
        return np.where(count > 0, total / np.maximum(count, 1), iou)

    def _part_areas(self, ref: Ints, sums: Floats) -> tuple[Floats, Floats]:
        n = len(self.labels)
        hits, covered = sums[:, :n], sums[:, n : 2 * n]
        return hits, self.ref[ref] + covered - hits

    def _background_areas(self, ref: Ints, sums: Floats) -> tuple[Floats, Floats]:
        n = len(self.labels)
        image = self.voxels - self.ref_unknown[ref]
        ref_parts = self.ref[ref].sum(1)
        pred_parts, unknown, both = sums[:, n : 2 * n].sum(1), sums[:, 2 * n], sums[:, 2 * n + 1]
        hits = image - ref_parts - pred_parts - unknown + both
        return hits, (image - ref_parts) + (image - pred_parts - unknown) - hits

    def columns(self) -> dict[str, Areas]:
        """Return everything as named arrays; `from_columns` turns them back into parts."""
        plain = {
            f"part_{field.name}": getattr(self, field.name)
            for field in fields(self)
            if field.name not in ("voxels", "background")
        }
        scalars = [self.voxels, BACKGROUNDS.index(self.background)]
        return {**plain, "part_image": np.array(scalars, np.int64)}

    @classmethod
    def from_columns(cls, columns: Mapping[str, npt.ArrayLike]) -> Parts | None:
        """Build parts from the arrays that `columns` returns; None if there are none."""
        if "part_image" not in columns:
            return None
        names = [f.name for f in fields(cls) if f.name not in ("voxels", "background")]
        missing = [f"part_{name}" for name in names if f"part_{name}" not in columns]
        if missing:
            raise OverlapError(
                f"the columns {missing}, which an overlap with parts needs, are missing."
            )
        counts = {name: np.asarray(columns[f"part_{name}"], np.int64) for name in names}
        voxels, background = np.asarray(columns["part_image"]).tolist()
        width = len(counts["labels"])
        for name in ("ref", "pred", "hits", "lost"):
            counts[name] = counts[name].reshape(-1, width)
        return cls(**counts, voxels=int(voxels), background=BACKGROUNDS[int(background)])


def _iou(hits: Floats, union: Floats) -> Floats:
    """Divide; NaN where the union is empty."""
    iou: Floats = np.divide(hits, union, out=np.full(hits.shape, np.nan), where=union > 0)
    return iou


def check_same_labels(first: Parts, second: Parts) -> None:
    """Raise an `OverlapError` unless the parts of two overlaps can be added."""
    if first.background != second.background or not np.array_equal(first.labels, second.labels):
        raise OverlapError(
            f"overlaps can only be added if their parts agree: one has the labels "
            f"{first.labels.tolist()} with background={first.background!r}, the other "
            f"{second.labels.tolist()} with background={second.background!r}."
        )


def scatter_rows(places: Ints, values: Ints, n: int) -> Ints:
    """Return n rows, each the sum of the values with that place."""
    rows = np.zeros((n, *values.shape[1:]), np.int64)
    np.add.at(rows, places, values)
    return rows


def merge_parts(
    given: Sequence[Parts], places: tuple[Ints, Ints, Ints], sizes: tuple[int, int, int]
) -> Parts:
    """Return the parts of one or more overlaps whose segments and edges were joined.

    `places` are the new positions of all references, predictions and edges, −1 for those that are
    left out; `sizes` says how many of each there are afterwards.
    """
    refs, preds, edges = zip(places, sizes, strict=True)

    def total(column: str, place: Ints, n: int) -> Ints:
        values = np.concatenate([getattr(parts, column) for parts in given])
        return scatter_rows(place[place >= 0], values[place >= 0], n)

    return replace(
        given[0],
        ref=total("ref", *refs),
        ref_unknown=total("ref_unknown", *refs),
        pred=total("pred", *preds),
        pred_unknown=total("pred_unknown", *preds),
        hits=total("hits", *edges),
        lost=total("lost", *edges),
        lost_unknown=total("lost_unknown", *edges),
        both=total("both", *edges),
        voxels=sum(parts.voxels for parts in given),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PartRows:
    """Counted combinations of labels of one class, one row each."""

    ref: Ints  # position of its reference; −1 for none
    pred: Ints
    edge: Ints
    ref_part: Ints  # part label: 0 for none, −1 for void
    pred_part: Ints
    counts: Ints  # number of voxels, 0 for those in void


def count_parts(
    rows: PartRows, sizes: tuple[int, int, int], labels: Ints, background: Background
) -> Parts:
    """Add up counted combinations by part; `voxels` are those of the rows.

    `sizes` are the numbers of references, predictions and edges; `labels` rise.
    """
    n, counts = len(labels), rows.counts
    ref_at, pred_at = _label_place(labels, rows.ref_part), _label_place(labels, rows.pred_part)
    on_ref, on_pred, on_edge = rows.ref >= 0, rows.pred >= 0, rows.edge >= 0
    unknown_ref, unknown_pred = rows.ref_part == UNKNOWN_PART, rows.pred_part == UNKNOWN_PART
    some_ref, some_pred = ref_at >= 0, pred_at >= 0

    def by_label(chosen: Mask, place: Ints, label: Ints, size: int) -> Ints:
        sums = scatter_rows(place[chosen] * n + label[chosen], counts[chosen], size * n)
        return sums.reshape(size, n)

    def plain(chosen: Mask, place: Ints, size: int) -> Ints:
        return scatter_rows(place[chosen], counts[chosen], size)

    return Parts(
        labels=labels,
        ref=by_label(on_ref & some_ref, rows.ref, ref_at, sizes[0]),
        ref_unknown=plain(on_ref & unknown_ref, rows.ref, sizes[0]),
        pred=by_label(on_pred & some_pred, rows.pred, pred_at, sizes[1]),
        pred_unknown=plain(on_pred & unknown_pred, rows.pred, sizes[1]),
        hits=by_label(on_edge & some_ref & (ref_at == pred_at), rows.edge, ref_at, sizes[2]),
        lost=by_label(on_edge & unknown_ref & some_pred, rows.edge, pred_at, sizes[2]),
        lost_unknown=plain(on_edge & unknown_ref & unknown_pred, rows.edge, sizes[2]),
        both=plain(on_edge & some_ref & (some_pred | unknown_pred), rows.edge, sizes[2]),
        voxels=int(counts.sum()),
        background=background,
    )


def check_part_labels(part: Ints, counts: Ints, labels: Ints, name: str) -> None:
    """Raise a `LabelError` if a part is not among the labels of its class."""
    message = (
        "{name} holds part{s} {listed}, which {are} not among the parts of its class: {known}. If "
        "they are parts of it, add them to its `parts`; if not, write `not_parts: {numbers}` in "
        "the spec, or set such voxels to 0."
    )
    foreign = (part > 0) & ~np.isin(part, labels)
    refuse_labels(part, counts, foreign, message, name=name, known=labels.tolist())


def mark_unknown(labels: Ints, counts: Ints, void_part: int | None, name: str) -> Ints:
    """Return part labels with −1 for void; any other negative one is an error."""
    known = np.ones(len(labels), np.bool_) if void_part is None else labels != void_part
    message = (
        "{name} holds the negative part{s} {listed}: parts are 0 (none) or positive labels. If "
        "they mark unknown parts, pass void_part={label}; if they are not parts, set them to 0."
    )
    refuse_labels(labels, counts, known & (labels < 0), message, name=name)
    return np.where(known, labels, UNKNOWN_PART)


def check_inside(part: Ints, inside: Mask, counts: Ints, side: str) -> None:
    """Raise a `LabelError` if a part lies outside the segments of its side."""
    message = (
        "{side}_parts holds part{s} {listed} where there is no {side} segment, but parts must lie "
        "inside an object. Set such voxels to 0, or pass {side}=None to use the connected "
        "components of the parts as objects."
    )
    refuse_labels(part, counts, (part > 0) & ~inside, message, side=side)


def part_labels(parts: Sequence[int] | None, ref_part: Ints, pred_part: Ints) -> Ints:
    """Return the part labels of a class, rising: those given, or all that occur."""
    if parts is None:
        every = np.concatenate([ref_part, pred_part])
        return np.unique(every[every > 0])
    labels = np.unique(np.asarray(list(parts), dtype=np.int64)) if len(parts) else np.zeros(0, int)
    if len(labels) != len(parts) or (labels < 1).any():
        raise OptionError(f"parts={list(parts)!r} must be distinct labels of at least 1.")
    return labels


def _label_place(labels: Ints, part: Ints) -> Ints:
    """Return the position of every part label, −1 for none or void."""
    place = np.minimum(np.searchsorted(labels, part), len(labels) - 1)
    return np.where(labels[place] == part, place, -1)
