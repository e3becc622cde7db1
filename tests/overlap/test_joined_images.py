"""Images counted together give the sum of what they give alone."""

from itertools import starmap

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from panmatch.labels import Panoptic, SegmentClass, from_segments
from panmatch.overlap import count_class_overlaps, count_sides, join_images
from panmatch.scoring import tally_classes

CLASSES = (SegmentClass(1), SegmentClass(2, thing=False), SegmentClass(5))


def image(seed: int, shape: tuple[int, int]) -> Panoptic:
    """Return segments of random classes, some of them crowd, with void between them."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 6, [n // 3 + 1 for n in shape])
    segments = blocks.repeat(3, 0).repeat(3, 1)[: shape[0], : shape[1]]
    present = [int(i) for i in np.unique(segments) if i]
    table = {i: (int(rng.choice([1, 2, 5])), bool(rng.random() < 0.2)) for i in present}
    return from_segments(segments, table, CLASSES)


def pairs(seed: int, n_images: int) -> list[tuple[Panoptic, Panoptic]]:
    rng = np.random.default_rng(seed)
    shapes = [(int(rng.integers(3, 12)), int(rng.integers(3, 12))) for _ in range(n_images)]
    return [
        (image(100 * seed + 2 * i + (i % 3 == 0), shape), image(100 * seed + 2 * i + 1, shape))
        for i, shape in enumerate(shapes)
    ]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_tallies_of_joined_images_are_the_sum(seed: int, n_images: int) -> None:
    both = pairs(seed, n_images)
    alone = [tally_classes(one) for one in starmap(count_class_overlaps, both)]
    together = tally_classes(join_images(starmap(count_sides, both)))
    total = sum(alone[1:], start=alone[0])
    for number in total:
        assert (together[number].tp, together[number].fp, together[number].fn) == (
            total[number].tp, total[number].fp, total[number].fn,
        )  # fmt: skip
        assert together[number].units == total[number].units


def test_equal_segments_of_two_images_stay_apart() -> None:
    first = from_segments([[7, 7, 7, 7]], {7: (1, False)}, CLASSES)
    second = from_segments([[7, 7, 0, 0]], {7: (1, False)}, CLASSES)
    joined = join_images([count_sides(first, first), count_sides(first, second)])
    assert joined[1].ref_sizes.tolist() == [4, 4]
    assert joined[1].pred_sizes.tolist() == [4, 2]
    assert joined[1].iou.tolist() == [1.0, 0.5]
    assert joined.graph.voxels == 8
