"""Void voxels, about which the reference knows nothing: decided here, for every stage (D10)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels._arrays import LabelArray, Mask, check_same_shape, is_chunked, is_on_device
from panmatch.labels._combinations import as_images
from panmatch.labels._volumes import Volume, as_volume, map_labels


@dataclass(frozen=True, slots=True, eq=False)
class Void:
    """Void voxels of a reference: those with certain labels, and those in a mask.

    Counting asks which combinations of labels lie in void (`images`, `covers`). Everything that
    looks at voxels asks for images without void (`clear`). `Void.of` reads what users pass.

    Attributes
    ----------
    labels
        Labels of the reference that mean unknown.
    mask
        Not 0 where nothing is known; None without a mask.

    Examples
    --------
    >>> void = Void.of([1, 255, 2], [4, 4, 4], 255)
    >>> void.clear([1, 255, 2], [4, 4, 4])
    (array([1, 0, 2]), array([4, 0, 4]))
    """

    labels: tuple[int, ...] = ()
    mask: npt.ArrayLike | None = None

    @classmethod
    def of(
        cls, reference: object, prediction: object, void: int | npt.ArrayLike | Void | None
    ) -> Void:
        """Return the void that the arguments of a comparison describe.

        Parameters
        ----------
        reference
            Label image or `Panoptic`. The mask of a masked array marks void.
        prediction
            The same. A masked array is an error: only references have void.
        void
            A label of the reference, a mask of its shape, a `Void`, or None.
        """
        if _mask_of(prediction) is not None:
            raise OptionError(
                "prediction is a masked array, but only the reference can have void voxels (D10): "
                "pass prediction.filled(0), or its mask as void."
            )
        if isinstance(void, Void):
            return void
        own = _mask_of(reference)
        if own is not None:
            if void is not None:
                raise OptionError(
                    "void is given twice: reference is a masked array, whose mask marks void, and "
                    f"you also passed void={_brief(void)}. Put both into one mask, and pass "
                    f"reference.data."
                )
            return cls(mask=own)
        if void is None or is_chunked(void) or np.ndim(void) > 0:
            return cls(mask=void)
        if isinstance(void, bool | np.bool_) or not isinstance(void, int | np.integer | np.ndarray):
            raise OptionError(
                f"void={void!r} is neither a label of the reference (an integer) nor a mask of its "
                f"shape."
            )
        return cls(labels=(int(void),))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is void."""
        return self.mask is None and not self.labels

    @property
    def images(self) -> dict[str, npt.ArrayLike]:
        """What must be counted along with the labels, by name."""
        return {} if self.mask is None else {"void": self.mask}

    def covers(self, columns: Mapping[str, npt.NDArray[np.int64]]) -> Mask:
        """Return which combinations of labels lie in void.

        Parameters
        ----------
        columns
            Labels of every combination by the name of the image: ``"reference"``, and
            ``"void"`` if there is a mask.
        """
        covered = _any_of(columns["reference"], labels=self.labels)
        return covered if self.mask is None else covered | (columns["void"] != 0)

    def clear(self, reference: npt.ArrayLike, prediction: npt.ArrayLike) -> tuple[Volume, Volume]:
        """Return both label images with void set to background; without void, as they are."""
        given = {"reference": reference, "prediction": prediction}
        images = as_images(given | self.images if is_on_device(reference) else given)
        ref, pred = images["reference"], images["prediction"]
        check_same_shape(images)
        if is_on_device(ref):
            from panmatch.labels._device import clear_on_device

            return clear_on_device(ref, pred, images.get("void"), self.labels)
        masks = [] if self.mask is None else [as_volume(self.mask, "void")]
        if self.labels:
            masks.append(map_labels(partial(_any_of, labels=self.labels), ref))
        if not masks:
            return ref, pred
        check_same_shape({"reference": ref, "void": masks[0]})
        unknown = masks[0] if len(masks) == 1 else map_labels(_either, *masks)
        return map_labels(_known, unknown, ref), map_labels(_known, unknown, pred)

    def with_mask(self, mask: Volume | None) -> Void:
        """Return the void with the voxels of one more mask; None adds nothing."""
        if mask is None:
            return self
        if self.mask is None:
            return Void(self.labels, mask)
        return Void(self.labels, map_labels(_either, mask, as_volume(self.mask, "void")))

    def __bool__(self) -> bool:
        return self.mask is not None or bool(self.labels)


def _any_of(image: LabelArray, *, labels: tuple[int, ...]) -> Mask:
    """Return where an image has one of the labels."""
    marked = np.zeros(image.shape, np.bool_)
    for label in labels:
        marked |= image == label
    return marked


def _known(unknown: LabelArray, labels: LabelArray) -> LabelArray:
    return np.where(unknown != 0, 0, labels)


def _either(first: LabelArray, second: LabelArray) -> Mask:
    either: Mask = (first != 0) | (second != 0)
    return either


def is_masked(image: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Return whether an image is a masked array; `numpy.ma` is not imported to find out.

    Examples
    --------
    >>> is_masked(np.ma.masked_equal([1, 255], 255)), is_masked(np.array([1, 255]))
    (True, False)
    """
    known = sys.modules.get("numpy.ma")
    return known is not None and isinstance(image, known.MaskedArray)


def _mask_of(image: object) -> Mask | None:
    """Return the mask of a masked array that has one."""
    if not is_masked(image) or image.mask is np.ma.nomask:
        return None
    mask: Mask = np.ma.getmaskarray(image)
    return mask


def _brief(void: npt.ArrayLike) -> str:
    return repr(void) if np.ndim(void) == 0 else f"a mask of shape {np.shape(void)}"
