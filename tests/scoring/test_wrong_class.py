"""Right objects of the wrong class, against giving them their class on the voxels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from tests import brute_force
from tests.strategies import BY_NAME

Labels = npt.NDArray[np.int64]
CLASSES = (1, 2, 3)
KINDS = [pm.SegmentClass(number, thing=number != 3) for number in CLASSES]
TAUS = (0.0, 0.3, 0.5)


def random_classes(seed: int) -> tuple[Labels, Labels, Labels, Labels]:
    """Return instances and classes of a reference, and of a prediction that confuses classes."""
    rng = np.random.default_rng(seed)
    reference = brute_force.random_labels(rng, (9, 18), 6)
    prediction = np.where(rng.random(reference.shape) < 0.15, 0, reference)
    prediction[rng.random(reference.shape) < 0.1] = 7
    kinds_of = rng.integers(1, 4, 8)
    kinds_of[0] = 0
    guessed = np.where(rng.random(8) < 0.5, rng.integers(1, 4, 8), kinds_of)
    guessed[0] = 0
    return reference, kinds_of[reference], prediction, guessed[prediction]


def sides_of(
    reference: Labels, ref_classes: Labels, prediction: Labels, pred_classes: Labels
) -> pm.ClassOverlaps:
    sides = [
        pm.from_maps(classes, ids, KINDS, numbering="global")
        for ids, classes in ((reference, ref_classes), (prediction, pred_classes))
    ]
    return pm.count_class_overlaps(*sides)


def right_classes(
    reference: Labels, ref_classes: Labels, prediction: Labels, pred_classes: Labels,
    matchings: dict[int, pm.Matching], tau: float,
) -> Labels:  # fmt: skip
    """Move unmatched predictions to the class of the unmatched object they show, best first."""
    missed = {(c, g) for c in (1, 2) for g in matchings[c].missed.tolist()}
    spurious = {(c, p) for c in (1, 2) for p in matchings[c].false_positives.tolist()}
    pairs = []
    for c, g in missed:
        for d, p in spurious:
            ref, pred = (
                (reference == g) & (ref_classes == c),
                (prediction == p) & (pred_classes == d),
            )
            iou = (ref & pred).sum() / (ref | pred).sum()
            if c != d and iou > tau:
                pairs.append((-iou, c, g, d, p))
    moved = pred_classes.copy()
    for _, c, g, d, p in sorted(pairs):
        if (c, g) in missed and (d, p) in spurious:
            missed.remove((c, g))
            spurious.remove((d, p))
            moved[(prediction == p) & (pred_classes == d)] = c
    return moved


@pytest.mark.parametrize("name", BY_NAME)
def test_it_is_as_if_the_voxels_had_the_right_class(name: str) -> None:
    strategy, changed = BY_NAME[name], 0
    for seed in range(40):
        tau = TAUS[seed % len(TAUS)]
        scene = random_classes(seed)
        overlaps = sides_of(*scene)
        matchings = pm.match_classes(overlaps, strategy, tau)
        budgets = pm.class_error_budgets(overlaps, strategy, tau)
        moved = right_classes(*scene, matchings, tau)
        after = pm.tally_classes(sides_of(*scene[:3], moved), strategy, tau)
        for number in CLASSES:
            assert budgets[number].tally == matchings[number].tally
            assert budgets[number].tally_after(["class"]) == after[number]
            changed += after[number] != matchings[number].tally
            assert sum(budgets[number].shares.values()) == pytest.approx(
                1 - budgets[number].pq, abs=1e-12, nan_ok=True
            )
    assert changed > 15


def test_stuff_keeps_its_class() -> None:
    ids, sky, person = np.array([[1, 1, 1, 1]]), np.full((1, 4), 3), np.full((1, 4), 1)
    budgets = pm.class_error_budgets(sides_of(ids, sky, ids, person))
    assert budgets[1].repaired["class"] == budgets[1].pq == 0
    assert budgets[3].repaired["class"] == 0


def test_edges_between_classes_add_over_chunks() -> None:
    for seed in range(20):
        scene = random_classes(seed)
        whole = sides_of(*scene)
        top, bottom = (
            sides_of(*(array[rows] for array in scene)) for rows in (slice(0, 4), slice(4, None))
        )
        both = top + bottom
        for column in ("ref", "pred", "intersection"):
            assert np.array_equal(both.across[column], whole.across[column])
    assert len(whole.across) > 3


def test_evaluations_know_the_wrong_class() -> None:
    spec = {
        "classes": {"cat": {"labels": "1-9"}, "dog": {"labels": "11-19"}},
        "matching": ["one-to-one", {"strategy": "one-to-one", "regions": True}],
        "thresholds": 0.5,
    }
    reference = np.array([[1, 1, 1, 0, 12, 12, 0, 2]])
    prediction = np.array([[11, 11, 11, 0, 12, 12, 0, 0]])
    result = pm.evaluate(reference=reference, prediction=prediction, spec=spec)
    cases = result.budget[result.budget["averaging"] == "case"].set_index(["class", "regions"])
    assert cases.loc[("cat", ""), "pq"] == 0
    assert cases.loc[("cat", ""), "pq_after_class"] == pytest.approx(1 / 1.5)
    assert cases.loc[("dog", ""), "pq"] == pytest.approx(1 / 1.5)
    assert cases.loc[("dog", ""), "pq_after_class"] == 1
    assert (cases.loc[(slice(None), "voronoi"), "share_class"] == 0).all()
