"""What is computed by a shorter way is what the longer way gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panmatch as pm
from panmatch.labels import Meaning, distinct_labels
from panmatch.matching._exact_sum import limbs_to_units, sum_of_shares, to_limbs
from panmatch.overlap import assemble_labels
from panmatch.overlap._assembly import Rows, assemble

# Two predictions that each cover exactly half of one reference.
HALVES = pm.Overlap.from_dense([[50, 50]], ref_sizes=[100], pred_sizes=[50, 50])
JUST_BELOW = float(np.nextafter(0.5, 0))


@given(st.lists(st.floats(0, 1), max_size=20))
def test_shares_are_rounded_once_and_added_exactly(values: list[float]) -> None:
    array = np.array(values, np.float64)
    assert sum_of_shares(array) == limbs_to_units(to_limbs(array).sum(axis=0))


def test_shares_below_the_smallest_unit_are_rounded_to_the_nearest() -> None:
    assert sum_of_shares(np.array([0.75 * 2.0**-62, 0.25 * 2.0**-62, 1.5 * 2.0**-62])) == 3


@pytest.mark.parametrize("threshold", [0.0, 0.4, 0.45, JUST_BELOW])
def test_below_one_half_an_object_may_have_two_partners_to_choose_from(threshold: float) -> None:
    assert pm.match(HALVES, "one-to-one", threshold).tally == pm.Tally(1, 1, 0, 0.5)


def test_at_one_half_there_is_nothing_to_choose() -> None:
    assert pm.match(HALVES, "one-to-one", 0.5).tally == pm.Tally(0, 2, 1, 0.0)
    with_equal = pm.match(HALVES, "one-to-one", 0.5, strict=False)
    assert with_equal.tally == pm.Tally(1, 1, 0, 0.5)


@pytest.mark.parametrize("seed", range(30))
def test_plain_images_have_the_graph_of_the_general_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = [rng.integers(0 if seed % 3 else 1, 6, rng.integers(0, 60)) for _ in range(1)] * 2
    images[1] = np.where(rng.uniform(size=images[0].shape) < 0.5, images[0], rng.integers(0, 9))
    (ref, pred), counts = distinct_labels(images)
    sides = Meaning.of_labels(ref), Meaning.of_labels(pred)
    expected = assemble(Rows(*sides, counts, np.zeros(len(counts), np.bool_))).overlap()
    found = assemble_labels(ref, pred, counts)
    assert found == expected
    assert found.voxels == expected.voxels == images[0].size
    assert all(not column.flags.writeable for name, column in found.columns().items()
               if name != "voxels")  # fmt: skip
