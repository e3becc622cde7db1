"""One class of a case, matched as the spec says, for pictures and figures of a single case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Required, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from panmatch.evaluation import Image, Images, class_cases, number
from panmatch.labels import Ints, LabelArray, Mask, as_labels
from panmatch.matching import Matcher, Matching
from panmatch.overlap import Belonging
from panmatch.report._selection import choose_class, choose_matcher
from panmatch.spec import Spec

MOST_IDS = 4  # that are named one by one
SHORT_BOUNDS = "preds per ref : refs per pred"  # what `Strategy.short_bounds` counts


class CaseImages(TypedDict, total=False):
    """The images of a case with the options of `evaluate`, and what to match in it.

    `class_name` may be left out if there is only one class. `strategy` is the name or label of a
    matcher of the spec, by default the first. `threshold` may be any number in [0, 1), by default
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
    """A matching, and the label images with the ids that it refers to."""

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


@dataclass(frozen=True, slots=True)
class ShownMistake:
    """What went wrong with an object, or with a few that belong together, by their ids."""

    kind: Literal["split", "merged", "missed", "spurious", "outline"]
    ref_ids: tuple[int, ...] = ()
    pred_ids: tuple[int, ...] = ()
    iou: float = 0.0  # of a reference that is matched, but not perfectly

    @property
    def text(self) -> str:
        """What it is, with the ids.

        Examples
        --------
        >>> ShownMistake("split", (3,), (5, 6, 9)).text
        'reference 3, split into predictions 5, 6 and 9'
        """
        refs, preds = _listed("reference", self.ref_ids), _listed("prediction", self.pred_ids)
        return {
            "split": f"{refs}, split into {preds}",
            "merged": f"{refs}, merged into {preds}",
            "missed": f"missed {refs}",
            "spurious": f"spurious {preds}",
            "outline": f"{refs}, IoU {number(self.iou)}",
        }[self.kind]


def largest_mistake(matching: Matching) -> ShownMistake | None:
    """Return the mistake with the most voxels of unmatched objects.

    A missed reference that shares a prediction with others counts as merged, and a false positive
    that shares a reference with others counts as split. If all objects are matched, it is the
    outline with the lowest IoU; None if nothing is wrong.

    Examples
    --------
    >>> from panmatch.matching import match
    >>> from panmatch.overlap import Overlap
    >>> overlap = Overlap.from_dense([[9, 0], [5, 0], [0, 0]], [10, 6, 3], [15, 4])
    >>> largest_mistake(match(overlap)).text
    'references 1 and 2, merged into prediction 1'
    """
    overlap, whole = matching.overlap, matching.overlap.predictions
    missed, false = set(matching.missed.tolist()), set(matching.false_positives.tolist())
    ref_sizes = dict(zip(overlap.ref_ids.tolist(), overlap.ref_sizes.tolist(), strict=True))
    pred_sizes = dict(zip(whole.ids.tolist(), whole.sizes.tolist(), strict=True))
    shapes = list(_shapes(matching, missed, false))
    told_refs = {ref for one in shapes for ref in one.ref_ids}
    told_preds = {pred for one in shapes for pred in one.pred_ids}
    found = [
        *shapes,
        *(ShownMistake("missed", (ref,)) for ref in sorted(missed - told_refs)),
        *(ShownMistake("spurious", (), (pred,)) for pred in sorted(false - told_preds)),
    ]

    def size(mistake: ShownMistake) -> float:
        refs = sum(ref_sizes[ref] for ref in mistake.ref_ids if ref in missed)
        return float(refs + sum(pred_sizes[pred] for pred in mistake.pred_ids if pred in false))

    return max(found, key=size) if found else _worst_outline(matching)


def _shapes(matching: Matching, missed: set[int], false: set[int]) -> Iterator[ShownMistake]:
    """Yield split references and merged predictions that the matching does not forgive."""
    if not matching.strategy.takes_repairs:
        return
    overlap, belonging = matching.overlap, Belonging.of(matching.overlap)
    refs, preds = overlap.ref_ids[overlap.edges.ref], overlap.predictions.ids[belonging.owner]
    for ref, guests in _guests(refs, preds, belonging.pred_in_ref).items():
        if false.intersection(guests):
            yield ShownMistake("split", (ref,), guests)
    for pred, guests in _guests(preds, refs, belonging.ref_in_pred).items():
        if missed.intersection(guests):
            yield ShownMistake("merged", guests, (pred,))


def _guests(hosts: Ints, guests: Ints, related: Mask) -> dict[int, tuple[int, ...]]:
    """Return the hosts that have several guests, with their guests."""
    found: dict[int, list[int]] = {}
    for host, guest in zip(hosts[related].tolist(), guests[related].tolist(), strict=True):
        found.setdefault(host, []).append(guest)
    distinct = {host: tuple(sorted(set(there))) for host, there in sorted(found.items())}
    return {host: there for host, there in distinct.items() if len(there) > 1}


def _worst_outline(matching: Matching) -> ShownMistake | None:
    matched = np.unique(matching.pairs[:, 0])
    quality = matching.ref_quality[np.isin(matching.overlap.ref_ids, matched)]
    if not len(quality) or quality.min() >= 1:
        return None
    ref = int(matched[np.argmin(quality)])
    preds = matching.pairs[matching.pairs[:, 0] == ref, 1]
    return ShownMistake("outline", (ref,), tuple(preds.tolist()), float(quality.min()))


def _listed(word: str, ids: tuple[int, ...]) -> str:
    """Return a few ids in words.

    Examples
    --------
    >>> _listed("prediction", (4,)), _listed("reference", (1, 2, 3, 4, 5, 6))
    ('prediction 4', 'references 1, 2, 3, 4 and 2 more')
    """
    if len(ids) < 2:
        return f"{word} {', '.join(map(str, ids))}"
    named = [str(one) for one in ids[:MOST_IDS]]
    last = f"{len(ids) - MOST_IDS} more" if len(ids) > MOST_IDS else named.pop()
    return f"{word}s {', '.join(named)} and {last}"


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
