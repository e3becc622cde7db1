"""Confidences of the predictions of a case, class by class (D17)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from panmatch.errors import LabelError, OverlapError, ShapeError
from panmatch.evaluation._sides import Image
from panmatch.labels import Panoptic, as_labels, confidences_from_image
from panmatch.matching import Matcher, Matching
from panmatch.overlap import Ints, Overlap, needed_confidence
from panmatch.scoring import Calibration, Surface, calibration, surface
from panmatch.spec import ConfidenceSpec

if TYPE_CHECKING:
    from panmatch.evaluation._class_case import ClassCase

MOST_IDS = 5  # to name in a message
ARGUMENT = "confidence"


@dataclass(frozen=True, slots=True, eq=False)
class Confidences:
    """How sure a model is of the predictions of a case.

    Attributes
    ----------
    values
        Confidence by predicted id, or an image of probabilities.
    source
        What to call them in an error: an argument or a file.
    """

    values: Mapping[int, float] | npt.NDArray[np.floating]
    source: str = ARGUMENT

    def of_class(self, case: ClassCase, how: ConfidenceSpec) -> dict[int, float]:
        """Return the confidence of each prediction of a class."""
        ids = case.overlap.predictions.ids
        if isinstance(self.values, Mapping):
            found = self._named(case.name, ids)
        else:
            found = self._reduced(case, how) if len(ids) else {}
        return self._checked({one: found[one] for one in ids.tolist()}, case.name, how)

    def check_ids(self, used: Iterable[int], labels: Image) -> None:
        """Raise an `OverlapError` for ids that are not in the prediction.

        Parameters
        ----------
        used
            Ids of the predictions.
        labels
            The label image; some ids belong to no class, or to objects that are too small.
        """
        if not isinstance(self.values, Mapping):
            return
        strange = set(self.values) - set(used)
        if strange and not isinstance(labels, Panoptic):
            strange -= set(np.unique(as_labels(labels, "prediction")).tolist()) - {0}
        if strange:
            raise OverlapError(
                f"{self.source} has a value for {_ids(sorted(strange))}, which the prediction does "
                f"not contain: check that both are of the same case."
            )

    def _named(self, class_name: str, ids: Ints) -> Mapping[int, float]:
        assert isinstance(self.values, Mapping)
        missing = [one for one in ids.tolist() if one not in self.values]
        if missing:
            raise OverlapError(
                f"{self.source} has no value for {_ids(missing)} of class {class_name!r}: give "
                f"every prediction a confidence."
            )
        return self.values

    def _reduced(self, case: ClassCase, how: ConfidenceSpec) -> dict[int, float]:
        image = as_labels(case.prediction_images.of_class(case.place), "prediction")
        try:
            return confidences_from_image(image, self.values, how.reduce)  # type: ignore[arg-type]
        except (LabelError, ShapeError) as error:
            if self.source == ARGUMENT:
                raise
            raise type(error)(f"{self.source} cannot be used: {error}") from error

    def _checked(
        self, values: dict[int, float], class_name: str, how: ConfidenceSpec
    ) -> dict[int, float]:
        low, high = how.bounds or (-math.inf, math.inf)
        for segment, value in values.items():
            number = _number(value)
            if not math.isfinite(number):
                raise OverlapError(
                    f"{self.source} has the value {value} for id {segment} of class "
                    f"{class_name!r}; it must be a finite number."
                )
            if not low <= number <= high:
                raise OverlapError(
                    f"{self.source} has the value {value} for id {segment} of class "
                    f"{class_name!r}, but the spec says `bounds: [{low:g}, {high:g}]`: correct one "
                    f"of them."
                )
            values[segment] = number
        return values


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def confident(overlap: Overlap, values: Mapping[int, float] | None) -> Overlap:
    """Return an overlap with the confidence of each prediction, if confidences are known."""
    if values is None:
        return overlap
    return overlap.with_confidence([values[one] for one in overlap.predictions.ids.tolist()])


def below_cut(overlap: Overlap, cut: float) -> Ints:
    """Return the ids of predictions with a confidence below a cut."""
    return overlap.predictions.ids[needed_confidence(overlap) < cut]


def surface_of(overlap: Overlap, matcher: Matcher) -> Surface | None:
    """Return the surface of a class under a matcher.

    None without confidences, and for matchers that maximise PartPQ: there is no surface of that.
    """
    if overlap.confidence is None or matcher.strategy.quality == "parts":
        return None
    return surface(overlap, matcher.strategy, score=matcher.score)


def calibration_of(matching: Matching) -> Calibration | None:
    """Return how confidences compare with shares of matched predictions.

    None without confidences, and if some are not from 0 to 1, so they cannot be shares.
    """
    values = matching.overlap.confidence
    if values is None or not ((values >= 0) & (values <= 1)).all():
        return None
    return calibration(matching)


def passed_threshold(matcher: Matcher, threshold: float) -> float:
    """Return the threshold that is strictly below all scores that pass it under a matcher.

    A surface holds scores above a threshold. If a score may equal it, ask just below it.
    """
    return threshold if matcher.strict or threshold == 0 else math.nextafter(threshold, 0.0)


def empty_like(one: Surface) -> Surface:
    """Return the surface of a case without objects, to be added to others like it."""
    none = np.zeros(0, np.int64)
    return replace(
        one,
        thresholds=none.astype(np.float64),
        confidences=none.astype(np.float64),
        case=none,
        changes=one.changes[:0],
        n_cases=1,
    )


def _ids(ids: list[int]) -> str:
    more = len(ids) - MOST_IDS
    listed = ", ".join(map(str, ids[:MOST_IDS])) + (f" and {more} more" if more > 0 else "")
    return f"{'id' if len(ids) == 1 else 'ids'} {listed}"
