"""`panmatch demo`: a made-up scene, its scores under every strategy, and a picture of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from panmatch import phantoms
from panmatch.errors import FileError
from panmatch.labels import LabelArray
from panmatch.matching import ManyToOne, OneToMany, OneToOne, SameId, Strategy, match
from panmatch.overlap import Overlap, count_overlaps
from panmatch.report.figure import draw_comparison
from panmatch.report.wording import strategy_title
from panmatch.scoring import Curve, curve

STRATEGIES: tuple[Strategy, ...] = (
    OneToOne(),
    OneToOne(solver="greedy"),
    ManyToOne(),
    ManyToOne(gate="edge"),
    ManyToOne(solver="optimal"),
    OneToMany(),
    OneToMany(solver="optimal"),
    SameId(),
)
THRESHOLDS = (0.0, 0.1, 0.3, 0.5, 0.7)
DRAWN_AT = 0.3
OBJECTS = 19


def run_demo(out: Path, seed: int) -> None:
    """Score a phantom scene under every strategy, print the table and write the figure."""
    reference, prediction = make_scene(seed)
    overlap = count_overlaps(reference, prediction)
    curves = {strategy: curve(overlap, strategy) for strategy in STRATEGIES}
    console = Console(highlight=False)
    console.print(_introduction(overlap))
    console.print(score_table(curves))
    figure = out / "demo.png"
    _make_folder(out)
    drawn = [s for s in STRATEGIES if s in (OneToOne(), ManyToOne(), OneToMany())]
    draw_comparison(
        figure,
        reference,
        prediction,
        [match(overlap, strategy, DRAWN_AT) for strategy in drawn],
        [curves[strategy] for strategy in drawn],
    )
    console.print(f"Figure: {figure}", soft_wrap=True)


def make_scene(seed: int) -> tuple[LabelArray, LabelArray]:
    """Return a reference of irregular blobs and a prediction that errs in every typical way."""
    reference = phantoms.blobs((200, 280), OBJECTS, radius=(13, 18), gap=2, seed=seed)
    prediction = phantoms.merge_neighbours(reference, 3, seed=seed)
    single = _unmerged(reference, prediction)
    prediction = phantoms.shift(prediction, (4, 3), ids=single[:3] + single[8:10])
    prediction = phantoms.erode(prediction, 2, ids=single[3:5])
    prediction = phantoms.dilate(prediction, 2, ids=single[5:7])
    prediction = phantoms.fragment(prediction, 2, ids=single[7:10])
    prediction = phantoms.miss(prediction, ids=single[10:12])
    prediction = phantoms.hallucinate(
        prediction, 2, radius=(5, 7), avoid=reference, gap=1, seed=seed
    )
    return reference, prediction


def _unmerged(reference: LabelArray, prediction: LabelArray) -> list[int]:
    sizes = [np.bincount(labels.flat, minlength=OBJECTS + 1) for labels in (reference, prediction)]
    return [i for i in range(1, OBJECTS + 1) if sizes[0][i] == sizes[1][i]]


def score_table(curves: dict[Strategy, Curve]) -> Table:
    """Return PQ, SQ and RQ of every strategy at several thresholds, with the exact areas."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    table.add_column("strategy", no_wrap=True)
    table.add_column("")
    for threshold in THRESHOLDS:
        table.add_column(f"τ={threshold:g}", justify="right")
    table.add_column("area", no_wrap=True)
    table.add_column("", justify="right")
    for strategy, found in curves.items():
        tallies = [found.at(threshold) for threshold in THRESHOLDS]
        title, bounds = strategy_title(strategy)
        rows = (
            (title, "PQ", [t.pq for t in tallies], found.autc, "AUTC"),
            (f"[dim]{bounds[0]}[/]", "SQ", [t.sq for t in tallies], found.autc_sq, "AUTC_SQ"),
            (f"[dim]{bounds[1]}[/]", "RQ", [t.rq for t in tallies], found.autc_rq, "AUTC_RQ"),
        )
        for label, name, scores, area, area_name in rows:
            cells = [f"{score:.3f}" for score in scores]
            table.add_row(label, name, *cells, area_name, f"{area:.4f}")
        table.add_section()
    return table


def _introduction(overlap: Overlap) -> str:
    return (
        f"A phantom scene: {len(overlap.ref_ids)} reference objects and "
        f"{len(overlap.pred_ids)} predicted ones,\nsome shifted, shrunk, grown, fragmented, "
        f"merged, missed or made up.\nAn edge needs IoU > τ; areas are exact integrals over "
        f"τ in [0, 1)."
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"--out {str(folder)!r} cannot be made: {error}. Name another folder."
        ) from error
