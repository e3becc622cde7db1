"""COCO panoptic: PNG images of segment ids, and a JSON file that says what the ids are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from panmatch.errors import FileError
from panmatch.formats._png import read_segment_ids
from panmatch.labels import Panoptic, SegmentClass, from_segments

ImageId = int | str


class Segment(TypedDict):
    """An entry of ``segments_info``."""

    id: int
    category_id: int
    iscrowd: NotRequired[int]


class Annotation(TypedDict):
    """What the file says about an image."""

    image_id: ImageId
    file_name: str
    segments_info: list[Segment]


@dataclass(frozen=True, slots=True)
class CocoPanoptic:
    """A COCO panoptic annotation file with the folder of its images.

    Images are read one at a time, when they are needed.

    Attributes
    ----------
    path, folder, annotations
        The JSON file, the folder of its PNG files, and its annotations by image id.
    classes
        The categories of the file as classes; empty if it lists none.
    """

    path: Path
    folder: Path
    classes: tuple[SegmentClass, ...]
    annotations: dict[ImageId, Annotation]

    @property
    def by_name(self) -> dict[str, ImageId]:
        """The image ids by their names."""
        return {str(image_id): image_id for image_id in self.annotations}

    def image(self, image_id: ImageId, classes: tuple[SegmentClass, ...]) -> Panoptic:
        """Read an image."""
        annotation = self.annotations[image_id]
        file = self.folder / str(annotation["file_name"])
        return from_segments(
            read_segment_ids(file), _segments(annotation, self.path), classes, name=str(file)
        )


def read_coco_panoptic(
    path: str | os.PathLike[str], folder: str | os.PathLike[str]
) -> CocoPanoptic:
    """Read the JSON file."""
    source = Path(path)
    try:
        content = json.loads(source.read_text(encoding="utf-8"))
        _check_kind(content, source)
        annotations = {annotation["image_id"]: annotation for annotation in content["annotations"]}
        classes = tuple(
            SegmentClass(int(entry["id"]), str(entry.get("name", "")), bool(entry["isthing"]))
            for entry in content.get("categories", ())
        )
    except FileError:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(
            f"path={str(source)!r} cannot be read as COCO panoptic annotations: {error!r}."
        ) from error
    if len(annotations) != len(content["annotations"]):
        raise FileError(f"path={str(source)!r} lists an image more than once.")
    return CocoPanoptic(source, Path(folder), classes, annotations)


def _check_kind(content: Any, path: Path) -> None:
    """Raise a `FileError` for COCO files that are not panoptic: instances, detections, captions."""
    listed = content["annotations"] if isinstance(content, dict) else content
    for annotation in listed:
        missing = [key for key in Annotation.__annotations__ if key not in annotation]
        if not missing:
            continue
        found = "an instance" if "segmentation" in annotation or "bbox" in annotation else "another"
        raise FileError(
            f"path={str(path)!r} is {found} COCO file, not a panoptic one: an annotation has "
            f"{', '.join(map(repr, annotation))}, but not {', '.join(map(repr, missing))}. Paint "
            f"the objects of every image into a PNG file of segment ids (panopticapi converts "
            f"instance files), or into label images, which need no JSON file."
        )
    if not isinstance(content, dict):
        raise FileError(f"path={str(path)!r} contains a list, not COCO panoptic annotations.")


def pair_images(
    reference: CocoPanoptic, prediction: CocoPanoptic
) -> Iterator[tuple[Panoptic, Panoptic]]:
    """Yield both sides of each image of the reference.

    Classes are the categories of the reference. It is an error if the prediction lacks an image.
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


def _segments(annotation: Annotation, path: Path) -> dict[int, tuple[int, bool]]:
    """Return class and crowd flag by segment id."""
    segments: dict[int, tuple[int, bool]] = {}
    for entry in annotation["segments_info"]:
        number = int(entry["id"])
        if number in segments:
            raise FileError(
                f"{str(path)!r} lists segment {number} of image {annotation['image_id']!r} "
                f"more than once."
            )
        segments[number] = int(entry["category_id"]), bool(entry.get("iscrowd", 0))
    return segments
