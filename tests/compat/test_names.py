"""Names, inputs, configurations and errors of the drop-in."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch.compat.panoptica as drop_in
from panmatch.compat.panoptica import (
    QUIRKS,
    ConnectedComponentsInstanceApproximator,
    EdgeCaseHandler,
    EdgeCaseResult,
    InputType,
    LabelGroup,
    LabelPartGroup,
    MaxBipartiteMatching,
    MaximizeMergeMatching,
    Metric,
    MetricCouldNotBeComputedException,
    MetricZeroTPEdgeCaseHandling,
    NaiveThresholdMatching,
    Panoptica_Evaluator,
    PanopticaResult,
    SegmentationClassGroups,
)
from panmatch.errors import LabelError, OptionError, PanmatchError
from panmatch.spec import panoptica_columns
from tests.compat.test_parity import OURS
from tests.peers.asking import PEER, shipped_configs

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "move-from-panoptica.md"
REFERENCE = np.zeros((6, 8, 10), np.uint8)
REFERENCE[1:4, 1:5, 1:6], REFERENCE[1:4, 1:5, 7:9] = 1, 2
PREDICTION = np.roll(REFERENCE, 1, axis=2)


def unmatched(**options: Any) -> Panoptica_Evaluator:
    matcher = NaiveThresholdMatching(matching_threshold=0.1)
    return Panoptica_Evaluator(InputType.UNMATCHED_INSTANCE, instance_matcher=matcher, **options)


SIGNATURES = """
import importlib, inspect, json
names = {names!r}
found = {{}}
for module, name in names:
    thing = getattr(importlib.import_module(module), name)
    where = thing if inspect.isfunction(thing) else thing.__init__
    found[name] = [[p.name, repr(p.default)] for p in inspect.signature(where).parameters.values()]
evaluator = importlib.import_module("panoptica").Panoptica_Evaluator
for name in ("evaluate", "evaluate_autc"):
    thing = getattr(evaluator, name).__closure__[0].cell_contents  # what the reminder wraps
    found[name] = [[p.name, repr(p.default)] for p in inspect.signature(thing).parameters.values()]
print("\\n" + json.dumps(found))
"""
SAME = [
    ("panoptica", "Panoptica_Evaluator"),
    ("panoptica", "Panoptica_Aggregator"),
    ("panoptica", "Panoptica_Statistic"),
    ("panoptica", "FloatDistribution"),
    ("panoptica.instance_matcher", "NaiveThresholdMatching"),
    ("panoptica.instance_matcher", "MaxBipartiteMatching"),
    ("panoptica.instance_matcher", "MaximizeMergeMatching"),
    ("panoptica.instance_approximator", "ConnectedComponentsInstanceApproximator"),
    ("panoptica.utils.segmentation_class", "SegmentationClassGroups"),
    ("panoptica.utils.label_group", "LabelGroup"),
    ("panoptica.utils.label_group", "LabelMergeGroup"),
    ("panoptica.utils.label_group", "LabelPartGroup"),
    ("panoptica.utils.edge_case_handling", "EdgeCaseHandler"),
    ("panoptica.utils.edge_case_handling", "MetricZeroTPEdgeCaseHandling"),
    ("panoptica.panoptica_statistics", "make_autc_plots"),
    ("panoptica.panoptica_statistics", "make_curve_over_setups"),
]


def test_arguments_have_panoptica_s_names_order_and_defaults() -> None:
    if not PEER.exists():
        pytest.fail("run `make test`, which builds the environment of peers.")
    script = SIGNATURES.format(names=SAME)
    said = subprocess.run([str(PEER), "-c", script], check=True, capture_output=True, text=True)
    modules = {name: module for module, name in SAME}
    for name, theirs in json.loads(said.stdout.splitlines()[-1]).items():
        if name in modules:
            module = modules[name].replace("panoptica", OURS, 1)
            thing = getattr(importlib.import_module(module), name)
            thing = thing if inspect.isfunction(thing) else thing.__init__
        else:
            thing = getattr(Panoptica_Evaluator, name)
        ours = [[p.name, repr(p.default)] for p in inspect.signature(thing).parameters.values()]
        assert ours[: len(theirs)] == theirs, name
        assert [one for one, _ in ours[len(theirs) :]] in ([], ["quirks"])


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("metrics", "Metric"),
        ("utils", "NonDaemonicPool"),
        ("utils.segmentation_class", "SegmentationClassGroups"),
        ("utils.label_group", "LabelMergeGroup"),
        ("utils.edge_case_handling", "EdgeCaseZeroTP"),
        ("utils.constants", "CCABackend"),
        ("panoptica_statistics", "make_autc_plots"),
        ("panoptica_aggregator", "Panoptica_Aggregator"),
        ("panoptica_result", "PanopticaResult"),
        ("instance_matcher", "MaximizeMergeMatching"),
        ("instance_approximator", "OneHotConnectedComponentsInstanceApproximator"),
        ("utils.input_check_and_conversion", "InputType"),
    ],
)
def test_modules_are_importable_under_panoptica_s_names(module: str, name: str) -> None:
    found = importlib.import_module(f"{OURS}.{module}")
    assert getattr(found, name) is getattr(drop_in, name)


def test_images_of_other_libraries_bring_their_spacing(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel")
    itk = pytest.importorskip("SimpleITK")
    spacing = (0.5, 1.0, 3.0)
    metrics = {"instance_metrics": [Metric.IOU, Metric.ASSD, Metric.CEDI], "global_metrics": []}
    expected = unmatched(**metrics).evaluate(PREDICTION, REFERENCE, voxelspacing=spacing)
    affine = np.diag([*spacing, 1.0])
    images = [nibabel.Nifti1Image(image, affine) for image in (PREDICTION, REFERENCE)]
    paths = [tmp_path / f"{name}.nii.gz" for name in ("prediction", "reference")]
    volumes = []
    for image, path in zip(images, paths, strict=True):
        nibabel.save(image, path)
        volume = itk.GetImageFromArray(np.asarray(image.dataobj).transpose())
        volume.SetSpacing(spacing)
        volumes.append(volume)
    for given in (images, paths, list(map(str, paths)), volumes):
        found = unmatched(**metrics).evaluate(*given)["ungrouped"]
        for name in ("pq", "sq_assd", "sq_cedi", "instance_volume_ref"):
            assert getattr(found, name) == pytest.approx(getattr(expected["ungrouped"], name))
    turned = unmatched(**metrics, quirks=True).evaluate(*volumes)["ungrouped"]
    assert turned.sq_cedi != pytest.approx(expected["ungrouped"].sq_cedi)


def test_whole_numbers_stored_as_floats_are_labels_and_others_are_not() -> None:
    found = unmatched().evaluate(PREDICTION.astype(np.float64), REFERENCE)["ungrouped"]
    assert found.tp == 2
    with pytest.raises(LabelError, match="prediction_arr"):
        unmatched().evaluate(PREDICTION + 0.5, REFERENCE)


def test_configurations_are_written_and_read(tmp_path: Path) -> None:
    groups = SegmentationClassGroups(
        {"a": LabelGroup([1, 2]), "one": (3, True), "things": LabelPartGroup(4, [5, 6])}
    )
    first = Panoptica_Evaluator(
        InputType.SEMANTIC,
        ConnectedComponentsInstanceApproximator(),
        MaximizeMergeMatching(Metric.DSC, 0.3, strict_threshold=True),
        segmentation_class_groups=groups,
        instance_metrics=[Metric.IOU, Metric.HD95],
        decision_metric=Metric.IOU,
        decision_threshold=0.4,
    )
    first.save_to_config(tmp_path / "config.yaml")
    second = Panoptica_Evaluator.load_from_config(tmp_path / "config.yaml")
    assert second._config == first._config
    groups.save_to_config(tmp_path / "groups.yaml")
    again = SegmentationClassGroups.load_from_config(tmp_path / "groups")
    assert again.plain == groups.plain
    with pytest.raises(TypeError, match=r"only groups.*SegmentationClassGroups\.load_from_config"):
        Panoptica_Evaluator.load_from_config(tmp_path / "groups.yaml")
    with pytest.raises(FileNotFoundError, match="does not exist, and no installed panoptica has"):
        Panoptica_Evaluator.load_from_config("no_such_configuration")


def test_panoptica_reads_our_configurations_and_we_read_its_own(tmp_path: Path) -> None:
    unmatched().save_to_config(tmp_path / "config.yaml")
    script = (
        "import panoptica, sys; e = panoptica.Panoptica_Evaluator.load_from_config(sys.argv[1]);"
        "print(); print(e.resulting_metric_keys)"
    )
    command = [str(PEER), "-c", script, str(tmp_path / "config.yaml")]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.splitlines()[-1] == str(unmatched().resulting_metric_keys)
    for path in shipped_configs():
        kind = SegmentationClassGroups if path.name.startswith("Seg") else Panoptica_Evaluator
        assert kind.load_from_config(path) is not None


NUMBERS = """
import json, sys
import numpy as np
from panoptica import Panoptica_Evaluator
image = np.ones((4, 4), np.uint8)
found = Panoptica_Evaluator().evaluate(image, image)["ungrouped"].evaluation_metrics
print()
print(json.dumps([[name, one.long_name, one.metric_type.name] for name, one in found.items()]))
"""


def test_numbers_have_panoptica_s_names_titles_and_order() -> None:
    """Also those that no table has together, such as means over regions."""
    said = subprocess.run([str(PEER), "-c", NUMBERS], check=True, capture_output=True, text=True)
    found = unmatched().evaluate(PREDICTION, REFERENCE)["ungrouped"].evaluation_metrics
    ours = [[name, one.long_name, one.metric_type.name] for name, one in found.items()]
    assert ours == json.loads(said.stdout.splitlines()[-1])
    of_tables = [name for name, one in panoptica_columns().items() if one.kind != "row"]
    assert of_tables == [name for name, *_ in ours]


def test_a_result_says_what_was_not_asked_for() -> None:
    found = unmatched(instance_metrics=[Metric.IOU]).evaluate(PREDICTION, REFERENCE)["ungrouped"]
    assert isinstance(found, PanopticaResult)
    assert found.num_ref_instances == found.n_ref_instances == 2
    with pytest.raises(MetricCouldNotBeComputedException, match="DSC was not computed"):
        found.sq_dsc  # noqa: B018
    with pytest.raises(MetricCouldNotBeComputedException, match="global_bin_hd was not computed"):
        found.global_bin_hd  # noqa: B018
    with pytest.raises(AttributeError, match="'pqq'"):
        found.pqq  # noqa: B018
    assert "sq_dsc" not in found.to_dict()


def test_precision_of_nothing_is_nan_and_an_error_with_quirks() -> None:
    nothing = np.zeros_like(REFERENCE)
    found = unmatched().evaluate(nothing, REFERENCE)["ungrouped"]
    assert np.isnan(found.prec)
    assert found.rec == 0
    quirky = unmatched(quirks=True).evaluate(nothing, REFERENCE)["ungrouped"]
    with pytest.raises(ZeroDivisionError):
        quirky.prec  # noqa: B018
    assert "prec" not in quirky.to_dict()


def test_a_single_instance_passes_any_decision_unless_quirks_are_asked_for() -> None:
    options: dict[str, Any] = {
        "segmentation_class_groups": SegmentationClassGroups({"a": (1, True), "b": (2, True)}),
        "decision_metric": Metric.ASSD,
        "decision_threshold": 0.1,
    }
    assert unmatched(**options).evaluate(PREDICTION, REFERENCE)["a"].tp == 1
    assert unmatched(**options, quirks=True).evaluate(PREDICTION, REFERENCE)["a"].tp == 0


def test_more_nsd_is_better_unless_quirks_are_asked_for() -> None:
    zero = MetricZeroTPEdgeCaseHandling(EdgeCaseResult.ZERO)
    options: dict[str, Any] = {
        "edge_case_handler": EdgeCaseHandler({Metric.NSD: zero}),
        "instance_metrics": [Metric.NSD],
        "global_metrics": [],
        "decision_metric": Metric.NSD,
        "decision_threshold": 0.3,
    }
    assert unmatched(**options).evaluate(REFERENCE, REFERENCE)["ungrouped"].tp == 2
    assert unmatched(**options, quirks=True).evaluate(REFERENCE, REFERENCE)["ungrouped"].tp == 0


def test_steps_between_are_kept_if_asked_for() -> None:
    judge = Panoptica_Evaluator(
        InputType.SEMANTIC, ConnectedComponentsInstanceApproximator(), NaiveThresholdMatching(
            matching_threshold=0.1), log_intermediate_steps=True,
    )  # fmt: skip
    mask = np.where(PREDICTION == 2, 1, PREDICTION)
    steps = judge.evaluate(mask, REFERENCE)["ungrouped"].intermediate_steps_data
    np.testing.assert_array_equal(steps.original_prediction_arr, mask)
    matched = steps.prediction_arr(InputType.MATCHED_INSTANCE)
    np.testing.assert_array_equal(matched, PREDICTION)
    assert steps.prediction_arr(InputType.UNMATCHED_INSTANCE).max() == 2
    assert unmatched().evaluate(mask, REFERENCE)["ungrouped"].intermediate_steps_data is None


def test_skipped_groups_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    groups = SegmentationClassGroups({"a": LabelGroup(1), "b": LabelGroup(2)})
    judge = unmatched(segmentation_class_groups=groups)
    assert list(judge.evaluate(PREDICTION, REFERENCE, skip_groups=["a", "c"])) == ["b"]
    assert "['c']" in caplog.text


def evaluate(judge: Panoptica_Evaluator) -> object:
    return judge.evaluate(PREDICTION, REFERENCE)


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda: Panoptica_Evaluator(instance_matcher=MaxBipartiteMatching(Metric.ASSD)), OptionError,
     "matching_metric=Metric.ASSD: MaxBipartiteMatching maximises or adds up overlaps"),
    (lambda: LabelGroup([1, 2], True), OptionError, "single_instance=True needs exactly one label"),
    (lambda: LabelGroup([0]), OptionError, "value_labels"),
    (lambda: LabelPartGroup([1], [1]), OptionError, r"share \[1\]"),
    (lambda: SegmentationClassGroups({"a-b": LabelGroup(1)}), OptionError, "'a-b'"),
    (
        lambda: unmatched(instance_approximator="cc"),
        TypeError,
        "instance_approximator is of type str.*write ConnectedComponentsInstanceApproximator or",
    ),
    (lambda: Panoptica_Evaluator(decision_metric=Metric.IOU), OptionError, "decision_threshold"),
    (
        lambda: Panoptica_Evaluator(per_region_evaluation=True, decision_threshold=0.5),
        OptionError,
        "decision_threshold=0.5",
    ),
    (
        lambda: evaluate(unmatched(decision_metric=Metric.HD, decision_threshold=1)),
        OptionError,
        "decision_metric=HD must be one of instance_metrics",
    ),
    (
        lambda: evaluate(Panoptica_Evaluator(InputType.SEMANTIC)),
        OptionError,
        "instance_approximator=None",
    ),
    (
        lambda: evaluate(Panoptica_Evaluator(InputType.UNMATCHED_INSTANCE)),
        OptionError,
        "instance_matcher=None",
    ),
    (
        lambda: evaluate(Panoptica_Evaluator(per_region_evaluation=True)),
        TypeError,
        "per_region_evaluation accepts neither",
    ),
    (
        lambda: evaluate(unmatched(segmentation_class_groups=SegmentationClassGroups(
            [LabelGroup(1)]))),
        LabelError,
        "the label 2, which is in no group",
    ),
    (
        lambda: evaluate(unmatched(segmentation_class_groups=SegmentationClassGroups(
            [LabelPartGroup(1, 2)]))),
        OptionError,
        "LabelPartGroup needs SEMANTIC",
    ),
    (
        lambda: unmatched().evaluate(PREDICTION[:3], REFERENCE),
        ValueError,
        "prediction_arr",
    ),
    (
        lambda: Panoptica_Evaluator().evaluate_autc(PREDICTION, REFERENCE),
        TypeError,
        "instance_matcher=None",
    ),
    (
        lambda: unmatched().evaluate_autc(PREDICTION, REFERENCE, decision_threshold_mode="fixed"),
        OptionError,
        "needs a decision_threshold",
    ),
    (
        lambda: unmatched().evaluate_autc(PREDICTION, REFERENCE, 1.5),
        OptionError,
        "step_size=1.5",
    ),
    (lambda: EdgeCaseHandler().handle_zero_tp(Metric.HD, 0, 1, 1), NotImplementedError, "HD"),
    (
        lambda: unmatched().evaluate(PREDICTION[None], REFERENCE),
        ValueError,
        r"reference_arr has shape \(6, 8, 10\) but prediction_arr has shape \(1, 6, 8, 10\)",
    ),
    (lambda: unmatched().evaluate(np.array(1), np.array(1)), ValueError, "at least one axis"),
    (
        lambda: unmatched().evaluate(np.where(PREDICTION, np.nan, 0), REFERENCE),
        LabelError,
        "prediction_arr.*holds nan",
    ),
    (
        lambda: unmatched().evaluate(np.where(PREDICTION, np.inf, 0), REFERENCE),
        LabelError,
        "prediction_arr.*holds inf",
    ),
    (
        lambda: unmatched().evaluate(-PREDICTION.astype(np.float32), REFERENCE),
        ValueError,
        "negative labels -2",
    ),
    (lambda: unmatched().evaluate(None, REFERENCE), ValueError, "prediction_arr.*NoneType"),
    (
        lambda: unmatched().evaluate("none.nii.gz", REFERENCE),
        FileNotFoundError,
        "path='none.nii.gz' does not exist",
    ),
    (
        lambda: unmatched(instance_metrics=["DSc"]),
        ValueError,
        "instance_metrics='DSc' is not known; did you mean 'DSC'",
    ),
    (lambda: unmatched(global_metrics=Metric.IOU), OptionError, r"write \[Metric.IOU\]"),
    (
        lambda: unmatched(decision_metric="IUO", decision_threshold=0.5),
        OptionError,
        "decision_metric='IUO' is not known",
    ),
    (lambda: Panoptica_Evaluator("SEMANTI"), OptionError, "did you mean 'SEMANTIC'"),  # type: ignore[arg-type]
    (lambda: NaiveThresholdMatching("IUO"), OptionError, "matching_metric='IUO' is not known"),  # type: ignore[arg-type]
    (
        lambda: NaiveThresholdMatching(matching_threshold=float("nan")),
        OptionError,
        "matching_threshold=nan",
    ),
    (
        lambda: ConnectedComponentsInstanceApproximator("cc4d"),  # type: ignore[arg-type]
        OptionError,
        "cca_backend='cc4d' is not known; did you mean 'cc3d'",
    ),
    (lambda: SegmentationClassGroups({}), ValueError, "groups is empty"),
    (
        lambda: SegmentationClassGroups({"Bone": LabelGroup(1), "bone": LabelGroup(2)}),
        ValueError,
        "two groups 'bone'",
    ),
    (lambda: SegmentationClassGroups({"a": 7}), TypeError, r"'a' is 7\. Write a LabelGroup"),  # type: ignore[dict-item]
    (lambda: LabelGroup([]), ValueError, "value_labels"),
    (lambda: LabelGroup([1.5]), ValueError, r"value_labels=\[1.5\]"),  # type: ignore[list-item]
    (
        lambda: unmatched(segmentation_class_groups={"a": LabelGroup(1)}),
        TypeError,
        "segmentation_class_groups is of type dict.*write SegmentationClassGroups",
    ),
    (
        lambda: Panoptica_Evaluator(instance_matcher=NaiveThresholdMatching),  # type: ignore[arg-type]
        TypeError,
        r"is a class: write NaiveThresholdMatching\(",
    ),
    (
        lambda: unmatched().evaluate(PREDICTION, REFERENCE, voxelspacing=(1, 1)),
        ValueError,
        r"voxelspacing=\(1.0, 1.0\) has 2 numbers, but the image has 3 axes",
    ),
    (
        lambda: unmatched().evaluate(PREDICTION, REFERENCE, voxelspacing=(1, 0, 1)),
        ValueError,
        r"voxelspacing=\(1.0, 0.0, 1.0\) must be positive",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("act", "kind", "said"), ERRORS)
def test_errors_name_the_option(act: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        act()


def test_errors_are_of_the_types_that_scripts_for_panoptica_catch() -> None:
    """It raises ValueError, TypeError or FileNotFoundError; ours are PanmatchErrors as well."""
    with pytest.raises(PanmatchError) as missing:
        Panoptica_Evaluator.load_from_config("no_such_configuration")
    assert isinstance(missing.value, FileNotFoundError)
    assert str(missing.value).startswith("path='no_such_configuration' does not exist")
    with pytest.raises(PanmatchError) as wrong:
        unmatched(edge_case_handler={})
    assert isinstance(wrong.value, TypeError)


def test_metrics_and_groups_are_accepted_by_name() -> None:
    found = unmatched(instance_metrics=["IOU"], global_metrics=["DSC"])
    assert found._config == unmatched(
        instance_metrics=[Metric.IOU], global_metrics=[Metric.DSC])._config  # fmt: skip
    assert unmatched().evaluate(PREDICTION, REFERENCE, skip_groups="ungrouped") == {}


def test_images_without_voxels_are_empty() -> None:
    nothing, blank = np.zeros((0, 4), np.uint8), np.zeros((3, 4), np.uint8)
    found = [unmatched().evaluate(one, one)["ungrouped"].to_dict() for one in (nothing, blank)]
    assert found[0].keys() == found[1].keys()
    for name, value in found[0].items():
        assert value == pytest.approx(found[1][name], nan_ok=True), name
    assert (found[0]["tp"], found[0]["n_ref_instances"]) == (0, 0)


def test_labels_are_counted_once_in_a_group_and_in_each_of_several(
    caplog: pytest.LogCaptureFixture,
) -> None:
    groups = SegmentationClassGroups({"a": LabelGroup([1, 1, 2]), "b": LabelGroup([2, 9])})
    assert groups["a"].value_labels == [1, 2]
    assert "[2]" in caplog.text
    found = unmatched(segmentation_class_groups=groups).evaluate(REFERENCE, REFERENCE)
    assert (found["a"].tp, found["b"].tp) == (2, 1)


def test_a_spacing_in_single_precision_is_taken_as_it_is() -> None:
    """It is what `get_zooms` of nibabel gives, and what panoptica computes with."""
    single = np.array([0.85, 0.7, 3.3], np.float32)
    doubles = tuple(map(float, single))
    found = [unmatched().evaluate(PREDICTION, REFERENCE, voxelspacing=one)["ungrouped"].sq_assd
             for one in (tuple(single), doubles, (0.85, 0.7, 3.3))]  # fmt: skip
    assert found[0] == found[1] != found[2]


def test_the_page_lists_every_quirk() -> None:
    text = re.sub(r"\s+", " ", PAGE.read_text(encoding="utf-8"))
    for quirk in QUIRKS:
        assert f"| {quirk.where} | {quirk.theirs} | {quirk.ours} |" in text, quirk.where
