"""Configurations as files: the tagged YAML that panoptica writes, and names that it ships."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import yaml

from panmatch.errors import MissingFileError
from panmatch.formats import write_atomically
from panmatch.spec import PanopticaConfig, PanopticaEdgeCase, PanopticaGroup, read_panoptica

GROUP_TAGS = {"labels": "!LabelGroup", "merged": "!LabelMergeGroup", "parts": "!LabelPartGroup"}


class Saved(ABC):
    """Something that is a configuration, and can be written to a file and read again."""

    @abstractmethod
    def _as_config(self) -> PanopticaConfig: ...

    @classmethod
    @abstractmethod
    def _from_config(cls, config: PanopticaConfig) -> Self: ...

    def save_to_config(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        text = as_yaml(self._as_config())
        write_atomically(Path(path).absolute(), text.encode())

    @classmethod
    def load_from_config(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file, which is checked and not executed.

        A name without a file is looked for among the configurations of panoptica, where it is
        installed.
        """
        return cls._from_config(read_panoptica(find_config(path)))


def find_config(path: str | os.PathLike[str]) -> Path:
    """Return the file: itself, with the ending ``.yaml``, or one that panoptica brings."""
    given = Path(path)
    named = given if given.suffix in (".yaml", ".yml") else given.with_name(f"{given.name}.yaml")
    folders = shipped_folders()
    for candidate in (given, named, *(folder / named.name for folder in folders)):
        if candidate.is_file():
            return candidate
    raise MissingFileError(
        f"path={str(given)!r} is not there, nor is a configuration with that name in an "
        f"installation of panoptica. Pass the path of a file; save_to_config writes one."
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


def as_yaml(config: PanopticaConfig) -> str:
    """Return a configuration in the form that panoptica and `read_panoptica` read.

    Examples
    --------
    >>> print(as_yaml(PanopticaConfig(None, {"a": PanopticaGroup((1, 2))})), end="")
    !SegmentationClassGroups
    groups:
      a: !LabelGroup
        value_labels:
        - 1
        - 2
        single_instance: false
    """
    groups = _plain(None) if config.groups is None else _groups(config.groups)
    if config.expected_input is None:
        return str(yaml.serialize(groups, allow_unicode=True))
    matcher, approximator = config.matcher, config.approximator
    keys: dict[str, yaml.Node] = {
        "expected_input": _tagged("!InputType", config.expected_input),
        "instance_approximator": _plain(None),
        "instance_matcher": _plain(None),
        "edge_case_handler": _edge_cases(config),
        "segmentation_class_groups": groups,
        "instance_metrics": _metrics(config.instance_metrics),
        "global_metrics": _metrics(config.global_metrics),
        "decision_metric": _metrics([config.decision_metric]).value[0]
        if config.decision_metric
        else _plain(None),
        "decision_threshold": _plain(config.decision_threshold),
        "per_region_evaluation": _plain(config.per_region),
    }
    if approximator is not None:
        kind = "OneHotConnectedComponents" if approximator.one_hot else "ConnectedComponents"
        name = approximator.backend
        backend = _plain(None) if name is None else _tagged("!CCABackend", name)
        keys["instance_approximator"] = _mapping(
            f"!{kind}InstanceApproximator", {"cca_backend": backend}
        )
    if matcher is not None:
        options = {
            "matching_metric": _tagged("!Metric", matcher.metric),
            "matching_threshold": _plain(matcher.threshold),
            "strict_threshold": _plain(matcher.strict),
        }
        if matcher.name == "NaiveThresholdMatching":
            options["allow_many_to_one"] = _plain(matcher.many_to_one)
        keys["instance_matcher"] = _mapping(f"!{matcher.name}", options)
    return str(yaml.serialize(_mapping("!Panoptica_Evaluator", keys), allow_unicode=True))


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


def _edge_cases(config: PanopticaConfig) -> yaml.Node:
    pairs = [
        (_tagged("!Metric", name), _edge_case(case)) for name, case in config.edge_cases.items()
    ]
    return _mapping(
        "!EdgeCaseHandler",
        {
            "listmetric_zeroTP_handling": yaml.MappingNode("tag:yaml.org,2002:map", pairs),
            "empty_list_std": _tagged("!EdgeCaseResult", config.empty_list_std),
        },
    )


def _edge_case(case: PanopticaEdgeCase) -> yaml.Node:
    values = {
        "no_instances_result": case.no_instances,
        "empty_prediction_result": case.empty_prediction,
        "empty_reference_result": case.empty_reference,
        "normal": case.normal,
    }
    keys = {key: _tagged("!EdgeCaseResult", value) for key, value in values.items()}
    return _mapping("!MetricZeroTPEdgeCaseHandling", keys)


def _metrics(names: Sequence[str]) -> yaml.SequenceNode:
    nodes = [_tagged("!Metric", name) for name in names]
    return yaml.SequenceNode("tag:yaml.org,2002:seq", nodes, flow_style=True)


def _mapping(tag: str, keys: Mapping[str, yaml.Node]) -> yaml.Node:
    return yaml.MappingNode(tag, [(_plain(key), value) for key, value in keys.items()])


def _tagged(tag: str, name: str) -> yaml.Node:
    return yaml.ScalarNode(tag, name)


def _plain(value: object) -> yaml.Node:
    node: yaml.Node = yaml.SafeDumper(io.StringIO()).represent_data(value)
    return node
