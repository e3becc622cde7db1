"""The components of the graph by kind: equal to brute force, complete, and additive."""

from __future__ import annotations

import itertools
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import panmatch as pm
from panmatch.errors import LabelError, OptionError, OverlapError, ThresholdError
from panmatch.overlap import Score
from panmatch.scoring import COMPONENT_KINDS, MEANINGS, ComponentCounts

Labels = Any
LABELS = arrays(np.int64, 24, elements=st.integers(0, 5))
THRESHOLDS = st.sampled_from([0.0, 0.1, 0.2, 1 / 3, 0.5, 0.7])


def components_by_hand(edges: set[tuple[str, str]], vertices: list[str]) -> list[set[str]]:
    """Return sets of vertices that a path of edges connects."""
    groups = [{vertex} for vertex in vertices]
    for a, b in edges:
        one = next(group for group in groups if a in group)
        other = next(group for group in groups if b in group)
        if one is not other:
            groups.remove(other)
            one |= other
    return groups


def kind_by_hand(n_refs: int, n_preds: int) -> str:
    if n_preds == 0:
        return "reference"
    if n_refs == 0:
        return "prediction"
    return f"{'1' if n_refs == 1 else 'n'}-{'1' if n_preds == 1 else 'n' if n_refs == 1 else 'm'}"


def structure_by_hand(
    reference: Labels, prediction: Labels, threshold: float
) -> dict[str, list[int]]:
    """Count components, references, predictions and voxels of every kind, voxel by voxel."""
    voxels: dict[str, set[int]] = {}
    for at, (g, p) in enumerate(zip(reference.tolist(), prediction.tolist(), strict=True)):
        if g:
            voxels.setdefault(f"g{g}", set()).add(at)
        if p:
            voxels.setdefault(f"p{p}", set()).add(at)
    names = sorted(voxels)
    edges = {
        (g, p)
        for g, p in itertools.product(names, names)
        if g[0] == "g" and p[0] == "p" and voxels[g] & voxels[p]
        and len(voxels[g] & voxels[p]) / len(voxels[g] | voxels[p]) > threshold
    }  # fmt: skip
    found: dict[str, list[int]] = {kind: [0] * 6 for kind in COMPONENT_KINDS}
    for group in components_by_hand(edges, names):
        refs = [name for name in group if name[0] == "g"]
        preds = [name for name in group if name[0] == "p"]
        in_ref = set().union(*(voxels[name] for name in refs))
        in_pred = set().union(*(voxels[name] for name in preds))
        row = [1, len(refs), len(preds), len(in_ref), len(in_pred), len(in_ref & in_pred)]
        counts = found[kind_by_hand(len(refs), len(preds))]
        counts[:] = [a + b for a, b in zip(counts, row, strict=True)]
    return found


@settings(max_examples=150, deadline=None)
@given(LABELS, LABELS, THRESHOLDS)
def test_components_are_those_found_by_hand(
    reference: Labels, prediction: Labels, threshold: float
) -> None:
    found = pm.graph_structure(pm.count_overlaps(reference, prediction), threshold)
    expected = structure_by_hand(reference, prediction, threshold)
    assert {kind: list(astuple(found[kind])) for kind in COMPONENT_KINDS} == expected


@settings(max_examples=100, deadline=None)
@given(LABELS, LABELS, THRESHOLDS)
def test_every_object_and_every_voxel_is_in_one_component(
    reference: Labels, prediction: Labels, threshold: float
) -> None:
    overlap = pm.count_overlaps(reference, prediction)
    found = pm.graph_structure(overlap, threshold)
    total = found.total
    assert total.references == len(overlap.ref_ids)
    assert total.predictions == len(overlap.pred_ids)
    assert total.ref_voxels == overlap.ref_sizes.sum()
    assert total.pred_voxels == overlap.pred_sizes.sum()
    if total.components:
        assert sum(found.shares.values()) == pytest.approx(1.0, abs=1e-12)
    else:
        assert all(np.isnan(share) for share in found.shares.values())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=4), THRESHOLDS)
def test_structures_of_images_add_in_any_order(
    images: list[tuple[Labels, Labels]], threshold: float
) -> None:
    found = [pm.graph_structure(pm.count_overlaps(*sides), threshold) for sides in images]
    whole = pm.graph_structure(
        pm.count_overlaps(*(_apart(list(side)) for side in zip(*images, strict=True))), threshold
    )
    assert sum(found) == sum(reversed(found)) == whole


def _apart(images: list[Labels]) -> Labels:
    """Return images beside each other, with labels of their own."""
    return np.concatenate([np.where(one > 0, one + 10 * i, 0) for i, one in enumerate(images)])


@settings(max_examples=100, deadline=None)
@given(LABELS, LABELS, THRESHOLDS)
def test_strategies_agree_where_every_component_is_one_to_one(
    reference: Labels, prediction: Labels, threshold: float
) -> None:
    overlap = pm.count_overlaps(reference, prediction).above(threshold)
    found = pm.graph_structure(overlap).components
    if found["1-n"] + found["n-1"] + found["n-m"]:
        return
    for strategy in (pm.OneToOne("greedy"), pm.ManyToOne(), pm.ManyToOne("optimal"),
                     pm.OneToMany(), pm.OneToMany("optimal")):  # fmt: skip
        assert pm.match(overlap, strategy, threshold).tally == pm.match(overlap, "one-to-one",
                                                                       threshold).tally  # fmt: skip


def test_a_dismissed_prediction_is_not_a_component() -> None:
    void = np.array([1, 1, 0, 0, 0, 0], bool)
    overlap = pm.count_overlaps([0, 0, 0, 1, 1, 1], [5, 5, 5, 0, 6, 6], void)
    assert pm.graph_structure(overlap).components["prediction"] == 0
    assert pm.graph_structure(overlap).components["1-1"] == 1
    assert pm.graph_structure(pm.count_overlaps([0, 0, 1], [5, 5, 0])).total.predictions == 1


def test_a_dismissible_prediction_with_an_edge_is_in_its_component() -> None:
    void = np.array([1, 1, 0, 0, 0, 0], bool)
    overlap = pm.count_overlaps([0, 0, 1, 1, 1, 1], [5, 5, 5, 0, 0, 0], void)
    found = pm.graph_structure(overlap)
    assert (found["1-1"].predictions, found["1-1"].pred_voxels) == (1, 1)
    assert pm.graph_structure(overlap, 0.5).components["prediction"] == 0  # dismissed from here on


@pytest.mark.parametrize(("score", "joined"), [("iou", 0), ("reference-share", 1)])
def test_edges_may_be_judged_by_another_score(score: Score, joined: int) -> None:
    overlap = pm.count_overlaps([1, 1, 0, 0, 0, 0], [2, 2, 2, 2, 2, 2])
    assert pm.graph_structure(overlap, 0.5, score=score).components["1-1"] == joined


def test_a_structure_survives_json() -> None:
    found = pm.graph_structure(pm.count_overlaps([1, 1, 2, 0], [1, 2, 2, 3]))
    assert pm.GraphStructure.from_dict(found.to_dict()) == found
    assert pm.GraphStructure() + found == found


def test_every_kind_says_what_it_means() -> None:
    assert tuple(MEANINGS) == COMPONENT_KINDS
    assert pm.GraphStructure().counts == (ComponentCounts(),) * 6


def test_what_has_no_structure_is_refused() -> None:
    overlap = pm.count_overlaps([1, 1, 2], [1, 1, 1])
    with pytest.raises(OverlapError, match=r"cut by regions.*pass count_overlaps"):
        pm.graph_structure(pm.count_region_overlaps([1, 1, 2], [1, 1, 1]))
    with pytest.raises(ThresholdError, match="threshold=1"):
        pm.graph_structure(overlap, 1.0)
    with pytest.raises(LabelError, match="not an Overlap"):
        pm.graph_structure(np.ones(3))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="kind='2-2'"):
        pm.graph_structure(overlap)["2-2"]  # type: ignore[index]
