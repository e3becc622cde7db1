"""Each simulated model has its habit and no other, as panmatch itself finds out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.evaluation import Diagnosis, diagnose
from panmatch.labels import connected_components
from panmatch.phantoms import (
    SIMULATED_MODELS,
    AddsSpurious,
    Anatomy,
    Merges,
    MissesSmall,
    Prediction,
    Profile,
    Redraws,
    SimulatedModel,
    Splits,
    brain_metastases,
    cells,
    liver_lesions,
    spine,
)

Image = npt.NDArray[np.integer[Any]]

ANATOMIES: dict[str, Anatomy] = {
    "brain": brain_metastases((56, 64, 56), 9, radius_mm=(1.5, 9)),
    "flat brain": brain_metastases((128, 128), 8, radius_mm=(2, 12), seed=1),
    "brain in thick slices": brain_metastases(
        (20, 72, 64), 8, radius_mm=(2, 10), spacing=(4, 1, 1)
    ),
    "liver": liver_lesions((48, 72, 80), 8, radius_mm=(1.5, 7)),
    "flat liver": liver_lesions((128, 160), 9, radius_mm=(2, 12), seed=3),
    "spine": spine((96, 64, 56), 4),
    "flat spine": spine((128, 80), 5),
    "cells": cells((96, 96), 40),
    "cells in 3-D": cells((20, 32, 32), 25, spacing=(2, 1, 1)),
}
SEMANTIC = [name for name, anatomy in ANATOMIES.items() if anatomy.is_semantic]
SINGLE: dict[str, Anatomy] = {
    "brain": brain_metastases((40, 40, 40), 1, radius_mm=(6, 6)),
    "liver": liver_lesions((64, 64), 1, radius_mm=(5, 5)),
    "spine": spine((40, 60), 1),
    "cells": cells((20, 20), 1),
}
EMPTY: dict[str, Anatomy] = {
    "brain": brain_metastases((40, 40, 40), 0),
    "liver": liver_lesions((64, 64), 0),
    "spine": spine((40, 60), 0),
    "cells": cells((20, 20), 0),
}
REDRAWING = ["redraws-slightly", "redraws"]

every_anatomy = pytest.mark.parametrize("name", ANATOMIES)
every_model = pytest.mark.parametrize("model", SIMULATED_MODELS.values(), ids=SIMULATED_MODELS)
every_seed = pytest.mark.parametrize("seed", range(3))


def objects_seen(anatomy: Anatomy, prediction: Prediction) -> Image:
    """Find the objects of a prediction as an evaluation would: it does not know their ids."""
    if not anatomy.is_semantic:
        return prediction.labels
    lesions = [label for label in anatomy.names if label != anatomy.host]
    return connected_components(np.isin(prediction.labels, lesions), "full")


def diagnosed(anatomy: Anatomy, prediction: Prediction) -> Diagnosis:
    return diagnose(pm.count_overlaps(anatomy.objects, objects_seen(anatomy, prediction)))


def counts(found: Diagnosis) -> tuple[int, int, int, int]:
    return len(found.split), len(found.merged), len(found.missed), len(found.spurious)


def ids_of(image: Image) -> list[int]:
    ids: list[int] = np.unique(image[image != 0]).tolist()
    return ids


def sizes_of(anatomy: Anatomy) -> dict[int, float]:
    ids, voxels = np.unique(anatomy.objects[anatomy.objects > 0], return_counts=True)
    return dict(zip(ids.tolist(), (voxels * np.prod(anatomy.spacing)).tolist(), strict=True))


def partners(first: Image, second: Image) -> set[tuple[int, int]]:
    """List which ids of two images share a voxel, background aside."""
    both = (first > 0) & (second > 0)
    return set(zip(first[both].tolist(), second[both].tolist(), strict=True))


@every_model
@every_anatomy
@every_seed
def test_the_profile_is_what_panmatch_finds(model: SimulatedModel, name: str, seed: int) -> None:
    anatomy = ANATOMIES[name]
    prediction = model.predict(anatomy, seed)
    profile, found = prediction.profile, diagnosed(anatomy, prediction)
    assert found.split.tolist() == sorted(profile.split)
    assert len(found.merged) == len(profile.merged)
    assert found.missed.tolist() == list(profile.missed)
    assert len(found.spurious) == len(profile.spurious)


@every_model
@every_anatomy
def test_ids_of_a_prediction_are_those_that_the_profile_speaks_of(
    model: SimulatedModel, name: str
) -> None:
    anatomy = ANATOMIES[name]
    prediction = model.predict(anatomy, 1)
    profile = prediction.profile
    expected = set(ids_of(anatomy.objects)) - set(profile.missed) - {b for _, b in profile.merged}
    expected |= {piece for pieces in profile.split.values() for piece in pieces}
    assert ids_of(prediction.objects) == sorted(expected | set(profile.spurious))


@every_model
@pytest.mark.parametrize("name", SEMANTIC)
@every_seed
def test_components_of_a_semantic_prediction_are_its_objects(
    model: SimulatedModel, name: str, seed: int
) -> None:
    prediction = model.predict(ANATOMIES[name], seed)
    seen = objects_seen(ANATOMIES[name], prediction)
    assert np.array_equal(seen > 0, prediction.objects > 0)
    pairs = partners(seen, prediction.objects)
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)


@every_model
@every_anatomy
def test_labels_and_parts_stay_consistent(model: SimulatedModel, name: str) -> None:
    anatomy = ANATOMIES[name]
    prediction = model.predict(anatomy, 2)
    assert prediction.labels.dtype == prediction.objects.dtype == np.int32
    assert not (prediction.objects[~anatomy.room]).any()
    if prediction.parts is None:
        assert anatomy.is_semantic
        outside = prediction.objects == 0
        assert (prediction.labels[outside & anatomy.room] == anatomy.host).all()
        assert not prediction.labels[~anatomy.room].any()
    else:
        assert np.array_equal(prediction.labels, prediction.objects)
        assert np.array_equal(prediction.parts > 0, prediction.labels > 0)
        assert set(ids_of(prediction.parts)) <= set(anatomy.part_names)
        low_high = anatomy.id_ranges
        assert all(any(a <= k <= b for a, b in low_high) for k in ids_of(prediction.labels))


@every_model
@every_anatomy
def test_the_seed_decides_and_the_anatomy_stays_as_it_is(model: SimulatedModel, name: str) -> None:
    anatomy = ANATOMIES[name]
    before = anatomy.labels.copy()
    first, again = model.predict(anatomy, 5), model.predict(anatomy, 5)
    assert np.array_equal(first.labels, again.labels)
    assert first.profile == again.profile
    assert np.array_equal(anatomy.labels, before)


@every_model
def test_other_seeds_give_other_predictions(model: SimulatedModel) -> None:
    for name in ("brain", "cells"):
        results = [model.predict(ANATOMIES[name], seed).labels for seed in range(6)]
        assert any(not np.array_equal(results[0], other) for other in results[1:])


@every_anatomy
@every_seed
def test_splitting_does_nothing_else(name: str, seed: int) -> None:
    anatomy = ANATOMIES[name]
    prediction = SIMULATED_MODELS["splits"].predict(anatomy, seed)
    split = prediction.profile.split
    assert prediction.profile == Profile(split=split)
    assert counts(diagnosed(anatomy, prediction)) == (len(split), 0, 0, 0)
    sizes = sizes_of(anatomy)
    assert max(sizes.values()) in {sizes[number] for number in split}
    assert min(sizes[number] for number in split) >= np.median(list(sizes.values()))
    for number, pieces in split.items():
        assert len(pieces) >= 2
        assert set(np.unique(anatomy.objects[np.isin(prediction.objects, pieces)])) == {number}
    whole = ~np.isin(anatomy.objects, list(split))
    assert np.array_equal(prediction.labels[whole], anatomy.labels[whole])


def test_fragments_of_ids_cover_the_object_and_those_of_components_leave_gaps() -> None:
    for name, anatomy in ANATOMIES.items():
        prediction = Splits(pieces=2, probability=0).predict(anatomy)
        ((number, pieces),) = prediction.profile.split.items()
        left = np.isin(prediction.objects, pieces).sum() / (anatomy.objects == number).sum()
        assert len(pieces) == 2 or anatomy.is_semantic
        assert (left < 1) if name in SEMANTIC else (left == 1)


def test_fragments_are_made_of_what_the_object_was() -> None:
    brain = ANATOMIES["brain"]
    prediction = SIMULATED_MODELS["splits"].predict(brain)
    kept = prediction.objects > 0
    assert np.array_equal(prediction.labels[kept], brain.labels[kept])


def test_an_object_too_small_to_leave_two_pieces_stays_whole() -> None:
    brain = brain_metastases((24, 24, 24), 3, radius_mm=(1, 1))
    prediction = Splits(probability=1, limit=0).predict(brain)
    assert prediction.profile == Profile()
    assert np.array_equal(prediction.labels, brain.labels)


def test_fragments_take_free_labels_of_their_kind_while_there_are_any() -> None:
    column = spine((340, 80), 24)
    split = Splits(pieces=3, probability=1, limit=0).predict(column).profile.split
    vertebrae = {number: pieces for number, pieces in split.items() if number <= 28}
    assert len(vertebrae) == 2
    assert sorted(k for pieces in vertebrae.values() for k in pieces[1:]) == [25, 26, 27, 28]
    assert len(split) == 2 + 23


@every_anatomy
@every_seed
def test_merging_merges_and_does_nothing_else(name: str, seed: int) -> None:
    anatomy = ANATOMIES[name]
    prediction = SIMULATED_MODELS["merges"].predict(anatomy, seed)
    merged = prediction.profile.merged
    assert prediction.profile == Profile(merged=merged)
    assert merged
    assert counts(diagnosed(anatomy, prediction)) == (0, len(merged), 0, 0)
    members = [number for pair in merged for number in pair]
    assert len(set(members)) == len(members)
    for low, high in merged:
        assert low < high
        assert set(np.unique(prediction.objects[np.isin(anatomy.objects, [low, high])])) == {low}
    inside = anatomy.objects > 0
    if anatomy.is_semantic:
        assert np.array_equal(prediction.labels[inside], anatomy.labels[inside])


@pytest.mark.parametrize("name", SEMANTIC)
def test_bridges_are_made_of_the_outermost_layer(name: str) -> None:
    anatomy = ANATOMIES[name]
    prediction = SIMULATED_MODELS["merges"].predict(anatomy)
    built = (prediction.objects > 0) & (anatomy.objects == 0)
    assert np.unique(prediction.labels[built]).tolist() == [anatomy.layers[0]]


def test_vertebrae_merge_with_vertebrae_and_discs_with_discs() -> None:
    for seed in range(5):
        merged = Merges(share=1).predict(ANATOMIES["flat spine"], seed).profile.merged
        assert all((low > 28) == (high > 28) for low, high in merged)
        assert {high - low for low, high in merged} == {1}


def test_objects_out_of_reach_do_not_merge() -> None:
    assert Merges(share=1, reach_mm=1).predict(ANATOMIES["brain"]).profile == Profile()
    assert Merges(share=0).predict(ANATOMIES["cells"]).profile == Profile()


def test_no_bridge_runs_through_a_third_object() -> None:
    image = np.zeros((9, 21), dtype=int)
    image[3:6, 1:4], image[3:6, 9:12], image[3:6, 17:20] = 1, 1, 1
    row, model = of_one_label(image), Merges(share=0.1, reach_mm=50)
    merged = {model.predict(row, seed).profile.merged for seed in range(9)}
    assert merged == {((1, 2),), ((2, 3),)}


def test_no_bridge_touches_a_third_object() -> None:
    image = np.zeros((9, 30), dtype=int)
    image[8, 1:4], image[8, 26:29] = 1, 1
    image[1:3, 13:16], image[4:8, 13:16] = 1, 1  # the lower one ends just above the straight way
    scene, outcomes = of_one_label(image), set()
    low, high = scene.objects[1, 14], scene.objects[4, 14]
    for seed in range(12):
        prediction = Merges(share=1, reach_mm=50).predict(scene, seed)
        merged = prediction.profile.merged
        assert counts(diagnosed(scene, prediction)) == (0, len(merged), 0, 0)
        assert connected_components(prediction.labels).max() == 4 - len(merged)
        outcomes.add(merged)
    assert ((int(low), int(high)),) in outcomes


@every_anatomy
def test_missing_misses_small_objects_and_does_nothing_else(name: str) -> None:
    anatomy = ANATOMIES[name]
    sizes, gone = sizes_of(anatomy), set[int]()
    for seed in range(6):
        prediction = SIMULATED_MODELS["misses-small"].predict(anatomy, seed)
        missed = prediction.profile.missed
        assert prediction.profile == Profile(missed=missed)
        assert counts(diagnosed(anatomy, prediction)) == (0, 0, len(missed), 0)
        expected = np.where(np.isin(anatomy.objects, missed), anatomy.host, anatomy.labels)
        assert np.array_equal(prediction.labels, expected)
        gone |= set(missed)
    assert gone
    assert max(sizes[number] for number in gone) < np.median(list(sizes.values()))


def test_the_smaller_an_object_the_likelier_it_is_missed() -> None:
    image = np.zeros((60, 60), dtype=np.int32)
    image[1:3, 1:6], image[10:15, 10:15], image[20:25, 20:29], image[40:50, 40:50] = 1, 2, 3, 4
    parts = (image > 0).astype(np.int32)
    four = Anatomy(image, parts, image, image >= 0, (1.0, 1.0), {}, {1: "x"}, (1,))
    misses = np.zeros(5)
    for seed in range(400):
        misses[list(MissesSmall(limit=50).predict(four, seed).profile.missed)] += 1
    assert np.abs(misses[1:] / 400 - [0.8, 0.5, 0.1, 0.0]).max() < 0.07
    assert misses[4] == 0


@every_anatomy
@every_seed
@pytest.mark.parametrize("model", REDRAWING)
def test_redrawing_finds_every_object_and_change_outlines_only(
    name: str, seed: int, model: str
) -> None:
    anatomy = ANATOMIES[name]
    prediction = SIMULATED_MODELS[model].predict(anatomy, seed)
    assert prediction.profile == Profile()
    assert counts(diagnosed(anatomy, prediction)) == (0, 0, 0, 0)
    assert not np.array_equal(prediction.objects, anatomy.objects)
    overlap = pm.count_overlaps(anatomy.objects, prediction.objects)
    assert overlap.pred_ids.tolist() == overlap.ref_ids.tolist()
    for number in ids_of(anatomy.objects):
        before, after = anatomy.objects == number, prediction.objects == number
        grown, shrunken = (before & ~after).sum() == 0, (after & ~before).sum() == 0
        assert grown or shrunken
        if anatomy.parts is not None:
            assert 2 * after.sum() >= before.sum()


@every_anatomy
def test_slight_redrawing_is_better(name: str) -> None:
    anatomy = ANATOMIES[name]
    quality = {}
    for model in REDRAWING:
        tallies = [
            pm.match(
                pm.count_overlaps(
                    anatomy.objects, SIMULATED_MODELS[model].predict(anatomy, seed).objects
                ),
                threshold=0.0,
            ).tally
            for seed in range(3)
        ]
        assert all(tally.fp == tally.fn == 0 for tally in tallies)
        quality[model] = sum(tally.quality for tally in tallies)
    assert quality["redraws-slightly"] > quality["redraws"]


@pytest.mark.parametrize("name", ["spine", "flat spine", "cells"])
@every_seed
def test_what_an_object_takes_from_another_is_made_like_itself(name: str, seed: int) -> None:
    anatomy = ANATOMIES[name]
    prediction = SIMULATED_MODELS["redraws"].predict(anatomy, seed)
    assert anatomy.parts is not None
    assert prediction.parts is not None
    taken = (anatomy.objects > 0) & (prediction.objects > 0)
    assert (anatomy.objects != prediction.objects)[taken].any()
    after = partners(prediction.objects, prediction.parts)
    assert after <= partners(anatomy.objects, anatomy.parts)


def of_one_label(image: Image) -> Anatomy:
    """Make an anatomy of which every component is an object."""
    labels, objects = image.astype(np.int32), connected_components(image).astype(np.int32)
    room = np.ones(image.shape, dtype=bool)
    return Anatomy(labels, None, objects, room, (1.0,) * image.ndim, {1: "lesion"}, {}, (1,))


@pytest.mark.parametrize("gap", [1, 2, 3])
def test_objects_that_grow_towards_each_other_stay_apart(gap: int) -> None:
    image = np.ones((40, 40), dtype=int)
    for start in range(9, 40, 9 + gap):
        image[start : start + gap] = 0
        image[:, start : start + gap] = 0
    crowded = of_one_label(image)
    assert crowded.objects.max() == (40 // (9 + gap) + (40 % (9 + gap) > 0)) ** 2
    for seed in range(5):
        prediction = Redraws(4).predict(crowded, seed)
        assert counts(diagnosed(crowded, prediction)) == (0, 0, 0, 0)
        assert connected_components(prediction.labels).max() == crowded.objects.max()


def test_an_object_that_shrinks_at_a_narrow_place_stays_in_one_piece() -> None:
    image = np.zeros((25, 60), dtype=int)
    image[2:22, 2:22], image[4:20, 38:54], image[12, 22:38] = 1, 1, 1
    dumbbell = of_one_label(image)
    sizes = set()
    for seed in range(12):
        prediction = Redraws(3).predict(dumbbell, seed)
        assert connected_components(prediction.labels).max() == 1
        sizes.add(int(prediction.labels.sum()))
    assert min(sizes) <= 400  # the neck broke at least once, and the larger end was kept
    assert max(sizes) > image.sum()


def test_redrawing_moves_parts_but_loses_none() -> None:
    for name in ("brain", "flat brain", "cells", "spine"):
        anatomy = ANATOMIES[name]
        prediction = SIMULATED_MODELS["redraws-slightly"].predict(anatomy)
        before = anatomy.labels if anatomy.parts is None else anatomy.parts
        after = prediction.labels if prediction.parts is None else prediction.parts
        same = anatomy.objects == prediction.objects
        assert (before[same] != after[same]).any()
        assert partners(anatomy.objects, before) == partners(prediction.objects, after)


def test_outlines_off_by_less_than_a_voxel_stay() -> None:
    for anatomy in ANATOMIES.values():
        offset = 0.99 * min(anatomy.spacing)
        prediction = Redraws(offset).predict(anatomy)
        assert np.array_equal(prediction.objects, anatomy.objects)


@every_anatomy
@every_seed
def test_adding_spurious_objects_adds_them_and_does_nothing_else(name: str, seed: int) -> None:
    anatomy = ANATOMIES[name]
    prediction = AddsSpurious(count=3, radius_mm=(1, 2)).predict(anatomy, seed)
    spurious = prediction.profile.spurious
    assert prediction.profile == Profile(spurious=spurious)
    assert len(spurious) == 3
    assert counts(diagnosed(anatomy, prediction)) == (0, 0, 0, 3)
    false = np.isin(prediction.objects, spurious)
    assert not anatomy.objects[false].any()
    assert np.array_equal(prediction.labels[~false], anatomy.labels[~false])
    made_of = prediction.labels if prediction.parts is None else prediction.parts
    for number in spurious:
        found = ids_of(made_of[prediction.objects == number])
        assert found == sorted(set(anatomy.layers[:2]))


def test_no_room_means_fewer_spurious_objects() -> None:
    ones = np.ones((9, 9), dtype=np.int32)
    full = Anatomy(ones, ones, ones, ones > 0, (1.0, 1.0), {}, {1: "x"}, (1,))
    assert AddsSpurious(3).predict(full).profile == Profile()
    liver = EMPTY["liver"]
    many = AddsSpurious(10**3, radius_mm=(4, 4)).predict(liver).profile.spurious
    assert list(many) == list(range(1, len(many) + 1))
    assert 3 < len(many) < 60


def test_false_vertebrae_end_with_their_labels() -> None:
    spurious = AddsSpurious(40, radius_mm=(1, 1)).predict(spine((128, 80), 5)).profile.spurious
    assert spurious == tuple(sorted({*range(1, 29)} - {20, 21, 22, 23, 24}))


@every_model
@pytest.mark.parametrize("name", SINGLE)
def test_one_object_is_enough(model: SimulatedModel, name: str) -> None:
    anatomy = SINGLE[name]
    prediction = model.predict(anatomy)
    profile = prediction.profile
    expected = (len(profile.split), 0, 0, len(profile.spurious))
    assert counts(diagnosed(anatomy, prediction)) == expected
    assert len(profile.split) == int(isinstance(model, Splits))
    assert (len(profile.spurious) > 0) == (isinstance(model, AddsSpurious) and name != "cells")


@every_model
@pytest.mark.parametrize("name", EMPTY)
def test_without_objects_there_is_nothing_but_spurious_objects(
    model: SimulatedModel, name: str
) -> None:
    anatomy = EMPTY[name]
    prediction = model.predict(anatomy)
    if isinstance(model, AddsSpurious):
        assert counts(diagnosed(anatomy, prediction)) == (0, 0, 0, len(prediction.profile.spurious))
        assert prediction.profile.spurious
    else:
        assert prediction.profile == Profile()
        assert np.array_equal(prediction.labels, anatomy.labels)


def test_the_catalogue_is_fixed() -> None:
    assert sorted(SIMULATED_MODELS) == [
        "adds-spurious", "merges", "misses-small", "redraws", "redraws-slightly", "splits",
    ]  # fmt: skip
    with pytest.raises(TypeError):
        SIMULATED_MODELS["redraws-slightly"] = Merges()  # type: ignore[index]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Splits(pieces=1), "pieces=1 is out of range; pass 2 or more."),
        (lambda: Splits(probability=2), "probability=2 is out of range; pass 0 to 1, both "
         "included."),
        (lambda: Splits(limit=-1), "limit=-1 is not a volume; pass 0 mm³ or more, or None for "
         "the median volume."),
        (lambda: MissesSmall(limit=float("nan")), "limit=nan is not a volume; pass 0 mm³ or "
         "more, or None for the median volume."),
        (lambda: Merges(share=-0.1), "share=-0.1 is out of range; pass 0 to 1, both included."),
        (lambda: Merges(reach_mm=-3), "reach_mm=-3 is not a distance; pass a finite number of mm, "
         "0 or more."),
        (lambda: Redraws(-1), "offset_mm=-1 is not a distance; pass a finite number of mm, 0 or "
         "more."),
        (lambda: AddsSpurious(-1), "count=-1 is out of range; pass 0 or more."),
        (lambda: AddsSpurious(radius_mm=(3, 1)), "radius_mm=(3, 1) has its bounds in the wrong "
         "order; pass (lowest, highest): (1, 3)."),
        (lambda: Merges().predict(EMPTY["liver"], seed=-1), "seed=-1 is out of range; pass 0 or "
         "more."),
    ],
)  # fmt: skip
def test_refusals_name_argument_value_and_remedy(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        call()
    assert str(caught.value) == message
