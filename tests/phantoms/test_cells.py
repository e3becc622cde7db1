"""Tissue of touching cells: one piece each, with a nucleus inside, and gaps between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import label

from panmatch.errors import OptionError
from panmatch.labels import edge_distances
from panmatch.phantoms import cells
from panmatch.phantoms._reshaping import touches_another

SCENES: dict[str, dict[str, Any]] = {
    "2-D": {"shape": (90, 100), "n": 40},
    "3-D": {"shape": (24, 32, 36), "n": 30},
    "anisotropic": {"shape": (10, 40, 40), "n": 25, "spacing": (3, 1, 1)},
    "one": {"shape": (20, 20), "n": 1},
    "as many as possible": {"shape": (64, 64), "n": 228},
    "small in 3-D": {"shape": (24, 24, 24), "n": 150},
}

every_scene = pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)


@every_scene
@pytest.mark.parametrize("seed", range(3))  # small cells have stray voxels in about every third
def test_every_cell_is_one_piece_with_one_nucleus(scene: dict[str, Any], seed: int) -> None:
    slide = cells(**scene, seed=seed)
    assert np.unique(slide.labels[slide.labels > 0]).tolist() == list(range(1, scene["n"] + 1))
    for number in range(1, scene["n"] + 1):
        inside = slide.labels == number
        assert label(inside)[1] == 1
        assert label(inside & (slide.parts == 2))[1] == 1
        assert (inside & (slide.parts == 1)).any()


@every_scene
def test_parts_are_exactly_where_cells_are(scene: dict[str, Any]) -> None:
    slide = cells(**scene)
    assert slide.parts is not None
    assert np.array_equal(slide.parts > 0, slide.labels > 0)
    assert np.unique(slide.parts[slide.labels > 0]).tolist() == [1, 2]
    assert slide.part_names == {1: "cytoplasm", 2: "nucleus"}


def test_nuclei_keep_off_the_walls() -> None:
    slide = cells((128, 128), 60)
    depth = edge_distances(slide.labels, border=True)
    assert depth[slide.parts == 2].min() > 1


def test_cells_are_dense_touch_and_leave_gaps() -> None:
    slide = cells((128, 128), 60)
    filled = (slide.labels > 0).mean()
    assert 0.8 < filled < 0.97
    touching = np.unique(slide.labels[touches_another(slide.labels)])
    assert touching.tolist() == list(range(1, 61))


def test_cells_are_of_similar_size_but_not_a_honeycomb() -> None:
    sizes = np.bincount(cells((160, 160), 80).labels.ravel())[1:]
    assert sizes.max() < 6 * sizes.min()
    assert len(set(sizes.tolist())) > 40


def test_no_cells_give_an_empty_image() -> None:
    slide = cells((9, 8), 0)
    assert not slide.labels.any()
    assert slide.parts is not None
    assert not slide.parts.any()


def test_tissue_follows_the_seed() -> None:
    first, again, other = (cells((50, 50), 20, seed=s) for s in (1, 1, 2))
    assert np.array_equal(first.labels, again.labels)
    assert first.parts is not None
    assert again.parts is not None
    assert np.array_equal(first.parts, again.parts)
    assert not np.array_equal(first.labels, other.labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": (64, 64), "n": 229}, "n=229 cells do not fit shape (64, 64): each needs 16 "
         "voxels on average, plus the gaps. Pass 228 or fewer, or enlarge the image."),
        ({"n": -1}, "n=-1 is out of range; pass 0 or more."),
        ({"spacing": (1, 1, 1)}, "spacing=(1, 1, 1) has 3 numbers, but the image has 2 axes: "
         "give one number per axis, in the order of the axes."),
    ],
)  # fmt: skip
def test_refusals_name_argument_value_and_remedy(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        cells(**options)
    assert str(caught.value) == message
