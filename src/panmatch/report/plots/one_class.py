"""One class of two images, matched as a spec says: what figures of a single case show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from panmatch.evaluation import Images
from panmatch.evaluation.class_case import class_cases
from panmatch.labels import LabelArray, as_labels
from panmatch.matching import Matching, match
from panmatch.report.plots.selection import choose_class, choose_way
from panmatch.spec import Spec


@dataclass(frozen=True, slots=True, eq=False)
class MatchedClass:
    """A matching, and the label images with the ids that it speaks of."""

    matching: Matching
    reference: LabelArray
    prediction: LabelArray


def match_class(
    spec: Spec,
    reference: Images,
    prediction: Images,
    *,
    class_name: str | None = None,
    strategy: str | None = None,
    threshold: float | None = None,
    spacing: npt.ArrayLike | None = None,
    void: npt.ArrayLike | None = None,
) -> MatchedClass:
    """Match the objects of one class of a case, as `evaluate` does.

    Parameters
    ----------
    spec, reference, prediction, spacing, void
        As for `evaluate`.
    class_name
        May be left out where there is one class.
    strategy
        Name or title of a way to match of the spec; the first by default.
    threshold
        Any in [0, 1); the first of the spec by default.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[4, 4, 0, 9]])
    >>> match_class(Spec(), Images(image), Images(image)).matching.pairs.tolist()
    [[4, 4], [9, 9]]
    """
    way = choose_way(spec, strategy)
    found = class_cases(reference, prediction, spec, spacing=spacing, void=void)
    cases = {case.name: case for case in found}
    case = cases[choose_class(list(cases), class_name)]
    level = spec.thresholds[0] if threshold is None else threshold
    overlap = case.overlap_for(way.matcher)
    matching = match(overlap, way.matcher.made(), level, score=way.matcher.score)
    names = "reference", "prediction"
    return MatchedClass(matching, *map(as_labels, case.images, names))
