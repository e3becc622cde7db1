"""Options that values of objects depend on besides the images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.labels import as_spacing

BOUNDARY_SHARE = 0.02  # default width of a boundary band, as a share of the image diagonal

Penalty = float | Literal["diagonal"] | None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the values depend on besides the images.

    Attributes
    ----------
    spacing
        Distance between voxels along each axis; voxel units are all ones.
    tolerance_mm
        How far a boundary may be off for NSD.
    boundary_width_mm
        Width of the bands of boundary IoU.
    penalty_mm
        Distance of an object without partner; NaN for none.
    """

    spacing: tuple[float, ...]
    tolerance_mm: float
    boundary_width_mm: float
    penalty_mm: float


def settings_for(
    shape: tuple[int, ...],
    spacing: npt.ArrayLike | None,
    tolerance_mm: float,
    boundary_width_mm: float | None,
    penalty_mm: Penalty,
) -> Settings:
    """Check the options of `measure` for an image of that shape, and fill in defaults."""
    steps = as_spacing(spacing, len(shape))
    diagonal = float(np.linalg.norm(steps * shape))
    if boundary_width_mm is None:
        boundary_width_mm = max(BOUNDARY_SHARE * diagonal, float(steps.max()))
    elif _distance("boundary_width_mm", boundary_width_mm) < steps.min():
        raise OptionError(
            f"boundary_width_mm={boundary_width_mm!r} is less than the distance between voxels "
            f"({steps.min():g}): such a band holds no voxel."
        )
    if penalty_mm is None:
        penalty_mm = float("nan")
    elif penalty_mm == "diagonal":
        penalty_mm = diagonal
    else:
        penalty_mm = _distance("penalty_mm", penalty_mm)
    return Settings(
        tuple(steps.tolist()),
        _distance("tolerance_mm", tolerance_mm),
        _distance("boundary_width_mm", boundary_width_mm),
        penalty_mm,
    )


def _distance(argument: str, value: Any) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0 <= value < float("inf"):
        choice = ", or 'diagonal'" if argument == "penalty_mm" else ""
        raise OptionError(f"{argument}={value!r} must be a distance: a number from 0 on{choice}.")
    return float(value)
