"""What the published programs returned on small scenes, wherever they follow their definitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch import related
from panmatch.labels import connected_components

CASES = json.loads((Path(__file__).parents[1] / "data" / "related_metrics.json").read_text())
BOTH = [c for c in CASES["cases"] if np.any(c["ref"]) and np.any(c["pred"])]
every_case = pytest.mark.parametrize("case", BOTH, ids=[c["name"] for c in BOTH])

# Pairs below the threshold stay matched there: see docs/explanation/related.md.
SORTED_AP_FORCES_MATCHES = {"weight_vs_cardinality", "random_0", "random_1"}
# An object without partner does not reach the denominator there: see docs/explanation/related.md.
AJI_DROPS_AN_OBJECT = {"touching_not_overlapping"}


def images(case: dict[str, Any]) -> dict[str, Any]:
    return {"reference": np.array(case["ref"]), "prediction": np.array(case["pred"])}


def overlap_of(case: dict[str, Any], components: bool = False) -> pm.Overlap:
    pair = images(case).values()
    return pm.count_overlaps(*(connected_components(i) if components else i for i in pair))


def test_there_are_cases() -> None:
    assert len(BOTH) == 10


@every_case
def test_cc_dice(case: dict[str, Any]) -> None:
    found = related.cc_metric(**images(case), metric="dice")
    want = case["expected"]["ccmetrics_pypi_0.0.3"]["dice"]
    np.testing.assert_allclose(found.per_component, want, rtol=0, atol=1e-9)
    assert found.mean == pytest.approx(np.mean(want), abs=1e-9)


@every_case
def test_cluster_dice_and_iou(case: dict[str, Any]) -> None:
    want = case["expected"]["instamatch"]
    assert related.cluster_dice(**images(case)) == pytest.approx(want["cluster_dsc"], abs=1e-6)
    assert related.cluster_iou(**images(case)) == pytest.approx(want["cluster_iou"], abs=1e-6)


@every_case
def test_lesionwise_dice(case: dict[str, Any]) -> None:
    found = related.lesionwise_dice(**images(case))
    want = case["expected"]["instance_speed_lesion_dice"]
    assert found == pytest.approx(want["brats"], abs=1e-9)
    assert found == pytest.approx(want["brats_optimised"], abs=1e-9)
    assert found == pytest.approx(want["soumya"], abs=1e-6)
    single = case["expected"]["instamatch"]["lesionwise_dsc"]
    assert found == pytest.approx(single, abs=1e-6)


@every_case
@pytest.mark.parametrize("alpha", [0.25, 0.5])
def test_ccdice(case: dict[str, Any], alpha: float) -> None:
    found = related.ccdice(overlap_of(case, components=True), alpha)
    assert found == pytest.approx(case["expected"]["ccdice"][f"alpha_{alpha}"], abs=1e-9)


@every_case
@pytest.mark.parametrize("alpha", ["0.25", "0.5", "0.7"])
def test_ccdice_by_definition_for_any_alpha(case: dict[str, Any], alpha: str) -> None:
    want = case["expected"]["ours_one_to_one_maxweight_strict"]["ccdice_exact"][alpha]
    assert related.ccdice(overlap_of(case), float(alpha)) == pytest.approx(want, abs=1e-12)


@every_case
def test_stardist_scores(case: dict[str, Any]) -> None:
    for found in related.stardist_scores(overlap_of(case), [0.1, 0.3, 0.5]):
        want, tally = case["expected"]["stardist"][f"thr_{found.threshold}"], found.tally
        assert (tally.tp, tally.fp, tally.fn) == (want["tp"], want["fp"], want["fn"])
        assert found.accuracy == pytest.approx(want["accuracy"], abs=1e-6)
        assert tally.f1 == pytest.approx(want["f1"], abs=1e-6)
        assert tally.pq == pytest.approx(want["pq"], abs=1e-6)
        assert tally.sq == pytest.approx(want["mean_matched"], abs=1e-6)


@every_case
def test_areas_by_definition(case: dict[str, Any]) -> None:
    want, overlap = case["expected"]["ours_one_to_one_maxweight_strict"], overlap_of(case)
    assert related.npq(overlap) == pytest.approx(want["NPQ_step"], abs=1e-12)
    assert related.sorted_ap(overlap) == pytest.approx(want["AP_step_integral"], abs=1e-12)
    assert pm.curve(overlap).autc == pytest.approx(want["AUTC_PQ_step"], abs=1e-12)
    for tau in ("0_5", "0_1"):
        tally = pm.match(overlap, threshold=float(tau.replace("_", "."))).tally
        assert tally.pq == pytest.approx(want[f"PQ_{tau}"], abs=1e-12)
        assert tally.rq == pytest.approx(want[f"RQ_{tau}"], abs=1e-12)


@every_case
def test_panoptic_quality_of_other_programs(case: dict[str, Any]) -> None:
    tally = pm.match(overlap_of(case)).tally
    assert tally.pq == pytest.approx(case["expected"]["sortedap"]["PQ_0_5"], abs=1e-9)
    coco = case["expected"]["coco_pano_ext"]
    assert [tally.pq, tally.sq, tally.rq] == pytest.approx([coco[k] for k in ("PQ", "SQ", "RQ")])


@every_case
def test_the_trapezoid_is_the_published_sorted_ap_unless_that_forces_matches(
    case: dict[str, Any],
) -> None:
    found = related.sorted_ap(overlap_of(case), integral="trapezoid")
    published = case["expected"]["sortedap"]["sortedAP"]
    agrees = found == pytest.approx(published, abs=1e-9)
    assert agrees == (case["name"] not in SORTED_AP_FORCES_MATCHES)


@every_case
def test_aji(case: dict[str, Any]) -> None:
    found = related.aji(overlap_of(case))
    agrees = found == pytest.approx(case["expected"]["sortedap"]["AJI"], abs=1e-9)
    assert agrees == (case["name"] not in AJI_DROPS_AN_OBJECT)
