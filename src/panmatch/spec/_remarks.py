"""Where a spec cannot mean the same as a panoptica configuration, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from panmatch.spec._panoptica import (
    SCORES,
    EdgeValue,
    MetricName,
    PanopticaConfig,
    PanopticaEdgeCase,
    PanopticaMatcher,
)
from panmatch.spec._panoptica_metrics import PANOPTICA_METRICS


@dataclass(frozen=True, slots=True)
class Remark:
    """A difference in meaning.

    Attributes
    ----------
    where
        Key of the spec, such as ``"thresholds"`` or ``"classes.liver"``; '' for the whole spec.
    differs, why
        What is different, and why.
    """

    where: str
    differs: str
    why: str

    def __str__(self) -> str:
        return f"{self.differs}: {self.why}."


def our_metrics(names: Iterable[MetricName]) -> list[str]:
    """Return panmatch's names of panoptica metrics.

    Examples
    --------
    >>> our_metrics(["ASSD", "RVD", "RVAE"])
    ['masd', 'relative_volume_difference', 'relative_volume_error']
    """
    return list(dict.fromkeys(PANOPTICA_METRICS[name].ours for name in names))


def remarks_on(config: PanopticaConfig, dimensions: int) -> tuple[Remark, ...]:
    """Return all remarks on the spec for a configuration, in the order of its keys."""
    if config.expected_input is None:
        return (_GROUPS_ALONE,)
    return (
        *_on_classes(config, dimensions),
        *_on_matching(config),
        *_on_decision(config),
        *_on_thresholds(config),
        *_on_curve(config),
        *_on_metrics(config),
        *_on_whole(config),
    )


_GROUPS_ALONE = Remark(
    "",
    "Every label is one object, and matching and metrics are panmatch's defaults",
    "the file only has groups; panoptica gets the rest elsewhere. If labels are classes, write "
    "`instances: components`",
)


def _on_classes(config: PanopticaConfig, dimensions: int) -> Iterator[Remark]:
    made = config.approximator if config.expected_input == "SEMANTIC" else None
    plain = [
        group
        for group in config.classes.values()
        if group.kind != "parts" and not group.single_instance
    ]
    if made is not None and made.backend is None and plain:
        other = 2 if dimensions > 2 else 3
        yield Remark(
            "classes",
            f"Objects are connected components as panoptica finds them in {dimensions}-D images",
            "this depends on the dimensions. In 3-D, voxels that touch at a corner are connected, "
            "and labels that touch stay separate; in 2-D, only pixels that share an edge are "
            "connected, whatever their labels. For the other: panmatch migrate --dimensions "
            f"{other}",
        )
    for name, group in config.classes.items():
        if made is not None and made.one_hot and group.has_many_labels:
            yield Remark(
                f"classes.{name}",
                "An object is a connected component of all labels together",
                "panoptica numbers the components of each label separately and combines those that "
                "share a number, so its values mix objects that do not touch",
            )
        if group.kind == "parts":
            yield Remark(
                f"classes.{name}",
                "Objects are matched by their own IoU, and part_pq has the mean IoU of the parts",
                "panoptica matches by (IoU + sum over parts) / (1 + number of parts), computes PQ "
                "from channels that it stacks, and global metrics as a mean over parts",
            )
    for name in config.singles:
        yield Remark(
            f"classes.{name}",
            "Read this class at threshold 0",
            "panoptica matches a single instance without a threshold; if the two sides share no "
            "voxel, it counts a true positive of quality 0, panmatch a miss and a false positive",
        )


def _on_matching(config: PanopticaConfig) -> Iterator[Remark]:
    matcher = config.matcher
    if config.per_region:
        names = ", ".join(f"region_avg_{name.lower()}" for name in config.global_metrics)
        columns = ", ".join(our_metrics(config.global_metrics))
        yield Remark(
            "matching",
            "Everything predicted in the Voronoi region of a reference is its partner",
            f"panoptica evaluates regions one by one and reports {names or 'nothing of them'}, but "
            f"no counts and no PQ, whatever the matcher. These are means of {columns or 'metrics'} "
            "over all references, missed ones included, as `panmatch.related.cc_metric` gives them",
        )
        yield Remark(
            "matching",
            "Regions are Euclidean in the unit of the spacing",
            "panoptica computes them in voxels, whatever the spacing",
        )
        return
    if config.expected_input == "MATCHED_INSTANCE":
        yield Remark(
            "matching",
            "Equal ids that share no voxel are a miss and a false positive",
            "only objects that overlap can match; panoptica counts a true positive of quality 0",
        )
        if matcher is not None:
            yield Remark(
                "matching",
                f"{matcher.name} is left out",
                "panoptica does not use it on MATCHED_INSTANCE input",
            )
        return
    if matcher is None:
        return
    if matcher.metric not in SCORES:
        yield Remark(
            "matching",
            f"Pairs are matched by IoU above {PanopticaMatcher().threshold:g}, not by "
            f"{matcher.metric} at {matcher.threshold:g}",
            "panmatch matches by overlap only. Choose a threshold that suits your objects",
        )
    if matcher.many_to_one and (matcher.least_iou or 0.0) < 0.5:
        yield Remark(
            "matching",
            "A further prediction joins only if it raises the IoU of the union",
            "panoptica adds every one above the threshold, even if that makes the union worse. "
            "The two agree from an IoU of 0.5 on, where there is nothing to join",
        )


def _on_decision(config: PanopticaConfig) -> Iterator[Remark]:
    metric, limit, matcher = config.decision_metric, config.decision_threshold, config.matcher
    if metric is None or limit is None:
        return
    said = f"{metric} {'≥' if PANOPTICA_METRICS[metric].better_is_higher else '≤'} {limit:g}"
    if metric not in SCORES:
        yield Remark(
            "thresholds",
            f"The decision {said} is left out, so every matched pair is a true positive",
            "panmatch decides by overlap only",
        )
    elif config.expected_input == "MATCHED_INSTANCE":
        yield Remark(
            "thresholds", f"This is the decision {said}", "matched input has no other threshold"
        )
    elif matcher is None or not config.decides:
        yield Remark(
            "thresholds", f"The decision {said} is left out", "every matched pair passes it"
        )
    elif not matcher.is_one_to_one or matcher.metric not in SCORES:
        yield Remark(
            "thresholds",
            f"The decision {said} is left out, so every matched pair is a true positive",
            "panmatch has one threshold, for edges; this one applies to pairs matched by another",
        )
    elif matcher.name == "MaxBipartiteMatching":
        yield Remark(
            "thresholds",
            f"The decision {said} takes the place of matching_threshold {matcher.threshold:g}",
            "panmatch chooses among pairs that pass. panoptica chooses first and drops pairs "
            "afterwards, which can leave fewer true positives",
        )
    else:
        yield Remark(
            "thresholds",
            f"The decision {said} takes the place of matching_threshold {matcher.threshold:g}",
            "the best pairs come first, so dropping the others afterwards gives the same result",
        )


def _on_thresholds(config: PanopticaConfig) -> Iterator[Remark]:
    limit = config.limit
    only_singles = len(config.singles) == len(config.classes)
    if config.per_region or only_singles or limit.strict or limit.value <= 0:
        return
    name = "IoU" if limit.score == "iou" else "Dice"
    if limit.value >= 1:
        yield Remark(
            "thresholds", f"Pairs of {name} 1 match", "thresholds of a spec must be below 1"
        )


def _on_curve(config: PanopticaConfig) -> Iterator[Remark]:
    why = "the curve is a step function, so its area is a finite sum"
    theirs = (
        "panoptica's evaluate_autc uses steps of 0.1 from 0.1 to 1, straight lines between them, "
        "and below 0.1 the value at 0.1"
    )
    if config.per_region or config.expected_input == "MATCHED_INSTANCE":
        theirs = "panoptica has no AUTC for this input"
    yield Remark("curve", f"AUTC is the exact area under PQ; {theirs}", why)


def _on_metrics(config: PanopticaConfig) -> Iterator[Remark]:
    names = set(config.measured) | set(config.global_metrics)
    if "ASSD" in names:
        yield Remark(
            "metrics",
            "ASSD is masd, with the same values",
            "panoptica uses the mean of the two directed means; assd pools all distances",
        )
    if "HD95" in names:
        yield Remark(
            "metrics",
            "HD95 is hd95_pooled, with the same values",
            "panoptica pools the distances of both directions; hd95 is the larger percentile",
        )
    if "clDSC" in names:
        yield Remark(
            "metrics",
            "cldice is defined for small objects too",
            "if thinning leaves nothing, as for 2 × 2 × 2 voxels, panoptica's clDSC is NaN; "
            "panmatch uses the most central voxel",
        )
    if "NSD" in names:
        yield Remark(
            "metrics",
            "nsd is the share of both boundaries within metric_options.tolerance, by default 1.0",
            "panoptica uses the mean of the two shares, and the smallest spacing as tolerance",
        )
    yield from _on_edge_cases(config, sorted(names, key=list(PANOPTICA_METRICS).index))


def _on_edge_cases(config: PanopticaConfig, names: Sequence[MetricName]) -> Iterator[Remark]:
    if config.per_region:
        yield Remark(
            "metrics",
            "Edge cases are left out",
            "panoptica applies them to each region separately, a spec to all objects of a case",
        )
    if unlisted := [name for name in names if name not in config.edge_cases]:
        yield Remark(
            "metrics",
            "If nothing is matched, a mean over objects is 0 for scores from 0 to 1 and NaN for "
            "all others, and NaN if neither side has an object",
            f"panoptica's edge cases lack {', '.join(unlisted)}, so it stops with an error",
        )
    used = {value for name in names for value in _values(config.edge_cases.get(name))}
    if "NONE" in used and not config.per_region:
        yield Remark("metrics", "NONE is nan", "in panmatch, a score is a number or undefined")


def _values(case: PanopticaEdgeCase | None) -> tuple[EdgeValue, ...]:
    if case is None:
        return ()
    return case.no_instances, case.empty_prediction, case.empty_reference, case.normal


def _on_whole(config: PanopticaConfig) -> Iterator[Remark]:
    if lengths := [name for name in config.global_metrics if PANOPTICA_METRICS[name].is_length]:
        yield Remark(
            "whole",
            f"{', '.join(our_metrics(lengths))} are in the unit of the spacing",
            "panoptica measures masks in voxels, whatever the spacing",
        )
