"""Bounds of PQ over all ways to choose a rater per object, against trying every one (D18)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.scoring import (
    ObjectGroup,
    ReferenceChoices,
    align_raters,
    choose_references,
)

Labels = npt.NDArray[np.int64]

MOST_TRIED = 5000  # choices of a scene; scenes with more are left out


def random_scene(seed: int) -> tuple[dict[str, Labels], Labels]:
    """Return three or four raters and a model who draw intervals, all of them differently."""
    rng = np.random.default_rng(seed)
    truth = [(int(at), int(rng.integers(2, 7))) for at in np.sort(rng.choice(24, 3, replace=False))]

    def drawn(sloppy: float) -> Labels:
        labels = np.zeros(30, np.int64)
        for number, (start, length) in enumerate(truth, start=1):
            if rng.random() < 0.85:
                begin = max(start + int(rng.integers(-1, 2)), 0)
                labels[begin : max(begin + length + int(rng.integers(-2, 3)), 0)] = number
            if rng.random() < sloppy:
                labels[int(rng.integers(30)) :][:2] = 10 + number
        return labels

    raters = {name: drawn(0.15) for name in "abcd"[: 3 + seed % 2]}
    return raters, drawn(0.3)


def choices_of(
    raters: Mapping[str, Labels], model: Labels, threshold: float, **options: int
) -> tuple[ReferenceChoices, tuple[ObjectGroup, ...]]:
    pairs = {(a, b): pm.count_overlaps(raters[a], raters[b]) for a, b in combinations(raters, 2)}
    groups = align_raters(pairs, threshold)
    overlaps = {name: pm.count_overlaps(labels, model) for name, labels in raters.items()}
    absent = bool(options.pop("absent", True))
    return choose_references(groups, overlaps, threshold, absent=absent, **options), groups


def every_pq(
    raters: Mapping[str, Labels],
    model: Labels,
    groups: tuple[ObjectGroup, ...],
    threshold: float,
    *,
    absent: bool,
) -> list[float]:
    """Return PQ under every choice that has one, each matched anew.

    Nothing if there are too many choices.
    """
    predictions = [model == number for number in np.unique(model[model > 0])]
    allowed = [[who for who in raters if absent or group.ids[who]] for group in groups]
    if math.prod(map(len, allowed)) > MOST_TRIED:
        return []
    rows = {
        (who, number): tuple(_iou(raters[who] == number, one, threshold) for one in predictions)
        for group in groups
        for who, ids in group.ids.items()
        for number in ids
    }
    found = []
    for choice in product(*allowed):
        chosen = [
            rows[who, number]
            for who, group in zip(choice, groups, strict=True)
            for number in group.ids[who]
        ]
        if n := len(chosen) + len(predictions):
            found.append(2 * _best_total(tuple(sorted(chosen))) / n)
    return found


def _iou(one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_], threshold: float) -> float:
    iou = float(np.count_nonzero(one & other) / np.count_nonzero(one | other))
    return iou if iou > threshold else 0.0


@cache
def _best_total(rows: tuple[tuple[float, ...], ...], used: int = 0) -> float:
    """Return the greatest total of a one-to-one matching, by trying everything."""
    if not rows:
        return 0.0
    first, rest = rows[0], rows[1:]
    taken = [
        iou + _best_total(rest, used | 1 << i)
        for i, iou in enumerate(first)
        if iou > 0 and not used >> i & 1
    ]
    return max([_best_total(rest, used), *taken])


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("absent", [True, False])
def test_bounds_are_those_of_trying_every_choice(threshold: float, absent: bool) -> None:
    n_strict = 0
    for seed in range(120):
        raters, model = random_scene(seed)
        choices, groups = choices_of(raters, model, threshold, absent=absent)
        wanted = every_pq(raters, model, groups, threshold, absent=absent)
        if not wanted:
            continue
        bounds = choices.bounds()
        assert bounds.lower.pq == pytest.approx(min(wanted), abs=1e-12), seed
        assert bounds.upper.pq == pytest.approx(max(wanted), abs=1e-12), seed
        assert bounds.is_exact
        n_strict += bounds.lower.pq < bounds.upper.pq
    assert n_strict > 40, n_strict


@pytest.mark.parametrize("most_choices", [1, 4, 16])
def test_with_too_many_choices_the_bounds_still_hold_and_say_that_they_may_not_be_attained(
    most_choices: int,
) -> None:
    inexact = 0
    for seed in range(120):
        raters, model = random_scene(seed)
        choices, groups = choices_of(raters, model, 0.0, most_choices=most_choices)
        wanted = every_pq(raters, model, groups, 0.0, absent=True)
        if not wanted:
            continue
        bounds = choices.bounds()
        assert bounds.proven_lower - 1e-12 <= min(wanted) <= bounds.lower.pq + 1e-12
        assert bounds.upper.pq - 1e-12 <= max(wanted) <= bounds.proven_upper + 1e-12
        if bounds.is_exact:
            assert (bounds.lower.pq, bounds.upper.pq) == pytest.approx((min(wanted), max(wanted)))
        inexact += not bounds.is_exact
    assert inexact > 5, inexact


def test_bounds_are_attained_by_masks_that_share_voxels() -> None:
    """The definition once more, with the masks themselves (D16)."""
    raters, model = random_scene(3)
    choices, groups = choices_of(raters, model, 0.25, absent=0)
    predictions = [model == number for number in np.unique(model[model > 0])]
    found = []
    for choice in product(*([who for who in raters if one.ids[who]] for one in groups)):
        masks = [
            raters[who] == number
            for who, group in zip(choice, groups, strict=True)
            for number in group.ids[who]
        ]
        overlap = pm.Overlap.from_masks(masks, predictions)
        found.append(pm.match(overlap, "one-to-one", 0.25).tally.pq)
    bounds = choices.bounds()
    assert len(found) > 10
    assert (bounds.lower.pq, bounds.upper.pq) == pytest.approx((min(found), max(found)), abs=1e-12)


def test_choices_of_images_add_up_to_choices_of_the_images_together() -> None:
    one, two = random_scene(1)[0], random_scene(3)[0]
    models = random_scene(1)[1], random_scene(3)[1]
    apart = [choices_of(a, b, 0.5)[0] for a, b in zip((one, two), models, strict=True)]
    both = {
        name: np.concatenate([one[name], np.where(two[name], two[name] + 100, 0)]) for name in one
    }
    model = np.concatenate([models[0], np.where(models[1], models[1] + 100, 0)])
    together, _ = choices_of(both, model, 0.5)
    assert (apart[0] + apart[1]).bounds() == (apart[1] + apart[0]).bounds() == together.bounds()
    assert together.bounds().upper.pq != sum(one.bounds().upper.pq for one in apart) / 2


def test_a_rater_who_drew_nothing_can_be_chosen_unless_that_is_ruled_out() -> None:
    raters = {"a": np.array([1, 1, 1, 1, 0, 2]), "b": np.array([3, 3, 3, 0, 0, 0])}
    model = np.array([7, 7, 7, 7, 0, 0])
    with_absence = choices_of(raters, model, 0.5)[0].bounds()
    assert (with_absence.lower, with_absence.upper) == (
        pm.Tally(tp=1, fp=0, fn=1, quality=0.75),
        pm.Tally(tp=1, fp=0, fn=0, quality=1.0),
    )
    drawn_only = choices_of(raters, model, 0.5, absent=0)[0].bounds()
    assert drawn_only.upper == pm.Tally(tp=1, fp=0, fn=1, quality=1.0)


def test_a_rater_who_splits_an_object_contributes_both_halves() -> None:
    raters = {"a": np.array([1, 1, 1, 1, 1]), "b": np.array([2, 2, 2, 3, 3])}
    choices, groups = choices_of(raters, np.array([7, 7, 7, 8, 8]), 0.3)
    assert [dict(group.ids) for group in groups] == [{"a": (1,), "b": (2,)}, {"a": (), "b": (3,)}]
    assert choices.bounds().upper == pm.Tally(tp=2, fp=0, fn=0, quality=2.0)


def test_groups_join_through_a_third_rater_and_are_then_not_consistent() -> None:
    raters = {
        "a": np.array([1, 1, 1, 1, 0, 0, 0]),
        "b": np.array([0, 1, 1, 1, 1, 0, 0]),
        "c": np.array([0, 0, 1, 1, 1, 1, 0]),
    }
    choices, groups = choices_of(raters, raters["a"], 0.5)
    assert [(dict(one.ids), one.is_consistent) for one in groups] == [
        ({"a": (1,), "b": (1,), "c": (1,)}, False)
    ]
    assert (choices.n_groups, choices.n_consistent) == (1, 0)
    _, at_a_third = choices_of(raters, raters["a"], 0.3)
    assert [one.is_consistent for one in at_a_third] == [True]
    _, apart = choices_of(raters, raters["a"], 0.6)
    assert [one.n_raters for one in apart] == [1, 1, 1]


def test_without_objects_bounds_are_undefined_and_without_predictions_they_are_zero() -> None:
    nothing, something = np.zeros(3, np.int64), np.array([1, 1, 0])
    empty = choices_of({"a": nothing, "b": nothing}, nothing, 0.5)[0].bounds()
    assert math.isnan(empty.lower.pq)
    assert empty.is_exact
    missed = choices_of({"a": nothing, "b": something}, nothing, 0.5)[0].bounds()
    assert (missed.lower.pq, missed.upper.pq) == (0.0, 0.0)
    spurious = choices_of({"a": nothing, "b": nothing}, something, 0.5)[0].bounds()
    assert (spurious.lower.pq, spurious.upper.pq) == (0.0, 0.0)


def test_void_is_refused() -> None:
    overlap = pm.count_overlaps([1, 1, 9], [1, 1, 1], void=9)
    with pytest.raises(OptionError, match="overlaps contain void or crowd"):
        choose_references((), {"a": overlap}, 0.5)


def test_every_two_raters_are_needed() -> None:
    overlap = pm.count_overlaps([1], [1])
    with pytest.raises(OptionError, match=r"no \('b', 'c'\): pass the overlap of every two"):
        align_raters({("a", "b"): overlap, ("a", "c"): overlap}, 0.5)
