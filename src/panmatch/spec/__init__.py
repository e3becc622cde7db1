"""What to evaluate, and how: as Python objects or as YAML."""

from panmatch.errors import needs_extra

with needs_extra("cli", "Specs"):
    import pydantic as _pydantic  # noqa: F401
    import yaml as _yaml  # noqa: F401

from panmatch.spec._label_set import label_numbers
from panmatch.spec._matchers import matcher_as_dict, parse_matcher
from panmatch.spec._models import Averaging, ClassSpec, MetricOptions, Spec
from panmatch.spec._reading import (
    SpecLike,
    as_spec,
    preset_names,
    preset_text,
    read_spec,
    spec_for_dataset,
)

__all__ = [
    "Averaging",
    "ClassSpec",
    "MetricOptions",
    "Spec",
    "SpecLike",
    "as_spec",
    "label_numbers",
    "matcher_as_dict",
    "parse_matcher",
    "preset_names",
    "preset_text",
    "read_spec",
    "spec_for_dataset",
]
