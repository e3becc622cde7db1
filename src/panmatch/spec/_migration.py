"""From a panoptica configuration to an equivalent spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from panmatch.errors import SpecError
from panmatch.spec._models import Spec
from panmatch.spec._panoptica import PanopticaConfig, PanopticaGroup, PanopticaMatcher
from panmatch.spec._panoptica_edge_cases import edge_cases_of
from panmatch.spec._reading import as_spec
from panmatch.spec._remarks import Remark, our_metrics, remarks_on

Content = dict[str, object]

RESERVED = "mean of "


@dataclass(frozen=True, slots=True)
class Migration:
    """The content of a spec, and remarks where its meaning differs."""

    content: Content
    remarks: tuple[Remark, ...]

    @property
    def spec(self) -> Spec:
        """The spec."""
        return as_spec(self.content)


def spec_from_panoptica(config: PanopticaConfig, dimensions: int = 3) -> Migration:
    """Return the spec for a panoptica configuration, as close in meaning as possible.

    Parameters
    ----------
    config
        What `read_panoptica` returns.
    dimensions
        Dimensions of the images: they decide what panoptica calls connected.

    Examples
    --------
    >>> found = spec_from_panoptica(PanopticaConfig(global_metrics=()))
    >>> found.content["matching"], found.content["metrics"]
    ([{'strategy': 'same-id'}], ['dice', 'iou', 'masd', 'relative_volume_difference'])
    >>> [remark.where for remark in found.remarks]
    ['matching', 'curve', 'metrics']
    """
    if config.problem:
        raise SpecError(f"panoptica cannot use the configuration: {config.problem}.")
    strays = [name for name in config.classes if name.startswith(RESERVED)]
    if strays:
        raise SpecError(f"the group {strays[0]!r} starts with {RESERVED!r}: rename it.")
    content: Content = {
        "classes": {
            name: _class(config, group, dimensions) for name, group in config.classes.items()
        }
    }
    if config.expected_input is None:
        return Migration(content, remarks_on(config, dimensions))
    if _has_parts(config):
        content["part_background"] = "none"
    content |= {
        "matching": [_matcher(config)],
        "thresholds": _thresholds(config),
        "curve": True,
        "metrics": our_metrics(config.measured),
    }
    if config.global_metrics:
        content["whole"] = our_metrics(config.global_metrics)
    if edge_cases := edge_cases_of(config):
        content["edge_cases"] = edge_cases
    return Migration(content, remarks_on(config, dimensions))


def _class(config: PanopticaConfig, group: PanopticaGroup, dimensions: int) -> Content:
    labels: Content = {"labels": _short(group.labels) if group.labels else "all"}
    semantic = config.expected_input == "SEMANTIC"
    if group.single_instance or (group.kind == "merged" and not semantic):
        return labels | {"kind": "stuff"}
    if not semantic or config.approximator is None:
        return labels | {"instances": "ids"}
    if group.kind == "parts":
        return labels | {
            "instances": "components",
            "connectivity": "full",
            "parts": _short(group.parts),
        }
    full = config.approximator.backend_for(dimensions) == "cc3d"
    apart = full and group.has_many_labels and not config.approximator.one_hot
    return labels | {
        "instances": "label-components" if apart else "components",
        "connectivity": "full" if full else "faces",
    }


def _has_parts(config: PanopticaConfig) -> bool:
    return any(group.kind == "parts" for group in config.classes.values())


def _short(labels: Sequence[int]) -> int | str | list[int | str]:
    """Return labels as written in a spec: 3, '1-7' or [1, '3-7']."""
    found: list[int | str] = []
    for _, run in groupby(enumerate(labels), lambda item: item[1] - item[0]):
        numbers = [label for _, label in run]
        found += [f"{numbers[0]}-{numbers[-1]}"] if len(numbers) > 2 else numbers
    return found[0] if len(found) == 1 else found


def _matcher(config: PanopticaConfig) -> Content:
    if config.per_region:
        return {"strategy": "union"}
    limit = config.limit
    by_score: Content = {} if limit.score == "iou" else {"score": limit.score}
    if not limit.strict and 0 < limit.value < 1:
        by_score["strict"] = False  # in panoptica, a pair at the threshold matches
    if config.expected_input == "MATCHED_INSTANCE":
        return {"strategy": "same-id"} | by_score
    matcher = config.matcher or PanopticaMatcher()  # single instances need none
    if matcher.many_to_one:
        return {"strategy": "many-to-one", "solver": "merge", "gate": "edge"} | by_score
    if matcher.name == "MaximizeMergeMatching":
        return {"strategy": "many-to-one", "solver": "merge", "gate": "seed"} | by_score
    solver = "greedy" if matcher.name == "NaiveThresholdMatching" else "optimal"
    return {"strategy": "one-to-one", "solver": solver} | by_score


def _thresholds(config: PanopticaConfig) -> list[float]:
    if config.per_region:
        return [0.0]
    found = {0.0} if config.singles else set[float]()
    if len(config.singles) < len(config.classes):
        found.add(config.limit.threshold)
    return sorted(found)
