"""Names of columns in panoptica's tables, taken apart."""

from __future__ import annotations

import pytest

from panmatch.spec import (
    PANOPTICA_METRICS,
    at_threshold,
    panoptica_column,
    panoptica_columns,
    split_column,
    split_instance,
    split_threshold,
)


@pytest.mark.parametrize("threshold", [0.1, 0.5, 1.0, 1e-05, 0.33333])
def test_a_threshold_is_found_again_in_a_name(threshold: float) -> None:
    assert split_threshold(at_threshold(threshold, "sq_dsc")) == (threshold, "sq_dsc")


@pytest.mark.parametrize("name", ["tp", "t_pq", "t1.2.3_pq", "t._pq", "tall_x", "t0.5", "t0.5_"])
def test_other_names_have_no_threshold(name: str) -> None:
    assert split_threshold(name) == (None, name)
    if name != "tp":
        assert panoptica_column(name) is None


def test_only_the_first_hyphen_ends_a_group() -> None:
    assert split_column("bone-a-b") == ("bone", "a-b")
    assert split_column("pq") == ("ungrouped", "pq")


@pytest.mark.parametrize(
    "name", ["p7", "p7_inst_1", "-bone_inst_1", "p-bone_inst_", "p-bone_inst_x"]
)
def test_other_rows_are_not_of_instances(name: str) -> None:
    assert split_instance(name) is None


def test_every_metric_has_its_columns() -> None:
    found = panoptica_columns().values()
    for name, traits in PANOPTICA_METRICS.items():
        kinds = [column.kind for column in found if column.of == name]
        assert kinds == ["sq", "std", *(["pq"] if traits.has_pq else []), "whole", "region"]
    areas = {column.name for column in found if column.has_area}
    assert areas == {"rq", "sq", "pq", "sq_dsc", "pq_dsc", "sq_cldsc", "pq_cldsc"}


def test_the_base_of_a_column_has_no_threshold() -> None:
    for name, base in (("t0.5_pq_dsc", "pq_dsc"), ("pq_dsc", "pq_dsc"), ("autc_pq", "autc_pq")):
        column = panoptica_column(name)
        assert column is not None
        assert (column.name, column.base) == (name, base)
