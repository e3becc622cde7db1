"""Classes from nnU-Net's dataset.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from panmatch.errors import SpecError
from panmatch.spec import as_spec, spec_for_dataset

V2 = {"background": 0, "oedema": 1, "necrosis": 2, "whole": [1, 2, 3], "ignore": 4}


def write(folder: Path, labels: object) -> Path:
    path = folder / "dataset.json"
    path.write_text(json.dumps({"name": "x", "labels": labels, "regions_class_order": [1, 2, 3]}))
    return path


def test_classes_regions_and_the_ignored_label_of_version_2(tmp_path: Path) -> None:
    spec = spec_for_dataset(write(tmp_path, V2))
    assert {name: kind.numbers for name, kind in spec.classes.items()} == {
        "oedema": (1,),
        "necrosis": (2,),
        "whole": (1, 2, 3),
    }
    assert {kind.instances for kind in spec.classes.values()} == {"components"}
    assert spec.void == (4,)
    default = as_spec("instances")
    assert (spec.matching, spec.thresholds, spec.metrics) == (
        default.matching,
        default.thresholds,
        default.metrics,
    )


def test_names_by_number_are_version_1(tmp_path: Path) -> None:
    spec = spec_for_dataset(write(tmp_path, {"0": "background", "2": "tumour", "1": "liver"}))
    assert {name: kind.numbers for name, kind in spec.classes.items()} == {
        "tumour": (2,),
        "liver": (1,),
    }
    assert spec.void == ()


def test_all_other_keys_come_from_the_spec_and_a_file_may_say_more_about_a_class(
    tmp_path: Path,
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "preset: liver-lesions\nthresholds: 0.3\nvoid: 9\nheadline: whole\nclasses:\n"
        "  whole: {kind: stuff, instances: ids}\n  necrosis: null\n"
    )
    spec = spec_for_dataset(write(tmp_path, V2), mine)
    assert list(spec.classes) == ["oedema", "whole"]
    assert (spec.classes["whole"].kind, spec.classes["whole"].instances) == ("stuff", "ids")
    assert spec.classes["whole"].numbers == (1, 2, 3)
    assert (spec.thresholds, spec.void, spec.headline) == ((0.3,), (9, 4), "whole")
    assert spec.metrics == as_spec("liver-lesions").metrics


@pytest.mark.parametrize(
    "preset", ["brats-mets", "liver-lesions", "vertebrae", "binary-components"]
)
def test_classes_of_a_preset_give_way(tmp_path: Path, preset: str) -> None:
    spec = spec_for_dataset(write(tmp_path, {"background": 0, "x": 1}), preset)
    assert list(spec.classes) == ["x"]
    assert spec.matching == as_spec(preset).matching


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"background": 0}, r"labels only has the background"),
        ({"background": 0, "a": "1"}, r"labels\.a is '1': write a label such as 1, or a region"),
        ({"background": 0, "a": []}, r"labels\.a is \[\]: write a label"),
        ({"background": 0, "a": True}, r"labels\.a is True: write a label"),
        ({"background": 0, "a": [1, -2]}, r"labels\.a is \[1, -2\]: write a label"),
        ({"background": 0, "a": [0, 1]}, r"labels\.a is \[0, 1\]: remove 0"),
        ({"0": "background", "1": 2}, r"labels\.1 is 2: write the name of the class"),
        ({"0": "background", "1": "a", "2": "a"}, r"labels 1 and 2 are both 'a'"),
        ([1, 2], r"has no mapping `labels`"),
        ({}, r"has no mapping `labels`"),
    ],
)
def test_a_malformed_file_names_file_key_and_remedy(
    tmp_path: Path, labels: object, message: str
) -> None:
    path = write(tmp_path, labels)
    with pytest.raises(SpecError, match=message) as caught:
        spec_for_dataset(path)
    assert caught.value.for_command_line().startswith(f"--dataset-json {str(path)!r} ")


def test_what_is_not_json_or_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "dataset.json").write_text("{")
    for name in ("dataset.json", "nowhere.json"):
        with pytest.raises(SpecError, match="cannot be read as JSON"):
            spec_for_dataset(tmp_path / name)


def test_a_class_that_the_dataset_lacks_is_an_error_with_the_names_it_has(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("classes:\n  edema: {kind: stuff}\n")
    with pytest.raises(SpecError, match=r"'edema' is not in dataset_json=.*'oedema', 'necrosis'"):
        spec_for_dataset(write(tmp_path, V2), mine)


def test_an_ignored_label_that_a_class_has_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, {"background": 0, "a": [1, 2], "ignore": 2})
    with pytest.raises(SpecError, match="label 2 is also listed under void"):
        spec_for_dataset(path)
