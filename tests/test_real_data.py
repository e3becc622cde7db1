"""Real segmentations, where they are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

import panmatch as pm
from panmatch import related

DATA = Path(__file__).parents[2] / "shared" / "data"
SPINE = DATA / "spine_mri_panoptica"
COCO = DATA / "coco_panoptic_sample"


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
    found = pm.tally_classes(pm.count_class_overlaps(reference, prediction))
    assert (found[24].tp, found[24].fp, found[24].fn) == (7, 0, 0)
    assert found[24].quality == pytest.approx(5.587807425476197, abs=1e-9)
    assert found[7].quality == pytest.approx(0.9859559190569442, abs=1e-9)


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
