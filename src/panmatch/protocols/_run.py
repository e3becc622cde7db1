"""One case under a protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from panmatch.datasets import evaluate
from panmatch.errors import OptionError
from panmatch.evaluation import Result
from panmatch.formats import ImageLike
from panmatch.labels import Panoptic, Unit
from panmatch.protocols._detections import DETECTION_PROTOCOLS
from panmatch.protocols._models import Protocol
from panmatch.protocols._numbers import protocol_numbers
from panmatch.protocols._reading import find_protocol


def run(
    name: str,
    *,
    reference: ImageLike | Panoptic | Any,
    prediction: ImageLike | Panoptic | Any,
    classes: Mapping[str, object] | None = None,
    reference_parts: ImageLike | None = None,
    prediction_parts: ImageLike | None = None,
    spacing: npt.ArrayLike | None = None,
    unit: Unit | None = None,
    threads: int | None = None,
) -> dict[str, float]:
    """Return the numbers that a published program gives for one case, under its own names.

    Parameters
    ----------
    name
        Name of the protocol, such as ``"brats-2023-lesionwise"``; `protocol_names` lists all. A
        variant follows after a slash: ``"panoptica-2.1.7/semantic"``.
    reference, prediction, reference_parts, prediction_parts, spacing, unit, threads
        As for `panmatch.evaluate`. Programs that rank detections by confidence
        (`DETECTION_PROTOCOLS`) take a whole dataset instead, and no further options.
    classes
        Classes by name, as in a spec, if the program does not fix them: ``{"lesion": 1}`` or
        ``{"lesion": {"labels": [1, 2]}}``.

    Examples
    --------
    >>> import numpy as np
    >>> reference, prediction = np.array([[1, 1, 0, 2]]), np.array([[1, 0, 0, 2]])
    >>> found = run("stardist", reference=reference, prediction=prediction)
    >>> found["tp"], found["panoptic_quality"]
    (2.0, 0.75)
    """
    if name in DETECTION_PROTOCOLS:
        return DETECTION_PROTOCOLS[name].numbers(reference, prediction)
    protocol = find_protocol(name, None if classes is None else {"classes": classes})
    result = evaluate(
        reference=reference,
        prediction=prediction,
        spec=protocol.as_spec,
        reference_parts=reference_parts,
        prediction_parts=prediction_parts,
        spacing=spacing,
        unit=unit,
        threads=threads,
    )
    check_spacing(result, protocol)
    named = None
    if isinstance(reference, Panoptic):
        named = [kind.name or str(kind.id) for kind in reference.classes]
    numbers = protocol_numbers(result, protocol, named)
    return {number.name: number.value for number in numbers if number.case is None}


def check_spacing(result: Result, protocol: Protocol) -> None:
    """Raise an `OptionError` for images that do not state the size of their voxels."""
    if not protocol.needs_spacing:
        return
    for case in result.cases:
        if case.status == "ok" and case.unit != "mm":
            what = "no spacing" if case.spacing is None else f"a spacing in {case.unit}"
            raise OptionError(
                f"case {case.case!r} has {what}, but {protocol.name} reports numbers in mm: pass "
                f"spacing, the distance between voxels along each axis in mm."
            )
