"""Natural images: classes, stuff, and segments that cover everything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

import panmatch as pm
from panmatch import phantoms
from panmatch.labels import connected_components
from studies.grid import MANY, ONE, full_spec
from studies.running import curves
from studies.study import Case, Dataset, Labels, Picture, Study, read

COLOURS = {
    "person": (0, 0, 255),
    "bear": (255, 0, 0),
    "tree": (0, 255, 0),
    "bird": (255, 0, 255),
    "sky": (0, 255, 255),
    "cat": (255, 255, 0),
}
STUFF = ("tree", "sky")
# Which grey value of a reference is of which class, as the authors' own tests say.
GREYS: dict[str, dict[int, str]] = {
    "bird_gt": {92: "sky", 176: "tree", 255: "bird"},
    "cat_gt": {255: "cat"},
    "team_gt_instance": {198: "bear"}
    | dict.fromkeys((47, 97, 133, 150, 174, 215, 244, 255), "person"),
}
SPAN = 1000  # labels per class
VOID = 999_999_999
DEEPLAB = (
    "Three images with references and the predictions of a real model (test data of deeplab2, "
    "Apache-2.0). Pixels without a class are void. The second method keeps the predicted classes "
    "and takes their connected components as objects."
)
COCO = (
    "Two images of COCO panoptic (sample of panopticapi; annotations CC BY 4.0), without their "
    "classes. Void and crowd are void. No prediction of a model was available. The first method "
    "is superpixels of the photographs (Felzenszwalb). The second is connected components of the "
    "classes of the *reference*: a perfect semantic segmentation that does not separate objects."
)


def real(data: Path) -> list[Dataset]:
    """Read three images with classes, and two without."""
    return [_deeplab(data / "natural_deeplab2"), _coco(data / "coco_panoptic_sample")]


def _deeplab(folder: Path) -> Dataset:
    places = {name: SPAN * (at + 1) for at, name in enumerate(COLOURS)}
    cases = []
    for name, greys in GREYS.items():
        reference = _reference(_grey(folder / f"{name}.png"), greys, places)
        image = name.split("_")[0]
        kinds = _classes(folder / f"{image}_pred_class.png", places)
        numbers = _grey(folder / f"{image}_pred_instance.png")
        alone = _components(kinds)
        cases += [
            Case(image, "deeplab", reference, np.where(kinds > 0, kinds + numbers, 0)),
            Case(image, "classes only", reference, np.where(kinds > 0, kinds + alone, 0)),
        ]
    kind = {
        name: {
            "labels": f"{first}-{first + SPAN - 1}",
            "kind": "stuff" if name in STUFF else "things",
        }
        for name, first in places.items()
    }
    spec = full_spec(classes=kind, void=[VOID])
    return Dataset("Things and stuff", DEEPLAB, spec, tuple(cases), ("person",))


def _grey(path: Path) -> Labels:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("L"), np.int64)


def _classes(path: Path, places: Mapping[str, int]) -> Labels:
    """Return the first label of the class of every pixel; 0 for none."""
    from PIL import Image

    with Image.open(path) as image:
        colours = np.asarray(image.convert("RGB"))
    found = np.zeros(colours.shape[:2], np.int64)
    for name, colour in COLOURS.items():
        found[(colours == colour).all(axis=-1)] = places[name]
    return found


def _reference(greys: Labels, classes: Mapping[int, str], places: Mapping[str, int]) -> Labels:
    found = np.full(greys.shape, VOID, np.int64)
    for grey, name in classes.items():
        found[greys == grey] = places[name] + grey
    return found


def _components(kinds: Labels) -> Labels:
    """Return numbers of connected components, from 1 on, each of one class."""
    found = np.zeros(kinds.shape, np.int64)
    for kind in np.unique(kinds[kinds > 0]):
        own = connected_components(kinds == kind)
        found[own > 0] = own[own > 0]
    return found


def _coco(folder: Path) -> Dataset:
    content = json.loads((folder / "panoptic_examples.json").read_text(encoding="utf-8"))
    cases = []
    for annotation in content["annotations"]:
        name = annotation["file_name"].removesuffix(".png")
        ids = read(folder / f"{name}_ref_panoptic.png", colour_ids=True).astype(np.int64)
        kinds = np.zeros_like(ids)
        for segment in annotation["segments_info"]:
            here = ids == segment["id"]
            kinds[here] = segment["category_id"]
            if segment["iscrowd"]:
                ids[here] = 0
        reference = np.where(ids > 0, ids, VOID)
        superpixels = read(folder / f"{name}_pred_felzenszwalb.tif")
        alone = kinds * SPAN + _components(kinds)
        cases += [
            Case(name, "superpixels", reference, superpixels),
            Case(name, "classes only", reference, np.where(kinds > 0, alone, 0)),
        ]
    spec = full_spec(classes={"segment": {"labels": "all"}}, void=[VOID])
    return Dataset("Segments without classes", COCO, spec, tuple(cases), ("segment",))


def made_up(small: bool) -> list[Dataset]:
    """Make scenes that segments fill."""
    shape, n = ((40, 40), 8) if small else ((160, 200), 25)
    cases = []
    for seed in range(2):
        reference = phantoms.tissue(shape, n, seed=seed)
        seen = {
            "superpixels": phantoms.split(reference, 4),
            "classes only": phantoms.merge_neighbours(reference, n // 3, seed=seed),
        }
        cases += [Case(f"phantom {seed + 1}", model, reference, p) for model, p in seen.items()]
    spec = full_spec(classes={"segment": {"labels": "all"}})
    about = "Synthetic segments without gaps. One model cuts each in four, the other joins some."
    return [Dataset("Segments (phantoms)", about, spec, tuple(cases), ("segment",))]


def draw(datasets: list[Dataset], results: list[pm.Result]) -> Iterator[Picture]:
    """Draw curves, and superpixels under two strategies."""
    for at, (one, found) in enumerate(zip(datasets, results, strict=True)):
        last = at == len(datasets) - 1
        yield curves("" if last else "classes-", one, found, one.in_full[0])
    dataset, result = datasets[-1], results[-1]
    case = dataset.cases[0]
    for name, way in (("scene-one", ONE), ("scene-many", MANY)):
        scene = result.plot.scene(**case.images, strategy=way, threshold=0.1)
        yield Picture(name, f"{case.name}, {case.model}, {way} at τ = 0.1", scene)


STUDY = Study(
    "natural",
    "Natural images: classes, stuff, and segments that fill the image",
    ("natural_deeplab2", "coco_panoptic_sample"),
    real,
    made_up,
    draw,
)
