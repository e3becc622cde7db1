"""What a notebook shows of an overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from panmatch._html import block, number, plural, table

if TYPE_CHECKING:
    from panmatch.overlap._graph import Overlap

MOST_SHOWN = 8  # edges in a notebook


def overlap_html(overlap: Overlap) -> str:
    """Show the counts and the edges with the highest IoU."""
    edges, iou = overlap.edges, overlap.iou
    best = np.argsort(-iou, kind="stable")[:MOST_SHOWN]
    rows = [
        [
            str(overlap.ref_ids[edges.ref[i]]),
            str(overlap.pred_ids[edges.pred[i]]),
            f"{edges.intersection[i]:,}",
            number(float(iou[i])),
        ]
        for i in best
    ]
    shown = table(["reference", "prediction", "shared voxels", "IoU"], rows, left=0)
    more = (
        f"The {len(best)} edges with the highest IoU, of {len(edges)}."
        if len(edges) > len(best)
        else ""
    )
    return block(f"Overlap: {counts_text(overlap)}", shown if rows else "", more)


def counts_text(overlap: Overlap) -> str:
    """Return how many references, predictions and edges there are."""
    pieces = "" if overlap.pieces is None else f" in {plural(len(overlap.pred_ids), 'piece')}"
    return (
        f"{plural(len(overlap.ref_ids), 'reference')}, "
        f"{plural(len(overlap.predictions.ids), 'prediction')}{pieces}, "
        f"{plural(len(overlap.edges), 'edge')}"
    )
