"""Evaluating one case in Python: arrays, images of other libraries, tensors and paths."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from panmatch.datasets._confidence_like import (
    ConfidenceLike,
    expect_confidence,
    read_confidence_like,
)
from panmatch.errors import OptionError, named_only
from panmatch.evaluation import CaseResult, Images, Result, evaluate_case, warn_of
from panmatch.formats import (
    ImageLike,
    StoredImage,
    as_stored_image,
    convert_spacing,
    grid_difference,
    turned_like,
)
from panmatch.labels import Panoptic, Unit, as_spacing, check_same_shape, library_of
from panmatch.spec import Spec, SpecLike, as_spec

Given: TypeAlias = ImageLike | Panoptic

LARGEST_DIFFERENCE = 1e-3  # between a spacing that is passed and one that is read, relative

REMEDY = (
    "Resample or reorient one of them. An image made from an array can take over the grid of the "
    "other, with CopyInformation (SimpleITK) or its affine (nibabel). To compare voxel by voxel as "
    "stored, pass arrays."
)


@named_only
def evaluate(
    *,
    reference: Given,
    prediction: Given,
    spec: SpecLike = "instances",
    reference_parts: ImageLike | None = None,
    prediction_parts: ImageLike | None = None,
    void: ImageLike | None = None,
    spacing: npt.ArrayLike | None = None,
    unit: Unit | None = None,
    confidence: ConfidenceLike | None = None,
    case: str = "case",
    threads: int | None = None,
) -> Result:
    """Evaluate one case.

    Parameters
    ----------
    reference, prediction
        Label images of the same shape, or `Panoptic` images on both sides. Each is an array, a
        path, a nibabel or SimpleITK image, an xarray ``DataArray``, a torch tensor or a CuPy array.
        Large chunked arrays (Zarr, Dask, HDF5) are read box by box, and data on another device is
        copied to the host. ``docs/reference/file-formats.md`` says how each is read.
    spec
        A `Spec`, the name of a preset, a YAML file, or a mapping of keys.
    spacing
        Distance between voxels along each axis. By default it comes from the images, or else
        distances are in voxels. A spacing that contradicts an image is an error.
    unit
        Unit of the spacing, and so of distances and volumes: ``"mm"`` (the default) or ``"µm"``.
        If an image states its unit, that is used.
    reference_parts, prediction_parts
        Part images, for classes with parts that are not labels of the images themselves.
    void
        Mask of voxels about which nothing is known, in addition to those that the spec calls void.
    confidence
        How sure the model is of each prediction (D17): a mapping from predicted id to number, a CSV
        file as for `read_confidences`, or an image of probabilities, which the spec's
        ``confidence.reduce`` reduces. Entries then have a surface, and `Result.detections` average
        precision, FROC and the best cut.
    case
        Name of the case in tables.
    threads
        Number of threads; by default as many as pay off. The result does not depend on it.

    Returns
    -------
    Result
        With the pandas tables `scores`, `instances` and `curves`, and a readable `summary()`.

    Warns
    -----
    PanmatchWarning
        If the spec asks for ``same-id`` and ids look shifted or unrelated: see `Result.notices`.

    Examples
    --------
    >>> import numpy as np
    >>> import panmatch as pm
    >>> reference, prediction = np.array([1, 1, 1, 0, 2, 2]), np.array([4, 4, 0, 0, 5, 0])
    >>> result = pm.evaluate(reference=reference, prediction=prediction, spec={"thresholds": 0.4})
    >>> result.scores[["strategy", "tp", "fp", "fn", "pq"]].round(3)
          strategy  tp  fp  fn     pq
    0   one-to-one   2   0   0  0.583
    1  many-to-one   2   0   0  0.583
    2  one-to-many   2   0   0  0.583
    """
    evaluator = Evaluator(expect_confidence(as_spec(spec), confidence))
    evaluator.update(
        reference=reference,
        prediction=prediction,
        reference_parts=reference_parts,
        prediction_parts=prediction_parts,
        void=void,
        spacing=spacing,
        unit=unit,
        confidence=confidence,
        case=case,
        threads=threads,
    )
    return evaluator.compute()


class Evaluator:
    """Collects cases. Evaluators with the same spec can be merged, in any order.

    Parameters
    ----------
    spec
        As for `evaluate`.

    Examples
    --------
    >>> import panmatch as pm
    >>> first, second = pm.Evaluator("cells"), pm.Evaluator("cells")
    >>> first.update(reference=[[1, 1, 0]], prediction=[[1, 1, 0]], case="a")
    >>> second.update(reference=[[0, 2, 2]], prediction=[[3, 0, 0]], case="b")
    >>> first.merge(second)
    >>> first.compute()
    Result(2 cases)
    """

    def __init__(self, spec: SpecLike = "instances") -> None:
        self.spec = as_spec(spec)
        self._cases: list[CaseResult] = []

    @named_only
    def update(
        self,
        *,
        reference: Given,
        prediction: Given,
        case: str | None = None,
        model: str = "",
        reference_parts: ImageLike | None = None,
        prediction_parts: ImageLike | None = None,
        void: ImageLike | None = None,
        spacing: npt.ArrayLike | None = None,
        unit: Unit | None = None,
        confidence: ConfidenceLike | None = None,
        threads: int | None = None,
    ) -> None:
        """Evaluate one more case; parameters are those of `evaluate`.

        A case without a name is called by its number, starting at 0000. The spec must have the key
        ``confidence`` if cases have confidences.
        """
        images = {
            "reference": reference,
            "prediction": prediction,
            "reference_parts": reference_parts,
            "prediction_parts": prediction_parts,
            "void": void,
        }
        read = read_images(images, self.spec, spacing, unit)
        known = read_confidence_like(confidence, self.spec, case)
        self._cases.append(
            evaluate_case(
                Images(read.images["reference"], read.images["reference_parts"]),
                Images(read.images["prediction"], read.images["prediction_parts"]),
                self.spec,
                case=f"{len(self._cases):04}" if case is None else case,
                model=model,
                void=read.images["void"],
                spacing=read.spacing,
                unit=read.unit,
                threads=threads,
                confidence=known,
            )
        )

    def merge(self, other: Evaluator) -> None:
        """Take over the cases of another evaluator."""
        if not isinstance(other, Evaluator) or other.spec != self.spec:
            raise OptionError("other must be an Evaluator with the same spec.")
        self._cases.extend(other._cases)

    def compute(self) -> Result:
        """Return the result of all cases so far; this warns as `evaluate` does."""
        result = Result(self.spec, tuple(self._cases))
        warn_of(result.notices)
        return result


@dataclass(frozen=True, slots=True, eq=False)
class ReadImages:
    """The images of a case as arrays, and the distance between their voxels."""

    images: Mapping[str, Any]
    spacing: npt.ArrayLike | None
    unit: Unit | None


def read_images(
    given: Mapping[str, Any], spec: Spec, spacing: npt.ArrayLike | None, unit: Unit | None
) -> ReadImages:
    """Read whatever is not an array, and put all images on one grid."""
    placed: dict[str, StoredImage] = {}
    for name, image in given.items():
        if spec.encoding == "coco-instances":
            raise OptionError(
                "encoding 'coco-instances' reads files of many images: use `panmatch evaluate`; "
                "for one image, pass masks to Overlap.from_masks."
            )
        if spec.encoding == "coco" and isinstance(image, str | os.PathLike):
            raise OptionError(
                f"{name}={os.fspath(image)!r}: related.coco_pq(…) and `panmatch evaluate` score "
                f"all images of COCO files; for one image, pass from_segments(…) on both sides."
            )
        colour_ids = spec.colour_ids and name in ("reference", "prediction")
        stored = as_stored_image(image, name, colour_ids=colour_ids)
        if stored is not None:
            placed[name] = stored
    _check_dims({name: image for name, image in given.items() if library_of(image) == "xarray"})
    placed = _on_one_grid(placed)
    images = {**given, **{name: image.labels for name, image in placed.items()}}
    return ReadImages(images, *_spacing(placed, spec, spacing, unit))


def _check_dims(arrays: Mapping[str, Any]) -> None:
    """Raise an `OptionError` unless all arrays of xarray have the same dimensions."""
    first, *others = [(name, array.dims) for name, array in arrays.items()] or [("", ())]
    for name, dims in others:
        if dims != first[1]:
            raise OptionError(
                f"{name} has the dimensions {dims}, but {first[0]} has {first[1]}: put them in the "
                f"same order with {name}.transpose(*{first[0]}.dims)."
            )


def _on_one_grid(images: Mapping[str, StoredImage]) -> dict[str, StoredImage]:
    """Return the images with the axes of the first that knows its position; others must fit."""
    if not images:
        return {}
    leads = max(images, key=lambda name: _knowledge(images[name]))
    lead, placed = images[leads], dict[str, StoredImage]()
    for name, image in images.items():
        turned = image if name == leads else turned_like(image, lead)
        check_same_shape({leads: lead.labels, name: turned.labels})
        if problem := grid_difference(lead, turned, (leads, name)):
            raise OptionError(f"{name} and {leads} {problem}\n{REMEDY}")
        placed[name] = turned
    return placed


def _knowledge(image: StoredImage) -> tuple[bool, bool]:
    return image.affine is not None, image.spacing is not None


def _spacing(
    images: Mapping[str, StoredImage],
    spec: Spec,
    spacing: npt.ArrayLike | None,
    unit: Unit | None,
) -> tuple[npt.ArrayLike | None, Unit | None]:
    """Return the spacing that the images state, in the unit of the spec, or the one passed."""
    stating = next((name for name in images if images[name].spacing is not None), None)
    if stating is None:
        return spacing, unit
    image, own = images[stating], images[stating].unit
    assert image.spacing is not None
    if unit is not None and own not in ("voxel", unit):
        raise OptionError(
            f"unit={unit!r} contradicts {stating}, whose spacing is {image.spacing} {own}: drop "
            f"unit or, to get all distances in {unit}, write `unit: {unit}` in the spec."
        )
    known = unit or own
    if spacing is not None:
        if own == "voxel":
            known = unit or spec.unit or "mm"
        _check_agrees(spacing, unit or spec.unit or own, stating, image)
    wanted = spec.unit or known
    return convert_spacing(image.spacing, known, wanted), wanted


def _check_agrees(spacing: npt.ArrayLike, unit: Unit, stating: str, image: StoredImage) -> None:
    """Raise an `OptionError` if the spacing that was passed is not that of an image."""
    assert image.spacing is not None
    given = as_spacing(spacing, image.labels.ndim)
    if image.unit != "voxel":
        given = np.array(convert_spacing(given.tolist(), unit, image.unit))
    if not np.allclose(given, image.spacing, rtol=LARGEST_DIFFERENCE, atol=0.0):
        raise OptionError(
            f"spacing={spacing!r} contradicts {stating}, whose spacing is {image.spacing} "
            f"{image.unit}: drop spacing to use that of the image; if it is wrong, pass arrays."
        )
