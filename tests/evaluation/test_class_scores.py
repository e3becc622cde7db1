"""Scores that need no matching: those of the functions they name, and what pools of them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import related
from panmatch.datasets import compare
from panmatch.errors import SpecError
from panmatch.evaluation import CaseResult, Result
from panmatch.related import RELATED
from panmatch.spec import as_spec
from tests.evaluation.by_hand import Labels

SPACING = (0.5, 2.0)
EVERYTHING: dict[str, Any] = {
    "classes": {"a": {"labels": [1, 2, 3]}, "b": {"labels": [4, 5], "instances": "components"}},
    "matching": "one-to-one",
    "thresholds": 0.5,
    "metrics": [],
    "whole": ["dice", "iou", "assd", "relative_volume_difference"],
    "related": [*RELATED, {"score": "cc_metric", "metric": "nsd", "name": "cc_nsd"}],
}


def image(seed: int, shape: tuple[int, int] = (24, 20)) -> Labels:
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 6, (6, 5))
    return np.where(rng.random(shape) < 0.9, blocks.repeat(4, 0).repeat(4, 1), 0)


def evaluated(spec: Any, n: int = 3, **options: Any) -> Result:
    evaluator = pm.Evaluator(spec)
    for seed in range(n):
        for model, shift in (("first", 1), ("second", 2)):
            prediction = np.roll(image(seed), shift, axis=0)
            evaluator.update(
                reference=image(seed), prediction=prediction, case=f"{seed}", model=model,
                spacing=SPACING, **options,
            )  # fmt: skip
    return evaluator.compute()


def of_class(labels: Labels, name: str) -> Labels:
    """Return the objects of a class as the spec has them."""
    if name == "a":
        return np.where(np.isin(labels, [1, 2, 3]), labels, 0)
    return pm.labels.connected_components(np.isin(labels, [4, 5])).astype(np.int64)


def value(result: Result, name: str, averaging: str, class_name: str = "a") -> float:
    (found,) = [
        average.value
        for average in result.average_scores
        if (average.model, average.setting.class_name) == ("first", class_name)
        and (average.score.name, average.averaging) == (name, averaging)
    ]
    return found


# Scores of clusterings in which background is a segment.
OF_BACKGROUND = {
    "variation_of_information_split", "variation_of_information_merge", "rand_index",
    "adjusted_rand_index", "adjusted_mutual_information",
}  # fmt: skip


def direct(name: str, reference: Labels, prediction: Labels) -> float:
    """Return a related score by its own function."""
    sides: dict[str, Any] = {"reference": reference, "prediction": prediction}
    overlap = pm.count_overlaps(reference, prediction)
    if name in ("cc_dice", "cc_metric"):
        return related.cc_metric(**sides, spacing=SPACING).mean
    if name == "cc_nsd":
        return related.cc_metric(**sides, metric="nsd", spacing=SPACING).mean
    if name == "ccdice":
        parts = [pm.labels.connected_components(one) for one in (reference, prediction)]
        return related.ccdice(pm.count_overlaps(*parts))
    if name.startswith("voxels_"):
        return voxels(name.removeprefix("voxels_"), reference != 0, prediction != 0)
    if name.startswith("lesionwise_counts_"):
        return lesions(reference, prediction)[name[-2:]]
    if name.startswith("lesionwise") or name.endswith("volume"):
        return float(getattr(related, name)(**sides, spacing=SPACING))
    if name.startswith(("cluster", "lesion_")):
        return float(getattr(related, name)(**sides))
    if name.startswith("variation_of_information_"):
        bits = related.variation_of_information(overlap)
        return bits.split if name.endswith("split") else bits.merge
    if name.startswith("objects_"):
        return len(overlap.ref_ids if name.endswith("references") else overlap.pred_ids)
    if name.startswith("stardist_"):
        (found,) = related.stardist_scores(overlap, 0.5)
        names = {
            "panoptic_quality": found.tally.pq,
            # Without a match there is nothing to average, where stardist says 0.
            "mean_matched_score": found.tally.sq if found.tally.tp else math.nan,
            "mean_true_score": found.mean_true_score,
            "accuracy": found.accuracy,
            "n_true": len(overlap.ref_ids),
            "n_pred": len(overlap.pred_ids),
        }
        suffix = name.removeprefix("stardist_")
        return names[suffix] if suffix in names else float(getattr(found.tally, suffix))
    return float(getattr(related, name)(overlap))


def voxels(name: str, reference: Labels, prediction: Labels) -> float:
    counts = {
        "tp": np.sum(reference & prediction),
        "fp": np.sum(~reference & prediction),
        "fn": np.sum(reference & ~prediction),
        "tn": np.sum(~reference & ~prediction),
        "references": np.sum(reference),
        "predictions": np.sum(prediction),
    }
    voxel = float(np.prod(SPACING))
    shares = {
        "reference_volume": counts["references"] * voxel,
        "prediction_volume": counts["predictions"] * voxel,
        "sensitivity": counts["tp"] / counts["references"],
        "specificity": counts["tn"] / (counts["tn"] + counts["fp"]),
    }
    return float((counts | shares)[name])


def lesions(reference: Labels, prediction: Labels) -> dict[str, int]:
    """Return how many components are found, spurious and missed."""
    ref, pred = (pm.labels.connected_components(one) for one in (reference, prediction))
    overlap = pm.count_overlaps(ref, pred)
    tp, hits = len(np.unique(overlap.edges.ref)), len(np.unique(overlap.edges.pred))
    return {"tp": tp, "fp": len(overlap.pred_ids) - hits, "fn": len(overlap.ref_ids) - tp}


@pytest.mark.parametrize("class_name", ["a", "b"])
def test_every_related_score_of_a_case_is_that_of_its_function(class_name: str) -> None:
    result = evaluated(EVERYTHING)
    names = [name for name in result.known_scores if name in related_columns()]
    assert len(names) == 54
    for case in result.cases:
        shift = 1 if case.model == "first" else 2
        reference = of_class(image(int(case.case)), class_name)
        prediction = of_class(np.roll(image(int(case.case)), shift, axis=0), class_name)
        found = {
            one.score.name: one.average.value
            for one in case.class_scores
            if one.class_name == class_name
        }
        for name in names:
            expected = direct(name, reference, prediction)
            assert found[name] == pytest.approx(expected, rel=1e-12, nan_ok=True), name


def related_columns() -> list[str]:
    columns = [
        f"{score.name}_{part.suffix}".rstrip("_")
        for score in RELATED.values()
        for part in score.parts
    ]
    return [*columns, "cc_nsd"]


def test_the_whole_class_is_one_mask() -> None:
    result = evaluated(EVERYTHING)
    for case in (one for one in result.cases if one.model == "first"):
        reference = np.isin(image(int(case.case)), [1, 2, 3])
        prediction = np.roll(reference, 1, axis=0)
        metrics = ("dice", "iou", "assd", "relative_volume_difference")
        expected = pm.measure_whole(reference, prediction, metrics, SPACING).columns
        found = {
            one.score.name: one.average.value for one in case.class_scores if one.class_name == "a"
        }
        for name in metrics:
            assert found[f"whole_{name}"] == pytest.approx(expected[name][0], rel=1e-12)


def test_voxels_pool_and_distances_are_averaged() -> None:
    result = evaluated(EVERYTHING)
    masks = [np.isin(image(seed), [1, 2, 3]) for seed in range(3)]
    everything = np.concatenate(masks), np.concatenate([np.roll(one, 1, axis=0) for one in masks])
    pooled = pm.measure_whole(*everything, ("dice", "iou")).columns
    for name in ("dice", "iou"):
        assert value(result, f"whole_{name}", "pooled") == pytest.approx(pooled[name][0], rel=1e-12)
    distances = [
        pm.measure_whole(one, np.roll(one, 1, axis=0), "assd", SPACING).columns["assd"][0]
        for one in masks
    ]
    assert len(set(distances)) > 1
    assert value(result, "whole_assd", "pooled") == pytest.approx(np.mean(distances))
    assert value(result, "whole_assd", "mean of cases") == pytest.approx(np.mean(distances))


def test_components_of_all_cases_pool() -> None:
    result = evaluated(EVERYTHING)
    found = [
        related.cc_metric(
            reference=np.isin(image(seed), [1, 2, 3]),
            prediction=np.roll(np.isin(image(seed), [1, 2, 3]), 1, axis=0),
            spacing=SPACING,
        )
        for seed in range(3)
    ]
    total = sum(found)
    assert isinstance(total, related.CCMetric)
    assert value(result, "cc_dice", "pooled") == pytest.approx(total.pooled, rel=1e-12)
    assert value(result, "cc_dice", "mean of cases") == pytest.approx(total.mean, rel=1e-12)
    assert total.pooled != total.mean


def test_counts_of_all_cases_pool() -> None:
    result = evaluated(EVERYTHING)
    tallies = []
    for seed in range(3):
        reference = of_class(image(seed), "a")
        prediction = of_class(np.roll(image(seed), 1, axis=0), "a")
        overlap = pm.count_overlaps(reference, prediction)
        tallies.append(related.stardist_scores(overlap, 0.5)[0].tally)
    total = sum(tallies[1:], tallies[0])
    for name, expected in (
        ("f1", total.f1), ("accuracy", total.accuracy), ("precision", total.precision),
        ("recall", total.recall), ("panoptic_quality", total.pq), ("mean_matched_score", total.sq),
    ):  # fmt: skip
        assert value(result, f"stardist_{name}", "pooled") == pytest.approx(expected, rel=1e-12)


def test_void_counts_on_neither_side() -> None:
    mask = np.zeros((24, 20), np.bool_)
    mask[:, :9] = True
    with_void = evaluated(EVERYTHING, 1, void=mask)
    cleared = pm.Evaluator(EVERYTHING)
    reference = image(0)
    cleared.update(
        reference=np.where(mask, 0, reference), case="0", model="first", spacing=SPACING,
        prediction=np.where(mask, 0, np.roll(reference, 1, axis=0)),
    )  # fmt: skip
    # Void is not outside of the class either.
    known = {"voxels_tn", "voxels_specificity", "cremi_score", *OF_BACKGROUND}
    for name in sorted({*related_columns(), "whole_dice", "whole_assd"} - known):
        expected = value(cleared.compute(), name, "pooled")
        assert value(with_void, name, "pooled") == pytest.approx(expected, nan_ok=True), name


def test_two_empty_sides_are_undefined_and_skipped() -> None:
    evaluator = pm.Evaluator({**EVERYTHING, "classes": {"a": {}}})
    empty, full = np.zeros((4, 4), np.int64), np.ones((4, 4), np.int64)
    evaluator.update(reference=empty, prediction=empty, case="empty", model="first")
    evaluator.update(reference=full, prediction=full, case="full", model="first")
    result = evaluator.compute()
    (case, _) = result.cases
    # Nothing is a volume of nothing, and no difference between two numbers of lesions.
    zero = {
        "false_positive_volume", "lesion_count_difference", "objects_references",
        "objects_predictions", "voxels_tp", "voxels_fp", "voxels_fn", "voxels_tn",
        "voxels_references", "voxels_predictions", "voxels_reference_volume",
        "voxels_prediction_volume",
        "voxels_specificity", "lesionwise_counts_tp",
        "lesionwise_counts_fp", "lesionwise_counts_fn", "stardist_tp", "stardist_fp",
        "stardist_fn", "stardist_n_true", "stardist_n_pred",
        *OF_BACKGROUND,  # which is the same segment on both sides
    }  # fmt: skip
    defined = {one.score.name for one in case.class_scores if not math.isnan(one.average.value)}
    assert defined == zero
    averages = [
        one
        for one in result.average_scores
        if one.score.name in related_columns() and one.score.name not in zero
    ]
    lower = {"lesionwise_hd95", "false_negative_volume", "adapted_rand_error", "cremi_score"}
    found = {(one.score.name in lower, one.value, one.cases, one.skipped) for one in averages}
    assert found == {(False, 1.0, 1, 1), (True, 0.0, 1, 1)}


def test_they_are_in_every_row_of_their_class_and_in_the_averages() -> None:
    result = evaluated(EVERYTHING)
    scores = result.scores
    assert set(related_columns()) <= set(scores.columns)
    assert scores.groupby(["model", "case", "class"])["cc_dice"].nunique().max() == 1
    averages = result.averages
    own = averages[averages["measure"] == "cc_dice"]
    assert set(own["class"]) == {"a", "b", "mean of classes"}
    assert set(own["strategy"]) == {""}
    assert own["threshold"].isna().all()
    assert "Scores that need no matching" in result.summary()


def test_json_gives_back_what_it_took() -> None:
    result = evaluated(EVERYTHING, 1)
    again = CaseResult.from_dict(json.loads(json.dumps(result.cases[0].to_dict())))
    assert again.class_scores == result.cases[0].class_scores
    assert Result.from_json(result.to_json()).to_json() == result.to_json()


def test_models_are_compared_by_them() -> None:
    comparison = compare(evaluated(EVERYTHING, 6), ["cc_dice", "whole_assd", "pq"])
    by_name = {
        (criterion.score.name, criterion.setting.class_name): placings
        for criterion, placings in comparison.rankings.items()
    }
    assert by_name["cc_dice", "a"][0].model == "first"
    assert by_name["whole_assd", "a"][0].model == "first"
    assert by_name["whole_assd", "a"][0].value < by_name["whole_assd", "a"][1].value
    tables = comparison.tables()
    assert "cc_dice" in set(tables["rankings"]["measure"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"related": "cc_dcie"}, "'cc_dcie' is not known; did you mean 'cc_dice'"),
        ({"related": [{"score": "ccdice", "beta": 1}]}, "'beta' is not an option of ccdice"),
        ({"related": ["aji", "aji"]}, "'aji' is listed twice: give one of them another `name`"),
        ({"related": [{"score": "aji", "name": "a-b"}]}, "letters, digits and underscores"),
        ({"related": [3]}, "must be the name of a related score"),
        ({"whole": "dcie"}, "dcie"),
    ],
)
def test_mistakes_in_a_spec_are_explained(content: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        as_spec(content)


def test_bad_values_of_options_name_the_option() -> None:
    spec = {"related": [{"score": "ccdice", "alpha": 2}]}
    with pytest.raises(pm.PanmatchError, match="alpha=2 must be above 0 and at most 1"):
        pm.evaluate(reference=[[1, 0]], prediction=[[1, 0]], spec=spec)


def test_standard_deviations_are_those_of_matched_objects() -> None:
    spec = {"matching": "one-to-one", "thresholds": [0.1, 0.6], "metrics": ["iou", "dice", "hd"]}
    evaluator = pm.Evaluator(spec)
    for seed in range(4):
        prediction = np.roll(image(seed), 1, axis=0)
        evaluator.update(reference=image(seed), prediction=prediction, case=f"{seed}")
    result = evaluator.compute()
    rows = result.instances_by_setting
    for _, row in result.scores.iterrows():
        same = (rows["case"] == row["case"]) & (rows["threshold"] == row["threshold"])
        matched = rows[same & (rows["status"] == "matched")]
        for column, name in (("sq_std", "iou"), ("sq_dice_std", "dice"), ("sq_hd_std", "hd")):
            expected = np.std(matched[name]) if len(matched) else math.nan
            assert row[column] == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
