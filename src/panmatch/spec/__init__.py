"""What to evaluate, and how: as Python objects or as YAML."""

from panmatch.spec.models import Averaging, ClassSpec, Matcher, MetricOptions, Spec
from panmatch.spec.presets import preset_names, preset_text
from panmatch.spec.reading import as_spec, read_spec

__all__ = [
    "Averaging",
    "ClassSpec",
    "Matcher",
    "MetricOptions",
    "Spec",
    "as_spec",
    "preset_names",
    "preset_text",
    "read_spec",
]
