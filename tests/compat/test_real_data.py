"""Live parity with panoptica 2.1.7 on real segmentations, where they are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.spec import at_threshold
from tests.compat.test_parity import ALL, CHEAP, EDGES, OURS, assert_same, compare
from tests.peers.asking import Labels
from tests.peers.run_panoptica_jobs import Job, judge

DATA = Path(__file__).parents[3] / "shared" / "data"
COMPONENTS = ["ConnectedComponentsInstanceApproximator", None]
DISTANCES: dict[str, Any] = {
    "instance_metrics": ALL,
    "global_metrics": ["DSC", "RVD"],
    "edges": EDGES,
}
OVERLAPS = DISTANCES | {"instance_metrics": CHEAP}


def read(*names: str) -> tuple[tuple[Labels, Labels], list[float]]:
    """Return reference and prediction, cropped to what is in them, and their spacing."""
    paths = [DATA / name for name in names]
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        pytest.skip(f"the real data are not beside the repository: no {missing[0]}")
    if paths[0].suffix == ".tif":
        tifffile = pytest.importorskip("tifffile")
        images = [tifffile.imread(path) for path in paths]
        spacing = [1.0] * images[0].ndim
    else:
        nibabel = pytest.importorskip("nibabel")
        files = [nibabel.load(path) for path in paths]
        images = [np.asarray(one.dataobj) for one in files]
        spacing = [float(step) for step in files[0].header.get_zooms()]
    there = np.argwhere((images[0] > 0) | (images[1] > 0))
    box = tuple(map(slice, there.min(0), there.max(0) + 1))
    ref, pred = (image[box].astype(np.uint16) for image in images)
    return (ref, pred), spacing


def by(name: str, threshold: float, **options: Any) -> dict[str, Any]:
    """Return what a job says to match by."""
    return {"input": "UNMATCHED_INSTANCE", "matcher": [name, "IOU", threshold, options]}


def assert_parity(
    pair: tuple[Labels, Labels], spacing: list[float], jobs: list[Job], folder: Path
) -> None:
    """Assert that every number, row and printed line is panoptica's, and that objects match."""
    asked = [{"scene": 0, "spacing": spacing, **job} for job in jobs]
    for job, theirs, ours in compare([pair], asked, folder):
        assert_same(job, theirs, ours)
        tp = at_threshold(job["step"], "tp") if "step" in job else "tp"
        assert sum(group[tp] for group in theirs.values()) > 0, job


@pytest.mark.parametrize("kind", ["instance", "semantic"])
def test_spines(kind: str, tmp_path: Path) -> None:
    folder = "spine_mri_panoptica"
    pair, spacing = read(f"{folder}/ref_{kind}.nii.gz", f"{folder}/pred_{kind}.nii.gz")
    jobs: list[Job] = [
        {**DISTANCES, "input": "MATCHED_INSTANCE"},
        {**DISTANCES, **by("NaiveThresholdMatching", 0.3)},
        {**DISTANCES, **by("MaximizeMergeMatching", 0.3)},
    ]
    if kind == "semantic":
        naive = by("NaiveThresholdMatching", 0.5)
        jobs = [{**DISTANCES, **naive, "input": "SEMANTIC", "approximator": COMPONENTS}]
    assert_parity(pair, spacing, jobs, tmp_path)


GLIOMA = "brats_glioma_models"


@pytest.mark.parametrize(
    ("reference", "prediction"),
    [("ref_fusion_simple", "pred_isen"), ("case3_ref_staple", "case3_pred_unet")],
)
def test_gliomas_by_group(reference: str, prediction: str, tmp_path: Path) -> None:
    """Labels are classes: components of each, the core merged of two, and the whole as one."""
    pair, spacing = read(f"{GLIOMA}/{reference}.nii.gz", f"{GLIOMA}/{prediction}.nii.gz")
    semantic = {"input": "SEMANTIC", "approximator": COMPONENTS}
    groups = {"core": ["LabelMergeGroup", [[1, 4]]], "oedema": ["LabelGroup", [[2]]]}
    apart = {name: ["LabelGroup", [[label]]] for name, label in (("a", 1), ("b", 2), ("c", 4))}
    single = {**apart, "b": ["LabelGroup", [[2], True]]}
    jobs: list[Job] = [
        {**DISTANCES, **by("NaiveThresholdMatching", 0.1), **semantic, "groups": groups},
        {**OVERLAPS, **by("MaximizeMergeMatching", 0.1), **semantic, "groups": apart},
        {**OVERLAPS, **by("MaxBipartiteMatching", 0.1), **semantic, "groups": single},
    ]
    assert_parity(pair, spacing, jobs, tmp_path)


@pytest.mark.parametrize("patient", ["07", "19"])
def test_lesions(patient: str, tmp_path: Path) -> None:
    start = f"ms_lesions/patient{patient}"
    pair, spacing = read(f"{start}_ref.nii.gz", f"{start}_pred_cnn_cascade.nii.gz")
    jobs: list[Job] = [
        {**DISTANCES, **by("NaiveThresholdMatching", 0.1)},
        {**OVERLAPS, **by("NaiveThresholdMatching", 0.1, allow_many_to_one=True)},
        {**OVERLAPS, **by("MaxBipartiteMatching", 0.1), "decision": ["DSC", 0.4]},
        {**OVERLAPS, **by("MaximizeMergeMatching", 0.1), "step": 0.25},
    ]
    assert_parity(pair, spacing, jobs, tmp_path)


@pytest.mark.parametrize("image", ["img6", "img3"])
def test_nuclei(image: str, tmp_path: Path) -> None:
    start = f"nuclei2d_dsb2018/{image}"
    pair, spacing = read(f"{start}_ref.tif", f"{start}_pred_watershed.tif")
    jobs: list[Job] = [
        {**DISTANCES, **by("NaiveThresholdMatching", 0.5)},
        {**OVERLAPS, **by("MaximizeMergeMatching", 0.3)},
        {**OVERLAPS, **by("MaxBipartiteMatching", 0.3), "step": 0.25},
    ]
    assert_parity(pair, spacing, jobs, tmp_path)


def test_organs(tmp_path: Path) -> None:
    folder = "totalseg_organs_full_vs_fast"
    pair, spacing = read(f"{folder}/ref_full_model.nii.gz", f"{folder}/pred_fast_model.nii.gz")
    naive = by("NaiveThresholdMatching", 0.5)
    jobs: list[Job] = [
        {**DISTANCES, "input": "MATCHED_INSTANCE"},
        {**DISTANCES, **naive, "input": "SEMANTIC", "approximator": COMPONENTS},
    ]
    assert_parity(pair, spacing, jobs, tmp_path)


VERTEBRAE = "spine_ct_verse_tptbox/verse004"


def test_vertebrae_that_are_split(tmp_path: Path) -> None:
    pair, spacing = read(f"{VERTEBRAE}_ref_vertebrae.nii.gz", f"{VERTEBRAE}_pred_watershed.nii.gz")
    jobs: list[Job] = [
        {**DISTANCES, **by("NaiveThresholdMatching", 0.2)},
        {**DISTANCES, **by("MaximizeMergeMatching", 0.2)},
    ]
    assert_parity(pair, spacing, jobs, tmp_path)


def test_vertebrae_from_files_have_panoptica_s_numbers_up_to_its_single_precision(
    tmp_path: Path,
) -> None:
    """Steps of 2.000296 are 2.0002961158… in a header, which only quirks take literally.

    panoptica multiplies steps in single precision, so that volumes agree to 1e-6.
    """
    names = [f"{VERTEBRAE}_pred_watershed.nii.gz", f"{VERTEBRAE}_ref_vertebrae.nii.gz"]
    read(*names)
    job: Job = {
        **DISTANCES,
        **by("NaiveThresholdMatching", 0.2),
        "scene": 0,
        "paths": [str(DATA / name) for name in names],
    }
    [(_, theirs, quirky)] = compare([], [job], tmp_path, quirks=True)
    [plain] = judge(OURS, {}, [job])
    for name, value in theirs["ungrouped"].items():
        if name in ("rows", "text"):
            continue
        rel = 1e-6 if name == "instance_volume_ref" else 1e-9
        assert quirky["ungrouped"][name] == pytest.approx(value, rel=rel, abs=1e-9), name
        assert plain["ungrouped"][name] == pytest.approx(value, rel=1e-6), name
    assert theirs["ungrouped"]["tp"] > 3
