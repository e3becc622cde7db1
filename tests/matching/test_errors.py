"""Wrong strategies and options: the message says what is accepted."""

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import LabelError, OptionError, StrategyError
from tests import scenes


def test_many_to_many_is_refused_with_the_reason() -> None:
    for use in (pm.match, pm.curve):
        with pytest.raises(StrategyError, match=r"counted in the unions of several.*cluster_dice"):
            use(scenes.SPLIT, "many-to-many")


@pytest.mark.parametrize(
    ("given", "nearest"),
    [("one2one", "one-to-one"), ("many-to-on", "many-to-one"), ("sameid", "same-id")],
)
def test_an_unknown_strategy_suggests_the_nearest(given: str, nearest: str) -> None:
    with pytest.raises(
        StrategyError, match=f"strategy='{given}' is not known; did you mean '{nearest}'"
    ):
        pm.match(scenes.SPLIT, given)


def test_an_unknown_strategy_without_a_near_name_lists_all() -> None:
    with pytest.raises(StrategyError, match=r"strategy=7 is not known\. Accepted: 'one-to-one'"):
        pm.match(scenes.SPLIT, 7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pm.OneToOne(solver="hungarian"), "solver='hungarian'.*'optimal', 'greedy'"),  # type: ignore[arg-type]
        (lambda: pm.ManyToOne(gate="sed"), "gate='sed'.*did you mean 'seed'"),  # type: ignore[arg-type]
        (lambda: pm.ManyToOne(solver="best"), "solver='best'.*'merge', 'optimal'"),  # type: ignore[arg-type]
        (lambda: pm.OneToMany(solver="bset"), "did you mean 'best'"),  # type: ignore[arg-type]
    ],
)
def test_an_unknown_option_lists_the_accepted_ones(make: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()


def test_label_images_in_place_of_an_overlap() -> None:
    for use in (pm.match, pm.curve):
        with pytest.raises(LabelError, match=r"overlap is a ndarray.*count_overlaps\(reference"):
            use(np.array([1, 2]))  # type: ignore[arg-type]


def test_bounds_are_always_told_in_words() -> None:
    one = ("at most 1 prediction per reference", "at most 1 reference per prediction")
    assert pm.OneToOne().bounds == pm.SameId().bounds == one
    assert pm.ManyToOne().bounds == ("any number of predictions per reference", one[1])
    assert pm.OneToMany().bounds == (one[0], "any number of references per prediction")
