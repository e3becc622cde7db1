"""Masks of many images in one table: what files of instances hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch import native
from panmatch.errors import LabelError
from panmatch.labels._arrays import Floats, Ints, Mask, thread_count
from panmatch.labels._masks import FARTHEST, Masks, corners_of, is_polygons, is_rle

BYTES_PER_THREAD = 1 << 20

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class WrittenMasks:
    """Masks as the text of a file writes them.

    Attributes
    ----------
    text
        The bytes of the file.
    begin, end, written
        Where each segmentation is in the text, and how it is written, as in ``instances.hpp``.
    sizes
        Height and width of the image of each.
    carefully
        Returns the masks if anything about one of them is unusual, or raises an error that says
        what is wrong.
    check
        Raises an error if the file was changed meanwhile.
    """

    text: Bytes
    begin: Ints
    end: Ints
    written: Bytes
    sizes: Ints
    carefully: Callable[[], Masks]
    check: Callable[[], None]

    def decode(self) -> Masks | None:
        """Return the masks; None if one is unusual, damaged, or does not fit its image."""
        threads = thread_count(None, len(self.text), voxels_per_thread=BYTES_PER_THREAD)
        runs = native.instance_runs(*self.columns, threads)
        return Masks((0, 0), *runs, order="F") if len(runs[0]) == len(self.begin) + 1 else None

    @property
    def columns(self) -> tuple[Bytes, Ints, Ints, Bytes, Ints]:
        """All that native code needs to read them."""
        self.check()
        return self.text, self.begin, self.end, self.written, self.sizes.ravel()


@dataclass(frozen=True, eq=False)
class MaskTable:
    """Instances of many images, one row each, in the order of their file.

    Attributes
    ----------
    image, category
        Ids, int64.
    source
        All masks, or where they are written.
    sizes
        Height and width of the image of every row.
    area
        Of every instance as COCO has it: what the file says of a reference, the box of a detection,
        or else the pixels.
    crowd
        Which stand for a group of objects (D10).
    score
        Confidence; None for references.
    boxes
        x, y, width and height; None if the file has none.
    """

    image: Ints
    category: Ints
    source: Masks | WrittenMasks
    sizes: Ints
    area: Floats
    crowd: Mask
    score: Floats | None = None
    boxes: Floats | None = None

    @cached_property
    def masks(self) -> Masks:
        """All masks, of the shape of their image; pixels are numbered down the columns."""
        if isinstance(self.source, Masks):
            return self.source
        return self.source.decode() or self.source.carefully()

    @property
    def written(self) -> WrittenMasks | None:
        """Where the masks are written, if nobody has asked for them yet."""
        if isinstance(self.source, Masks) or "masks" in vars(self):
            return None
        return self.source

    def __len__(self) -> int:
        return len(self.image)

    def masks_of(self, rows: Ints) -> Masks:
        """Return the masks of some rows of one image."""
        found = self.masks.take(rows)
        shape = tuple(self.sizes[rows[0]].tolist()) if len(rows) else (0, 0)
        return Masks(shape, found.first, found.start, found.stop, "F")


def read_segmentations(segmentations: Sequence[Any], sizes: Ints, names: Sequence[str]) -> Masks:
    """Return the masks of run-length encodings and polygons of many images, all at once.

    Parameters
    ----------
    sizes
        Height and width of the image of each, shape (n, 2).
    names
        What to call each in an error.
    """
    kinds = np.array([_kind(one) for one in segmentations])
    for i in np.flatnonzero(kinds == "").tolist():
        raise LabelError(
            f"{names[i]} has the segmentation {str(segmentations[i])[:60]!r}; it must be a "
            f"run-length encoding or a list of polygons."
        )
    parts, rows = [], []
    for kind, reader in (("text", _texts), ("lengths", _lengths), ("polygons", _polygons)):
        chosen = np.flatnonzero(kinds == kind)
        if len(chosen):
            rows.append(chosen)
            listed = chosen.tolist()
            given, called = [segmentations[i] for i in listed], [names[i] for i in listed]
            parts.append(reader(given, sizes[chosen], called))
    return _joined(parts, rows)


def read_boxes(boxes: Floats, sizes: Ints, file: str) -> Masks:
    """Return the pixels of boxes, each drawn as a polygon.

    Parameters
    ----------
    boxes
        x, y, width and height of each, shape (n, 4).
    sizes
        Height and width of the image of each, shape (n, 2).
    file
        What to call their file in an error.
    """
    x, y, width, height = boxes.T
    corners = np.stack([x, y, x, y + height, x + width, y + height, x + width, y], axis=1)
    for i in np.flatnonzero(~(np.abs(corners) <= FARTHEST).all(axis=1)).tolist():
        raise LabelError(
            f"instance {i} of {file} has the box {boxes[i].tolist()}, with a corner that is not a "
            f"position in an image."
        )
    first = np.arange(len(boxes) + 1)
    sides = (np.ascontiguousarray(side) for side in sizes.T)
    return Masks((0, 0), *native.polygon_runs(corners.ravel(), 8 * first, first, *sides), order="F")


def _kind(segmentation: Any) -> str:
    """Return how a segmentation is written; '' if it is not one."""
    if is_rle(segmentation):
        return "text" if isinstance(segmentation["counts"], str | bytes) else "lengths"
    return "polygons" if is_polygons(segmentation) else ""


def _texts(given: Sequence[Any], sizes: Ints, names: Sequence[str]) -> Masks:
    texts = [one["counts"] for one in given]
    encoded = [text.encode() if isinstance(text, str) else text for text in texts]
    joined = np.frombuffer(b"".join(encoded), np.uint8)
    return _checked(native.text_runs(joined, _firsts(encoded)), given, sizes, names)


def _lengths(given: Sequence[Any], sizes: Ints, names: Sequence[str]) -> Masks:
    lengths = [np.asarray(one["counts"]) for one in given]
    for one, name in zip(lengths, names, strict=True):
        if one.ndim != 1 or (one.size and one.dtype.kind not in "iu"):
            raise LabelError(f"{name}: 'counts' must be a text or a list of whole numbers.")
    joined = np.concatenate([one.astype(np.int64) for one in lengths])
    return _checked(native.length_runs(joined, _firsts(lengths)), given, sizes, names)


def _polygons(given: Sequence[Any], sizes: Ints, names: Sequence[str]) -> Masks:
    corners = [
        corners_of(one, name) for mask, name in zip(given, names, strict=True) for one in mask
    ]
    sides = (np.ascontiguousarray(side) for side in sizes.T)
    runs = native.polygon_runs(np.concatenate(corners), _firsts(corners), _firsts(given), *sides)
    return Masks((0, 0), *runs, order="F")


def _checked(
    found: tuple[Ints, Ints, Ints, Ints], given: Sequence[Any], sizes: Ints, names: Sequence[str]
) -> Masks:
    """Return the masks if every encoding covers exactly its image."""
    first, start, stop, totals = found
    stated = np.array([[int(side) for side in one["size"]] for one in given]).reshape(-1, 2)
    for i in np.flatnonzero((stated != sizes).any(axis=1)).tolist():
        raise LabelError(
            f"{names[i]} has size {stated[i].tolist()}, but its image {sizes[i].tolist()}."
        )
    for i in np.flatnonzero(totals != sizes.prod(axis=1)).tolist():
        covers = "is damaged" if totals[i] < 0 else f"covers {totals[i]} pixels"
        raise LabelError(
            f"the run-length encoding of {names[i]} {covers}, but its image has "
            f"{sizes[i].prod()} pixels: write it again."
        )
    return Masks((0, 0), first, start, stop, "F")


def _joined(parts: Sequence[Masks], rows: Sequence[Ints]) -> Masks:
    """Return the masks of all parts in the order of their rows."""
    if len(parts) == 1:
        return parts[0]
    none = np.zeros(0, np.int64)
    counts = np.concatenate([none, *(np.diff(part.first) for part in parts)])
    first = np.concatenate([[0], np.cumsum(counts)])
    start = np.concatenate([none, *(part.start for part in parts)])
    stop = np.concatenate([none, *(part.stop for part in parts)])
    together = Masks((0, 0), first, start, stop, "F")
    return together.take(np.argsort(np.concatenate(rows))) if parts else together


def _firsts(listed: Sequence[Any]) -> Ints:
    """Return where each of several sequences begins if they are joined."""
    return np.concatenate([[0], np.cumsum([len(one) for one in listed], dtype=np.int64)])
