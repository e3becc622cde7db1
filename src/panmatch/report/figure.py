"""Pictures of a scene with its matches, and of the threshold curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from panmatch.labels import LabelArray
from panmatch.matching import Matching
from panmatch.overlap import Floats, Ints
from panmatch.report.wording import strategy_title
from panmatch.scoring import Curve

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Okabe and Ito's palette: told apart by colour-blind readers, and of different grey values.
MATCHED, FALSE, MISSED = "#0072B2", "#D55E00", "#CC79A7"
LINES = (("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#CC79A7", ":"))


def draw_comparison(
    path: Path,
    reference: LabelArray,
    prediction: LabelArray,
    matchings: Sequence[Matching],
    curves: Sequence[Curve],
) -> None:
    """Write a figure: a scene per matching above, PQ, SQ and RQ over the threshold below."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(matchings), 7.6), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, len(matchings), height_ratios=(1.1, 1), squeeze=False)
    for ax, matching in zip(axes[0], matchings, strict=True):
        draw_scene(ax, reference, prediction, matching)
    for ax, quantity in zip(axes[1], ("pq", "sq", "rq"), strict=False):
        draw_curves(ax, curves, quantity)
    handles, labels = _scene_legend()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.savefig(path)


def draw_scene(ax: Axes, reference: LabelArray, prediction: LabelArray, matching: Matching) -> None:
    """Draw a 2-D scene: references filled, predictions outlined, a line along every match."""
    missed, false = set(matching.missed.tolist()), set(matching.false_positives.tolist())
    for ref in matching.overlap.ref_ids.tolist():
        color = MISSED if ref in missed else MATCHED
        hatches = ["////" if ref in missed else None]
        ax.contourf(reference == ref, levels=[0.5, 1.5], colors=[color], alpha=0.3, hatches=hatches)
    for pred in matching.overlap.pred_ids.tolist():
        color, style = (FALSE, "--") if pred in false else (MATCHED, "-")
        ax.contour(
            prediction == pred, levels=[0.5], colors=[color], linewidths=1.4, linestyles=[style]
        )
    _draw_links(ax, _centres(reference), _centres(prediction), matching.pairs)
    tally = matching.tally
    title, bounds = strategy_title(matching.strategy)
    ax.set_title(f"{title}\n{bounds[0]}, {bounds[1]}", fontsize=10)
    ax.set_xlabel(
        f"τ = {matching.threshold:g}:  TP {tally.tp}   FP {tally.fp}   FN {tally.fn}   "
        f"PQ {tally.pq:.3f}"
    )
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.invert_yaxis()


def draw_curves(ax: Axes, curves: Sequence[Curve], quantity: str) -> None:
    """Draw PQ, SQ or RQ of several curves as exact steps, with the areas in the legend."""
    area_name = {"pq": "autc", "sq": "autc_sq", "rq": "autc_rq"}[quantity]
    for found, (color, style) in zip(curves, LINES, strict=False):
        heights = getattr(found, quantity)
        label = f"{found.strategy.name}: {getattr(found, area_name):.3f}"
        ax.step(
            np.append(found.thresholds, 1.0),
            np.append(heights, heights[-1]),
            where="post",
            color=color,
            linestyle=style,
            label=label,
        )
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="threshold τ", ylabel=quantity.upper())
    ax.grid(alpha=0.3)
    ax.legend(title=area_name.upper(), fontsize=8, title_fontsize=8, loc="lower left")


def _draw_links(ax: Axes, refs: dict[int, Floats], preds: dict[int, Floats], pairs: Ints) -> None:
    for ref, pred in pairs.tolist():
        (y0, x0), (y1, x1) = refs[ref], preds[pred]
        ax.plot([x0, x1], [y0, y1], color="black", linewidth=1.2)
        ax.plot(x0, y0, "o", color="black", markersize=4)
        ax.plot(x1, y1, "o", markerfacecolor="white", markeredgecolor="black", markersize=4)


def _centres(labels: LabelArray) -> dict[int, Floats]:
    """Return for every object its voxel nearest to its centroid: a point that lies on it."""
    return {int(i): _inner_point(np.argwhere(labels == i)) for i in np.unique(labels) if i}


def _inner_point(voxels: Ints) -> Floats:
    distances = np.linalg.norm(voxels - voxels.mean(0), axis=1)
    nearest: Floats = voxels[np.argmin(distances)].astype(np.float64)
    return nearest


def _scene_legend() -> tuple[list[Artist], list[str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: dict[str, Artist] = {
        "reference, found": Patch(facecolor=MATCHED, alpha=0.3),
        "reference, missed (FN)": Patch(facecolor=MISSED, alpha=0.3, hatch="////"),
        "prediction, matched": Line2D([], [], color=MATCHED),
        "prediction, false (FP)": Line2D([], [], color=FALSE, linestyle="--"),
        "match": Line2D([], [], color="black", marker="o", markersize=4),
    }
    return list(entries.values()), list(entries)
