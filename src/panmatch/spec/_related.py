"""Related scores as people write them in a spec: a name, or a mapping with options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from panmatch.errors import PanmatchError
from panmatch.related import (
    Averages,
    ClassSides,
    Option,
    RelatedPart,
    RelatedScore,
    resolve_related,
)

KEYS = ("score", "name")


@dataclass(frozen=True, slots=True)
class RelatedRequest:
    """A related score with its options, and its name in tables."""

    score: str
    options: tuple[tuple[str, Option], ...] = ()
    name: str = ""

    @property
    def related(self) -> RelatedScore:
        """The score."""
        return resolve_related(self.score)

    @property
    def column(self) -> str:
        """How its columns start."""
        return self.name or self.score

    @property
    def parts(self) -> tuple[RelatedPart, ...]:
        """The numbers that it consists of."""
        return self.related.parts_with(dict(self.options))

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, one for each part."""
        return tuple(self.column_of(part.suffix) for part in self.parts)

    def column_of(self, suffix: str) -> str:
        """Return the column of one part."""
        return f"{self.column}_{suffix}".rstrip("_")

    def averages(self, sides: ClassSides) -> Averages:
        """Return the average of each part."""
        return self.related.averages(sides, **dict(self.options))


def parse_related(given: object) -> RelatedRequest:
    """Return the score described by an entry of the list `related`.

    Parameters
    ----------
    given
        The name of a score, or a mapping with the keys ``score``, its options, and ``name``, to be
        used in table columns instead of the score's own.

    Examples
    --------
    >>> parse_related({"score": "lesionwise_dice", "dilation": 3, "name": "brats"}).column
    'brats'
    """
    if isinstance(given, RelatedRequest):
        return given
    if isinstance(given, str):
        given = {"score": given}
    if not isinstance(given, dict) or not isinstance(given.get("score"), str):
        raise ValueError("must be the name of a related score, or a mapping with the key 'score'")
    options = {key: value for key, value in given.items() if key not in KEYS}
    try:
        resolve_related(given["score"]).checked(options)
    except PanmatchError as error:
        raise ValueError(str(error)) from error
    name = given.get("name", "")
    if not isinstance(name, str) or (not name.replace("_", "a").isalnum() and name):
        raise ValueError(f"name={name!r} must be letters, digits and underscores")
    return RelatedRequest(given["score"], tuple(sorted(options.items())), name)


def related_as_dict(request: RelatedRequest) -> dict[str, Option]:
    """Return what `parse_related` reads."""
    name = {"name": request.name} if request.name else {}
    return {"score": request.score, **dict(request.options), **name}


RelatedEntry = Annotated[
    RelatedRequest, PlainValidator(parse_related), PlainSerializer(related_as_dict)
]
