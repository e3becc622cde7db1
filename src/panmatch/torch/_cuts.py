"""Confidences of predictions in a batch, and scores over the confidence cut (D17)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from panmatch.errors import OptionError, PanmatchError, ShapeError, check_choice
from panmatch.labels import SegmentClass, SegmentImages, confidences_from_image
from panmatch.matching import Tallies
from panmatch.overlap import ClassOverlaps, Floats, Ints, Overlap, check_cut
from panmatch.scoring import CutCurve, Interpolation
from panmatch.torch._labelling import Labelling, key_of

# For each image the confidence of every predicted id, or an image of probabilities for all.
Confidence: TypeAlias = "Tensor | Sequence[Mapping[int, float] | Tensor]"
OfImage: TypeAlias = "npt.NDArray[np.generic] | Mapping[int, float] | list[float]"

KEYS = 2  # columns that say where a change belongs: position, bits of the confidence
COUNTS = 6  # columns of a tally
CHANGE = KEYS + COUNTS


@dataclass(frozen=True, slots=True)
class CutOptions:
    """How confidences are used; see `PanopticMatching`."""

    cut: float | None
    interpolation: Interpolation

    @classmethod
    def of(
        cls, confidence: bool, cut: float | None, interpolation: Interpolation
    ) -> CutOptions | None:
        """Check the options of a metric and return what they mean; None without confidences."""
        check_choice("interpolation", interpolation, get_args(Interpolation))
        if cut is not None and not confidence:
            raise OptionError(
                f"cut={cut!r} needs confidences: create the metric with confidence=True."
            )
        return cls(None if cut is None else check_cut(cut), interpolation) if confidence else None

    def above(self, overlap: Overlap) -> Overlap:
        """Return what the cut leaves of an overlap."""
        return overlap if self.cut is None else overlap.above_cut(self.cut)


def check_given(cuts: CutOptions | None, confidence: Confidence | None) -> None:
    """Raise an `OptionError` if confidences are missing, or of no use."""
    if cuts is not None and confidence is None:
        raise OptionError(
            "confidence is missing: the metric was created with confidence=True, so every update "
            "needs it."
        )
    if cuts is None and confidence is not None:
        raise OptionError(
            "confidence has no effect on this metric: create it with confidence=True."
        )


def rated_images(
    labelling: Labelling, images: Iterable[ClassOverlaps], preds: Tensor, confidence: Confidence
) -> Iterator[dict[int, Overlap]]:
    """Yield the overlaps of every image of a batch with confidences, by class id."""
    given = _by_image(labelling, preds, confidence)
    for position, (overlaps, pred, one) in enumerate(zip(images, preds, given, strict=True)):
        try:
            yield _rated(labelling, overlaps, pred, one)
        except PanmatchError as error:
            error.add_note(f"This happened in image {position} of the batch.")
            raise


def _by_image(labelling: Labelling, preds: Tensor, confidence: Confidence) -> Iterator[OfImage]:
    """Yield what is given for every image: probabilities as an array, or confidences."""
    if isinstance(confidence, Tensor):
        _check_probabilities(confidence, preds.shape[:-1] if labelling.holds_pairs else preds.shape)
        yield from confidence.detach().double().cpu().numpy()
        return
    if len(confidence) != len(preds):
        raise ShapeError(
            f"confidence has {len(confidence)} entries, but the batch has {len(preds)} images."
        )
    if not labelling.holds_plain_ids:
        raise OptionError(
            "confidence must be a tensor of probabilities where objects have classes or are "
            "connected components: their ids are not known beforehand."
        )
    yield from (one.double().tolist() if isinstance(one, Tensor) else one for one in confidence)


def _check_probabilities(confidence: Tensor, grid: torch.Size) -> None:
    if confidence.shape != grid or not confidence.is_floating_point():
        raise ShapeError(
            f"confidence is a tensor of shape {tuple(confidence.shape)} and dtype "
            f"{confidence.dtype}, but must hold probabilities: floating-point numbers of shape "
            f"{tuple(grid)}. Or pass a list with a mapping from id to number for every image."
        )


def _rated(
    labelling: Labelling, overlaps: ClassOverlaps, pred: Tensor, given: OfImage
) -> dict[int, Overlap]:
    if not isinstance(given, np.ndarray):
        kind = labelling.kinds[0].id
        return {kind: overlaps[kind].with_confidence(given)}
    return {
        kind.id: overlaps[kind.id].with_confidence(confidences_from_image(segments, given))
        for kind, segments in zip(labelling.kinds, _segments(labelling, pred), strict=True)
    }


def _segments(labelling: Labelling, pred: Tensor) -> Iterator[npt.NDArray[np.generic]]:
    """Yield the ids of the predicted segments of every class; 0 elsewhere."""
    image = pred.cpu().numpy()
    if labelling.holds_plain_ids:
        yield image
        return
    side = SegmentImages(labelling.read(image, "preds"), crowd=True)
    yield from (np.asarray(side.of_class(place)) for place in range(len(labelling.kinds)))


def change_rows(position: int, curve: CutCurve) -> Ints:
    """Return what changes at every confidence of a curve; shape (n, CHANGE).

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 2], [4, 4, 5]).with_confidence([0.5, 0.25])
    >>> change_rows(7, pm.surface(ov).over_cuts(0.5))[:, [0, 2, 3, 4]].tolist()
    [[7, 0, 0, 2], [7, 1, 0, -1], [7, 1, 0, -1]]
    """
    changes = np.diff(curve.tallies.counts, axis=0, prepend=0)
    bits = (curve.cuts + 0.0).view(np.int64)  # 0.0 and −0.0 are the same confidence
    return np.column_stack([np.full(len(bits), position), bits, changes])


def no_changes() -> Ints:
    """Return a table of changes without rows."""
    return np.zeros((0, CHANGE), np.int64)


def to_cut_curve(rows: Ints, position: int, n_images: int) -> CutCurve:
    """Return the curve of the changes at a position."""
    ours = rows[rows[:, 0] == position]
    cuts = np.ascontiguousarray(ours[:, 1]).view(np.float64)
    order = np.argsort(-cuts, kind="stable")
    if not len(ours):
        return CutCurve(np.array([np.inf]), Tallies(np.zeros((1, COUNTS), np.int64)), n_images)
    return CutCurve(cuts[order], Tallies(ours[order, KEYS:]).cumulative(), n_images)


def name_cuts(
    curves: Mapping[int, CutCurve],
    kinds: Sequence[SegmentClass],
    interpolation: Interpolation,
    suffix: str = "",
    *,
    per_class: bool = False,
) -> Iterator[tuple[str, float]]:
    """Yield the names and values of scores over the cut, at one threshold."""
    for group, members in _groups(kinds).items():
        ours = [curves[kind.id] for kind in members]
        precisions = [curve.average_precision(interpolation) for curve in ours]
        yield f"average_precision{group}{suffix}", _mean_of_known(np.array(precisions))
        cut, pq = best_common_cut(ours)
        yield f"best_cut{group}{suffix}", cut
        yield f"best_pq{group}{suffix}", pq
    for kind in kinds if per_class else ():
        curve, key = curves[kind.id], key_of(kind)
        yield f"average_precision{suffix}/{key}", curve.average_precision(interpolation)
        cut, pq = best_common_cut([curve])
        yield f"best_cut{suffix}/{key}", cut
        yield f"best_pq{suffix}/{key}", pq


def best_common_cut(curves: Sequence[CutCurve]) -> tuple[float, float]:
    """Return the highest cut at which the mean PQ of several classes is highest, and that mean.

    A class without any object at a cut does not count there; NaN if none ever has one (D11).

    Examples
    --------
    >>> import panmatch as pm
    >>> ov = pm.count_overlaps([1, 1, 2], [4, 4, 0]).with_confidence([0.5])
    >>> sure = pm.count_overlaps([1, 0, 0], [4, 0, 5]).with_confidence([0.75, 0.25])
    >>> best_common_cut([pm.surface(one).over_cuts(0.5) for one in (ov, sure)])
    (0.5, 0.8333333333333333)
    """
    cuts = np.unique(np.concatenate([curve.cuts for curve in curves]))[::-1]
    table = np.array([_pq_at(curve, cuts) for curve in curves])
    known = ~np.isnan(table)
    n = known.sum(axis=0)
    means = np.where(n > 0, np.where(known, table, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)
    if np.isnan(means).all():
        return math.nan, math.nan
    at = int(np.nanargmax(means))
    return float(cuts[at]), float(means[at])


def _pq_at(curve: CutCurve, cuts: Floats) -> Floats:
    rows = np.searchsorted(-curve.cuts, -cuts, side="right") - 1
    values: Floats = curve.pq[rows]
    return values


def _groups(kinds: Sequence[SegmentClass]) -> dict[str, list[SegmentClass]]:
    """Return all classes; things and stuff apart where there are both (D10)."""
    found = {"": list(kinds)}
    if len({kind.thing for kind in kinds}) > 1:
        found["_things"] = [kind for kind in kinds if kind.thing]
        found["_stuff"] = [kind for kind in kinds if not kind.thing]
    return found


def _mean_of_known(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return math.fsum(known.tolist()) / len(known) if len(known) else math.nan
