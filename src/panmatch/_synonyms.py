"""Names that other programs and papers use for things that have another name in panmatch.

They are not accepted, only explained: the same word means different things elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

# For every argument: what to write in panmatch, and the names that others use for it.
_MEANT: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "strategy": {
        "'one-to-one' with the solver 'optimal', which is its default": (
            "hungarian", "bipartite", "munkres", "kuhn-munkres", "assignment", "optimal", "lap",
            "linear-sum-assignment", "jonker-volgenant", "maximum-bipartite",
        ),
        "'one-to-one' with the solver 'greedy': OneToOne(solver='greedy'), or in a spec "
        "{strategy: one-to-one, solver: greedy}": (
            "greedy", "naive", "naive-threshold",
        ),
        "'one-to-one'": ("1-1", "1:1", "1to1"),
        "'many-to-one'": (
            "merge", "merging", "greedy-merge", "maximize-merge", "max-merge", "n-1", "n:1", "m:1",
        ),
        "'one-to-many'": ("best", "1-n", "1:n", "1:m"),
        "'same-id'": ("id", "ids", "identity", "label", "by-label", "by-id", "same-label"),
        "'union'": ("voronoi", "region", "regions", "region-union", "region-wise"),
        "'many-to-many', and refuses it: use cluster_dice to score groups of objects": (
            "n-n", "n:n", "m:n", "n:m", "cluster",
        ),
    },
    "metrics": {
        "'hd'": ("hausdorff", "hausdorff-distance", "haus", "hd100"),
        "'hd95'": ("hausdorff95", "hausdorff-95", "hausdorff-distance-95", "hd-95"),
        "'assd' (one mean over both boundaries), 'masd' (the mean of both directions) or "
        "'asd_from_prediction' (one direction)": (
            "asd", "msd", "avg-surface-distance", "average-surface-distance",
            "mean-surface-distance", "surface-distance", "asd-symmetric",
        ),
        "'assd'": ("average-symmetric-surface-distance", "symmetric-surface-distance"),
        "'masd'": ("mean-average-surface-distance",),
        "'dice'": ("dsc", "dice-coefficient", "dice-score", "f1", "f1-score", "sorensen"),
        "'iou'": ("jaccard", "jaccard-index", "jac", "intersection-over-union"),
        "'nsd'": (
            "surface-dice", "normalized-surface-dice", "normalised-surface-dice",
            "normalized-surface-distance", "normalised-surface-distance",
        ),
        "'boundary_iou'": ("biou", "boundary-jaccard"),
        "'cldice'": ("cl-dice", "centerline-dice", "centreline-dice"),
        "'centre_distance'": (
            "center-distance", "centroid-distance", "center-of-mass-distance",
        ),
        "'recall'": ("sensitivity", "tpr", "true-positive-rate", "completeness"),
        "'precision'": ("ppv", "positive-predictive-value", "correctness"),
        "'relative_volume_difference'": ("rvd", "volume-difference"),
        "'relative_volume_error'": ("rvae", "relative-absolute-volume-error"),
        "'absolute_volume_difference'": ("avd", "volume-error", "absolute-volume-error"),
    },
    "solver": {
        "'optimal'": ("hungarian", "bipartite", "munkres", "exact", "maximum", "ilp"),
        "'greedy' of one-to-one": ("naive",),
    },
    "score": {
        "'iou'": ("jaccard", "intersection-over-union"),
        "'dice'": ("dsc", "f1", "dice-coefficient"),
        "'prediction-share'": ("ioa", "iop", "precision", "ppv"),
        "'reference-share'": ("ior", "iog", "recall", "sensitivity", "coverage"),
    },
}  # fmt: skip


def our_word_for(kind: str, value: object) -> str:
    """Return what to write for what others call `value`; '' if it is not a known synonym.

    Examples
    --------
    >>> our_word_for("metrics", "Hausdorff_Distance")
    "'hd'"
    >>> our_word_for("metrics", "beauty")
    ''
    """
    wanted = str(value).strip().lower().replace("_", "-").replace(" ", "-")
    for ours, theirs in _MEANT.get(kind, {}).items():
        if wanted in theirs:
            return ours
    return ""
