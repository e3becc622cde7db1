"""The one pass over voxels: from label images to the overlap graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, check_choice
from panmatch.labels import (
    Counted,
    Ints,
    LabelArray,
    Mask,
    Meaning,
    Panoptic,
    Regions,
    Void,
    Volume,
    as_images,
    as_volume,
    check_same_shape,
    connected_components,
    distinct_labels,
    find_regions,
    map_labels,
    refuse_beyond_int64,
    refuse_labels,
)
from panmatch.overlap._assembly import (
    ClassOverlaps,
    Rows,
    assemble,
    distinct_rows,
)
from panmatch.overlap._columns import sum_by
from panmatch.overlap._graph import Overlap
from panmatch.overlap._parts import BACKGROUNDS, Background, check_inside, mark_unknown, part_labels
from panmatch.overlap._plain_labels import assemble_labels


def count_overlaps(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    void: int | npt.ArrayLike | Void | None = None,
    *,
    threads: int | None = None,
) -> Overlap:
    """Count the voxels of every segment and of every overlapping pair (D1).

    Parameters
    ----------
    reference, prediction
        Label images of the same shape: any dimension, any mix of integer or bool dtypes, any
        memory order. 0 is background; ids may be as large as 2**63 − 1. If `reference` is a
        `numpy.ma.MaskedArray`, its mask marks void. Chunked arrays (Zarr, Dask, HDF5) are read box
        by box, never as a whole, and need not have the same chunks. Dask arrays are counted by
        Dask, where their chunks are.
    void
        Voxels of the reference about which nothing is known: a label of the reference, or a
        mask of the same shape (non-zero is void). They belong to no segment of the reference and
        are left out of the union of every pair. A prediction that lies more than half in void is
        never a false positive (D10).
    threads
        Number of threads; by default one per four million voxels, up to the number of CPUs. For
        chunked arrays it is also the number of boxes in memory at a time. The result does not
        depend on it.

    Returns
    -------
    Overlap
        Empty images, or images without labels, give an overlap without segments.

    Raises
    ------
    ShapeError, LabelError, OptionError
        Naming the argument, its value and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> import panmatch as pm
    >>> reference = np.array([[1, 1, 0], [1, 1, 7]])
    >>> prediction = np.array([[4, 4, 0], [4, 0, 9]])
    >>> pm.count_overlaps(reference, prediction).iou
    array([0.75, 1.  ])
    """
    unknown = Void.of(reference, prediction, void)
    if unknown.is_empty:
        labels, counts = _count_images(reference, prediction, unknown, threads)
        return assemble_labels(labels["reference"], labels["prediction"], counts)
    rows, _ = _count_labels(reference, prediction, unknown, threads)
    return assemble(rows).overlap()


def count_region_overlaps(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    spacing: npt.ArrayLike | None = None,
    *,
    rule: str = "voronoi",
    regions: Regions | None = None,
    void: int | npt.ArrayLike | Void | None = None,
    threads: int | None = None,
) -> Overlap:
    """Cut predictions by the regions of the references, and count overlaps of the pieces (D8).

    The Voronoi region of a reference is everything that is nearer to it than to any other
    reference. A piece can only be matched to the reference of its region, and only its own voxels
    count. A prediction is a false positive if none of its pieces is matched.

    Parameters
    ----------
    reference, prediction, void, threads
        As for `count_overlaps`. Regions of chunked images are exact, too: for every box we read as
        far beyond it as the nearest reference can be.
    spacing
        Distance between voxels along each axis; voxel units by default.
    rule
        The rule that defines the regions: ``"voronoi"``.
    regions
        Regions that are known already, instead of `spacing` and `rule`.

    Returns
    -------
    Overlap
        Every strategy and curve runs on it. Without any reference, predictions stay whole.

    Examples
    --------
    >>> import numpy as np
    >>> import panmatch as pm
    >>> reference = np.array([1, 1, 0, 0, 0, 0, 2, 2])
    >>> prediction = np.array([0, 7, 7, 7, 7, 7, 7, 0])
    >>> cut = pm.count_region_overlaps(reference, prediction)
    >>> cut
    Overlap(2 references, 1 prediction in 2 pieces, 2 edges)
    >>> cut.pred_sizes, cut.iou
    (array([3, 3]), array([0.25, 0.25]))
    """
    if regions is None:
        regions = find_regions(
            reference, prediction, spacing, rule=rule, void=void, threads=threads
        )
    rows, _ = _count_labels(reference, prediction, void, threads, regions)
    return assemble(rows).overlap()


def count_part_overlaps(
    reference: npt.ArrayLike | None,
    prediction: npt.ArrayLike | None,
    reference_parts: npt.ArrayLike,
    prediction_parts: npt.ArrayLike,
    void_part: int | None = None,
    *,
    parts: Sequence[int] | None = None,
    background: Background = "image",
    void: int | npt.ArrayLike | Void | None = None,
    regions: Regions | str | None = None,
    spacing: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Overlap:
    """Count overlaps of objects and of their parts in one pass (D9).

    Parts add a second quality to a matched reference, the mean IoU of its parts. They change
    nothing else: the matching looks only at whole objects.

    Parameters
    ----------
    reference, prediction
        Label images of the objects. With None, the connected components of the parts are the
        objects.
    reference_parts, prediction_parts
        Part labels, 0 for none. A part on a voxel without an object is an error. All four images
        may be stored in chunks, and their chunks may differ.
    void_part
        Label of voxels whose part is unknown. In the reference they are left out of every
        part's IoU; in the prediction they count as misses, not as false positives.
    parts
        Part labels of the class; by default all that occur in either image. Any other label is an
        error. If there are none, the overlap has no parts.
    background
        ``"image"``: everything outside all parts is one more label, as in the published
        definition. This makes the score depend on the field of view. ``"none"``: only parts count.
    void, threads
        As for `count_overlaps`.
    regions
        Cut predictions by the regions of the references, as `count_region_overlaps` does: the
        name of a rule, such as ``"voronoi"``, or regions that are known already.
    spacing
        Distance between voxels along each axis, for a rule; voxel units by default.

    Returns
    -------
    Overlap
        Every strategy and curve runs on it.

    Examples
    --------
    >>> import numpy as np
    >>> import panmatch as pm
    >>> reference, prediction = np.array([1, 1, 1, 1, 0, 0]), np.array([7, 7, 7, 7, 0, 0])
    >>> halves, shifted = np.array([1, 1, 2, 2, 0, 0]), np.array([1, 1, 1, 2, 0, 0])
    >>> pt = pm.count_part_overlaps(reference, prediction, halves, shifted, background="none")
    >>> pt.parts.quality(np.array([0]), pt.parts.per_edge(pt.edges.pred), pt.iou)  # ⅔ and ½
    array([0.58333333])
    """
    check_choice("background", background, BACKGROUNDS)
    ref = _parents(reference, reference_parts, void_part, "reference_parts")
    pred = _parents(prediction, prediction_parts, void_part, "prediction_parts")
    if isinstance(regions, str):
        regions = find_regions(ref, pred, spacing, rule=regions, void=void, threads=threads)
    elif spacing is not None:
        raise OptionError(
            "spacing is only used to cut predictions by regions: pass regions='voronoi' as well."
        )
    images = {"reference_parts": reference_parts, "prediction_parts": prediction_parts}
    rows, labels = _count_labels(ref, pred, void, threads, regions, **images)
    ref_part, pred_part = (
        mark_unknown(labels[name], rows.counts, void_part, name) for name in images
    )
    check_inside(ref_part, (rows.ref.classes >= 0) | rows.void, rows.counts, "reference")
    check_inside(pred_part, (rows.pred.classes >= 0) | rows.void, rows.counts, "prediction")
    built = assemble(
        replace(
            rows, ref=replace(rows.ref, parts=ref_part), pred=replace(rows.pred, parts=pred_part)
        )
    )
    known = part_labels(parts, ref_part[~rows.void], pred_part[~rows.void])
    if not len(known):
        return built.overlap()
    return replace(built.overlap(), parts=built.parts(0, known.tolist(), background, "_parts"))


def count_class_overlaps(
    reference: Panoptic,
    prediction: Panoptic,
    *,
    void: npt.ArrayLike | Void | None = None,
    background: Background = "image",
    threads: int | None = None,
) -> ClassOverlaps:
    """Count the overlaps of all classes together, in one pass (D1, D9, D10).

    Segments overlap only with segments of their own class. Void voxels of the reference are left
    out of every union. Crowd is not a segment; an unmatched prediction that lies mostly in crowd
    of its class is dismissed rather than counted as a false positive.

    Parameters
    ----------
    reference, prediction
        From `from_maps`, `from_labels`, `from_segments`, `from_cityscapes` or
        `from_panoptic_parts`, with the same classes.
    void
        Mask of further void voxels.
    background
        As for `count_part_overlaps`, for classes with parts.
    threads
        As for `count_overlaps`.

    Examples
    --------
    >>> import panmatch as pm
    >>> kinds = [pm.SegmentClass(24, "person"), pm.SegmentClass(7, "road", thing=False)]
    >>> reference = pm.from_cityscapes([[24000, 24000, 24001, 7]], kinds)
    >>> prediction = pm.from_cityscapes([[24005, 24005, 7, 7]], kinds)
    >>> overlaps = pm.count_class_overlaps(reference, prediction)
    >>> overlaps[24].iou, overlaps[7].iou
    (array([1.]), array([0.5]))
    """
    check_choice("background", background, BACKGROUNDS)
    return count_sides(reference, prediction, void=void, threads=threads).overlaps(background)


def count_sides(
    reference: Panoptic,
    prediction: Panoptic,
    *,
    void: npt.ArrayLike | Void | None = None,
    threads: int | None = None,
) -> SideCounts:
    """Count all combinations of labels of both sides; parameters as for `count_class_overlaps`."""
    if reference.classes != prediction.classes:
        raise OptionError("reference and prediction must have the same classes.")
    arrays = [*reference.arrays, *prediction.arrays]
    unknown = void if isinstance(void, Void) else Void(mask=void)
    masks = {name: as_volume(image, name) for name, image in unknown.images.items()}
    check_same_shape({"reference": arrays[0], "prediction": prediction.arrays[0], **masks})
    columns, counts = distinct_labels([*arrays, *masks.values()], threads=threads)
    in_mask = unknown.covers({"reference": columns[0], "void": columns[-1]})
    return SideCounts(reference, prediction, columns[: len(arrays)], counts, in_mask)


@dataclass(frozen=True, eq=False)
class SideCounts:
    """How many voxels carry each combination of labels of two sides, before it gets a meaning.

    Attributes
    ----------
    columns, counts
        Labels of both sides, one row per array; and the voxels of every combination.
    in_mask
        Which combinations lie in a mask of void voxels.
    """

    reference: Panoptic
    prediction: Panoptic
    columns: Ints
    counts: Ints
    in_mask: Mask

    @cached_property
    def sides(self) -> tuple[DecodedSide, DecodedSide]:
        """The combinations of labels of either side alone, and what they mean."""
        middle = len(self.reference.arrays)
        return (
            self._decoded(self.reference, self.columns[:middle]),
            self._decoded(self.prediction, self.columns[middle:]),
        )

    @property
    def known_voxels(self) -> int:
        """How many voxels are not void."""
        return int(self.counts[~self.rows.void].sum())

    def overlaps(self, background: Background = "image") -> ClassOverlaps:
        """Return the overlaps of all classes; `background` is that of `count_class_overlaps`."""
        return assemble(self.rows).class_overlaps(self.reference.classes, background)

    @cached_property
    def rows(self) -> Rows:
        """The combinations with their meaning on either side."""
        ref, pred = (side.meaning.take(side.of_row) for side in self.sides)
        return Rows(ref, pred, self.counts, ref.void | self.in_mask)

    def _decoded(self, side: Panoptic, columns: Ints) -> DecodedSide:
        """Find the meaning of each distinct combination once."""
        found, row = distinct_rows([*columns])
        counts, labels = sum_by(row, self.counts, len(found[0])), np.stack(found)
        return DecodedSide((labels, counts), side.decode(tuple(labels), counts), row)


class DecodedSide(NamedTuple):
    """The distinct combinations of labels of one side, and what each means."""

    distinct: Counted  # with their voxels
    meaning: Meaning
    of_row: Ints  # the combination of every row of both sides


def _count_labels(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    void: int | npt.ArrayLike | Void | None,
    threads: int | None,
    regions: Regions | None = None,
    **more: npt.ArrayLike,
) -> tuple[Rows, dict[str, Ints]]:
    """Count every combination of labels of plain images, which have one class.

    Return the rows, and the labels of every image in each row. `more` images are counted, too, by
    the name to use in messages.
    """
    unknown = Void.of(reference, prediction, void)
    cut = {} if regions is None else {"regions": regions.image}
    labels, counts = _count_images(reference, prediction, unknown, threads, **more, **cut)
    in_void, ref, pred = unknown.covers(labels), labels["reference"], labels["prediction"]
    sides = Meaning.of_labels(ref, in_void), Meaning.of_labels(pred)
    return Rows(*sides, counts, in_void, labels.get("regions")), labels


def _count_images(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    void: Void,
    threads: int | None,
    **more: npt.ArrayLike,
) -> tuple[dict[str, Ints], Ints]:
    """Return the labels of every image in all combinations that occur, sorted, and their voxels."""
    given = {"reference": reference, "prediction": prediction, **more, **void.images}
    images = as_images(given)
    check_same_shape(images)
    columns, counts = distinct_labels(list(images.values()), threads=threads)
    labels = dict(zip(images, columns, strict=True))
    known = slice(None) if void.is_empty else ~void.covers(labels)
    _check_labels(labels["reference"][known], counts[known], images["reference"], "reference")
    _check_labels(labels["prediction"], counts, images["prediction"], "prediction")
    return labels, counts


def _check_labels(labels: Ints, counts: Ints, array: Volume, name: str) -> None:
    if not len(labels) or labels.min() >= 0:
        return
    bad = labels < 0
    refuse_beyond_int64(labels, counts, bad, array.dtype, name)
    message = (
        "{name} holds the negative label{s} {listed}: labels are 0 (background) or positive ids. "
        "If they mark background, set them to 0: numpy.where({name} < 0, 0, {name})"
    )
    message += "; if they mark unknown voxels, pass void={void}." if name == "reference" else "."
    marks = np.unique(labels[bad])
    void = f"{marks[0]}" if len(marks) == 1 else "reference < 0"
    refuse_labels(labels, counts, bad, message, name=name, void=void)


def _parents(
    labels: npt.ArrayLike | None, parts: npt.ArrayLike, void_part: int | None, name: str
) -> npt.ArrayLike:
    if labels is not None:
        return labels
    known = as_volume(parts, name)
    if void_part is not None:
        known = map_labels(partial(_without, label=void_part), known)
    return connected_components(known, name=name)


def _without(labels: LabelArray, *, label: int) -> LabelArray:
    return np.where(labels == label, 0, labels)
