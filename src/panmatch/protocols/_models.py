"""What a protocol file says: which program, how to reproduce it, what its numbers are called."""

from __future__ import annotations

import string
from typing import Literal

from pydantic import Field, field_validator

from panmatch.spec import Spec, StrictModel, as_spec

OverCases = Literal["mean", "pooled", "sum"]
Verdicts = Literal["matching", "lesions", "regions", "voxels"]
FIELDS = ("class", "label")


class OurNumber(StrictModel):
    """Which score of ours stands beside a number of the program.

    Attributes
    ----------
    score, threshold
        As for `Number`, in the result of the key `ours` of the protocol.
    """

    score: str
    threshold: float | None = None


class Number(StrictModel):
    """Where a number of the program is found in a result.

    Attributes
    ----------
    score
        A score of the result, such as ``pq`` or ``whole_dice``; the standard deviation of a metric,
        such as ``sq_dice_std``; or what tallies hold: ``tp``, ``fp``, ``fn``, ``quality`` and
        ``part_quality``; ``mean_ref_voxels`` and ``mean_ref_volume`` are means over matched
        references.
    value
        What the program repeats of its options, in place of a score.
    per
        Scores whose sum it is divided by, case by case; a number over 0 is infinite.
    otherwise
        The score of classes that do not have the first, such as ``pq`` for ``part_pq``.
    threshold, matcher
        Of scores that need a matching; the matcher by its place in the spec.
    of
        The class: its name, or a mean of those that have the score, or their number: ``mean of
        classes``, ``number of things``, ``mean of stuff``, ``mean of classes with parts``, ``number
        of classes without parts``; ``mean of every class`` is undefined where one of them is. A
        number without it is that of the only class, and one with ``{class}`` or ``{label}`` in its
        name, or of several classes, is there for each.
    scale
        What to multiply with: 0.001 for ml where the score is in mm³.
    over_cases
        How cases are put together, where that is not as the protocol says.
    undefined
        What the program says where the score is undefined.
    ours
        Our score to compare with.
    """

    score: str = ""
    value: float | None = None
    per: tuple[str, ...] = ()
    otherwise: str | None = None
    threshold: float | None = None
    matcher: int = 0
    of: str = ""
    scale: float = 1.0
    over_cases: OverCases | None = None
    undefined: float | None = None
    ours: OurNumber | None = None


class Variant(StrictModel):
    """Another setting of the same program: what it is, and its keys of `spec` and `ours`."""

    about: str
    spec: dict[str, object] = Field(default_factory=dict)
    ours: dict[str, object] = Field(default_factory=dict)


class Protocol(StrictModel):
    """How the numbers of one program and version are computed with the machinery of panmatch.

    Attributes
    ----------
    name
        Of the file, and of its variant after a slash.
    title, program, version, source
        What it is, and where the program is published.
    reproduces
        Which numbers, in a sentence.
    verified
        Against what, and how.
    departs
        Where the program departs from its own definition, or from ours, one sentence each.
    classes
        ``"fixed"``, or ``"free"`` where the user may name them.
    needs_spacing
        Whether numbers have a unit, so that images must say how large their voxels are.
    objects
        What decides about objects: the first matcher of the spec, lesions of BraTS, regions of the
        reference, or nothing but voxels.
    spec
        Keys of a spec.
    ours
        Keys that replace those of the spec, for what `explain` compares with.
    over_cases
        How numbers of cases are put together.
    numbers
        By the program's own names.
    variants
        By name.
    """

    name: str
    title: str
    program: str
    version: str
    source: str
    reproduces: str
    verified: str
    departs: tuple[str, ...] = ()
    classes: Literal["fixed", "free"] = "fixed"
    needs_spacing: bool = False
    objects: Verdicts = "matching"
    spec: dict[str, object]
    ours: dict[str, object] = Field(default_factory=dict)
    over_cases: Literal["mean", "pooled"] = "mean"
    numbers: dict[str, Number]
    variants: dict[str, Variant] = Field(default_factory=dict)

    @field_validator("numbers")
    @classmethod
    def _check_templates(cls, given: dict[str, Number]) -> dict[str, Number]:
        for name, number in given.items():
            fields = set(template_fields(name))
            if not fields <= set(FIELDS) or (fields and number.of):
                raise ValueError(f"numbers: {name!r} may have {{class}} or {{label}}, or `of`")
        return given

    @property
    def as_spec(self) -> Spec:
        """What to evaluate, and how."""
        return as_spec(self.spec)

    @property
    def our_spec(self) -> Spec:
        """What to compare with."""
        return as_spec({**self.spec, **self.ours})


def template_fields(name: str) -> list[str]:
    """Return what stands in braces.

    Examples
    --------
    >>> template_fields("mean/{label}/Dice")
    ['label']
    """
    return [field for _, field, _, _ in string.Formatter().parse(name) if field is not None]
