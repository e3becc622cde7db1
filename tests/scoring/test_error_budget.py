"""The error budget against repairs that are made on the voxels, one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import isnan

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given

import panmatch as pm
from panmatch.errors import CallError
from panmatch.scoring import REPAIRS, Repair
from tests import brute_force
from tests.brute_force import Scene
from tests.hypothesis_scenes import overlaps, strategies, thresholds
from tests.strategies import BY_NAME, OPTIMAL

Labels = npt.NDArray[np.int64]
Masks = list[npt.NDArray[np.bool_]]
TAUS = (0.0, 0.25, 0.5, 0.6)


def random_mistakes(seed: int) -> tuple[Labels, Labels]:
    """Return references, and predictions that are split, merged, missed, spurious and ragged."""
    rng = np.random.default_rng(seed)
    reference = np.zeros((8, 20), np.int64)
    for k in range(4):
        top, height, width = rng.integers(0, 4), rng.integers(3, 5), rng.integers(3, 5)
        reference[top : top + height, 5 * k : 5 * k + width] = k + 1
    prediction = reference.copy()
    for k in range(1, 5):
        deed = rng.integers(0, 5)
        if deed == 0:
            prediction[reference == k] = 0
        elif deed == 1:
            prediction[(reference == k) & (np.arange(20) % 5 < 2)] = 10 + k
        elif deed == 2 and k > 1:
            prediction[reference == k] = k - 1
        elif deed == 3:
            rows = np.arange(8)[:, None]
            prediction[(reference == k) & (rows % 3 == 0)] = 20 + k
    noise = rng.random(prediction.shape) < rng.choice([0.05, 0.2, 0.4])
    prediction[noise] = rng.choice([0, 1, 3, 30, 31], noise.sum())
    return reference, prediction


def join_voxels(reference: Labels, prediction: Labels) -> Labels:
    """Give predictions that belong to one reference the label of the one that shares most."""
    joined = prediction.copy()
    refs, preds, shared = brute_force.count_overlaps(reference, prediction)
    for g in refs:
        members = sorted(
            (p for p in preds if 2 * shared[g, p] > preds[p]), key=lambda p: (-shared[g, p], p)
        )
        for p in members[1:]:
            joined[prediction == p] = members[0]
    return joined


def cut_voxels(reference: Labels, prediction: Labels) -> Labels:
    """Give every reference but one that belongs to a prediction a label of its own there."""
    cut = prediction.copy()
    refs, preds, shared = brute_force.count_overlaps(reference, prediction)
    free = int(prediction.max()) + 1
    for p in sorted(preds):
        captives = sorted(
            (g for g in refs if 2 * shared[g, p] > refs[g]), key=lambda g: (-shared[g, p], g)
        )
        for g in sorted(captives[1:]):
            cut[(prediction == p) & (reference == g)] = free
            free += 1
    return cut


@dataclass(frozen=True)
class Mistakes:
    """A random scene and what joining and cutting make of it, the same for every strategy."""

    reference: Labels
    prediction: Labels
    repaired: dict[tuple[Repair, ...], pm.Overlap]


@cache
def mistakes(seed: int) -> Mistakes:
    reference, prediction = random_mistakes(seed)
    joined = join_voxels(reference, prediction)
    repaired: dict[tuple[Repair, ...], Labels] = {
        (): prediction,
        ("split",): joined,
        ("merged",): cut_voxels(reference, prediction),
        ("split", "merged"): cut_voxels(reference, joined),
    }
    overlaps = {key: pm.count_overlaps(reference, after) for key, after in repaired.items()}
    return Mistakes(reference, prediction, overlaps)


def masks_of(labels: Labels) -> Masks:
    return [labels == label for label in np.unique(labels[labels > 0])]


@dataclass(frozen=True)
class MaskScene(Scene):
    """A scene whose predictions may overlap, as one that is drawn over others does."""

    masks: tuple[Masks, Masks]

    def iou(self, g: int, preds: list[int]) -> Fraction:
        union = np.any([self.masks[1][p] for p in preds], axis=0)
        ref = self.masks[0][g]
        return Fraction(int((union & ref).sum()), int((union | ref).sum()))


def scene_of(refs: Masks, preds: Masks) -> Scene:
    flat = [np.array([mask.ravel() for mask in masks], np.int64) for masks in (refs, preds)]
    table = flat[0] @ flat[1].T if refs and preds else np.zeros((0, 0), np.int64)
    shared = {(int(g), int(p)): int(table[g, p]) for g, p in np.argwhere(table)}
    ref_sizes, pred_sizes = ([int(mask.sum()) for mask in masks] for masks in (refs, preds))
    owners = list(range(len(preds)))
    dismissible = [False] * len(preds)
    return MaskScene(ref_sizes, pred_sizes, shared, dismissible, owners, (refs, preds))


Redraw = Callable[[Masks, Masks, brute_force.Pairs], Masks]


def find_missed(refs: Masks, preds: Masks, pairs: brute_force.Pairs) -> Masks:
    found = {g for g, _ in pairs}
    return [*preds, *(ref for g, ref in enumerate(refs) if g not in found)]


def remove_spurious(_: Masks, preds: Masks, pairs: brute_force.Pairs) -> Masks:
    used = {p for _, p in pairs}
    return [pred for p, pred in enumerate(preds) if p in used]


def redraw_outlines(refs: Masks, preds: Masks, pairs: brute_force.Pairs) -> Masks:
    used = {p for _, p in pairs}
    unused = [pred for p, pred in enumerate(preds) if p not in used]
    return [*(refs[g] for g in sorted({g for g, _ in pairs})), *unused]


REDRAWN: dict[Repair, Redraw] = {
    "missed": find_missed,
    "spurious": remove_spurious,
    "outline": redraw_outlines,
}


def pq_of(scene: Scene, strategy: str, tau: float) -> float:
    return float(brute_force.count(scene, brute_force.STRATEGIES[strategy](scene, tau)).pq)


@pytest.mark.parametrize("name", list(BY_NAME | OPTIMAL))
def test_every_repair_is_the_repair_of_the_voxels(name: str) -> None:
    strategy = {**BY_NAME, **OPTIMAL}[name]
    changed = dict.fromkeys(REPAIRS, 0)
    for seed in range(600 if name in BY_NAME else 40):
        made = mistakes(seed)
        tau = TAUS[seed % len(TAUS)]
        budget = pm.error_budget(pm.match(made.repaired[()], strategy, tau))
        for repairs, after in made.repaired.items():
            expected = pm.match(after, strategy, tau).tally.pq
            assert budget.pq_after(repairs) == expected
            if len(repairs) == 1:
                changed[repairs[0]] += expected != budget.pq
        refs, preds = masks_of(made.reference), masks_of(made.prediction)
        pairs = brute_force.STRATEGIES[name](scene_of(refs, preds), tau)
        for repair, redraw in REDRAWN.items():
            scene = scene_of(refs, redraw(refs, preds, pairs))
            after_pq = 1.0 if not scene.refs and not scene.preds else pq_of(scene, name, tau)
            found = budget.repaired[repair]
            if name.startswith(("many-to-one/optimal", "one-to-many/optimal")):
                # What is best elsewhere may change with PQ; a repair leaves everything else be.
                assert found <= after_pq + 1e-12
            else:
                assert found == pytest.approx(after_pq, abs=1e-12)
            changed[repair] += found != budget.pq
    assert min(changed[repair] for repair in REPAIRS if repair != "class") > 3, changed


@pytest.mark.parametrize("name", BY_NAME)
def test_joining_and_cutting_in_regions_is_done_before_the_cells_cut(name: str) -> None:
    changed = 0
    for seed in range(60):
        reference, prediction = random_mistakes(seed)
        tau = TAUS[seed % len(TAUS)]
        cells = pm.count_region_overlaps(reference, prediction)
        budget = pm.error_budget(pm.match(cells, BY_NAME[name], tau))
        repaired: dict[Repair, Labels] = {
            "split": join_voxels(reference, prediction),
            "merged": cut_voxels(reference, prediction),
        }
        for repair, after in repaired.items():
            cut = pm.count_region_overlaps(reference, after)
            expected = pm.match(cut, BY_NAME[name], tau).tally.pq
            assert budget.repaired[repair] == expected
            changed += expected != budget.pq
    assert changed > 5


@given(overlaps(), strategies, thresholds)
def test_shares_add_up_to_what_is_lost(
    overlap: pm.Overlap, strategy: pm.Strategy, threshold: float
) -> None:
    budget = pm.error_budget(pm.match(overlap, strategy, threshold))
    if isnan(budget.pq):
        assert all(isnan(share) for share in budget.shares.values())
        return
    assert sum(budget.shares.values()) == pytest.approx(1 - budget.pq, abs=1e-12)
    assert budget.pq_after(REPAIRS) == 1.0
    assert budget.pq_after([]) == budget.pq


def test_shares_are_the_mean_over_all_orders() -> None:
    reference, prediction = random_mistakes(7)
    budget = pm.error_budget(pm.match(pm.count_overlaps(reference, prediction), threshold=0.3))
    gains = dict.fromkeys(REPAIRS, 0.0)
    orders = list(permutations(REPAIRS))
    for order in orders:
        for i, repair in enumerate(order):
            gains[repair] += budget.pq_after(order[: i + 1]) - budget.pq_after(order[:i])
    for repair in REPAIRS:
        assert budget.shares[repair] == pytest.approx(gains[repair] / len(orders), abs=1e-12)
        others = [other for other in REPAIRS if other != repair]
        assert budget.last[repair] == 1 - budget.pq_after(others)


@pytest.mark.parametrize("regions", [False, True])
@pytest.mark.parametrize("name", [*BY_NAME, "many-to-one/optimal/seed", "one-to-many/optimal"])
def test_the_cost_of_a_mistake_is_what_repairing_it_alone_on_voxels_brings(
    name: str, regions: bool
) -> None:
    strategy = {**BY_NAME, **OPTIMAL}[name]
    count = pm.count_region_overlaps if regions else pm.count_overlaps
    seen = dict.fromkeys(REPAIRS, 0)
    for seed in range(40):
        reference, prediction = random_mistakes(seed)
        tau = TAUS[seed % len(TAUS)]
        matching = pm.match(count(reference, prediction), strategy, tau)
        mistakes = pm.find_mistakes(matching)
        costs = [mistake.cost(matching.tally) for mistake in mistakes]
        assert costs == sorted(costs, reverse=True)
        for mistake, cost in zip(mistakes, costs, strict=True):
            seen[mistake.kind] += 1
            if mistake.kind in ("split", "merged"):
                after = repair_one(mistake, reference, prediction)
                pq = pm.match(count(reference, after), strategy, tau).tally.pq
                assert cost == pytest.approx(pq - matching.tally.pq, abs=1e-12)
        tally = matching.tally
        gained = [mistake.change for mistake in mistakes if mistake.kind == "outline"]
        assert sum(gained, tally).quality == pytest.approx(tally.tp, abs=1e-9)
        kinds = [mistake.kind for mistake in mistakes]
        assert (kinds.count("missed"), kinds.count("spurious")) == (tally.fn, tally.fp)
        for kind in ("missed", "spurious"):
            changes = [mistake.change for mistake in mistakes if mistake.kind == kind]
            after_all = sum(changes, tally)
            pq = 1.0 if after_all.status == "empty" else after_all.pq
            assert pq == pytest.approx(pm.error_budget(matching).repaired[kind], abs=1e-12)
    assert min(seen[repair] for repair in REPAIRS if repair != "class") > 10, seen


def repair_one(mistake: pm.Mistake, reference: Labels, prediction: Labels) -> Labels:
    """Join the predictions of one reference, or cut one prediction."""
    if mistake.kind == "split":
        only = np.where(np.isin(reference, mistake.ref_ids), reference, 0)
        return join_voxels(only, prediction)
    alone = np.where(np.isin(prediction, mistake.pred_ids), prediction, 0)
    cut = cut_voxels(reference, alone)
    new = np.isin(cut, mistake.pred_ids, invert=True) & (cut > 0)
    return np.where(new, cut + prediction.max(), prediction)


def test_budgets_of_images_add_exactly() -> None:
    scenes = [random_mistakes(seed) for seed in range(6)]
    budgets = [
        pm.error_budget(pm.match(pm.count_overlaps(*scene), threshold=0.25)) for scene in scenes
    ]
    assert sum(budgets[::-1]) == sum(budgets)
    total = sum(budgets)
    assert isinstance(total, pm.ErrorBudget)
    assert total.tally_after(["split"]) == sum(budget.tally_after(["split"]) for budget in budgets)
    # Side by side in one image they are the same, for no object of one touches another.
    shifted = [
        (reference + 10 * i * (reference > 0), prediction + 100 * i * (prediction > 0))
        for i, (reference, prediction) in enumerate(scenes)
    ]
    sides = [np.concatenate(side) for side in zip(*shifted, strict=True)]
    together = pm.error_budget(pm.match(pm.count_overlaps(*sides), threshold=0.25))
    assert together == total


def test_void_stays_with_what_is_left_of_a_cut_prediction() -> None:
    reference = np.array([1, 1, 1, 0, 0, 2, 2, 0, 0, 0])
    prediction = np.array([5, 5, 5, 5, 5, 5, 5, 5, 5, 5])
    void = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 1], bool)
    budget = pm.error_budget(pm.match(pm.count_overlaps(reference, prediction, void)))
    assert budget.tally == pm.Tally(tp=0, fp=1, fn=2, quality=0.0)
    assert budget.tally_after(["merged"]) == pm.Tally(tp=2, fp=0, fn=0, quality=3 / 5 + 1)


def test_a_prediction_that_moves_to_the_class_is_matched_with_all_others() -> None:
    before = pm.Overlap.from_dense([[5], [0]], ref_sizes=[6, 8], pred_sizes=[5])
    after = pm.Overlap.from_dense([[5, 0], [0, 6]], ref_sizes=[6, 8], pred_sizes=[5, 6])
    budget = pm.error_budget(pm.match(before), after)
    assert budget.tally == pm.Tally(tp=1, fp=0, fn=1, quality=5 / 6)
    assert budget.repaired["class"] == pytest.approx((5 / 6 + 6 / 8) / 2)
    assert budget.shares["class"] > 0
    assert sum(budget.shares.values()) == pytest.approx(1 - budget.pq, abs=1e-12)


def test_nothing_is_split_where_the_input_says_what_belongs_together() -> None:
    overlap = pm.Overlap.from_dense([[4, 4]], ref_sizes=[10], pred_sizes=[4, 4])
    budget = pm.error_budget(pm.match(overlap, pm.SameId(), 0.1))
    assert budget.shares["split"] == budget.shares["merged"] == 0
    assert budget.repaired["outline"] == pytest.approx(2 / 3)


def test_an_empty_reference_is_perfect_once_everything_is_removed() -> None:
    budget = pm.error_budget(pm.match(pm.count_overlaps([0, 0], [1, 2])))
    assert budget.pq == 0
    assert budget.repaired["spurious"] == 1
    assert budget.shares["spurious"] == pytest.approx(1)


@pytest.mark.parametrize("ask", [pm.error_budget, pm.find_mistakes])
def test_anything_but_a_matching_is_an_error_with_the_remedy(
    ask: Callable[[object], object],
) -> None:
    with pytest.raises(CallError, match=r"matching is a Overlap, not a Matching: pass match\("):
        ask(pm.count_overlaps([1], [1]))


def test_an_unknown_repair_is_an_error_that_names_it() -> None:
    budget = pm.error_budget(pm.match(pm.count_overlaps([1], [1])))
    with pytest.raises(pm.PanmatchError, match="repair='splitt'"):
        budget.pq_after(["splitt"])  # type: ignore[list-item]


def test_confidences_change_neither_the_budget_nor_the_mistakes() -> None:
    table = [[9, 0, 0], [5, 0, 0], [0, 4, 4]]
    plain = pm.Overlap.from_dense(table, ref_sizes=[10, 6, 12], pred_sizes=[15, 4, 5])
    for strategy in ("one-to-one", "many-to-one", "one-to-many"):
        for threshold in (0.1, 0.5):
            bare, rated = (
                pm.match(one, strategy, threshold)
                for one in (plain, plain.with_confidence([0.9, 0.2, 0.5]))
            )
            assert pm.error_budget(rated).repaired == pm.error_budget(bare).repaired
            assert pm.find_mistakes(rated) == pm.find_mistakes(bare)
    kinds = {mistake.kind for mistake in pm.find_mistakes(pm.match(plain))}
    assert {"split", "merged"} <= kinds
