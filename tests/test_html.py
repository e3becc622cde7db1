"""Values show themselves in notebooks, with their own numbers."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import panmatch as pm
from panmatch._html import Html, block, some_of, sparkline, table
from panmatch.matching import Certificate
from tests.shown_html import read_html

TRAP = pm.Overlap.from_dense([[6, 2, 0], [0, 5, 0]], [10, 5], [6, 9, 4])


def test_text_is_escaped_and_html_is_not() -> None:
    shown = read_html(block("<script>", table(["a<b"], [['"x" & <i>']]), Html("<b>bold</b>")))
    assert shown.words == "<script>\nbold\n"
    assert shown.rows == [["a<b"], ['"x" & <i>']]
    assert not {"script", "i"} & set(shown.tags)


def test_colours_are_those_of_the_page() -> None:
    html = block("title", table(["a"], [["1"]]), sparkline([0.0], [0.5]))
    colours = re.findall(r'(?:color|background|fill|stroke)[:=]"?([^;"]*)', html)
    assert set(colours) <= {"inherit", "transparent", "currentColor", "none"}


def test_a_sparkline_has_the_exact_steps_of_a_right_continuous_function() -> None:
    starts, heights = [0.0, 0.25, 0.6], [0.9, 0.5, 0.0]
    (steps,) = read_html(sparkline(starts, heights)).curves
    assert [step[:2] for step in steps] == [(0.0, 0.25), (0.25, 0.6), (0.6, 1.0)]
    assert [value for _, _, value in steps] == pytest.approx(heights)


def test_undefined_steps_leave_a_gap() -> None:
    (steps,) = read_html(sparkline([0.0, 0.25, 0.5], [1.0, math.nan, 0.5])).curves
    assert [(start, stop) for start, stop, _ in steps] == [(0.0, 0.25), (0.5, 1.0)]
    assert sparkline([0.0], [math.nan]) == "–"


def test_a_sparkline_of_many_steps_stays_small_and_close() -> None:
    starts = np.linspace(0, 1, 20_000, endpoint=False)
    html = sparkline(starts.tolist(), (1 - starts).tolist())
    assert len(html) < 50_000
    (steps,) = read_html(html).curves
    for start, stop, value in steps:
        assert value == pytest.approx(1 - start, abs=0.002)
        assert stop - start < 0.002
    assert steps[-1][1] == 1.0


def test_few_are_listed_and_the_rest_is_counted() -> None:
    assert some_of([1, 2, 3], most=3) == "1, 2, 3"
    assert some_of([1, 2, 3], most=2) == "1, 2 and 1 more"


def test_an_overlap_shows_counts_and_its_edges_best_first() -> None:
    shown = read_html(TRAP._repr_html_())
    assert shown.words == "Overlap: 2 references, 3 predictions, 3 edges\n"
    assert repr(TRAP) == "Overlap(2 references, 3 predictions, 3 edges)"
    assert shown.rows == [
        ["reference", "prediction", "shared voxels", "IoU"],
        ["1", "1", "6", "0.600"],
        ["2", "2", "5", "0.556"],
        ["1", "2", "2", "0.118"],
    ]


def test_an_overlap_of_many_edges_shows_the_highest() -> None:
    n = 30
    many = pm.Overlap.from_dense(np.diag(np.arange(1, n + 1)), np.full(n, n), np.full(n, n))
    shown = read_html(many._repr_html_())
    assert [row[0] for row in shown.rows[1:]] == [str(i) for i in range(30, 22, -1)]
    assert "The 8 edges with the highest IoU, of 30." in shown.words
    empty = read_html(pm.count_overlaps([[0]], [[0]])._repr_html_())
    assert empty.rows == []


def test_a_matching_shows_counts_scores_mistakes_and_the_proof() -> None:
    matching = pm.match(TRAP, threshold=0.58)
    shown = read_html(matching._repr_html_())
    head, row = shown.rows
    t = matching.tally
    assert dict(zip(head, row, strict=True)) == {
        "TP": "1", "FP": "2", "FN": "1", "PQ": f"{t.pq:.3f}", "SQ": "0.600", "RQ": f"{t.rq:.3f}",
    }  # fmt: skip
    assert shown.words.splitlines() == [
        "Matching: one-to-one (optimal) at τ = 0.58",
        "Missed: 2",
        "False: 2, 3",
        "PQ 0.2400 is proven optimal: no matching of this strategy has a higher PQ.",
    ]
    greedy = pm.match(TRAP, "many-to-one", threshold=0.1, score="dice", strict=False)
    words = read_html(greedy._repr_html_()).words.splitlines()
    assert words[0] == "Matching: many-to-one (merge, seed, by dice, ≥ τ) at τ = 0.1"
    assert not [line for line in words if "proven" in line]


def test_a_matching_with_parts_shows_part_pq_beside_pq() -> None:
    labels = np.array([[1, 1, 1, 1]])
    overlap = pm.count_part_overlaps(
        labels, labels, np.array([[1, 1, 2, 2]]), np.array([[1, 2, 2, 2]]), background="none"
    )
    matching = pm.match(overlap)
    assert matching.part_tally is not None
    head, row = read_html(matching._repr_html_()).rows
    shown = dict(zip(head, row, strict=True))
    assert (shown["PQ"], shown["PartPQ"]) == ("1.000", f"{matching.part_tally.pq:.3f}")
    assert shown["PartPQ"] == "0.583"  # (1/2 + 2/3) / 2


@pytest.mark.parametrize("strategy", ["one-to-one", "many-to-one", "one-to-many"])
def test_a_curve_shows_its_steps_and_areas(strategy: str) -> None:
    curve = pm.curve(TRAP, strategy)
    shown = read_html(curve._repr_html_())
    assert shown.rows == [
        ["AUTC", "AUTC_SQ", "AUTC_RQ"],
        [f"{curve.autc:.3f}", f"{curve.autc_sq:.3f}", f"{curve.autc_rq:.3f}"],
    ]
    (steps,) = shown.curves
    assert [start for start, _, _ in steps] == pytest.approx(curve.thresholds.tolist(), abs=1e-5)
    for start, stop, value in steps:
        assert curve.at((start + stop) / 2).pq == pytest.approx(value, abs=1e-4)
    area = sum((stop - start) * value for start, stop, value in steps)
    assert area == pytest.approx(curve.autc, abs=1e-4)
    assert f"{len(curve.thresholds)} steps" in shown.words
    assert f"AUTC={curve.autc:.4f}" in repr(curve)


def test_a_curve_says_what_is_proven() -> None:
    curve = pm.curve(TRAP, pm.ManyToOne(solver="optimal"))
    assert "Every step is proven optimal." in curve._repr_html_()
    assert "Not all steps are proven." in replace(curve, proven=False)._repr_html_()
    assert "proven" not in pm.curve(TRAP, "many-to-one")._repr_html_()


def test_a_curve_of_nothing_is_undefined() -> None:
    shown = read_html(pm.curve(pm.count_overlaps([[0]], [[0]]))._repr_html_())
    assert shown.curves == []
    assert shown.rows[1] == ["–", "–", "–"]


@pytest.mark.parametrize(
    ("value", "bound", "words", "short"),
    [
        (0.5, 0.5, "PQ 0.5000 is proven optimal: no matching of this strategy has a higher PQ.",
         "Certificate(PQ=0.5000, proven, rounds=2, nodes=7)"),
        (0.5, 0.53, "PQ 0.5000 is the best found. No matching of this strategy can exceed "
         "0.5300, so up to 0.03 may be missing.",
         "Certificate(PQ=0.5000, upper_bound=0.5300, rounds=2, nodes=7)"),
        (math.nan, math.nan, "Neither image has an object, so there is nothing to prove.",
         "Certificate(PQ=nan, proven, rounds=2, nodes=7)"),
    ],
)  # fmt: skip
def test_a_certificate_says_what_is_proven(
    value: float, bound: float, words: str, short: str
) -> None:
    certificate = Certificate(value, bound, rounds=2, nodes=7, seconds=0.125)
    assert str(certificate) == words
    assert repr(certificate) == short
    shown = read_html(certificate._repr_html_()).words.splitlines()
    assert shown == ["Certificate", words, "2 rounds, 7 nodes, 0.12 s"]


def test_an_error_budget_shows_what_each_repair_brings() -> None:
    budget = pm.error_budget(pm.match(TRAP, threshold=0.58))
    head, *rows = read_html(budget._repr_html_()).rows
    assert head == ["repair", "PQ after it alone", "share of 1 − PQ"]
    assert {kind: (after, share) for kind, after, share in rows} == {
        kind: (f"{budget.repaired[kind]:.3f}", f"{budget.shares[kind]:.3f}")
        for kind in budget.shares
    }
    lost = {kind: share for kind, share in budget.shares.items() if share}
    words = ", ".join(f"{kind} {share:.4f}" for kind, share in lost.items())
    assert repr(budget) == f"ErrorBudget(PQ=0.2400, lost to {words})"
