"""Real segmentations, where they are at hand."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch import related
from panmatch.formats import read_labels
from panmatch.scoring import align_raters, choose_references

DATA = Path(__file__).parents[2] / "shared" / "data"
SPINE = DATA / "spine_mri_panoptica"
COCO = DATA / "coco_panoptic_sample"
GLIOMA = DATA / "brats_glioma_models"
NUCLEI = DATA / "nuclei2d_dsb2018"
NODULES = DATA / "lidc_nodules_4raters"


@pytest.mark.skipif(not SPINE.exists(), reason="the spine segmentations are not at hand")
def test_part_aware_quality_of_vertebrae_equals_the_published_program_s() -> None:
    def read(name: str) -> Any:
        image: Any = nibabel.load(SPINE / f"{name}.nii.gz")
        return np.asarray(image.dataobj)[246:416].astype(np.int64)

    kinds = [
        pm.SegmentClass(24, "vertebra", parts=tuple(range(1, 11))),
        pm.SegmentClass(7, "everything else", thing=False),
    ]

    def side(instances: Any, regions: Any, first: int) -> tuple[Any, Any, Any]:
        vertebra = (instances >= first) & (instances < first + 7)
        parts = np.where(vertebra & (regions >= 41) & (regions <= 50), regions - 40, 0)
        return np.where(vertebra, 24, 7), np.where(vertebra, instances, 0), parts

    classes, instances, parts = side(read("ref_instance"), read("ref_semantic"), 2)
    uids = np.where(classes == 24, 2_400_000 + instances * 100 + parts, 7)
    reference = pm.from_panoptic_parts(uids, kinds)
    classes, instances, parts = side(read("pred_instance"), read("pred_semantic"), 3)
    prediction = pm.from_maps(classes, instances, kinds, part_map=parts)
    overlaps = pm.count_class_overlaps(reference, prediction)
    found = pm.tally_classes(overlaps, quality="parts")
    assert (found[24].tp, found[24].fp, found[24].fn) == (7, 0, 0)
    assert found[24].quality == pytest.approx(5.587807425476197, abs=1e-9)
    assert found[7].quality == pytest.approx(0.9859559190569442, abs=1e-9)


@pytest.mark.skipif(not COCO.exists(), reason="the natural images are not at hand")
def test_every_step_of_many_to_one_curves_of_natural_images_is_proven() -> None:
    for reference in sorted(COCO.glob("*_ref_panoptic.png")):
        superpixels = reference.name.replace("_ref_panoptic.png", "_pred_felzenszwalb.tif")
        segments = read_labels(reference, colour_ids=True)
        overlap = pm.count_overlaps(
            segments.labels, read_labels(reference.with_name(superpixels)).labels
        )
        assert pm.curve(overlap, pm.ManyToOne(solver="optimal")).proven


@pytest.mark.skipif(not COCO.exists(), reason="the COCO sample is not at hand")
def test_a_real_coco_file_scores_1_against_itself(tmp_path: Path) -> None:
    for image in COCO.glob("*_ref_panoptic.png"):
        target = tmp_path / image.name.replace("_ref_panoptic", "")
        target.write_bytes(image.read_bytes())
    files = COCO / "panoptic_examples.json", tmp_path
    found = related.coco_pq(*files, *files)
    assert found.all.pq == 1.0
    assert found.all.n > 5
    assert sum(tally.tp for tally in found.values()) > 40


def evaluated(folder: Path, *arguments: object) -> pd.DataFrame:
    """Run `panmatch evaluate` as a newcomer would, and return the scores."""
    out = folder / "out"
    command = [sys.executable, "-m", "panmatch", "evaluate", *map(str, arguments), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return pd.read_csv(out / "scores.csv", keep_default_na=False, na_values=[""])


@pytest.mark.skipif(not SPINE.exists(), reason="the spine segmentations are not at hand")
def test_vertebrae_are_evaluated_with_a_preset_in_one_command(tmp_path: Path) -> None:
    files = SPINE / "ref_instance.nii.gz", SPINE / "pred_instance.nii.gz"
    found = evaluated(tmp_path, *files, "--spec", "vertebrae", "-t", "0.5")
    found = found.set_index(["class", "strategy"])
    best = found.loc["vertebra", "one-to-one"]
    assert (best.tp, best.fp, best.fn) == (8, 0, 0)
    shifted = found.loc["vertebra", "same-id"]
    assert (shifted.tp, shifted.pq) == (0, 0)  # all numbers are off by one


@pytest.mark.skipif(not SPINE.exists(), reason="the spine segmentations are not at hand")
def test_vertebrae_with_parts_need_a_spec_of_five_lines(tmp_path: Path) -> None:
    spec = tmp_path / "parts.yaml"
    spec.write_text(
        'preset: vertebrae\nclasses: {vertebra: {parts: "41-50"}}\n'
        "not_parts: [26, 60, 61, 62, 100]\n"
    )
    files = SPINE / "ref_instance.nii.gz", SPINE / "pred_instance.nii.gz"
    parts = ["--reference-parts", SPINE / "ref_semantic.nii.gz"]
    parts += ["--prediction-parts", SPINE / "pred_semantic.nii.gz"]
    at = ["-t", "0.5"]
    found = evaluated(tmp_path, *files, *parts, "--spec", spec, *at)
    found = found.set_index(["class", "strategy"])
    whole = found.loc["vertebra", "one-to-one"]
    assert (whole.tp, whole.fp, whole.fn) == (8, 0, 0)
    without = evaluated(tmp_path / "plain", *files, "--spec", "vertebrae", *at)
    plain = without.set_index(["class", "strategy"]).loc["vertebra", "one-to-one"]
    assert whole.part_pq < whole.pq == plain.pq


@pytest.mark.skipif(not GLIOMA.exists(), reason="the glioma segmentations are not at hand")
def test_several_models_of_a_tumour_are_ranked(tmp_path: Path) -> None:
    spec = tmp_path / "glioma.yaml"
    spec.write_text(
        "preset: brats-mets\nclasses:\n  metastasis: null\n"
        "  tumour: {labels: [1, 2, 4], instances: components, parts: [1, 2, 4]}\n"
        "  core: {labels: [1, 4]}\n  enhancing: {labels: 4}\nmetrics: dice\n"
    )
    models = ("hnfnetv1", "isen", "scan")
    named = [f"--model={name}={GLIOMA / f'pred_{name}.nii.gz'}" for name in models]
    found = evaluated(tmp_path, GLIOMA / "ref_fusion_simple.nii.gz", *named, "--spec", spec)
    assert set(found.model) == set(models)
    assert set(found["class"]) == {"tumour", "core", "enhancing"}
    assert set(found.strategy) == {"one-to-one", "many-to-one", "one-to-many", "union"}
    done = subprocess.run(
        [sys.executable, "-m", "panmatch", "compare", str(tmp_path / "out")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "of the spec give" in done.stdout


@pytest.mark.skipif(not NUCLEI.exists(), reason="the nuclei are not at hand")
def test_nuclei_of_two_methods_in_one_folder_need_two_patterns(tmp_path: Path) -> None:
    patterns = ["--pattern", "{case}_ref.tif", "--pattern", "{case}_pred_{model}.tif"]
    found = evaluated(tmp_path, NUCLEI, NUCLEI, *patterns, "--spec", "cells", "-j", 2)
    assert sorted(set(found.model)) == ["otsu_cc", "watershed"]
    assert sorted(set(found.case)) == ["img2", "img3", "img5", "img6", "stardist2d"]
    one = found[(found.strategy == "one-to-one") & (found.threshold == 0.5)]
    assert (one.tp + one.fn).groupby(one.case).unique().map(list).to_dict() == {
        "img2": [369], "img3": [151], "img5": [131], "img6": [101], "stardist2d": [125],
    }  # fmt: skip


@pytest.mark.skipif(not COCO.exists(), reason="the COCO sample is not at hand")
def test_the_coco_sample_is_read_as_files_and_as_coloured_ids(tmp_path: Path) -> None:
    folder = tmp_path / "panoptic_examples"
    folder.mkdir()
    for image in COCO.glob("*_ref_panoptic.png"):
        (folder / image.name.replace("_ref_panoptic", "")).write_bytes(image.read_bytes())
    annotations = tmp_path / "panoptic_examples.json"
    annotations.write_bytes((COCO / "panoptic_examples.json").read_bytes())
    found = evaluated(tmp_path / "same", annotations, annotations)
    assert set(found.pq) == {1.0}
    assert set(found.kind) == {"things", "stuff"}
    spec = tmp_path / "colours.yaml"
    spec.write_text("preset: instances\ncolour_ids: true\n")
    patterns = ["--pattern", "{case}_ref_panoptic.png", "--pattern", "{case}_pred_{model}.tif"]
    found = evaluated(tmp_path / "other", COCO, COCO, *patterns, "--spec", spec)
    one = found[found.strategy == "one-to-one"].set_index("case")
    assert (one.tp + one.fn).to_dict() == {142238: 18, 439180: 32}
    assert (one.tp + one.fp).to_dict() == {142238: 169, 439180: 96}


@pytest.mark.skipif(not NODULES.exists(), reason="the nodules of four raters are not at hand")
@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5])
def test_a_radiologist_s_pq_against_each_other_one_is_within_the_bounds(threshold: float) -> None:
    drawn = {
        f"r{i}": read_labels(NODULES / f"LIDC-IDRI-0583_rater{i}.nii.gz").labels
        for i in range(1, 5)
    }
    model = drawn.pop("r4")
    pairs = {(a, b): pm.count_overlaps(drawn[a], drawn[b]) for a, b in combinations(drawn, 2)}
    against = {name: pm.count_overlaps(labels, model) for name, labels in drawn.items()}
    groups = align_raters(pairs, threshold)
    assert sum(len(ids) for group in groups for ids in group.ids.values()) == 4 + 10 + 5
    bounds = choose_references(groups, against, threshold).bounds()
    found = [pm.match(overlap, "one-to-one", threshold).tally.pq for overlap in against.values()]
    assert bounds.is_exact
    assert bounds.lower.pq <= min(found) < max(found) <= bounds.upper.pq < 1
