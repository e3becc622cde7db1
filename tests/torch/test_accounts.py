"""Tables of whole numbers hold curves without losing a bit."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from tests import brute_force

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)

from panmatch.torch._states import STEP, add_up, no_steps, step_rows, to_curve  # noqa: E402

NOTHING = pm.curve(pm.Overlap.from_dense(np.zeros((0, 0), np.int64), [], []), "many-to-one")


def test_steps_of_images_add_up_to_the_sum_of_their_curves() -> None:
    rng = np.random.default_rng(2)
    curves = [pm.curve(brute_force.random_scene(rng), "many-to-one") for _ in range(30)]
    total: pm.Curve = sum(curves[1:], curves[0])
    shuffled = [curves[i] for i in rng.permutation(len(curves))]
    steps = np.concatenate([step_rows({3: one}) for one in shuffled])
    found = to_curve(add_up(steps), 3, NOTHING)
    assert np.array_equal(found.thresholds, total.thresholds)
    assert np.array_equal(found.tallies.counts, total.tallies.counts)
    assert to_curve(add_up(steps), 0, NOTHING) is NOTHING


def test_no_steps_add_up_to_no_steps_and_to_the_curve_of_nothing() -> None:
    assert add_up(no_steps()).shape == (0, STEP)
    assert to_curve(no_steps(), 0, NOTHING) is NOTHING
