"""Presets: each loads, says what it is for, and survives every way of writing it down."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from panmatch.spec import (
    ClassSpec,
    MetricOptions,
    Spec,
    as_spec,
    preset_names,
    preset_text,
    read_spec,
)


def test_the_names_begin_with_the_default() -> None:
    assert preset_names() == (
        "instances",
        "binary-components",
        "brats-mets",
        "cells",
        "cityscapes",
        "coco",
        "coco-instances",
        "liver-lesions",
        "vertebrae",
    )


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_loads_by_name_and_as_the_file_that_it_is(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.yml"
    file.write_text(preset_text(name), encoding="utf-8")
    assert as_spec(name) == read_spec(file) == as_spec(file) == as_spec({"preset": name})


def test_the_default_preset_spells_out_the_defaults_of_every_key() -> None:
    assert as_spec("instances") == Spec()
    written = yaml.safe_load(preset_text("instances"))
    assert set(written) == set(Spec.model_fields)
    assert set(written["classes"]["object"]) == set(ClassSpec.model_fields)
    assert set(written["metric_options"]) == set(MetricOptions.model_fields)


@pytest.mark.parametrize("name", preset_names())
def test_a_spec_survives_python_json_and_yaml(name: str, tmp_path: Path) -> None:
    spec = as_spec(name)
    assert as_spec(spec) is spec
    assert Spec.model_validate(spec.model_dump()) == spec
    assert Spec.model_validate_json(spec.model_dump_json()) == spec
    assert Spec.model_validate_json(spec.canonical()).canonical() == spec.canonical()
    for suffix, text in (
        (".json", spec.canonical()),
        (".yaml", yaml.safe_dump(spec.model_dump(mode="json"), sort_keys=False)),
    ):
        file = tmp_path / f"spec{suffix}"
        file.write_text(text, encoding="utf-8")
        assert as_spec(str(file)) == spec
        assert as_spec(file).canonical() == spec.canonical()


def test_metastases_are_counted_by_components_and_share_labels() -> None:
    spec = as_spec("brats-mets")
    assert list(spec.classes) == ["metastasis", "core", "enhancing"]
    assert spec.classes["metastasis"].numbers == (1, 2, 3)
    assert spec.classes["metastasis"].parts == (1, 2, 3)
    assert spec.classes["enhancing"].numbers == (3,)
    assert {one.instances for one in spec.classes.values()} == {"components"}
    assert spec.part_background == "image"  # the published definition (D9)
    assert spec.headline == "metastasis"
    assert spec.matching[3].regions


@pytest.mark.parametrize("name", preset_names())
def test_thresholds_show_where_strategies_differ_unless_a_protocol_fixes_them(name: str) -> None:
    published = {"coco": (0.5,), "cityscapes": (0.5,), "coco-instances": (0.5, 0.75)}
    assert as_spec(name).thresholds == published.get(name, (0.1, 0.25, 0.5))


def test_vertebrae_are_ranges_of_labels() -> None:
    spec = as_spec("vertebrae")
    assert spec.classes["vertebra"].numbers == tuple(range(1, 29))
    assert spec.classes["disc"].labels == ("100-199",)
    assert spec.classes["endplate"].numbers == tuple(range(200, 300))


def test_cityscapes_has_11_stuff_and_8_thing_classes() -> None:
    kinds = [one.kind for one in as_spec("cityscapes").classes.values()]
    assert (kinds.count("stuff"), kinds.count("things")) == (11, 8)
    assert as_spec("cityscapes").classes["person"].numbers == (24,)
