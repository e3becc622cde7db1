"""`panmatch migrate`: a spec with comments at their places, or one line that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from panmatch.cli._migrate import commented_spec
from panmatch.spec import (
    PanopticaApproximator,
    PanopticaConfig,
    PanopticaGroup,
    PanopticaMatcher,
    read_spec,
    spec_from_panoptica,
)
from tests.commands import panmatch
from tests.peers.asking import PEER, shipped_configs

CONFIG = """\
!Panoptica_Evaluator
expected_input: !InputType UNMATCHED_INSTANCE
instance_matcher: !MaxBipartiteMatching {matching_threshold: 0.4}
instance_metrics: [!Metric IOU, !Metric ASSD]
global_metrics: []
segmentation_class_groups: !SegmentationClassGroups
  groups:
    Liver: !LabelGroup {value_labels: [9], single_instance: true}
    lesion: !LabelGroup {value_labels: [1, 2, 3, 4]}
"""
SPEC = """\
# Migrated from 'config.yaml', a panoptica configuration.

classes:
  # Read this class at threshold 0: panoptica matches a single instance without a threshold;
  # if the two sides share no voxel, it counts a true positive of quality 0, panmatch a miss
  # and a false positive.
  liver:
    labels: 9
    kind: stuff
  lesion:
    labels: 1-4
    instances: ids

matching:
  - {strategy: one-to-one, solver: optimal, strict: false}

thresholds: [0.0, 0.4]

"""
EDGE_CASES = """
edge_cases:
  masd: {no_reference: inf, no_prediction: inf, no_match: inf}
"""


def test_the_spec_is_printed_or_written_with_its_remarks(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG)
    shown = panmatch("migrate", "config.yaml", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(SPEC)
    assert shown.stdout.endswith(EDGE_CASES)
    assert shown.stderr == "panmatch: 3 comments in the spec where the meaning differs.\n"
    written = panmatch("migrate", "config.yaml", "-o", "spec.yaml", cwd=tmp_path)
    assert written.stdout == "Spec: spec.yaml\n"
    assert written.stderr == shown.stderr
    assert (tmp_path / "spec.yaml").read_text() == shown.stdout
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["config.yaml", "spec.yaml"]
    spec = read_spec(tmp_path / "spec.yaml")
    assert spec.thresholds == (0.0, 0.4)
    assert spec.metrics == ("iou", "masd")
    assert list(spec.edge_cases) == ["masd"]
    again = panmatch("migrate", "config.yaml", "-o", "spec.yaml", cwd=tmp_path)
    assert again.returncode == 2
    assert again.stderr == (
        "panmatch: --out 'spec.yaml' already exists: name another file, or move it away.\n"
    )


def test_dimensions_choose_what_is_connected(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "!Panoptica_Evaluator\n"
        "expected_input: !InputType SEMANTIC\n"
        "instance_approximator: !ConnectedComponentsInstanceApproximator {}\n"
        "instance_matcher: !NaiveThresholdMatching {}\n"
    )
    shown = panmatch("migrate", "config.yaml", "--dimensions", 2, cwd=tmp_path)
    assert "    instances: components\n    connectivity: faces\n" in shown.stdout
    assert "panmatch migrate --dimensions 3." in shown.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "config 'config.yaml' is empty: a panoptica configuration must start with"),
        ("!Panoptica_Evaluator\nverbos: true\n", "config 'config.yaml', line 2: the key 'verbos'"),
        ("!Foo {}", "config 'config.yaml', line 1: the tag '!Foo' is not known"),
        ("a: [", "config 'config.yaml' is not YAML: "),
    ],
)
def test_mistakes_are_one_line_on_stderr(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(text)
    shown = panmatch("migrate", "config.yaml", "-o", "spec.yaml", cwd=tmp_path)
    assert shown.returncode == 2
    assert shown.stdout == ""
    assert shown.stderr.startswith(f"panmatch: {message}")
    assert shown.stderr.count("\n") == 1
    assert not (tmp_path / "spec.yaml").exists()


def test_folders_and_absent_files_are_named(tmp_path: Path) -> None:
    for name, reason in ((".", "Is a directory"), ("none.yaml", "No such file")):
        shown = panmatch("migrate", name, cwd=tmp_path)
        assert (shown.returncode, shown.stdout) == (2, "")
        assert shown.stderr.startswith(f"panmatch: config '{name}' cannot be read: ")
        assert reason in shown.stderr


@pytest.mark.parametrize(
    "name", ["yes", "1", "a: b", "# c", "- d", "'", "\u2028e", "line\nbreak", "ü", "~", "{", "x\a"]
)
def test_every_name_of_a_group_is_the_name_of_the_class(name: str, tmp_path: Path) -> None:
    """Also in comments, which end with the line."""
    group = PanopticaGroup((1,), single_instance=True)
    config = PanopticaConfig(
        "SEMANTIC",
        groups={name: group, "b": PanopticaGroup((2, 3))},
        approximator=PanopticaApproximator(one_hot=True),
        matcher=PanopticaMatcher(),
    )
    text = commented_spec(spec_from_panoptica(config), f"{name}.yaml")
    (tmp_path / "spec.yaml").write_text(text, encoding="utf-8")
    assert list(read_spec(tmp_path / "spec.yaml").classes) == [name, "b"]


@pytest.mark.skipif(not PEER.exists(), reason=f"panoptica is not installed in {PEER}")
def test_the_configurations_that_panoptica_ships_migrate_and_load(tmp_path: Path) -> None:
    for path in shipped_configs():
        shown = panmatch("migrate", path, "-o", f"{path.stem}.yaml", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert read_spec(tmp_path / f"{path.stem}.yaml").classes
    assert len(list(tmp_path.glob("*.yaml"))) == 8
