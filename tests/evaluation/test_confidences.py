"""Confidences of a case: mappings, files and images, surfaces, and what a cut leaves (D17)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import panmatch as pm
from panmatch.errors import PanmatchError
from tests.detection_scenes import scored_case, write_scores

MATCHERS = [
    "one-to-one",
    "many-to-one",
    {"strategy": "one-to-many", "solver": "optimal"},
    {"strategy": "many-to-one", "regions": True},
    "union",
]
SPEC = {"matching": MATCHERS, "thresholds": [0.1, 0.3], "confidence": {"bounds": [0, 1]}}
COLUMNS = ("thresholds", "confidences", "changes")


def evaluated(seed: int = 1, spec: Any = SPEC, **options: Any) -> pm.Result:
    case = scored_case(seed)
    options.setdefault("confidence", case.confidence)
    return pm.evaluate(reference=case.reference, prediction=case.prediction, spec=spec, **options)


def same(one: pm.Surface | None, other: pm.Surface | None) -> bool:
    assert one is not None
    assert other is not None
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)


@pytest.mark.parametrize("seed", range(4))
def test_an_entry_has_the_surface_of_its_overlap(seed: int) -> None:
    case = scored_case(seed)
    overlap = pm.count_overlaps(case.reference, case.prediction).with_confidence(case.confidence)
    cut = pm.count_region_overlaps(case.reference, case.prediction)
    pieces = cut.with_confidence(case.confidence)
    for entry in evaluated(seed).cases[0].entries:
        matcher = entry.setting.matcher
        graph = overlap if matcher.regions is None else pieces
        assert same(entry.surface, pm.surface(graph, matcher.strategy))
        for level in entry.levels:
            assert entry.surface is not None
            assert entry.surface.at(level.threshold, 0.0).tp == level.tally.tp
            direct = pm.calibration(matcher.match(graph, level.threshold))
            assert level.calibration is not None
            assert level.calibration.ece == direct.ece


def test_a_case_without_objects_is_read_back() -> None:
    nothing = np.zeros((3, 4), np.uint8)
    result = pm.evaluate(reference=nothing, prediction=nothing, spec=SPEC, confidence={})
    found = pm.Result.from_json(result.to_json()).cases[0].entries
    for one, other in zip(result.cases[0].entries, found, strict=True):
        assert same(one.surface, other.surface)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cut", [0.25, 0.5, 0.51, 2.0])
def test_a_cut_gives_every_number_of_an_image_without_the_predictions_below(
    seed: int, cut: float
) -> None:
    case = scored_case(seed)
    kept = [segment for segment, value in case.confidence.items() if value >= cut]
    left = np.where(np.isin(case.prediction, kept), case.prediction, 0)
    more = {"metrics": ["iou", "hd95"], "whole": ["dice", "hd95"], "related": ["aji"]}
    plain = {**SPEC, **more, "confidence": None}
    expected = pm.evaluate(reference=case.reference, prediction=left, spec=plain)
    found = evaluated(seed, {**SPEC, **more, "confidence": {"cut": cut}})
    for name in ("scores", "instances", "curves", "diagnosis", "structure", "budget", "mistakes"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        if "cut" in ours:
            assert (ours.pop("cut") == cut).all()
        if "settings" in ours:
            ours["settings"] = ours["settings"].str.replace(f", confidence ≥ {cut:g}", "")
        pd.testing.assert_frame_equal(ours, theirs)
    for entry in found.cases[0].entries:
        for level in entry.levels:
            assert entry.surface is not None
            at = entry.surface.at(level.threshold, cut)
            assert (at.tp, at.fp, at.fn) == (level.tally.tp, level.tally.fp, level.tally.fn)
            assert at.units == level.tally.units


def test_the_surface_is_the_same_with_and_without_a_cut() -> None:
    cut = {**SPEC, "confidence": {"cut": 0.5}}
    for one, other in zip(
        evaluated().cases[0].entries, evaluated(spec=cut).cases[0].entries, strict=True
    ):
        assert same(one.surface, other.surface)
        for level, again in zip(one.levels, other.levels, strict=True):
            assert level.calibration is not None
            assert again.calibration is not None
            assert level.calibration.ece == again.calibration.ece


def test_a_number_at_a_cut_says_so() -> None:
    found = evaluated(spec={**SPEC, "confidence": {"cut": 0.5}})
    label = found.cases[0].entries[0].setting.label
    assert label == "one-to-one (optimal), confidence ≥ 0.5"
    assert "confidence ≥ 0.5" in found.summary()
    assert list(found.scores["cut"].unique()) == [0.5]
    assert "cut" not in evaluated().scores


def test_probabilities_are_reduced_inside_the_components_of_each_class() -> None:
    prediction = np.array([[1, 1, 0, 1, 2, 2, 0, 2]])
    image = np.array([[0.5, 0.25, 0.9, 0.75, 0.5, 0.5, 0.0, 1.0]])
    spec = {
        "classes": {
            "lesion": {"labels": 1, "instances": "components"},
            "node": {"labels": 2, "instances": "components"},
        },
        "matching": "one-to-one",
    }
    for reduce, lesions in {"max": [0.5, 0.75], "mean": [0.375, 0.75]}.items():
        found = pm.evaluate(
            reference=prediction,
            prediction=prediction,
            spec=spec | {"confidence": {"source": "image", "reduce": reduce}},
            confidence=image,
        )
        known = {
            entry.setting.class_name: np.unique(entry.surface.confidences)
            for entry in found.cases[0].entries
            if entry.surface is not None
        }
        assert known["lesion"].tolist() == [*lesions, np.inf]
        assert known["node"].tolist() == [0.5, 1.0, np.inf]


def test_stuff_has_no_confidence_and_no_cut() -> None:
    labels = np.array([[1, 1, 0, 7, 7, 8]])
    spec = {
        "classes": {"sky": {"labels": 1, "kind": "stuff"}, "car": {"labels": "7-9"}},
        "matching": "one-to-one",
        "confidence": {"cut": 0.5},
    }
    found = pm.evaluate(reference=labels, prediction=labels, spec=spec, confidence={7: 0.9, 8: 0.1})
    sky, car = found.cases[0].entries
    assert (sky.surface, sky.setting.cut, sky.levels[0].tally.tp) == (None, None, 1)
    assert car.surface is not None
    assert (car.setting.cut, car.levels[0].tally.tp, car.levels[0].tally.fn) == (0.5, 1, 1)


def test_a_matcher_that_maximises_partpq_has_no_surface() -> None:
    labels = np.array([[1, 1, 2, 0]])
    spec = {
        "classes": {"spine": {"labels": [1, 2], "instances": "ids", "parts": [1, 2]}},
        "matching": [{"strategy": "one-to-one", "objective": "parts"}, "one-to-one"],
        "confidence": {},
    }
    found = pm.evaluate(reference=labels, prediction=labels, spec=spec, confidence={1: 0.9, 2: 0.4})
    first, second = found.cases[0].entries
    assert first.surface is None
    assert second.surface is not None


def test_confidences_come_from_a_mapping_a_csv_file_or_an_image(tmp_path: Path) -> None:
    case = scored_case(2)
    write_scores(tmp_path / "scores.csv", case.confidence)
    rows = [f"{name},{one},{v}" for name in ("x", "case") for one, v in case.confidence.items()]
    (tmp_path / "all.csv").write_text("\n".join(["case,id,confidence", *rows]))
    image = np.zeros(case.prediction.shape)
    for segment, value in case.confidence.items():
        image[case.prediction == segment] = value
    np.save(tmp_path / "image.npy", image)
    expected = evaluated(2).cases[0].entries[0].surface
    for given in (
        tmp_path / "scores.csv", str(tmp_path / "all.csv"), image, tmp_path / "image.npy"
    ):  # fmt: skip
        spec = {name: value for name, value in SPEC.items() if name != "confidence"}
        found = evaluated(2, spec, confidence=given)
        assert same(found.cases[0].entries[0].surface, expected)
        assert found.spec.confidence is not None


def test_results_with_confidences_survive_json() -> None:
    found = evaluated(spec={**SPEC, "confidence": {"cut": 0.5}})
    again = pm.Result.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    pd.testing.assert_frame_equal(again.detections, found.detections)


def test_without_confidences_nothing_is_stored_and_tables_of_detections_are_empty() -> None:
    found = evaluated(spec={**SPEC, "confidence": None}, confidence=None)
    stored = json.loads(found.to_json())["cases"][0]["entries"][0]
    assert not {"surface", "cut"} & set(stored)
    assert "calibration" not in stored["levels"][0]
    assert len(found.detections) == 0
    assert found.detection_series == []


def test_confidences_beyond_0_and_1_have_surfaces_but_no_calibration() -> None:
    case = scored_case(3)
    logits = {segment: 20 * value - 9 for segment, value in case.confidence.items()}
    found = evaluated(3, {**SPEC, "confidence": {}}, confidence=logits)
    assert "ece" not in set(found.detections["measure"])
    assert len(found.plain("calibration")) == 0
    assert "ap" in set(found.detections["measure"])


GOOD = {1: 0.5, 2: 0.25}
LABELS = np.array([[1, 1, 0, 2]])


@pytest.mark.parametrize(
    ("confidence", "message"),
    [
        ({1: 0.5}, "confidence has no value for id 2 of class 'object': give every"),
        ({**GOOD, 7: 0.5, 9: 1}, "has a value for ids 7, 9, which the prediction does not contain"),
        ({**GOOD, 0: 0.5}, "has a value for id 0, which the prediction does not contain"),
        ({1: 0.5, 2: float("nan")}, "has the value nan for id 2 of class 'object'; it must be a"),
        ({1: 0.5, 2: "high"}, "has the value high for id 2 of class 'object'; it must be a"),
        (
            {1: 0.5, 2: 1.5},
            "has the value 1.5 for id 2 of class 'object', but the spec says `bounds:",
        ),
        (np.zeros((2, 4)), r"probability has shape \(2, 4\), but prediction \(1, 4\)"),
        (np.array([[0.5, np.nan, 0, 0]]), "probability is nan inside segment 1"),
        (np.array([["a"] * 4]), "confidence has dtype <U1; pass a mapping from id to number"),
    ],
)
def test_bad_confidences_are_refused_with_the_id_and_the_remedy(
    confidence: Any, message: str
) -> None:
    spec = {"confidence": {"bounds": [0, 1]}}
    with pytest.raises(PanmatchError, match=message):
        pm.evaluate(reference=LABELS, prediction=LABELS, spec=spec, confidence=confidence)


def test_objects_that_are_too_small_may_have_a_confidence() -> None:
    spec = {"classes": {"cell": {"min_voxels": 2}}, "confidence": {}}
    found = pm.evaluate(reference=LABELS, prediction=LABELS, spec=spec, confidence=GOOD)
    surface = found.cases[0].entries[0].surface
    assert surface is not None
    assert np.unique(surface.confidences).tolist() == [0.5, np.inf]


@pytest.mark.parametrize(
    ("spec", "given", "message"),
    [
        ({}, GOOD, "the spec does not expect confidences: write `confidence: {}` in the spec"),
        ({"confidence": {}}, None, "this case has no confidences: pass confidence=…, or leave"),
    ],
)
def test_an_evaluator_is_told_in_its_spec_whether_there_are_confidences(
    spec: dict[str, Any], given: Any, message: str
) -> None:
    evaluator = pm.Evaluator(spec)
    with pytest.raises(PanmatchError, match=message):
        evaluator.update(reference=LABELS, prediction=LABELS, confidence=given)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"confidence": {"bounds": [1, 0]}}, r"bounds=\[1.0, 0.0\] must be a lower and a higher"),
        ({"confidence": {"treshold": 1}}, "the key 'treshold' is not known"),
        (
            {"encoding": "cityscapes", "classes": {"car": {"labels": 26}}, "confidence": {}},
            "with encoding 'cityscapes', predictions have no confidence",
        ),
        (
            {"classes": {"lesion": {"instances": "components"}}, "confidence": {}},
            "the objects of classes.lesion are connected components, which have no ids",
        ),
        (
            {"encoding": "coco-instances", "metrics": ["hd95"]},
            "masks may overlap, so 'hd95' cannot be computed: drop it",
        ),
        (
            {"encoding": "coco-instances", "classes": {"cell": {}}},
            "with encoding 'coco-instances', classes come from the JSON file",
        ),
    ],
)
def test_specs_that_contradict_themselves_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(PanmatchError, match=message):
        pm.Evaluator(keys)


def test_coco_instances_always_have_confidences() -> None:
    assert pm.Spec.model_validate({"encoding": "coco-instances"}).confidence is not None


def test_an_error_budget_does_not_need_confidences() -> None:
    whole = np.array([[1, 1, 1, 1, 1, 1]])
    pieces: npt.NDArray[np.int64] = np.array([[4, 4, 5, 5, 6, 6]])
    overlap = pm.count_overlaps(whole, pieces).with_confidence([0.9, 0.8, 0.7])
    assert pm.error_budget(pm.match(overlap)).repaired["split"] == 1.0
