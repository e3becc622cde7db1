"""Lines of strategies differ for every reader: in hue by family, in dash by variant."""

from __future__ import annotations

from itertools import combinations

import pytest

import panmatch as pm
from panmatch.matching import STRATEGIES
from tests.colour_vision import VISION, contrast, distance

FAMILIES = list(STRATEGIES.values())
VARIANTS = [variant for family in FAMILIES for variant in family.variants()]
GROUNDS = {"light": "#ffffff", "dark": "#1a1f27"}
LEAST_DISTANCE = 0.12  # in OKLab; below 0.05 two thin lines are hard to distinguish
LEAST_CONTRAST = 4.5


def test_red_and_green_are_one_colour_to_some_readers() -> None:
    """The measure would find the mistake that this file guards against."""
    assert distance("#099268", "#d6336c", "normal") > 0.2
    assert distance("#099268", "#d6336c", "deutan") < 0.03


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1], ids=list(GROUNDS))
def test_families_differ_in_hue_for_all_readers(theme: int, vision: str) -> None:
    distances = {
        (one.name, other.name): distance(one.hue[theme], other.hue[theme], vision)
        for one, other in combinations(FAMILIES, 2)
    }
    assert min(distances.values()) >= LEAST_DISTANCE, min(distances, key=distances.__getitem__)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_names_in_the_hue_of_a_family_are_readable(family: type[pm.Strategy]) -> None:
    for hue, ground in zip(family.hue, GROUNDS.values(), strict=True):
        assert contrast(hue, ground) >= LEAST_CONTRAST


def test_strategies_of_one_hue_differ_in_dash() -> None:
    assert len(VARIANTS) == 14
    assert len({one.dash for one in VARIANTS}) == 14
