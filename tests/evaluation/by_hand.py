"""Evaluation without the evaluation: every class masked by hand, and the stages called one by one.

Also shared: rows of tables as dictionaries, and comparison of rows in which NaN equals NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import panmatch as pm
from panmatch import evaluation
from panmatch.evaluation import CaseResult, CaseSeries, ScoreColumns
from panmatch.evaluation import _tables as tables
from panmatch.labels import connected_components
from panmatch.spec import ClassSpec, Spec, label_numbers

Labels = npt.NDArray[np.int64]
Row = dict[str, Any]


def score_table(cases: tuple[CaseResult]) -> pd.DataFrame:
    (case,) = cases
    thresholds = [level.threshold for level in case.entries[0].levels] if case.entries else [0.5]
    spec = Spec.model_validate({"thresholds": thresholds})
    series = [CaseSeries.of(case.model, one.setting, cases, (one,), spec) for one in case.entries]
    return evaluation.score_table(cases, ScoreColumns.of(series)).frame()


TABLES: dict[str, Callable[[tuple[CaseResult]], pd.DataFrame]] = {
    "scores": score_table,
    "instances": lambda cases: tables.setting_table(cases).frame(),
    "curves": lambda cases: tables.curve_table(cases).frame(),
    "diagnosis": lambda cases: tables.diagnosis_table(cases).frame(),
}


def rows_of(case: CaseResult, table: str = "scores") -> list[Row]:
    """Return a table of a case as dictionaries."""
    found = TABLES[table]((case,))
    columns = [name for name in found.columns if name not in ("case", "model")]
    lists = [found[name].tolist() for name in columns]
    return [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]


def columns_of(case: CaseResult, table: str = "scores") -> dict[str, list[Any]]:
    """Return a table of a case as columns."""
    rows = rows_of(case, table)
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def only(case: CaseResult, table: str = "scores", **wanted: Any) -> Row:
    """Return the one row of a table with these values."""
    found = [row for row in rows_of(case, table) if wanted.items() <= row.items()]
    assert len(found) == 1, f"{len(found)} rows with {wanted}"
    return found[0]


def assert_same(found: Row, expected: Row) -> None:
    """Compare the expected columns exactly; NaN equals NaN."""
    shown = {name: found.get(name, "absent") for name in expected}
    assert repr(shown) == repr(expected)


def objects(image: Labels, one: ClassSpec, left_out: tuple[int, ...] = ()) -> Labels:
    """Return the objects of one class: its labels masked, numbered, and small ones dropped."""
    mask = (image != 0) & ~np.isin(image, left_out)
    if one.numbers is not None:
        mask &= np.isin(image, one.numbers)
    found = np.where(mask, image, 0)
    if one.kind == "stuff":
        found = mask.astype(np.int64)
    elif one.instances == "components":
        found = np.asarray(connected_components(mask, one.connectivity), np.int64)
    for label in np.unique(found[found > 0]).tolist():
        if np.count_nonzero(found == label) < one.min_voxels:
            found = np.where(found == label, 0, found)
    return found


def near_threshold(matching: pm.Matching, threshold: str) -> int:
    """Count true positives whose best matched edge is lost at τ + 0.05, in exact fractions."""
    overlap, bar = matching.overlap, Fraction(threshold) + Fraction("0.05")
    best: dict[int, Fraction] = {}
    for edge in matching.edges.tolist():
        ref, pred = int(overlap.edges.ref[edge]), int(overlap.edges.pred[edge])
        shared = int(overlap.edges.intersection[edge])
        sizes = int(overlap.ref_sizes[ref]), int(overlap.pred_sizes[pred] - overlap.pred_void[pred])
        iou = Fraction(shared, sum(sizes) - shared)
        score = iou if matching.score == "iou" else Fraction(2 * shared, sum(sizes))
        best[ref] = max(best.get(ref, Fraction(0)), score)
    return sum(score <= bar for score in best.values())


def mistakes(overlap: pm.Overlap) -> dict[str, list[int]]:
    """Return ids of what is split, merged, missed and spurious, pair by pair."""
    refs, preds = overlap.ref_ids.tolist(), overlap.pred_ids.tolist()
    areas = (overlap.pred_sizes - overlap.pred_void).tolist()
    crowd = overlap.pred_crowd if overlap.pred_crowd is not None else 0 * overlap.pred_void
    lost = (2 * (overlap.pred_void + crowd) > overlap.pred_sizes).tolist()
    guests: dict[int, set[int]] = {g: set() for g in range(len(refs))}
    captives: dict[int, set[int]] = {p: set() for p in range(len(preds))}
    edges = overlap.edges
    for g, p, n in zip(
        *(c.tolist() for c in (edges.ref, edges.pred, edges.intersection)), strict=True
    ):
        if Fraction(n, areas[p]) > Fraction(1, 2):
            guests[g].add(p)
        if Fraction(n, int(overlap.ref_sizes[g])) > Fraction(1, 2):
            captives[p].add(g)
    hosts = {p for found in guests.values() for p in found}
    prisoners = {g for found in captives.values() for g in found}
    return {
        "split": [refs[g] for g, found in guests.items() if len(found) > 1],
        "merged": [preds[p] for p, found in captives.items() if len(found) > 1],
        "missed": [refs[g] for g, found in guests.items() if not found and g not in prisoners],
        "spurious": [
            preds[p]
            for p, found in captives.items()
            if not found and p not in hosts and not lost[p]
        ],
    }


def expected_scores(
    spec: Spec,
    reference: Labels,
    prediction: Labels,
    *,
    spacing: Any = None,
    void: npt.NDArray[np.bool_] | None = None,
) -> Iterator[Row]:
    """Yield what the score table must hold, in its order."""
    left_out = label_numbers(spec.void)
    unknown = np.isin(reference, left_out)
    unknown = unknown if void is None else unknown | void
    for name, one in spec.classes.items():
        images = objects(reference, one, left_out), objects(prediction, one, left_out)
        plain = pm.count_overlaps(*images, void=unknown)
        wrong = mistakes(plain)
        for matcher in spec.matching:
            overlap = plain
            if matcher.regions:
                overlap = pm.count_region_overlaps(*images, spacing, void=unknown)
            strategy = matcher.strategy
            steps = pm.curve(overlap, strategy, score=matcher.score)
            for threshold in spec.thresholds:
                matching = pm.match(overlap, strategy, threshold, score=matcher.score)
                tally = matching.tally
                measured = pm.measure(matching, *images, spec.metrics, spacing, void=unknown)
                yield {
                    "class": name,
                    "kind": one.kind,
                    "strategy": matcher.name,
                    "edge_score": matcher.score,
                    "regions": matcher.regions or "",
                    "threshold": threshold,
                    **{key: getattr(tally, key) for key in ("tp", "fp", "fn", "quality", "pq")},
                    **{key: getattr(tally, key) for key in ("sq", "rq", "precision", "recall")},
                    **{key: getattr(steps, key) for key in ("autc", "autc_sq", "autc_rq")},
                    **{
                        key: value
                        for key, value in measured.scores.items()
                        if key not in ("rq", "sq_iou", "pq_iou")
                    },
                    **{key: len(ids) for key, ids in wrong.items()},
                    "near_threshold": near_threshold(matching, str(threshold)),
                    "gap": matching.certificate.gap if matching.certificate else float("nan"),
                    "status": tally.status,
                }
