"""One case: from two images and a spec to a result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.evaluation._case_result import CaseResult, Entry, Level
from panmatch.evaluation._class_case import CaseKeywords, ClassCase, class_cases, shape_of
from panmatch.evaluation._diagnosis import count_near_threshold, diagnose
from panmatch.evaluation._result import Result
from panmatch.evaluation._setting import Kind, Setting
from panmatch.evaluation._sides import Image, Images
from panmatch.labels import Unit, as_spacing
from panmatch.matching import QUALITIES, Matching, Quality
from panmatch.scoring import Curve, Measurer, curves
from panmatch.spec import Spec, SpecLike, as_spec


def evaluate(
    *,
    reference: Image,
    prediction: Image,
    spec: SpecLike = "instances",
    reference_parts: npt.ArrayLike | None = None,
    prediction_parts: npt.ArrayLike | None = None,
    case: str = "case",
    **options: Unpack[CaseKeywords],
) -> Result:
    """Evaluate one case.

    Parameters
    ----------
    reference, prediction
        Label images of one shape, or `Panoptic` images, on both sides. Arrays that are stored in
        chunks (Zarr, Dask, HDF5) are read box by box if they are large.
    spec
        A `Spec`, the name of a preset, a YAML file, or a mapping of keys.
    spacing
        Distance between voxels along each axis; voxel units by default.
    unit
        Of the spacing, and so of distances and volumes: ``"mm"`` (the default) or ``"µm"``.
    reference_parts, prediction_parts
        Part images, for classes with parts that are not labels of the images themselves.
    void
        Mask of voxels about which nothing is known, besides those that the spec calls void.
    case
        What to call the case in tables.
    threads
        Number of threads; by default as many as pay. The result does not depend on it.

    Returns
    -------
    Result
        With pandas tables `scores`, `instances` and `curves`, and `summary()` for people.

    Examples
    --------
    >>> reference, prediction = np.array([1, 1, 1, 0, 2, 2]), np.array([4, 4, 0, 0, 5, 0])
    >>> result = evaluate(reference=reference, prediction=prediction, spec={"thresholds": 0.4})
    >>> result.scores[["strategy", "tp", "fp", "fn", "pq"]].round(3)
          strategy  tp  fp  fn     pq
    0   one-to-one   2   0   0  0.583
    1  many-to-one   2   0   0  0.583
    2  one-to-many   2   0   0  0.583
    """
    chosen = as_spec(spec)
    sides = Images(reference, reference_parts), Images(prediction, prediction_parts)
    return Result(chosen, (evaluate_case(*sides, chosen, case=case, **options),))


def evaluate_case(
    reference: Images,
    prediction: Images,
    spec: Spec,
    *,
    case: str = "case",
    model: str = "",
    **options: Unpack[CaseKeywords],
) -> CaseResult:
    """Evaluate one case of a model; parameters are those of `evaluate`."""
    spacing, shape = options.get("spacing"), shape_of(reference.labels)
    options["unit"] = unit = _unit_of(spec, spacing, options.get("unit"))
    return CaseResult(
        case=case,
        model=model,
        shape=shape,
        spacing=None if spacing is None else tuple(as_spacing(spacing, len(shape)).tolist()),
        unit=unit,
        entries=tuple(
            entry
            for class_case in class_cases(reference, prediction, spec, **options)
            for entry in _evaluate_class(class_case, spec)
        ),
    )


def _unit_of(spec: Spec, spacing: npt.ArrayLike | None, unit: Unit | None) -> Unit:
    if spacing is None:
        return unit or "voxel"
    if unit is not None and spec.unit is not None and unit != spec.unit:
        raise OptionError(
            f"unit={unit!r} is not that of the spec, {spec.unit!r}: convert the spacing, or drop "
            f"`unit` from the spec."
        )
    return unit or spec.unit or "mm"


def _evaluate_class(case: ClassCase, spec: Spec) -> Iterator[Entry]:
    mistakes = diagnose(case.overlap)
    kind: Kind = "things" if case.kind.thing else "stuff"
    for matcher in spec.matching:
        overlap = case.overlap_for(matcher)
        qualities: tuple[Quality, ...] = ("iou",) if overlap.parts is None else QUALITIES
        swept: list[Curve] = []
        if spec.curve:
            swept = curves(overlap, matcher.strategy, score=matcher.score, qualities=qualities)
        yield Entry(
            setting=Setting(case.name, kind, matcher),
            diagnosis=mistakes,
            levels=tuple(
                _level(case.measurer_for(matcher), matcher.match(overlap, threshold))
                for threshold in spec.thresholds
            ),
            curve=swept[0] if swept else None,
            part_curve=swept[1] if len(swept) > 1 else None,
        )


def _level(measurer: Measurer, matching: Matching) -> Level:
    measured = measurer.measure(matching)
    spurious = np.zeros(len(measured) - len(matching.overlap.ref_ids))
    by_parts = matching.ref_part_quality
    return Level(
        threshold=matching.threshold,
        tally=matching.tally,
        part_tally=matching.part_tally,
        measurements=measured,
        quality=np.concatenate([matching.ref_quality, spurious]),
        part_quality=None if by_parts is None else np.concatenate([by_parts, spurious]),
        near_threshold=count_near_threshold(matching),
        gap=None if matching.certificate is None else matching.certificate.gap,
    )


class Evaluator:
    """Collects cases; several evaluators of one spec merge, in any order.

    Parameters
    ----------
    spec
        As for `evaluate`.

    Examples
    --------
    >>> first, second = Evaluator("cells"), Evaluator("cells")
    >>> first.update(reference=[[1, 1, 0]], prediction=[[1, 1, 0]], case="a")
    >>> second.update(reference=[[0, 2, 2]], prediction=[[3, 0, 0]], case="b")
    >>> first.merge(second)
    >>> first.compute()
    Result(2 cases)
    """

    def __init__(self, spec: SpecLike = "instances") -> None:
        self.spec = as_spec(spec)
        self._cases: list[CaseResult] = []

    def update(
        self,
        *,
        reference: Image,
        prediction: Image,
        case: str | None = None,
        model: str = "",
        reference_parts: npt.ArrayLike | None = None,
        prediction_parts: npt.ArrayLike | None = None,
        **options: Unpack[CaseKeywords],
    ) -> None:
        """Evaluate one more case; parameters are those of `evaluate`.

        Without a name, a case is called by its number, from 0000 on.
        """
        name = f"{len(self._cases):04}" if case is None else case
        sides = Images(reference, reference_parts), Images(prediction, prediction_parts)
        self._cases.append(evaluate_case(*sides, self.spec, case=name, model=model, **options))

    def merge(self, other: Evaluator) -> None:
        """Take over the cases of another evaluator."""
        if not isinstance(other, Evaluator) or other.spec != self.spec:
            raise OptionError("other must be an Evaluator with the same spec.")
        self._cases.extend(other._cases)

    def compute(self) -> Result:
        """Return the result of all cases so far."""
        return Result(self.spec, tuple(self._cases))
