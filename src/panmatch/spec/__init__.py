"""What to evaluate, and how: as Python objects or as YAML."""

from panmatch.errors import needs_extra

with needs_extra("cli", "Specs"):
    import pydantic as _pydantic  # noqa: F401
    import yaml as _yaml  # noqa: F401

from panmatch.spec._edge_cases import EdgeCase, EdgeState
from panmatch.spec._label_set import label_numbers
from panmatch.spec._matchers import matcher_as_dict, parse_matcher
from panmatch.spec._migration import Migration, spec_from_panoptica
from panmatch.spec._models import (
    Averaging,
    ClassSpec,
    ConfidenceSpec,
    MetricOptions,
    Spec,
    StrictModel,
)
from panmatch.spec._panoptica import EdgeValue as PanopticaEdgeValue
from panmatch.spec._panoptica import MetricName as PanopticaMetric
from panmatch.spec._panoptica import (
    PanopticaApproximator,
    PanopticaConfig,
    PanopticaEdgeCase,
    PanopticaGroup,
    PanopticaMatcher,
)
from panmatch.spec._panoptica_columns import (
    AREA,
    SUBJECT,
    UNGROUPED,
    PanopticaColumn,
    at_threshold,
    panoptica_column,
    panoptica_columns,
    split_column,
    split_instance,
    split_threshold,
)
from panmatch.spec._panoptica_metrics import PANOPTICA_METRICS, MetricTraits, result_name
from panmatch.spec._panoptica_yaml import read_panoptica
from panmatch.spec._reading import (
    SpecLike,
    as_spec,
    merge_keys,
    preset_names,
    preset_text,
    read_spec,
    spec_for_dataset,
)
from panmatch.spec._remarks import Remark
from panmatch.spec._schema import key_meanings, spec_schema

__all__ = [
    "AREA",
    "PANOPTICA_METRICS",
    "SUBJECT",
    "UNGROUPED",
    "Averaging",
    "ClassSpec",
    "ConfidenceSpec",
    "EdgeCase",
    "EdgeState",
    "MetricOptions",
    "MetricTraits",
    "Migration",
    "PanopticaApproximator",
    "PanopticaColumn",
    "PanopticaConfig",
    "PanopticaEdgeCase",
    "PanopticaEdgeValue",
    "PanopticaGroup",
    "PanopticaMatcher",
    "PanopticaMetric",
    "Remark",
    "Spec",
    "SpecLike",
    "StrictModel",
    "as_spec",
    "at_threshold",
    "key_meanings",
    "label_numbers",
    "matcher_as_dict",
    "merge_keys",
    "panoptica_column",
    "panoptica_columns",
    "parse_matcher",
    "preset_names",
    "preset_text",
    "read_panoptica",
    "read_spec",
    "result_name",
    "spec_for_dataset",
    "spec_from_panoptica",
    "spec_schema",
    "split_column",
    "split_instance",
    "split_threshold",
]
