"""Reading the tagged YAML of panoptica 2.1.7, without executing any of it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast, get_args

import yaml

from panmatch.errors import Argument, SpecError, nearest_name
from panmatch.spec._panoptica import (
    EDGE_CASES,
    Backend,
    EdgeCases,
    EdgeValue,
    GroupKind,
    Input,
    MatcherName,
    MetricName,
    PanopticaApproximator,
    PanopticaConfig,
    PanopticaEdgeCase,
    PanopticaGroup,
    PanopticaMatcher,
)
from panmatch.spec._reading import MOST_VALUES

T = TypeVar("T")
Fields = dict[str, yaml.Node]

MOST_DIGITS = 18
STANDARD = "tag:yaml.org,2002:"
BOOL, INT, FLOAT, NULL, MERGE = (
    f"{STANDARD}{name}" for name in ("bool", "int", "float", "null", "merge")
)
PLAIN = (BOOL, INT, FLOAT, NULL, MERGE, *(f"{STANDARD}{name}" for name in ("str", "seq", "map")))

EVALUATOR, GROUPS, NO_GROUPS = (
    "!Panoptica_Evaluator",
    "!SegmentationClassGroups",
    "!_NoSegmentationClassGroups",
)
HANDLER, EDGE_CASE = "!EdgeCaseHandler", "!MetricZeroTPEdgeCaseHandling"
CONNECTED, ONE_HOT = (
    "!ConnectedComponentsInstanceApproximator",
    "!OneHotConnectedComponentsInstanceApproximator",
)
MATCHERS = tuple(f"!{name}" for name in get_args(MatcherName))
GROUP_KINDS: Mapping[str, GroupKind] = {
    "!LabelGroup": "labels",
    "!LabelMergeGroup": "merged",
    "!LabelPartGroup": "parts",
}
# The names of each enumeration, and the keys of each class. Panoptica registers a few more tags,
# which no configuration can contain.
NAMES: Mapping[str, tuple[str, ...]] = {
    "!InputType": get_args(Input),
    "!Metric": get_args(MetricName),
    "!CCABackend": get_args(Backend),
    "!EdgeCaseResult": get_args(EdgeValue),
}
_LIMIT = ("matching_metric", "matching_threshold", "strict_threshold")
_FLAGS = ("save_group_times", "log_intermediate_steps", "log_times", "verbose")
_EDGES = ("no_instances_result", "empty_prediction_result", "empty_reference_result", "normal")
_TOGGLES = ("crop_at_start", "precompute_instance_bboxes", "parallel_instance_eval")
KEYS: Mapping[str, tuple[str, ...]] = {
    EVALUATOR: (
        "expected_input",
        "instance_approximator",
        "instance_matcher",
        "edge_case_handler",
        "segmentation_class_groups",
        "instance_metrics",
        "global_metrics",
        "decision_metric",
        "decision_threshold",
        "per_region_evaluation",
        "speed_toggles",
        *_FLAGS,
    ),
    GROUPS: ("groups",),
    NO_GROUPS: (),
    "!LabelGroup": ("value_labels", "single_instance"),
    "!LabelMergeGroup": ("value_labels", "single_instance"),
    "!LabelPartGroup": ("thing_labels", "part_labels", "single_instance"),
    CONNECTED: ("cca_backend",),
    ONE_HOT: ("cca_backend",),
    **dict.fromkeys(MATCHERS, _LIMIT),
    "!NaiveThresholdMatching": (*_LIMIT, "allow_many_to_one"),
    HANDLER: ("listmetric_zeroTP_handling", "empty_list_std"),
    EDGE_CASE: ("default_result", *_EDGES),
    "!PanopticaSpeedToggles": (*_TOGGLES, "parallel_instance_eval_workers"),
}
TAGS = (*KEYS, *NAMES)


def read_panoptica(
    path: str | os.PathLike[str], tags: tuple[str, ...] = (EVALUATOR, GROUPS)
) -> PanopticaConfig:
    """Read a panoptica 2.1.7 configuration: an evaluator, or a part of one that `tags` accepts.

    Nothing in it is executed, and only what that version knows is accepted. If the file is only a
    part, the rest has its defaults; the edge cases of a single metric then apply to all metrics.

    Raises
    ------
    SpecError
        If the file is something else. The message names the line, and what is accepted there.

    Examples
    --------
    >>> import tempfile
    >>> text = "!Panoptica_Evaluator {instance_approximator: null, log_times: true}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "config.yaml")
    ...     written = file.write_text(text)
    ...     config = read_panoptica(file)
    >>> config.expected_input, config.global_metrics
    ('MATCHED_INSTANCE', ('DSC',))
    """
    reader = _Reader(os.fspath(path))
    root = reader.root(tags)
    if root.tag == GROUPS:
        return PanopticaConfig(expected_input=None, groups=reader.groups(root))
    if root.tag in MATCHERS:
        return PanopticaConfig(matcher=reader.matcher(root))
    if root.tag in (CONNECTED, ONE_HOT):
        return PanopticaConfig(approximator=reader.approximator(root))
    if root.tag == HANDLER:
        cases, deviation = reader.edge_cases(root)
        return PanopticaConfig(edge_cases=cases, empty_list_std=deviation)
    if root.tag == EDGE_CASE:
        return PanopticaConfig(
            edge_cases=dict.fromkeys(get_args(MetricName), reader.edge_case(root))
        )
    return reader.evaluator(root)


class _Loader(yaml.SafeLoader):
    """Composes nodes, reading plain scalars as in YAML 1.2, which panoptica uses."""

    yaml_implicit_resolvers = {}  # noqa: RUF012


_FIRST = list("-+.0123456789")
for _tag, _pattern, _letters in (
    (BOOL, r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    (NULL, r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    (MERGE, r"<<", ["<"]),
    (INT, r"[-+]?[0-9][0-9_]*|0o[0-7_]+|0x[0-9a-fA-F_]+|0b[01_]+", _FIRST),
    (
        FLOAT,
        r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        _FIRST,
    ),
):
    _Loader.add_implicit_resolver(_tag, re.compile(f"(?:{_pattern})\\Z"), _letters)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns the nodes of a file into data; every error names the line."""

    path: str

    def root(self, tags: tuple[str, ...]) -> yaml.Node:
        """Return the content of the file, after checking its tags and its size."""
        try:
            root: yaml.Node | None = yaml.compose(Path(self.path).read_text("utf-8-sig"), _Loader)
            if root is not None:
                self._check_nodes(root)
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(self._file, f" cannot be read: {error}.") from error
        except (yaml.YAMLError, RecursionError) as error:
            cause = " ".join(str(error).split())
            raise SpecError(self._file, f" is not YAML: {cause}.") from error
        expected = f"must start with {_listed(tags, 'or')}"
        if root is None:
            raise SpecError(self._file, f" is empty: a panoptica configuration {expected}.")
        if root.tag not in tags:
            raise self.error(root, f"a configuration {expected}, not with {_named(root)}")
        return root

    def evaluator(self, node: yaml.Node) -> PanopticaConfig:
        given = self.fields(node, EVALUATOR)
        for key in _FLAGS:
            self.read(given, key, self.flag, False)
        self.read_or_null(given, "speed_toggles", self.toggles, None)
        default = PanopticaConfig()
        cases, deviation = self.read_or_null(
            given,
            "edge_case_handler",
            self.edge_cases,
            (default.edge_cases, default.empty_list_std),
        )
        config = PanopticaConfig(
            self.read(given, "expected_input", self.input, default.expected_input),
            self.read_or_null(given, "segmentation_class_groups", self.groups, None),
            self.read_or_null(given, "instance_approximator", self.approximator, None),
            self.read_or_null(given, "instance_matcher", self.matcher, None),
            self.read_or_null(given, "instance_metrics", self.metrics, default.instance_metrics),
            self.read_or_null(given, "global_metrics", self.metrics, default.global_metrics),
            self.read_or_null(given, "decision_metric", self.metric, None),
            self.read_or_null(given, "decision_threshold", self.number, None),
            self.read(given, "per_region_evaluation", self.flag, False),
            cases,
            deviation,
        )
        if config.problem:
            raise self.error(node, config.problem)
        return config

    def groups(self, node: yaml.Node) -> dict[str, PanopticaGroup] | None:
        if node.tag == NO_GROUPS:
            self.fields(node, NO_GROUPS)
            return None
        groups = self.fields(node, GROUPS, NO_GROUPS).get("groups")
        if isinstance(groups, yaml.SequenceNode) and groups.value:
            return {f"group_{i}": self.group(one) for i, one in enumerate(groups.value)}
        if not isinstance(groups, yaml.MappingNode) or not groups.value:
            raise self.error(groups or node, f"{GROUPS} needs groups: a name and labels for each")
        found: dict[str, PanopticaGroup] = {}
        for key, value in self.pairs(groups).values():
            name = key.value.lower()
            if not name.strip() or name in found:
                raise self.error(key, f"the group {name!r} needs a unique name")
            found[name] = self.group(value)
        return found

    def group(self, node: yaml.Node) -> PanopticaGroup:
        if node.tag == f"{STANDARD}seq" and len(node.value) == 2:
            labels, single = self.labels(node.value[0]), self.flag(node.value[1])
            return self._checked(node, PanopticaGroup(labels, single_instance=single))
        if node.tag == "!LabelPartGroup" and "value_labels" in self.pairs(node):
            raise self.error(
                node,
                "value_labels of a !LabelPartGroup do not say which labels are parts (panoptica "
                "2.1.7 writes them, but cannot read them): use thing_labels and part_labels",
            )
        given = self.fields(node, *GROUP_KINDS)
        single = self.read(given, "single_instance", self.flag, False)
        names = [key for key in KEYS[node.tag] if key.endswith("_labels")]
        if missing := [name for name in names if name not in given]:
            raise self.error(node, f"{node.tag} needs {missing[0]}")
        sets = [self.labels(given[name]) for name in names]
        if len(set().union(*sets)) < sum(map(len, sets)):
            raise self.error(node, "thing_labels and part_labels must differ")
        every = tuple(sorted(label for one in sets for label in one))
        parts = sets[1] if len(sets) > 1 else ()
        return self._checked(node, PanopticaGroup(every, GROUP_KINDS[node.tag], parts, single))

    def _checked(self, node: yaml.Node, group: PanopticaGroup) -> PanopticaGroup:
        if group.single_instance and len(group.labels) > 1:
            raise self.error(node, "a group with single_instance must have one label")
        return group

    def approximator(self, node: yaml.Node) -> PanopticaApproximator:
        given = self.fields(node, CONNECTED, ONE_HOT)
        backend = self.read_or_null(given, "cca_backend", self.backend, None)
        return PanopticaApproximator(node.tag == ONE_HOT, backend)

    def matcher(self, node: yaml.Node) -> PanopticaMatcher:
        given = self.fields(node, *MATCHERS)
        return PanopticaMatcher(
            cast(MatcherName, node.tag.removeprefix("!")),
            self.read(given, "matching_metric", self.metric, "IOU"),
            self.read(given, "matching_threshold", self.number, 0.5),
            self.read(given, "strict_threshold", self.flag, False),
            self.read(given, "allow_many_to_one", self.flag, False),
        )

    def edge_cases(self, node: yaml.Node) -> tuple[EdgeCases, EdgeValue]:
        given = self.fields(node, HANDLER)
        deviation: EdgeValue = self.read(
            given, "empty_list_std", self.edge_value, PanopticaConfig().empty_list_std
        )
        by_metric = self.read_or_null(given, "listmetric_zeroTP_handling", self.by_metric, None)
        return EDGE_CASES if by_metric is None else by_metric, deviation

    def by_metric(self, node: yaml.Node) -> EdgeCases:
        if node.tag != f"{STANDARD}map":
            raise self.error(node, f"must be a mapping from !Metric, not {_named(node)}")
        return {self.metric(key): self.edge_case(value) for key, value in self.pairs(node).values()}

    def edge_case(self, node: yaml.Node) -> PanopticaEdgeCase:
        given = self.fields(node, EDGE_CASE)
        default = self.read_or_null(given, "default_result", self.edge_value, None)
        values = [self.read_or_null(given, key, self.edge_value, default) for key in _EDGES]
        known = [value for value in values if value is not None]
        if len(known) < len(_EDGES):
            raise self.error(node, f"{node.tag} needs default_result, or all of {_listed(_EDGES)}")
        return PanopticaEdgeCase(*known)

    def toggles(self, node: yaml.Node) -> None:
        given = self.fields(node, "!PanopticaSpeedToggles")
        for key in _TOGGLES:
            self.read(given, key, self.flag, False)
        self.read_or_null(given, "parallel_instance_eval_workers", self.number, None)

    def metrics(self, node: yaml.Node) -> tuple[MetricName, ...]:
        if node.tag != f"{STANDARD}seq":
            raise self.error(node, f"must be a list such as [!Metric DSC], not {_named(node)}")
        return tuple(map(self.metric, node.value))

    def metric(self, node: yaml.Node) -> MetricName:
        return cast(MetricName, self.name(node, "!Metric"))

    def input(self, node: yaml.Node) -> Input:
        return cast(Input, self.name(node, "!InputType"))

    def backend(self, node: yaml.Node) -> Backend:
        return cast(Backend, self.name(node, "!CCABackend"))

    def edge_value(self, node: yaml.Node) -> EdgeValue:
        return cast(EdgeValue, self.name(node, "!EdgeCaseResult"))

    def name(self, node: yaml.Node, tag: str) -> str:
        """Return the member of an enumeration."""
        if node.tag != tag or not isinstance(node, yaml.ScalarNode):
            raise self.error(node, f"must be written as {tag} {NAMES[tag][0]}, not {_named(node)}")
        if node.value not in NAMES[tag]:
            near = nearest_name(node.value, NAMES[tag])
            known = _listed(NAMES[tag])
            raise self.error(node, f"{tag} {node.value!r} is not known{near} Accepted: {known}")
        return str(node.value)

    def flag(self, node: yaml.Node) -> bool:
        if node.tag != BOOL:
            raise self.error(node, f"must be true or false, not {_named(node)}")
        return bool(node.value.lower() == "true")

    def number(self, node: yaml.Node) -> float:
        if node.tag not in (INT, FLOAT):
            raise self.error(node, f"must be a number, not {_named(node)}")
        if node.tag == INT:
            return float(self.whole(node))
        value = math.inf if node.value[-1].isalpha() else float(node.value.replace("_", ""))
        if not math.isfinite(value):
            raise self.error(node, f"must be a number, not {_named(node)}")
        return value

    def labels(self, node: yaml.Node) -> tuple[int, ...]:
        items = node.value if node.tag == f"{STANDARD}seq" else [node]
        for item in items:
            if item.tag != INT or self.whole(item) < 1:
                raise self.error(
                    item, f"{_named(item)} is not a label: write whole numbers above 0"
                )
        if not items:
            raise self.error(node, "must name at least one label")
        return tuple(sorted(set(map(self.whole, items))))

    def whole(self, node: yaml.Node) -> int:
        text = node.value.replace("_", "")
        if len(text) > MOST_DIGITS:
            raise self.error(node, f"the number {_named(node)} is too large")
        return int(text, 0) if text[1:2] in ("o", "x", "b") else int(text)

    def fields(self, node: yaml.Node, *tags: str) -> Fields:
        """Return the values of a tagged mapping, after checking its keys."""
        if node.tag not in tags or not isinstance(node, yaml.MappingNode):
            raise self.error(node, f"must be a mapping with the tag {_listed(tags, 'or')}, not "
                             f"{_named(node)}")  # fmt: skip
        found = self.pairs(node)
        for name, (key, _) in found.items():
            if name not in KEYS[node.tag]:
                near = nearest_name(name, KEYS[node.tag])
                known = _listed(KEYS[node.tag]) or "none"
                raise self.error(
                    key, f"the key {name!r} of {node.tag} is not known{near} Accepted: {known}"
                )
        return {name: value for name, (_, value) in found.items()}

    def pairs(self, node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """Return keys and values by the name of the key, including those merged by ``<<``."""
        own: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.tag == MERGE:
                for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    merged = self.pairs(source) | merged
                continue
            if not isinstance(key, yaml.ScalarNode) or key.value in own:
                what = "written twice" if isinstance(key, yaml.ScalarNode) else "not a word"
                raise self.error(key, f"the key {_named(key)} is {what}")
            own[key.value] = key, value
        return merged | own

    def read(self, given: Fields, key: str, reader: Callable[[yaml.Node], T], default: T) -> T:
        """Return the value of a key, or the default if it is missing."""
        return reader(given[key]) if key in given else default

    def read_or_null(
        self, given: Fields, key: str, reader: Callable[[yaml.Node], T], default: T
    ) -> T:
        """Return the value of a key, or the default if it is missing or null."""
        null = key in given and given[key].tag == NULL
        return default if null else self.read(given, key, reader, default)

    def error(self, node: yaml.Node, problem: str) -> SpecError:
        return SpecError(self._file, f", line {node.start_mark.line + 1}: {problem}.")

    @property
    def _file(self) -> Argument:
        return Argument("config", self.path, flag="config")

    def _check_nodes(self, root: yaml.Node) -> None:
        """Raise an error for an unknown tag, and for anchors that expand without end."""
        waiting, n_values = [root], 0
        while waiting:
            node = waiting.pop()
            if node.tag not in (*PLAIN, *TAGS):
                near = nearest_name(node.tag, TAGS)
                raise self.error(
                    node, f"the tag {node.tag!r} is not known{near} Accepted: {_listed(TAGS)}"
                )
            inside: list[yaml.Node] = []
            if isinstance(node, yaml.MappingNode):
                inside = [one for pair in node.value for one in pair]
            elif isinstance(node, yaml.SequenceNode):
                inside = node.value
            waiting += reversed(inside)
            n_values += len(inside)
            if n_values > MOST_VALUES:
                raise self.error(
                    node,
                    f"the file has more than {MOST_VALUES:,} values, including repeated anchors",
                )


def _named(node: yaml.Node) -> str:
    """Return the name of a node in error messages."""
    if node.tag not in PLAIN:
        return str(node.tag)
    if isinstance(node, yaml.ScalarNode):
        return "nothing" if node.tag == NULL else repr(node.value[:40])
    return "a list" if isinstance(node, yaml.SequenceNode) else "a mapping without a tag"


def _listed(names: tuple[str, ...], last: str = "") -> str:
    return f" {last} ".join(names) if last else ", ".join(names)
