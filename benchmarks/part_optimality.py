"""`make study`: how much PartPQ the parents of maximum PQ leave, and how long the proof takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import panmatch as pm
from benchmarks.machine import describe_machine, keep_between
from benchmarks.optimality import PAGE, THRESHOLDS
from benchmarks.real_pairs import DATA, read
from panmatch import phantoms
from panmatch.overlap import Background

MARKS = (
    "<!-- From here to the next mark everything is written by `make study`. -->",
    "<!-- Up to here. -->",
)
SCENES = 50
BACKGROUNDS: tuple[Background, ...] = ("image", "none")
STRATEGIES: dict[str, pm.Strategy] = {
    "one-to-one": pm.OneToOne(objective="parts"),
    "many-to-one, seed": pm.ManyToOne(solver="optimal", objective="parts"),
    "many-to-one, edge": pm.ManyToOne(solver="optimal", gate="edge", objective="parts"),
    "one-to-many": pm.OneToMany(solver="optimal", objective="parts"),
}
HEAD = (
    "| scenes | strategy | cases | falls short: image | mean loss | largest loss "
    "| falls short: none | mean loss | largest loss | proven | largest certified gap | median ms "
    "| slowest ms |\n" + "|---" * 13 + "|"
)

Labels = npt.NDArray[np.integer[Any]]
Images = tuple[Labels, Labels, Labels, Labels]  # reference, prediction, and the parts of both


def other_cells(seed: int) -> Images:
    """Cells with nuclei against the cells of another slide."""
    one, other = (phantoms.cells((160, 160), 40, seed=number) for number in (seed, seed + 1000))
    assert one.parts is not None
    assert other.parts is not None
    return one.labels, other.labels, one.parts, other.parts


def noisy_cells(seed: int) -> Images:
    """The same cells drawn by somebody who merges, cuts, misses and shifts; nuclei stay."""
    slide = phantoms.cells((160, 160), 40, seed=seed)
    assert slide.parts is not None
    drawn = phantoms.merge_neighbours(slide.labels, 8, seed=seed)
    drawn = phantoms.split(drawn, 3, ids=np.unique(drawn)[1 :: 3 + seed % 2].tolist())
    drawn = phantoms.shift(phantoms.miss(drawn, 4, seed=seed), (3, -2))
    return slide.labels, drawn, slide.parts, _parts_within(drawn, slide.parts)


def split_metastases(seed: int) -> Images:
    """Metastases with layers, predicted too large, shifted and in two to four pieces."""
    brain = phantoms.brain_metastases((160, 160), 15, radius_mm=(3, 9), seed=seed)
    drawn = phantoms.shift(phantoms.dilate(brain.objects, 2), (1, 2))
    drawn = phantoms.split(drawn, 2 + seed % 3)
    parts = phantoms.shift(brain.content, (1, 1))
    return brain.objects, drawn, brain.content, _parts_within(drawn, parts)


def split_livers(seed: int) -> Images:
    """A liver with healthy tissue and lesions as parts, predicted in pieces; lesions are lost."""
    anatomy = phantoms.liver_lesions((112, 128), 8, radius_mm=(2, 8), seed=seed)
    liver = (anatomy.labels > 0).astype(np.int32)
    drawn = phantoms.split(phantoms.shift(phantoms.erode(liver, 1), (2, 1)), 2 + seed % 4)
    lesions = phantoms.miss(phantoms.dilate(anatomy.objects, 1), 3, seed=seed)
    return liver, drawn, anatomy.labels, _parts_within(drawn, np.where(lesions > 0, 2, 1))


def merged_vertebrae(seed: int) -> Images:
    """A spine predicted by a simulated model that merges vertebrae, or one that splits them."""
    column = phantoms.spine((160, 96), 6, seed=seed)
    model = phantoms.SIMULATED_MODELS["merges" if seed % 2 else "splits"]
    seen = model.predict(column)
    assert column.parts is not None
    assert seen.parts is not None
    return column.labels, seen.labels, column.parts, seen.parts


def _parts_within(objects: Labels, parts: Labels) -> Labels:
    """Return parts on objects only; where there is none, the first one."""
    return np.where(objects > 0, np.where(parts > 0, parts, 1), 0)


FAMILIES: dict[str, Callable[[int], Images]] = {
    "cells of two slides": other_cells,
    "noisy annotations of cells": noisy_cells,
    "split metastases": split_metastases,
    "livers in pieces, with lesions": split_livers,
    "vertebrae, split or merged": merged_vertebrae,
}


@dataclass(frozen=True)
class Found:
    """What the parents of maximum PQ leave in one scene, for one strategy and threshold."""

    loss: float  # of PartPQ, relative to the maximum
    proven: bool
    certified_gap: float
    ms: float


def measure(overlap: pm.Overlap, strategy: pm.Strategy, threshold: float) -> Found:
    start = time.perf_counter()
    best = pm.match(overlap, strategy, threshold)
    elapsed = 1e3 * (time.perf_counter() - start)
    parents = pm.match(overlap, strategy.without_parts(), threshold)
    assert best.part_tally is not None
    assert parents.part_tally is not None
    assert best.certificate is not None
    most = best.part_tally.pq
    loss = 1 - parents.part_tally.pq / most if most > 0 else 0.0
    return Found(loss, best.certificate.proven, best.certificate.gap, elapsed)


def rows_of(name: str, scenes: list[Images]) -> Iterator[str]:
    counted = {
        background: [pm.count_part_overlaps(*images, background=background) for images in scenes]
        for background in BACKGROUNDS
    }
    for label, strategy in STRATEGIES.items():
        found = {
            background: [measure(one, strategy, tau) for one in overlaps for tau in THRESHOLDS]
            for background, overlaps in counted.items()
        }
        yield summarise(name, label, found)


def summarise(name: str, strategy: str, found: dict[Background, list[Found]]) -> str:
    cells = [name, strategy, str(len(found["image"]))]
    for background in BACKGROUNDS:
        losses = np.array([one.loss for one in found[background]])
        cells += [f"{(losses > 1e-9).mean():.1%}", f"{losses.mean():.2%}", f"{losses.max():.1%}"]
    every = [one for background in BACKGROUNDS for one in found[background]]
    cells += [
        f"{np.mean([one.proven for one in every]):.1%}",
        f"{max(one.certified_gap for one in every):.1e}",
        f"{np.median([one.ms for one in every]):.1f}",
        f"{max(one.ms for one in every):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def real_scenes() -> dict[str, list[Images]]:
    """Return objects and parts by data set, as far as they are there."""
    cells, spine, glioma = (
        DATA / name
        for name in ("wbc_cell_nucleus_parts", "spine_mri_panoptica", "brats_glioma_models")
    )
    tumours = [("ref_fusion_simple", one) for one in ("hnfnetv1", "isen", "sanet0", "scan")]
    tumours += [("ref_fusion_simple", "yixinmpl"), ("case2_ref_BraTS23_1", "case2_isen")]
    tumours += [("case3_ref_staple", f"case3_{one}") for one in ("unet", "resunet")]
    return {
        "white blood cells": [
            (
                *(read(cells / f"{side}_instance.tif") for side in ("ref", "pred")),
                *(read(cells / f"{side}_parts.tif") for side in ("ref", "pred")),
            )  # type: ignore[list-item]
        ],
        "vertebrae MRI": [_vertebrae(spine)],
        "gliomas": [
            _tumours(read(glioma / f"{reference}.nii.gz"), read(glioma / _prediction(model)))
            for reference, model in tumours
        ],
    }


def _prediction(model: str) -> str:
    case, _, name = model.rpartition("_")
    return f"{case}_pred_{name}.nii.gz" if case else f"pred_{name}.nii.gz"


def _tumours(reference: Labels, prediction: Labels) -> Images:
    """Return the connected components of whole tumours, with their tissues as parts."""
    sides = reference, prediction
    objects = [pm.labels.connected_components(side > 0) for side in sides]
    return objects[0], objects[1], reference, prediction


def _vertebrae(folder: Any) -> Images:
    """Return vertebrae, without discs and endplates, with their sub-regions."""
    found = []
    for kind in ("instance", "semantic"):
        found.append([read(folder / f"{side}_{kind}.nii.gz") for side in ("ref", "pred")])
    objects = [np.where((one > 0) & (one < 100), one, 0) for one in found[0]]
    parts = [
        np.where((here > 0) & (one >= 41) & (one <= 50), one, 0)
        for here, one in zip(objects, found[1], strict=True)
    ]
    return objects[0], objects[1], parts[0], parts[1]


def large_tissue(background: Background) -> pm.Overlap:
    """Two 3-D tissues of touching cells, whose parts are a rim and a core."""
    reference, prediction = (
        phantoms.tissue((80, 80, 80), count, seed=seed) for count, seed in ((500, 3), (700, 4))
    )
    ref_parts, pred_parts = (
        np.where(one > 0, 1 + (phantoms.erode(one, 2) > 0), 0) for one in (reference, prediction)
    )
    return pm.count_part_overlaps(
        reference, prediction, ref_parts, pred_parts, background=background
    )


def large_rows() -> Iterator[str]:
    for background in BACKGROUNDS:
        overlap = large_tissue(background)
        for label in ("many-to-one, seed", "many-to-one, edge"):
            for threshold in THRESHOLDS[:2]:
                found = measure(overlap, STRATEGIES[label], threshold)
                yield (
                    f"| {label} | {background} | {threshold:g} | {found.loss:.1%} "
                    f"| {found.certified_gap:.1e} | {found.ms / 1e3:.1f} |"
                )


def all_rows() -> Iterator[str]:
    for family, make in FAMILIES.items():
        yield from rows_of(family, [make(seed) for seed in range(SCENES)])
    if DATA.exists():
        for name, scenes in real_scenes().items():
            yield from rows_of(f"{name} (real)", scenes)


def shown(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        print(line, file=sys.stderr)
        yield line


def main() -> None:
    """Measure everything, say what is going on, and write the section."""
    lines = [
        f"Measured on {describe_machine()}. {SCENES} seeded scenes per family at τ = "
        f"{', '.join(f'{t:g}' for t in THRESHOLDS)}. A case falls short if the matching of maximum "
        f"PQ has a lower PartPQ than the maximum, with `background` as in the column; losses are "
        f"relative to that maximum.",
        "",
        HEAD,
    ]
    lines += list(shown(all_rows()))
    lines += [
        "",
        "Two 3-D tissues of 500 and 700 touching cells with rim and core, in the default budget:",
        "",
        "| strategy | background | τ | loss | certified gap | s |",
        "|---|---|---|---|---|---|",
        *shown(large_rows()),
    ]
    keep_between(PAGE, MARKS, "\n".join(lines))


if __name__ == "__main__":
    main()
