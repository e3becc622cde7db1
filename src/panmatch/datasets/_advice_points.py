"""What to choose, point by point, each with the evidence for it in the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from panmatch.datasets._notices import MANY_PIECES
from panmatch.datasets._statistics import FEWEST_CASES
from panmatch.evaluation import IN_REGIONS, NEAR, WHOLE, DataFacts, number, plural
from panmatch.scoring import MEANINGS

PAGE = "docs/choosing/index.md"
LOW, MIDDLE, HIGH = THRESHOLDS = (0.1, 0.25, 0.5)
ONE, JOINED, SHARED = (strategy.label for strategy in WHOLE)
UNION = IN_REGIONS.label

MANY_SMALL = 0.25  # share of small references from which a low threshold is advised
MANY_UNDECIDED = 0.2  # share of references between two thresholds from which both are advised
FEW_OBJECTS = 20  # below which a curve has few steps
STEEP = 0.05  # fall of PQ between two thresholds from which no single one stands for both
FULL = 0.9  # share of voxels in references from which regions say nothing
DOMINANT = 0.5  # share of references from which one case decides a pooled score
TANGLED = 0.25  # share of references in n–m components from which clustering scores are advised
LEAST_PARTNERS = 3  # from which equal ids are no accident
MOST_SAME = 0.8  # share of partners with equal ids from which ids may mean something

Topic = Literal[
    "Objects",
    "Strategy",
    "Clustering",
    "Threshold",
    "AUTC",
    "Regions",
    "Ids",
    "Parts",
    "Classes",
    "Report",
]


@dataclass(frozen=True, slots=True)
class Point:
    """One choice, and why.

    Attributes
    ----------
    topic
        What is to be chosen.
    choice
        What the data suggest; where the question decides, what each answer would mean.
    evidence
        Sentences with the numbers behind it.
    section
        Anchor of the section of ``docs/choosing/index.md`` that explains it.
    """

    topic: Topic
    choice: str
    evidence: tuple[str, ...]
    section: str

    @property
    def link(self) -> str:
        """Where the choice is explained."""
        return f"{PAGE}#{self.section}"


def find_points(facts: DataFacts, references_of: Mapping[str, int]) -> tuple[Point, ...]:
    """Return what to choose for objects like these.

    Parameters
    ----------
    facts
        Of one class, or of several together.
    references_of
        How many references every class has.
    """
    if not facts.n_references or not facts.n_predictions:
        return (_nothing_to_match(facts), _report(facts))
    found = [
        _objects(facts),
        _strategy(facts),
        _clustering(facts),
        _threshold(facts),
        _area(facts),
        _regions(facts),
        _ids(facts),
        _parts(facts),
        _classes(references_of),
        _report(facts),
    ]
    return tuple(point for point in found if point is not None)


def advised_strategies(facts: DataFacts) -> list[str]:
    """Return the labels of the strategies that have something to say, the first one first."""
    wanted = {ONE: True, JOINED: facts.n_split > 0, SHARED: facts.n_merged > 0}
    return [label for label, needed in wanted.items() if needed]


def advised_thresholds(facts: DataFacts) -> list[float]:
    """Return the thresholds to report, the main one first."""
    if is_small(facts):
        return [LOW, HIGH]
    share = n_between(facts, LOW, HIGH) / max(facts.n_references, 1)
    # Below τ = 0.5 alone, predictions can be shared, and small pieces joined.
    both = share >= MANY_UNDECIDED or facts.n_merged or facts.n_split
    return [HIGH, LOW] if both else [HIGH]


def is_small(facts: DataFacts) -> bool:
    """Return whether many references lose half their IoU to an outline one voxel too wide."""
    return n_small(facts) >= MANY_SMALL * max(facts.n_references, 1)


def n_small(facts: DataFacts) -> int:
    """Return how many references an outline one voxel too wide takes to an IoU of ½ or less."""
    return int(np.count_nonzero(facts.outline_ious <= HIGH))


def n_between(facts: DataFacts, low: float, high: float) -> int:
    """Return how many references have their best IoU above one threshold, but not the other."""
    return int(np.count_nonzero((facts.best_ious > low) & (facts.best_ious <= high)))


def half_value(facts: DataFacts) -> float:
    """Return the threshold from which PQ, one-to-one, is at most half of that at 0; or NaN."""
    curve = facts.curves[ONE]
    lower = np.flatnonzero(curve.pq <= curve.pq[0] / 2)
    return float(curve.thresholds[lower[0]]) if len(lower) and curve.pq[0] > 0 else math.nan


def _nothing_to_match(facts: DataFacts) -> Point:
    sides = {"reference": facts.n_references, "prediction": facts.n_predictions}
    missing = [name for name, n in sides.items() if not n]
    return Point(
        "Objects",
        "nothing to choose yet: there is nothing to match.",
        (f"No {' and no '.join(missing)} holds an object. Check the files and the classes.",),
        "what-is-one-object",
    )


def _objects(facts: DataFacts) -> Point | None:
    """Return a warning where labels look like classes rather than objects."""
    if facts.components is None or facts.components < MANY_PIECES * facts.n_references:
        return None
    lie = "lies" if facts.n_references == 1 else "lie"
    text = (
        f"{plural(facts.n_references, 'reference label')} {lie} in "
        f"{plural(facts.components, 'connected component')}, but each counts as one object."
    )
    return Point(
        "Objects",
        "check this first: labels look like classes. If they are, say so with --class "
        "NAME=LABEL/components.",
        (text,),
        "what-is-one-object",
    )


def _strategy(facts: DataFacts) -> Point:
    split, merged = facts.n_split > 0, facts.n_merged > 0
    choice, section = {
        (False, False): (
            "one-to-one. Nothing is split or merged, so no strategy has anything to forgive.",
            "when-a-fragment-is-one-object",
        ),
        (True, False): (
            "one-to-one if an object must be found whole, many-to-one if its pieces will do. "
            "Your question decides; report both.",
            "when-a-fragment-is-one-object",
        ),
        (False, True): (
            "one-to-one if objects must be separated, one-to-many (optimal) if it is enough to "
            "see each of them. Your question decides.",
            "when-merged-objects-are-acceptable",
        ),
        (True, True): (
            "one-to-one; beside it many-to-one shows what splits cost, and one-to-many (optimal) "
            "what merges cost. Your question decides which of these are mistakes.",
            "when-a-fragment-is-one-object",
        ),
    }[split, merged]
    return Point("Strategy", choice, tuple(_strategy_evidence(facts)), section)


def _strategy_evidence(facts: DataFacts) -> Iterator[str]:
    of_all = f"of {plural(facts.n_references, 'reference')}"
    if facts.n_split:
        yield (
            f"{facts.n_split} {of_all} {_is(facts.n_split)} split over {facts.n_pieces} "
            f"predictions. Taken together, they move PQ at τ = {LOW:g} "
            f"{_moved(facts, JOINED, LOW)}, and at τ = {HIGH:g} {_joined_high(facts)}."
        )
    if facts.n_merged:
        cover, what = ("covers", "it") if facts.n_merged == 1 else ("cover", "them")
        yield (
            f"{facts.n_merged} of {plural(facts.n_predictions, 'prediction')} {cover} several "
            f"references, {facts.n_covered} in all. Sharing {what} moves PQ at τ = {LOW:g} "
            f"{_moved(facts, SHARED, LOW)}; from τ = {HIGH:g} on none can be shared."
        )
    yield _structure_text(facts)
    if facts.touching_refs:
        verb = "touches" if facts.touching_refs == 1 else "touch"
        yield f"{facts.touching_refs} {of_all} {verb} another one."


def _structure_text(facts: DataFacts) -> str:
    """Return what the graph consists of, above the lowest threshold."""
    kinds = [
        f"{count} × {MEANINGS[kind].title}"
        for kind, count in facts.structure.components.items()
        if count
    ]
    total = plural(facts.structure.total.components, "component")
    return (
        f"At τ = {LOW:g} the objects fall into {total} (references–predictions): "
        f"{', '.join(kinds)}."
    )


def _clustering(facts: DataFacts) -> Point | None:
    """Return the advice to compare clusterings where no assignment explains the overlaps."""
    tangled = facts.structure["n-m"]
    if tangled.references < TANGLED * facts.n_references or not tangled.references:
        return None
    of_all = f"of {plural(facts.n_references, 'reference')}"
    text = (
        f"{tangled.references} {of_all} {_is(tangled.references)} in "
        f"{plural(tangled.components, 'component')} of several references and several "
        f"predictions (IoU above {LOW:g}), {tangled.predictions} predictions in all."
    )
    choice = (
        "beside PQ, ask how well the clusterings agree: variation_of_information and "
        "adapted_rand_error, under `related` in a spec. No assignment explains all overlaps."
    )
    return Point("Clustering", choice, (text,), "when-no-assignment-fits")


def _joined_high(facts: DataFacts) -> str:
    if facts.pq(ONE, HIGH) == facts.pq(JOINED, HIGH):
        return "not at all: no piece is large enough there to begin with"
    return _moved(facts, JOINED, HIGH)


def _threshold(facts: DataFacts) -> Point:
    thresholds, small = advised_thresholds(facts), is_small(facts)
    if small:
        choice = f"τ = {LOW:g}, and AUTC or τ = {HIGH:g} beside it: the objects are small."
    elif len(thresholds) > 1:
        choice = f"τ = {HIGH:g}, and τ = {LOW:g} beside it."
    else:
        choice = f"τ = {HIGH:g}: few objects depend on it."
    section = "small-objects" if small else "when-a-threshold-below-05-is-right"
    return Point("Threshold", choice, tuple(_threshold_evidence(facts)), section)


def _threshold_evidence(facts: DataFacts) -> Iterator[str]:
    total = plural(facts.n_references, "reference")
    size = int(np.median(facts.ref_sizes))
    wider = float(np.median(facts.outline_ious))
    voxels = f"{size:,} {'voxel' if size == 1 else 'voxels'}"
    yield (
        f"The median reference has {voxels}: drawn one voxel too wide all around, a ball of that "
        f"size has an IoU of {wider:.2f}. {n_small(facts)} of {total} would fall to {HIGH:g} or "
        f"below."
    )
    between = n_between(facts, LOW, HIGH)
    if not between:
        yield (
            f"No reference has its best IoU between {LOW:g} and {HIGH:g}, so all thresholds there "
            f"find the same objects."
        )
        return
    yield (
        f"{between} of {total} {'has its' if between == 1 else 'have their'} best IoU between "
        f"{LOW:g} and {HIGH:g}, where the threshold alone decides. Within {NEAR:g} of a threshold: "
        f"{_near_text(facts)}."
    )


def _near_text(facts: DataFacts) -> str:
    near = {t: n_between(facts, t - NEAR, t + NEAR) for t in THRESHOLDS}
    return ", ".join(f"{n} at τ = {threshold:g}" for threshold, n in near.items())


def _area(facts: DataFacts) -> Point:
    low, high = facts.pq(ONE, LOW), facts.pq(ONE, HIGH)
    if facts.n_references < FEW_OBJECTS:
        choice = "show the curve rather than AUTC alone: objects are few, and its steps large."
    elif low - high > STEEP:
        choice = "report it: no single threshold stands for the others."
    else:
        choice = f"optional: up to τ = {HIGH:g} any threshold says nearly the same."
    curve, half = facts.curves[ONE], half_value(facts)
    fall = (
        f"is {number(low)} from τ = {LOW:g} to τ = {HIGH:g}"
        if number(low) == number(high)
        else f"goes from {number(low)} at τ = {LOW:g} to {number(high)} at τ = {HIGH:g}"
    )
    halved = "" if math.isnan(half) else f" and is half of its first value at τ = {half:.2f}"
    evidence = [f"One-to-one, PQ {fall}{halved}. AUTC is {number(curve.autc)}."]
    if facts.n_references < FEW_OBJECTS:
        evidence.append(f"There are {plural(facts.n_references, 'reference')} in all.")
    if (best := float(facts.best_ious[-1])) < 1 - 2 * STEEP:
        evidence.append(f"The highest IoU is {best:.2f}; above that every score is 0.")
    return Point("AUTC", choice, tuple(evidence), "autc-and-when-not")


def _regions(facts: DataFacts) -> Point | None:
    if UNION not in facts.curves:
        return None
    reaching = plural(facts.n_predictions, "prediction")
    scores = (
        f"By union in Voronoi regions, PQ at τ = {HIGH:g} is {number(facts.pq(UNION, HIGH))}; "
        f"one-to-one it is {number(facts.pq(ONE, HIGH))}."
    )
    cut = (
        f"{facts.n_reaching} of {reaching} {'reaches' if facts.n_reaching == 1 else 'reach'} into "
        f"two or more references. Regions would cut {'it' if facts.n_reaching == 1 else 'them'}, "
        f"so merging neighbours, or spilling into them, costs nothing."
    )
    if facts.filled >= FULL:
        filled = f"References fill {facts.filled:.0%} of the image, so a region is its object."
        return _region_point(
            "leave them out: they would score any prediction high.", filled, scores
        )
    if 2 * facts.n_predictions <= facts.n_references and facts.n_reaching:
        hardly = f"There are {reaching} for {plural(facts.n_references, 'reference')}."
        choice = (
            "if the predictions are masks that were never meant to separate objects, union in "
            "Voronoi regions scores the foreground of each reference; otherwise leave regions out."
        )
        return _region_point(choice, hardly, cut, scores)
    if facts.n_reaching:
        return _region_point("only as a statement about foreground, never alone.", cut, scores)
    return _region_point("not needed.", "No prediction reaches into two references.", scores)


def _region_point(choice: str, *evidence: str) -> Point:
    return Point("Regions", choice, evidence, "regions")


def _ids(facts: DataFacts) -> Point | None:
    if facts.n_partners < LEAST_PARTNERS or facts.n_same_id < MOST_SAME * facts.n_partners:
        return None
    pairs = f"{facts.n_same_id} of {plural(facts.n_partners, 'pair')}"
    return Point(
        "Ids",
        "if an id means something, such as the level of a vertebra or a track, use same-id as "
        "well; if it is just a number, leave it.",
        (f"{pairs} with an IoU above {HIGH:g} have the same id on both sides.",),
        "when-ids-mean-something",
    )


def _parts(facts: DataFacts) -> Point | None:
    if facts.part_curve is None:
        return None
    plain, by_parts = facts.pq(ONE, HIGH), facts.part_curve.at(HIGH).pq
    return Point(
        "Parts",
        "PartPQ beside PQ, never in its place.",
        (f"One-to-one at τ = {HIGH:g}, PQ is {number(plain)} and PartPQ {number(by_parts)}.",),
        "parts",
    )


def _classes(references_of: Mapping[str, int]) -> Point | None:
    known = {name: n for name, n in references_of.items() if n}
    if len(known) < 2:
        return None
    first = max(known, key=lambda name: known[name])
    share = known[first] / sum(known.values())
    return Point(
        "Classes",
        "score every class, then average over classes. The numbers here pool them.",
        (f"{len(known)} classes have references; {first!r} has {share:.0%} of them.",),
        "many-classes",
    )


def _report(facts: DataFacts) -> Point:
    names = [label.partition(" ")[0] for label in advised_strategies(facts)]
    at = " and ".join(f"{threshold:g}" for threshold in sorted(advised_thresholds(facts)))
    sizes = ", recall by size" if is_small(facts) else ""
    choice = (
        f"PQ with SQ, RQ, TP, FP and FN at τ = {at}, {_listed(names)}; AUTC{sizes}; how many "
        f"objects are split, merged, missed and spurious."
    )
    return Point("Report", choice, tuple(_report_evidence(facts)), "what-to-report")


def _report_evidence(facts: DataFacts) -> Iterator[str]:
    with_objects = len(facts.refs_per_case)
    if 1 < facts.n_cases < FEWEST_CASES:
        yield (
            f"{facts.n_cases} cases are too few for an interval ({FEWEST_CASES} is the least): "
            f"list every case."
        )
    largest = int(facts.refs_per_case[-1]) / max(facts.n_references, 1) if with_objects else 0.0
    if with_objects > 1 and largest >= DOMINANT:
        yield (
            f"One case has {largest:.0%} of the references, so pooled PQ is mostly that case: give "
            f"the mean of cases as well."
        )
    if facts.n_empty_cases:
        verb = "has" if facts.n_empty_cases == 1 else "have"
        yield (
            f"{plural(facts.n_empty_cases, 'case')} {verb} no object on either side. PQ is "
            f"undefined there; say what your mean does with it."
        )


def _moved(facts: DataFacts, strategy: str, threshold: float) -> str:
    return f"from {number(facts.pq(ONE, threshold))} to {number(facts.pq(strategy, threshold))}"


def _listed(names: list[str]) -> str:
    """Return names with commas, and the last one with an "and"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _is(n: int) -> str:
    return "is" if n == 1 else "are"
