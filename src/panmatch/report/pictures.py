"""A small picture of a case, for a page that has the legend: PNG, in the colours of `style`."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, check_choice
from panmatch.labels import LabelArray, as_labels, as_spacing, check_same_shape
from panmatch.report.sections import Section, check_axes, disagreement, find_section
from panmatch.report.style import OTHER, STATUSES

Indices = npt.NDArray[np.uint8]

# Kinds of objects: 0 is none, 1 one without a status.
REFERENCE_KINDS = {"matched": 2, "missed": 3}
PREDICTION_KINDS = {"matched": 2, "false positive": 3}
COLORS = ("#FFFFFF", OTHER.color, *(look.color for look in STATUSES.values()))
TINT = 0.35  # of filled references
BACKGROUND, PALE, STRONG = 0, 0, len(COLORS)  # where colours begin in the palette
STRIPE_PX, DASH_PX = (8, 3), 5
LINE_PX = 2
LEAST_PIXELS = 16


def case_picture(
    reference: npt.ArrayLike,
    prediction: npt.ArrayLike,
    status_of_reference: Mapping[int, str],
    status_of_prediction: Mapping[int, str],
    *,
    spacing: npt.ArrayLike | None = None,
    pixels: int = 480,
) -> bytes:
    r"""Draw references as pale areas and predictions as outlines, in the colours of their status.

    Of an image with more than two axes it is the slice with most disagreement (`find_section`).
    Missed references are striped, and outlines of false positives dashed.

    Parameters
    ----------
    reference, prediction
        Label images of one shape, with two axes or more; 0 is background.
    status_of_reference
        ``"matched"`` or ``"missed"`` by id. What has no status is grey.
    status_of_prediction
        ``"matched"`` or ``"false positive"`` by id.
    spacing
        Distance between voxels along each axis; it decides the proportions of the picture.
    pixels
        Length of the longer side.

    Returns
    -------
    bytes
        A PNG file.

    Examples
    --------
    >>> image = np.array([[0, 7, 7], [0, 7, 0]])
    >>> case_picture(image, image, {7: "matched"}, {7: "matched"})[:4]
    b'\x89PNG'
    """
    ref, pred = as_labels(reference, "reference"), as_labels(prediction, "prediction")
    check_same_shape({"reference": ref, "prediction": pred})
    check_axes(ref.ndim)
    _check_pixels(pixels)
    _check_statuses("status_of_reference", status_of_reference, REFERENCE_KINDS)
    _check_statuses("status_of_prediction", status_of_prediction, PREDICTION_KINDS)
    missed = [one for one, status in status_of_reference.items() if status != "matched"]
    false = [one for one, status in status_of_prediction.items() if status != "matched"]
    sizes = as_spacing(spacing, ref.ndim)
    wrong = disagreement(ref, pred, missed, false)
    section = find_section(ref, pred, wrong, sizes).cropped(ref, pred)
    shown = _enlarged(ref, section, pixels), _enlarged(pred, section, pixels)
    kinds = (
        _kinds(shown[0], status_of_reference, REFERENCE_KINDS),
        _kinds(shown[1], status_of_prediction, PREDICTION_KINDS),
    )
    return _png(_painted(shown[0], shown[1], kinds))


def _enlarged(image: LabelArray, section: Section, pixels: int) -> LabelArray:
    """Return the section with its true proportions, every pixel the label at its centre."""
    part = image[section.index]
    lengths = [n * step for n, step in zip(part.shape, section.spacing, strict=True)]
    scale = pixels / max(lengths)
    places = []
    for n, length in zip(part.shape, lengths, strict=True):
        size = max(1, round(length * scale))
        places.append(((np.arange(size) + 0.5) * n / size).astype(np.int64))
    return part[np.ix_(*places)]


def _kinds(labels: LabelArray, statuses: Mapping[int, str], kinds: dict[str, int]) -> Indices:
    ids, place = np.unique(labels, return_inverse=True)
    of_id = [0 if one == 0 else kinds.get(statuses.get(one, ""), 1) for one in ids.tolist()]
    return np.array(of_id, np.uint8)[place].reshape(labels.shape)


def _painted(ref: LabelArray, pred: LabelArray, kinds: tuple[Indices, Indices]) -> Indices:
    ref_kind, pred_kind = kinds
    rows, columns = np.ogrid[: ref.shape[0], : ref.shape[1]]
    period, stripe = STRIPE_PX
    striped = (ref_kind == REFERENCE_KINDS["missed"]) & ((rows + columns) % period < stripe)
    dashes = (rows // DASH_PX + columns // DASH_PX) % 2 > 0  # so that no direction has none
    # In the palette, status colours of references and predictions lie one after the other.
    painted = np.where(ref_kind, PALE + ref_kind, BACKGROUND)
    strong = striped | _outline(ref, ref_kind, 1)
    painted = np.where(strong, STRONG + ref_kind, painted)
    gaps = (pred_kind == PREDICTION_KINDS["false positive"]) & dashes
    drawn = _outline(pred, pred_kind, LINE_PX) & ~gaps
    false = pred_kind == PREDICTION_KINDS["false positive"]
    return np.where(drawn, STRONG + pred_kind + false, painted).astype(np.uint8)


def _outline(labels: LabelArray, kind: Indices, line_px: int) -> npt.NDArray[np.bool_]:
    """Return the outermost pixels of every object; the edge of the picture is none."""
    outer = np.zeros(labels.shape, np.bool_)
    for axis in (0, 1):
        along, edge = np.moveaxis(labels, axis, 0), np.moveaxis(outer, axis, 0)
        for step in range(1, line_px + 1):
            differs = along[step:] != along[:-step]
            edge[step:] |= differs
            edge[:-step] |= differs
    return outer & (kind > 0)


def _png(painted: Indices) -> bytes:
    from PIL import Image

    picture = Image.fromarray(painted)
    picture.putpalette(bytes(value for color in palette() for value in color))
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def palette() -> list[tuple[int, int, int]]:
    """Return the colours of a picture: pale ones of areas, then full ones of lines."""
    full = [tuple(bytes.fromhex(color[1:])) for color in COLORS]
    pale = [tuple(round(255 + TINT * (value - 255)) for value in color) for color in full]
    return [*pale, *full]  # type: ignore[list-item]


def _check_statuses(argument: str, statuses: Mapping[int, str], accepted: dict[str, int]) -> None:
    for status in set(statuses.values()):
        check_choice(argument, status, accepted)


def _check_pixels(pixels: int) -> None:
    if isinstance(pixels, bool) or not isinstance(pixels, int) or pixels < LEAST_PIXELS:
        raise OptionError(
            f"pixels={pixels!r} is no size of a picture: pass {LEAST_PIXELS} or more."
        )
