"""COCO instances: a JSON file of masks with classes, and one of detections with scores."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from panmatch.errors import FileError, LabelError
from panmatch.formats._instance_scan import (
    AREA,
    BOX,
    SCORE,
    SEGMENTATION,
    Content,
    InstanceScan,
    scan_instances,
)
from panmatch.labels import (
    Floats,
    Ints,
    Masks,
    MaskTable,
    WrittenMasks,
    read_boxes,
    read_segmentations,
)
from panmatch.overlap import Overlap, overlap_of

NAMED = 5  # ids in a message
LONGEST_SIDE = 1 << 30  # of an image
UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError,
              OverflowError)  # fmt: skip

Sizes = dict[int, tuple[int, int]]
Written = Callable[[InstanceScan, Ints], WrittenMasks | None]


@dataclass(frozen=True, slots=True, eq=False)
class CocoInstances:
    """Instances of a dataset.

    Attributes
    ----------
    path
        The JSON file.
    sizes
        Height and width of every image, by id.
    categories
        Names of the classes, by id.
    table
        The instances, in the order of the file.
    """

    path: Path
    sizes: Sizes
    categories: dict[int, str]
    table: MaskTable


def read_coco_instances(
    path: str | os.PathLike[str], like: CocoInstances | None = None, *, decode: bool = True
) -> CocoInstances:
    """Read a file of references, or of predictions for them.

    Parameters
    ----------
    path
        A JSON file with ``images``, ``categories`` and ``annotations``, or a list of detections,
        each with ``image_id``, ``category_id``, ``score`` and ``segmentation`` or ``bbox``.
    like
        The references, if these are predictions: they must have scores, and images and classes of
        the references.
    decode
        Whether to turn all masks into runs now. If not, that happens when they are first needed: a
        damaged mask is an error only then, and the file must stay as it is until then.
        `panmatch.related.coco_precision` needs less time and memory that way, since it keeps no
        more masks than those of one image and class.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import panmatch as pm
    >>> square = {"image_id": 7, "category_id": 3, "segmentation": [[0, 0, 2, 0, 2, 2, 0, 2]]}
    >>> images, classes = [{"id": 7, "height": 4, "width": 4}], [{"id": 3, "name": "cell"}]
    >>> content = {"images": images, "categories": classes, "annotations": [square]}
    >>> file = Path(tempfile.mkdtemp()) / "cells.json"
    >>> _ = file.write_text(json.dumps(content))
    >>> cells = pm.read_coco_instances(file)
    >>> cells.categories, cells.sizes
    ({3: 'cell'}, {7: (4, 4)})
    """
    source = Path(path)
    try:
        check = _change_of(source)
        data = _content(source)
        quick = _read_quickly(data, like, source, decode=decode, check=check)
        return quick or _read_carefully(data, like, source)
    except (FileError, LabelError):
        raise
    except UNREADABLE as error:
        raise FileError(
            f"path={str(source)!r} cannot be read as COCO instances: {error!r}."
        ) from error


def _content(source: Path) -> Content:
    """Return the bytes of a file; where possible the system fetches them as they are looked at."""
    with source.open("rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # a pipe, or an empty file
            return file.read()


def _change_of(source: Path) -> Callable[[], None]:
    """Return a check that the file is as it is now; one that took its name does not matter."""
    before = source.stat()

    def check() -> None:
        try:
            now = source.stat()
        except OSError:
            return  # only its name is gone
        changed = (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns)
        if changed and now.st_ino == before.st_ino:
            raise FileError(
                f"path={str(source)!r} was changed after it was read, before its masks were "
                f"needed: read it again, or pass decode=True."
            )

    return check


def _read_carefully(data: Content, like: CocoInstances | None, source: Path) -> CocoInstances:
    """Return the instances of any file, or an error that says what is wrong with it."""
    content = json.loads(data[:].decode("utf-8"))
    rows = content if isinstance(content, list) else content["annotations"]
    sizes, categories = _listed(content, like, source)
    table = _table(rows, sizes, categories, source, scored=like is not None)
    return CocoInstances(source, sizes, categories, table)


def _read_quickly(
    data: Content,
    like: CocoInstances | None,
    source: Path,
    *,
    decode: bool = True,
    check: Callable[[], None] = lambda: None,
) -> CocoInstances | None:
    """Return the instances of a file that has nothing unusual, else None; never an error."""
    scored = like is not None

    def written(found: InstanceScan, shapes: Ints) -> WrittenMasks | None:
        return found.written(shapes, lambda: _read_carefully(data, like, source).table.masks, check)

    try:
        found = scan_instances(data)
        if found is None:
            return None
        sizes, categories = _listed(found.content, like, source)
        shapes = _shapes(found.image, sizes)
        if shapes is None or not _is_complete(found, categories, scored=scored):
            return None
        table = _scanned_table(found, shapes, written, scored=scored, decode=decode)
    except (FileError, LabelError, *UNREADABLE):
        return None
    return None if table is None else CocoInstances(source, sizes, categories, table)


def _listed(content: Any, like: CocoInstances | None, source: Path) -> tuple[Sizes, dict[int, str]]:
    """Return the sizes of the images, and the names of the classes."""
    if like is not None:
        return like.sizes, like.categories
    sizes = {int(one["id"]): (int(one["height"]), int(one["width"])) for one in content["images"]}
    for image, size in sizes.items():
        if not 0 <= min(size) <= max(size) <= LONGEST_SIDE:
            raise FileError(
                f"image {image} of {str(source)!r} has height and width {list(size)}: both must be "
                f"between 0 and {LONGEST_SIDE}."
            )
    names = {int(one["id"]): str(one.get("name", one["id"])) for one in content["categories"]}
    return sizes, names


def _is_complete(found: InstanceScan, categories: Mapping[int, str], *, scored: bool) -> bool:
    """Return whether all detections have scores, or all references known classes."""
    if scored:
        return bool(found.has(SCORE).all())
    return bool(np.isin(found.category, _ids(categories)).all())


def _scanned_table(
    found: InstanceScan, shapes: Ints, written: Written, *, scored: bool, decode: bool
) -> MaskTable | None:
    """Return the table of scanned instances; None if one of their masks is unusual."""
    boxes = found.boxes if found.has(BOX).all() else None
    area = _given_area(found, boxes, scored=scored)
    drawn = found.has(SEGMENTATION)
    masks: Masks | WrittenMasks | None
    if boxes is not None and len(drawn) and not drawn.any():
        masks = read_boxes(boxes, shapes, "")
        area = np.where(found.has(AREA), found.area, _box_area(boxes)) if area is None else area
    else:
        masks = written(found, shapes)
    if isinstance(masks, WrittenMasks) and (decode or area is None):
        masks = masks.decode()
    if masks is None:
        return None
    if area is None and isinstance(masks, Masks):
        area = masks.sizes.astype(np.float64)
        area = area if scored else np.where(found.has(AREA), found.area, area)
    assert area is not None
    score = found.score if scored else None
    return MaskTable(found.image, found.category, masks, shapes, area, found.crowd, score, boxes)


def _given_area(found: InstanceScan, boxes: Floats | None, *, scored: bool) -> Floats | None:
    """Return areas that need no mask: those that the file states, or those of its boxes."""
    if scored:
        return None if boxes is None else _box_area(boxes)
    return found.area if found.has(AREA).all() else None


def _area(masks: Masks, boxes: Floats | None) -> Floats:
    """Return areas as in the COCO programs, which ask for the box of a detection first."""
    return masks.sizes.astype(np.float64) if boxes is None else _box_area(boxes)


def _box_area(boxes: Floats) -> Floats:
    area: Floats = boxes[:, 2] * boxes[:, 3]
    return area


def _ids(known: Mapping[int, object]) -> Ints:
    return np.array(sorted(known), np.int64)


def _shapes(image: Ints, sizes: Sizes) -> Ints | None:
    """Return the size of every instance's image; None if one is not listed."""
    known = _ids(sizes)
    place = np.searchsorted(known, image)
    if not len(known) or not np.array_equal(known[np.minimum(place, len(known) - 1)], image):
        return None if len(image) else np.zeros((0, 2), np.int64)
    return np.array([sizes[one] for one in known.tolist()], np.int64)[place]


def coco_overlaps(
    reference: CocoInstances, prediction: CocoInstances
) -> dict[tuple[int, int], Overlap]:
    """Return the overlap of every image and class with an instance, with confidences (D10, D16).

    Returns
    -------
    dict
        By image id and category id, rising. Ids of segments count from 1 within the image and
        class, in the order of the file.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import panmatch as pm
    >>> square = {"image_id": 7, "category_id": 3, "segmentation": [[0, 0, 2, 0, 2, 2, 0, 2]]}
    >>> images, classes = [{"id": 7, "height": 4, "width": 4}], [{"id": 3, "name": "cell"}]
    >>> content = {"images": images, "categories": classes, "annotations": [square]}
    >>> file = Path(tempfile.mkdtemp()) / "cells.json"
    >>> _ = file.write_text(json.dumps(content))
    >>> cells = pm.read_coco_instances(file)
    >>> _ = file.write_text(json.dumps([{**square, "score": 0.8}]))
    >>> found = pm.read_coco_instances(file, like=cells)
    >>> {key: one.iou.tolist() for key, one in pm.coco_overlaps(cells, found).items()}
    {(7, 3): [1.0]}
    """
    refs, preds = reference.table, prediction.table
    rows = [rows_by_group(table) for table in (refs, preds)]
    none = np.zeros(0, np.int64)
    found = {}
    for key in sorted({*rows[0], *rows[1]}):
        ref_rows, pred_rows = rows[0].get(key, none), rows[1].get(key, none)
        found[key] = overlap_of(
            refs.masks_of(ref_rows),
            preds.masks_of(pred_rows),
            crowd=refs.crowd[ref_rows],
            confidence=None if preds.score is None else preds.score[pred_rows],
        )
    return found


def rows_by_group(table: MaskTable) -> dict[tuple[int, int], Ints]:
    """Return the rows of every image and category, in the order of the file."""
    order = np.lexsort((table.category, table.image))
    keys = np.stack([table.image[order], table.category[order]], axis=1)
    begins = np.flatnonzero(np.diff(keys, axis=0, prepend=-1).any(axis=1)) if len(keys) else order
    return {
        (int(keys[at][0]), int(keys[at][1])): np.sort(rows)
        for at, rows in zip(begins, np.split(order, begins[1:]), strict=True)
    } if len(keys) else {}  # fmt: skip


def _table(
    rows: Sequence[Mapping[str, Any]],
    sizes: Sizes,
    categories: Mapping[int, str],
    source: Path,
    *,
    scored: bool,
) -> MaskTable:
    image = np.array([row["image_id"] for row in rows], np.int64)
    category = np.array([row["category_id"] for row in rows], np.int64)
    _check_known(image, sizes, "image_id", source)
    if not scored:  # detections of other classes are left out, as in the COCO programs
        _check_known(category, categories, "category_id", source)
    shapes = np.array([sizes[one] for one in image.tolist()], np.int64).reshape(-1, 2)
    boxes = _boxes(rows, source)
    if boxes is not None and rows and not any("segmentation" in row for row in rows):
        masks, area = read_boxes(boxes, shapes, source.name), _box_area(boxes)
    else:
        names = [f"instance {i} of {source.name}" for i in range(len(rows))]
        masks = read_segmentations([row.get("segmentation") for row in rows], shapes, names)
        area = _area(masks, boxes if scored else None)
    if not scored:
        area = np.array([float(row.get("area", of)) for row, of in zip(rows, area, strict=True)])
    return MaskTable(
        image,
        category,
        masks,
        shapes,
        area,
        np.array([bool(row.get("iscrowd", 0)) for row in rows], np.bool_),
        _scores(rows, source) if scored else None,
        boxes,
    )


def _scores(rows: Sequence[Mapping[str, Any]], source: Path) -> Floats:
    for i, row in enumerate(rows):
        if "score" not in row:
            raise FileError(f"detection {i} of {str(source)!r} has no 'score': add its confidence.")
    scores = np.array([row["score"] for row in rows], np.float64)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise FileError(
            f"detection {bad[0]} of {str(source)!r} has the score {scores[bad[0]]}; it must be a "
            f"finite number."
        )
    return scores


def _boxes(rows: Sequence[Mapping[str, Any]], source: Path) -> Floats | None:
    if not all("bbox" in row for row in rows):
        return None
    boxes = np.array([row["bbox"] for row in rows], np.float64).reshape(-1, 4)
    if not np.isfinite(boxes).all():
        raise FileError(f"a 'bbox' of {str(source)!r} is not four finite numbers.")
    return boxes


def _check_known(ids: Ints, known: Mapping[int, object], name: str, source: Path) -> None:
    unknown = [one for one in np.unique(ids).tolist() if one not in known]
    if unknown:
        listed = ", ".join(map(str, unknown[:NAMED])) + (" …" if len(unknown) > NAMED else "")
        raise FileError(
            f"path={str(source)!r} has instances of {name} {listed}, which the file of references "
            f"does not list: check that both files belong to one dataset."
        )
