"""Things with parts: one channel for the things, and one for each kind of part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from panmatch.compat.panoptica._images import GroupImages, Pairs, shared_voxels
from panmatch.labels import Connectivity, LabelArray, connected_components, distinct_labels, mask_of
from panmatch.overlap import Floats, Ints, Overlap, count_overlaps
from panmatch.spec import PanopticaGroup

THING_CHANNEL = 1  # what is neither background nor a part; the whole thing is channel 0


@dataclass(frozen=True, eq=False)
class PartImages:
    """Objects of a group with parts.

    Attributes
    ----------
    stacked
        All channels of both sides as one image with one more axis, which is what panoptica
        measures: channel 0 has the whole things, and the others the voxels of each label.
    things
        The whole things.
    parts
        For every kind of part that occurs: the thing of its voxels, on both sides, and how many
        scores it adds for a pair of things that both have it, by the number of its pieces.
    """

    stacked: GroupImages
    things: GroupImages
    parts: Sequence[tuple[Overlap, dict[int, int], dict[int, int]]]

    def scores(self, of: str) -> Floats:
        """Return for every edge of things (score + sum over parts) / (1 + number of scores).

        A kind of part that is missing on one side adds a 0. If one thing has no part at all and
        the other has some, the score is halved.
        """
        graph = self.things.overlap
        ref, pred = graph.edges.ref, graph.edges.pred
        base = graph.iou if of == "IOU" else graph.dice
        total, count = np.zeros(len(ref)), np.zeros(len(ref))
        has_ref, has_pred = np.zeros(len(ref), np.bool_), np.zeros(len(ref), np.bool_)
        for overlap, ref_pieces, pred_pieces in self.parts:
            ref_size, ref_at = _sizes(overlap.ref_ids, overlap.ref_sizes, graph.ref_ids[ref])
            pred_size, pred_at = _sizes(overlap.pred_ids, overlap.pred_sizes, graph.pred_ids[pred])
            both = (ref_size > 0) & (pred_size > 0)
            shared = np.zeros(len(ref))
            shared[both] = shared_voxels(overlap, ref_at[both], pred_at[both])
            union = ref_size + pred_size - (shared if of == "IOU" else 0)
            score = np.divide((1 if of == "IOU" else 2) * shared, union, where=union > 0,
                              out=np.zeros(len(ref)))  # fmt: skip
            total += score
            pieces = np.array(
                [
                    min(ref_pieces[int(g)], pred_pieces[int(p)]) if either else 1
                    for g, p, either in zip(
                        graph.ref_ids[ref], graph.pred_ids[pred], both, strict=True
                    )
                ],
                np.float64,
            )
            count += np.where((ref_size > 0) | (pred_size > 0), pieces, 0)
            has_ref |= ref_size > 0
            has_pred |= pred_size > 0
        mean: Floats = np.where(has_ref & has_pred, (base + total) / (1 + count), base)
        return np.where(has_ref != has_pred, base / 2, mean)

    def pairs_of(self, edges: Ints) -> Pairs:
        """Return matched things as pairs of the stacked images."""
        graph, stacked = self.things.overlap, self.stacked.overlap
        ref = np.searchsorted(stacked.ref_ids, graph.ref_ids[graph.edges.ref[edges]])
        pred = np.searchsorted(stacked.pred_ids, graph.pred_ids[graph.edges.pred[edges]])
        return Pairs(ref, pred)


def stack_parts(
    reference: LabelArray,
    prediction: LabelArray,
    group: PanopticaGroup,
    spacing: tuple[float, ...],
    *,
    quirks: bool,
) -> PartImages:
    """Return the channels of two images.

    A voxel of a channel has the number of its thing. With `quirks` it has the number of its
    connected component in the channel, as if equal numbers belonged together. Channels are then
    the labels, and all labels from 2 on are parts.
    """
    things = [label for label in group.labels if label not in group.parts]
    channels: list[Sequence[int]] = [things, *([label] for label in group.parts)]
    if quirks:
        highest = int(max(reference.max(initial=0), prediction.max(initial=0)))
        channels = [[label] for label in range(1, highest + 1)]
    sides = reference, prediction
    whole = [connected_components(image) for image in sides]
    masks = [[mask_of(image, labels) for labels in channels] for image in sides]
    volume = float(np.prod(spacing))
    inside = [[np.where(mask, one, 0) for mask in of] for one, of in zip(whole, masks, strict=True)]
    stacks = [
        np.stack([one, *(list(map(connected_components, of)) if quirks else within)])
        for one, of, within in zip(whole, masks, inside, strict=True)
    ]
    parts = []
    for channel in range(THING_CHANNEL, len(channels)):
        pieces = [
            _pieces(whole[side], masks[side][channel], every=quirks) for side in range(len(sides))
        ]
        overlap = count_overlaps(inside[0][channel], inside[1][channel])
        parts.append((overlap, pieces[0], pieces[1]))
    return PartImages(
        GroupImages(stacks[0], stacks[1], (1.0, *spacing), volume, quirks=quirks),
        GroupImages(whole[0], whole[1], spacing, volume),
        parts,
    )


def stack_labels(
    reference: LabelArray, prediction: LabelArray, connectivity: Connectivity
) -> tuple[LabelArray, LabelArray]:
    """Return what panoptica calls one-hot: components of all labels together, then of each."""
    highest = int(max(reference.max(initial=0), prediction.max(initial=0)))
    stacks = [
        np.stack([
            connected_components(mask, connectivity)
            for mask in (image != 0, *(image == label for label in range(1, highest + 1)))
        ])
        for image in (reference, prediction)
    ]  # fmt: skip
    return stacks[0], stacks[1]


def _pieces(whole: LabelArray, mask: npt.NDArray[np.bool_], *, every: bool) -> dict[int, int]:
    """Return how many pieces a kind of part has in each thing; 1 unless `every` one counts."""
    (thing, piece), _ = distinct_labels([whole, connected_components(mask)])
    ids, counts = np.unique(thing[piece > 0], return_counts=True)
    return {int(i): int(n) if every else 1 for i, n in zip(ids, counts, strict=True)}


def _sizes(ids: Ints, sizes: npt.NDArray[np.int64], wanted: Ints) -> tuple[Floats, Ints]:
    """Return the voxels of every wanted id, 0 for one that does not occur, and its position."""
    if not len(ids):
        return np.zeros(len(wanted)), np.zeros(len(wanted), np.int64)
    place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[place] == wanted, sizes[place], 0).astype(np.float64), place
