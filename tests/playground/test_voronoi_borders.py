"""The picture of the Voronoi regions: borders are where the nearest reference changes."""

from __future__ import annotations

import base64

import numpy as np

from panmatch.playground import View
from panmatch.playground._answers import answer_numbers
from panmatch.playground._sources import DrawnScene, draw_voronoi_borders
from panmatch.playground._validation import Message
from tests.playground.drawn_scenes import EMPTY, MIXED, Image


def decode(message: Message) -> Image:
    bits = np.frombuffer(base64.b64decode(message["bits"]), np.uint8)
    height, width = message["height"], message["width"]
    return np.unpackbits(bits, count=height * width).reshape(height, width)


def nearest(labels: Image) -> Image:
    """Return the nearest label of every pixel, the smaller one of two, by looking at all."""
    seeds = np.argwhere(labels)
    order = np.argsort(labels[labels > 0], kind="stable")
    seeds = seeds[order]
    places = np.moveaxis(np.indices(labels.shape), 0, -1)[:, :, np.newaxis]
    closest = np.asarray(((places - seeds) ** 2).sum(-1).argmin(-1))
    found: Image = labels[seeds[closest, 0], seeds[closest, 1]]
    return found


def test_borders_are_where_the_nearest_reference_changes() -> None:
    labels = np.zeros((24, 40), np.uint16)
    labels[3, 5], labels[20:22, 30:34], labels[2:6, 33], labels[23, 0] = 1, 2, 3, 4
    coarse = labels.reshape(12, 2, 20, 2).max((1, 3))
    regions = nearest(coarse)
    expected = np.zeros(coarse.shape, int)
    for row, column in np.ndindex(coarse.shape):
        below = row + 1 < 12 and regions[row, column] != regions[row + 1, column]
        right = column + 1 < 20 and regions[row, column] != regions[row, column + 1]
        expected[row, column] = below or right
    found = decode(draw_voronoi_borders(labels))
    assert found.tolist() == expected.tolist()
    assert expected.any()


def test_borders_are_sent_only_if_they_are_drawn() -> None:
    drawn = DrawnScene(MIXED)
    assert answer_numbers(drawn, View())["voronoi"] is None
    found = answer_numbers(drawn, View(voronoi=True))["voronoi"]
    assert (found["width"], found["height"]) == (1200, 724)
    assert 1_000 < decode(found).sum() < 20_000
    assert decode(answer_numbers(DrawnScene(EMPTY), View(voronoi=True))["voronoi"]).sum() == 0
