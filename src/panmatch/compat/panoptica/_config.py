"""Configurations as files: the tagged YAML that panoptica writes, and those that it ships."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import yaml

from panmatch.errors import MissingFileError, SpecError
from panmatch.formats import write_atomically
from panmatch.spec import (
    PanopticaApproximator,
    PanopticaConfig,
    PanopticaEdgeCase,
    PanopticaGroup,
    PanopticaMatcher,
    PanopticaMetric,
    read_panoptica,
)

GROUP_TAGS = {"labels": "!LabelGroup", "merged": "!LabelMergeGroup", "parts": "!LabelPartGroup"}


class Saved(ABC):
    """Something that is a configuration, and can be written to a file and read again."""

    @abstractmethod
    def _as_node(self) -> yaml.Node: ...

    @classmethod
    @abstractmethod
    def _from_config(cls, config: PanopticaConfig) -> Self: ...

    def save_to_config(self, path: str | os.PathLike[str]) -> None:
        """Write the file, completely or not at all."""
        save_node(self._as_node(), path)

    @classmethod
    def load_from_config(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file; it is checked, and never executed.

        If there is no such file, the name is looked up among the configurations of an installed
        panoptica.
        """
        return cls._from_config(read_panoptica(find_config(path), cls._tags()))

    @classmethod
    def _tags(cls) -> tuple[str, ...]:
        """Return how a file may begin."""
        return "!Panoptica_Evaluator", "!SegmentationClassGroups"


class SavedPart(Saved):
    """A part of a configuration that can be saved in its own file."""

    @classmethod
    def _tags(cls) -> tuple[str, ...]:
        return (f"!{cls.__name__}",)


def save_node(node: yaml.Node, path: str | os.PathLike[str]) -> None:
    """Write a file, whole or not at all."""
    write_atomically(Path(path).absolute(), serialize(node).encode())


def serialize(node: yaml.Node) -> str:
    """Return the text of a node."""
    return str(yaml.serialize(node, allow_unicode=True))


def find_config(path: str | os.PathLike[str]) -> Path:
    """Return the file: itself, with the ending ``.yaml``, or one that panoptica brings."""
    given = Path(path)
    named = given if given.suffix in (".yaml", ".yml") else given.with_name(f"{given.name}.yaml")
    folders = shipped_folders()
    for candidate in (given, named, *(folder / named.name for folder in folders)):
        if candidate.is_file():
            return candidate
    raise MissingFileError(
        f"path={str(given)!r} does not exist, and no installed panoptica has a configuration with "
        f"that name. Pass the path of a file; save_to_config writes one."
    )


def shipped_folders() -> list[Path]:
    """Return where an installed panoptica keeps its configurations."""
    from importlib.util import find_spec

    try:
        found = find_spec("panoptica")
    except ValueError:  # a stand-in under that name
        found = None
    places = [] if found is None else found.submodule_search_locations or []
    return [Path(place) / "configs" for place in places]


def config_node(config: PanopticaConfig) -> yaml.Node:
    """Return a configuration in the form that panoptica and `read_panoptica` read.

    Examples
    --------
    >>> config = PanopticaConfig(None, {"a": PanopticaGroup((1, 2))})
    >>> print(serialize(config_node(config)), end="")
    !SegmentationClassGroups
    groups:
      a: !LabelGroup
        value_labels:
        - 1
        - 2
        single_instance: false
    """
    nothing = _plain(None)
    groups = nothing if config.groups is None else _groups(config.groups)
    if config.expected_input is None:
        return groups
    matcher, approximator, decision = config.matcher, config.approximator, config.decision_metric
    keys: dict[str, yaml.Node] = {
        "expected_input": tagged("!InputType", config.expected_input),
        "instance_approximator": approximator_node(approximator) if approximator else nothing,
        "instance_matcher": matcher_node(matcher) if matcher else nothing,
        "edge_case_handler": handler_node(config.edge_cases, config.empty_list_std),
        "segmentation_class_groups": groups,
        "instance_metrics": _metrics(config.instance_metrics),
        "global_metrics": _metrics(config.global_metrics),
        "decision_metric": tagged("!Metric", decision) if decision else nothing,
        "decision_threshold": _plain(config.decision_threshold),
        "per_region_evaluation": _plain(config.per_region),
    }
    return _mapping("!Panoptica_Evaluator", keys)


def approximator_node(approximator: PanopticaApproximator) -> yaml.Node:
    """Return how objects are found."""
    kind = "OneHotConnectedComponents" if approximator.one_hot else "ConnectedComponents"
    name = approximator.backend
    backend = _plain(None) if name is None else tagged("!CCABackend", name)
    return _mapping(f"!{kind}InstanceApproximator", {"cca_backend": backend})


def matcher_node(matcher: PanopticaMatcher) -> yaml.Node:
    """Return how objects are matched."""
    options = {
        "matching_metric": tagged("!Metric", matcher.metric),
        "matching_threshold": _plain(matcher.threshold),
        "strict_threshold": _plain(matcher.strict),
    }
    if matcher.name == "NaiveThresholdMatching":
        options["allow_many_to_one"] = _plain(matcher.many_to_one)
    return _mapping(f"!{matcher.name}", options)


def _groups(groups: Mapping[str, PanopticaGroup]) -> yaml.Node:
    named = _mapping("tag:yaml.org,2002:map", {name: _group(one) for name, one in groups.items()})
    return _mapping("!SegmentationClassGroups", {"groups": named})


def _group(group: PanopticaGroup) -> yaml.Node:
    keys: dict[str, yaml.Node] = {"value_labels": _plain(list(group.labels))}
    if group.kind == "parts":
        things = [label for label in group.labels if label not in group.parts]
        keys = {"thing_labels": _plain(things), "part_labels": _plain(list(group.parts))}
    keys["single_instance"] = _plain(group.single_instance)
    return _mapping(GROUP_TAGS[group.kind], keys)


def handler_node(cases: Mapping[PanopticaMetric, PanopticaEdgeCase], deviation: str) -> yaml.Node:
    """Return what metrics are where nothing matches."""
    pairs = [(tagged("!Metric", name), edge_case_node(case)) for name, case in cases.items()]
    return _mapping(
        "!EdgeCaseHandler",
        {
            "listmetric_zeroTP_handling": yaml.MappingNode("tag:yaml.org,2002:map", pairs),
            "empty_list_std": tagged("!EdgeCaseResult", deviation),
        },
    )


def edge_case_node(case: PanopticaEdgeCase) -> yaml.Node:
    """Return what one metric is where nothing matches."""
    values = {
        "no_instances_result": case.no_instances,
        "empty_prediction_result": case.empty_prediction,
        "empty_reference_result": case.empty_reference,
        "normal": case.normal,
    }
    keys = {key: tagged("!EdgeCaseResult", value) for key, value in values.items()}
    return _mapping("!MetricZeroTPEdgeCaseHandling", keys)


def _metrics(names: Sequence[str]) -> yaml.SequenceNode:
    nodes = [tagged("!Metric", name) for name in names]
    return yaml.SequenceNode("tag:yaml.org,2002:seq", nodes, flow_style=True)


def _mapping(tag: str, keys: Mapping[str, yaml.Node]) -> yaml.Node:
    return yaml.MappingNode(tag, [(_plain(key), value) for key, value in keys.items()])


def tagged(tag: str, name: str) -> yaml.Node:
    """Return a member of an enumeration."""
    return yaml.ScalarNode(tag, name)


def read_name(path: str | os.PathLike[str], tag: str) -> str:
    """Return the name of a member that was saved alone."""
    file = find_config(path)
    try:
        node = yaml.compose(file.read_text("utf-8-sig"), yaml.SafeLoader)
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        cause = " ".join(str(error).split())
        raise SpecError(f"path={str(file)!r} is not YAML: {cause}.") from error
    if not isinstance(node, yaml.ScalarNode) or node.tag != tag:
        raise SpecError(f"path={str(file)!r} must contain {tag} and a name, and nothing else.")
    return str(node.value)


def _plain(value: object) -> yaml.Node:
    node: yaml.Node = yaml.SafeDumper(io.StringIO()).represent_data(value)
    return node
