"""Overlaps of chunked images: equal to those of the images in memory, to the last bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import panmatch as pm
from panmatch.errors import LabelError, OptionError, ShapeError
from panmatch.labels import _chunked_voronoi as voronoi
from panmatch.labels import _folding
from tests.chunked_arrays import (
    Array,
    Watched,
    box_sizes,
    boxes_up_to,
    in_chunks,
    label_images,
    shapes,
    stored,
)

SPACINGS = (1.0, 0.5, 0.7, 3.0)
THREADS = st.sampled_from([None, 1, 3])


@st.composite
def voids(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Draw void as nothing, a label, or a mask, which may be stored in chunks."""
    kind = draw(st.sampled_from(["none", "label", "mask"]))
    if kind != "mask":
        label = 3 if kind == "label" else None
        return label, label
    mask = draw(label_images(shape, most=1)) != 0
    return mask, draw(in_chunks(mask))


@settings(max_examples=50)
@given(shapes(), st.data())
def test_overlaps(shape: tuple[int, ...], data: st.DataObject) -> None:
    reference, prediction = data.draw(label_images(shape)), data.draw(label_images(shape))
    void, stored_void = data.draw(voids(shape))
    images = data.draw(in_chunks(reference)), data.draw(in_chunks(prediction))
    with boxes_up_to(data.draw(box_sizes)):
        found = pm.count_overlaps(*images, stored_void, threads=data.draw(THREADS))
    assert found == pm.count_overlaps(reference, prediction, void)


@settings(max_examples=50)
@given(shapes(), st.data())
def test_region_overlaps(shape: tuple[int, ...], data: st.DataObject) -> None:
    reference, prediction = data.draw(label_images(shape)), data.draw(label_images(shape))
    void, stored_void = data.draw(voids(shape))
    spacing = data.draw(st.tuples(*[st.sampled_from(SPACINGS)] * len(shape)))
    images = data.draw(in_chunks(reference)), data.draw(in_chunks(prediction))
    with boxes_up_to(data.draw(box_sizes)):
        found = pm.count_region_overlaps(
            *images, spacing, void=stored_void, threads=data.draw(THREADS)
        )
    assert found == pm.count_region_overlaps(reference, prediction, spacing, void=void)


@st.composite
def parts_of(draw: st.DrawFn, labels: Array) -> Array:
    """Draw part labels on the objects of an image: 1 to 3, 3 being unknown, or none."""
    parts = draw(label_images(labels.shape, most=3))
    return np.where(labels > 0, parts, 0).astype(parts.dtype)


@pytest.mark.parametrize("regions", [None, "voronoi"])
@settings(max_examples=50)
@given(shapes(), st.data())
def test_part_overlaps(regions: str | None, shape: tuple[int, ...], data: st.DataObject) -> None:
    reference, prediction = data.draw(label_images(shape)), data.draw(label_images(shape))
    parts = data.draw(parts_of(reference)), data.draw(parts_of(prediction))
    void, stored_void = data.draw(voids(shape))
    steps = data.draw(st.tuples(*[st.sampled_from(SPACINGS)] * len(shape)))
    options: dict[str, Any] = {"regions": regions, "spacing": steps if regions else None}
    options["background"] = data.draw(st.sampled_from(["image", "none"]))
    images = data.draw(in_chunks(reference)), data.draw(in_chunks(prediction))
    stored_parts = data.draw(in_chunks(parts[0])), data.draw(in_chunks(parts[1]))
    with boxes_up_to(data.draw(box_sizes)):
        found = pm.count_part_overlaps(*images, *stored_parts, 3, void=stored_void, **options)
    want = pm.count_part_overlaps(reference, prediction, *parts, 3, void=void, **options)
    assert found == want


@settings(max_examples=50)
@given(shapes(), st.data())
def test_part_overlaps_of_components(shape: tuple[int, ...], data: st.DataObject) -> None:
    first = np.ascontiguousarray(data.draw(label_images(shape, most=3)))
    second = np.ascontiguousarray(data.draw(label_images(shape, most=3)))
    parts = data.draw(in_chunks(first)), data.draw(in_chunks(second))
    with boxes_up_to(data.draw(box_sizes)):
        found = pm.count_part_overlaps(None, None, *parts, 3)
    assert found == pm.count_part_overlaps(None, None, first, second, 3)


PERSON, SKY = pm.SegmentClass(1, "person", parts=(1, 2)), pm.SegmentClass(2, "sky", thing=False)


@settings(max_examples=50)
@given(shapes(), st.data())
def test_overlaps_of_classes(shape: tuple[int, ...], data: st.DataObject) -> None:
    maps = [[data.draw(label_images(shape, most=2)) for _ in range(3)] for _ in range(2)]
    void = data.draw(label_images(shape, most=1))
    options: dict[str, Any] = {"classes": [PERSON, SKY], "numbering": "per class"}

    def overlaps(sides: Any, mask: Any) -> pm.ClassOverlaps:
        reference, prediction = (
            pm.from_maps(side[0], side[1], part_map=side[2], **options) for side in sides
        )
        return pm.count_class_overlaps(reference, prediction, void=mask)

    want = overlaps(maps, void)
    in_store = [[data.draw(in_chunks(one)) for one in side] for side in maps]
    with boxes_up_to(data.draw(box_sizes)):
        found = overlaps(in_store, data.draw(in_chunks(void)))
    assert found.graph == want.graph
    assert all(found[kind] == want[kind] for kind in want)


def scene(shape: tuple[int, ...] = (24, 20, 16)) -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    reference = np.kron(
        rng.integers(0, 9, [n // 4 for n in shape]), np.ones((4,) * len(shape), int)
    )
    return reference, np.roll(reference, 1, axis=0)


@pytest.mark.parametrize(
    "chunks", [((4, 4, 4), (4, 4, 4)), ((4, 4, 4), (8, 4, 16)), ((3, 5, 4), (6, 5, 2))]
)
def test_every_chunk_is_decoded_once_if_those_of_one_side_are_made_of_the_other_s(
    chunks: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    images = scene()
    watched = [Watched(image, lengths) for image, lengths in zip(images, chunks, strict=True)]
    with boxes_up_to(1):
        found = pm.count_overlaps(*watched, threads=2)
    assert found == pm.count_overlaps(*images)
    for one in watched:
        assert set(one.decoded.values()) == {1}
        chunks_along = (-(-n // length) for n, length in zip(one.shape, one.chunks, strict=True))
        assert len(one.decoded) == math.prod(chunks_along)


def test_chunks_that_end_nowhere_together_are_decoded_again_only_where_boxes_cut_them() -> None:
    images = scene()
    watched = [Watched(images[0], (5, 20, 16)), Watched(images[1], (7, 20, 16))]
    with boxes_up_to(1):
        pm.count_overlaps(*watched, threads=1)
    assert dict(watched[1].decoded) == {(0, 0, 0): 1, (1, 0, 0): 1, (2, 0, 0): 1, (3, 0, 0): 1}
    assert max(watched[0].decoded.values()) == 2


def test_no_pass_over_the_voxels_but_one() -> None:
    first, second = (Watched(image, (8, 8, 8)) for image in scene())
    void = Watched(scene()[0] % 3 == 0, (8, 8, 8))
    with boxes_up_to(1):
        pm.count_overlaps(first, second, void)
        pm.count_part_overlaps(first, second, first, second)
    assert set(first.decoded.values()) == {2}
    assert set(void.decoded.values()) == {1}


@pytest.mark.parametrize("kind", ["zarr", "dask"])
def test_mistakes_are_named_as_for_arrays(kind: str) -> None:
    good, other = stored(np.ones((4, 4), int), (2, 2), kind), stored(np.ones((4, 3), int), (2, 2))
    with pytest.raises(ShapeError, match=r"reference has shape \(4, 4\) but prediction has shape"):
        pm.count_overlaps(good, other)
    with pytest.raises(LabelError, match=r"prediction has dtype float64; labels must be integers"):
        pm.count_overlaps(good, stored(np.ones((4, 4)), (2, 2), kind))
    negative = np.array([[0, -2, 1, 1]] * 4)
    with (
        boxes_up_to(1),
        pytest.raises(LabelError, match=r"negative label -2 \(4 voxels\).* pass void=-2"),
    ):
        pm.count_overlaps(stored(negative, (1, 2), kind), good)
    with pytest.raises(OptionError, match="prediction is a masked array"):
        pm.count_overlaps(good, np.ma.masked_equal(np.ones((4, 4), int), 1))


def test_a_masked_reference_in_memory_brings_its_void_mask() -> None:
    reference, prediction = scene()
    masked = np.ma.masked_where(reference % 3 == 0, reference)
    found = pm.count_overlaps(masked, stored(prediction, (5, 5, 5)))
    assert found == pm.count_overlaps(masked, prediction)


def far_scene() -> tuple[Array, Array]:
    """Return a small reference in one corner, and predictions as far away as possible."""
    reference, prediction = np.zeros((2, 12, 10, 14), np.uint8)
    reference[0, 0, :3], reference[3, 3, 3] = 2, 1
    prediction[:, :, 0], prediction[11, 9, 13], prediction[5:7, 5:7, 5:7] = 4, 5, 6
    return reference, prediction


@pytest.mark.parametrize("kind", ["zarr", "dask"])
@pytest.mark.parametrize("largest_look", [0, 200, voronoi.LARGEST_LOOK])
def test_predictions_far_from_every_reference(
    kind: str, largest_look: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voronoi, "LARGEST_LOOK", largest_look)
    images = far_scene()
    for chunks in ((3, 4, 5), (12, 10, 1), (5, 5, 5)):
        first, second = (stored(image, chunks, kind) for image in images)
        with boxes_up_to(1):
            found = pm.count_region_overlaps(first, second, (1, 2, 0.7))
        assert found == pm.count_region_overlaps(*images, (1, 2, 0.7))


def test_a_second_look_on_dask_settles_every_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a segment in every chunk, nothing is brought here to be settled."""
    rng = np.random.default_rng(2)
    reference = np.where(rng.random((20, 20)) < 0.1, rng.integers(1, 9, (20, 20)), 0)
    reference[::5, ::5] = 9
    prediction = np.ones_like(reference)

    def refuse(_: Any, __: Any, boxes: list[Any], ___: int) -> Iterator[Any]:
        assert boxes == []
        return iter(())

    monkeypatch.setattr(_folding, "look_in_turn", refuse)
    found = pm.count_region_overlaps(
        stored(reference, (5, 5), "dask"), stored(prediction, (7, 20), "dask")
    )
    assert found == pm.count_region_overlaps(reference, prediction)
