"""Protocols reproduce the numbers of one program and version. Each is a file of options.

Examples
--------
>>> import panmatch as pm
>>> "stardist" in pm.protocols.protocol_names()
True
>>> found = pm.protocols.run("stardist", reference=[[1, 1, 0, 2]], prediction=[[1, 0, 0, 2]])
>>> found["tp"], found["panoptic_quality"]
(2.0, 0.75)
"""

from panmatch.errors import needs_extra

with needs_extra("cli", "Protocols"):
    import pydantic as _pydantic  # noqa: F401
    import yaml as _yaml  # noqa: F401

from panmatch.protocols._detections import DETECTION_PROTOCOLS, DetectionProtocol
from panmatch.protocols._differences import Difference
from panmatch.protocols._explain import (
    CaseExplanation,
    Compared,
    Explanation,
    explain,
    explain_case,
    explanation_lines,
)
from panmatch.protocols._models import Number, OurNumber, Protocol, Variant
from panmatch.protocols._numbers import ProtocolNumber, protocol_numbers
from panmatch.protocols._reading import find_protocol, protocol_names, protocol_text
from panmatch.protocols._run import check_spacing, run

__all__ = [
    "DETECTION_PROTOCOLS",
    "CaseExplanation",
    "Compared",
    "DetectionProtocol",
    "Difference",
    "Explanation",
    "Number",
    "OurNumber",
    "Protocol",
    "ProtocolNumber",
    "Variant",
    "check_spacing",
    "explain",
    "explain_case",
    "explanation_lines",
    "find_protocol",
    "protocol_names",
    "protocol_numbers",
    "protocol_text",
    "run",
]
