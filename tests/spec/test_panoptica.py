"""Configurations of panoptica: read exactly, refused with the line, and turned into specs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from panmatch.errors import SpecError
from panmatch.spec import (
    ClassSpec,
    PanopticaApproximator,
    PanopticaConfig,
    PanopticaEdgeCase,
    PanopticaGroup,
    PanopticaMatcher,
    Spec,
    matcher_as_dict,
    read_panoptica,
    spec_from_panoptica,
)
from panmatch.spec._panoptica import MetricName

EVERYTHING = """\
!Panoptica_Evaluator
expected_input: !InputType SEMANTIC
instance_approximator: !OneHotConnectedComponentsInstanceApproximator
  cca_backend: !CCABackend scipy
instance_matcher: !NaiveThresholdMatching
  matching_metric: !Metric DSC
  matching_threshold: 2e-1
  allow_many_to_one: true
  strict_threshold: true
edge_case_handler: !EdgeCaseHandler
  empty_list_std: !EdgeCaseResult ZERO
  listmetric_zeroTP_handling:
    !Metric IOU: !MetricZeroTPEdgeCaseHandling
      default_result: !EdgeCaseResult ONE
      no_instances_result: !EdgeCaseResult NAN
    !Metric HD: !MetricZeroTPEdgeCaseHandling
      no_instances_result: !EdgeCaseResult NONE
      empty_prediction_result: !EdgeCaseResult INF
      empty_reference_result: !EdgeCaseResult ZERO
      normal: !EdgeCaseResult NAN
segmentation_class_groups: !SegmentationClassGroups
  groups:
    Bones: !LabelGroup {value_labels: [3, 1, 2, 3]}
    tumour: !LabelMergeGroup {value_labels: [0x10, 17]}
    cell: !LabelPartGroup {thing_labels: 20, part_labels: [22, 21]}
    heart: !LabelGroup {value_labels: 30, single_instance: true}
    short: [[40, 41], false]
instance_metrics: [!Metric IOU, !Metric HD]
global_metrics: [!Metric NSD]
decision_metric: !Metric IOU
decision_threshold: 0.25
per_region_evaluation: false
save_group_times: true
log_intermediate_steps: false
log_times: TRUE
verbose: false
speed_toggles: !PanopticaSpeedToggles
  crop_at_start: true
  precompute_instance_bboxes: true
  parallel_instance_eval: false
  parallel_instance_eval_workers: null
"""
LAUGHS = "\n".join(
    ["!SegmentationClassGroups", "groups:", "  a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    + [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
)
MERGES = "!Panoptica_Evaluator\n" + "\n".join(
    f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}" if n else "m0: &m0 {a: 1}"
    for n in range(10)
)


def read(folder: Path, text: str) -> PanopticaConfig:
    file = folder / "config.yaml"
    file.write_text(text, encoding="utf-8")
    return read_panoptica(file)


def test_every_tag_and_key_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, EVERYTHING) == PanopticaConfig(
        expected_input="SEMANTIC",
        groups={
            "bones": PanopticaGroup((1, 2, 3)),
            "tumour": PanopticaGroup((16, 17), "merged"),
            "cell": PanopticaGroup((20, 21, 22), "parts", (21, 22)),
            "heart": PanopticaGroup((30,), single_instance=True),
            "short": PanopticaGroup((40, 41)),
        },
        approximator=PanopticaApproximator(one_hot=True, backend="scipy"),
        matcher=PanopticaMatcher("NaiveThresholdMatching", "DSC", 0.2, True, True),
        instance_metrics=("IOU", "HD"),
        global_metrics=("NSD",),
        decision_metric="IOU",
        decision_threshold=0.25,
        per_region=False,
        edge_cases={
            "IOU": PanopticaEdgeCase("NAN", "ONE", "ONE", "ONE"),
            "HD": PanopticaEdgeCase("NONE", "INF", "ZERO", "NAN"),
        },
        empty_list_std="ZERO",
    )


@pytest.mark.parametrize(
    "text",
    [
        "!Panoptica_Evaluator {}",
        "!Panoptica_Evaluator {segmentation_class_groups: !_NoSegmentationClassGroups {}}",
        "!Panoptica_Evaluator\ninstance_metrics: null\nglobal_metrics: ~\nedge_case_handler:\n",
        "!Panoptica_Evaluator {edge_case_handler: !EdgeCaseHandler {}}",
        "\ufeff--- !Panoptica_Evaluator\nverbose: True\n...\n",
    ],
)
def test_what_is_not_said_is_panoptica_s_default(text: str, tmp_path: Path) -> None:
    assert read(tmp_path, text) == PanopticaConfig()


def test_defaults_of_matchers_and_lists_of_groups(tmp_path: Path) -> None:
    text = """!Panoptica_Evaluator
expected_input: !InputType UNMATCHED_INSTANCE
instance_matcher: !MaximizeMergeMatching {}
instance_metrics: []
segmentation_class_groups: !SegmentationClassGroups
  groups: [!LabelGroup {value_labels: 0b11}, !LabelMergeGroup {value_labels: [010, 1_000]}]
"""
    config = read(tmp_path, text)
    assert config.matcher == PanopticaMatcher("MaximizeMergeMatching", "IOU", 0.5, False, False)
    assert config.instance_metrics == ()
    assert config.groups == {
        "group_0": PanopticaGroup((3,)),
        "group_1": PanopticaGroup((10, 1000), "merged"),  # numbers of YAML 1.2
    }


def test_groups_may_stand_alone_and_anchors_merge(tmp_path: Path) -> None:
    text = """!SegmentationClassGroups
groups:
  a: &a !LabelGroup {value_labels: 1, single_instance: true}
  b: !LabelGroup {<<: *a, value_labels: 2}
  c: !LabelGroup {value_labels: 3, <<: [{single_instance: false}, *a]}
"""
    config = read(tmp_path, text)
    assert config.expected_input is None
    assert config.groups == {
        "a": PanopticaGroup((1,), single_instance=True),
        "b": PanopticaGroup((2,), single_instance=True),
        "c": PanopticaGroup((3,)),
    }


START = "!Panoptica_Evaluator\n"
GROUPS = "!SegmentationClassGroups\ngroups:\n"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (START + "x: !Panoptica_Agregator {}", 2, "the tag '!Panoptica_Agregator' is not known"),
        (START + "instance_matcher: !NaiveTresholdMatching {}", 2, "; did you mean '!NaiveThr"),
        (START + "a: !!python/object/apply:os.system [ls]", 2, "python/object/apply:os.system' is"),
        (
            START + "\n\nverbos: true",
            4,
            "the key 'verbos' of !Panoptica_Evaluator is not known; "
            "did you mean 'verbose'? Accepted: expected_input, ",
        ),
        (
            START + "instance_matcher: !MaxBipartiteMatching\n  allow_many_to_one: true",
            3,
            "the key 'allow_many_to_one' of !MaxBipartiteMatching is not known",
        ),
        (START + "verbose: true\nverbose: true", 3, "the key 'verbose' is written twice"),
        (START + "? [1]\n: 2", 2, "the key a list is not a word"),
        (START + "log_times: no", 2, "must be true or false, not 'no'"),
        (START + "decision_metric: DSC", 2, "must be written as !Metric DSC, not 'DSC'"),
        (START + "decision_metric: !Metric DICE", 2, "!Metric 'DICE' is not known. Accepted: DSC"),
        (START + "expected_input: null", 2, "must be written as !InputType SEMANTIC, not nothing"),
        (START + "instance_metrics: !Metric DSC", 2, "must be a list such as [!Metric DSC], not "),
        (
            START + "instance_matcher: {matching_threshold: 1}",
            2,
            "must be a mapping with the tag "
            "!NaiveThresholdMatching or !MaxBipartiteMatching or !MaximizeMerge",
        ),
        (
            START + "instance_matcher: !MaxBipartiteMatching\n  matching_threshold: '0.5'",
            3,
            "must be a number, not '0.5'",
        ),
        (
            START + "instance_matcher: !MaxBipartiteMatching\n  matching_threshold: .inf",
            3,
            "must be a number, not '.inf'",
        ),
        (
            START
            + "edge_case_handler: !EdgeCaseHandler\n  listmetric_zeroTP_handling:\n    !Metric HD:"
            " !MetricZeroTPEdgeCaseHandling {normal: !EdgeCaseResult NAN}",
            4,
            "needs default_result",
        ),
        (
            START + "edge_case_handler: !EdgeCaseHandler\n  listmetric_zeroTP_handling: []",
            3,
            "must be a mapping from !Metric, not a list",
        ),
        (GROUPS + "  a: !LabelGroup {}", 3, "!LabelGroup needs value_labels"),
        (
            GROUPS + "  a: !LabelGroup\n    value_labels: [1, 0]",
            4,
            "'0' is not a label: write whole",
        ),
        (GROUPS + "  a: !LabelGroup {value_labels: [1, true]}", 3, "'true' is not a label"),
        (GROUPS + f"  a: !LabelGroup {{value_labels: {'9' * 5000}}}", 3, "is too large"),
        (GROUPS + "  a: !LabelGroup {value_labels: []}", 3, "must name at least one label"),
        (
            GROUPS + "  a: !LabelGroup {value_labels: [1, 2], single_instance: true}",
            3,
            "must have one lab",
        ),
        (GROUPS + "  a: !LabelPartGroup {value_labels: [1, 2]}", 3, "use thing_labels and part_"),
        (GROUPS + "  a: !LabelPartGroup {thing_labels: 1, part_labels: [1]}", 3, "must differ"),
        (
            GROUPS + "  a: {labels: 1}",
            3,
            "must be a mapping with the tag !LabelGroup or !LabelMerge",
        ),
        (GROUPS + "  a: [1, false]\n  A: [2, false]", 4, "the group 'a' needs a unique name"),
        (GROUPS + "  []", 3, "!SegmentationClassGroups needs groups"),
        ("\n!SegmentationClassGroups {}", 2, "!SegmentationClassGroups needs groups"),
        (
            "\n!MaxBipartiteMatching {}",
            2,
            "a configuration must start with !Panoptica_Evaluator or "
            "!SegmentationClassGroups, not with !MaxBipartiteMatching",
        ),
        ("classes: {a: {labels: 1}}", 1, "not with a mapping without a tag"),
        ("just words", 1, "not with 'just words'"),
        (LAUGHS, None, "the file has more than 100,000 values, including repeated anchors"),
        (MERGES, None, "the file has more than 100,000 values, including repeated anchors"),
        (START + "verbose: &a [*a]", None, "more than 100,000 values"),
        (START + "decision_metric: !Metric DSC", 1, "decision_metric needs a decision_threshold"),
        (
            START + "expected_input: !InputType SEMANTIC",
            1,
            "SEMANTIC input needs an instance_appro",
        ),
        (START + "expected_input: !InputType UNMATCHED_INSTANCE", 1, "needs an instance_matcher"),
        (START + "per_region_evaluation: true", 1, "it accepts neither MATCHED_INSTANCE"),
        (
            START + "expected_input: !InputType UNMATCHED_INSTANCE\ninstance_matcher: "
            "!MaxBipartiteMatching {}\nsegmentation_class_groups: !SegmentationClassGroups\n"
            "  groups: [!LabelPartGroup {thing_labels: 1, part_labels: 2}]",
            1,
            "needs SEMANTIC input",
        ),
        (
            START + "decision_metric: !Metric IOU\ndecision_threshold: 2",
            1,
            "which no IOU can reach",
        ),
    ],
)
def test_mistakes_are_one_line_that_names_the_line(
    text: str, line: int | None, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    place = "line " if line is None else f"line {line}: "
    assert message.startswith(f"config='{tmp_path / 'config.yaml'}', {place}")
    assert problem in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", " is empty: a panoptica configuration must start with !Panoptica_Evaluator or "),
        ("# only a comment\n", " is empty: "),
        ("a: [", " is not YAML: .* line 1"),
        ("!Panoptica_Evaluator {}\n---\n{}", " is not YAML: expected a single document"),
        ("a: " + "[" * 100_000, " is not YAML: maximum recursion depth"),
    ],
)
def test_files_that_are_not_configurations_are_named(
    text: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError, match=rf"^config='.*config\.yaml'{problem}") as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"^config='.*' cannot be read: .*Is a directory"):
        read_panoptica(tmp_path)
    with pytest.raises(SpecError, match=r"absent\.yaml' cannot be read: .*No such file"):
        read_panoptica(tmp_path / "absent.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"\xe4: 1")
    with pytest.raises(SpecError, match="cannot be read: 'utf-8' codec"):
        read_panoptica(tmp_path / "latin.yaml")


SEMANTIC = PanopticaConfig(
    "SEMANTIC", approximator=PanopticaApproximator(), matcher=PanopticaMatcher()
)
INSTANCES = replace(SEMANTIC, expected_input="UNMATCHED_INSTANCE")


def spec_of(config: PanopticaConfig, dimensions: int = 3) -> Spec:
    return spec_from_panoptica(config, dimensions).spec


def remarks_at(config: PanopticaConfig, where: str) -> str:
    """Return all remarks at a key, in one text."""
    found = spec_from_panoptica(config).remarks
    return " ".join(str(remark) for remark in found if remark.where == where)


@pytest.mark.parametrize(
    ("group", "backend", "dimensions", "expected"),
    [
        (PanopticaGroup((1,)), None, 3, ("things", "components", "full")),
        (PanopticaGroup((1,)), None, 2, ("things", "components", "faces")),
        (PanopticaGroup((1,)), "scipy", 3, ("things", "components", "faces")),
        (PanopticaGroup((1, 2)), "cc3d", 2, ("things", "label-components", "full")),
        (PanopticaGroup((1, 2)), "scipy", 2, ("things", "components", "faces")),
        (PanopticaGroup(), None, 3, ("things", "label-components", "full")),
        (PanopticaGroup((1, 2), "merged"), "cc3d", 3, ("things", "components", "full")),
        (PanopticaGroup((1, 2), "parts", (2,)), "scipy", 2, ("things", "components", "full")),
        (PanopticaGroup((1,), single_instance=True), None, 3, ("stuff", "ids", "full")),
    ],
)
def test_masks_become_objects_as_the_backend_connects_them(
    group: PanopticaGroup, backend: Any, dimensions: int, expected: tuple[str, str, str]
) -> None:
    made = PanopticaApproximator(backend=backend)
    config = replace(SEMANTIC, groups={"a": group}, approximator=made)
    found = spec_of(config, dimensions).classes["a"]
    assert (found.kind, found.instances, found.connectivity) == expected
    assert found.numbers == (group.labels or None)
    assert tuple(found.parts) == group.parts


def test_instances_keep_their_ids_and_merged_labels_are_one_segment() -> None:
    groups = {
        "bone": PanopticaGroup((*range(1, 8), 9, 10, 12)),
        "all": PanopticaGroup((20, 21), "merged"),
    }
    found = spec_from_panoptica(replace(INSTANCES, groups=groups))
    assert found.content["classes"] == {
        "bone": {"labels": ["1-7", 9, 10, 12], "instances": "ids"},
        "all": {"labels": [20, 21], "kind": "stuff"},
    }
    assert found.spec.classes["bone"].numbers == groups["bone"].labels


@pytest.mark.parametrize(
    ("matcher", "strategy", "options", "score"),
    [
        (PanopticaMatcher(), "one-to-one", {"solver": "greedy"}, "iou"),
        (PanopticaMatcher("MaxBipartiteMatching"), "one-to-one", {"solver": "optimal"}, "iou"),
        (
            PanopticaMatcher("MaximizeMergeMatching", "DSC"),
            "many-to-one",
            {"solver": "merge", "gate": "seed"},
            "dice",
        ),
        (
            PanopticaMatcher(many_to_one=True),
            "many-to-one",
            {"solver": "merge", "gate": "edge"},
            "iou",
        ),
    ],
)
def test_every_matcher_has_its_strategy(
    matcher: PanopticaMatcher, strategy: str, options: dict[str, str], score: str
) -> None:
    (found,) = spec_of(replace(INSTANCES, matcher=matcher)).matching
    expected = {"strategy": strategy, **options, "score": score, "regions": False}
    assert matcher_as_dict(found) == expected | ({} if matcher.strict else {"strict": False})


@pytest.mark.parametrize(
    ("threshold", "strict", "written", "remark"),
    [
        (0.5, False, 0.5, ""),
        (0.5, True, 0.5, ""),
        (0.0, False, 0.0, ""),
        (-1.0, True, 0.0, ""),
        (1.0, False, math.nextafter(1, 0), "Pairs of IoU 1 match"),
    ],
)
def test_thresholds_say_what_happens_at_equality(
    threshold: float, strict: bool, written: float, remark: str
) -> None:
    config = replace(INSTANCES, matcher=PanopticaMatcher(threshold=threshold, strict=strict))
    spec = spec_of(config)
    assert spec.thresholds == (written,)
    assert spec.matching[0].strict == (strict or not 0 < threshold < 1)
    said = remarks_at(config, "thresholds")
    assert remark in said
    assert bool(said) == bool(remark)


@pytest.mark.parametrize(
    ("matcher", "metric", "limit", "written", "remark"),
    [
        (PanopticaMatcher(), "DSC", 0.5, 0.5, "DSC ≥ 0.5 is left out: every matched pair passes"),
        (PanopticaMatcher(threshold=0.2), "DSC", 0.5, 1 / 3, "takes the place of matching_thres"),
        (PanopticaMatcher(metric="DSC", threshold=0.2), "IOU", 0.5, 2 / 3, "gives the same"),
        (PanopticaMatcher(threshold=0.2), "IOU", 0.6, 0.6, "IOU ≥ 0.6 takes the place of match"),
        (PanopticaMatcher("MaxBipartiteMatching", threshold=0.2), "IOU", 0.6, 0.6, "fewer true"),
        (PanopticaMatcher("MaximizeMergeMatching", threshold=0.2), "IOU", 0.6, 0.2, "left out, so"),
        (PanopticaMatcher(threshold=0.2), "HD", 3.0, 0.2, "HD ≤ 3 is left out, so every matched"),
        (PanopticaMatcher(metric="HD", threshold=9.0), "IOU", 0.6, 0.5, "left out, so every"),
    ],
)
def test_decisions_raise_the_threshold_or_are_left_out(
    matcher: PanopticaMatcher, metric: MetricName, limit: float, written: float, remark: str
) -> None:
    config = replace(INSTANCES, matcher=matcher, decision_metric=metric, decision_threshold=limit)
    assert spec_of(config).thresholds == pytest.approx((written,), abs=1e-12)
    assert remark in remarks_at(config, "thresholds")


def test_matched_input_is_judged_by_the_decision_alone() -> None:
    plain = PanopticaConfig(matcher=PanopticaMatcher(threshold=0.9))
    assert spec_of(plain).thresholds == (0.0,)
    assert spec_of(plain).matching[0].name == "same-id"
    assert "NaiveThresholdMatching is left out" in remarks_at(plain, "matching")
    decided = replace(plain, decision_metric="DSC", decision_threshold=0.7)
    assert spec_of(decided).matching[0].score == "dice"
    assert spec_of(decided).thresholds == (0.7,)
    assert "This is the decision DSC ≥ 0.7" in remarks_at(decided, "thresholds")


def test_single_instances_are_read_at_threshold_0() -> None:
    single = PanopticaGroup((9,), single_instance=True)
    mixed = replace(INSTANCES, groups={"liver": single, "lesion": PanopticaGroup((1,))})
    assert spec_of(mixed).thresholds == (0.0, 0.5)
    assert remarks_at(mixed, "classes.liver").startswith("Read this class at threshold 0: ")
    assert not remarks_at(mixed, "classes.lesion")
    alone = PanopticaConfig("SEMANTIC", groups={"liver": single})
    assert spec_of(alone).thresholds == (0.0,)
    assert spec_of(alone).classes == {"liver": ClassSpec(labels=9, kind="stuff")}  # type: ignore[arg-type]


def test_regions_become_unions_and_measure_what_panoptica_averages() -> None:
    config = replace(SEMANTIC, per_region=True, instance_metrics=("HD",), global_metrics=("DSC",))
    spec = spec_of(config)
    assert [matcher.label for matcher in spec.matching] == ["union"]
    assert spec.thresholds == (0.0,)
    assert spec.metrics == ("hd", "dice")
    assert "region_avg_dsc" in remarks_at(config, "matching")


@pytest.mark.parametrize(
    ("metric", "ours", "remark"),
    [
        ("DSC", "dice", ""),
        ("IOU", "iou", ""),
        ("RVD", "relative_volume_difference", ""),
        ("ASSD", "masd", "ASSD is masd, with the same values"),
        ("HD95", "hd95_pooled", "HD95 is hd95_pooled, with the same values"),
        ("HD", "hd", "lack HD, so it stops with an error"),
        ("CEDI", "centre_distance", "lack CEDI, so it stops with an error"),
        ("clDSC", "cldice", "panmatch uses the most central voxel"),
        ("NSD", "nsd", "the smallest spacing as tolerance"),
        ("RVAE", "relative_volume_error", ""),
    ],
)
def test_every_metric_has_its_name_and_its_remark(
    metric: MetricName, ours: str, remark: str
) -> None:
    config = replace(SEMANTIC, instance_metrics=(metric,), global_metrics=())
    assert spec_of(config).metrics == (ours,)
    said = remarks_at(config, "metrics")
    assert remark in said
    assert bool(said) == bool(remark)


@pytest.mark.parametrize(
    ("case", "metric", "written"),
    [
        (PanopticaEdgeCase("NAN", "ZERO", "ZERO", "ZERO"), "IOU", None),
        (PanopticaEdgeCase("ONE", "ONE", "ONE", "ONE"), "IOU", 1),
        (PanopticaEdgeCase("ONE", "ZERO", "ZERO", "ZERO"), "IOU", {"both_empty": 1}),
        (
            PanopticaEdgeCase("NONE", "INF", "ONE", "NAN"),
            "IOU",
            {"no_reference": 1, "no_prediction": "inf", "no_match": "nan"},
        ),
        (PanopticaEdgeCase("NAN", "NAN", "NAN", "NAN"), "RVD", None),
        (PanopticaEdgeCase("NAN", "NAN", "NAN", "NONE"), "HD", None),
        (
            PanopticaEdgeCase("ZERO", "INF", "ONE", "NAN"),
            "HD",
            {"both_empty": 0, "no_reference": 1, "no_prediction": "inf"},
        ),
    ],
)
def test_edge_cases_are_written_where_they_differ(
    case: PanopticaEdgeCase, metric: MetricName, written: object
) -> None:
    config = replace(
        SEMANTIC, instance_metrics=(metric,), global_metrics=(), edge_cases={metric: case}
    )
    name = {"IOU": "iou", "RVD": "relative_volume_difference", "HD": "hd"}[metric]
    content = spec_from_panoptica(config).content
    assert content.get("edge_cases") == (None if written is None else {name: written})
    assert list(spec_of(config).edge_cases) == ([] if written is None else [name])
    said = remarks_at(config, "metrics")
    assert ("NONE is nan" in said) == ("NONE" in (case.no_instances, case.normal))


def test_masks_without_a_common_voxel_are_edge_cases_where_panmatch_measures_them() -> None:
    nan = PanopticaEdgeCase("NAN", "NAN", "NAN", "NAN")
    zero = PanopticaEdgeCase("NAN", "ZERO", "ZERO", "ZERO")
    config = replace(
        SEMANTIC,
        instance_metrics=(),
        global_metrics=("DSC", "NSD", "RVD", "HD", "CEDI"),
        edge_cases={"DSC": zero, "NSD": zero, "RVD": nan, "HD": nan},
    )
    assert spec_from_panoptica(config).content["edge_cases"] == {
        "whole_nsd": {"no_match": 0},  # masks may lie within the tolerance of each other
        "whole_relative_volume_difference": {"no_prediction": "nan", "no_match": "nan"},
        "whole_hd": {"no_match": "nan"},
    }
    assert "lack CEDI, so it stops with an error" in remarks_at(config, "metrics")


def test_edge_cases_of_regions_are_left_out() -> None:
    config = replace(SEMANTIC, per_region=True)
    assert "edge_cases" not in spec_from_panoptica(config).content
    assert "to each region separately" in remarks_at(config, "metrics")


def test_what_has_no_counterpart_is_reported() -> None:
    labels = PanopticaGroup((1, 2))
    parts = PanopticaGroup((1, 2), "parts", (2,))
    one_hot = replace(
        SEMANTIC, groups={"a": labels, "b": parts}, approximator=PanopticaApproximator(True, "cc3d")
    )
    assert "combines those that share a number" in remarks_at(one_hot, "classes.a")
    assert "part_pq has the mean IoU of the parts" in remarks_at(one_hot, "classes.b")
    assert spec_of(one_hot).part_background == "none"
    assert not remarks_at(one_hot, "classes")
    assert "--dimensions 2" in remarks_at(SEMANTIC, "classes")
    by_distance = replace(INSTANCES, matcher=PanopticaMatcher(metric="ASSD", threshold=3.0))
    assert "IoU above 0.5, not by ASSD at 3" in remarks_at(by_distance, "matching")
    for threshold, differs in ((0.49, True), (0.5, False)):
        naive = replace(INSTANCES, matcher=PanopticaMatcher(threshold=threshold, many_to_one=True))
        assert ("raises the IoU of the union" in remarks_at(naive, "matching")) == differs
    assert "steps of 0.1 from 0.1 to 1" in remarks_at(INSTANCES, "curve")
    assert "no AUTC for this input" in remarks_at(PanopticaConfig(), "curve")
    alone = PanopticaConfig(None, groups={"a": labels})
    assert spec_from_panoptica(alone).content == {
        "classes": {"a": {"labels": [1, 2], "instances": "ids"}}
    }
    assert "the file only has groups" in remarks_at(alone, "")


def test_metrics_of_masks_are_written_where_a_spec_can_say_them() -> None:
    """Both ways: specs are about to have the key `whole`."""
    config = replace(SEMANTIC, global_metrics=("DSC", "HD"))
    content = spec_from_panoptica(config).content
    if "whole" in Spec.model_fields:
        assert content["whole"] == ["dice", "hd"]
        assert "measures masks in voxels" in remarks_at(config, "whole")
    else:
        assert "whole" not in content
        assert "global_metrics are left out: DSC, HD" in remarks_at(config, "metrics")


def test_what_cannot_be_written_is_an_error() -> None:
    with pytest.raises(SpecError, match="cannot use the configuration: SEMANTIC input needs an"):
        spec_from_panoptica(PanopticaConfig("SEMANTIC"))
    reserved = replace(SEMANTIC, groups={"mean of all": PanopticaGroup((1,))})
    with pytest.raises(SpecError, match="the group 'mean of all' starts with 'mean of '"):
        spec_from_panoptica(reserved)
