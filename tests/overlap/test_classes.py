"""Many classes from one pass: every encoding, void, crowd, and errors that name what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import native
from panmatch.errors import LabelError, OptionError, OverlapError, ShapeError
from tests import scenes
from tests.strategies import BY_NAME, OPTIMAL

DATA = Path(__file__).parents[1] / "data"
PERSON, CAR = pm.SegmentClass(24, "person", parts=(1, 2)), pm.SegmentClass(26, "car")
ROAD = pm.SegmentClass(7, "road", thing=False)
KINDS = (PERSON, CAR, ROAD)
PLAIN = (pm.SegmentClass(24), CAR, ROAD)
PARTS = json.loads((DATA / "partpq_cases.json").read_text())["cases"]

# Quirks of the published program that are not reproduced, see docs/explanation/related.md.
MERGES_STUFF, FOREIGN_PART = "12_stuff_two_ids_in_pred", "07d_foreign_part_id"


def part_overlaps(case: dict[str, Any], rows: slice = slice(None)) -> pm.ClassOverlaps:
    spec, (image,) = case["spec"], case["images"]
    kinds = [
        pm.SegmentClass(i, thing=i in spec["things"], parts=tuple(spec["parts"].get(str(i), ())))
        for i in spec["sids"]
    ]
    maps = {name: np.array(values)[rows] for name, values in image.items()}
    reference = pm.from_panoptic_parts(maps["gt_uid"], kinds)
    prediction = pm.from_maps(
        maps["pred_sem"],
        maps["pred_inst"],
        reference.classes,  # a lone part counts as none in this format
        part_map=maps["pred_part"],
        void=[spec["ignore_label"]],
        void_part=255,
        numbering="per class",
    )
    return pm.count_class_overlaps(reference, prediction)


@pytest.mark.parametrize("case", PARTS, ids=[case["name"] for case in PARTS])
def test_the_published_part_aware_program_agrees(case: dict[str, Any]) -> None:
    if case["name"] == FOREIGN_PART:
        with pytest.raises(LabelError, match=r"holds part 9 \(1 voxel\)"):
            part_overlaps(case)
        return
    found, want = pm.tally_classes(part_overlaps(case), quality="parts"), case["reference"]
    for class_id, values in want["per_class"].items():
        tally = found[int(class_id)]
        if case["name"] == MERGES_STUFF and class_id == "7":
            assert tally == pm.Tally(1, 0, 0, 1.0)  # stuff is one segment (D10)
            continue
        counts = tuple(values[name] for name in ("tp", "fp", "fn"))
        assert (tally.tp, tally.fp, tally.fn) == counts
        assert tally.quality == pytest.approx(values["iou_sum"], abs=1e-9)
    if case["name"] == MERGES_STUFF or want["aggregate"] == "ZeroDivisionError":
        return
    groups = (found.all, ""), (found.with_parts, "_parts"), (found.without_parts, "_noparts")
    for (group, suffix), values in zip(groups, want["aggregate"], strict=True):
        names = [f"Part{score}{suffix}" for score in ("PQ", "SQ", "RQ")]
        scores = [group.pq, group.sq, group.rq]
        assert scores == pytest.approx([values[name] for name in names], abs=1e-9)


def encodings(classes: Any, instances: Any) -> list[pm.Panoptic]:
    """The same picture in every encoding that can hold it."""
    kind, number = np.array(classes), np.array(instances)
    ids = np.where(np.isin(kind, [24, 26]), kind * 1000 + number, kind)
    uids = np.where(np.isin(kind, [24, 26]), kind * 100_000 + number * 100, kind)
    segments = np.where(kind > 0, kind * 10 + number, 0)
    table = {int(i): (int(i) // 10, False) for i in np.unique(segments[segments > 0])}
    labels = [
        pm.LabelGroup(k, tuple(np.unique(segments[kind == k.id]).tolist()) or (k.id,))
        for k in PLAIN
    ]
    return [
        pm.from_maps(kind, number, PLAIN, void=[0], numbering="per class"),
        pm.from_cityscapes(ids, PLAIN),
        pm.from_panoptic_parts(uids, PLAIN),
        pm.from_segments(segments, table, PLAIN),
        pm.from_labels(segments, labels, void=[0]),
    ]


REFERENCE = [[24, 24, 24, 24, 26, 26, 7, 7, 0, 0]], [[1, 1, 2, 2, 1, 1, 0, 0, 0, 0]]
PREDICTION = [[24, 24, 24, 26, 26, 26, 7, 7, 7, 0]], [[3, 3, 4, 1, 2, 2, 0, 0, 0, 0]]


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("other", range(5))
def test_every_encoding_says_the_same(which: int, other: int) -> None:
    reference, prediction = encodings(*REFERENCE)[which], encodings(*PREDICTION)[other]
    found = pm.tally_classes(pm.count_class_overlaps(reference, prediction), threshold=0.4)
    assert found[24] == pm.Tally(2, 0, 0, 1.5)
    assert found[26] == pm.Tally(1, 1, 0, 1.0)
    assert found[7] == pm.Tally(1, 0, 0, 1.0)  # what lies in void left the union


def test_one_pass_counts_all_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    count = native.joint_counts

    def counted(arrays: Any, threads: int) -> Any:
        calls.append(len(arrays))
        return count(arrays, threads)

    monkeypatch.setattr(native, "joint_counts", counted)
    rng = np.random.default_rng(1)
    kinds = [pm.SegmentClass(i) for i in range(1, 1001)]
    ids = rng.permutation(np.arange(10_000)).repeat(4).reshape(200, 200)
    image = pm.from_maps(ids % 1000 + 1, ids + 1, kinds)
    found = pm.tally_classes(pm.count_class_overlaps(image, image))
    assert calls == [4]
    assert sum(tally.tp for tally in found.values()) == 10_000
    assert found.all.pq == 1.0
    assert found.all.n == 1000


def test_void_leaves_the_union_and_crowd_only_dismisses() -> None:
    """Crowd (24000's kin: 24 alone) stays in the union; void does not."""
    reference = np.array([[24001, 24001, 24, 24, 24, 24, 24, 24, 7, 7]])
    prediction = np.array([[24001, 24001, 24001, 24002, 24002, 24002, 24002, 7, 7, 7]])
    found = pm.count_class_overlaps(
        pm.from_cityscapes(reference, PLAIN), pm.from_cityscapes(prediction, PLAIN)
    )
    assert found[24].iou.tolist() == [2 / 3]
    assert found[24].pred_crowd is not None
    assert found[24].pred_crowd.tolist() == [1, 4]
    assert pm.match(found[24]).tally == pm.Tally(1, 0, 0, 2 / 3)
    masked = pm.count_class_overlaps(
        pm.from_cityscapes(np.where(reference == 24, 0, reference), PLAIN),
        pm.from_cityscapes(prediction, PLAIN),
    )
    assert masked[24].iou.tolist() == [1.0]
    assert masked[7].iou.tolist() == [1.0]


def test_a_void_mask_can_be_added() -> None:
    image = pm.from_cityscapes([[24001, 24001, 7, 7]], PLAIN)
    other = pm.from_cityscapes([[24001, 24001, 24001, 7]], PLAIN)
    found = pm.count_class_overlaps(image, other, void=[[0, 0, 1, 0]])
    assert found[24].iou.tolist() == [1.0]
    assert found[7].ref_sizes.tolist() == [1]


def test_components_make_instances_within_a_class() -> None:
    labels = np.array([[1, 2, 2, 0, 2, 3, 3]])
    groups = (
        pm.LabelGroup(pm.SegmentClass(5, "organ", thing=False), (1,)),
        pm.LabelGroup(pm.SegmentClass(6, "lesion"), (2, 3), instances="components"),
    )
    image = pm.from_labels(labels, groups)
    found = pm.count_class_overlaps(image, image)
    assert found[6].ref_sizes.tolist() == [2, 3]
    assert found[5].ref_sizes.tolist() == [1]


def test_tallies_and_curves_of_images_add_and_stay_exact() -> None:
    pairs = [
        (encodings(*REFERENCE)[0], encodings(*PREDICTION)[0]),
        (encodings(*PREDICTION)[0], encodings(*REFERENCE)[0]),
    ]
    overlaps = [pm.count_class_overlaps(*pair) for pair in pairs]
    tallies = sum(pm.tally_classes(o, threshold=0.4) for o in overlaps)
    curves = sum(pm.class_curves(o) for o in overlaps)
    assert isinstance(tallies, pm.ClassTallies)
    assert isinstance(curves, pm.ClassCurves)
    assert tallies[24] == pm.Tally(4, 0, 0, 3.0)
    for class_id in (24, 26, 7):
        assert curves.at(0.4)[class_id] == tallies[class_id]
    assert tallies.things.pq == pytest.approx(np.mean([tallies[24].pq, tallies[26].pq]))
    assert tallies.all.classes == (24, 26, 7)
    assert tallies.stuff.classes == (7,)


def test_chunks_of_one_image_add() -> None:
    def side(columns: slice, maps: Any) -> pm.Panoptic:
        return encodings(*(np.array(m)[:, columns] for m in maps))[0]

    whole = pm.count_class_overlaps(side(slice(None), REFERENCE), side(slice(None), PREDICTION))
    parts = [
        pm.count_class_overlaps(side(s, REFERENCE), side(s, PREDICTION))
        for s in (slice(0, 5), slice(5, None))
    ]
    total = parts[0] + parts[1]
    for kind in PLAIN:
        assert total[kind.id] == whole[kind.id]


def test_parts_of_chunks_add_too() -> None:
    case = next(c for c in PARTS if c["name"].startswith("19"))
    whole = part_overlaps(case)
    total = part_overlaps(case, slice(0, 9)) + part_overlaps(case, slice(9, None))
    for class_id in whole:
        assert total[class_id] == whole[class_id]


def test_the_graph_numbers_segments_and_knows_their_classes_and_ids() -> None:
    found = pm.count_class_overlaps(encodings(*REFERENCE)[0], encodings(*PREDICTION)[0])
    assert found.graph.ref_ids.tolist() == [1, 2, 5, 7]
    assert found.graph.pred_ids.tolist() == [3, 4, 5, 6, 7]  # number 5: car 1 on both sides
    assert found.ref_classes.tolist() == [0, 0, 1, 2]
    assert found.pred_classes.tolist() == [0, 0, 1, 1, 2]
    assert found.ref_ids.tolist() == [1, 2, 1, 1]
    assert found.pred_ids.tolist() == [3, 4, 1, 2, 1]
    with pytest.raises(KeyError):
        found[99]


def test_a_plain_label_image_is_an_image_with_one_class() -> None:
    labels, other = np.array([[3, 3, 9, 0]]), np.array([[3, 5, 5, 5]])
    plain = pm.count_overlaps(labels, other)
    found = pm.ClassOverlaps.of_one(CAR, plain)
    groups = [pm.LabelGroup(CAR, None)]
    want = pm.count_class_overlaps(pm.from_labels(labels, groups), pm.from_labels(other, groups))
    assert found[26] == want[26] == plain
    assert found.graph == want.graph
    assert (found + want)[26] == plain + plain


def test_ids_may_be_as_large_as_int64_and_things_without_a_number_have_one_of_their_own() -> None:
    large, unnumbered = 2**63 - 1, 2**44 - 1
    image = pm.from_maps([[24, 24, 26]], [[large, 0, 5]], PLAIN)
    found = pm.count_class_overlaps(image, image)
    assert found[24].ref_ids.tolist() == [large]
    assert found[24].pred_ids.tolist() == [unnumbered, large]
    clash = pm.from_maps([[24, 24]], [[unnumbered, 0]], PLAIN)
    with pytest.raises(LabelError, match=rf"instance {unnumbered} is too large"):
        pm.count_class_overlaps(clash, clash)


def test_only_strategies_that_decide_object_by_object_match_classes_at_once() -> None:
    plain, one = scenes.SPLIT, OPTIMAL["one-to-one/optimal"]
    assert all(strategy.is_local(plain, 0.1) for strategy in BY_NAME.values())
    others = [strategy for strategy in OPTIMAL.values() if strategy != one]
    assert not any(strategy.is_local(plain, 0.1) for strategy in others)
    in_void = pm.count_overlaps([1, 1, 2, 2, 2], [1, 1, 2, 2, 2], void=[1, 1, 1, 1, 0])
    assert not one.is_local(in_void, 0.1)
    assert one.is_local(in_void, 0.5)


def test_maximum_pq_is_sought_class_by_class() -> None:
    """A poor fragment is worth taking where PQ is high, since it saves a false positive."""
    kinds = [pm.SegmentClass(1), pm.SegmentClass(2)]
    good = [11] * 40 + [12] * 2 + [0] * 3
    found = [11] * 40 + [12] * 5
    poor = [21] * 30 + [0] * 15
    bad = [22] * 8 + [0] * 22 + [23] * 5 + [24] * 5 + [25] * 5
    reference, prediction = np.array([good + poor]), np.array([found + bad])

    def side(image: Any) -> pm.Panoptic:
        return pm.from_maps(image // 10, image, kinds)

    overlaps = pm.count_class_overlaps(side(reference), side(prediction))
    strategy = OPTIMAL["many-to-one/optimal/seed"]
    for class_id, tally in pm.tally_classes(overlaps, strategy, 0.0).items():
        assert tally == pm.match(overlaps[class_id], strategy, 0.0).tally


@pytest.mark.parametrize("strategy", [*BY_NAME.values(), *OPTIMAL.values(), pm.SameId()])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5])
def test_all_classes_at_once_equal_one_by_one(strategy: pm.Strategy, threshold: float) -> None:
    rng = np.random.default_rng(5)
    kinds = [pm.SegmentClass(i, parts=(1, 2) if i % 2 else ()) for i in range(1, 5)]
    for _ in range(5):
        sides = []
        for _ in range(2):
            ids = rng.integers(0, 30, (6, 7)).repeat(3, 0).repeat(3, 1)
            parts = rng.integers(0, 3, ids.shape)
            sides.append(pm.from_maps(ids % 4 + 1, ids + 1, kinds, part_map=parts))
        overlaps = pm.count_class_overlaps(*sides)
        found = pm.tally_classes(overlaps, strategy, threshold)
        single = {key: pm.match(overlaps[key], strategy, threshold).tally for key in overlaps}
        assert dict(found) == single
        assert {
            k: m.tally for k, m in pm.match_classes(overlaps, strategy, threshold).items()
        } == single


def test_classes_that_do_not_occur_are_left_out_of_means() -> None:
    image = pm.from_cityscapes([[7, 7]], PLAIN)
    found = pm.tally_classes(pm.count_class_overlaps(image, image))
    assert found.all.classes == (7,)
    assert found.things.n == 0
    assert np.isnan(found.things.pq)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: pm.from_segments([[5, 6, 6]], {5: (24, False)}, PLAIN, name="a.png"),
            LabelError,
            r"a.png holds 6 \(2 voxels\), which is not in the table",
        ),
        (
            lambda: pm.from_segments([[5]], {5: (24, False), 8: (24, False)}, PLAIN, name="a.png"),
            LabelError,
            "a.png: the table lists segments without a single voxel: 8",
        ),
        (
            lambda: pm.from_segments([[5]], {5: (99, False)}, PLAIN, name="a.png"),
            LabelError,
            "a.png: the table assigns segments to unknown classes: 5 to 99",
        ),
        (
            lambda: pm.from_segments([[5]], {0: (24, False)}, PLAIN),
            LabelError,
            "lists segment 0, which is void",
        ),
        (
            lambda: pm.from_maps([[24, 99, 99]], [[1, 1, 1]], PLAIN, name="b.png"),
            LabelError,
            r"b.png holds 99 \(2 voxels\), which is not among the classes",
        ),
        (
            lambda: pm.from_maps([[24, 26, 26]], [[1, 1, 1]], PLAIN, name="b.png"),
            LabelError,
            r"b.png: instance 1 \(3 voxels\) is shared by the classes \[24, 26\]",
        ),
        (
            lambda: pm.from_maps([[24, 24]], [[1, -3]], PLAIN),
            LabelError,
            r"instance_map holds the negative instance -3 \(1 voxel\)",
        ),
        (
            lambda: pm.from_maps([[24, 24]], [[1, 1]], PLAIN, part_map=[[1, -1]]),
            LabelError,
            r"part_map holds the negative part -1 \(1 voxel\)",
        ),
        (
            lambda: pm.from_labels([[1, 4, 4]], [pm.LabelGroup(ROAD, (1,))], name="c.tif"),
            LabelError,
            r"c.tif holds 4 \(2 voxels\), which is in no class",
        ),
    ],
)
def test_labels_that_mean_nothing_are_named_with_their_voxels(
    make: Any, error: Any, message: str
) -> None:
    def count() -> None:
        image = make()  # some mistakes show here, others when labels are counted
        pm.count_class_overlaps(image, image)

    with pytest.raises(error, match=message):
        count()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pm.from_cityscapes([[7]], [ROAD, ROAD]), "more than one class has the id 7"),
        (lambda: pm.from_cityscapes([[7]], []), "must be one or more ids"),
        (
            lambda: pm.from_labels([[1]], [pm.LabelGroup(ROAD, (1,)), pm.LabelGroup(CAR, (1,))]),
            "label 1 belongs to more than one class",
        ),
        (
            lambda: pm.count_class_overlaps(
                pm.from_cityscapes([[7]], [ROAD]), pm.from_cityscapes([[7]], [ROAD, CAR])
            ),
            "must have the same classes",
        ),
    ],
)
def test_schemas_that_contradict_themselves_are_refused(make: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()


def test_shapes_must_agree() -> None:
    one, two = (pm.from_cityscapes(np.full((1, n), 7), [ROAD]) for n in (2, 3))
    with pytest.raises(ShapeError, match=r"\(1, 2\).*\(1, 3\)"):
        pm.count_class_overlaps(one, two)
    same = pm.tally_classes(pm.count_class_overlaps(one, one))
    other = pm.from_cityscapes([[7]], [ROAD, CAR])
    with pytest.raises(OverlapError, match="same classes"):
        same + pm.tally_classes(pm.count_class_overlaps(other, other))


@pytest.mark.parametrize("strategy", ["union", "one-to-one", "many-to-one"])
def test_one_class_may_be_cut_by_regions(strategy: str) -> None:
    reference = np.array([9, 0, 0, 0, 0, 4, 4, 0])
    prediction = np.array([7, 7, 7, 7, 7, 7, 0, 5])
    cut = pm.count_region_overlaps(reference, prediction)
    found = pm.ClassOverlaps.of_one(CAR, cut)
    assert found[CAR.id] == cut
    tallies = pm.tally_classes(found, strategy, 0.2)
    assert tallies[CAR.id] == pm.match(cut, strategy, 0.2).tally
