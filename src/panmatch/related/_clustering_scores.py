"""The scores of clusterings that a spec can name."""

from __future__ import annotations

from collections.abc import Callable

from panmatch.related._clustering import (
    Background,
    PairForm,
    adapted_rand_error,
    adjusted_mutual_information,
    adjusted_rand_index,
    cremi_score,
    rand_index,
    variation_of_information,
)
from panmatch.related._registry import (
    Averages,
    ClassSides,
    Option,
    RelatedPart,
    RelatedScore,
    single,
)

PER_CASE = "the mean over cases"


def _information(sides: ClassSides, background: Background) -> Averages:
    bits = variation_of_information(sides.overlap, background=background)
    return {"split": single(bits.split), "merge": single(bits.merge)}


def _adapted_rand(sides: ClassSides, background: Background, form: PairForm) -> Averages:
    return {"": single(adapted_rand_error(sides.overlap, background=background, form=form))}


def _of_clusterings(score: Callable[..., float]) -> Callable[..., Averages]:
    """Return how to compute a score of two clusterings of the voxels."""

    def compute(sides: ClassSides, **options: Option) -> Averages:
        return {"": single(score(sides.overlap, **options))}

    return compute


CLUSTERING_SCORES = (
    RelatedScore(
        "variation_of_information",
        (
            RelatedPart("split", "VI split", "lower"),
            RelatedPart("merge", "VI merge", "lower"),
        ),
        "Variation of information, in bits: what over-segmentation adds (split) and what "
        "under-segmentation loses (merge).",
        PER_CASE,
        _information,
        {"background": "include"},
    ),
    RelatedScore(
        "adapted_rand_error",
        (RelatedPart("", "adapted Rand error", "lower"),),
        "Adapted Rand error: 1 − F1 of pairs of voxels that are in one segment together.",
        PER_CASE,
        _adapted_rand,
        {"background": "ignore", "form": "pairs"},
    ),
    RelatedScore(
        "rand_index",
        (RelatedPart("", "Rand index"),),
        "Rand index: the share of pairs of voxels that both sides keep together, or apart.",
        PER_CASE,
        _of_clusterings(rand_index),
        {"background": "include"},
    ),
    RelatedScore(
        "adjusted_rand_index",
        (RelatedPart("", "adjusted Rand index"),),
        "Rand index, adjusted for chance: about 0 for random segments of the same sizes.",
        PER_CASE,
        _of_clusterings(adjusted_rand_index),
        {"background": "include"},
    ),
    RelatedScore(
        "adjusted_mutual_information",
        (RelatedPart("", "AMI"),),
        "Mutual information of the segments, adjusted for chance: about 0 for random segments "
        "of the same sizes.",
        PER_CASE,
        _of_clusterings(adjusted_mutual_information),
        {"background": "include"},
    ),
    RelatedScore(
        "cremi_score",
        (RelatedPart("", "CREMI score", "lower"),),
        "CREMI score: the geometric mean of variation of information and adapted Rand error, "
        "without the background of the reference.",
        PER_CASE,
        _of_clusterings(cremi_score),
    ),
)
