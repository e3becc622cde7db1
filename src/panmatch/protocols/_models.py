"""The content of a protocol file: the program, how to reproduce it, and names of its numbers."""

from __future__ import annotations

import string
from typing import Literal

from pydantic import Field, field_validator

from panmatch.spec import Spec, StrictModel, as_spec

OverCases = Literal["mean", "pooled", "sum"]
Verdicts = Literal["matching", "lesions", "regions", "voxels"]
FIELDS = ("class", "label")


class OurNumber(StrictModel):
    """The panmatch score to show next to a number of the program.

    Attributes
    ----------
    score, threshold
        As for `Number`, in the result for the protocol's key `ours`.
    """

    score: str
    threshold: float | None = None


class Number(StrictModel):
    """Where to find a number of the program in a result.

    Attributes
    ----------
    score
        A score of the result, such as ``pq`` or ``whole_dice``; the standard deviation of a metric,
        such as ``sq_dice_std``; or a field of tallies: ``tp``, ``fp``, ``fn``, ``quality`` and
        ``part_quality``; ``mean_ref_voxels`` and ``mean_ref_volume`` are means over matched
        references.
    value
        A fixed value instead of a score, for options that the program repeats in its output.
    per
        Scores to divide by: their sum, case by case. A number divided by 0 is infinite.
    otherwise
        The score to use for classes that lack the first, such as ``pq`` for ``part_pq``.
    threshold, matcher
        For scores that need a matching; the matcher is given by its position in the spec.
    of
        The class: its name, or the mean over classes that have the score, or their number: ``mean
        of classes``, ``number of things``, ``mean of stuff``, ``mean of classes with parts``,
        ``number of classes without parts``. ``mean of every class`` is undefined if the score of
        any class is. Without `of`, the number belongs to the only class. If there are several
        classes, or ``{class}`` or ``{label}`` is in its name, there is one number for each.
    scale
        A factor: 0.001 for ml if the score is in mm³.
    over_cases
        How to combine cases, if not as the protocol says.
    undefined
        The program's value if the score is undefined.
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
    """Another setting of the same program: a description, and its keys of `spec` and `ours`."""

    about: str
    spec: dict[str, object] = Field(default_factory=dict)
    ours: dict[str, object] = Field(default_factory=dict)


class Protocol(StrictModel):
    """How to compute the numbers of one program and version with panmatch.

    Attributes
    ----------
    name
        Name of the file, followed by a slash and the variant, if any.
    title, program, version, source
        The program, and where it is published.
    reproduces
        Which numbers it reproduces, in a sentence.
    verified
        How that was verified, and against what.
    departs
        Where the program departs from its own definition, or from ours; one sentence each.
    classes
        ``"fixed"``, or ``"free"`` if the user may name them.
    needs_spacing
        Whether numbers have a unit, so images must state the size of their voxels.
    objects
        How objects are judged: by the first matcher of the spec, as lesions of BraTS, by regions of
        the reference, or only voxel by voxel.
    spec
        Keys of a spec.
    ours
        Keys that replace those of the spec in what `explain` compares with.
    over_cases
        How to combine the numbers of cases.
    numbers
        The numbers, under the program's own names.
    variants
        Variants by name.
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
        """The spec that reproduces the program."""
        return as_spec(self.spec)

    @property
    def our_spec(self) -> Spec:
        """The spec to compare with."""
        return as_spec({**self.spec, **self.ours})


def template_fields(name: str) -> list[str]:
    """Return the names in braces.

    Examples
    --------
    >>> template_fields("mean/{label}/Dice")
    ['label']
    """
    return [field for _, field, _, _ in string.Formatter().parse(name) if field is not None]
