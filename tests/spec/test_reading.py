"""YAML, presets and mappings become one spec; what cannot be meant is an error that teaches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from panmatch.errors import SpecError
from panmatch.matching import Matcher, RegionUnion
from panmatch.spec import ClassSpec, Spec, as_spec, read_spec


def written(folder: Path, text: str) -> Path:
    file = folder / "spec.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing but a comment\n", "---\n", "{}"])
def test_an_empty_file_means_the_defaults(text: str, tmp_path: Path) -> None:
    assert read_spec(written(tmp_path, text)) == Spec()


@pytest.mark.parametrize(
    ("text", "kind"), [("[a, b]", "list"), ("cells", "str"), ("3", "int"), ("no", "bool")]
)
def test_a_file_must_be_a_mapping(text: str, kind: str, tmp_path: Path) -> None:
    message = rf"must be a mapping of keys such as 'classes' and 'matching', not a {kind}\. `panm"
    with pytest.raises(SpecError, match=message):
        read_spec(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("curve: true\ncurve: false", "curve"),
        ("classes:\n  a: {labels: 1}\n  b: {labels: 2}\n  a: {labels: 3}", "a"),
        ("classes: {a: {labels: 1, labels: 2}}", "labels"),
        ("matching: [{strategy: one-to-one, strategy: same-id}]", "strategy"),
    ],
)
def test_a_key_that_is_written_twice_is_an_error_at_any_depth(
    text: str, key: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError, match=f"is not YAML: the key '{key}' is written twice in .*line"):
        read_spec(written(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "metrics: !!python/object/apply:os.system ['touch {file}']",
        "!!python/object/apply:os.system ['touch {file}']",
        "classes: !!python/object/new:os.system ['touch {file}']",
        "matching: !!python/name:os.system",
    ],
)
def test_python_objects_in_yaml_are_refused_and_never_run(text: str, tmp_path: Path) -> None:
    trace = tmp_path / "was_here"
    with pytest.raises(
        SpecError, match="is not YAML: could not determine a constructor for the ta"
    ):
        read_spec(written(tmp_path, text.format(file=trace)))
    assert not trace.exists()


@pytest.mark.parametrize("text", ["a: [", "{", "\t- x: y", "? [1]\n: 2", "a: *nowhere"])
def test_broken_yaml_is_named_in_one_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"spec='.*spec\.yaml' is not YAML: ") as caught:
        read_spec(written(tmp_path, text))
    assert "\n" not in str(caught.value)


LAUGHS = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LAUGHS, "more than 100,000 values, including repeated anchors"),
        ("classes: &a\n  x: *a\n", "more than 100,000 values"),
        ("classes: " + "[" * 100_000, "maximum recursion depth"),
    ],
)
def test_a_spec_that_expands_without_end_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_text(text)
    with pytest.raises(SpecError, match=reason):
        read_spec(path)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"spec='.*absent\.yaml' cannot be read: .*No such file"):
        as_spec(tmp_path / "absent.yaml")
    with pytest.raises(SpecError, match=r"cannot be read: .*Is a directory"):
        read_spec(tmp_path)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("classes: {ödem: {labels: 1}}".encode("latin-1"))
    with pytest.raises(SpecError, match="cannot be read: 'utf-8' codec can't decode"):
        read_spec(latin)


def test_neither_a_preset_nor_a_file_suggests_the_nearest_preset() -> None:
    message = (
        r"spec='cels' is not a preset; did you mean 'cells'\? Presets: instances, .*vertebrae; "
        r"a file must end in \.yaml or \.yml or \.json"
    )
    with pytest.raises(SpecError, match=message):
        as_spec("cels")
    with pytest.raises(SpecError, match=r"spec='spec\.txt' is not a preset"):
        as_spec(Path("spec.txt"))


def test_upper_case_suffixes_are_files_too(tmp_path: Path) -> None:
    file = tmp_path / "SPEC.YAML"
    file.write_text("curve: false")
    assert not as_spec(str(file)).curve


def test_the_headline_of_a_preset_goes_with_its_class() -> None:
    others = {"metastasis": None, "tumour": {"labels": [1, 2, 3]}}
    assert as_spec({"preset": "brats-mets", "classes": others}).headline is None
    assert as_spec({"preset": "brats-mets", "thresholds": 0.5}).headline == "metastasis"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"treshold": 0.3}, "the key 'treshold' is not known; did you mean 'thresholds'? Accepted"),
        ({"zzz": 1}, "the key 'zzz' is not known. Accepted: encoding, classes, headline, back"),
        (
            {"classes": {"cell": {"lables": 1}}},
            "classes.cell: the key 'lables' is not known; did you mean 'labels'? Accepted: labels, "
            "kind, instances, connectivity, min_voxels, parts.",
        ),
        (
            {"matching": ["one-to-one", {"strategy": "one-to-one", "slover": "greedy"}]},
            "matching[1]: the key 'slover' is not known; did you mean 'solver'? Accepted: strate",
        ),
        (
            {"metric_options": {"tolerances": 2}},
            "metric_options: the key 'tolerances' is not known; did you mean 'tolerance'?",
        ),
        (
            {"averaging": {"undefned": "skip"}},
            "averaging: the key 'undefned' is not known; did you mean 'undefined'? Accepted: undef",
        ),
    ],
)
def test_unknown_keys_name_the_nearest_key_at_every_level(content: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        as_spec(content)
    assert str(caught.value).startswith("spec='spec' cannot be used:\n  " + message)


def test_every_problem_has_its_line_with_the_value() -> None:
    with pytest.raises(SpecError) as caught:
        as_spec({"encoding": "labls", "averaging": {"undefined": "drop"}, "curve": "perhaps"})
    head, *lines = str(caught.value).splitlines()
    assert head == "spec='spec' cannot be used:"
    assert [line.split(":")[0] for line in lines] == [
        "  encoding",
        "  curve",
        "  averaging.undefined",
    ]
    assert lines[0].endswith("'panoptic-parts' (it is 'labls').")
    assert lines[2] == (
        "  averaging.undefined: Input should be 'skip', 'zero' or 'one' (it is 'drop')."
    )


def test_a_spec_begins_with_its_preset_and_merges_deeply() -> None:
    spec = as_spec(
        {
            "preset": "brats-mets",
            "classes": {"enhancing": {"labels": 4}, "oedema": {"labels": 2}, "core": None},
            "metric_options": {"penalty": 9.5},
            "thresholds": [0.25],
        }
    )
    assert set(spec.classes) == {"metastasis", "enhancing", "oedema"}
    assert spec.classes["enhancing"] == ClassSpec(labels=4, instances="components", min_voxels=2)  # type: ignore[arg-type]
    assert spec.classes["oedema"] == ClassSpec(labels=2)  # type: ignore[arg-type]
    assert spec.metric_options.penalty == 9.5
    assert spec.metric_options.tolerance == 1.0
    assert spec.thresholds == (0.25,)
    assert spec.metrics == ("dice", "hd95", "nsd")


def test_a_preset_in_yaml_is_the_same_as_in_python(tmp_path: Path) -> None:
    content = {"preset": "liver-lesions", "classes": {"liver": None}, "void": "250-255"}
    file = written(tmp_path, yaml.safe_dump(content))
    assert read_spec(file) == as_spec(content)
    assert list(read_spec(file).classes) == ["lesion"]
    assert "preset" in content  # what is given is not changed


def test_null_replaces_a_value_and_drops_only_mappings() -> None:
    spec = as_spec({"preset": "instances", "metric_options": None, "void_part": None})
    assert spec == Spec()
    assert as_spec({"preset": "cells", "classes": None}).classes == Spec().classes
    with pytest.raises(SpecError, match=r"classes\.sell: Input should be .*\(it is None\)"):
        as_spec({"preset": "cells", "classes": {"sell": None}})


def test_an_unknown_preset_is_named() -> None:
    with pytest.raises(SpecError, match=r"preset='cell' is not known; did you mean 'cells'\? Acc"):
        as_spec({"preset": "cell"})
    with pytest.raises(SpecError, match=r"preset=3 is not known\. Accepted: instances, binary"):
        as_spec({"preset": 3})


def test_specs_are_frozen_and_hold_their_own_matchers() -> None:
    spec = Spec(matching="union")  # type: ignore[arg-type]
    assert spec.matching == (Matcher(RegionUnion(), regions="voronoi"),)
    with pytest.raises(ValueError, match="frozen"):
        spec.curve = False


def test_json_is_read_as_json(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    long = "名" * 200  # escaped, a key of 1,200 characters, which YAML refuses
    path.write_text(json.dumps({"classes": {long: {"labels": 1}}, "thresholds": [0.5]}))
    assert list(read_spec(path).classes) == [long]
    path.write_text('{"thresholds": [0.5], "thresholds": [0.7]}')
    with pytest.raises(SpecError, match="is not JSON: the key 'thresholds' is written twice"):
        read_spec(path)
    path.write_text('{"thresholds": [0.5]')
    with pytest.raises(SpecError, match="is not JSON: "):
        read_spec(path)
    path.write_text("{" * 10)
    with pytest.raises(SpecError, match="is not JSON: "):
        read_spec(path)
