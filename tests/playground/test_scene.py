"""A scene's images show the topmost shape on every pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import OptionError
from panmatch.playground import Disc, Ellipse, Scene, Stroke
from panmatch.playground._shapes import Shape
from panmatch.playground._states import AnyShape
from tests.playground.literal_masks import COLUMNS, ROWS, literal_mask


def random_shapes(seed: int, n: int, r: float) -> list[AnyShape]:
    rng = np.random.default_rng(seed)
    shapes: list[AnyShape] = []
    for _ in range(n):
        x, y = float(rng.uniform(-10, 610)), float(rng.uniform(-10, 372))
        rx, ry, angle = (
            float(rng.uniform(1, r)),
            float(rng.uniform(1, r)),
            float(rng.uniform(0, 360)),
        )
        match rng.integers(3):
            case 0:
                shapes.append(Disc(x, y, rx, (0.7, 0.2)))
            case 1:
                shapes.append(Ellipse(x, y, rx, ry, angle, (0.6, 0.5, 0.4, 0.3)))
            case _:
                shapes.append(Stroke(((x, y), (x + rx, y - ry), (x + ry, y + rx)), ry, (0.5,)))
    return shapes


def painted(layers: Sequence[tuple[Shape, int]]) -> Any:
    """One shape over the other, in order."""
    image = np.zeros((ROWS, COLUMNS), dtype=np.int64)
    for shape, value in layers:
        image[literal_mask(shape)] = value
    return image


@pytest.mark.parametrize(("seed", "n", "r"), [(0, 1, 50), (1, 9, 120), (2, 60, 40), (3, 150, 12)])
def test_a_later_shape_covers_an_earlier_one_of_its_side(seed: int, n: int, r: float) -> None:
    sides = random_shapes(seed, n, r), random_shapes(seed + 100, n // 2, r)
    images = Scene(tuple(sides[0]), tuple(sides[1])).label_images()
    for image, shapes in zip(images, sides, strict=True):
        expected = painted([(shape, label) for label, shape in enumerate(shapes, 1)])
        assert np.array_equal(image, expected)


def test_shapes_that_do_not_overlap_keep_their_labels() -> None:
    discs: list[AnyShape] = [Disc(31 * (i % 10) + 20, 31 * (i // 10) + 20, 15) for i in range(80)]
    reference, prediction = Scene(tuple(discs), tuple(discs[::-1])).label_images()
    expected = painted([(shape, label) for label, shape in enumerate(discs, 1)])
    assert np.array_equal(reference, expected)
    assert np.array_equal(prediction, np.where(expected > 0, 81 - expected, 0))


def test_parts_are_those_of_the_topmost_shape() -> None:
    sides = random_shapes(7, 12, 80), random_shapes(8, 12, 80)
    images = Scene(tuple(sides[0]), tuple(sides[1])).part_images()
    for image, shapes in zip(images, sides, strict=True):
        layers = [(copy, part) for one in shapes for part, copy in enumerate(one.nested(), 1)]
        assert np.array_equal(image, painted(layers))


def test_a_shape_hides_the_parts_of_the_one_below() -> None:
    scene = Scene((Disc(100, 100, 40, (0.5, 0.25)), Disc(100, 100, 30)), ())
    reference, _ = scene.label_images()
    parts, _ = scene.part_images()
    assert parts[400, 400] == 1
    assert np.array_equal(parts > 0, reference > 0)
    assert parts.max() == 1


def test_parts_are_where_labels_are() -> None:
    scene = Scene(tuple(random_shapes(9, 40, 60)), ())
    assert np.array_equal(scene.part_images()[0] > 0, scene.label_images()[0] > 0)


def test_images_have_small_dtypes_and_the_canvas_in_quarters_of_a_unit() -> None:
    scene = Scene((Disc(1, 1, 5),), ())
    images: list[Any] = [*scene.label_images(), *scene.part_images()]
    assert [image.dtype.name for image in images] == ["uint16", "uint16", "uint8", "uint8"]
    assert all(image.shape == (1448, 2400) and image.flags.c_contiguous for image in images)


def test_an_empty_scene_is_background() -> None:
    for image in (*Scene().label_images(), *Scene().part_images()):
        assert image.shape == (1448, 2400)
        assert not image.any()
    assert not Scene((Disc(-50, 0, 10),), ()).label_images()[0].any()


def test_scenes_full_of_shapes_that_cover_everything_are_painted_whole() -> None:
    everything = Disc(300, 181, 2000, (0.9, 0.8, 0.7, 0.6))
    most = Scene((everything,) * 400, (everything,) * 400)
    assert all((image == 400).all() for image in most.label_images())
    some = Scene((everything,) * 40, (everything,) * 40)
    assert all((image == 5).all() for image in some.part_images())


def test_scores_of_a_scene_are_those_of_its_images() -> None:
    scene = Scene((Disc(200, 181, 60), Disc(400, 181, 60)), (Disc(200, 181, 60),))
    tally = pm.match(pm.count_overlaps(*scene.label_images())).tally
    assert (tally.tp, tally.fp, tally.fn, tally.quality) == (1, 0, 1, 1.0)


def test_a_scene_reads_what_it_writes() -> None:
    scene = Scene(tuple(random_shapes(10, 9, 50)), tuple(random_shapes(11, 5, 50)))
    assert Scene.from_dict(scene.to_dict()) == scene
    assert list(scene.to_dict()) == ["reference", "prediction", "width", "height"]


def test_the_size_of_the_canvas_need_not_be_said() -> None:
    assert Scene.from_dict({"reference": [], "prediction": []}) == Scene()


def test_scenes_can_be_compared_and_serve_as_keys() -> None:
    one, same = Scene([Disc(1, 2, 3)], []), Scene((Disc(1.0, 2.0, 3.0),), ())  # type: ignore[arg-type]
    assert one == same
    assert {one: 1}[same] == 1
    assert one != Scene((), (Disc(1, 2, 3),))


DISC = {"kind": "disc", "x": 1, "y": 2, "r": 3}
STROKE = {"kind": "stroke", "points": [[1, 2]] * 2000, "width": 3}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [],
            r"^scene=\[\] must be a dictionary or an instance of Scene\.$",
        ),
        (
            {"reference": []},
            r"^the key 'prediction' is missing\. Needed: reference, prediction\.$",
        ),
        (
            {"reference": [], "prediction": [], "heigth": 362},
            r"^the key 'heigth' of scene is not known; did you mean 'height'\? Accepted: referen",
        ),
        (
            {"reference": [], "prediction": [], "width": 800},
            r"^width=800 is not known\. Accepted: 600\.$",
        ),
        (
            {"reference": [], "prediction": [], "height": None},
            r"^height=None is not known\. Accepted: 362\.$",
        ),
        (
            {"reference": {}, "prediction": []},
            r"^reference=\{\} must be a valid list\.$",
        ),
        (
            {"reference": [], "prediction": [DISC] * 401},
            r"^prediction=\[.*… must have at most 400 items, not 401\.$",
        ),
        (
            {"reference": [STROKE] * 6, "prediction": [STROKE] * 5},
            r"^the strokes of the scene have 22,000 points in total; at most 20,000 are",
        ),
        (
            {"reference": [], "prediction": [DISC, DISC, DISC | {"r": -2}]},
            r"^prediction\[2\]\.r=-2 must be greater than or equal to 0\.$",
        ),
        (
            {"reference": [DISC, 5], "prediction": []},
            r"^reference\[1\]=5 must be a valid dictionary",
        ),
        (
            {"reference": [{"kind": "stroke", "points": [[0, "a"]], "width": 1}], "prediction": []},
            r"^reference\[0\]\.points\[0\]\[1\]='a' must be a valid number",
        ),
    ],
)
def test_what_is_no_scene_is_refused_by_side_and_position(given: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Scene.from_dict(given)


def test_only_shapes_make_a_scene() -> None:
    message = r"^prediction\[1\]='disc' must be a valid dictionary or object"
    with pytest.raises(OptionError, match=message):
        Scene((), (Disc(1, 2, 3), "disc"))  # type: ignore[arg-type]
