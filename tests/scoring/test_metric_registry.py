"""What the registry promises of every metric holds, and the page says it."""

from __future__ import annotations

import numpy as np
import pytest

import panmatch as pm
from panmatch import phantoms
from panmatch.errors import OptionError

NAMES = list(pm.all_metrics())


def test_all_promised_metrics_are_there() -> None:
    assert set(NAMES) >= {
        "iou", "dice", "precision", "recall", "relative_volume_difference",
        "relative_volume_error", "absolute_volume_difference", "centre_distance", "hd", "hd95",
        "hd95_pooled", "assd", "masd", "asd_from_prediction", "nsd", "cldice", "boundary_iou",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(24, 24), (14, 14, 14)])
def test_a_perfect_object_gets_the_best_value(name: str, shape: tuple[int, ...]) -> None:
    image = phantoms.blobs(shape, 3, radius=(2, 4), seed=5)
    matching = pm.match(pm.count_overlaps(image, image))
    best = 1.0 if pm.all_metrics()[name].better == "higher" else 0.0
    assert pm.measure(matching, image, image, name).columns[name].tolist() == [best] * 3


@pytest.mark.parametrize("name", NAMES)
def test_values_stay_in_the_stated_range(name: str) -> None:
    reference = phantoms.blobs((40, 40), 8, radius=(2, 4), seed=1)
    prediction = phantoms.add_spurious(
        phantoms.miss(phantoms.shift(reference, (1, 2)), 2, seed=1), 2, radius=(2, 3), seed=2
    )
    metric = pm.all_metrics()[name]
    matching = pm.match(pm.count_overlaps(reference, prediction), threshold=0.0)
    values = pm.measure(matching, reference, prediction, name, penalty="diagonal").columns[name]
    defined = values[~np.isnan(values)]
    assert len(defined) >= 8
    assert metric.lowest <= defined.min() <= defined.max() <= metric.highest


@pytest.mark.parametrize("name", NAMES)
def test_objects_without_partner_have_the_stated_value(name: str) -> None:
    reference = np.array([[1, 1, 0, 0, 0, 0]])
    prediction = np.array([[0, 0, 0, 0, 2, 2]])
    matching = pm.match(pm.count_overlaps(reference, prediction))
    found = pm.measure(matching, reference, prediction, name, spacing=(1, 3)).columns[name]
    metric = pm.all_metrics()[name]
    values = {"0": 0.0, "1": 1.0, "−1": -1.0, "NaN": float("nan"), "its volume": 6.0}
    np.testing.assert_array_equal(found, [values[metric.missed], values[metric.false_positive]])


def test_cldice_follows_centre_lines_and_not_volume() -> None:
    thick, thin = np.zeros((2, 20, 30), int)
    thick[8:13, 3:27] = 1
    thin[10, 3:27] = 1
    matching = pm.match(pm.count_overlaps(thick, thin), threshold=0.0)
    found = pm.measure(matching, thick, thin, ("cldice", "dice"))
    assert found.columns["cldice"][0] > 0.95
    assert found.columns["dice"].tolist() == [2 * 24 / (120 + 24)]


def test_cldice_by_hand_on_lines() -> None:
    """Lines are their own skeletons: 4 of 6 predicted voxels lie in g, 4 of 8 of g in p."""
    reference, prediction = np.zeros((2, 5, 12), int)
    reference[2, 0:8] = 1
    prediction[2, 4:10] = 1
    matching = pm.match(pm.count_overlaps(reference, prediction), threshold=0.0)
    value = pm.measure(matching, reference, prediction, "cldice").columns["cldice"][0]
    assert value == pytest.approx(2 * (4 / 6) * (4 / 8) / (4 / 6 + 4 / 8))


def test_cldice_of_a_block_that_thins_to_nothing_is_defined() -> None:
    block = np.zeros((6, 6, 6), int)
    block[2:4, 2:4, 2:4] = 1
    matching = pm.match(pm.count_overlaps(block, block))
    assert pm.measure(matching, block, block, "cldice").columns["cldice"].tolist() == [1.0]


def test_cldice_says_where_it_is_not_defined() -> None:
    strip = np.array([1, 1, 0])
    with pytest.raises(OptionError, match=r"cldice needs a skeleton.*1 axes: leave cldice out"):
        pm.measure(pm.match(pm.count_overlaps(strip, strip)), strip, strip, "cldice")


def test_a_metric_of_one_s_own_has_columns_and_scores() -> None:
    own = pm.Metric(
        name="hit", title="Hit", formula="1 if shared", lowest=0.0, highest=1.0, better="higher",
        dimension="", needs="overlap", missed="0", false_positive="0", penalised=False,
        compute=lambda objects: (objects.shared > 0).astype(np.float64),
    )  # fmt: skip
    image = np.array([1, 1, 0, 2])
    found = pm.measure(pm.match(pm.count_overlaps(image, image)), image, image, ("iou", own))
    assert found.columns["hit"].tolist() == [1.0, 1.0]
    assert found.scores["pq_hit"] == 1.0


def test_a_metric_cannot_take_the_name_of_a_standing_column() -> None:
    own = pm.Metric(
        name="status", title="", formula="", lowest=0.0, highest=1.0, better="higher", dimension="",
        needs="overlap", missed="", false_positive="", penalised=False,
        compute=lambda objects: objects.shared,
    )  # fmt: skip
    image = np.array([1])
    with pytest.raises(OptionError, match="'status' is the name of a built-in column"):
        pm.measure(pm.match(pm.count_overlaps(image, image)), image, image, own)
