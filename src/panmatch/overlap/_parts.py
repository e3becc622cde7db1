"""Voxels of the parts of segments: what part quality is made of (D9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, OptionError, OverlapError
from panmatch.labels import UNKNOWN_PART, Floats, Ints, Mask
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
        The same for predictions; a void part there is not a false positive, but a miss.
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

        Parameters
        ----------
        ref
            Position of a reference per row.
        sums
            Sums of `per_edge` over its matched predictions.
        """
        return _iou(*self._part_areas(ref, sums))

    def label_areas(self, ref: Ints, sums: Floats) -> tuple[Floats, Floats]:
        """Return intersection and union per label, with a last column for background if it counts.

        Parameters
        ----------
        ref, sums
            As for `part_iou`.
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

        Parameters
        ----------
        ref, sums
            As for `part_iou`.
        iou
            Of the parents: what is returned where no label occurs at all.
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
        """Return everything as named arrays; `from_columns` is the way back."""
        plain = {
            f"part_{field.name}": getattr(self, field.name)
            for field in fields(self)
            if field.name not in ("voxels", "background")
        }
        scalars = [self.voxels, BACKGROUNDS.index(self.background)]
        return {**plain, "part_image": np.array(scalars, np.int64)}

    @classmethod
    def from_columns(cls, columns: Mapping[str, npt.ArrayLike]) -> Parts | None:
        """Build parts from the arrays that `columns` gives; None if there are none."""
        if "part_image" not in columns:
            return None
        names = [f.name for f in fields(cls) if f.name not in ("voxels", "background")]
        missing = [f"part_{name}" for name in names if f"part_{name}" not in columns]
        if missing:
            raise OverlapError(f"an overlap with parts needs the columns {missing} as well.")
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


def add_parts(
    both: tuple[Parts | None, Parts | None],
    places: tuple[Ints, Ints, Ints],
    sizes: tuple[int, int, int],
) -> Parts | None:
    """Return the parts of a sum of two overlaps.

    Parameters
    ----------
    places
        Of every reference, prediction and edge of the first and then the second, in the sum.
    sizes
        Number of references, predictions and edges of the sum.
    """
    first, second = both
    if first is None or second is None:
        return None
    if first.background != second.background or not np.array_equal(first.labels, second.labels):
        raise OverlapError(
            f"overlaps add only if their parts are alike: one has the labels "
            f"{first.labels.tolist()} with background={first.background!r}, the other "
            f"{second.labels.tolist()} with background={second.background!r}."
        )
    groups = (("ref", "ref_unknown"), ("pred", "pred_unknown"))
    edge_names = ("hits", "lost", "lost_unknown", "both")
    sums: dict[str, Any] = {}
    for names, place, n in zip((*groups, edge_names), places, sizes, strict=True):
        for name in names:
            sums[name] = scatter_rows(
                place, np.concatenate([getattr(first, name), getattr(second, name)]), n
            )
    return replace(first, **sums, voxels=first.voxels + second.voxels)


def scatter_rows(places: Ints, values: Ints, n: int) -> Ints:
    """Return n rows, each the sum of the values with that place."""
    rows = np.zeros((n, *values.shape[1:]), np.int64)
    np.add.at(rows, places, values)
    return rows


def merge_parts(parts: Parts, pred_at: Ints, edge_at: Ints, sizes: Sequence[int]) -> Parts:
    """Return the parts where predictions were joined; place −1 leaves one out.

    Parameters
    ----------
    pred_at, edge_at
        New place of every prediction and edge.
    sizes
        Number of predictions and edges after that.
    """
    kept = pred_at >= 0
    changed: dict[str, Any] = {
        name: scatter_rows(pred_at[kept], getattr(parts, name)[kept], sizes[0])
        for name in ("pred", "pred_unknown")
    }
    changed |= {
        name: scatter_rows(edge_at, getattr(parts, name), sizes[1])
        for name in ("hits", "lost", "lost_unknown", "both")
    }
    return replace(parts, **changed)


@dataclass(frozen=True, slots=True, eq=False)
class PartRows:
    """Counted combinations of labels of one class, one row each.

    Attributes
    ----------
    ref, pred, edge
        Position of its reference, prediction and edge; −1 for none.
    ref_part, pred_part
        Part label on either side: 0 for none, −1 for void.
    counts
        Number of voxels, 0 for those in void.
    """

    ref: Ints
    pred: Ints
    edge: Ints
    ref_part: Ints
    pred_part: Ints
    counts: Ints


def count_parts(
    rows: PartRows, sizes: tuple[int, int, int], labels: Ints, background: Background
) -> Parts:
    """Add up counted combinations by part; `voxels` are those of the rows.

    Parameters
    ----------
    sizes
        Number of references, predictions and edges.
    labels
        Part labels, rising.
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
    foreign = (part > 0) & ~np.isin(part, labels)
    if foreign.any():
        label = int(part[foreign][0])
        voxels = int(counts[part == label].sum())
        raise LabelError(
            f"{name} holds part {label} ({voxels} voxels), which is not among the parts of its "
            f"class: {labels.tolist()}. Add it to the parts, or set such voxels to 0."
        )


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
    return np.where(known, labels, UNKNOWN_PART)


def check_inside(part: Ints, inside: Mask, counts: Ints, side: str) -> None:
    """Raise a `LabelError` if a part lies outside the segments of its side."""
    stray = (part > 0) & ~inside
    if stray.any():
        label = int(part[stray][0])
        voxels = int(counts[stray & (part == label)].sum())
        raise LabelError(
            f"{side}_parts holds part {label} on {voxels} voxels that belong to no {side} "
            f"segment: parts lie inside their parents. Set such voxels to 0, or pass "
            f"{side}=None to make parents of the parts."
        )


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
