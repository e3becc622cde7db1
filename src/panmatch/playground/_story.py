"""What the tour, the small multiples and the greedy walk need beside the numbers of a view."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from panmatch.matching import Matching, Tally, match, tally_edges
from panmatch.overlap import Overlap
from panmatch.playground._answers import shortfall
from panmatch.playground._greedy_trace import Visit, trace_greedy
from panmatch.playground._matching_rows import MOST_EDGES
from panmatch.playground._score_rows import json_number, tally_row
from panmatch.playground._sources import DrawnScene, Source, budgeted_strategy
from panmatch.playground._states import COMPARED, STRATEGIES, StrategyName, View
from panmatch.playground._validation import Checked, Message, checked
from panmatch.scoring import COMPONENT_KINDS, graph_structure

Walked = Literal["one-to-one/greedy", "many-to-one/merge/seed", "many-to-one/merge/edge"]

MOST_VISITS = 300  # that are listed
PIECE_STEP = 8  # pixels of the raster per pixel of the picture of pieces
PARTS_BASE = 16


@checked
class Story(Checked):
    """What is in sight, and therefore wanted.

    Attributes
    ----------
    scores
        Strategies whose tallies are wanted.
    families
        One matching per family of strategies, for the small multiples.
    walk
        The greedy strategy whose walk is shown.
    all_edges
        What would happen if every pair above the threshold were matched.
    pieces
        Images of the pieces that Voronoi regions make of the predictions.
    tag
        A word that the answer repeats, so that the page knows what it asked for.
    """

    scores: tuple[StrategyName, ...] = ()
    families: bool = False
    walk: Walked | None = None
    all_edges: bool = False
    pieces: bool = False
    tag: str = ""


def answer_story(source: Source, view: View, story: Story) -> Message:
    """Return what is wanted; None for everything else."""
    overlap = source.counted(view).overlap
    return {
        "tag": story.tag,
        "scores": {name: tally_row(_shown(_matched(overlap, view, name))) for name in story.scores},
        "families": family_rows(overlap, view) if story.families else None,
        "walk": walk_row(overlap, view, story.walk) if story.walk else None,
        "all_edges": _all_edges(source, view) if story.all_edges else None,
        "pieces": _pieces(source, view) if story.pieces else None,
    }


def family_rows(overlap: Overlap, view: View) -> list[Message]:
    """Return one matching per family: of the chosen strategy, if it belongs to it."""
    chosen = STRATEGIES[view.strategy].name
    names = [view.strategy if STRATEGIES[name].name == chosen else name for name in COMPARED]
    rows = []
    for name in names:
        matching = _matched(overlap, view, name)
        pairs = matching.pairs[:MOST_EDGES].tolist()
        rows.append({"strategy": name, "pairs": pairs, "tally": tally_row(_shown(matching))})
    return rows


def walk_row(overlap: Overlap, view: View, name: Walked) -> Message:
    """Return the walk of a greedy strategy over the edges, and how far it ends from the optimum."""
    matching = _matched(overlap, view, name)
    visits = trace_greedy(overlap, STRATEGIES[name], view.threshold)
    return {
        "strategy": name,
        "visits": [_visit_row(overlap, visit) for visit in visits[:MOST_VISITS]],
        "left_out": max(len(visits) - MOST_VISITS, 0),
        "pq": json_number(matching.tally.pq),
        "optimum": shortfall(overlap, replace(view, strategy=name)),
    }


def _visit_row(overlap: Overlap, visit: Visit) -> Message:
    edges, position = overlap.edges, visit.edge
    return {
        "reference": overlap.ref_ids[edges.ref[position]].item(),
        "prediction": overlap.pred_ids[edges.pred[position]].item(),
        "iou": overlap.iou[position].item(),
        "decision": visit.decision,
        "before": visit.before,
        "after": visit.after,
    }


def all_edges_row(overlap: Overlap, threshold: float) -> Message:
    """Return what many-to-many matching would count: why the library refuses it (D4).

    Every pair above the threshold is matched, and is one true positive. A prediction then belongs
    to the unions of several references, and its voxels count once for each of them. With the
    false negatives, more references are counted than there are, and likewise predictions.
    """
    above = overlap.above(threshold)
    ref, pred, sizes = above.edges.ref, above.edges.pred, above.pred_sizes
    tally = tally_edges(above, np.arange(len(ref)))
    owners = np.bincount(pred, minlength=len(sizes))
    in_unions, predicted = (sizes * owners).sum().item(), sizes[owners > 0].sum().item()
    return {
        "pairs": np.stack([above.ref_ids[ref], above.pred_ids[pred]], axis=1).tolist(),
        "references": {"counted": len(ref) + tally.fn, "there": len(above.ref_ids)},
        "predictions": {"counted": len(ref) + tally.fp, "there": len(sizes)},
        "pixels": {"counted": in_unions, "there": predicted},
        "counted_twice": in_unions - predicted,
        "shared": int(np.count_nonzero(owners > 1)),
        "groups": _groups(above),
    }


def _groups(overlap: Overlap) -> list[Message]:
    """Return how many connected components of each kind a graph has, those with an edge first."""
    counts = graph_structure(overlap).components
    kinds = (*COMPONENT_KINDS[2:], *COMPONENT_KINDS[:2])
    return [{"kind": kind, "count": counts[kind]} for kind in kinds if counts[kind]]


def _matched(overlap: Overlap, view: View, name: str) -> Matching:
    return match(overlap, budgeted_strategy(name).suited_to(overlap), view.threshold)


def _shown(matching: Matching) -> Tally:
    return matching.part_tally or matching.tally


def _all_edges(source: Source, view: View) -> Message:
    whole = View(areas=view.areas, threshold=view.threshold)
    return all_edges_row(source.counted(whole).overlap, view.threshold)


def _pieces(source: Source, view: View) -> Message | None:
    """Return regions and parts of a scene as small images; None without regions.

    A pixel of ``"parts"`` is the part of the reference plus `PARTS_BASE` times that of the
    prediction, and 0 stands for background.
    """
    if not isinstance(source, DrawnScene) or not view.regions or not source.scene.reference:
        return None
    sample = np.s_[PIECE_STEP // 2 :: PIECE_STEP, PIECE_STEP // 2 :: PIECE_STEP]
    region = source.region_labels()[sample]
    reference, prediction = (image[sample] for image in source.part_images)
    return {
        "width": region.shape[1],
        "height": region.shape[0],
        "region": _base64(region.astype("<u2")),
        "parts": _base64(reference + PARTS_BASE * prediction),
        "iou": _union_iou(_matched(source.counted(view).overlap, view, view.strategy)),
    }


def _union_iou(matching: Matching) -> list[Message]:
    """Return the IoU of every matched reference with the union of its predictions."""
    matched = np.unique(matching.overlap.edges.ref[matching.edges])
    ids, iou = matching.overlap.ref_ids[matched], matching.ref_quality[matched]
    rows = zip(ids.tolist(), iou.tolist(), strict=True)
    return [{"reference": number, "iou": value} for number, value in rows]


def _base64(image: npt.NDArray[np.integer]) -> str:
    return base64.b64encode(image.tobytes()).decode("ascii")
