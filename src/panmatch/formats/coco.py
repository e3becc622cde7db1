"""COCO panoptic: PNG images of segment ids, and a JSON file that says what the ids are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError
from panmatch.labels import Panoptic, SegmentClass, from_segments


@dataclass(frozen=True, slots=True)
class CocoPanoptic:
    """A COCO panoptic annotation file with the folder of its images.

    Attributes
    ----------
    path, folder
        The JSON file, and where its PNG files are.
    classes
        Of the file's categories; empty where it lists none.
    annotations
        By image id.
    """

    path: Path
    folder: Path
    classes: tuple[SegmentClass, ...]
    annotations: dict[Any, dict[str, Any]]

    @property
    def by_name(self) -> dict[str, Any]:
        """The image ids by their text."""
        return {str(image_id): image_id for image_id in self.annotations}

    def image(self, image_id: Any, classes: tuple[SegmentClass, ...]) -> Panoptic:
        """Read one image."""
        annotation = self.annotations[image_id]
        file = self.folder / str(annotation["file_name"])
        return from_segments(
            read_segment_ids(file), _table(annotation, self.path), classes, name=str(file)
        )


def read_coco_panoptic(
    path: str | os.PathLike[str], folder: str | os.PathLike[str]
) -> CocoPanoptic:
    """Read the JSON file; images are read one by one, when they are asked for."""
    source = Path(path)
    try:
        content = json.loads(source.read_text(encoding="utf-8"))
        annotations = {one["image_id"]: one for one in content["annotations"]}
        classes = tuple(
            SegmentClass(int(one["id"]), str(one.get("name", "")), bool(one["isthing"]))
            for one in content.get("categories", ())
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"path={str(source)!r} cannot be read as COCO panoptic annotations: {error!r}."
        ) from error
    if len(annotations) != len(content["annotations"]):
        raise FileError(f"path={str(source)!r} lists an image more than once.")
    return CocoPanoptic(source, Path(folder), classes, annotations)


def read_segment_ids(path: str | os.PathLike[str]) -> npt.NDArray[np.int32]:
    """Read a PNG whose colours are segment ids: R + 256 G + 256² B."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            colours = np.asarray(image.convert("RGB"), np.int32)
    except (OSError, ValueError, SyntaxError) as error:
        raise FileError(f"path={str(path)!r} cannot be read as an image: {error}.") from error
    red, green, blue = np.moveaxis(colours, -1, 0)
    ids: npt.NDArray[np.int32] = red + 256 * green + 65536 * blue
    return ids


def pair_images(
    reference: CocoPanoptic, prediction: CocoPanoptic
) -> Iterator[tuple[Panoptic, Panoptic]]:
    """Yield the two sides of every image of the reference.

    Classes are the categories of the reference. An image that the prediction lacks is an error.
    """
    for image_id in reference.annotations:
        if image_id not in prediction.annotations:
            raise FileError(
                f"{str(prediction.path)!r} has no annotation for image {image_id!r} of "
                f"{str(reference.path)!r}."
            )
        yield (
            reference.image(image_id, reference.classes),
            prediction.image(image_id, reference.classes),
        )


def _table(annotation: dict[str, Any], path: Path) -> dict[int, tuple[int, bool]]:
    table: dict[int, tuple[int, bool]] = {}
    for one in annotation["segments_info"]:
        number = int(one["id"])
        if number in table:
            raise FileError(
                f"{str(path)!r} lists segment {number} of image {annotation['image_id']!r} "
                f"more than once."
            )
        table[number] = int(one["category_id"]), bool(one.get("iscrowd", 0))
    return table
