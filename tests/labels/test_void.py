"""Void is decided in one place, whatever it is given as."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from panmatch.errors import OptionError
from panmatch.labels import Void

REFERENCE, PREDICTION = np.array([1, 255, 2, 2]), np.array([4, 4, 4, 0])
MASK = np.array([0, 1, 0, 0])


@pytest.mark.parametrize(
    ("reference", "void"),
    [
        (REFERENCE, 255),
        (REFERENCE, np.uint8(255)),
        (REFERENCE, np.array(255)),
        (REFERENCE, MASK),
        (REFERENCE, MASK.astype(bool).tolist()),
        (np.ma.array(REFERENCE, mask=MASK), None),
        (REFERENCE, Void(mask=MASK)),
    ],
)
def test_a_label_a_mask_and_a_masked_reference_say_the_same(reference: Any, void: Any) -> None:
    found = Void.of(reference, PREDICTION, void)
    cleared = found.clear(reference, PREDICTION)
    assert [image.tolist() for image in cleared] == [[1, 0, 2, 2], [4, 0, 4, 0]]
    assert (
        found.covers({"reference": REFERENCE, "void": MASK}).tolist() == MASK.astype(bool).tolist()
    )
    assert found


def test_without_void_images_stay_as_they_are() -> None:
    void = Void.of(REFERENCE, PREDICTION, None)
    assert not void
    assert not void.images
    assert void.clear(REFERENCE, PREDICTION)[0] is REFERENCE
    assert not void.covers({"reference": REFERENCE}).any()


def test_labels_and_a_mask_go_together() -> None:
    void = Void((255, 1), np.array([0, 0, 0, 1]))
    cleared = void.clear(REFERENCE, PREDICTION)
    assert [image.tolist() for image in cleared] == [[0, 0, 2, 0], [0, 0, 4, 0]]
    columns = {"reference": np.array([1, 2, 2]), "void": np.array([0, 0, 7])}
    assert void.covers(columns).tolist() == [True, False, True]


def test_masks_join() -> None:
    more = np.array([1, 0, 0, 0])
    assert Void(mask=MASK).with_mask(None).mask is MASK
    assert np.asarray(Void().with_mask(more).mask).tolist() == [1, 0, 0, 0]
    assert np.asarray(Void(mask=MASK).with_mask(more).mask).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("void", [True, 1.5, "x"])
def test_anything_else_is_refused(void: Any) -> None:
    with pytest.raises(OptionError, match="neither a label of the reference"):
        Void.of(REFERENCE, PREDICTION, void)


def test_only_references_have_void_and_only_once() -> None:
    masked = np.ma.array(REFERENCE, mask=MASK)
    with pytest.raises(OptionError, match="prediction is a masked array"):
        Void.of(REFERENCE, masked, None)
    with pytest.raises(OptionError, match="void is given twice"):
        Void.of(masked, PREDICTION, 255)
