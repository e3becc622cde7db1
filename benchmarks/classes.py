"""Many classes and parts against the official evaluation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import panmatch as pm
from benchmarks import scenes
from benchmarks.peers import ask
from benchmarks.timing import Row, below, best_ms, faster

CLASSES = tuple(pm.SegmentClass(i, thing=i % 3 > 0) for i in range(1, 21))
WITH_PARTS = tuple(pm.SegmentClass(i, parts=(1, 2, 3, 4)) for i in range(1, 21))


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    yield coco_like()
    yield part_aware()
    yield many_classes()


def coco_like() -> Row:
    reference, prediction = scenes.street()
    peer = ask("peer_cityscapes.py", reference, prediction)

    def table(image: scenes.Labels) -> dict[int, tuple[int, bool]]:
        return {int(i): (int(i) // 1000, False) for i in np.unique(image)}

    tables = table(reference), table(prediction)

    def ours() -> pm.ClassTallies:
        sides = [
            pm.from_segments(image, segments, CLASSES)
            for image, segments in zip((reference, prediction), tables, strict=True)
        ]
        return pm.tally_classes(pm.count_class_overlaps(*sides, threads=1))

    assert abs(sum(tally.quality for tally in ours().values()) - peer["quality"]) < 1e-9
    what = "COCO-like PQ from arrays, 1024 × 2048, 60 segments of 20 classes, 1 thread"
    return faster(what, best_ms(ours), peer["ms"], f"{peer['name']}, images decoded", 10)


def part_aware() -> Row:
    """Compare with 9 s per image, which the published part-aware program is known to take."""
    reference, prediction = scenes.street()
    parts, shifted = scenes.quarters(0), scenes.quarters(9)
    uids = reference // 1000 * 100_000 + reference % 1000 * 100 + parts

    def ours() -> pm.ClassTallies:
        sides = (
            pm.from_panoptic_parts(uids, WITH_PARTS),
            pm.from_maps(
                prediction // 1000, prediction % 1000, WITH_PARTS, part_map=shifted,
                numbering="per class",
            ),
        )  # fmt: skip
        return pm.tally_classes(pm.count_class_overlaps(*sides, threads=1))

    assert 0 < ours().with_parts.pq < 1
    what = "PartPQ from arrays, 1024 × 2048, 60 segments with 4 parts each, 1 thread"
    return faster(what, best_ms(ours), 9000.0, "published program, stated as", 100)


def many_classes() -> Row:
    kinds = [pm.SegmentClass(i) for i in range(1, 1001)]
    ids = np.arange(10_000).reshape(100, 100).repeat(10, 0).repeat(10, 1)
    image = pm.from_maps(ids % 1000 + 1, ids + 1, kinds)

    def ours() -> pm.ClassTallies:
        return pm.tally_classes(pm.count_class_overlaps(image, image))

    what = "1000 classes, 10,000 segments, 1000 × 1000, counted and scored"
    return below(what, best_ms(ours, repeats=3), "ms", 1000)
