"""What became of every pixel of a scene: a small picture, which the page colours (D8, D9).

A picture has two pixels per unit of the canvas and axis. It is sent as runs of equal values.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.labels import LabelArray
from panmatch.playground._matching_rows import MatchingGraph
from panmatch.playground._shapes import MOST_PARTS
from panmatch.playground._spans import SAMPLES, Ints
from panmatch.playground._validation import Message

Mask = npt.NDArray[np.bool_]

PART_BASE = MOST_PARTS + 2  # parts of a side: none, the whole, and nested copies
UNSCORED, RIGHT, WRONG, MISSED, EXTRA = range(5)
MATCHED_PIECE, LEFT_OVER, FALSE_PIECE = 1, 2, 3
FOUND_REFERENCE, MISSED_REFERENCE = 1, 2
CUT = 255  # where a piece of a prediction meets another one
STEP = SAMPLES // 2  # pixels of the raster per pixel of a picture


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Images of a scene in the resolution of pictures.

    Attributes
    ----------
    reference, prediction
        Label images.
    regions
        The id of the reference in whose Voronoi region a pixel is; None where nothing is cut.
    parts
        Parts of the reference and of the prediction; None where they are not drawn.
    """

    reference: LabelArray
    prediction: LabelArray
    regions: LabelArray | None = None
    parts: tuple[LabelArray, LabelArray] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PixelRuns:
    """Runs of pixels on which no image changes: what a picture says is worked out once per run."""

    shape: tuple[int, ...]
    stops: Ints
    reference: Ints
    prediction: Ints
    region: Ints
    parts: tuple[Ints, Ints]
    cut: Mask

    @classmethod
    def of(cls, images: Sampled) -> PixelRuns:
        """Return the runs of all images together."""
        parts = images.parts or (None, None)
        layers = [images.reference, images.prediction, images.regions, *parts]
        cuts = _cuts(images).reshape(-1)
        changes = cuts[1:] != cuts[:-1]
        for layer in layers:
            if layer is not None:
                flat = layer.reshape(-1)
                changes |= flat[1:] != flat[:-1]
        stops = np.append(np.flatnonzero(changes) + 1, len(cuts))
        reference, prediction, region, *both = (_at(layer, stops - 1) for layer in layers)
        shape = images.reference.shape
        return cls(shape, stops, reference, prediction, region, (both[0], both[1]), cuts[stops - 1])


def _at(layer: LabelArray | None, places: Ints) -> Ints:
    """Return the values of an image at places of its flattened pixels, 0 where there is none."""
    if layer is None:
        return np.zeros(len(places), np.int64)
    return layer.reshape(-1)[places].astype(np.int64)


def sample(image: LabelArray) -> LabelArray:
    """Return every second pixel of every second row.

    Examples
    --------
    >>> sample(np.arange(16, dtype=np.uint16).reshape(4, 4)).tolist()
    [[5, 7], [13, 15]]
    """
    return np.ascontiguousarray(image[STEP - 1 :: STEP, STEP - 1 :: STEP])


def draw_parts(images: Sampled, graph: MatchingGraph) -> Message:
    """Return which pixels have the right part (D9).

    A value is ``(verdict * 6 + reference part) * 6 + prediction part``. The verdict on a pixel is

    - RIGHT where both objects of a match have the same part,
    - MISSED or EXTRA where only the reference or only the prediction of a match is,
    - WRONG where both are, but with different parts, or in different matches,
    - UNSCORED where neither object has a match, or there is none.
    """
    runs, pairs = PixelRuns.of(images), chosen_pairs(graph)
    has_reference = np.asarray(pairs.any(axis=1))[runs.reference]
    has_prediction = _in_match(runs, pairs, cut=images.regions is not None)
    ref_part, pred_part = runs.parts
    verdict = np.where(has_prediction, EXTRA, UNSCORED)
    verdict[has_reference] = MISSED
    verdict[has_reference & has_prediction] = WRONG
    verdict[pairs[runs.reference, runs.prediction] & (ref_part == pred_part)] = RIGHT
    values = (verdict * PART_BASE + ref_part) * PART_BASE + pred_part
    return _message("parts", runs, values)


def draw_pieces(images: Sampled, graph: MatchingGraph) -> Message:
    """Return what became of the pieces into which Voronoi regions cut the predictions (D8).

    A value is ``4 * reference + piece``. A piece is MATCHED_PIECE to the reference of its region,
    or has no match: it is LEFT_OVER if another piece of its prediction is matched, otherwise a
    FALSE_PIECE. The reference is FOUND_REFERENCE or MISSED_REFERENCE, or 0 where there is none.
    """
    runs, pairs = PixelRuns.of(images), chosen_pairs(graph)
    unmatched = np.where(pairs.any(axis=0), LEFT_OVER, FALSE_PIECE)
    found = np.where(pairs.any(axis=1), FOUND_REFERENCE, MISSED_REFERENCE)
    unmatched[0] = found[0] = 0
    piece = unmatched[runs.prediction]
    piece[_in_match(runs, pairs, cut=True)] = MATCHED_PIECE
    return _message("pieces", runs, 4 * found[runs.reference] + piece)


def chosen_pairs(graph: MatchingGraph) -> Mask:
    """Return which references are matched to which whole predictions, by their ids."""
    refs, preds = graph.ids("reference"), graph.ids("prediction")
    pairs = np.zeros((refs.max(initial=0) + 1, preds.max(initial=0) + 1), np.bool_)
    edges = graph.edges.take(graph.edges.chosen)
    pairs[refs[edges.ref], preds[edges.pred]] = True
    return pairs


def _in_match(runs: PixelRuns, pairs: Mask, *, cut: bool) -> Mask:
    """Return the runs of predictions, or of their pieces, that have a match."""
    if cut:
        return pairs[runs.region, runs.prediction]
    matched: Mask = np.asarray(pairs.any(axis=0))[runs.prediction]
    return matched


def _cuts(images: Sampled) -> Mask:
    """Return the pixels at which a piece of a prediction meets another one."""
    regions, prediction = images.regions, images.prediction
    cut = np.zeros(prediction.shape, np.bool_)
    if regions is None:
        return cut
    cut[:, :-1] = (regions[:, 1:] != regions[:, :-1]) & (prediction[:, 1:] == prediction[:, :-1])
    cut[:-1] |= (regions[1:] != regions[:-1]) & (prediction[1:] == prediction[:-1])
    return cut & (prediction > 0)


def _message(kind: Literal["parts", "pieces"], runs: PixelRuns, values: Ints) -> Message:
    """Return a picture as text; neighbouring runs of one value become one."""
    values = np.where(runs.cut, CUT, values)
    last = np.append(values[1:] != values[:-1], True)
    return {
        "kind": kind,
        "width": runs.shape[1],
        "height": runs.shape[0],
        "stops": base64.b64encode(runs.stops[last].astype("<u4").tobytes()).decode("ascii"),
        "values": base64.b64encode(values[last].astype(np.uint8).tobytes()).decode("ascii"),
    }
