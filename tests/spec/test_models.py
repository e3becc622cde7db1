"""What each key accepts, and what it says about anything else."""

from __future__ import annotations

from typing import Any

import pytest

import panmatch as pm
from panmatch.errors import SpecError
from panmatch.matching import Matcher
from panmatch.spec import Spec, as_spec, parse_matcher


def refusal(**content: Any) -> str:
    with pytest.raises(SpecError) as caught:
        as_spec(content)
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("one-to-one", pm.OneToOne()),
        ({"strategy": "one-to-one", "solver": "greedy"}, pm.OneToOne(solver="greedy")),
        ({"strategy": "many-to-one", "gate": "edge"}, pm.ManyToOne(gate="edge")),
        ({"strategy": "many-to-one", "solver": "optimal"}, pm.ManyToOne(solver="optimal")),
        ({"strategy": "one-to-many", "solver": "optimal"}, pm.OneToMany(solver="optimal")),
        ("same-id", pm.SameId()),
        ("union", pm.RegionUnion()),
    ],
)
def test_matchers_make_the_strategy_that_they_name(written: Any, made: pm.Strategy) -> None:
    (matcher,) = as_spec({"matching": written}).matching
    assert matcher.strategy == made
    assert matcher.regions == ("voronoi" if made == pm.RegionUnion() else None)
    assert matcher.score == "iou"


@pytest.mark.parametrize(
    ("matcher", "message"),
    [
        ("one-to-two", "strategy='one-to-two' is not known; did you mean 'one-to-one'? Accepted"),
        (
            "many-to-many",
            "strategy='many-to-many' is refused: a prediction would be counted in the",
        ),
        (
            {"strategy": "one-to-one", "solver": "gredy"},
            "solver='gredy' is not known; did you mean 'greedy'?",
        ),
        (
            {"strategy": "many-to-one", "gate": "sed"},
            "gate='sed' is not known; did you mean 'seed'?",
        ),
        (
            {"strategy": "one-to-one", "gate": "seed"},
            "the strategy 'one-to-one' has no gate",
        ),
        (
            {"strategy": "same-id", "solver": "best"},
            "the strategy 'same-id' has no solver",
        ),
        (
            {"strategy": "same-id", "objective": "parts"},
            "the strategy 'same-id' has no objective",
        ),
        (
            {"strategy": "one-to-many", "objective": "parts"},
            "objective='parts' needs solver='optimal', but solver='best' maximises nothing",
        ),
        (
            {"strategy": "one-to-one", "objective": "parts"},
            "one-to-one (optimal, parts) maximises PartPQ, but no class has parts. List the",
        ),
        ({"strategy": "union", "solver": "best"}, "the strategy 'union' has no solver"),
        (
            {"strategy": "union", "regions": False},
            "the strategy 'union' only works on regions: remove 'regions: false'",
        ),
        (
            {"strategy": "one-to-one", "score": "dce"},
            "score='dce' is not known; did you mean 'dice'?",
        ),
        ({"solver": "greedy"}, "or a mapping with the key 'strategy'"),
        (3, "must be the name of a strategy, or a mapping with the key 'strategy' (it is 3)"),
        ({"strategy": "one-to-one", "regions": "cels"}, "regions='cels' is not known"),
        ({"strategy": "one-to-one", "sover": "greedy"}, "the key 'sover' is not known; did you"),
    ],
)
def test_impossible_matchers_are_refused_with_their_place(matcher: Any, message: str) -> None:
    text = refusal(matching=["many-to-one", matcher])
    assert message in text
    assert "\n  matching[1]" in text


def test_the_same_way_to_match_twice_is_an_error_even_if_spelt_otherwise() -> None:
    text = refusal(matching=["many-to-one", {"strategy": "many-to-one", "solver": "merge"}])
    assert "matching: 'many-to-one' is listed twice with the same options" in text
    others = ["many-to-one", {"strategy": "many-to-one", "regions": True}]
    others += [{"strategy": "many-to-one", "score": "dice"}]
    assert len(as_spec({"matching": others}).matching) == 3
    assert "matching is empty: name at least one strategy" in refusal(matching=[])


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (1.0, "threshold=1.0 is outside [0, 1)"),
        (-0.1, "threshold=-0.1 is outside [0, 1)"),
        (float("nan"), "Input should be a finite number"),
        (float("inf"), "Input should be a finite number"),
        ([0.5, 0.25, 0.5], "thresholds must be one or more different numbers"),
        ([], "thresholds must be one or more different numbers"),
        ("half", "Input should be a valid number"),
    ],
)
def test_thresholds_lie_in_the_unit_interval_and_differ(threshold: Any, message: str) -> None:
    text = refusal(thresholds=threshold)
    assert message in text
    assert "\n  thresholds" in text


def test_the_headline_is_one_of_the_classes() -> None:
    classes = {"liver": {"labels": 1}, "lesion": {"labels": 2}}
    assert as_spec({"classes": classes, "headline": "lesion"}).headline == "lesion"
    text = refusal(classes=classes, headline="lesions")
    assert "headline='lesions' is not known; did you mean 'lesion'?" in text


def test_thresholds_are_sorted_and_one_alone_needs_no_list() -> None:
    assert as_spec({"thresholds": [0.75, 0, 0.5]}).thresholds == (0.0, 0.5, 0.75)
    assert as_spec({"thresholds": 0.999}).thresholds == (0.999,)


def test_metrics_are_known_names() -> None:
    assert as_spec({"metrics": "hd95"}).metrics == ("hd95",)
    assert [one.name for one in as_spec({"metrics": ["hd95", "dice"]}).metric_objects] == [
        "hd95",
        "dice",
    ]
    assert "metrics='dce' is not known; did you mean 'dice'?" in refusal(metrics=["iou", "dce"])
    assert "names 'iou' more than once" in refusal(metrics=["iou", "iou"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1}, "metric_options.tolerance: Input should be greater than or equ"),
        ({"boundary_width": 0}, "metric_options.boundary_width: Input should be greater th"),
        ({"penalty": "image"}, "metric_options.penalty"),
        ({"tolerance": float("nan")}, "metric_options.tolerance: Input should be a finite"),
    ],
)
def test_options_of_metrics_are_distances(options: Any, message: str) -> None:
    assert message in refusal(metric_options=options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"classes": {}}, "classes is empty: name at least one"),
        ({"classes": {"mean of things": {}}}, "classes: 'mean of things' is a reserved name"),
        ({"classes": {"a": {"labels": 1}, " ": {"labels": 2}}}, "classes: ' ' is a reserved name"),
        ({"classes": {"a": {"min_voxels": 0}}}, "classes.a.min_voxels: Input should be greater"),
        ({"classes": {"a": {"kind": "thing"}}}, "classes.a.kind: Input should be 'things' or 'stu"),
        (
            {"classes": {"a": {"connectivity": "26"}}},
            "classes.a.connectivity: Input should be 'full' or 'faces' (it is '26')",
        ),
        (
            {"encoding": "coco", "classes": {"a": {}}},
            "with encoding 'coco', classes come from the JSON file: drop them",
        ),
        ({"preset": "coco", "matching": "union"}, "regions are not supported with encoding 'coco'"),
        (
            {"preset": "cityscapes", "matching": {"strategy": "one-to-one", "regions": True}},
            "regions are not supported with encoding 'cityscapes'",
        ),
        (
            {"encoding": "cityscapes", "classes": {"car": {"labels": [26, 27]}}},
            "classes.car: with encoding 'cityscapes', labels must be the number of the class, and "
            "instances must be ids",
        ),
        (
            {"encoding": "panoptic-parts", "classes": {"car": {"labels": "26-27"}}},
            "classes.car: with encoding 'panoptic-parts', labels must be the number of the class",
        ),
        (
            {"encoding": "cityscapes"},
            "classes.object: with encoding 'cityscapes', labels must be the number of the class",
        ),
        (
            {"preset": "cityscapes", "classes": {"car": {"instances": "components"}}},
            "classes.car: with encoding 'cityscapes', labels must be the number of the class",
        ),
        ({"part_background": "all"}, "part_background: Input should be 'image' or 'none'"),
        ({"void_part": "x"}, "void_part: Input should be a valid integer"),
    ],
)
def test_contradictions_between_keys_are_explained(content: Any, message: str) -> None:
    assert message in refusal(**content)


def test_a_class_may_be_called_almost_anything() -> None:
    names = ["mean", "means of things", "all", "1"]
    spec = Spec(classes={name: {"labels": at + 1} for at, name in enumerate(names)})  # type: ignore[misc]
    assert list(spec.classes) == names


def test_single_numbers_may_be_classes_of_coded_ids() -> None:
    spec = as_spec({"encoding": "panoptic-parts", "classes": {"car": {"labels": "26-26"}}})
    assert spec.classes["car"].numbers == (26,)
    assert not spec.has_parts
    assert as_spec("brats-mets").has_parts


def test_a_matcher_s_name_alone_stands_for_its_defaults() -> None:
    assert parse_matcher("many-to-one") == Matcher(pm.ManyToOne())
    assert parse_matcher({"strategy": "union"}) == Matcher(pm.RegionUnion(), regions="voronoi")
