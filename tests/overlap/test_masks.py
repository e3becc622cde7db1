"""Overlaps of masks that may share voxels (D16)."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import panmatch as pm
from panmatch import related
from panmatch.errors import LabelError, OverlapError, PanmatchError, ShapeError, StrategyError
from panmatch.labels import Masks, read_masks
from panmatch.overlap import Unions
from tests.brute_force import STRATEGIES as BY_BRUTE_FORCE
from tests.brute_force import count
from tests.mask_scenes import MaskScene, random_masks, random_pair, runs_of, text_of
from tests.strategies import BY_NAME, OPTIMAL

SOLVERS = {
    name: strategy
    for name, strategy in (BY_NAME | OPTIMAL).items()
    if name in BY_BRUTE_FORCE and not name.startswith("many-to-one/optimal")
}


def dense(masks: Masks) -> np.ndarray:
    flat = np.zeros((len(masks), int(np.prod(masks.shape))), np.bool_)
    for i, mask in enumerate(flat):
        for run in range(masks.first[i], masks.first[i + 1]):
            mask[masks.start[run] : masks.stop[run]] = True
    return np.array([mask.reshape(masks.shape, order=masks.order) for mask in flat])


@pytest.mark.parametrize("shape", [(9,), (7, 6), (4, 3, 5)])
def test_sizes_and_intersections_equal_counts_on_arrays(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    for _ in range(40):
        refs, preds = (random_masks(rng, int(rng.integers(1, 7)), shape) for _ in range(2))
        ov = pm.Overlap.from_masks(refs, preds)
        kept = [np.flatnonzero(side.reshape(len(side), -1).any(axis=1)) for side in (refs, preds)]
        assert ov.ref_ids.tolist() == (kept[0] + 1).tolist()
        assert ov.pred_ids.tolist() == (kept[1] + 1).tolist()
        table = np.array([[(g & p).sum() for p in preds[kept[1]]] for g in refs[kept[0]]])
        assert ov.ref_sizes.tolist() == [int(refs[i].sum()) for i in kept[0]]
        assert ov.pred_sizes.tolist() == [int(preds[i].sum()) for i in kept[1]]
        found = np.zeros_like(table).reshape(len(kept[0]), len(kept[1]))
        found[ov.edges.ref, ov.edges.pred] = ov.edges.intersection
        assert np.array_equal(found, table.reshape(found.shape))


def test_a_run_that_goes_on_in_the_next_row_meets_what_lies_there() -> None:
    refs, preds = np.zeros((2, 3, 3, 8), np.bool_)
    refs[0].ravel()[5:11] = refs[1].ravel()[6:10] = refs[2, 2, :] = True
    preds[0, 1, :2] = preds[1, 0, 6:] = preds[2, 1, 2] = True
    ov = pm.Overlap.from_masks(refs, preds)
    edges = zip(ov.edges.ref, ov.edges.pred, ov.edges.intersection, strict=True)
    assert sorted(map(tuple, edges)) == [(0, 0, 2), (0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 1, 2)]


def test_many_small_masks_meet_only_their_neighbours() -> None:
    rng = np.random.default_rng(0)
    corners = rng.integers(0, 190, (2, 300, 2))
    sides = np.zeros((2, 300, 200, 200), np.bool_)
    for side, places in zip(sides, corners, strict=True):
        for mask, (y, x) in zip(side, places, strict=True):
            mask[y : y + rng.integers(1, 10), x : x + rng.integers(1, 10)] = True
    sides[1, 7] = False
    sides[1, 7, :, 3] = True  # a tall one
    ov = pm.Overlap.from_masks(*sides)
    flat = sides.reshape(2, 300, -1).astype(np.float32)
    table = (flat[0] @ flat[1].T).astype(np.int64)
    found = np.zeros_like(table)
    found[ov.edges.ref, ov.edges.pred] = ov.edges.intersection
    assert np.array_equal(found, table)


@pytest.mark.parametrize("seed", range(60))
def test_unions_count_shared_voxels_once(seed: int) -> None:
    refs, preds = random_pair(np.random.default_rng(seed))
    ov = pm.Overlap.from_masks(refs, preds)
    if ov.sharing is None:
        assert (preds.sum(axis=0) <= 1).all()
        assert (refs.sum(axis=0) <= 1).all()
        return
    unions = Unions(ov)
    for n in range(1, len(preds) + 1):
        for chosen in combinations(range(len(preds)), n):
            union = preds[list(chosen)].any(axis=0)
            for g, ref in enumerate(refs):
                shared, covered = unions.excess(g, chosen)
                inside = sum(int((ref & preds[p]).sum()) for p in chosen)
                assert inside - shared == (ref & union).sum()
                assert sum(int(preds[p].sum()) for p in chosen) - covered == union.sum()


@pytest.mark.parametrize("name", SOLVERS)
def test_matchings_equal_brute_force_on_voxels(name: str) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        refs, preds = random_pair(rng)
        ov = pm.Overlap.from_masks(refs, preds)
        scene = MaskScene.of_masks(refs, preds, ov)
        for threshold in (0.0, 0.25, 0.5, 0.7):
            expected = count(scene, BY_BRUTE_FORCE[name](scene, threshold))
            found = pm.match(ov, SOLVERS[name], threshold).tally
            if name.endswith("optimal"):
                assert np.nan_to_num(found.pq) == pytest.approx(float(expected.pq), abs=1e-9)
                continue
            assert (found.tp, found.fp, found.fn) == (expected.tp, expected.fp, expected.fn), seed
            assert found.quality == pytest.approx(float(expected.quality), abs=1e-12)


@pytest.mark.parametrize("name", SOLVERS)
def test_curves_equal_matchings_at_every_threshold(name: str) -> None:
    for seed in range(60):
        ov = pm.Overlap.from_masks(*random_pair(np.random.default_rng(seed), most=5))
        found = pm.curve(ov, SOLVERS[name])
        for threshold in [*found.thresholds, *np.linspace(0, 0.99, 7)]:
            expected = pm.match(ov, SOLVERS[name], threshold).tally
            if name.endswith("optimal"):
                assert found.at(threshold).pq == pytest.approx(expected.pq, abs=1e-9, nan_ok=True)
            else:
                assert found.at(threshold) == expected


def test_two_equal_predictions_cannot_both_be_matched() -> None:
    mask = np.ones((2, 3), np.bool_)
    tally = pm.match(pm.Overlap.from_masks([mask], [mask, mask]), threshold=0.5).tally
    assert (tally.tp, tally.fp, tally.fn) == (1, 1, 0)


def test_an_encoding_or_polygon_gives_the_same_overlap_as_its_array() -> None:
    rng = np.random.default_rng(3)
    refs, preds = random_masks(rng, 5), random_masks(rng, 6)
    plain = [runs_of(mask) for mask in refs]
    texts = [{**runs_of(mask), "counts": text_of(runs_of(mask)["counts"])} for mask in preds]  # type: ignore[arg-type]
    as_bytes = [{**one, "counts": str(one["counts"]).encode()} for one in texts]
    expected = pm.Overlap.from_masks(refs, preds)
    for first, second in ((plain, texts), (refs, as_bytes), (texts, None)):
        if second is None:
            assert pm.Overlap.from_masks(first, first) == pm.Overlap.from_masks(preds, preds)
        else:
            assert pm.Overlap.from_masks(first, second) == expected
    square = np.zeros((7, 6), np.bool_)
    square[1:4, 2:5] = True
    polygon = [[2.0, 1.0, 5.0, 1.0, 5.0, 4.0, 2.0, 4.0]]
    found = pm.Overlap.from_masks([square], [polygon], size=(7, 6))
    assert found.iou.tolist() == [1.0]


def test_long_runs_survive_the_compressed_text() -> None:
    counts = [1_000_000, 3, 2, 2_000_000, 7, 40, 999_948]
    rle = {"size": [2000, 2000], "counts": text_of(counts)}
    found = read_masks([rle], "masks")
    assert np.diff(np.stack([found.start, found.stop]), axis=0).tolist() == [[3, 2_000_000, 40]]


def test_masks_are_read_and_united() -> None:
    rng = np.random.default_rng(5)
    masks = random_masks(rng, 8, (4, 3, 5))
    found = read_masks(masks, "masks")
    assert np.array_equal(dense(found), masks)
    assert np.array_equal(dense(found.union())[0], masks.any(axis=0))
    assert np.array_equal(dense(found.take(np.array([6, 2]))), masks[[6, 2]])


def test_crowd_is_never_missed_and_excuses_predictions() -> None:
    crowd = np.zeros((2, 1, 10), np.bool_)
    crowd[0, :, :4] = crowd[1, :, 2:6] = True
    inside, outside, matched = np.zeros((3, 1, 10), np.bool_)
    inside[:, 1:7] = outside[:, 5:9] = matched[:, 7:] = True
    ov = pm.Overlap.from_masks([*crowd, matched], [inside, outside], crowd=[True, True, False])
    assert ov.ref_ids.tolist() == [3]
    assert ov.pred_crowd is not None
    assert ov.pred_crowd.tolist() == [5, 1]
    assert pm.match(ov, threshold=0.9).false_positives.tolist() == [2]


def test_chunks_of_masks_add_up() -> None:
    rng = np.random.default_rng(9)
    for _ in range(30):
        refs, preds = random_pair(rng)
        whole = pm.Overlap.from_masks(refs, preds)
        top, bottom = (
            pm.Overlap.from_masks(refs[:, rows], preds[:, rows])
            for rows in (slice(0, 3), slice(3, None))
        )
        assert top + bottom == whole


def test_overlaps_of_masks_survive_json() -> None:
    rng = np.random.default_rng(2)
    ov = pm.Overlap.from_masks(*random_pair(rng), confidence=None)
    assert pm.Overlap.from_json(ov.to_json()) == ov


def test_disjoint_masks_are_an_ordinary_overlap() -> None:
    labels = np.random.default_rng(1).integers(0, 4, (2, 6, 5))
    masks = [[side == i for i in (1, 2, 3)] for side in labels]
    ov = pm.Overlap.from_masks(*masks)
    assert ov.sharing is None
    assert ov == pm.count_overlaps(*labels)
    pm.match(ov, pm.ManyToOne(solver="optimal"))


def test_the_optimal_merge_says_that_it_needs_disjoint_predictions() -> None:
    mask = np.ones((2, 3), np.bool_)
    ov = pm.Overlap.from_masks([mask], [mask, mask])
    with pytest.raises(StrategyError, match=re.escape("use solver='merge'")):
        pm.match(ov, pm.ManyToOne(solver="optimal"))
    with pytest.raises(StrategyError, match="share voxels"):
        pm.curve(ov, pm.ManyToOne(solver="optimal"))
    shared_refs = pm.Overlap.from_masks([mask, mask], [mask])
    assert pm.match(shared_refs, pm.ManyToOne(solver="optimal")).tally.tp == 1


def test_scores_of_partitions_refuse_masks_that_share_voxels() -> None:
    mask = np.ones((2, 3), np.bool_)
    ov = pm.Overlap.from_masks([mask], [mask, mask])
    with pytest.raises(OverlapError, match="give every voxel to one mask"):
        pm.error_budget(pm.match(ov))
    for score in (related.variation_of_information, related.adapted_rand_error):
        with pytest.raises(OverlapError, match="do not share voxels"):
            score(ov)


MASK = np.ones((2, 3), np.bool_)


@pytest.mark.parametrize(
    ("refs", "preds", "options", "message"),
    [
        (MASK, [MASK], {}, "reference_masks have shape (3,), but prediction_masks (2, 3)"),
        ([MASK], [np.ones((3, 2), np.bool_)], {}, "prediction_masks (3, 2)"),
        ([MASK, MASK[:1]], [], {}, "reference_masks[1] has shape (1, 3), but the image has"),
        ([2 * MASK], [], {}, "reference_masks[0] has dtype int64; a mask must be a boolean array"),
        ([[[0.0, 0, 1, 0, 1, 1]]], [], {}, "pass size=(height, width)"),
        ([[[0.0, 0, 1, 0]]], [], {"size": (2, 2)}, "polygon of 4 numbers"),
        ([[[0.0, 0, 1, 0, 1, np.nan]]], [], {"size": (2, 2)}, "not a finite position"),
        ([{"size": [2, 3], "counts": [1, 2]}], [], {}, "covers 3 pixels, but its size [2, 3]"),
        ([{"size": [2, 3], "counts": [-1, 7]}], [], {}, "reference_masks[0] has damaged 'counts'"),
        ([{"size": [2, 3], "counts": "é"}], [], {}, "damaged 'counts'"),
        ([{"size": [2, 3], "counts": [0.5]}], [], {}, "list of whole numbers"),
        ([{"size": [6], "counts": [6]}], [], {}, "must be the height and width"),
        ({"size": [2, 3], "counts": [6]}, [], {}, "pass a list of masks"),
        (["a.png"], [], {}, "reference_masks[0]='a.png' is a path"),
        ([MASK], [], {"crowd": [True, False]}, "crowd has 2 values, but there are 1"),
        ([], [MASK], {"confidence": [0.1, 0.2]}, "confidence has shape (2,)"),
    ],
)
def test_errors_name_the_mask_and_the_remedy(
    refs: object, preds: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(PanmatchError, match=re.escape(message)) as caught:
        pm.Overlap.from_masks(refs, preds, **options)  # type: ignore[arg-type]
    assert isinstance(caught.value, LabelError | ShapeError | OverlapError)


def test_brute_force_on_masks_counts_a_union_once() -> None:
    masks = np.array([[[1, 1, 0]], [[0, 1, 1]]], np.bool_)
    scene = MaskScene.of_masks(masks[:1], masks, pm.Overlap.from_masks(masks[:1], masks))
    assert scene.iou(0, [0, 1]) == Fraction(2, 3)
