"""What a simulated model returns: a prediction, and what was done to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from panmatch.labels import nearest_labels
from panmatch.phantoms.anatomy import Anatomy, Image
from panmatch.phantoms.objects import number_objects


@dataclass(frozen=True, slots=True)
class Profile:
    """The mistakes that were made, all of them.

    Reference objects have the ids of `Anatomy.objects`, predicted ones those of
    `Prediction.objects`. An object that is not mentioned is predicted once, under its own id.

    Attributes
    ----------
    cut
        For each reference that was cut, its predicted pieces: two or more.
    merged
        Pairs of references that became one prediction, under the smaller id.
    missed
        References that were left out, rising.
    made_up
        Predictions that no reference stands behind, rising.
    """

    cut: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    merged: tuple[tuple[int, int], ...] = ()
    missed: tuple[int, ...] = ()
    made_up: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What a simulated model sees in an anatomy.

    Attributes
    ----------
    labels
        The predicted label image, int32.
    parts
        The predicted parts, int32; None for semantic images.
    objects
        One id per predicted object, int32. In semantic images these are the connected components
        of objects in `labels`, under ids that `profile` speaks of.
    profile
        The mistakes that were made.
    """

    labels: Image
    parts: Image | None
    objects: Image
    profile: Profile


def predicted(anatomy: Anatomy, objects: Image, content: Image, profile: Profile) -> Prediction:
    """Return the prediction that shows these objects; new voxels are made like the nearest old.

    Parameters
    ----------
    anatomy
        What was to be predicted.
    objects
        One id per predicted object, 0 elsewhere.
    content
        What voxels of objects are made of; 0 where that is to be found out.
    profile
        The mistakes that were made.
    """
    labels, parts = anatomy.with_objects(objects, _filled(content, objects, anatomy.spacing))
    return Prediction(labels, parts, objects, profile)


def _filled(content: Image, objects: Image, spacing: tuple[float, ...]) -> Image:
    """Return what voxels are made of, with unknown ones like the nearest of the same object."""
    unknown = (objects > 0) & (content == 0)
    if not unknown.any():
        return content
    filled = content.copy()
    numbered = number_objects(objects)
    for number, box in enumerate(numbered.boxes(), start=1):
        own = numbered.numbers[box] == number
        wanted = unknown[box] & own
        if wanted.any():
            nearest = nearest_labels(np.where(own, content[box], 0), spacing, where=wanted)
            filled[box][wanted] = nearest[wanted]
    return filled
