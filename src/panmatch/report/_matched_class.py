"""One class of a case, matched as a spec says: what pictures and figures of a single case show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Required, TypedDict, Unpack

import numpy.typing as npt

from panmatch.evaluation import Image, Images, class_cases, number
from panmatch.labels import LabelArray, as_labels
from panmatch.matching import Matcher, Matching
from panmatch.report._selection import choose_class, choose_matcher
from panmatch.spec import Spec

SHORT_BOUNDS = "preds per ref : refs per pred"  # what `Strategy.short_bounds` counts


class CaseImages(TypedDict, total=False):
    """The images of a case with the options of `evaluate`, and what to match of it.

    `class_name` may be left out where there is one class. `strategy` is the name or label of a
    matcher of the spec, the first by default. `threshold` may be any in [0, 1); by default it is
    the first of the spec.
    """

    reference: Required[Image]
    prediction: Required[Image]
    reference_parts: npt.ArrayLike | None
    prediction_parts: npt.ArrayLike | None
    spacing: npt.ArrayLike | None
    void: npt.ArrayLike | None
    class_name: str | None
    strategy: str | None
    threshold: float | None


@dataclass(frozen=True, slots=True, eq=False)
class MatchedClass:
    """A matching, and the label images with the ids that it speaks of."""

    matching: Matching
    reference: LabelArray
    prediction: LabelArray


def match_class(spec: Spec, **case: Unpack[CaseImages]) -> MatchedClass:
    """Match the objects of one class of a case, as `evaluate` does.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[4, 4, 0, 9]])
    >>> match_class(Spec(), reference=image, prediction=image).matching.pairs.tolist()
    [[4, 4], [9, 9]]
    """
    matcher = choose_matcher(spec, case.get("strategy"))
    classes = class_cases(
        Images(case["reference"], case.get("reference_parts")),
        Images(case["prediction"], case.get("prediction_parts")),
        spec,
        spacing=case.get("spacing"),
        void=case.get("void"),
    )
    by_name = {found.name: found for found in classes}
    chosen = by_name[choose_class(list(by_name), case.get("class_name"))]
    threshold = case.get("threshold")
    matching = matcher.match(
        chosen.overlap_for(matcher), spec.thresholds[0] if threshold is None else threshold
    )
    return MatchedClass(matching, *map(as_labels, chosen.images, ("reference", "prediction")))


def statuses_of(matching: Matching) -> tuple[dict[int, str], dict[int, str]]:
    """Return the status of every reference and of every prediction, by id.

    The words are those of the instance table: references are ``"matched"`` or ``"missed"``,
    predictions ``"matched"`` or ``"false positive"``; dismissed predictions (D10) have none.

    Examples
    --------
    >>> from panmatch.matching import match
    >>> from panmatch.overlap import Overlap
    >>> statuses_of(match(Overlap.from_dense([[5, 0], [0, 1]], [5, 5], [5, 5])))
    ({1: 'matched', 2: 'missed'}, {1: 'matched', 2: 'false positive'})
    """
    refs = dict.fromkeys(matching.overlap.ref_ids.tolist(), "matched")
    refs |= dict.fromkeys(matching.missed.tolist(), "missed")
    preds = dict.fromkeys(matching.pairs[:, 1].tolist(), "matched")
    preds |= dict.fromkeys(matching.false_positives.tolist(), "false positive")
    return refs, dict(sorted(preds.items()))


def matcher_title(matcher: Matcher) -> str:
    """Return the label of a matcher with both bounds, a line each (D4)."""
    return "\n".join([matcher.label, *matcher.strategy.bounds])


def matching_title(matching: Matching) -> str:
    """Return how a matching was made, as `matcher_title` does."""
    regions = None if matching.overlap.pieces is None else "voronoi"
    return matcher_title(Matcher(matching.strategy, matching.score, regions))


def counts_in_words(matching: Matching) -> str:
    """Return threshold, counts and PQ of a matching on one line, with PartPQ if it has parts."""
    tally, part_tally = matching.tally, matching.part_tally
    parts = "" if part_tally is None else f"   PartPQ {number(part_tally.pq)}"
    return (
        f"τ = {matching.threshold:g}:  TP {tally.tp}   FP {tally.fp}   FN {tally.fn}   "
        f"PQ {number(tally.pq)}{parts}"
    )
